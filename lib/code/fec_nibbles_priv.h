/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes without GFNI: a product with a constant is two table look-ups, one a nibble. Hot path.
 */
#ifndef WEFT_FEC_NIBBLES_PRIV_H
#define WEFT_FEC_NIBBLES_PRIV_H

#include "fec_rows_priv.h"

/* A table of 16 products for both halves. */
static inline reg
fec_table(const uint8_t *t)
{
	return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)t));
}

static inline reg
fec_multiply(reg a, const uint8_t (*t)[16])
{
	const reg nibble = _mm256_set1_epi8(0x0F);

	return fec_add(_mm256_shuffle_epi8(fec_table(t[0]), _mm256_and_si256(a, nibble)),
		_mm256_shuffle_epi8(
			fec_table(t[1]), _mm256_and_si256(_mm256_srli_epi16(a, 4), nibble)));
}

static inline reg
fec_times_y(reg a)
{
	return fec_multiply(a, weft_fec_avx2.y);
}

static inline reg
fec_times_y2(reg a)
{
	return fec_multiply(a, weft_fec_avx2.y2);
}

#endif /* WEFT_FEC_NIBBLES_PRIV_H */
