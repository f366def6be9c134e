/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage deliver: from flits to messages and CXL.io packets (wire-formats.md section 4). Frames of a
 * live connection end here: the end books credits and gives messages to the owner. Those of a trace
 * go on when their messages have been counted. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_DELIVERED };

static const struct weft_counter deliver_counters[] = {
	[COUNT_DELIVERED] = { "delivered", "flits", "flits unpacked" },
};

static void
deliver_active(const struct weft_env *env, struct rte_mbuf *m, struct weft_stage_stats *st)
{
	const struct weft_frame *f = weft_frame(m);
	const struct weft_conn_dir *c = f->conn;
	const unsigned int n = (unsigned int)__builtin_popcountll(f->in_order);

	/* A later frame of the burst may have begun another session. */
	if (f->hdr.session != weft_link_session(c->end)->id) {
		weft_stage_drop(env, st, WEFT_DROP_SESSION, n);
		return;
	}
	if (env->deliver.arriving != NULL)
		env->deliver.arriving(c->user);
	weft_link_deliver(c->end, weft_frame_flits(m), f->in_order, f->discard,
		env->deliver.message, c->user);
	st->counts[COUNT_DELIVERED] += n;
}

static void
deliver_passive(const struct weft_env *env, struct rte_mbuf *m, struct weft_stage_stats *st)
{
	const struct weft_frame *f = weft_frame(m);
	struct weft_conn_dir *c = f->conn;

	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		const uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;

		/* After a hole nobody knows how much data is still to come. Messages are counted
		 * by their headers: data that is lost does not unmake them. */
		if (f->seq_gap & WEFT_BIT64(i)) {
			weft_unpack_restart(c->unpack);
			c->unpack_io->is_broken = true; /* nor where a CXL.io packet begins, ever */
		}
		if (f->discard & WEFT_BIT64(i))
			continue;
		st->counts[COUNT_DELIVERED]++;
		if (flit[0] >> 6 == WEFT_FLIT_IO)
			weft_io_unpack_flit(c->unpack_io, flit, env->deliver.packet, c->user);
		if (weft_unpack_flit(c->unpack, flit, NULL, NULL) != WEFT_OK)
			weft_stage_drop(env, st, WEFT_DROP_SLOT_FORMAT, 1);
	}
}

static void
deliver_look_ahead(const struct weft_env *env, const struct weft_burst *b, uint16_t i)
{
	const struct weft_frame *f = i < b->n ? weft_frame(b->pkt[i]) : NULL;

	if (f != NULL && f->conn != NULL && f->conn->end != NULL)
		env->deliver.ahead(f->conn->user, weft_frame_flits(b->pkt[i]), f->hdr.n_flits);
}

static void
deliver_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const bool looks = env->deliver.ahead != NULL;
	uint16_t out = 0;

	if (looks)
		deliver_look_ahead(env, b, 0);
	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		const struct weft_conn_dir *c = weft_frame(m)->conn;

		if (looks)
			deliver_look_ahead(env, b, (uint16_t)(i + 1));
		if (c != NULL && c->end != NULL) {
			deliver_active(env, m, st);
			weft_burst_drop(b, m);
			continue;
		}
		if (c != NULL && c->unpack != NULL)
			deliver_passive(env, m, st);
		b->pkt[out++] = m;
	}
	b->n = out;
}

static const struct weft_stage deliver = {
	.name = "deliver",
	.help = "unpack messages and CXL.io packets",
	.order = WEFT_STAGE_DELIVER,
	.ends = WEFT_ENDS_NODE,
	.needs = WEFT_NEEDS_CONNS | WEFT_NEEDS_LIVE_MESSAGE,
	.run = deliver_run,
	.counters = deliver_counters,
	.n_counters = WEFT_ARRAY_SIZE(deliver_counters),
};

WEFT_STAGE(deliver)
