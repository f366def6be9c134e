/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * FEC bytes with AVX-512 but neither GFNI nor VBMI: fec_nibbles_priv.h, in which the compiler makes
 * one ternary operation of two additions and finds twice the registers. They stay 256 bits wide: by
 * wider ones these CPUs lower their clock for all that runs (doc/performance.md). Hot path.
 */

#include "fec_nibbles_priv.h"

void
weft_fec_group_avx512bw(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	fec_group(flit, n, fec, fec_times_y, fec_times_y2);
}
