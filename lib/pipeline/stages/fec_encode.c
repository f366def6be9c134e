/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Stage fec_encode: writes the FEC bytes of every flit (wire-formats.md section 2.2). Hot: runs per
 * burst. */

#include "weft_stage.h"

enum { COUNT_ENCODED };

static const struct weft_counter fec_encode_counters[] = {
	[COUNT_ENCODED] = { "encoded", "flits", "flits given their FEC bytes" },
};

static const char *
fec_encode_check(const struct weft_env *env)
{
	return env->fec == NULL ? "a FEC kernel" : NULL;
}

static void
fec_encode_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint64_t flits = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		unsigned int n = weft_frame(b->pkt[i])->hdr.n_flits;

		weft_fec_encode(env->fec, weft_frame_flits(b->pkt[i]), n);
		flits += n;
	}
	st->counts[COUNT_ENCODED] += flits;
}

static const struct weft_stage fec_encode = {
	.name = "fec_encode",
	.help = "write FEC bytes",
	.check = fec_encode_check,
	.run = fec_encode_run,
	.counters = fec_encode_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_encode_counters),
};

WEFT_STAGE(fec_encode)
