/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage enframe: writes Ethernet addresses and the frame header with its check in front of the
 * flits, which stay where they are (encapsulation.md section 2). Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_FRAMES, COUNT_BYTES };

static const struct weft_counter enframe_counters[] = {
	[COUNT_FRAMES] = { "enframed", "frames", "frames made ready to send" },
	[COUNT_BYTES] = { "bytes", "bytes", "their length, Ethernet header included" },
};

static void
enframe_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint64_t bytes = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(b->pkt[i], uint8_t *);

		memcpy(frame, env->dst_mac, sizeof(env->dst_mac));
		memcpy(frame + sizeof(env->dst_mac), env->src_mac, sizeof(env->src_mac));
		weft_wire_build(frame, &weft_frame(b->pkt[i])->hdr);
		bytes += rte_pktmbuf_data_len(b->pkt[i]);
	}
	st->counts[COUNT_FRAMES] += b->n;
	st->counts[COUNT_BYTES] += bytes;
}

static const struct weft_stage enframe = {
	.name = "enframe",
	.help = "write Ethernet and frame headers",
	.order = WEFT_STAGE_ENFRAME,
	.run = enframe_run,
	.counters = enframe_counters,
	.n_counters = WEFT_ARRAY_SIZE(enframe_counters),
};

WEFT_STAGE(enframe)
