/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The generator repeats itself for a seed, stays below its bound and fills every byte. */

#include "weft_test.h"

WEFT_TEST(same_seed_gives_same_numbers)
{
	struct weft_rand a, b;

	weft_rand_seed(&a, 7);
	weft_rand_seed(&b, 7);
	for (int i = 0; i < 100; i++)
		assert_int_equal(weft_rand_u64(&a), weft_rand_u64(&b));
}

WEFT_TEST(seed_zero_matches_published_splitmix64)
{
	struct weft_rand r;

	weft_rand_seed(&r, 0);
	assert_int_equal(weft_rand_u64(&r), UINT64_C(0xE220A8397B1DCDAF));
	assert_int_equal(weft_rand_u64(&r), UINT64_C(0x6E789E6AA1B965F4));
}

WEFT_TEST(below_reaches_every_value_and_no_more)
{
	struct weft_rand r;
	unsigned int seen[7] = { 0 };

	weft_test_seed(&r, __func__);
	for (int i = 0; i < 7000; i++) {
		uint64_t v = weft_rand_below(&r, 7);

		assert_true(v < 7);
		seen[v]++;
	}
	for (int i = 0; i < 7; i++)
		assert_in_range(seen[i], 700, 1300);
}

/* Where a quotient is short by one, at both ends of the numbers, and anywhere. */
WEFT_TEST(modulo_by_the_inverse_is_modulo)
{
	static const uint64_t edge[] = { 1, 2, 3, 10, 64, 4096, 4097, UINT32_MAX, UINT64_C(1) << 32,
		UINT64_C(1) << 63, (UINT64_C(1) << 63) + 1, UINT64_MAX - 1, UINT64_MAX };
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < 2000; i++) {
		const uint64_t any = weft_rand_u64(&r) >> weft_rand_below(&r, 64) | 1;
		const struct weft_rand_bound b =
			weft_rand_bound(i < WEFT_ARRAY_SIZE(edge) ? edge[i] : any);
		const uint64_t v[] = { 0, 1, b.n - 1, b.n, b.n + 1, UINT64_MAX / b.n * b.n,
			UINT64_MAX / b.n * b.n - 1, UINT64_MAX - 1, UINT64_MAX, weft_rand_u64(&r) };

		for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(v); k++)
			assert_int_equal(weft_rand_modulo(v[k], &b), v[k] % b.n);
	}
}

WEFT_TEST(both_ways_draw_the_same)
{
	const struct weft_rand_bound b = weft_rand_bound(4097);
	struct weft_rand one, other;

	weft_test_seed(&one, __func__);
	other = one;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(weft_rand_below(&one, 4097), weft_rand_below_bound(&other, &b));
}

WEFT_TEST(fill_stops_at_the_end)
{
	struct weft_rand r;
	uint8_t buf[32];

	weft_rand_seed(&r, 1);
	for (size_t len = 0; len <= 24; len++) {
		memset(buf, 0, sizeof(buf));
		weft_rand_fill(&r, buf, len);
		for (size_t i = len; i < sizeof(buf); i++)
			assert_int_equal(buf[i], 0);
	}
}
