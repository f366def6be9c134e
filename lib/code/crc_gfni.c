/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits at a time with AVX2 and GFNI: crc_gfni_priv.h says how. What is one
 * register there is two here, `half` 0 for roots (or symbols) 0 to 3 and 1 for the others. Hot
 * path.
 */

#include <immintrin.h>

#include "crc_gfni_priv.h"
#include "crc_priv.h"

#define HALF_FLITS (CRC_GROUP / 2) /* as many sums as there are registers for */

typedef __m256i reg;

static inline reg
crc_multiply(reg bytes, const uint64_t *matrices)
{
	return _mm256_gf2p8affine_epi64_epi8(
		bytes, _mm256_load_si256((const reg *)(const void *)matrices), 0);
}

static inline reg
crc_word_at(const uint8_t *p)
{
	return _mm256_set1_epi64x((long long)weft_get_le64(p));
}

static inline void
crc_add_word(reg sum[2], reg word, const uint64_t *matrices)
{
	sum[0] = _mm256_xor_si256(sum[0], crc_multiply(word, matrices));
	sum[1] = _mm256_xor_si256(sum[1], crc_multiply(word, matrices + 4));
}

/*
 * Step 1 of four flits, for the @p len bytes from @p off on. The last word may reach over the end
 * of the message, not of the flit.
 */
static inline __attribute__((always_inline)) void
crc_sum_words(const uint64_t (*word)[8], const uint8_t *const *flit, unsigned int off,
	unsigned int len, reg sum[HALF_FLITS][2])
{
	const unsigned int n = len / 8;
	const uint64_t rest = weft_mask64(len % 8 * 8);

#pragma GCC unroll 4
	for (unsigned int k = 0; k < HALF_FLITS; k++)
		sum[k][0] = sum[k][1] = _mm256_setzero_si256();
#pragma GCC unroll 1
	for (unsigned int w = 0; w < n; w++)
#pragma GCC unroll 4
		for (unsigned int k = 0; k < HALF_FLITS; k++)
			crc_add_word(sum[k], crc_word_at(flit[k] + off + 8 * w), word[w]);
#pragma GCC unroll 4
	for (unsigned int k = 0; k < HALF_FLITS; k++)
		crc_add_word(sum[k],
			_mm256_set1_epi64x(
				(long long)(weft_get_le64(flit[k] + off + 8 * n) & rest)),
			word[n]);
}

/*
 * Step 2: transpose bytes of eight registers, so that a 64-bit word holds one byte of each flit,
 * weigh, add. Result: one root a word, one byte a flit.
 */
static inline __attribute__((always_inline)) reg
crc_sum_bytes(const struct crc_gfni *m, reg sum[CRC_GROUP][2], unsigned int half)
{
	reg even[4], odd[4], r[2];

#pragma GCC unroll 4
	for (unsigned int i = 0; i < 4; i++) {
		even[i] = _mm256_unpacklo_epi8(sum[2 * i][half], sum[2 * i + 1][half]);
		odd[i] = _mm256_unpackhi_epi8(sum[2 * i][half], sum[2 * i + 1][half]);
	}
#pragma GCC unroll 2
	for (unsigned int i = 0; i < 2; i++) {
		const reg *s = i == 0 ? even : odd;
		const reg lo0 = _mm256_unpacklo_epi16(s[0], s[1]);
		const reg lo1 = _mm256_unpacklo_epi16(s[2], s[3]);
		const reg hi0 = _mm256_unpackhi_epi16(s[0], s[1]);
		const reg hi1 = _mm256_unpackhi_epi16(s[2], s[3]);
		const uint64_t(*byte)[8] = m->byte[i];
		const unsigned int at = 4 * half;

		r[i] = _mm256_xor_si256(
			_mm256_xor_si256(
				crc_multiply(_mm256_unpacklo_epi32(lo0, lo1), byte[0] + at),
				crc_multiply(_mm256_unpackhi_epi32(lo0, lo1), byte[1] + at)),
			_mm256_xor_si256(
				crc_multiply(_mm256_unpacklo_epi32(hi0, hi1), byte[2] + at),
				crc_multiply(_mm256_unpackhi_epi32(hi0, hi1), byte[3] + at)));
	}
	return _mm256_xor_si256(
		_mm256_unpacklo_epi64(r[0], r[1]), _mm256_unpackhi_epi64(r[0], r[1]));
}

