/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * ATC peer: invalidation (ats.md section 4). A request takes effect at once: entries go, requests
 * and reads under way are marked. What is left to wait for is that writes queued before it pass; so
 * all that is kept of a request is a bit per traffic class, and accepting never waits for sending.
 */

#include "ats_priv.h"
#include "atc_priv.h"

struct range {
	uint64_t from, to;
	unsigned int log2;
	bool every_space; /* global */
	int32_t pasid;
};

static bool
flush_concerns(const struct weft_ats_atc *a, const struct range *r, uint16_t ctx)
{
	return a->space[ctx].bound && (r->every_space || a->space[ctx].pasid == r->pasid);
}

static struct range
flush_range(const struct weft_ats_atc *a, const struct weft_ats_packet *p)
{
	const unsigned int least = WEFT_ATS_PAGE_LOG2 + a->stu;
	struct range r = {
		.log2 = p->log2 < least ? least : p->log2,
		.every_space = p->global,
		.pasid = p->has_pasid ? (int32_t)p->pasid : -1,
	};

	/* Poisoned, the range cannot be believed. More may go than was asked for, never less. */
	if (p->poisoned) {
		r.log2 = 64;
		r.every_space = true;
	}
	r.from = p->addr & ~weft_mask64(r.log2);
	r.to = ats_last(r.from, r.log2);
	return r;
}

static void
flush_entries(struct weft_ats_atc *a, const struct range *r)
{
	for (unsigned int ctx = 0; ctx < a->contexts; ctx++)
		if (flush_concerns(a, r, (uint16_t)ctx))
			weft_atc_invalidate(a->cfg.cache, (uint16_t)ctx, r->from, r->log2);
}

/* Section 4.6: an answer under way may be older than the invalidation, which can overtake it. */
static void
flush_mark_requests(struct weft_ats_atc *a, const struct range *r)
{
	for (struct ats_slot *s = a->slot; s < a->slot + a->cfg.slots; s++) {
		if (s->state != ATS_SLOT_SENT || !flush_concerns(a, r, s->ctx))
			continue;
		s->marked |= ats_overlaps(r->from, r->to, s->va, s->last);
		s->gone_from = r->from < s->gone_from ? r->from : s->gone_from;
		s->gone_to = r->to > s->gone_to ? r->to : s->gone_to;
	}
}

static void
flush_mark_reads(struct weft_ats_atc *a, const struct range *r)
{
	for (struct ats_read *d = a->read; d < a->read + a->cfg.reads; d++)
		if (d->used && flush_concerns(a, r, d->ctx) &&
			ats_overlaps(r->from, r->to, d->from, d->to))
			d->discard = true;
}

/* Traffic classes that complete; a peer that breaks the rule uses the lowest only. */
static unsigned int
flush_completing_tcs(const struct weft_ats_atc *a)
{
	const unsigned int tcs = a->cfg.tcs;

	return (a->broken & ATS_RULE_EVERY_TC) != 0 ? tcs & -tcs : tcs;
}

static void
flush_await_writes(struct weft_ats_atc *a, unsigned int itag)
{
	for (unsigned int tc = 0; tc < WEFT_ATS_TCS; tc++) {
		if ((flush_completing_tcs(a) >> tc & 1) == 0)
			continue;
		a->pending[tc] |= 1u << itag;
		a->fence[itag][tc] = a->queued[tc];
	}
}

static bool
flush_is_pending(const struct weft_ats_atc *a, unsigned int itag)
{
	uint32_t any = 0;

	for (unsigned int tc = 0; tc < WEFT_ATS_TCS; tc++)
		any |= a->pending[tc];
	return (any >> itag & 1) != 0;
}

enum weft_verdict
ats_atc_invalidation(struct weft_ats_atc *a, const struct weft_ats_packet *p)
{
	const struct range r = flush_range(a, p);

	if (p->target != a->cfg.id || (a->has_agent && p->requester != a->agent))
		return WEFT_DROP_ATS_PEER;
	if (flush_is_pending(a, p->itag))
		return WEFT_DROP_ATS_ITAG;
	a->has_agent = true;
	a->agent = p->requester;
	flush_entries(a, &r);
	if ((a->broken & ATS_RULE_SNOOP) == 0)
		flush_mark_requests(a, &r);
	if ((a->broken & ATS_RULE_READS) == 0)
		flush_mark_reads(a, &r);
	flush_await_writes(a, p->itag);
	a->count[WEFT_ATS_ATC_N_INVALIDATIONS]++;
	return WEFT_OK;
}

/* ITags whose earlier writes of @p tc have all entered the channel. */
static uint32_t
flush_ready_itags(const struct weft_ats_atc *a, unsigned int tc)
{
	uint32_t ready = 0;

	for (uint32_t left = a->pending[tc]; left != 0; left &= left - 1) {
		const unsigned int itag = (unsigned int)__builtin_ctz(left);

		if ((int32_t)(a->passed[tc] - a->fence[itag][tc]) >= 0 ||
			(a->broken & ATS_RULE_WRITES) != 0)
			ready |= 1u << itag;
	}
	return ready;
}

size_t
weft_ats_atc_send_completion(struct weft_ats_atc *a, unsigned int tc, uint8_t *buf, size_t room)
{
	struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATED, .tc = (uint8_t)tc };

	if (tc >= WEFT_ATS_TCS || room < WEFT_ATS_PACKET_MAX)
		return 0;
	p.itags = flush_ready_itags(a, tc);
	if (p.itags == 0)
		return 0;
	p.requester = a->cfg.id;
	p.target = a->agent;
	p.count = (uint8_t)__builtin_popcount(flush_completing_tcs(a));
	a->pending[tc] &= ~p.itags;
	a->count[WEFT_ATS_ATC_N_COMPLETIONS]++;
	return weft_ats_encode(&p, buf, room);
}
