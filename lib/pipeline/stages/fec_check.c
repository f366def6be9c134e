/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage fec_check: FEC decode at an endpoint (wire-formats.md section 2.2). It corrects what it can
 * and drops nothing: an uncorrectable flit is left as it came, and the CRC, which does not cover
 * the FEC bytes, says whether the flit itself is hurt. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_CLEAN, COUNT_CORRECTED, COUNT_CORRECTED_BYTES, COUNT_UNCORRECTABLE };

static const struct weft_counter fec_check_counters[] = {
	[COUNT_CLEAN] = { "clean", "flits", "flits that were codewords" },
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_UNCORRECTABLE] = { "uncorrectable", "flits", "flits beyond correction" },
};

static const char *
fec_check_check(const struct weft_env *env)
{
	return env->fec == NULL ? "a FEC kernel" : NULL;
}

static void
fec_check_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint64_t flits = 0, corrected = 0, bytes = 0, uncorrectable = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct weft_frame *f = weft_frame(b->pkt[i]);
		struct weft_fec_result r;

		weft_fec_decode(env->fec, weft_frame_flits(b->pkt[i]), f->hdr.n_flits, &r);
		f->corrected = r.corrected;
		f->uncorrectable = r.uncorrectable;
		flits += f->hdr.n_flits;
		corrected += (unsigned int)__builtin_popcountll(r.corrected);
		uncorrectable += (unsigned int)__builtin_popcountll(r.uncorrectable);
		bytes += r.corrected_bytes;
	}
	st->counts[COUNT_CLEAN] += flits - corrected - uncorrectable;
	st->counts[COUNT_CORRECTED] += corrected;
	st->counts[COUNT_CORRECTED_BYTES] += bytes;
	st->counts[COUNT_UNCORRECTABLE] += uncorrectable;
}

static const struct weft_stage fec_check = {
	.name = "fec_check",
	.help = "FEC decode, correct in place",
	.check = fec_check_check,
	.run = fec_check_run,
	.counters = fec_check_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_check_counters),
};

WEFT_STAGE(fec_check)
