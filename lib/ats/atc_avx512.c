/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: a line of keys compared by one AVX-512 instruction. Where a context has pages of one size, 8
 * look-ups are hashed together, and what their ways hold is judged together; a group in which any is
 * not a plain hit is judged again one by one.
 */

#include <immintrin.h>

#include "atc_probe_priv.h"

#define GROUP 8

static inline unsigned int
match_avx512(const struct atc_set *set, uint64_t key)
{
	return _mm512_cmpeq_epi64_mask(
		_mm512_load_si512(set->key), _mm512_set1_epi64((long long)key));
}

/* What 8 look-ups of one class have in common. */
struct group_cfg {
	struct atc_array a;
	unsigned int log2;
	uint64_t low_key; /* context and class */
	uint64_t generation;
};

/* Keys and sets of 8 addresses: atc_key() and atc_hash(). Their lines are asked for. */
ATC_INLINE void
group_begin(const struct group_cfg *g, const uint64_t *va, uint64_t *key, uint64_t *set)
{
	const __m512i k = _mm512_or_si512(
		_mm512_slli_epi64(
			_mm512_srl_epi64(_mm512_loadu_si512(va), _mm_cvtsi32_si128((int)g->log2)),
			19),
		_mm512_set1_epi64((long long)g->low_key));
	__m512i h = _mm512_mullo_epi64(k, _mm512_set1_epi64((long long)ATC_HASH_1));

	h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
	h = _mm512_mullo_epi64(h, _mm512_set1_epi64((long long)ATC_HASH_2));
	h = _mm512_mul_epu32(_mm512_srli_epi64(h, 32), _mm512_set1_epi64(g->a.sets));
	_mm512_store_si512(key, k);
	_mm512_store_si512(set, _mm512_srli_epi64(h, 32));
	for (unsigned int i = 0; i < GROUP; i++) {
		__builtin_prefetch(g->a.set[set[i]].key);
		__builtin_prefetch(g->a.set[set[i]].value);
	}
}

/* What the ways of 8 keys hold; 0 for a key that has none. */
ATC_INLINE void
group_match(const struct group_cfg *g, const uint64_t *key, const uint64_t *set, uint64_t *value)
{
	for (unsigned int i = 0; i < GROUP; i++) {
		const struct atc_set *s = &g->a.set[set[i]];
		struct atc_clock *clock = &g->a.clock[set[i]];
		const unsigned int hits = match_avx512(s, key[i]);

		/* Compressed, not found by its number: that would take two steps more. */
		_mm_storel_epi64(
			(void *)&value[i], _mm512_castsi512_si128(_mm512_maskz_compress_epi64(
						   (__mmask8)hits, _mm512_load_si512(s->value))));
		if (__builtin_expect((clock->ref & hits) != hits, 0))
			clock->ref |= (uint8_t)hits;
	}
}

/* @return whether all 8 are hits, and answered */
ATC_INLINE bool
group_judge(const struct group_cfg *g, const struct weft_atc_run *q, unsigned int at,
	const uint64_t *value, struct atc_last *last)
{
	const __m512i va = _mm512_loadu_si512(q->va + at);
	const __m512i want = _mm512_and_si512(
		_mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)(q->want + at))),
		_mm512_set1_epi64(WEFT_ATC_R | WEFT_ATC_W));
	const __m512i offset = _mm512_set1_epi64((long long)weft_mask64(g->log2));
	const __m512i pa_bits = _mm512_set1_epi64(
		(long long)(weft_mask64(ATC_PA_BITS) & ~weft_mask64(ATC_PAGE_LOG2_MIN)));
	__mmask8 bad;
	__m512i v;

	v = _mm512_load_si512(value);
	bad = _mm512_cmpneq_epi64_mask(_mm512_srli_epi64(v, ATC_GENERATION_SHIFT),
		_mm512_set1_epi64((long long)g->generation));
	bad |= _mm512_cmpneq_epi64_mask(_mm512_and_si512(v, want), want);
	/* What is cached permits something, so this tells what is not there. */
	bad |= _mm512_testn_epi64_mask(v, _mm512_set1_epi64(WEFT_ATC_R | WEFT_ATC_W));
	bad |= _mm512_test_epi64_mask(v, _mm512_set1_epi64(WEFT_ATC_U));
	bad |= _mm512_test_epi64_mask(va, _mm512_set1_epi64((long long)~weft_mask64(ATC_VA_BITS)));
	if (__builtin_expect(bad != 0, 0))
		return false;
	_mm512_storeu_si512(q->pa + at,
		_mm512_or_si512(_mm512_and_si512(v, pa_bits), _mm512_and_si512(va, offset)));
	memset(q->result + at, WEFT_ATC_HIT, GROUP);
	last->mask = weft_mask64(g->log2);
	last->va = q->va[at + GROUP - 1] & ~last->mask;
	last->pa = atc_value_pa(value[GROUP - 1]);
	last->flags = value[GROUP - 1] & ATC_FLAGS_MASK;
	return true;
}

ATC_INLINE void
stretch_avx512(struct weft_atc *c, const struct weft_atc_run *q, unsigned int at, unsigned int n,
	unsigned int class, uint64_t *by_result, atc_match_fn match)
{
	struct atc_ctx *x = &c->ctx[q->ctx[at]];
	const struct group_cfg g = {
		.a = c->array[class],
		.log2 = atc_class_log2[class],
		.low_key = atc_key((enum weft_atc_class) class, q->ctx[at], 0),
		.generation = x->generation,
	};
	_Alignas(WEFT_CACHE_LINE) uint64_t key[ATC_RUN];
	_Alignas(WEFT_CACHE_LINE) uint64_t set[ATC_RUN];
	_Alignas(WEFT_CACHE_LINE) uint64_t value[ATC_RUN];
	const unsigned int grouped = n & ~(GROUP - 1u);

	for (unsigned int i = 0; i < grouped; i += GROUP)
		group_begin(&g, q->va + at + i, key + i, set + i);
	/* Behind each other: values stored one by one are not loaded as a line at once. */
	for (unsigned int i = 0; i < grouped; i += GROUP)
		group_match(&g, key + i, set + i, value + i);
	for (unsigned int i = 0; i < grouped; i += GROUP) {
		if (group_judge(&g, q, at + i, value + i, &x->last))
			by_result[WEFT_ATC_HIT] += GROUP;
		else
			atc_stretch_of_one_class(c, q, at + i, GROUP, class, by_result, match);
	}
	if (grouped < n)
		atc_stretch_of_one_class(c, q, at + grouped, n - grouped, class, by_result, match);
}

void
weft_atc_run_avx512(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	atc_run(c, q, n, match_avx512, stretch_avx512);
}
