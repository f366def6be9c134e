/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How much of what it cannot correct the code notices, against the exact shares of reliability.md
 * section 3.1. The code is linear, so errors on the all-zero codeword stand for errors on any.
 */

#include "weft_test.h"

#include <math.h>

#include "weft_fec.h"

#define BURSTS 1000000
#define BURST_SEED 20260101 /* fixed: the bounds are 4 sigma, and a run must not fail by chance */

static bool
is_noticed(const uint8_t *error)
{
	uint8_t flit[256];

	memcpy(flit, error, sizeof(flit));
	return weft_fec_decode_flit(flit, NULL) == WEFT_FEC_UNCORRECTABLE;
}

WEFT_TEST(long_bursts_are_noticed_in_the_exact_share)
{
	static const struct {
		unsigned int symbols;
		double share, four_sigma;
	} rows[] = {
		{ 4, 0.673192, 0.0019 },
		{ 5, 0.893205, 0.0012 },
		{ 6, 0.965101, 0.00073 },
	};
	struct weft_rand r;

	weft_rand_seed(&r, BURST_SEED);
	for (size_t row = 0; row < WEFT_ARRAY_SIZE(rows); row++) {
		const unsigned int symbols = rows[row].symbols;
		unsigned int noticed = 0;
		double share;

		for (int round = 0; round < BURSTS; round++) {
			const uint64_t start = weft_rand_below(&r, 257 - symbols);
			uint8_t error[256] = { 0 };

			for (unsigned int i = 0; i < symbols; i++)
				error[start + i] = (uint8_t)(1 + weft_rand_below(&r, 255));
			noticed += is_noticed(error);
		}
		share = (double)noticed / BURSTS;
		print_message("  %u symbols: %.6f noticed, exactly %.6f\n", symbols, share,
			rows[row].share);
		assert_true(fabs(share - rows[row].share) < rows[row].four_sigma);
	}
}

/* Scaling all errors of a group alike changes nothing, so the first may be 1 throughout. */
static unsigned int
missed_pairs(unsigned int first, unsigned int second)
{
	uint8_t error[256] = { 0 };
	unsigned int missed = 0;

	error[first] = 1;
	for (unsigned int value = 1; value < 256; value++) {
		error[second] = (uint8_t)value;
		missed += !is_noticed(error);
	}
	return missed;
}

/*
 * For a group of n bytes exactly n - 2 of 255 double errors are missed, wherever the two stand.
 * Neighbours alone give the counts that a Reed-Solomon decoder of the same size gives.
 */
WEFT_TEST(double_errors_in_a_group_are_missed_n_minus_2_times_in_255)
{
	static const struct {
		unsigned int size, neighbours_missed;
	} groups[] = { { 86, 7140 }, { 85, 6972 }, { 85, 6972 } };

	for (unsigned int g = 0; g < 3; g++) {
		unsigned int size = 0, neighbours_missed = 0;

		for (unsigned int a = g; a < 256; a += 3, size++)
			for (unsigned int b = a + 3; b < 256; b += 3) {
				const unsigned int missed = missed_pairs(a, b);

				assert_int_equal(missed, groups[g].size - 2);
				neighbours_missed += b == a + 3 ? missed : 0;
			}
		assert_int_equal(size, groups[g].size);
		assert_int_equal(neighbours_missed, groups[g].neighbours_missed);
	}
}

/* Every start and every ratio of the two errors that share a group: 64,515 patterns. */
WEFT_TEST(four_byte_bursts_are_missed_exactly_as_often_as_counted)
{
	unsigned int missed = 0, patterns = 0;

	for (unsigned int start = 0; start + 4 <= 256; start++) {
		missed += missed_pairs(start, start + 3);
		patterns += 255;
	}
	assert_int_equal(patterns, 64515);
	assert_int_equal(missed, 21084);
}
