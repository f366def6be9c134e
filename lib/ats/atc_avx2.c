/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: a line of keys compared by two AVX2 instructions. */

#include <immintrin.h>

#include "atc_probe_priv.h"

static inline unsigned int
atc_match_four(const uint64_t *keys, __m256i key)
{
	const __m256i four = _mm256_load_si256((const __m256i *)(const void *)keys);

	return (unsigned int)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(four, key)));
}

static inline unsigned int
atc_match_avx2(const struct atc_set *set, uint64_t key)
{
	const __m256i k = _mm256_set1_epi64x((long long)key);

	return atc_match_four(set->key, k) | atc_match_four(set->key + 4, k) << 4;
}

unsigned int
weft_atc_run_avx2(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	return atc_run(c, q, n, atc_match_avx2, atc_stretch_of_one_class, atc_same_context);
}
