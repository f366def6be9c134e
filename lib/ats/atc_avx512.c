/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: a line of keys compared by one AVX-512 instruction. Where a context has pages of one size, 8
 * look-ups are hashed together, and what their ways hold is judged together; a group in which any
 * is not a plain hit is judged again one by one.
 */

#include <immintrin.h>

#include "atc_probe_priv.h"

#define GROUP 8
#define FETCH_SETS 2048 /* a larger array is not in the second cache: its lines are asked for */

static inline unsigned int
atc_match_avx512(const struct atc_set *set, uint64_t key)
{
	return _mm512_cmpeq_epi64_mask(
		_mm512_load_si512(set->key), _mm512_set1_epi64((long long)key));
}

/* State of 8 look-ups of one class. */
struct group_cfg {
	struct atc_array a;
	unsigned int log2;
	uint64_t low_key; /* context and class */
	uint64_t generation;
};

/* Of a group between its steps: one line each, so that a step reads what another wrote at once. */
struct group {
	_Alignas(WEFT_CACHE_LINE) uint64_t key[GROUP];
	uint64_t set[GROUP]; /* addresses of their sets */
	uint64_t clock[GROUP]; /* and of their clocks */
	uint64_t value[GROUP]; /* what their ways hold; 0: nothing */
};

/* True if the context's last translation answers all 8. */
ATC_INLINE bool
group_again(const struct weft_atc_run *q, unsigned int at, const struct atc_last *last)
{
	const __m512i va = _mm512_loadu_si512(q->va + at);
	const uint64_t lacks = (WEFT_ATC_R | WEFT_ATC_W) & ~last->flags;
	uint64_t want;

	memcpy(&want, q->want + at, sizeof(want));
	if (last->flags == 0 ||
		_mm512_cmpneq_epi64_mask(
			_mm512_andnot_si512(_mm512_set1_epi64((long long)last->mask), va),
			_mm512_set1_epi64((long long)last->va)) != 0 ||
		(want & lacks * UINT64_C(0x0101010101010101)) != 0)
		return false;
	_mm512_storeu_si512(q->pa + at,
		_mm512_or_si512(_mm512_and_si512(va, _mm512_set1_epi64((long long)last->mask)),
			_mm512_set1_epi64((long long)last->pa)));
	memset(q->result + at, WEFT_ATC_HIT, GROUP);
	return true;
}

/* Keys and sets of 8 addresses: atc_key() and atc_hash(). */
ATC_INLINE void
group_begin(const struct group_cfg *g, const uint64_t *va, struct group *p)
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
	h = _mm512_srli_epi64(h, 32);
	_mm512_store_si512(p->key, k);
	_mm512_store_si512(p->set, _mm512_add_epi64(_mm512_slli_epi64(h, ATC_SET_LOG2),
					   _mm512_set1_epi64((long long)(uintptr_t)g->a.set)));
	_mm512_store_si512(p->clock, _mm512_add_epi64(_mm512_slli_epi64(h, ATC_CLOCK_LOG2),
					     _mm512_set1_epi64((long long)(uintptr_t)g->a.clock)));
}

/* Ask for the lines of a group. */
ATC_INLINE void
group_fetch(const struct group *p)
{
#pragma GCC unroll 8
	for (unsigned int i = 0; i < GROUP; i++) {
		const struct atc_set *s = (const struct atc_set *)(uintptr_t)p->set[i];

		__builtin_prefetch(s->key);
		__builtin_prefetch(s->value);
	}
}

/* Values of the ways of 8 keys; 0 for a key that has none. */
ATC_INLINE void
group_match(struct group *p)
{
#pragma GCC unroll 8
	for (unsigned int i = 0; i < GROUP; i++) {
		const struct atc_set *s = (const struct atc_set *)(uintptr_t)p->set[i];
		struct atc_clock *clock = (struct atc_clock *)(uintptr_t)p->clock[i];
		const unsigned int hits = atc_match_avx512(s, p->key[i]);

		/* Compressed, not found by its number: that would take two steps more. */
		_mm_storel_epi64((void *)&p->value[i],
			_mm512_castsi512_si128(_mm512_maskz_compress_epi64(
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
	const unsigned int grouped = n & ~(GROUP - 1u);
	struct group group[ATC_RUN / GROUP], *p;
	unsigned int i;

	/* A stream is answered here, up to where it leaves its page. */
	for (i = 0; i < grouped && group_again(q, at + i, &x->last); i += GROUP)
		by_result[WEFT_ATC_HIT] += GROUP;
	at += i;
	n -= i;
	p = group;
	for (i = 0; i + GROUP <= n; i += GROUP) {
		group_begin(&g, q->va + at + i, p);
		if (g.a.sets > FETCH_SETS)
			group_fetch(p);
		p++;
	}
	/* One after the other: values stored one by one are not loaded as a line at once. */
	for (p = group, i = 0; i + GROUP <= n; i += GROUP)
		group_match(p++);
	for (p = group, i = 0; i + GROUP <= n; i += GROUP, p++) {
		if (group_judge(&g, q, at + i, p->value, &x->last))
			by_result[WEFT_ATC_HIT] += GROUP;
		else
			atc_stretch_of_one_class(c, q, at + i, GROUP, class, by_result, match);
	}
	if (i < n)
		atc_stretch_of_one_class(c, q, at + i, n - i, class, by_result, match);
}

/* How many of @p n contexts, from the first on, are the same. */
ATC_INLINE unsigned int
same_context(const uint16_t *ctx, unsigned int n)
{
	const __mmask32 there = (__mmask32)weft_mask64(n < ATC_RUN ? n : ATC_RUN);
	const __mmask32 others = _mm512_mask_cmpneq_epi16_mask(
		there, _mm512_maskz_loadu_epi16(there, ctx), _mm512_set1_epi16((short)ctx[0]));

	return (unsigned int)__builtin_ctzll((uint64_t)others | ((uint64_t)there + 1));
}

unsigned int
weft_atc_run_avx512(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n)
{
	return atc_run(c, q, n, atc_match_avx512, stretch_avx512, same_context);
}
