/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage crc_first, in the place of fec_check and crc_check: the CRC comes first, and only a flit
 * that fails it is put through the FEC and checked again. The verdicts are the same; what is not
 * seen is damage to the six FEC bytes of a flit that is otherwise intact (wire-formats.md section
 * 2.2), so `corrected` counts less than fec_check does. Hot: runs per burst.
 */

#include "chunk.h"
#include "crc_verdict.h"

enum { COUNT_CORRECTED = CRC_COUNTERS, COUNT_CORRECTED_BYTES, COUNT_UNCORRECTABLE };

static const struct weft_counter crc_first_counters[] = {
	CRC_COUNTER_ROWS,
	[COUNT_CORRECTED] = { "corrected", "flits", "flits put right" },
	[COUNT_CORRECTED_BYTES] = { "corrected_bytes", "bytes", "bytes put right" },
	[COUNT_UNCORRECTABLE] = { "uncorrectable", "flits", "flits beyond correction" },
};

static const char *
crc_first_check(const struct weft_env *env)
{
	if (env->crc == NULL || env->fec == NULL)
		return "a CRC and a FEC kernel";
	return env->conns == NULL ? "connections" : NULL;
}

/* Correct what the CRC calls corrupt; the syndromes follow. */
static __attribute__((noinline)) void
crc_first_correct(const struct weft_codec *codec, struct weft_frame *f, uint8_t *flits,
	uint64_t *syndrome, struct weft_stage_stats *st)
{
	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;
		unsigned int n_bytes;

		if (weft_isn_is_intact(&f->conn->isn, syndrome[i], i))
			continue;
		switch (weft_fec_decode_flit(flit, &n_bytes)) {
		case WEFT_FEC_CORRECTED:
			f->corrected |= WEFT_BIT64(i);
			st->counts[COUNT_CORRECTED]++;
			st->counts[COUNT_CORRECTED_BYTES] += n_bytes;
			syndrome[i] = weft_codec_syndrome(
				codec, flit, (enum weft_crc_order)f->conn->isn.order);
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
	const struct weft_codec codec = chunk_codec(env);
	struct crc_counts counts = { 0 };
	uint64_t syndromes[WEFT_CODEC_MAX];
	struct chunk c;

	for (uint16_t i = 0; i < b->n; i = c.end) {
		uint64_t *syndrome = syndromes;

		chunk_fill(&c, b, i);
		weft_codec_syndromes(&codec, chunk_flits(&c), c.n, c.order, syndrome);
		for (uint16_t k = c.first; k < c.end; k++) {
			struct weft_frame *f = weft_frame(b->pkt[k]);
			uint8_t *flits = weft_frame_flits(b->pkt[k]);

			f->corrected = 0;
			f->uncorrectable = 0;
			if (f->conn != NULL) {
				if (!weft_isn_all_in_turn(&f->conn->isn, syndrome, f->hdr.n_flits))
					crc_first_correct(&codec, f, flits, syndrome, st);
				crc_judge_frame(f, flits, syndrome,
					crc_all_zero(flits, syndrome, f->hdr.n_flits), &counts);
			}
			syndrome += f->hdr.n_flits;
		}
	}
	crc_count(st, &counts);
}

static const struct weft_stage crc_first = {
	.name = "crc_first",
	.help = "CRC and sequence, FEC only where the CRC fails",
	.check = crc_first_check,
	.run = crc_first_run,
	.counters = crc_first_counters,
	.n_counters = WEFT_ARRAY_SIZE(crc_first_counters),
};

WEFT_STAGE(crc_first)
