/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * ATC peer: the answer to a Translation Request, in one or two packets (ats.md sections 2.4, 2.5).
 */

#include "ats_priv.h"
#include "atc_priv.h"

/* Start of the translation that is @p i-th of the answer. */
static uint64_t
answer_va(const struct ats_slot *s, unsigned int i)
{
	const unsigned int log2 = s->x[0].log2;

	if (log2 == 64)
		return 0;
	return (s->va & ~weft_mask64(log2)) + ((uint64_t)i << log2);
}

/* One size for all, not below the smallest unit; each translation overlaps what was asked for. */
static bool
answer_sizes_fit(const struct weft_ats_atc *a, const struct ats_slot *s)
{
	const unsigned int stu_log2 = WEFT_ATS_PAGE_LOG2 + (unsigned int)a->stu;
	unsigned int log2 = 0;

	for (unsigned int i = 0; i < s->got; i++) {
		const struct weft_ats_xlat *x = &s->x[i];

		if (x->log2 == 0)
			continue;
		if (log2 == 0)
			log2 = x->log2;
		if (x->log2 != log2 || log2 < stu_log2 || x->pa >> ATC_PA_BITS != 0)
			return false;
	}
	/* A first one without rights has the size of the unit, so all have. */
	return s->x[0].log2 != 0 || log2 == 0 || log2 == stu_log2;
}

/* The size of a translation without R and W is undefined: that of the others, or the unit. */
static void
answer_fill_sizes(const struct weft_ats_atc *a, struct ats_slot *s)
{
	unsigned int log2 = 0;

	for (unsigned int i = 0; i < s->got; i++)
		log2 = s->x[i].log2 != 0 ? s->x[i].log2 : log2;
	if (log2 == 0)
		log2 = WEFT_ATS_PAGE_LOG2 + (unsigned int)a->stu;
	for (unsigned int i = 0; i < s->got; i++)
		s->x[i].log2 = s->x[i].log2 != 0 ? s->x[i].log2 : (uint8_t)log2;
}

/*
 * True if an invalidation since the request was sent took any of the answer away. What was asked
 * for is not enough to compare: the answer may be a larger page, and the invalidation in its other
 * part.
 */
static bool
answer_is_overtaken(const struct weft_ats_atc *a, const struct ats_slot *s)
{
	if (s->marked)
		return true;
	if (s->gone_from > s->gone_to || (a->broken & ATS_RULE_LARGE) != 0)
		return false;
	for (unsigned int i = 0; i < s->got; i++)
		if (ats_overlaps(s->gone_from, s->gone_to, answer_va(s, i),
			    ats_last(answer_va(s, i), s->x[i].log2)))
			return true;
	return false;
}

/* Those behind the first were not missed yet: they make room before anything that was used. */
static bool
answer_install(struct weft_ats_atc *a, struct ats_slot *s)
{
	unsigned int usable = 0;

	for (unsigned int i = 0; i < s->got; i++) {
		const unsigned int bits = s->x[i].bits & (WEFT_ATS_R | WEFT_ATS_W | WEFT_ATS_U);

		usable += (bits & (WEFT_ATS_R | WEFT_ATS_W)) != 0;
		weft_atc_install(a->cfg.cache, s->ctx, answer_va(s, i), s->x[i].pa, s->x[i].log2,
			bits | (i != 0 ? WEFT_ATC_PREFETCHED : 0u));
	}
	s->bits = s->x[0].bits;
	return usable != 0;
}

static enum weft_verdict
answer_bad(struct ats_slot *s, enum weft_verdict v)
{
	ats_slot_end(s, WEFT_ATS_ABORTED);
	return v;
}

