/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What FEC and CRC kernels of 256-bit registers have in common: bytes of two flits in a register,
 * columns of four, and products with a constant by two table look-ups, one a nibble. Hot path.
 */
#ifndef WEFT_REG256_PRIV_H
#define WEFT_REG256_PRIV_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

typedef __m256i reg;

/* 16 bytes of each of two flits. */
static inline reg
reg256_two_at(const uint8_t *a, const uint8_t *b, size_t off)
{
	return _mm256_inserti128_si256(
		_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)(a + off))),
		_mm_loadu_si128((const __m128i *)(const void *)(b + off)), 1);
}

/* Of each half, rows of four 32-bit elements to columns. */
static inline void
reg256_transpose(reg a, reg b, reg c, reg d, reg *out)
{
	const reg ab = _mm256_unpacklo_epi32(a, b), cd = _mm256_unpacklo_epi32(c, d);
	const reg ef = _mm256_unpackhi_epi32(a, b), gh = _mm256_unpackhi_epi32(c, d);

	out[0] = _mm256_unpacklo_epi64(ab, cd);
	out[1] = _mm256_unpackhi_epi64(ab, cd);
	out[2] = _mm256_unpacklo_epi64(ef, gh);
	out[3] = _mm256_unpackhi_epi64(ef, gh);
}

static inline reg
reg256_low_nibbles(reg a)
{
	return _mm256_and_si256(a, _mm256_set1_epi8(0x0F));
}

static inline reg
reg256_high_nibbles(reg a)
{
	return reg256_low_nibbles(_mm256_srli_epi16(a, 4));
}

/* A table of 16 products for both halves. */
static inline reg
reg256_table(const uint8_t *t)
{
	return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)t));
}

static inline reg
reg256_multiply(reg a, const uint8_t (*t)[16])
{
	return _mm256_xor_si256(_mm256_shuffle_epi8(reg256_table(t[0]), reg256_low_nibbles(a)),
		_mm256_shuffle_epi8(reg256_table(t[1]), reg256_high_nibbles(a)));
}

#endif /* WEFT_REG256_PRIV_H */
