/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: one probe for each page size that the context uses (ats.md section 6.1). Entries of
 * different sizes may overlap while the tables change from one to the other; any live one that
 * permits the access will do. A refusal is believed only when no other size permits: rights may be
 * widened without an invalidation, so the small page may be the older answer.
 */

#include "atc_priv.h"

static inline void
touch(struct atc_place *p)
{
	const uint8_t bit = (uint8_t)(1u << p->way);

	if ((p->clock->ref & bit) == 0)
		p->clock->ref |= bit;
}

/* What one entry says to the access. */
static inline enum weft_atc_result
judge(uint64_t value, unsigned int want)
{
	if ((value & want) != want)
		return WEFT_ATC_DENY;
	return (value & WEFT_ATC_U) != 0 ? WEFT_ATC_UNTRANSLATED : WEFT_ATC_HIT;
}

static enum weft_atc_result
find(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa)
{
	enum weft_atc_result result = WEFT_ATC_MISS;

	for (unsigned int i = 0; i < WEFT_ATC_CLASSES; i++) {
		struct atc_place p;
		uint64_t value;

		if (c->ctx[ctx].live[i] == 0)
			continue;
		p = atc_find(&c->array[i], atc_key(i, ctx, va));
		if (p.way < 0 || !atc_is_live(c, p.set, (unsigned int)p.way))
			continue;
		touch(&p);
		value = p.set->value[p.way];
		result = judge(value, want);
		if (result == WEFT_ATC_HIT)
			*pa = atc_value_pa(value) | (va & weft_mask64(atc_class_log2[i]));
		if (result != WEFT_ATC_DENY)
			break;
	}
	return result;
}

enum weft_atc_result
weft_atc_lookup(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa)
{
	static const uint8_t counter[] = {
		[WEFT_ATC_HIT] = WEFT_ATC_N_HITS,
		[WEFT_ATC_MISS] = WEFT_ATC_N_MISSES,
		[WEFT_ATC_DENY] = WEFT_ATC_N_DENIALS,
		[WEFT_ATC_UNTRANSLATED] = WEFT_ATC_N_UNTRANSLATED,
	};
	enum weft_atc_result r = WEFT_ATC_MISS;

	if (ctx < c->contexts && va >> ATC_VA_BITS == 0)
		r = find(c, ctx, va, want & (WEFT_ATC_R | WEFT_ATC_W), pa);
	c->count[counter[r]]++;
	return r;
}

void
weft_atc_lookup_run(struct weft_atc *c, uint16_t ctx, const uint64_t *va, unsigned int want,
	uint64_t *pa, uint8_t *result, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		result[i] = (uint8_t)weft_atc_lookup(c, ctx, va[i], want, &pa[i]);
}
