/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage route: from a frame to the port it leaves by (fabric.md sections 1.2 and 1.10).
 *
 * By the frame's DPID: DRT. A frame carries every class of message, so it never takes another path
 * than ordered traffic does. DPID FFFh, which is every frame in cxl mode, means "handle here". At
 * an edge that decodes addresses, before that, every flit that begins with a request has its
 * address translated (ATC) and decoded (FAST, or all decoders of an edge port); the DPID found must
 * be the one in the frame header, or the flit is dropped: a frame may not carry a request to
 * another target than it says. Only H-slots are read: G-slots may hold data. Hot: runs per burst.
 */

#include "weft_msg.h"
#include "weft_stage.h"

enum { COUNT_DECODED, COUNT_WALKS };

static const struct weft_counter route_counters[] = {
	[COUNT_DECODED] = { "decoded", "flits", "flits whose address was translated and decoded" },
	[COUNT_WALKS] = { "walks", "walks", "table walks after a translation cache miss" },
};

/* H-slot bits 77:32 are Addr[51:6] in M2S Req and RwD, in both forms (wire-formats.md 4.2). */
#define H_SLOT_FMT_M2S_REQ 0x4
#define H_SLOT_FMT_M2S_RWD 0xE
#define H_SLOT_VAL_BIT 4

static const char *
route_check(const struct weft_env *env)
{
	if (env->drt == NULL && env->tables == NULL)
		return "a DRT";
	if ((env->fast != NULL || env->tables != NULL) && env->atc != NULL && env->walk == NULL)
		return "a table walk behind the translation cache";
	return NULL;
}

/* What a burst is routed by: one snapshot, or the plain tables. */
struct route_by {
	const struct weft_tables *tables;
	const struct weft_edge *edge;
	const struct weft_drt *drt;
	const struct weft_fast *fast;
};

static inline struct route_by
route_tables(const struct weft_env *env)
{
	struct route_by by = { 0 };

	if (env->tables == NULL) {
		by.drt = __atomic_load_n(&env->drt, __ATOMIC_ACQUIRE);
		by.fast = __atomic_load_n(&env->fast, __ATOMIC_ACQUIRE);
		return by;
	}
	by.tables = weft_tables_now(env->tables);
	if (env->edge < by.tables->n_edges)
		by.edge = weft_tables_edge(by.tables, env->edge);
	return by;
}

static inline int
route_port(const struct route_by *by, const struct weft_frame *f)
{
	if (by->tables == NULL)
		return weft_drt_port(by->drt, f->hdr.dpid);
	return f->hdr.dpid >= WEFT_PIDS
	               ? WEFT_ROUTE_NONE
	               : weft_tables_route_of(by->tables, (uint8_t)f->in_port)->first[f->hdr.dpid];
}

static inline void
route_decode(const struct route_by *by, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	if (by->edge != NULL)
		weft_edge_mem_run(by->edge, hpa, dpid, n);
	else
		weft_fast_run(by->fast, hpa, dpid, n);
}

/* The first four bytes of a flit that begins with a request, the format aside. */
#define ROUTE_HEAD_MASK (UINT32_C(0xC0) | UINT32_C(1) << (8 * WEFT_FLIT_H_OFF + H_SLOT_VAL_BIT))
#define ROUTE_HEAD                                                                                 \
	((uint32_t)WEFT_FLIT_CACHEMEM << 6 | UINT32_C(1) << (8 * WEFT_FLIT_H_OFF + H_SLOT_VAL_BIT))
#define ROUTE_FMT_SHIFT (8 * WEFT_FLIT_H_OFF)
#define ROUTE_FMTS (1u << H_SLOT_FMT_M2S_REQ | 1u << H_SLOT_FMT_M2S_RWD)

#define ROUTE_RUN 64 /* requests looked up at a time */
#define ROUTE_ROOM (ROUTE_RUN + 1) /* and one place to write what is no request */

/* Requests of a few frames: the arrays of a run of look-ups, and where each stands. */
struct route_run {
	unsigned int n;
	uint16_t ctx[ROUTE_ROOM];
	uint8_t want[ROUTE_ROOM];
	uint8_t result[ROUTE_ROOM];
	uint64_t va[ROUTE_ROOM];
	uint64_t pa[ROUTE_ROOM];
	int16_t dpid[ROUTE_ROOM];
	int16_t expect[ROUTE_ROOM]; /* the frame's DPID */
	struct weft_frame *frame[ROUTE_ROOM];
	uint8_t flit[ROUTE_ROOM];
};

static_assert(ROUTE_RUN >= WEFT_WIRE_FLITS_MAX, "the requests of a frame fit a run");

static enum weft_atc_result
route_walk(const struct weft_env *env, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa)
{
	struct weft_walk w;

	env->walk(env->walk_arg, ctx, va, &w);
	if (w.flags == 0)
		return WEFT_ATC_DENY;
	weft_atc_install(env->atc, ctx, w.va, w.pa, w.log2, w.flags);
	if (w.flags & WEFT_ATC_U)
		return WEFT_ATC_UNTRANSLATED;
	*pa = w.pa + (va - w.va);
	return (w.flags & want) == want ? WEFT_ATC_HIT : WEFT_ATC_DENY;
}

