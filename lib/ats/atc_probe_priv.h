/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: one look-up, and a run of them, for a way of comparing a line of keys (ats.md sections 6.1
 * and 7). Each kernel file has one such way and includes this.
 *
 * One probe for each page size that the context uses. Entries of different sizes may overlap while
 * the tables change from one to the other; any live one that permits the access will do. A refusal
 * is believed only when no other size permits: rights may be widened without an invalidation, so
 * the small page may be the older answer.
 */
#ifndef WEFT_ATC_PROBE_PRIV_H
#define WEFT_ATC_PROBE_PRIV_H

#include "atc_priv.h"

#define ATC_INLINE static inline __attribute__((always_inline))
#define ATC_RUN 32 /* look-ups whose lines are under way at a time */

/* Bit w set: way w holds the key. */
typedef unsigned int (*atc_match_fn)(const struct atc_set *set, uint64_t key);

/* Where a look-up begins: its first class in use, and the set there. */
struct atc_start {
	uint8_t class; /* WEFT_ATC_CLASSES: nothing to probe */
	uint32_t set;
};

ATC_INLINE unsigned int
atc_next_class(const struct atc_ctx *x, unsigned int class)
{
	while (class < WEFT_ATC_CLASSES && x->live[class] == 0)
		class ++;
	return class;
}

/* True if a context's last translation serves again. */
ATC_INLINE bool
atc_again(const struct atc_last *last, uint64_t va, unsigned int want)
{
	return (va & ~last->mask) == last->va && (last->flags & want) == want;
}

/* One class of which the set is known. WEFT_ATC_MISS: no entry there. A hit is the last then. */
ATC_INLINE enum weft_atc_result
atc_probe_set(const struct atc_array *a, uint16_t generation, unsigned int log2, uint32_t s,
	uint64_t key, uint64_t va, unsigned int want, struct atc_last *last, atc_match_fn match)
{
	const struct atc_set *set = &a->set[s];
	const unsigned int hits = match(set, key);
	unsigned int way;
	uint64_t value;

	if (hits == 0)
		return WEFT_ATC_MISS;
	way = (unsigned int)__builtin_ctz(hits);
	value = set->value[way];
	if (value >> ATC_GENERATION_SHIFT != generation)
		return WEFT_ATC_MISS;
	if ((a->clock[s].ref & 1u << way) == 0)
		a->clock[s].ref |= (uint8_t)(1u << way);
	if ((value & want) != want)
		return WEFT_ATC_DENY;
	if ((value & WEFT_ATC_U) != 0)
		return WEFT_ATC_UNTRANSLATED;
	last->mask = WEFT_BIT64(log2) - 1;
	last->va = va & ~last->mask;
	last->pa = atc_value_pa(value);
	last->flags = value & ATC_FLAGS_MASK;
	return WEFT_ATC_HIT;
}

ATC_INLINE enum weft_atc_result
atc_probe_class(struct weft_atc *c, uint16_t ctx, unsigned int class, uint32_t s, uint64_t va,
	unsigned int want, uint64_t *pa, atc_match_fn match)
{
	struct atc_ctx *x = &c->ctx[ctx];
	const enum weft_atc_result r =
		atc_probe_set(&c->array[class], x->generation, atc_class_log2[class], s,
			atc_key((enum weft_atc_class) class, ctx, va), va, want, &x->last, match);

	if (r == WEFT_ATC_HIT)
		*pa = x->last.pa | (va & x->last.mask);
	return r;
}

ATC_INLINE bool
atc_is_askable(const struct weft_atc *c, uint16_t ctx, uint64_t va)
{
	return ctx < c->contexts && va >> ATC_VA_BITS == 0;
}

/* Find where a look-up begins. Nothing of the sets is touched. */
ATC_INLINE struct atc_start
atc_begin(const struct weft_atc *c, uint16_t ctx, uint64_t va)
{
	struct atc_start s = { WEFT_ATC_CLASSES, 0 };

	if (!atc_is_askable(c, ctx, va))
		return s;
	s.class = (uint8_t)atc_next_class(&c->ctx[ctx], 0);
	if (s.class < WEFT_ATC_CLASSES)
		s.set = atc_hash(
			atc_key((enum weft_atc_class)s.class, ctx, va), c->array[s.class].sets);
	return s;
}

/* The look-up from its beginning on. */
ATC_INLINE enum weft_atc_result
atc_finish(struct weft_atc *c, struct atc_start s, uint16_t ctx, uint64_t va, unsigned int want,
	uint64_t *pa, atc_match_fn match)
{
	enum weft_atc_result result = WEFT_ATC_MISS;
	unsigned int class = s.class;
	uint32_t set = s.set;

	if (class == WEFT_ATC_CLASSES)
		return WEFT_ATC_MISS;
	if (atc_again(&c->ctx[ctx].last, va, want)) {
		*pa = c->ctx[ctx].last.pa | (va & c->ctx[ctx].last.mask);
		return WEFT_ATC_HIT;
	}
	for (;;) {
		const enum weft_atc_result r =
			atc_probe_class(c, ctx, class, set, va, want, pa, match);

		if (r != WEFT_ATC_MISS)
			result = r;
		if (r == WEFT_ATC_HIT || r == WEFT_ATC_UNTRANSLATED)
			return r;
		class = atc_next_class(&c->ctx[ctx], class + 1);
		if (class == WEFT_ATC_CLASSES)
			return result;
		set = atc_hash(atc_key((enum weft_atc_class) class, ctx, va), c->array[class].sets);
	}
}

