/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage fec_encode: writes the FEC bytes of every flit (wire-formats.md section 2.2). Directly
 * behind crc_protect, they are there already. Hot: runs per burst.
 */

#include "flit_batch.h"

enum { COUNT_ENCODED };

static const struct weft_counter fec_encode_counters[] = {
	[COUNT_ENCODED] = { "encoded", "flits", "flits given their FEC bytes" },
};

static void
fec_encode_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = flit_batch_codec(env);
	uint64_t flits = 0;
	struct flit_batch c;

	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		if (!b->fused)
			weft_codec_fec_encode(&codec, c.flit, c.n);
		flits += c.n;
	}
	st->counts[COUNT_ENCODED] += flits;
}

static const struct weft_stage fec_encode = {
	.name = "fec_encode",
	.help = "write FEC bytes",
	.order = WEFT_STAGE_FEC_ENCODE,
	.needs = WEFT_NEEDS_FEC,
	.run = fec_encode_run,
	.counters = fec_encode_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_encode_counters),
};

WEFT_STAGE(fec_encode)
