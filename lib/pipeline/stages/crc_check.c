/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage crc_check: CRC and sequence of every flit (encapsulation.md section 3). Corrupt flits,
 * duplicates and all-zero flits are marked as dropped; the frame goes on, with what is left in it.
 * A decoded gap is taken as loss, and the receiver goes on from the number it decoded. Directly
 * behind fec_check, the CRCs are there already. Hot: runs per burst.
 */

#include "chunk.h"
#include "crc_verdict.h"

static const struct weft_counter crc_check_counters[] = { CRC_COUNTER_ROWS };

static const char *
crc_check_check(const struct weft_env *env)
{
	if (env->crc == NULL)
		return "a CRC kernel";
	return env->conns == NULL ? "connections" : NULL;
}

static void
crc_check_frames(struct weft_burst *b, uint16_t first, uint16_t end, const uint64_t *syndrome,
	struct crc_counts *counts)
{
	for (uint16_t i = first; i < end; i++) {
		struct weft_frame *f = weft_frame(b->pkt[i]);
		const uint8_t *flits = weft_frame_flits(b->pkt[i]);

		if (f->conn != NULL) /* else link control, or nobody's */
			crc_judge_frame(f, flits, syndrome,
				crc_all_zero(flits, syndrome, f->hdr.n_flits), counts);
		syndrome += f->hdr.n_flits;
	}
}

static void
crc_check_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = chunk_codec(env);
	struct crc_counts counts = { 0 };
	uint64_t syndrome[WEFT_CODEC_MAX];
	struct chunk c;

	if (b->handed) {
		crc_check_frames(b, 0, b->n, b->syndrome, &counts);
	} else {
		for (uint16_t i = 0; i < b->n; i = c.end) {
			chunk_fill(&c, b, i);
			weft_codec_syndromes(&codec, chunk_flits(&c), c.n, c.order, syndrome);
			crc_check_frames(b, c.first, c.end, syndrome, &counts);
		}
	}
	crc_count(st, &counts);
}

static const struct weft_stage crc_check = {
	.name = "crc_check",
	.help = "CRC and sequence number of every flit",
	.check = crc_check_check,
	.run = crc_check_run,
	.counters = crc_check_counters,
	.n_counters = WEFT_ARRAY_SIZE(crc_check_counters),
};

WEFT_STAGE(crc_check)
