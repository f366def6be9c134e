/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* FEC bytes with AVX2 alone: fec_nibbles_priv.h. Hot path. */

#include "fec_nibbles_priv.h"

void
weft_fec_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *fec)
{
	fec_group(flit, n, fec, fec_times_y, fec_times_y2);
}
