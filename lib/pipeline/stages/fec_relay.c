/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage fec_relay: FEC decode in a switch in rxl mode (encapsulation.md sections 1 and 3), its only
 * flit check. A corrected flit goes on as the codeword that correction made of it; an uncorrectable
 * one is taken out of its frame, and a frame left empty is not sent. Hot: runs per burst.
 */

#include "flit_batch.h"

enum { COUNT_CLEAN, COUNT_CORRECTED, COUNT_CORRECTED_BYTES, COUNT_EMPTIED };

static const struct weft_counter fec_relay_counters[] = {
	[COUNT_CLEAN] = { "clean", "flits", "flits that were codewords" },
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_EMPTIED] = { "emptied", "frames", "frames that lost their last flit" },
};

struct fec_relay_counts {
	uint64_t flits, corrected, corrected_bytes, gone, emptied;
};

/*
 * Out of line: correct what is not clean, and take out what cannot be. False if no flit is left.
 */
static __attribute__((noinline)) bool
fec_relay_repair(const struct weft_env *env, struct rte_mbuf *m, struct weft_frame *f,
	uint64_t not_clean, struct fec_relay_counts *counts)
{
	uint64_t gone = 0;
	size_t len;

	for (; not_clean != 0; not_clean &= not_clean - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(not_clean);
		unsigned int n_bytes;

		if (weft_fec_decode_flit(weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN,
			    &n_bytes) == WEFT_FEC_UNCORRECTABLE) {
			gone |= WEFT_BIT64(i);
			counts->gone++;
			continue;
		}
		f->corrected |= WEFT_BIT64(i);
		counts->corrected++;
		counts->corrected_bytes += n_bytes;
	}
	if (gone == 0)
		return true;
	if (env->lost != NULL)
		env->lost(env->lost_arg, &f->hdr, (unsigned int)__builtin_popcountll(gone));
	len = weft_wire_remove(rte_pktmbuf_mtod(m, uint8_t *), &f->hdr, gone);
	if (len == 0)
		return false;
	rte_pktmbuf_trim(m, (uint16_t)(rte_pktmbuf_data_len(m) - len));
	return true;
}

/* @return frames kept so far */
static uint16_t
fec_relay_chunk(const struct weft_env *env, const struct weft_codec *codec, struct weft_burst *b,
	const struct flit_batch *c, uint16_t kept, struct fec_relay_counts *counts)
{
	const uint64_t not_clean = weft_codec_fec_check(codec, flit_batch_flits(c), c->n);
	unsigned int at = 0;

	for (uint16_t i = c->first; i < c->end; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		const uint64_t part = flit_batch_part(not_clean, at, f);

		at += f->hdr.n_flits;
		f->corrected = 0;
		if (__builtin_expect(part != 0, 0) && !fec_relay_repair(env, m, f, part, counts)) {
			counts->emptied++;
			weft_burst_drop(b, m);
			continue;
		}
		b->pkt[kept++] = m;
	}
	counts->flits += c->n;
	return kept;
}

static void
fec_relay_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	const struct weft_codec codec = flit_batch_codec(env);
	struct fec_relay_counts counts = { 0 };
	uint16_t kept = 0;
	struct flit_batch c;

	for (uint16_t i = 0; i < b->n; i = c.end) {
		flit_batch_fill(&c, b, i);
		kept = fec_relay_chunk(env, &codec, b, &c, kept, &counts);
	}
	b->n = kept;
	st->counts[COUNT_CLEAN] += counts.flits - counts.corrected - counts.gone;
	st->counts[COUNT_CORRECTED] += counts.corrected;
	st->counts[COUNT_CORRECTED_BYTES] += counts.corrected_bytes;
	st->counts[COUNT_EMPTIED] += counts.emptied;
	if (counts.gone != 0)
		weft_stage_drop(env, st, WEFT_DROP_FEC, counts.gone);
}

static const struct weft_stage fec_relay = {
	.name = "fec_relay",
	.help = "FEC decode in a switch, take uncorrectable flits out",
	.order = WEFT_STAGE_FEC_RX,
	.needs = WEFT_NEEDS_FEC,
	.run = fec_relay_run,
	.counters = fec_relay_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_relay_counters),
};

WEFT_STAGE(fec_relay)
