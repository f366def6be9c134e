/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATC: remember a translation. The victim of a full set is found by CLOCK. */

#include "atc_priv.h"

#include <errno.h>

#define ATC_INSTALL_LOG2_MAX 6 /* of entries a call: a larger page is cheaper to ask for again */

/* First way that holds nothing worth keeping, or -1. */
static int
atc_find_free_way(const struct weft_atc *c, const struct atc_set *set)
{
	for (unsigned int w = 0; w < WEFT_ATC_WAYS; w++)
		if (set->key[w] == 0 || !atc_is_live(c, set, w))
			return (int)w;
	return -1;
}

/* Pass the hand over referenced ways, taking their mark, to the first that has none. */
static unsigned int
atc_clock_victim(struct atc_clock *clock)
{
	unsigned int way = clock->hand;

	while ((clock->ref & 1u << way) != 0) {
		clock->ref &= (uint8_t) ~(1u << way);
		way = (way + 1) % WEFT_ATC_WAYS;
	}
	clock->hand = (uint8_t)((way + 1) % WEFT_ATC_WAYS);
	return way;
}

static unsigned int
atc_make_room(struct weft_atc *c, enum weft_atc_class k, const struct atc_place *p)
{
	int way = atc_find_free_way(c, p->set);

	if (way < 0) {
		way = (int)atc_clock_victim(p->clock);
		c->ctx[atc_key_ctx(p->set->key[way])].live[k]--;
		c->count[WEFT_ATC_N_EVICTIONS]++;
	}
	return (unsigned int)way;
}

static void
install_one(struct weft_atc *c, enum weft_atc_class k, uint16_t ctx, uint64_t va, uint64_t pa,
	unsigned int flags)
{
	const uint64_t key = atc_key(k, ctx, va);
	struct atc_place p = atc_find(&c->array[k], key);
	const bool had = p.way >= 0 && atc_is_live(c, p.set, (unsigned int)p.way);
	const unsigned int way = p.way >= 0 ? (unsigned int)p.way : atc_make_room(c, k, &p);

	if (!had)
		c->ctx[ctx].live[k]++;
	p.set->key[way] = key;
	p.set->value[way] = atc_value(pa, flags & ATC_FLAGS_MASK, c->ctx[ctx].generation);
	if ((flags & WEFT_ATC_PREFETCHED) == 0)
		p.clock->ref |= (uint8_t)(1u << way);
	else if (!had)
		p.clock->ref &= (uint8_t) ~(1u << way);
	c->count[WEFT_ATC_N_INSTALLS]++;
}

/* Largest class kept whose pages are not larger than 1 << @p log2, or -1. */
static int
atc_class_for(const struct weft_atc *c, unsigned int log2)
{
	for (int k = WEFT_ATC_CLASSES - 1; k >= 0; k--)
		if (c->array[k].sets != 0 && atc_class_log2[k] <= log2)
			return k;
	return -1;
}

int
weft_atc_install(struct weft_atc *c, uint16_t ctx, uint64_t va, uint64_t pa, unsigned int log2,
	unsigned int flags)
{
	unsigned int n_log2;
	int k;

	if (ctx >= c->contexts || log2 < ATC_PAGE_LOG2_MIN || log2 > 64 ||
		(flags & ~(ATC_FLAGS_MASK | WEFT_ATC_PREFETCHED)) != 0)
		return -EINVAL;
	if (va >> ATC_VA_BITS != 0 || pa >> ATC_PA_BITS != 0 ||
		((va | pa) & weft_mask64(log2)) != 0)
		return -EINVAL;
	if ((flags & (WEFT_ATC_R | WEFT_ATC_W)) == 0)
		return 0;
	k = atc_class_for(c, log2);
	if (k < 0)
		return 0;
	atc_forget_last(&c->ctx[ctx]);
	n_log2 = log2 - atc_class_log2[k];
	if (n_log2 > ATC_INSTALL_LOG2_MAX)
		return 0;

	for (uint64_t i = 0; i < WEFT_BIT64(n_log2); i++) {
		const uint64_t off = i << atc_class_log2[k];

		install_one(c, (enum weft_atc_class)k, ctx, va + off, pa + off, flags);
	}
	return 1 << n_log2;
}