ATC_INLINE void
atc_count(struct weft_atc *c, const uint64_t *by_result)
{
	c->count[WEFT_ATC_N_HITS] += by_result[WEFT_ATC_HIT];
	c->count[WEFT_ATC_N_MISSES] += by_result[WEFT_ATC_MISS];
	c->count[WEFT_ATC_N_DENIALS] += by_result[WEFT_ATC_DENY];
	c->count[WEFT_ATC_N_UNTRANSLATED] += by_result[WEFT_ATC_UNTRANSLATED];
}

/* A stretch of a context that has pages of one size only: what does not change stays outside. */
ATC_INLINE void
atc_stretch_of_one_class(struct weft_atc *c, const struct weft_atc_run *q, unsigned int at,
	unsigned int n, unsigned int class, uint64_t *by_result, atc_match_fn match)
{
	const struct atc_array a = c->array[class];
	const unsigned int log2 = atc_class_log2[class];
	struct atc_ctx *x = &c->ctx[q->ctx[at]];
	const uint16_t generation = x->generation;
	const uint64_t *va = q->va + at;
	const uint8_t *want = q->want + at;
	uint64_t *pa = q->pa + at;
	uint8_t *result = q->result + at;
	struct atc_last last = x->last;
	unsigned int hits = 0;
	uint64_t key[ATC_RUN];
	uint32_t set[ATC_RUN];

	for (unsigned int i = 0; i < n; i++) {
		key[i] = atc_key((enum weft_atc_class) class, q->ctx[at], va[i]);
		set[i] = atc_hash(key[i], a.sets);
		__builtin_prefetch(a.set[set[i]].key);
		__builtin_prefetch(a.set[set[i]].value);
	}
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int w = want[i] & (WEFT_ATC_R | WEFT_ATC_W);
		enum weft_atc_result r = WEFT_ATC_HIT;

		if (va[i] >> ATC_VA_BITS != 0)
			r = WEFT_ATC_MISS;
		else if (!atc_again(&last, va[i], w))
			r = atc_probe_set(
				&a, generation, log2, set[i], key[i], va[i], w, &last, match);
		result[i] = (uint8_t)r;
		if (__builtin_expect(r != WEFT_ATC_HIT, 0)) {
			by_result[r]++;
			continue;
		}
		pa[i] = last.pa | (va[i] & last.mask);
		hits++;
	}
	by_result[WEFT_ATC_HIT] += hits;
	x->last = last;
}

ATC_INLINE void
atc_stretch(struct weft_atc *c, const struct weft_atc_run *q, unsigned int at, unsigned int n,
	uint64_t *by_result, atc_match_fn match)
{
	struct atc_start start[ATC_RUN];

	for (unsigned int i = 0; i < n; i++) {
		const struct atc_array *a;

		start[i] = atc_begin(c, q->ctx[at + i], q->va[at + i]);
		if (start[i].class == WEFT_ATC_CLASSES)
			continue;
		a = &c->array[start[i].class];
		__builtin_prefetch(a->set[start[i].set].key);
		__builtin_prefetch(a->set[start[i].set].value);
	}
	for (unsigned int i = 0; i < n; i++) {
		const enum weft_atc_result r =
			atc_finish(c, start[i], q->ctx[at + i], q->va[at + i],
				q->want[at + i] & (WEFT_ATC_R | WEFT_ATC_W), &q->pa[at + i], match);

		q->result[at + i] = (uint8_t)r;
		by_result[r]++;
	}
}

/* The class of a context that uses one, else WEFT_ATC_CLASSES. */
ATC_INLINE unsigned int
atc_only_class(const struct weft_atc *c, uint16_t ctx)
{
	unsigned int class;

	if (ctx >= c->contexts)
		return WEFT_ATC_CLASSES;
	class = atc_next_class(&c->ctx[ctx], 0);
	if (class < WEFT_ATC_CLASSES && atc_next_class(&c->ctx[ctx], class + 1) < WEFT_ATC_CLASSES)
		return WEFT_ATC_CLASSES;
	return class;
}

/* How a kernel does a stretch of one context and class: atc_stretch_of_one_class() or better. */
typedef void (*atc_stretch_fn)(struct weft_atc *c, const struct weft_atc_run *q, unsigned int at,
	unsigned int n, unsigned int class, uint64_t *by_result, atc_match_fn match);

/* How many of @p n contexts, from the first on, are the same: up to ATC_RUN. */
typedef unsigned int (*atc_same_fn)(const uint16_t *ctx, unsigned int n);

ATC_INLINE unsigned int
atc_same_context(const uint16_t *ctx, unsigned int n)
{
	unsigned int end = 1;

	while (end < n && end < ATC_RUN && ctx[end] == ctx[0])
		end++;
	return end;
}

/* A run, in stretches of one context: first all sets are asked for, then looked at. */
ATC_INLINE unsigned int
atc_run(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n, atc_match_fn match,
	atc_stretch_fn stretch, atc_same_fn same)
{
	uint64_t by_result[WEFT_ATC_UNTRANSLATED + 1] = { 0 };
	unsigned int len;

	for (unsigned int at = 0; at < n; at += len) {
		const unsigned int class = atc_only_class(c, q->ctx[at]);

		len = same(q->ctx + at, n - at);
		if (class < WEFT_ATC_CLASSES)
			stretch(c, q, at, len, class, by_result, match);
		else
			atc_stretch(c, q, at, len, by_result, match);
	}
	atc_count(c, by_result);
	return (unsigned int)by_result[WEFT_ATC_HIT];
}

#endif /* WEFT_ATC_PROBE_PRIV_H */
