/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes with AVX2 alone: two flits side by side in a register, four such pairs in turn, because
 * Horner's rule waits for itself (doc/performance.md, FEC). Hot path.
 *
 * Bytes 0..249 are 16 rows of 15 = 5 * 3 bytes and one of 10, so a lane holds the same group in
 * each. Parity is the sum of the rows, the check Horner's rule over them; then the same over the five
 * bytes of each group that are left. A product with a constant is two table look-ups, one a nibble.
 */

#include <immintrin.h>

#include "fec_priv.h"

#include "weft_base.h"

#define ROW 15
#define ROWS 16 /* the whole ones */
#define PAIRS (FEC_GROUP_FLITS / 2)

typedef __m256i reg;

static inline reg
add(reg a, reg b)
{
	return _mm256_xor_si256(a, b);
}

/* 16 bytes of each flit. */
static inline reg
row_at(const uint8_t *const *flit, size_t off)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(
					       (const __m128i *)(const void *)(flit[0] + off))),
		_mm_loadu_si128((const __m128i *)(const void *)(flit[1] + off)), 1);
}

static inline reg
times_alpha(reg a)
{
	/* A byte with its top bit set is negative. */
	const reg leaving = _mm256_cmpgt_epi8(_mm256_setzero_si256(), a);

	return add(_mm256_add_epi8(a, a), _mm256_and_si256(leaving, _mm256_set1_epi8(0x1D)));
}

static inline reg
times_alpha5(reg a)
{
	const reg nibble = _mm256_set1_epi8(0x0F);
	const reg low = _mm256_broadcastsi128_si256(
		_mm_load_si128((const __m128i *)(const void *)weft_fec_alpha5[0]));
	const reg high = _mm256_broadcastsi128_si256(
		_mm_load_si128((const __m128i *)(const void *)weft_fec_alpha5[1]));

	return add(_mm256_shuffle_epi8(low, _mm256_and_si256(a, nibble)),
		_mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(a, 4), nibble)));
}

/* The five bytes of each group that are left of a pair of flits to its FEC bytes 2..7 of each half. */
static inline reg
finish(reg check, reg parity)
{
	/* From groups 0, 1, 2 in bytes 0..2 to the order on the wire. */
	const reg check_place = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 1, -1, -1));
	const reg parity_place = _mm256_broadcastsi128_si256(
		_mm_set_epi8(-1, -1, -1, -1, -1, -1, -1, -1, 0, 2, 1, -1, -1, -1, -1, -1));
	reg c, p;

	c = add(times_alpha(check), _mm256_srli_si256(check, 3));
	c = add(times_alpha(c), _mm256_srli_si256(check, 6));
	c = add(times_alpha(c), _mm256_srli_si256(check, 9));
	c = add(times_alpha(c), _mm256_srli_si256(check, 12));
	p = add(parity, add(_mm256_srli_si256(parity, 3), _mm256_srli_si256(parity, 6)));
	p = add(p, add(_mm256_srli_si256(parity, 9), _mm256_srli_si256(parity, 12)));
	return _mm256_or_si256(
		_mm256_shuffle_epi8(c, check_place), _mm256_shuffle_epi8(p, parity_place));
}

void
weft_fec_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	const reg rest_mask = _mm256_broadcastsi128_si256(
		_mm_set_epi8(0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1));
	const uint8_t *p[FEC_GROUP_FLITS];
	reg check[PAIRS], parity[PAIRS];
	uint64_t all[FEC_GROUP_FLITS];

	static_assert(WEFT_FEC_COVERED - ROWS * ROW == 10, "what rest_mask leaves");
	/* Lanes without a flit repeat the first: no branch, and no other memory is read. */
	for (unsigned int k = 0; k < FEC_GROUP_FLITS; k++)
		p[k] = flit[k < n ? k : 0];
#pragma GCC unroll 4
	for (unsigned int k = 0; k < PAIRS; k++)
		check[k] = parity[k] = row_at(p + 2 * k, 0);
#pragma GCC unroll 1
	for (size_t off = ROW; off < ROWS * ROW; off += ROW)
#pragma GCC unroll 4
		for (unsigned int k = 0; k < PAIRS; k++) {
			const reg row = row_at(p + 2 * k, off);

			check[k] = add(times_alpha5(check[k]), row);
			parity[k] = add(parity[k], row);
		}
#pragma GCC unroll 4
	for (unsigned int k = 0; k < PAIRS; k++) {
		const reg row = _mm256_and_si256(row_at(p + 2 * k, ROWS * ROW), rest_mask);
		const reg r = finish(add(times_alpha5(check[k]), row), add(parity[k], row));

		all[2 * k] = (uint64_t)_mm256_extract_epi64(r, 0);
		all[2 * k + 1] = (uint64_t)_mm256_extract_epi64(r, 2);
	}
	memcpy(fec, all, n * sizeof(all[0]));
}