/* Four symbols of step 3, from the values at all roots: one symbol a word, one byte a flit. */
static inline __attribute__((always_inline)) reg
crc_symbols(const struct crc_gfni *m, const reg values[2], unsigned int half)
{
	reg sum = _mm256_setzero_si256();

#pragma GCC unroll 2
	for (unsigned int h = 0; h < 2; h++) {
		const uint64_t(*symbol)[8] = m->symbol + 4 * h;
		const unsigned int at = 4 * half;

		sum = _mm256_xor_si256(sum,
			_mm256_xor_si256(crc_multiply(_mm256_permute4x64_epi64(values[h], 0x00),
						 symbol[0] + at),
				crc_multiply(_mm256_permute4x64_epi64(values[h], 0x55),
					symbol[1] + at)));
		sum = _mm256_xor_si256(sum,
			_mm256_xor_si256(crc_multiply(_mm256_permute4x64_epi64(values[h], 0xAA),
						 symbol[2] + at),
				crc_multiply(_mm256_permute4x64_epi64(values[h], 0xFF),
					symbol[3] + at)));
	}
	return sum;
}

/* From a register a symbol half to a 64-bit remainder a flit. */
static inline void
crc_store_by_flit(const reg half[2], uint64_t *crc)
{
	const reg pairs = _mm256_broadcastsi128_si256(
		_mm_set_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0));
	const reg lo = _mm256_shuffle_epi8(half[0], pairs);
	const reg hi = _mm256_shuffle_epi8(half[1], pairs);
	const __m128i k01 = _mm256_castsi256_si128(lo), k23 = _mm256_extracti128_si256(lo, 1);
	const __m128i k45 = _mm256_castsi256_si128(hi), k67 = _mm256_extracti128_si256(hi, 1);
	const __m128i a = _mm_unpacklo_epi16(k01, k23), b = _mm_unpacklo_epi16(k45, k67);
	const __m128i c = _mm_unpackhi_epi16(k01, k23), d = _mm_unpackhi_epi16(k45, k67);
	__m128i *out = (__m128i *)(void *)crc;

	_mm_storeu_si128(out, _mm_unpacklo_epi32(a, b));
	_mm_storeu_si128(out + 1, _mm_unpackhi_epi32(a, b));
	_mm_storeu_si128(out + 2, _mm_unpacklo_epi32(c, d));
	_mm_storeu_si128(out + 3, _mm_unpackhi_epi32(c, d));
}

/* Remainders of @p n flits' bytes from @p off on. */
static inline __attribute__((always_inline)) void
crc_remainders(const struct crc_gfni *m, const uint8_t *const *flit, unsigned int n,
	unsigned int off, unsigned int len, uint64_t *crc)
{
	const uint8_t *p[CRC_GROUP];
	uint64_t all[CRC_GROUP];
	reg sum[CRC_GROUP][2], values[2], result[2];

	/*
	 * Lanes without a flit repeat the first: that costs no branch, and no other memory is read.
	 */
	for (unsigned int k = 0; k < CRC_GROUP; k++)
		p[k] = flit[k < n ? k : 0];
	crc_sum_words(m->word, p, off, len, sum);
	crc_sum_words(m->word, p + HALF_FLITS, off, len, sum + HALF_FLITS);
	values[0] = crc_sum_bytes(m, sum, 0);
	values[1] = crc_sum_bytes(m, sum, 1);
	result[0] = crc_symbols(m, values, 0);
	result[1] = crc_symbols(m, values, 1);
	crc_store_by_flit(result, all);
	memcpy(crc, all, n * sizeof(all[0]));
}

void
weft_crc_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	crc_remainders(&weft_crc_gfni, flit, n, 0, WEFT_CRC_COVERED, crc);
}

void
weft_crc6_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *even, uint64_t *odd)
{
	crc_remainders(&weft_crc6_gfni, flit, n, 0, WEFT_CRC6_EVEN_COVERED, even);
	crc_remainders(&weft_crc6_gfni, flit, n, WEFT_CRC6_ODD_OFF, WEFT_CRC6_ODD_COVERED, odd);
}
