/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FAST: the worked case and vectors of fabric.md section 1.2 and part (c), refused set-ups, and
 * random tables against a linear search over (start, DPID) pairs.
 */

#include "weft_test.h"

#include <errno.h>
#include <string.h>

#include "weft_pbr.h"

#define GB (UINT64_C(1) << 30)
#define TB (UINT64_C(1) << 40)
#define PB (UINT64_C(1) << 50)

static struct weft_fast_entry entry[WEFT_PIDS];

static unsigned int
entry_of(struct weft_fast *t, uint64_t hpa)
{
	memset(entry, 0, sizeof(entry));
	assert_int_equal(weft_fast_set(t, hpa, 0x123), 0);
	for (unsigned int i = 0; i < WEFT_PIDS; i++)
		if (entry[i].flags != 0)
			return i;
	fail();
	return 0;
}

static void
entry_number_comes_from_the_address_and_wraps(void **state)
{
	static const struct {
		uint64_t hpa;
		unsigned int entry;
	} v[] = {
		{ 0x4000000000000, 2048 },
		{ 0x7FFFFFFFFFFFF, 4095 },
		{ 0x8000000000000, 0 },
		{ 0xBFFFFFFFFFFFF, 2047 },
	};
	struct weft_fast t;

	(void)state;
	assert_int_equal(weft_fast_init(&t, entry, 1 * PB, 3 * PB, 39, 12), 0);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(v); i++) {
		assert_int_equal(entry_of(&t, v[i].hpa), v[i].entry);
		assert_int_equal(weft_fast_dpid(&t, v[i].hpa), 0x123);
	}
}

static void
depth_256_of_64_gb_uses_bits_43_to_36(void **state)
{
	struct weft_fast t;

	(void)state;
	assert_int_equal(weft_fast_init(&t, entry, 16 * TB, 32 * TB, 36, 8), 0);
	assert_int_equal(entry_of(&t, 16 * TB), 0);
	assert_int_equal(entry_of(&t, 16 * TB + 64 * GB), 1);
	assert_int_equal(entry_of(&t, 32 * TB - 1), 255);
}

static void
range_ends_are_exact(void **state)
{
	struct weft_fast t;

	(void)state;
	assert_int_equal(weft_fast_init(&t, entry, 64 * GB, 192 * GB, 36, 1), 0);
	assert_int_equal(weft_fast_set(&t, 64 * GB, 1), 0);
	assert_int_equal(weft_fast_set(&t, 191 * GB, 2), 0);
	assert_int_equal(weft_fast_set(&t, 64 * GB - 1, 3), -ERANGE);
	assert_int_equal(weft_fast_set(&t, 192 * GB, 3), -ERANGE);
	assert_int_equal(weft_fast_dpid(&t, 64 * GB - 1), -1);
	assert_int_equal(weft_fast_dpid(&t, 64 * GB), 1);
	assert_int_equal(weft_fast_dpid(&t, 128 * GB - 1), 1);
	assert_int_equal(weft_fast_dpid(&t, 128 * GB), 2);
	assert_int_equal(weft_fast_dpid(&t, 192 * GB - 1), 2);
	assert_int_equal(weft_fast_dpid(&t, 192 * GB), -1);
	assert_int_equal(weft_fast_dpid(&t, UINT64_MAX), -1);
}

static void
base_or_limit_zero_is_off(void **state)
{
	static const uint64_t range[][2] = { { 0, 0 }, { 0, 64 * GB }, { 64 * GB, 0 } };
	struct weft_fast t;

	(void)state;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(range); i++) {
		assert_int_equal(weft_fast_init(&t, entry, range[i][0], range[i][1], 36, 4), 0);
		entry[0].flags = 1; /* even a valid entry must not be reached */
		assert_int_equal(weft_fast_set(&t, 0, 1), -ERANGE);
		assert_int_equal(weft_fast_dpid(&t, 0), -1);
		assert_int_equal(weft_fast_dpid(&t, 64 * GB), -1);
	}
}

static void
reserved_dpid_clears_and_larger_is_refused(void **state)
{
	struct weft_fast t;

	(void)state;
	assert_int_equal(weft_fast_init(&t, entry, 64 * GB, 128 * GB, 36, 0), 0);
	assert_int_equal(weft_fast_set(&t, 64 * GB, 0xFFE), 0);
	assert_int_equal(weft_fast_set(&t, 64 * GB, 0x1000), -EINVAL);
	assert_int_equal(weft_fast_dpid(&t, 64 * GB), 0xFFE);
	assert_int_equal(weft_fast_set(&t, 64 * GB, WEFT_PID_RESERVED), 0);
	assert_int_equal(weft_fast_dpid(&t, 64 * GB), -1);
}

static void
start_clears_what_was_in_the_memory(void **state)
{
	const uint64_t n = 1u << 6;
	struct weft_fast t;

	(void)state;
	memset(entry, 0xFF, sizeof(entry));
	assert_int_equal(weft_fast_init(&t, entry, 64 * GB, (n + 1) * 64 * GB, 36, 6), 0);
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(weft_fast_dpid(&t, (i + 1) * 64 * GB), -1);
	/* The memory behind the table is not its own. */
	assert_int_equal(entry[n].flags, 0xFF);
}

