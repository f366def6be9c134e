/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes of eight flits at a time with AVX2 and GFNI (doc/performance.md, FEC). Hot path.
 *
 * Bytes 0..249 are ten rows of 24 = 8 * 3 bytes and one of 10, so a register lane holds the same
 * group in each. The parity is the sum of the rows, the check Horner's rule over them. Bytes are
 * then transposed, so that a 64-bit word holds one byte of each of the eight flits, and what
 * belongs to one group is picked, weighed and added by multiplication with a matrix or zero.
 */

#include <immintrin.h>

#include "fec_priv.h"

#include "weft_base.h"

#define ROW 24
#define ROWS 10 /* the whole ones */
#define REST (WEFT_FEC_COVERED - ROWS * ROW)

typedef __m256i reg;

static inline reg
multiply(reg bytes, const uint64_t *matrices)
{
	return _mm256_gf2p8affine_epi64_epi8(
		bytes, _mm256_load_si256((const reg *)(const void *)matrices), 0);
}

static inline reg
add(reg a, reg b)
{
	return _mm256_xor_si256(a, b);
}

/* Sums of the rows; bytes 24 and up of the registers are of no meaning. */
static inline __attribute__((always_inline)) void
sum_rows(const struct fec_gfni *t, const uint8_t *flit, reg *check, reg *parity)
{
	/* The last row with the end of the flit masked off. */
	const __m128i rest_mask =
		_mm_set_epi8(0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
	const reg rest = _mm256_zextsi128_si256(_mm_and_si128(
		rest_mask, _mm_loadu_si128((const __m128i *)(const void *)(flit + ROWS * ROW))));
	reg c = _mm256_setzero_si256(), p = c;

	static_assert(REST == 10, "what rest_mask leaves");
#pragma GCC unroll 10
	for (unsigned int i = 0; i < ROWS; i++) {
		const reg row =
			_mm256_loadu_si256((const reg *)(const void *)(flit + i * (size_t)ROW));

		c = add(i == 0 ? c : multiply(c, t->row), row);
		p = add(p, row);
	}
	*check = multiply(add(multiply(c, t->row), rest), t->last);
	*parity = add(p, rest);
}

/* Bytes of eight registers: to 64-bit words of one byte of each flit, even and odd words apart. */
static inline __attribute__((always_inline)) void
transpose(const reg *sum, reg out[2][4])
{
	reg even[4], odd[4];

#pragma GCC unroll 4
	for (unsigned int i = 0; i < 4; i++) {
		even[i] = _mm256_unpacklo_epi8(sum[2 * i], sum[2 * i + 1]);
		odd[i] = _mm256_unpackhi_epi8(sum[2 * i], sum[2 * i + 1]);
	}
#pragma GCC unroll 2
	for (unsigned int i = 0; i < 2; i++) {
		const reg *s = i == 0 ? even : odd;
		const reg lo0 = _mm256_unpacklo_epi16(s[0], s[1]);
		const reg lo1 = _mm256_unpacklo_epi16(s[2], s[3]);
		const reg hi0 = _mm256_unpackhi_epi16(s[0], s[1]);
		const reg hi1 = _mm256_unpackhi_epi16(s[2], s[3]);

		out[i][0] = _mm256_unpacklo_epi32(lo0, lo1);
		out[i][1] = _mm256_unpackhi_epi32(lo0, lo1);
		out[i][2] = _mm256_unpacklo_epi32(hi0, hi1);
		out[i][3] = _mm256_unpackhi_epi32(hi0, hi1);
	}
}

/* One FEC byte of each flit, flit 0 in the lowest byte. */
static inline __attribute__((always_inline)) uint64_t
one_group(const uint64_t (*m)[4][4], reg bytes[2][4])
{
	reg s = _mm256_setzero_si256();
	__m128i half;

#pragma GCC unroll 2
	for (unsigned int i = 0; i < 2; i++)
		s = add(s, add(add(multiply(bytes[i][0], m[i][0]), multiply(bytes[i][1], m[i][1])),
				   add(multiply(bytes[i][2], m[i][2]),
					   multiply(bytes[i][3], m[i][3]))));
	half = _mm_xor_si128(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
	return (uint64_t)(_mm_cvtsi128_si64(half) ^ _mm_extract_epi64(half, 1));
}

/* Six words of one FEC byte each, in the order of bytes 250..255, to a word a flit. */
static inline void
store_by_flit(const uint64_t *byte, uint64_t *fec)
{
	const __m128i b01 = _mm_unpacklo_epi8(
		_mm_set_epi64x(0, (long long)byte[0]), _mm_set_epi64x(0, (long long)byte[1]));
	const __m128i b23 = _mm_unpacklo_epi8(
		_mm_set_epi64x(0, (long long)byte[2]), _mm_set_epi64x(0, (long long)byte[3]));
	const __m128i b45 = _mm_unpacklo_epi8(
		_mm_set_epi64x(0, (long long)byte[4]), _mm_set_epi64x(0, (long long)byte[5]));
	const __m128i zero = _mm_setzero_si128();
	const __m128i a = _mm_unpacklo_epi16(zero, b01), b = _mm_unpacklo_epi16(b23, b45);
	const __m128i c = _mm_unpackhi_epi16(zero, b01), d = _mm_unpackhi_epi16(b23, b45);
	__m128i *out = (__m128i *)(void *)fec;

	_mm_storeu_si128(out, _mm_unpacklo_epi32(a, b));
	_mm_storeu_si128(out + 1, _mm_unpackhi_epi32(a, b));
	_mm_storeu_si128(out + 2, _mm_unpacklo_epi32(c, d));
	_mm_storeu_si128(out + 3, _mm_unpackhi_epi32(c, d));
}

void
weft_fec_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	const struct fec_gfni *t = &weft_fec_gfni;
	reg check[FEC_GROUP_FLITS], parity[FEC_GROUP_FLITS], bytes[2][4];
	uint64_t byte[2 * FEC_GROUPS], all[FEC_GROUP_FLITS];

	/* Lanes without a flit repeat the first: no branch, and no other memory is read. */
#pragma GCC unroll 8
	for (unsigned int k = 0; k < FEC_GROUP_FLITS; k++)
		sum_rows(t, flit[k < n ? k : 0], &check[k], &parity[k]);
	transpose(check, bytes);
	for (unsigned int i = 0; i < FEC_GROUPS; i++)
		byte[i] = one_group(t->group[0][(FEC_CHECK_OFF + i) % FEC_GROUPS], bytes);
	transpose(parity, bytes);
	for (unsigned int i = 0; i < FEC_GROUPS; i++)
		byte[FEC_GROUPS + i] =
			one_group(t->group[1][(FEC_PARITY_OFF + i) % FEC_GROUPS], bytes);
	store_by_flit(byte, all);
	memcpy(fec, all, n * sizeof(all[0]));
}
