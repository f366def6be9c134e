/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage route: from a frame to the port it leaves by (fabric.md sections 1.2 and 1.10).
 *
 * By the frame's DPID: DRT. DPID FFFh, which is every frame in cxl mode, means "handle here". At an edge that decodes addresses, before that, every flit that begins
 * with a request has its address translated (ATC) and decoded (FAST); the DPID found must be the
 * one in the frame header, or the flit is dropped: a frame may not carry a request to another
 * target than it says. Only H-slots are read: G-slots may hold data. Hot: runs per burst.
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
	if (env->drt == NULL)
		return "a DRT";
	if (env->fast != NULL && env->atc != NULL && env->walk == NULL)
		return "a table walk behind the translation cache";
	return NULL;
}

/* Address and kind of access of the request a flit begins with; false if it begins otherwise. */
static bool
route_request(const uint8_t *flit, uint64_t *addr, unsigned int *want)
{
	const uint8_t *slot = flit + WEFT_FLIT_H_OFF;
	uint8_t fmt = weft_slot_fmt(slot);

	if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM || !(slot[0] >> H_SLOT_VAL_BIT & 1))
		return false;
	if (fmt != H_SLOT_FMT_M2S_REQ && fmt != H_SLOT_FMT_M2S_RWD)
		return false;
	*addr = (weft_get_le64(slot + 4) & weft_mask64(46)) << 6;
	*want = fmt == H_SLOT_FMT_M2S_RWD ? WEFT_ATC_W : WEFT_ATC_R;
	return true;
}

#define ROUTE_RUN 64 /* requests looked up at a time */

/* Requests of a few frames: the arrays of a run of look-ups, and where each stands. */
struct route_run {
	unsigned int n;
	uint16_t ctx[ROUTE_RUN];
	uint8_t want[ROUTE_RUN];
	uint8_t result[ROUTE_RUN];
	uint64_t va[ROUTE_RUN];
	uint64_t pa[ROUTE_RUN];
	int16_t dpid[ROUTE_RUN];
	struct weft_frame *frame[ROUTE_RUN];
	uint8_t flit[ROUTE_RUN];
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

/* Translate, decode and compare with the frame's DPID; then the run is empty. */
static void
route_flush(const struct weft_env *env, const struct weft_fast *fast, struct route_run *q,
	struct weft_stage_stats *st)
{
	const struct weft_atc_run run = { q->ctx, q->va, q->want, q->pa, q->result };
	unsigned int other = 0;

	if (env->atc != NULL) {
		weft_atc_lookup_run(env->atc, &run, q->n);
		for (unsigned int i = 0; i < q->n; i++)
			other |= q->result[i] != WEFT_ATC_HIT;
		if (__builtin_expect(other != 0, 0))
			route_resolve(env, q, st);
		weft_fast_run(fast, q->pa, q->dpid, q->n);
	} else {
		memset(q->result, WEFT_ATC_HIT, q->n);
		weft_fast_run(fast, q->va, q->dpid, q->n);
	}
	for (unsigned int i = 0; i < q->n; i++) {
		if (q->dpid[i] == q->frame[i]->hdr.dpid || q->result[i] == WEFT_ATC_DENY)
			continue;
		q->frame[i]->dropped |= WEFT_BIT64(q->flit[i]);
		st->drops[WEFT_DROP_NO_DECODE]++;
	}
	st->counts[COUNT_DECODED] += q->n;
	q->n = 0;
}

/* Add the requests of a frame to the run, which has room for them. */
static void
route_collect(struct route_run *q, struct rte_mbuf *m, struct weft_frame *f)
{
	const uint16_t ctx = f->conn == NULL ? 0 : f->conn->index;
	unsigned int n = q->n;

	for (uint64_t live = weft_frame_live(f); live != 0; live &= live - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(live);
		const uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;
		unsigned int want;

		if (!route_request(flit, &q->va[n], &want))
			continue;
		q->ctx[n] = ctx;
		q->want[n] = (uint8_t)want;
		q->frame[n] = f;
		q->flit[n] = (uint8_t)i;
		n++;
	}
	q->n = n;
}

static void
route_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_drt *drt = __atomic_load_n(&env->drt, __ATOMIC_ACQUIRE);
	const struct weft_fast *fast = __atomic_load_n(&env->fast, __ATOMIC_ACQUIRE);
	struct route_run q;
	uint16_t kept = 0;

	q.n = 0;
	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		int port = weft_drt_port(drt, f->hdr.dpid);

		if (port < 0 && f->hdr.dpid != WEFT_PID_RESERVED) {
			st->drops[WEFT_DROP_NO_ROUTE]++;
			weft_burst_drop(b, m);
			continue;
		}
		f->out_port = (int16_t)port;
		b->pkt[kept++] = m;
		if (fast == NULL)
			continue;
		if (q.n + f->hdr.n_flits > ROUTE_RUN)
			route_flush(env, fast, &q, st);
		route_collect(&q, m, f);
	}
	b->n = kept;
	if (q.n != 0)
		route_flush(env, fast, &q, st);
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