static enum weft_verdict
answer_complete(struct weft_ats_atc *a, struct ats_slot *s)
{
	if (!answer_sizes_fit(a, s))
		return answer_bad(s, WEFT_DROP_ATS_RANGE);
	answer_fill_sizes(a, s);
	if (answer_va(s, s->got - 1u) > s->last)
		return answer_bad(s, WEFT_DROP_ATS_RANGE);
	if (answer_is_overtaken(a, s)) {
		a->count[WEFT_ATS_ATC_N_DROPPED]++;
		ats_slot_end(s, WEFT_ATS_AGAIN);
		return WEFT_OK;
	}
	ats_slot_end(s, answer_install(a, s) ? WEFT_ATS_INSTALLED : WEFT_ATS_NO_PAGE);
	return WEFT_OK;
}

static void
answer_aborted(struct weft_ats_atc *a, struct ats_slot *s, uint64_t now_ns)
{
	a->count[WEFT_ATS_ATC_N_ABORTS]++;
	if (!a->is_enabled) {
		ats_slot_end(s, WEFT_ATS_CANCELLED);
	} else if (s->tries == a->cfg.retries) {
		ats_slot_end(s, WEFT_ATS_ABORTED);
	} else {
		s->state = ATS_SLOT_BACKOFF;
		s->until_ns = now_ns + (a->cfg.backoff_ns << s->tries);
		s->tries++;
	}
}

/* The agent does not serve this function: stop, and trust nothing it said before. */
static void
answer_refused(struct weft_ats_atc *a, struct ats_slot *s)
{
	ats_slot_end(s, WEFT_ATS_REFUSED);
	a->is_enabled = false;
	ats_atc_cancel(a, -1);
	ats_atc_empty(a);
}

static enum weft_verdict
answer_without_data(struct weft_ats_atc *a, struct ats_slot *s, uint8_t status, uint64_t now_ns)
{
	if (s->got != 0)
		return answer_bad(s, WEFT_DROP_ATS_SPLIT);
	if (status == WEFT_ATS_CA)
		answer_aborted(a, s, now_ns);
	else if (status == WEFT_ATS_UR)
		answer_refused(a, s);
	else
		ats_slot_end(s, s->marked ? WEFT_ATS_AGAIN : WEFT_ATS_NO_PAGE);
	return WEFT_OK;
}

static enum weft_verdict
answer_with_data(struct weft_ats_atc *a, struct ats_slot *s, const struct weft_ats_packet *p)
{
	struct weft_ats_xlat x[WEFT_ATS_XLATS];
	enum weft_ats_part part;
	unsigned int n;
	const enum weft_verdict v = weft_ats_xlats_get(p, a->cfg.rcb, &part, x, &n);

	if (v != WEFT_OK)
		return answer_bad(s, v);
	/*
	 * Byte Count is what is still to come: it tells a packet that is missing from one to spare.
	 */
	if ((part == WEFT_ATS_SECOND) != (s->got != 0) || s->got + n > s->wanted ||
		p->byte_count / WEFT_ATS_XLAT_LEN + s->got > s->wanted ||
		(s->got != 0 && s->got + n != s->total))
		return answer_bad(s, WEFT_DROP_ATS_SPLIT);
	memcpy(s->x + s->got, x, n * sizeof(*x));
	s->got = (uint8_t)(s->got + n);
	if (part != WEFT_ATS_FIRST)
		return answer_complete(a, s);
	s->total = (uint8_t)(p->byte_count / WEFT_ATS_XLAT_LEN);
	return WEFT_OK;
}

enum weft_verdict
ats_atc_completion(struct weft_ats_atc *a, const struct weft_ats_packet *p, uint64_t now_ns)
{
	const unsigned int at = (unsigned int)(p->tag % a->cfg.slots);
	struct ats_slot *s = &a->slot[at];

	if (p->tag != ats_slot_tag(s, at, a->cfg.slots) || s->state != ATS_SLOT_SENT)
		return WEFT_DROP_NO_TAG;
	if (p->kind == WEFT_ATS_CPL)
		return answer_without_data(a, s, p->status, now_ns);
	if (p->poisoned) {
		ats_slot_end(s, WEFT_ATS_ABORTED);
		return WEFT_OK;
	}
	return answer_with_data(a, s, p);
}
