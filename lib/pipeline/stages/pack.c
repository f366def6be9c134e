/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage pack: what the live connections of a burst are to send is completed: the flit that messages
 * were packed into, flits of credits and CXL.io packets. A frame comes in empty,
 * with its connection, and link_tx fills it; one that is packed already goes by. Runs on the lcore
 * that owns the ends. Hot: runs per burst.
 */

#include "weft_stage.h"

static void
pack_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_conn_dir *last = NULL;

	(void)st;
	for (uint16_t i = 0; i < b->n; i++) {
		const struct weft_conn_dir *c = weft_frame(b->pkt[i])->conn;

		if (c != NULL && c != last && c->end != NULL)
			weft_link_pack(c->end, *env->now_ns);
		last = c;
	}
}

static const struct weft_stage pack = {
	.name = "pack",
	.help = "complete the flits of live connections",
	.order = WEFT_STAGE_PACK,
	.ends = WEFT_ENDS_NODE,
	.needs = WEFT_NEEDS_TIME,
	.run = pack_run,
};

WEFT_STAGE(pack)
