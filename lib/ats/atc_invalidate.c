/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * ATC: forget (ats.md section 6.3). Each page size is searched on its own: the one page that
 * contains the range, or every page inside it. Pages inside are tried one by one or the array is
 * swept, whichever looks at fewer sets. A context as a whole goes by moving its generation on; its
 * ways are taken over one by one by later installs.
 */

#include "atc_priv.h"

#include <errno.h>

/* Empty a way. @return 1 if it was live, 0 if only a remnant of an older generation. */
static int
invalidate_way(struct weft_atc *c, enum weft_atc_class k, struct atc_set *set, unsigned int way)
{
	const bool live = atc_is_live(c, set, way);

	if (live)
		c->ctx[atc_key_ctx(set->key[way])].live[k]--;
	set->key[way] = 0;
	return live;
}

static int
invalidate_page(struct weft_atc *c, enum weft_atc_class k, uint16_t ctx, uint64_t va)
{
	struct atc_place p = atc_find(&c->array[k], atc_key(k, ctx, va));

	return p.way >= 0 ? invalidate_way(c, k, p.set, (unsigned int)p.way) : 0;
}

static int
invalidate_each_page(
	struct weft_atc *c, enum weft_atc_class k, uint16_t ctx, uint64_t va, uint64_t pages)
{
	int n = 0;

	for (uint64_t i = 0; i < pages; i++)
		n += invalidate_page(c, k, ctx, va + (i << atc_class_log2[k]));
	return n;
}

/* Drop the ways of @p ctx, live or not, whose page starts in va..va + mask. */
static int
invalidate_by_sweep(
	struct weft_atc *c, enum weft_atc_class k, uint16_t ctx, uint64_t va, uint64_t mask)
{
	int n = 0;

	for (uint32_t s = 0; s < c->array[k].sets; s++) {
		struct atc_set *set = &c->array[k].set[s];

		for (unsigned int w = 0; w < WEFT_ATC_WAYS; w++)
			if (set->key[w] != 0 && atc_key_ctx(set->key[w]) == ctx &&
				(atc_key_va(set->key[w], k) & ~mask) == va)
				n += invalidate_way(c, k, set, w);
	}
	return n;
}

static int
invalidate_class(
	struct weft_atc *c, enum weft_atc_class k, uint16_t ctx, uint64_t va, unsigned int log2)
{
	uint64_t pages;

	if (c->ctx[ctx].live[k] == 0)
		return 0;
	if (log2 <= atc_class_log2[k])
		return invalidate_page(c, k, ctx, va);
	pages = WEFT_BIT64(log2 - atc_class_log2[k]);
	if (pages < c->array[k].sets)
		return invalidate_each_page(c, k, ctx, va, pages);
	return invalidate_by_sweep(c, k, ctx, va, weft_mask64(log2));
}

int
weft_atc_invalidate(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int log2)
{
	int n = 0;

	if (ctx >= c->contexts || log2 < ATC_PAGE_LOG2_MIN || log2 > 64 ||
		(va & weft_mask64(log2)) != 0)
		return -EINVAL;
	if (va >> ATC_VA_BITS != 0)
		return 0;
	if (log2 >= ATC_VA_BITS)
		return weft_atc_invalidate_context(c, ctx);
	atc_forget_last(&c->ctx[ctx]);
	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++)
		n += invalidate_class(c, k, ctx, va, log2);
	c->count[WEFT_ATC_N_INVALIDATED] += (unsigned int)n;
	return n;
}

/*
 * Remnants of generation 0 would come to life again: clear every way of the context. Called with
 * the generation one above what a value can hold, so that nothing counts as live.
 */
static void
atc_restart_generations(struct weft_atc *c, uint16_t ctx)
{
	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++)
		invalidate_by_sweep(c, k, ctx, 0, UINT64_MAX);
	c->ctx[ctx].generation = 0;
}

int
weft_atc_invalidate_context(struct weft_atc *c, uint16_t ctx)
{
	struct atc_ctx *x;
	uint32_t n = 0;

	if (ctx >= c->contexts)
		return -EINVAL;
	x = &c->ctx[ctx];
	atc_forget_last(x);
	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++) {
		n += x->live[k];
		x->live[k] = 0;
	}
	c->count[WEFT_ATC_N_INVALIDATED] += n;
	x->generation++;
	if (x->generation == ATC_GENERATIONS)
		atc_restart_generations(c, ctx);
	return (int)n;
}