/* Out of line: what the cache did not answer with a translation. */
static __attribute__((noinline)) void
route_resolve(const struct weft_env *env, struct route_run *q, struct weft_stage_stats *st)
{
	bool walked = false;

	for (unsigned int i = 0; i < q->n; i++) {
		enum weft_atc_result r = (enum weft_atc_result)q->result[i];

		/* The walk for an earlier request may have brought this one's page. */
		if (r == WEFT_ATC_MISS && walked)
			r = weft_atc_lookup(env->atc, q->ctx[i], q->va[i], q->want[i], &q->pa[i]);
		if (r == WEFT_ATC_MISS) {
			st->counts[COUNT_WALKS]++;
			r = route_walk(env, q->ctx[i], q->va[i], q->want[i], &q->pa[i]);
			walked = true;
		}
		if (r == WEFT_ATC_UNTRANSLATED)
			q->pa[i] = q->va[i];
		if (r == WEFT_ATC_DENY) {
			q->frame[i]->dropped |= WEFT_BIT64(q->flit[i]);
			st->drops[WEFT_DROP_ATC_DENY]++;
			q->pa[i] = 0;
		}
		q->result[i] = (uint8_t)r;
	}
}

/* Out of line: some flit goes elsewhere than its frame says. */
static __attribute__((noinline)) void
route_drop_others(struct route_run *q, struct weft_stage_stats *st)
{
	for (unsigned int i = 0; i < q->n; i++) {
		if (q->dpid[i] == q->expect[i] || q->result[i] == WEFT_ATC_DENY)
			continue;
		q->frame[i]->dropped |= WEFT_BIT64(q->flit[i]);
		st->drops[WEFT_DROP_NO_DECODE]++;
	}
}

/* Translate, decode and compare with the frame's DPID; then the run is empty. */
static void
route_flush(const struct weft_env *env, const struct route_by *by, struct route_run *q,
	struct weft_stage_stats *st)
{
	const struct weft_atc_run run = { q->ctx, q->va, q->want, q->pa, q->result };
	unsigned int other = 0, elsewhere = 0;

	if (env->atc != NULL) {
		weft_atc_lookup_run(env->atc, &run, q->n);
		for (unsigned int i = 0; i < q->n; i++)
			other |= q->result[i] ^ WEFT_ATC_HIT;
		if (__builtin_expect(other != 0, 0))
			route_resolve(env, q, st);
		route_decode(by, q->pa, q->dpid, q->n);
	} else {
		memset(q->result, WEFT_ATC_HIT, q->n);
		route_decode(by, q->va, q->dpid, q->n);
	}
	for (unsigned int i = 0; i < q->n; i++)
		elsewhere |= (unsigned int)(q->dpid[i] ^ q->expect[i]);
	if (__builtin_expect(elsewhere != 0, 0))
		route_drop_others(q, st);
	st->counts[COUNT_DECODED] += q->n;
	q->n = 0;
}

/*
 * Add the requests of a frame to the run, which has room for them. Every flit is written to the
 * run's end, which moves on only behind a request: what a flit begins with is hard to predict.
 */
static inline void
route_collect(struct route_run *q, struct rte_mbuf *m, struct weft_frame *f)
{
	const uint16_t ctx = f->conn == NULL ? 0 : f->conn->index;
	const uint8_t *flits = weft_frame_flits(m);
	const int16_t dpid = (int16_t)f->hdr.dpid;
	const unsigned int n_flits = f->hdr.n_flits;
	uint64_t live = ~f->dropped;
	unsigned int n = q->n;

	for (unsigned int i = 0; i < n_flits; i++, live >>= 1) {
		const uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		const uint32_t head = weft_get_le32(flit);
		const unsigned int fmt = head >> ROUTE_FMT_SHIFT & 0xF;

		q->va[n] = (weft_get_le64(flit + WEFT_FLIT_H_OFF + 4) & weft_mask64(46)) << 6;
		q->ctx[n] = ctx;
		q->want[n] = fmt == H_SLOT_FMT_M2S_RWD ? WEFT_ATC_W : WEFT_ATC_R;
		q->expect[n] = dpid;
		q->frame[n] = f;
		q->flit[n] = (uint8_t)i;
		n += (unsigned int)((head & ROUTE_HEAD_MASK) == ROUTE_HEAD) & ROUTE_FMTS >> fmt &
		     (unsigned int)live;
	}
	q->n = n;
}

/* The first line of each flit, for the frame after this one: on their way meanwhile. */
static inline void
route_prefetch(struct rte_mbuf *m)
{
	const uint8_t *flits = weft_frame_flits(m);

	for (unsigned int i = 0; i < weft_frame(m)->hdr.n_flits; i++)
		__builtin_prefetch(flits + i * (size_t)WEFT_FLIT_LEN);
}

static void
route_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct route_by by = route_tables(env);
	const bool decodes = by.fast != NULL || by.edge != NULL;
	struct route_run q;
	uint16_t kept = 0;

	q.n = 0;
	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		const int port = route_port(&by, f);

		if (decodes && i + 1 < b->n)
			route_prefetch(b->pkt[i + 1]);
		if (port < 0 && f->hdr.dpid != WEFT_PID_RESERVED) {
			st->drops[WEFT_DROP_NO_ROUTE]++;
			weft_burst_drop(b, m);
			continue;
		}
		f->out_port = (int16_t)port;
		b->pkt[kept++] = m;
		if (!decodes)
			continue;
		if (q.n + f->hdr.n_flits > ROUTE_RUN)
			route_flush(env, &by, &q, st);
		route_collect(&q, m, f);
	}
	b->n = kept;
	if (q.n != 0)
		route_flush(env, &by, &q, st);
}

static const struct weft_stage route = {
	.name = "route",
	.help = "address translation and decode, DPID to port",
	.check = route_check,
	.run = route_run,
	.counters = route_counters,
	.n_counters = WEFT_ARRAY_SIZE(route_counters),
};

WEFT_STAGE(route)
