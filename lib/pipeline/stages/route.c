/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage route: from a frame to the port it leaves by (fabric.md sections 1.2 and 1.10).
 *
 * By the frame's DPID: DRT. A frame carries every class of message, so it never takes another path
 * than ordered traffic does. DPID FFFh, which is every frame in cxl mode, means "handle here". At
 * an edge that decodes addresses, before that, every flit that begins with a request has its
 * address translated (ATC) and decoded (by all decoders of an edge port); the DPID found must
 * be the one in the frame header, or the flit is dropped: a frame may not carry a request to
 * another target than it says. Only H-slots are read: G-slots may hold data. Hot: runs per burst.
 *
 * What the cache does not know is asked of the agent (env->xlate): the frame waits, with all later
 * ones of its context behind it.
 */

#include "route_priv.h"

static const struct weft_counter route_counters[] = {
	[COUNT_DECODED] = { "decoded", "flits", "flits whose address was translated and decoded" },
	[COUNT_ASKED] = { "asked", "questions", "translations asked for after a cache miss" },
	[COUNT_PARKED] = { "parked", "frames", "frames that had to wait for a translation" },
	[COUNT_RELEASED] = { "released", "frames", "frames that waited and went on" },
	[COUNT_REFUSED] = { "refused", "frames",
		"frames dropped because no place to wait was left" },
};

static inline void
route_begin(struct route_work *w, const struct weft_env *env, struct weft_burst *b,
	struct weft_stage_stats *st)
{
	w->env = env;
	w->b = b;
	w->st = st;
	w->req_scan = env->req_scan == NULL ? weft_req_scan_scalar : env->req_scan->run;
	w->waits = env->xlate != NULL &&
	           weft_xlate_waiting(env->xlate) + weft_xlate_ready(env->xlate) != 0;
	w->gaps = false;
	w->parked_again = 0;
	w->q.n = 0;
	w->q.n_frames = 0;
	w->tables = weft_tables_now(env->tables);
	w->edge = env->edge < w->tables->n_edges ? weft_tables_edge(w->tables, env->edge) : NULL;
}

static inline int
route_port(const struct route_work *w, const struct weft_frame *f)
{
	return f->hdr.dpid >= WEFT_PIDS
	               ? WEFT_ROUTE_NONE
	               : weft_tables_route_of(w->tables, (uint8_t)f->in_port)->first[f->hdr.dpid];
}

/* Out of line: some flit goes elsewhere than its frame says. */
static __attribute__((noinline)) void
route_drop_others(struct route_work *w)
{
	struct route_run *q = &w->q;
	unsigned int i = 0;

	for (unsigned int k = 0; k < q->n_frames; k++)
		for (uint64_t is = q->frame[k].is; is != 0; is &= is - 1, i++) {
			if (q->dpid[i] == q->expect[i] || q->result[i] == WEFT_ATC_DENY ||
				q->result[i] == WEFT_ATC_MISS)
				continue;
			q->frame[k].f->discard |= is & -is;
			weft_stage_drop(w->env, w->st, WEFT_DROP_NO_DECODE, 1);
		}
}

/* Translate, decode and compare with the frame's DPID; then the run is empty. */
static void
route_flush(struct route_work *w)
{
	const struct weft_env *env = w->env;
	struct route_run *q = &w->q;
	const struct weft_atc_run run = { q->ctx, q->va, q->want, q->pa, q->result };

	w->st->counts[COUNT_DECODED] += q->n;
	if (env->xlate == NULL) {
		memset(q->result, WEFT_ATC_HIT, q->n);
		weft_edge_mem_run(w->edge, q->va, q->dpid, q->n);
	} else {
		if (__builtin_expect(weft_xlate_run(env->xlate, &run, q->n) != q->n || w->waits, 0))
			route_resolve(w);
		weft_edge_mem_run(w->edge, q->pa, q->dpid, q->n);
	}
	if (__builtin_expect(memcmp(q->dpid, q->expect, q->n * sizeof(q->dpid[0])) != 0, 0))
		route_drop_others(w);
	q->n = 0;
	q->n_frames = 0;
}

void
route_finish(struct route_work *w)
{
	if (w->q.n_frames != 0)
		route_flush(w);
}

/* Four at a time: there is room behind. */
static inline void
route_fill(void *to, uint16_t value, unsigned int n)
{
	const uint64_t four = value * UINT64_C(0x0001000100010001);
	uint8_t *p = to;

	for (unsigned int i = 0; i < n; i += 4, p += sizeof(four))
		memcpy(p, &four, sizeof(four));
}

/* Add the requests of a frame, except for those of @p known flits, to the run. */
static inline void
route_collect(struct route_work *w, struct rte_mbuf *m, uint16_t at,
	const struct weft_xlate_item *waited, uint64_t known)
{
	struct weft_frame *f = weft_frame(m);
	struct route_run *q = &w->q;
	unsigned int n;
	uint64_t is;

	if (q->n + f->hdr.n_flits > ROUTE_RUN || q->n_frames == ROUTE_FRAMES)
		route_flush(w);
	is = w->req_scan(weft_frame_flits(m), f->hdr.n_flits, ~(f->discard | known), q->va + q->n,
		q->want + q->n);
	if (is == 0 && w->env->xlate == NULL)
		return;
	n = (unsigned int)__builtin_popcountll(is);
	route_fill(q->ctx + q->n, route_context(f), n);
	route_fill(q->expect + q->n, f->hdr.dpid, n);
	q->frame[q->n_frames++] = (struct route_frame){ f, is, waited, at };
	q->n += n;
}

