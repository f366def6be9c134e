/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What stands beside the cache: streams among misses. */

#include "weft_test.h"

#include "weft_atc.h"
#include "weft_atc_prefetcher.h"

#define PAGE UINT64_C(4096)
#define RW (WEFT_ATC_R | WEFT_ATC_W)

static void *
filled(size_t size)
{
	void *mem = aligned_alloc(64, (size + 63) & ~(size_t)63);

	assert_true(size > 0);
	assert_non_null(mem);
	memset(mem, 0xA5, size); /* init must not rely on zeroed memory */
	return mem;
}

static struct weft_atc_prefetcher *
streams_new(unsigned int streams, unsigned int most)
{
	return weft_atc_prefetcher_init(filled(weft_atc_prefetcher_size(streams)), streams, most);
}

static enum weft_atc_result
look(struct weft_atc *c, uint16_t ctx, uint64_t va)
{
	uint64_t pa;

	return weft_atc_lookup(c, ctx, va, WEFT_ATC_R, &pa);
}

WEFT_TEST(stream_that_goes_on_is_asked_for_more)
{
	struct weft_atc_prefetcher *s = streams_new(64, 8);
	const unsigned int expected[] = { 1, 2, 4, 8, 8, 8 };
	uint64_t va = 16 * PAGE + 100;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(expected); i++) {
		assert_int_equal(weft_atc_prefetcher_miss(s, 1, va, 12), expected[i]);
		va += expected[i] * PAGE;
	}
	/* Not where it ended, another context, backwards: each is a beginning. */
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, va + PAGE, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 2, va, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, 15 * PAGE, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, va, 12), 8);
	free(s);
}

WEFT_TEST(streams_have_limits)
{
	struct weft_atc_prefetcher *s;

	assert_int_equal(weft_atc_prefetcher_size(3), 0);
	assert_int_equal(weft_atc_prefetcher_size(2), 0);
	assert_int_equal(weft_atc_prefetcher_size(131072), 0);
	s = streams_new(64, 1);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(weft_atc_prefetcher_miss(s, 0, i * PAGE, 12), 1);
	assert_null(weft_atc_prefetcher_init(s, 64, 0));
	assert_null(weft_atc_prefetcher_init(s, 64, WEFT_ATC_PREFETCH_MAX + 1));
	assert_null(weft_atc_prefetcher_init((uint8_t *)s + 8, 64, 1));
	free(s);
	s = streams_new(64, WEFT_ATC_PREFETCH_MAX);
	for (unsigned int i = 0, n = 0; i < 1000; i += n) {
		n = weft_atc_prefetcher_miss(s, 0, i * PAGE, 12);
		assert_in_range(n, 1, WEFT_ATC_PREFETCH_MAX);
	}
	free(s);
}

/* 16 streams go on although there are 8 random misses between two of theirs. */
WEFT_TEST(random_misses_do_not_push_streams_out)
{
	struct weft_atc_prefetcher *s = streams_new(256, 4);
	uint64_t at[16];
	struct weft_rand r;
	unsigned int broken = 0;

	weft_test_seed(&r, "streams");
	for (unsigned int i = 0; i < 16; i++)
		at[i] = (uint64_t)i << 34;
	for (unsigned int turn = 0; turn < 2000; turn++) {
		const unsigned int i = turn % 16;
		const unsigned int n = weft_atc_prefetcher_miss(s, 0, at[i], 12);

		broken += turn >= 64 && n != 4;
		at[i] += n * PAGE;
		for (unsigned int k = 0; k < 8; k++)
			weft_atc_prefetcher_miss(s, 1, weft_rand_below(&r, 1u << 30) * PAGE, 12);
	}
	assert_true(broken < 200);
	free(s);
}

/* Fetched ahead goes first: a set of nothing but used pages keeps them all. */
WEFT_TEST(what_is_ahead_makes_room_before_what_was_used)
{
	const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, 1, NULL };
	struct weft_atc *c = weft_atc_init(filled(weft_atc_size(&cfg)), &cfg);

	for (unsigned int i = 0; i < 7; i++)
		weft_atc_install(c, 0, i * PAGE, 0, 12, RW);
	weft_atc_install(c, 0, 7 * PAGE, 0, 12, RW | WEFT_ATC_PREFETCHED);
	weft_atc_install(c, 0, 8 * PAGE, 0, 12, RW);
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(look(c, 0, i * PAGE), i == 7 ? WEFT_ATC_MISS : WEFT_ATC_HIT);
	free(c);
}
