/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage link_tx: fills the empty frames of live connections with what is to be sent now: a control
 * frame of the session, or flits from the replay buffer, those to be sent again first
 * (encapsulation.md section 3; doc/llr.md). A frame that nothing is left for is given back. Frames
 * that are packed already go by. Runs on the lcore that owns the ends. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_SENT, COUNT_CONTROL, COUNT_EMPTY };

static const struct weft_counter link_tx_counters[] = {
	[COUNT_SENT] = { "sent", "flits", "flits, those sent again and NOPs included" },
	[COUNT_CONTROL] = { "control", "frames", "control frames" },
	[COUNT_EMPTY] = { "empty", "frames", "frames that nothing was left for" },
};

/* @return whether there was anything */
static bool
link_tx_fill(const struct weft_env *env, struct rte_mbuf *m, struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);
	const struct weft_conn_dir *c = f->conn;
	uint8_t *payload = weft_frame_flits(m);
	struct weft_link_out out;

	if (weft_link_next_control(
		    c->end, payload, *env->now_ns, env->random, env->random_arg, &out)) {
		st->counts[COUNT_CONTROL]++;
		f->conn = NULL;
	} else if (!weft_link_next_flits(c->end, payload, *env->now_ns, &out)) {
		st->counts[COUNT_EMPTY]++;
		return false;
	}
	if (out.flits.resent != 0)
		weft_probe_retry(
			env->node, c->key.dpid, (unsigned int)f->out_port, out.flits.resent);
	rte_pktmbuf_append(m, (uint16_t)out.len);
	f->hdr = out.hdr;
	f->hdr.vc = out.hdr.mode == WEFT_MODE_CXL ? 0 : c->key.vc;
	f->hdr.spid = c->key.spid;
	f->hdr.dpid = c->key.dpid;
	f->first = out.flits.first;
	f->nops = out.flits.nops;
	f->invert_crc = out.flits.invert_crc;
	st->counts[COUNT_SENT] += out.flits.n;
	return true;
}

static void
link_tx_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint16_t out = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		const struct weft_conn_dir *c = weft_frame(m)->conn;

		if (c == NULL || c->end == NULL || link_tx_fill(env, m, st))
			b->pkt[out++] = m;
		else
			weft_burst_drop(b, m);
	}
	b->n = out;
}

static const struct weft_stage link_tx = {
	.name = "link_tx",
	.help = "fill frames from the replay buffers of live connections",
	.order = WEFT_STAGE_LINK_TX,
	.ends = WEFT_ENDS_NODE,
	.needs = WEFT_NEEDS_TIME | WEFT_NEEDS_RANDOM,
	.run = link_tx_run,
	.counters = link_tx_counters,
	.n_counters = WEFT_ARRAY_SIZE(link_tx_counters),
};

WEFT_STAGE(link_tx)
