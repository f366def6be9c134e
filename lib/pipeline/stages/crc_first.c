/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage crc_first, in the place of fec_check: the CRC comes first, and only a flit that fails it is
 * put through the FEC. What link_rx then says is the same; what is not seen is damage to the six
 * FEC bytes of a flit that is otherwise intact (wire-formats.md section 2.2), so `corrected` counts
 * less than fec_check does. Where link_rx comes next, the CRCs are handed on. Hot: runs per burst.
 */

#include "flit_batch.h"

enum { COUNT_CORRECTED, COUNT_CORRECTED_BYTES, COUNT_UNCORRECTABLE };

static const struct weft_counter crc_first_counters[] = {
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_UNCORRECTABLE] = { "uncorrectable", "flits", "flits beyond correction" },
};

/* What the flits of a connection should have from here on; link_rx counts later. */
struct crc_first_expect {
	const struct weft_conn_dir *conn;
	struct weft_isn isn;
};

static inline void
crc_first_turn(struct crc_first_expect *e, const struct weft_conn_dir *c)
{
	if (e->conn == c)
		return;
	e->conn = c;
	e->isn = c->isn;
	if (c->end != NULL)
		e->isn.next = weft_llr_expected(weft_link_llr(c->end));
}

/* Correct what the CRC calls corrupt; the syndromes follow. */
static __attribute__((noinline)) void
crc_first_correct(const struct weft_codec *codec, const struct weft_isn *isn, struct rte_mbuf *m,
	uint64_t *syndrome, struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);

	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;
		unsigned int n_bytes;

		if (weft_isn_is_intact(isn, syndrome[i], i))
			continue;
		switch (weft_fec_decode_flit(flit, &n_bytes)) {
		case WEFT_FEC_CORRECTED:
			f->corrected |= WEFT_BIT64(i);
			st->counts[COUNT_CORRECTED]++;
			st->counts[COUNT_CORRECTED_BYTES] += n_bytes;
			syndrome[i] =
				weft_codec_syndrome(codec, flit, (enum weft_crc_order)isn->order);
			break;
		case WEFT_FEC_UNCORRECTABLE:
			f->uncorrectable |= WEFT_BIT64(i);
			st->counts[COUNT_UNCORRECTABLE]++;
			break;
		default: break; /* a codeword with a bad CRC: corrupt beyond what the FEC sees */
		}
	}
}

static void
crc_first_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = flit_batch_codec(env);
	struct crc_first_expect expect = { 0 };
	uint64_t *syndrome = b->syndrome;
	struct flit_batch c;

	assert(b->n <= WEFT_BURST_MAX);
	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		weft_codec_syndromes(&codec, flit_batch_flits(&c), c.n, c.order, syndrome);
		for (uint16_t k = c.first; k < c.end; k++) {
			struct weft_frame *f = weft_frame(b->pkt[k]);
			const unsigned int n = f->hdr.n_flits;

			f->corrected = 0;
			f->uncorrectable = 0;
			if (f->conn != NULL) {
				crc_first_turn(&expect, f->conn);
				if (!weft_isn_all_in_turn(&expect.isn, syndrome, n))
					crc_first_correct(
						&codec, &expect.isn, b->pkt[k], syndrome, st);
				expect.isn.next =
					(uint16_t)((expect.isn.next + n) % WEFT_ISN_NUMBERS);
			}
			syndrome += n;
		}
	}
	b->fused = b->may_fuse;
}

static const struct weft_stage crc_first = {
	.name = "crc_first",
	.help = "in the place of fec_check: FEC only where the CRC fails",
	.order = WEFT_STAGE_FEC_RX,
	.ends = WEFT_ENDS_LLR_RX,
	.has_ways = true,
	.needs = WEFT_NEEDS_CRC | WEFT_NEEDS_FEC | WEFT_NEEDS_CONNS,
	.run = crc_first_run,
	.fuses_with = "link_rx",
	.counters = crc_first_counters,
	.n_counters = WEFT_ARRAY_SIZE(crc_first_counters),
};

WEFT_STAGE(crc_first)
