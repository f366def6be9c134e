/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage route, where translations are asked for and come later: which frames wait and for what, and
 * how they go on. Nothing of it runs while every request is in the cache and nobody waits.
 */

#include <errno.h>

#include "route_priv.h"

#define ROUTE_ASK 8 /* questions of one frame at a time: it leaves slots to others */
#define ROUTE_TRIES 1000 /* answers in a row that may not help a frame */

/* What the answer that frames waited for says of a request that the cache does not know. */
static enum weft_atc_result
route_by_answer(struct route_work *w, unsigned int i)
{
	const struct weft_answer *a = w->answer;
	struct route_run *q = &w->q;

	if (a == NULL || a->look || a->ctx != q->ctx[i] || a->page.log2 > 63 ||
		(q->va[i] & ~weft_mask64(a->page.log2)) != a->page.va)
		return WEFT_ATC_MISS;
	return route_by_page(&a->page, q->va[i], q->want[i], &q->pa[i]);
}

/* A frame leaves the burst: it waits in @p slot, or is dropped for want of a place. */
static void
route_park(struct route_work *w, struct route_frame *fr, unsigned int slot, uint64_t known)
{
	struct weft_route_wait *wait = w->env->wait;
	struct rte_mbuf *m = w->b->pkt[fr->at];
	struct wait_frame *p = fr->waited != NULL ? fr->waited : wait_new(wait, m);
	const uint16_t ctx = wait_ctx(m);

	w->b->pkt[fr->at] = NULL;
	w->gaps = true;
	if (p != NULL && wait_park(wait, slot, ctx, p)) {
		if (fr->waited == NULL)
			w->st->counts[COUNT_PARKED]++;
		p->known = known;
		p->epoch = wait->epoch[ctx];
		return;
	}
	if (p != NULL && fr->waited == NULL)
		wait_delete(wait, p);
	w->st->counts[COUNT_REFUSED]++;
	w->st->drops[WEFT_DROP_ATC_FULL]++;
	weft_burst_drop(w->b, m);
}

/* Ask for what request @p i misses. @return where to wait; -1: the access is refused. */
static int
route_ask(struct route_work *w, unsigned int i)
{
	struct weft_route_wait *wait = w->env->wait;
	const int slot = wait_ask(wait, w->q.ctx[i], w->q.va[i], w->q.want[i]);

	w->st->counts[COUNT_ASKED] += slot >= 0;
	if (slot == -EAGAIN)
		return wait_line(wait);
	return slot < 0 ? -1 : slot;
}

/* One frame of a run, whose requests begin with @p i. @return the first behind them. */
static unsigned int
route_settle_frame(struct route_work *w, struct route_frame *fr, unsigned int i)
{
	const bool hopeless = fr->waited != NULL && fr->waited->tries >= ROUTE_TRIES;
	struct weft_route_wait *wait = w->env->wait;
	unsigned int asked = 0;
	uint64_t missing = 0;
	int slot = -1;

	for (uint64_t is = fr->is; is != 0; is &= is - 1, i++) {
		enum weft_atc_result r = (enum weft_atc_result)w->q.result[i];
		int where = slot;

		if (r == WEFT_ATC_MISS)
			r = route_by_answer(w, i);
		if (r == WEFT_ATC_MISS && asked < ROUTE_ASK) {
			where = hopeless ? -1 : route_ask(w, i);
			asked += where >= 0;
			slot = slot < 0 ? where : slot;
			if (where == wait_line(wait))
				asked = ROUTE_ASK;
		}
		if (r == WEFT_ATC_MISS && where < 0)
			r = WEFT_ATC_DENY;
		if (r == WEFT_ATC_MISS)
			missing |= is & -is;
		route_settle(w, fr, (unsigned int)__builtin_ctzll(is), i, r);
	}
	if (fr->waited != NULL && w->answer != NULL)
		fr->waited->tries = (uint16_t)(missing == fr->is ? fr->waited->tries + 1 : 0);
	w->st->counts[COUNT_DECODED] -= (unsigned int)__builtin_popcountll(missing);
	if (missing != 0)
		route_park(w, fr, (unsigned int)slot,
			(fr->waited != NULL ? fr->waited->known : 0) | (fr->is & ~missing));
	return i;
}

void
route_resolve_later(struct route_work *w)
{
	struct weft_route_wait *wait = w->env->wait;
	struct route_run *q = &w->q;
	unsigned int i = 0;

	for (unsigned int k = 0; k < q->n_frames; k++) {
		struct route_frame *fr = &q->frame[k];
		const uint16_t ctx = wait_ctx(w->b->pkt[fr->at]);
		const unsigned int n = (unsigned int)__builtin_popcountll(fr->is);

		if (!wait_has(wait, ctx)) {
			i = route_settle_frame(w, fr, i);
			continue;
		}
		for (unsigned int end = i + n; i < end; i++) {
			q->result[i] = WEFT_ATC_MISS;
			q->pa[i] = 0;
		}
		w->st->counts[COUNT_DECODED] -= n;
		route_park(w, fr, wait->at[ctx], fr->waited != NULL ? fr->waited->known : 0);
	}
}

void
route_close_gaps(struct route_work *w)
{
	struct weft_burst *b = w->b;
	uint16_t kept = 0;

	if (!w->gaps)
		return;
	for (uint16_t i = 0; i < b->n; i++)
		if (b->pkt[i] != NULL)
			b->pkt[kept++] = b->pkt[i];
	b->n = kept;
	w->gaps = false;
}

/* Frames that waited in a slot are looked at again, in their order. */
static void
route_release(struct route_work *w, unsigned int slot, const struct weft_answer *a)
{
	struct weft_route_wait *wait = w->env->wait;
	struct wait_frame *list[WEFT_BURST_CAP];
	const unsigned int n = wait_take(wait, slot, list);

	w->answer = a;
	for (unsigned int i = 0; i < n; i++) {
		struct wait_frame *p = list[i];

		if (p->epoch != wait->epoch[wait_ctx(p->m)])
			p->known = 0;
		route_again(w, p);
	}
	route_finish(w);
	w->answer = NULL;
	/* At once: the next answer may bring the same frames here again. */
	route_close_gaps(w);
	for (unsigned int i = 0; i < n; i++)
		if (!list[i]->parked) {
			wait_delete(wait, list[i]);
			w->st->counts[COUNT_RELEASED]++;
		}
}

void
route_answers(struct route_work *w, unsigned int more)
{
	struct weft_route_wait *wait = w->env->wait;
	struct weft_answer a;
	bool any = false;

	if (!route_decodes(w)) /* the decoder was taken away: nobody waits any more */
		for (unsigned int slot = 0; slot <= wait_line(wait); slot++)
			route_release(w, slot, NULL);
	/* Without room for all that waits in the burst, answers keep. */
	if (more + weft_route_wait_used(wait) > WEFT_BURST_CAP)
		return;
	while (wait_answer(wait, &a)) {
		if (!a.look && a.page.flags != 0)
			weft_atc_install(w->env->atc, a.ctx, a.page.va, a.page.pa, a.page.log2,
				a.page.flags);
		route_release(w, a.slot, &a);
		any = true;
	}
	/* Who could not ask may find a slot free now. */
	if (any || wait->n_asked == 0)
		route_release(w, wait_line(wait), NULL);
}
