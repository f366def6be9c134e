/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage fec_check: FEC decode at an endpoint (wire-formats.md section 2.2). It corrects what it can
 * and drops nothing: an uncorrectable flit is left as it came, and the CRC, which does not cover
 * the FEC bytes, says whether the flit itself is hurt. Where link_rx comes next, the CRCs are
 * made in the same pass over the flits. Hot: runs per burst.
 */

#include "flit_batch.h"

enum { COUNT_CLEAN, COUNT_CORRECTED, COUNT_CORRECTED_BYTES, COUNT_UNCORRECTABLE };

static const struct weft_counter fec_check_counters[] = {
	[COUNT_CLEAN] = { "clean", "flits", "flits that were codewords" },
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_UNCORRECTABLE] = { "uncorrectable", "flits", "flits beyond correction" },
};

struct fec_check_counts {
	uint64_t flits, corrected, corrected_bytes, uncorrectable;
};

/* Out of line: put right what is not clean, and its syndrome with it. */
static __attribute__((noinline)) void
fec_check_correct(const struct weft_codec *codec, struct flit_batch *c, struct weft_frame *f,
	unsigned int at, uint64_t not_clean, uint64_t *syndrome, struct fec_check_counts *counts)
{
	for (; not_clean != 0; not_clean &= not_clean - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(not_clean);
		uint8_t *flit = c->flit[at + i];
		unsigned int n_bytes;

		if (weft_fec_decode_flit(flit, &n_bytes) == WEFT_FEC_UNCORRECTABLE) {
			f->uncorrectable |= WEFT_BIT64(i);
			counts->uncorrectable++;
			continue;
		}
		f->corrected |= WEFT_BIT64(i);
		counts->corrected++;
		counts->corrected_bytes += n_bytes;
		if (syndrome != NULL)
			syndrome[i] = weft_codec_syndrome(codec, flit, c->order);
	}
}

/* @p syndrome receives one a flit, or is NULL. */
static void
fec_check_chunk(const struct weft_codec *codec, struct weft_burst *b, struct flit_batch *c,
	uint64_t *syndrome, struct fec_check_counts *counts)
{
	const uint64_t not_clean =
		syndrome == NULL
			? weft_codec_fec_check(codec, flit_batch_flits(c), c->n)
			: weft_codec_check(codec, flit_batch_flits(c), c->n, c->order, syndrome);
	unsigned int at = 0;

	for (uint16_t i = c->first; i < c->end; i++) {
		struct weft_frame *f = weft_frame(b->pkt[i]);

		f->corrected = 0;
		f->uncorrectable = 0;
		if (__builtin_expect(not_clean != 0, 0))
			fec_check_correct(codec, c, f, at, flit_batch_part(not_clean, at, f),
				syndrome == NULL ? NULL : syndrome + at, counts);
		at += f->hdr.n_flits;
	}
	counts->flits += c->n;
}

static void
fec_check_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = flit_batch_codec(env);
	struct fec_check_counts counts = { 0 };
	uint64_t *syndrome = b->may_fuse && b->n <= WEFT_BURST_MAX ? b->syndrome : NULL;
	struct flit_batch c;

	b->fused = syndrome != NULL;
	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		fec_check_chunk(&codec, b, &c, syndrome, &counts);
		if (syndrome != NULL)
			syndrome += c.n;
	}
	st->counts[COUNT_CLEAN] += counts.flits - counts.corrected - counts.uncorrectable;
	st->counts[COUNT_CORRECTED] += counts.corrected;
	st->counts[COUNT_CORRECTED_BYTES] += counts.corrected_bytes;
	st->counts[COUNT_UNCORRECTABLE] += counts.uncorrectable;
}

static const struct weft_stage fec_check = {
	.name = "fec_check",
	.help = "FEC decode, correct in place",
	.order = WEFT_STAGE_FEC_RX,
	.has_ways = true,
	.needs = WEFT_NEEDS_FEC,
	.run = fec_check_run,
	.fuses_with = "link_rx",
	.counters = fec_check_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_check_counters),
};

WEFT_STAGE(fec_check)
