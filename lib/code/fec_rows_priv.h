/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes of eight flits by registers of 256 bits, two flits side by side in each
 * (doc/performance.md, FEC). Hot path. A kernel file says how it multiplies by y and y^2, y =
 * alpha^5, and includes this.
 *
 * Bytes 0..249 are 16 rows of 15 = 5 * 3 bytes and one of 10, so a lane holds the same group in
 * each. The sum of row r times y^(16-r) would take 16 products; but y^9 = y^4 + y^2 + 1 takes rows
 * 0..7 to the other nine by additions alone, and there the sum takes 8. The same holds for y = 1,
 * so the nine still add up to the parity. The five bytes of each group that are left go to one for
 * all flits together.
 */
#ifndef WEFT_FEC_ROWS_PRIV_H
#define WEFT_FEC_ROWS_PRIV_H

#include <immintrin.h>

#include "fec_priv.h"
#include "reg256_priv.h"

#include "weft_base.h"

#define ROW 15
#define ROWS 17
#define FOLDED 8 /* rows that go to the others */
#define PAIRS (FEC_GROUP_FLITS / 2)

/* A product with a constant. */
typedef reg (*times_fn)(reg a);

static inline reg
fec_add(reg a, reg b)
{
	return _mm256_xor_si256(a, b);
}

static inline reg
fec_times_alpha(reg a)
{
	/* A byte with its top bit set is negative. */
	const reg leaving = _mm256_cmpgt_epi8(_mm256_setzero_si256(), a);

	return fec_add(_mm256_add_epi8(a, a), _mm256_and_si256(leaving, _mm256_set1_epi8(0x1D)));
}

/* Remainders of a pair of flits: bytes 3i+g of each half for group g, i = 0..4. */
static inline __attribute__((always_inline)) void
fec_sum_rows(
	const uint8_t *const *flit, reg *check, reg *parity, times_fn times_y, times_fn times_y2)
{
	const reg ten = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
	reg row[ROWS], even, odd;

	static_assert(WEFT_FEC_COVERED == (ROWS - 1) * ROW + 10, "what the last row holds");
#pragma GCC unroll 17
	for (unsigned int r = 0; r < ROWS; r++)
		row[r] = reg256_two_at(flit[0], flit[1], r * ROW);
	row[ROWS - 1] = _mm256_and_si256(row[ROWS - 1], ten);
#pragma GCC unroll 8
	for (unsigned int r = 0; r < FOLDED; r++) {
		row[r + 5] = fec_add(row[r + 5], row[r]);
		row[r + 7] = fec_add(row[r + 7], row[r]);
		row[r + 9] = fec_add(row[r + 9], row[r]);
	}
	/* Horner's rule waits for itself: two sums that go in steps of y^2. */
	even = row[FOLDED];
	odd = row[FOLDED + 1];
	*parity = fec_add(even, odd);
#pragma GCC unroll 7
	for (unsigned int r = FOLDED + 2; r < ROWS; r++) {
		reg *sum = r % 2 == 0 ? &even : &odd;

		*sum = fec_add(times_y2(*sum), row[r]);
		*parity = fec_add(*parity, row[r]);
	}
	*check = fec_add(even, times_y(odd));
}

/* Bytes 0..11 by threes into the 32-bit elements. */
static inline reg
fec_spread(reg a)
{
	return _mm256_shuffle_epi8(a, _mm256_broadcastsi128_si256(_mm_set_epi8(-1, 11, 10, 9, -1, 8,
					      7, 6, -1, 5, 4, 3, -1, 2, 1, 0)));
}

/*
 * Rows to columns: out[i] holds bytes 3i..3i+2 of each sum in the 32-bit elements, and anything in
 * their top bytes. The elements stand for flits 0 2 4 6 1 3 5 7.
 */
static inline void
fec_transpose(const reg *sum, reg out[5])
{
	const reg s0 = fec_spread(sum[0]), s1 = fec_spread(sum[1]);
	const reg s2 = fec_spread(sum[2]), s3 = fec_spread(sum[3]);

	reg256_transpose(s0, s1, s2, s3, out);
	out[4] = _mm256_unpackhi_epi64(
		_mm256_unpackhi_epi32(sum[0], sum[1]), _mm256_unpackhi_epi32(sum[2], sum[3]));
}

static inline reg
fec_finish_check(const reg *sum)
{
	reg column[5], all;

	fec_transpose(sum, column);
	all = column[0];
	for (unsigned int i = 1; i < 5; i++)
		all = fec_add(fec_times_alpha(all), column[i]);
	return all;
}

static inline reg
fec_finish_parity(const reg *sum)
{
	reg column[5];

	fec_transpose(sum, column);
	return fec_add(
		fec_add(fec_add(column[0], column[1]), fec_add(column[2], column[3])), column[4]);
}

static inline __attribute__((always_inline)) void
fec_group(const uint8_t *const *flit, unsigned int n, uint64_t *fec, times_fn times_y,
	times_fn times_y2)
{
	/* From groups 0, 1, 2 to bytes 2..7 in the order on the wire. */
	const reg place = _mm256_broadcastsi128_si256(
		_mm_set_epi8(12, 14, 13, 8, 10, 9, -1, -1, 4, 6, 5, 0, 2, 1, -1, -1));
	const uint8_t *p[FEC_GROUP_FLITS];
	uint64_t all[FEC_GROUP_FLITS];
	reg checks[PAIRS], parities[PAIRS];
	reg check, parity, low, high;

	/* Lanes without a flit repeat the first: no other memory is read. */
	if (n < FEC_GROUP_FLITS) {
		for (unsigned int k = 0; k < FEC_GROUP_FLITS; k++)
			p[k] = flit[k < n ? k : 0];
		flit = p;
	}
	/* So do the pairs, if there is but one. */
	if (n <= 2) {
		fec_sum_rows(flit, &checks[0], &parities[0], times_y, times_y2);
		for (unsigned int k = 1; k < PAIRS; k++) {
			checks[k] = checks[0];
			parities[k] = parities[0];
		}
	} else {
#pragma GCC unroll 4
		for (unsigned int k = 0; k < PAIRS; k++)
			fec_sum_rows(flit + 2 * k, &checks[k], &parities[k], times_y, times_y2);
	}
	check = fec_finish_check(checks);
	parity = fec_finish_parity(parities);
	low = _mm256_shuffle_epi8(_mm256_unpacklo_epi32(check, parity), place); /* 0 2 1 3 */
	high = _mm256_shuffle_epi8(_mm256_unpackhi_epi32(check, parity), place); /* 4 6 5 7 */
	_mm256_storeu_si256((reg *)(void *)all, _mm256_permute4x64_epi64(low, 0xD8));
	_mm256_storeu_si256((reg *)(void *)(all + 4), _mm256_permute4x64_epi64(high, 0xD8));
	memcpy(fec, all, n * sizeof(all[0]));
}

#endif /* WEFT_FEC_ROWS_PRIV_H */
