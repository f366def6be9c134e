/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* FEC bytes with AVX2 and GFNI: a product with a constant is one instruction. Hot path. */

#include "fec_rows_priv.h"

static inline reg
fec_times_y(reg a)
{
	return _mm256_gf2p8affine_epi64_epi8(a, _mm256_set1_epi64x((long long)weft_fec_gfni.y), 0);
}

static inline reg
fec_times_y2(reg a)
{
	return _mm256_gf2p8affine_epi64_epi8(a, _mm256_set1_epi64x((long long)weft_fec_gfni.y2), 0);
}

void
weft_fec_group_gfni(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	fec_group(flit, n, fec, fec_times_y, fec_times_y2);
}
