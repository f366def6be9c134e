/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: a line of keys compared by one AVX-512 instruction. */

#include <immintrin.h>

#include "atc_probe_priv.h"

static inline unsigned int
match_avx512(const struct atc_set *set, uint64_t key)
{
	return _mm512_cmpeq_epi64_mask(
		_mm512_load_si512(set->key), _mm512_set1_epi64((long long)key));
}

void
weft_atc_run_avx512(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	atc_run(c, q, n, match_avx512);
}
