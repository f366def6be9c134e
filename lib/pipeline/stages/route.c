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

/* Verdict on one request of a frame to @p dpid. */
static enum weft_verdict
route_decode(const struct weft_env *env, const struct weft_fast *fast, uint16_t ctx, uint64_t addr,
	unsigned int want, uint16_t dpid, struct weft_stage_stats *st)
{
	uint64_t pa = addr;

	if (env->atc != NULL) {
		enum weft_atc_result r = weft_atc_lookup(env->atc, ctx, addr, want, &pa);

		if (r == WEFT_ATC_MISS) {
			st->counts[COUNT_WALKS]++;
			r = route_walk(env, ctx, addr, want, &pa);
		}
		if (r == WEFT_ATC_DENY)
			return WEFT_DROP_ATC_DENY;
		if (r == WEFT_ATC_UNTRANSLATED)
			pa = addr;
	}
	return weft_fast_dpid(fast, pa) == dpid ? WEFT_OK : WEFT_DROP_NO_DECODE;
}

static void
route_decode_frame(const struct weft_env *env, const struct weft_fast *fast, struct rte_mbuf *m,
	struct weft_frame *f, struct weft_stage_stats *st)
{
	uint16_t ctx = f->conn == NULL ? 0 : f->conn->index;

	for (uint64_t live = weft_frame_live(f); live != 0; live &= live - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(live);
		const uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;
		enum weft_verdict v;
		unsigned int want;
		uint64_t addr;

		if (!route_request(flit, &addr, &want))
			continue;
		st->counts[COUNT_DECODED]++;
		v = route_decode(env, fast, ctx, addr, want, f->hdr.dpid, st);
		if (v == WEFT_OK)
			continue;
		f->dropped |= WEFT_BIT64(i);
		st->drops[v]++;
	}
}

static void
route_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_drt *drt = __atomic_load_n(&env->drt, __ATOMIC_ACQUIRE);
	const struct weft_fast *fast = __atomic_load_n(&env->fast, __ATOMIC_ACQUIRE);
	uint16_t kept = 0;

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
		if (fast != NULL)
			route_decode_frame(env, fast, m, f, st);
		b->pkt[kept++] = m;
	}
	b->n = kept;
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
