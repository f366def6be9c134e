/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage crc_protect: numbers flits and writes their CRC (encapsulation.md section 3). In rxl mode
 * the number is implicit. In cxl mode a payload flit whose Replay Command says "explicit number"
 * gets its number into the header; one that carries an Ack or Nak just uses it up. Where fec_encode
 * comes next, the FEC bytes are written in the same pass over the flits. Hot: runs per burst.
 */

#include "flit_batch.h"

enum { COUNT_PROTECTED };

static const struct weft_counter crc_protect_counters[] = {
	[COUNT_PROTECTED] = { "protected", "flits", "flits numbered and given a CRC" },
};

static void
crc_protect_number(struct weft_fsn *s, uint8_t *flits, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		struct weft_flit_hdr h = weft_flit_hdr_get(flit);

		if (h.type == WEFT_FLIT_IDLE_NOP)
			continue; /* uses no number */
		if (h.replay_cmd == WEFT_REPLAY_EXPLICIT) {
			h.seq = s->next;
			weft_flit_hdr_put(flit, &h);
		}
		s->next = (uint16_t)(s->next == WEFT_FSN_NUMBERS ? 1 : s->next + 1);
	}
}

/* Numbers for the frames of a batch: what they add to the CRC, flit by flit. */
static void
crc_protect_numbers(struct weft_burst *b, const struct flit_batch *c, uint64_t *implicit)
{
	for (uint16_t i = c->first; i < c->end; i++) {
		struct weft_frame *f = weft_frame(b->pkt[i]);

		if (f->conn == NULL)
			continue; /* link control: no flits */
		if (f->conn->end != NULL) {
			weft_isn_given(&f->conn->isn, f->first, f->hdr.n_flits, f->nops,
				f->invert_crc, implicit);
			implicit += f->hdr.n_flits;
			continue;
		}
		if (f->hdr.mode == WEFT_MODE_CXL)
			crc_protect_number(
				&f->conn->fsn, weft_frame_flits(b->pkt[i]), f->hdr.n_flits);
		weft_isn_take(&f->conn->isn, implicit, f->hdr.n_flits);
		implicit += f->hdr.n_flits;
	}
}

static void
crc_protect_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = flit_batch_codec(env);
	uint64_t implicit[WEFT_CODEC_MAX], flits = 0;
	struct flit_batch c;

	b->fused = b->may_fuse;
	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		crc_protect_numbers(b, &c, implicit);
		if (b->fused)
			weft_codec_protect(&codec, c.flit, c.n, c.order, implicit);
		else
			weft_codec_crc_protect(&codec, c.flit, c.n, c.order, implicit);
		flits += c.n;
	}
	st->counts[COUNT_PROTECTED] += flits;
}

static const struct weft_stage crc_protect = {
	.name = "crc_protect",
	.help = "number flits, write their CRC",
	.order = WEFT_STAGE_CRC_PROTECT,
	.needs = WEFT_NEEDS_CRC,
	.run = crc_protect_run,
	.fuses_with = "fec_encode",
	.counters = crc_protect_counters,
	.n_counters = WEFT_ARRAY_SIZE(crc_protect_counters),
};

WEFT_STAGE(crc_protect)
