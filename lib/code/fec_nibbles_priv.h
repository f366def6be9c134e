/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes without GFNI: a product with a constant is two table look-ups, one a nibble. Hot path.
 */
#ifndef WEFT_FEC_NIBBLES_PRIV_H
#define WEFT_FEC_NIBBLES_PRIV_H

#include "fec_rows_priv.h"

static inline reg
fec_times_y(reg a)
{
	return reg256_multiply(a, weft_fec_avx2.y);
}

static inline reg
fec_times_y2(reg a)
{
	return reg256_multiply(a, weft_fec_avx2.y2);
}

#endif /* WEFT_FEC_NIBBLES_PRIV_H */