/* The first line of each flit, for the frame after this one: on their way meanwhile. */
static inline void
route_prefetch(struct rte_mbuf *m)
{
	const uint8_t *flit = weft_frame_flits(m);
	unsigned int n = weft_frame(m)->hdr.n_flits;

	for (; n >= 4; n -= 4, flit += 4 * WEFT_FLIT_LEN) {
		__builtin_prefetch(flit);
		__builtin_prefetch(flit + WEFT_FLIT_LEN);
		__builtin_prefetch(flit + 2 * WEFT_FLIT_LEN);
		__builtin_prefetch(flit + 3 * WEFT_FLIT_LEN);
	}
	for (; n != 0; n--, flit += WEFT_FLIT_LEN)
		__builtin_prefetch(flit);
}

/*
 * The port of a frame, which is the burst's next then. @return false: there is none, it is dropped
 */
static inline bool
route_onward(struct route_work *w, struct rte_mbuf *m)
{
	struct weft_frame *f = weft_frame(m);
	const int port = route_port(w, f);

	if (port < 0 && f->hdr.dpid != WEFT_PID_RESERVED) {
		if (w->env->misfit != NULL)
			w->env->misfit(w->env->misfit_arg, m, WEFT_DROP_NO_ROUTE);
		weft_stage_drop(w->env, w->st, WEFT_DROP_NO_ROUTE, 1);
		weft_burst_drop(w->b, m);
		return false;
	}
	f->out_port = (int16_t)port;
	w->b->pkt[w->b->n++] = m;
	return true;
}

/* Frames that came in. They may be the burst's own: one that goes on never overtakes. */
static inline void
route_frames(struct route_work *w, struct rte_mbuf **pkt, uint16_t n)
{
	const bool decodes = route_decodes(w);

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = pkt[i];

		if (decodes && i + 1 < n)
			route_prefetch(pkt[i + 1]);
		if (route_onward(w, m) && decodes)
			route_collect(w, m, (uint16_t)(w->b->n - 1), NULL, 0);
	}
	route_finish(w);
}

void
route_again(struct route_work *w, const struct weft_xlate_item *item)
{
	struct rte_mbuf *m = (struct rte_mbuf *)(uintptr_t)item->cookie;

	if (route_onward(w, m) && route_decodes(w))
		route_collect(w, m, (uint16_t)(w->b->n - 1), item, item->known);
}

/* Out of line: frames that waited go before those that came in. */
static __attribute__((noinline)) void
route_run_behind(struct route_work *w)
{
	struct rte_mbuf *in[WEFT_BURST_CAP];
	const uint16_t n = w->b->n;

	memcpy(in, w->b->pkt, n * sizeof(in[0]));
	w->b->n = 0;
	route_release(w, n);
	route_frames(w, in, n);
}

static void
route_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	struct route_work w
		__attribute__((uninitialized)); /* arrays are written before they are read */
	const uint16_t n = b->n;

	route_begin(&w, env, b, st);
	if (w.waits) {
		route_run_behind(&w);
	} else {
		b->n = 0;
		route_frames(&w, b->pkt, n);
	}
	route_close_gaps(&w);
	if (env->xlate != NULL)
		weft_xlate_leave(env->xlate, b->n);
}

/* Nothing came in: answers do not wait for frames. */
static void
route_poll(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	if (env->xlate != NULL && weft_xlate_ready(env->xlate) != 0)
		route_run(env, b, st);
}

/* A frame for which no answer came: requests that are not known to be in order are not used. */
static void
route_give_up(struct route_work *w, const struct weft_xlate_item *item)
{
	struct rte_mbuf *m = (struct rte_mbuf *)(uintptr_t)item->cookie;
	struct weft_frame *f = weft_frame(m);
	uint64_t va[ROUTE_ROOM];
	uint8_t want[ROUTE_ROOM];

	f->out_port = (int16_t)route_port(w, f);
	f->discard |= w->req_scan(weft_frame_flits(m), f->hdr.n_flits, UINT64_MAX, va, want) &
	              ~item->known;
	w->b->pkt[w->b->n++] = m;
}

static void
route_drain(const struct weft_env *env, struct weft_burst *b)
{
	struct weft_xlate_item item;
	struct route_work w;

	if (env->xlate == NULL)
		return;
	weft_xlate_give_up(env->xlate);
	route_begin(&w, env, b, NULL);
	while (b->n < WEFT_BURST_MAX && weft_xlate_take(env->xlate, *env->now_ns, &item))
		route_give_up(&w, &item);
}

static const struct weft_stage route = {
	.name = "route",
	.help = "address translation and decode, DPID to port",
	.order = WEFT_STAGE_ROUTE,
	.needs = WEFT_NEEDS_TABLES | WEFT_NEEDS_XLATE_TIME,
	.run = route_run,
	.poll = route_poll,
	.drain = route_drain,
	.counters = route_counters,
	.n_counters = WEFT_ARRAY_SIZE(route_counters),
};

WEFT_STAGE(route)