/* Other flags, the GIM flag among them, do not make an entry valid, nor take it away. */
static void
valid_flag_alone_decides(void **state)
{
	struct weft_fast t;

	(void)state;
	assert_int_equal(weft_fast_init(&t, entry, 64 * GB, 128 * GB, 36, 0), 0);
	assert_int_equal(weft_fast_set(&t, 64 * GB, 0x321), 0);
	for (unsigned int flags = 0; flags < 256; flags++) {
		entry[0].flags = (uint8_t)flags;
		assert_int_equal(weft_fast_dpid(&t, 64 * GB), (flags & 1) != 0 ? 0x321 : -1);
	}
}

static void
impossible_set_ups_are_refused(void **state)
{
	static const struct {
		uint64_t base, limit;
		uint8_t segment_log2, depth_log2;
		int ret;
	} v[] = {
		{ 64 * GB, 128 * GB, 35, 0, -EINVAL },
		{ 64 * GB, 128 * GB, 44, 0, -EINVAL },
		{ 64 * GB, 128 * GB, 36, 13, -EINVAL },
		{ 65 * GB, 128 * GB, 36, 0, -EINVAL },
		{ 64 * GB, 129 * GB, 36, 4, -EINVAL },
		{ 1, 0, 36, 4, -EINVAL },
		{ 128 * GB, 64 * GB, 36, 4, -EINVAL },
		{ 64 * GB, 192 * GB, 36, 0, -EINVAL }, /* two segments, one entry */
		{ 64 * GB, 192 * GB, 36, 1, 0 },
		{ 64 * GB, 64 * GB, 36, 0, -EINVAL }, /* off is said with 0 */
		{ 8 * TB, UINT64_MAX - (8 * TB - 1), 43, 12, -EINVAL },
		{ UINT64_MAX - (16 * TB - 1), UINT64_MAX - (8 * TB - 1), 43, 0, 0 },
	};
	struct weft_fast t;

	(void)state;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(v); i++)
		assert_int_equal(weft_fast_init(&t, entry, v[i].base, v[i].limit, v[i].segment_log2,
					 v[i].depth_log2),
			v[i].ret);
}

struct segment {
	uint64_t start;
	int dpid;
};

/* The definition, without any index arithmetic. */
static int
search(const struct segment *s, unsigned int n, uint64_t size, uint64_t hpa)
{
	for (unsigned int i = 0; i < n; i++)
		if (hpa >= s[i].start && hpa - s[i].start < size)
			return s[i].dpid;
	return -1;
}

static void
random_tables_equal_a_search(void **state)
{
	struct segment seg[64];
	struct weft_fast t;
	struct weft_rand r;
	uint64_t hpa[32];
	int16_t dpid[32];

	(void)state;
	weft_test_seed(&r, "fast");
	for (unsigned int round = 0; round < 500; round++) {
		const unsigned int segment_log2 = 36 + (unsigned int)weft_rand_below(&r, 8);
		const unsigned int depth_log2 = (unsigned int)weft_rand_below(&r, 7);
		const uint64_t size = UINT64_C(1) << segment_log2;
		const unsigned int n = 1 + (unsigned int)weft_rand_below(&r, 1u << depth_log2);
		const uint64_t base = (1 + weft_rand_below(&r, 1000)) * size;

		assert_int_equal(weft_fast_init(&t, entry, base, base + n * size,
					 (uint8_t)segment_log2, (uint8_t)depth_log2),
			0);
		for (unsigned int i = 0; i < n; i++) {
			uint64_t at = base + i * size + weft_rand_below(&r, size);

			seg[i].start = base + i * size;
			seg[i].dpid = (int)weft_rand_below(&r, WEFT_PID_RESERVED);
			if (weft_rand_below(&r, 4) == 0)
				seg[i].dpid = -1;
			assert_int_equal(weft_fast_set(&t, at,
						 seg[i].dpid < 0 ? WEFT_PID_RESERVED
								 : (uint16_t)seg[i].dpid),
				0);
		}
		for (unsigned int i = 0; i < 32; i++)
			hpa[i] = base - size + weft_rand_below(&r, (n + 2) * size);
		weft_fast_run(&t, hpa, dpid, 32);
		for (unsigned int i = 0; i < 32; i++) {
			assert_int_equal(dpid[i], search(seg, n, size, hpa[i]));
			assert_int_equal(weft_fast_dpid(&t, hpa[i]), dpid[i]);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_number_comes_from_the_address_and_wraps),
		cmocka_unit_test(depth_256_of_64_gb_uses_bits_43_to_36),
		cmocka_unit_test(range_ends_are_exact),
		cmocka_unit_test(base_or_limit_zero_is_off),
		cmocka_unit_test(reserved_dpid_clears_and_larger_is_refused),
		cmocka_unit_test(start_clears_what_was_in_the_memory),
		cmocka_unit_test(valid_flag_alone_decides),
		cmocka_unit_test(impossible_set_ups_are_refused),
		cmocka_unit_test(random_tables_equal_a_search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
