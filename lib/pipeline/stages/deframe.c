/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage deframe: believes a frame's header or drops the frame, asks whether its sender may send by
 * this port, and finds the connection it belongs to (encapsulation.md sections 1 and 2). Hot: runs
 * per burst. Frames of one connection come in runs, so the last one found is tried first.
 */

#include "weft_stage.h"

#define SRC_MAC 6 /* where a frame's source address stands */

enum { COUNT_CONTROL, COUNT_NEW_CONNS, COUNT_NEIGHBOURS };

static const struct weft_counter deframe_counters[] = {
	[COUNT_CONTROL] = { "control", "frames", "link control frames handed on" },
	[COUNT_NEW_CONNS] = { "new_conns", "connections", "connections made on first sight" },
	[COUNT_NEIGHBOURS] = { "neighbours", "frames", "link control frames to the node itself" },
};

static void
deframe_key(struct weft_conn_key *k, const struct weft_wire_hdr *h, const uint8_t *frame)
{
	memset(k, 0, sizeof(*k));
	k->mode = h->mode;
	k->vc = h->vc;
	k->spid = h->spid;
	k->dpid = h->dpid;
	k->session = h->session;
	if (h->mode == WEFT_MODE_CXL) {
		/*
		 * A direction of a link is its source address and form, whatever channel or
		 * session.
		 */
		memcpy(k->mac, frame + SRC_MAC, sizeof(k->mac));
		k->vc = h->form;
		k->session = 0;
	}
}

static enum weft_verdict
deframe_find(const struct weft_env *env, const struct weft_conn_key *key,
	struct weft_conn_dir **conn, struct weft_stage_stats *st)
{
	*conn = weft_conns_find(env->conns, key);
	if (*conn != NULL)
		return WEFT_OK;
	if (env->new_conn == NULL)
		return weft_conns_why_not(env->conns, key);
	*conn = env->new_conn(env->new_conn_arg, key);
	if (*conn == NULL)
		return WEFT_DROP_CONN_LIMIT;
	st->counts[COUNT_NEW_CONNS]++;
	return WEFT_OK;
}

/* Whether the frame may come in by its port; in cxl mode a direction of a link is its address. */
static enum weft_verdict
deframe_ingress(const struct weft_env *env, struct rte_mbuf *m, const struct weft_frame *f)
{
	const struct weft_ingress *in = &env->ingress.rule[f->in_port];

	if (f->hdr.mode == WEFT_MODE_CXL
			? weft_ingress_mac(in, rte_pktmbuf_mtod(m, const uint8_t *) + SRC_MAC)
			: weft_ingress_spid(in, f->hdr.spid)) {
		struct weft_ingress_seen *seen = &env->ingress.seen[f->in_port];

		__atomic_store_n(&seen->frames, seen->frames + 1, __ATOMIC_RELAXED);
		__atomic_store_n(&seen->flits, seen->flits + f->hdr.n_flits, __ATOMIC_RELAXED);
		return WEFT_OK;
	}
	weft_ingress_refused(&env->ingress.drops[f->in_port],
		f->hdr.kind == WEFT_WIRE_CONTROL ? WEFT_INGRESS_CONTROL : WEFT_INGRESS_FLITS,
		f->hdr.spid);
	return WEFT_DROP_SPID;
}

static enum weft_verdict
deframe_header(struct rte_mbuf *m, struct weft_frame *f)
{
	if (m->nb_segs != 1)
		return WEFT_DROP_SEGMENTED;
	return weft_wire_parse(
		rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m), &f->hdr);
}

/* No session has the number 0: who sends that means whoever is at the other end of the link. */
static bool
deframe_is_neighbours(const struct weft_env *env, struct rte_mbuf *m, const struct weft_frame *f)
{
	return f->hdr.kind == WEFT_WIRE_CONTROL && f->hdr.session == 0 && env->neighbour != NULL &&
	       env->neighbour(env->neighbour_arg, m);
}

/* The rest of what is decided without the connection (FRAME-8). */
static enum weft_verdict
deframe_admit(const struct weft_env *env, struct rte_mbuf *m, struct weft_frame *f)
{
	enum weft_verdict v;

	if (env->only_mode >= 0 && f->hdr.mode != env->only_mode)
		return WEFT_DROP_MODE;
	v = env->ingress.rule == NULL ? WEFT_OK : deframe_ingress(env, m, f);
	if (v != WEFT_OK)
		return v;
	if (env->pid != WEFT_PID_ANY && f->hdr.dpid != env->pid)
		return WEFT_DROP_NOT_MINE;
	if (f->hdr.kind == WEFT_WIRE_CONTROL && !env->take_control)
		return WEFT_DROP_CONTROL;
	return WEFT_OK;
}

static void
deframe_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	struct weft_conn_dir *last = NULL;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		enum weft_verdict v = deframe_header(m, f);
		struct weft_conn_key key;

		f->conn = NULL;
		f->out_port = -1;
		f->discard = 0;
		f->mac_pending = 0;
		if (v == WEFT_OK && deframe_is_neighbours(env, m, f)) {
			st->counts[COUNT_NEIGHBOURS]++;
			weft_burst_drop(b, m);
			continue;
		}
		v = v == WEFT_OK ? deframe_admit(env, m, f) : v;
		if (v == WEFT_OK && f->hdr.kind == WEFT_WIRE_CONTROL) {
			st->counts[COUNT_CONTROL]++;
		} else if (v == WEFT_OK && env->conns != NULL) {
			deframe_key(&key, &f->hdr, rte_pktmbuf_mtod(m, const uint8_t *));
			if (env->ends.know_session)
				key.session = 0;
			if (last == NULL || memcmp(&last->key, &key, sizeof(key)) != 0)
				v = deframe_find(env, &key, &last, st);
			f->conn = last;
		}
		if (v == WEFT_OK) {
			b->pkt[kept++] = m;
			continue;
		}
		if (env->misfit != NULL && (v == WEFT_DROP_MODE || v == WEFT_DROP_NOT_MINE))
			env->misfit(env->misfit_arg, m, v);
		f->hdr.n_flits = 0;
		weft_stage_drop(env, st, v, 1);
		weft_burst_drop(b, m);
	}
	b->n = kept;
}

static const struct weft_stage deframe = {
	.name = "deframe",
	.help = "check frame headers, find the connection",
	.order = WEFT_STAGE_DEFRAME,
	.run = deframe_run,
	.counters = deframe_counters,
	.n_counters = WEFT_ARRAY_SIZE(deframe_counters),
};

WEFT_STAGE(deframe)
