/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage route, where translations are asked for and come later: which frames wait and for what, and
 * how they go on. Nothing of it runs while every request is in the cache and nobody waits.
 */

#include <errno.h>

#include "route_priv.h"

#define ROUTE_ASK 8 /* questions of one frame at a time: it leaves slots to others */
#define ROUTE_PAGE_LOG2 12

/* Whether a request that misses will not be answered otherwise, after its frame has waited. */
static bool
route_is_denied(const struct weft_xlate_item *waited, uint64_t va, uint8_t want)
{
	if (waited == NULL || waited->why == WEFT_XLATE_LOOK)
		return false;
	return waited->why == WEFT_XLATE_EXPIRED ||
	       (waited->want == want && waited->va >> ROUTE_PAGE_LOG2 == va >> ROUTE_PAGE_LOG2);
}

/*
 * A frame leaves the burst: it waits for request @p i, or is dropped for want of a place. @return
 * false: nothing can be asked.
 */
static bool
route_park(struct route_work *w, const struct route_frame *fr, unsigned int i, uint64_t known)
{
	struct rte_mbuf *m = w->b->pkt[fr->at];
	const struct weft_xlate_item item = {
		.va = w->q.va[i],
		.cookie = (uintptr_t)m,
		.until_ns = fr->waited != NULL ? fr->waited->until_ns : 0,
		.known = known | (fr->waited != NULL ? fr->waited->known : 0),
		.ctx = route_context(fr->f),
		.want = w->q.want[i],
	};
	const int rc = weft_xlate_wait(w->env->xlate, &item, *w->env->now_ns);

	if (rc != 0 && rc != -EAGAIN)
		return false;
	w->b->pkt[fr->at] = NULL;
	w->gaps = true;
	w->waits = true;
	if (rc == 0 && fr->waited != NULL) {
		w->parked_again++;
	} else if (rc == 0) {
		w->st->counts[COUNT_PARKED]++;
	} else {
		w->st->counts[COUNT_REFUSED]++;
		weft_stage_drop(w->env, w->st, WEFT_DROP_ATC_FULL, 1);
		weft_burst_drop(w->b, m);
	}
	return true;
}

/* The frame waits for the first of the requests that miss; more are asked for meanwhile. */
static bool
route_wait_for(struct route_work *w, const struct route_frame *fr, unsigned int first,
	unsigned int end, uint64_t known)
{
	unsigned int i = first;

	while (w->q.result[i] != WEFT_ATC_MISS)
		i++;
	if (!route_park(w, fr, i, known))
		return false;
	w->st->counts[COUNT_ASKED]++;
	weft_probe_translation_miss(w->env->node, w->q.ctx[i], w->q.va[i]);
	for (unsigned int asked = 1; ++i < end && asked < ROUTE_ASK;)
		if (w->q.result[i] == WEFT_ATC_MISS) {
			weft_xlate_ask(w->env->xlate, w->q.ctx[i], w->q.va[i]);
			w->st->counts[COUNT_ASKED]++;
			asked++;
		}
	return true;
}

static bool
route_all_hit(const uint8_t *result, unsigned int n)
{
	unsigned int other = 0;

	for (unsigned int i = 0; i < n; i++)
		other |= result[i];
	return other == WEFT_ATC_HIT;
}

/* One frame of a run, whose requests begin with @p first. */
static void
route_settle_frame(
	struct route_work *w, const struct route_frame *fr, unsigned int first, unsigned int end)
{
	struct route_run *q = &w->q;
	uint64_t missing = 0;
	unsigned int i = first;

	static_assert(WEFT_ATC_HIT == 0, "other results have bits");
	if (route_all_hit(q->result + first, end - first))
		return;
	for (uint64_t is = fr->is; is != 0; is &= is - 1, i++) {
		if (q->result[i] == WEFT_ATC_MISS &&
			route_is_denied(fr->waited, q->va[i], q->want[i]))
			q->result[i] = WEFT_ATC_DENY;
		if (q->result[i] == WEFT_ATC_MISS)
			missing |= is & -is;
	}
	if (missing != 0 && !route_wait_for(w, fr, first, end, fr->is & ~missing))
		missing = 0;
	else
		w->st->counts[COUNT_DECODED] -= (unsigned int)__builtin_popcountll(missing);
	i = first;
	for (uint64_t is = fr->is; is != 0; is &= is - 1, i++)
		route_settle(w, fr, (unsigned int)__builtin_ctzll(is), i,
			q->result[i] == WEFT_ATC_MISS && missing == 0
				? WEFT_ATC_DENY
				: (enum weft_atc_result)q->result[i]);
}

/* Behind what waits of its context: it is looked at when that goes on. */
static void
route_follow(
	struct route_work *w, const struct route_frame *fr, unsigned int first, unsigned int end)
{
	for (unsigned int i = first; i < end; i++) {
		w->q.result[i] = WEFT_ATC_MISS;
		w->q.pa[i] = 0;
	}
	w->st->counts[COUNT_DECODED] -= end - first;
	route_park(w, fr, first, 0);
}

void
route_resolve(struct route_work *w)
{
	unsigned int i = 0;

	for (unsigned int k = 0; k < w->q.n_frames; k++) {
		const struct route_frame *fr = &w->q.frame[k];
		const unsigned int end = i + (unsigned int)__builtin_popcountll(fr->is);

		if (weft_xlate_is_waiting(w->env->xlate, route_context(fr->f)))
			route_follow(w, fr, i, end);
		else
			route_settle_frame(w, fr, i, end);
		i = end;
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

void
route_release(struct route_work *w, unsigned int more)
{
	struct weft_xlate *x = w->env->xlate;
	struct weft_xlate_item item[ROUTE_FRAMES];
	unsigned int n, released = 0;

	if (!route_decodes(w)) /* the decoder was taken away: nobody waits any more */
		weft_xlate_give_up(x);
	/* Without room for all of them in the burst they stay, and others behind them. */
	if (more + weft_xlate_ready(x) > WEFT_BURST_CAP)
		return;
	do {
		for (n = 0; n < ROUTE_FRAMES && weft_xlate_take(x, *w->env->now_ns, &item[n]); n++)
			route_again(w, &item[n]);
		route_finish(w);
		released += n;
	} while (n == ROUTE_FRAMES);
	route_close_gaps(w);
	w->st->counts[COUNT_RELEASED] += released - w->parked_again;
}
