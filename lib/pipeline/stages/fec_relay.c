/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage fec_relay: FEC decode in a switch in rxl mode (encapsulation.md sections 1 and 3), its only
 * flit check. A corrected flit goes on as the codeword that correction made of it; an uncorrectable
 * one is taken out of its frame, and a frame left empty is not sent. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_CLEAN, COUNT_CORRECTED, COUNT_CORRECTED_BYTES, COUNT_EMPTIED };

static const struct weft_counter fec_relay_counters[] = {
	[COUNT_CLEAN] = { "clean", "flits", "flits that were codewords" },
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_EMPTIED] = { "emptied", "frames", "frames that lost their last flit" },
};

static const char *
fec_relay_check(const struct weft_env *env)
{
	return env->fec == NULL ? "a FEC kernel" : NULL;
}

/* Take flits out of a frame; false if none is left. */
static bool
fec_relay_remove(struct rte_mbuf *m, struct weft_frame *f, uint64_t gone)
{
	size_t len = weft_wire_remove(rte_pktmbuf_mtod(m, uint8_t *), &f->hdr, gone);

	if (len == 0)
		return false;
	rte_pktmbuf_trim(m, (uint16_t)(rte_pktmbuf_data_len(m) - len));
	return true;
}

static void
fec_relay_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint64_t flits = 0, corrected = 0, bytes = 0, gone = 0, emptied = 0;
	uint16_t kept = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		struct weft_fec_result r;

		weft_fec_decode(env->fec, weft_frame_flits(m), f->hdr.n_flits, &r);
		f->corrected = r.corrected;
		flits += f->hdr.n_flits;
		corrected += (unsigned int)__builtin_popcountll(r.corrected);
		bytes += r.corrected_bytes;
		if (r.uncorrectable != 0) {
			gone += (unsigned int)__builtin_popcountll(r.uncorrectable);
			if (!fec_relay_remove(m, f, r.uncorrectable)) {
				emptied++;
				weft_burst_drop(b, m);
				continue;
			}
		}
		b->pkt[kept++] = m;
	}
	b->n = kept;
	st->counts[COUNT_CLEAN] += flits - corrected - gone;
	st->counts[COUNT_CORRECTED] += corrected;
	st->counts[COUNT_CORRECTED_BYTES] += bytes;
	st->counts[COUNT_EMPTIED] += emptied;
	st->drops[WEFT_DROP_FEC] += gone;
}

static const struct weft_stage fec_relay = {
	.name = "fec_relay",
	.help = "FEC decode in a switch, take uncorrectable flits out",
	.check = fec_relay_check,
	.run = fec_relay_run,
	.counters = fec_relay_counters,
	.n_counters = WEFT_ARRAY_SIZE(fec_relay_counters),
};

WEFT_STAGE(fec_relay)
