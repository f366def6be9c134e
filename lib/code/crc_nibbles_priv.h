/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the CRC kernels without GFNI have in common: products of their own constants, and the last
 * steps, in registers of 256 bits. Hot path.
 */
#ifndef WEFT_CRC_NIBBLES_PRIV_H
#define WEFT_CRC_NIBBLES_PRIV_H

#include "crc_priv.h"
#include "reg256_priv.h"

/* Whether the @p n flits of a group were few, and are done. */
static inline bool
crc_few(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	if (n > CRC_FEW)
		return false;
	for (unsigned int k = 0; k < n; k++)
		crc[k] = weft_crc_one_avx2(flit[k]);
	return true;
}

static inline reg
crc_add(reg a, reg b)
{
	return _mm256_xor_si256(a, b);
}

/* Each half by its own constant. */
static inline reg
crc_multiply_halves(reg a, const uint8_t (*t)[32])
{
	const reg low = _mm256_load_si256((const reg *)(const void *)t[0]);
	const reg high = _mm256_load_si256((const reg *)(const void *)t[1]);

	return crc_add(_mm256_shuffle_epi8(low, reg256_low_nibbles(a)),
		_mm256_shuffle_epi8(high, reg256_high_nibbles(a)));
}

/*
 * From 4 bytes of flits 0 2 4 6 1 3 5 7 to one, for two roots: of flit i at the one in 16-bit
 * element i, at the other in element 8 + i.
 */
static inline reg
crc_values_at_two(const struct crc_avx2_pair *t, reg a, reg b)
{
	const reg x = _mm256_permute2x128_si256(a, b, 0x20); /* flits 0 2 4 6 */
	const reg y = _mm256_permute2x128_si256(a, b, 0x31);
	const reg low = _mm256_blend_epi16(x, _mm256_slli_epi32(y, 16), 0xAA);
	const reg high = _mm256_blend_epi16(_mm256_srli_epi32(x, 16), y, 0xAA);
	const reg d = crc_add(crc_multiply_halves(low, t->two), high);

	return _mm256_and_si256(crc_add(crc_multiply_halves(d, t->one), _mm256_srli_epi16(d, 8)),
		_mm256_set1_epi16(0xFF));
}

#endif /* WEFT_CRC_NIBBLES_PRIV_H */
