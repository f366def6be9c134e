/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* FEC and CRC alone, and the two together, over 64 flits that stay in the cache. */

#include "bench.h"

#include <stdlib.h>

#include "weft_codec.h"
#include "weft_flit.h"
#include "weft_isn.h"

#define SPID 0x101
#define DPID 0x200
#define VC 0

enum { FEC_ENCODE, FEC_CHECK, CRC, CRC6, ISN, RX_CHECK, RX_TWO_PASSES, RX_CRC_FIRST, TX_PROTECT };

struct codec {
	uint8_t flits[BENCH_FLITS][WEFT_FLIT_LEN];
	uint8_t *flit[BENCH_FLITS];
	const struct bench *b;
	const struct bench_params *p;
	struct weft_codec codec;
	struct weft_isn isn;
	uint64_t crc[BENCH_FLITS];
	uint64_t odd[BENCH_FLITS];
	uint64_t implicit[BENCH_FLITS];
	uint64_t bad; /* flits that a run found wrong; all are right */
};

static void
codec_prepare(void *ctx)
{
	struct codec *c = ctx;

	c->isn.next = WEFT_ISN_FIRST;
}

static uint64_t
codec_run(void *ctx)
{
	struct codec *c = ctx;
	struct weft_fec_result fec;
	struct weft_isn_result isn;

	switch (c->b->kind) {
	case FEC_ENCODE: weft_fec_encode(c->p->fec, c->flits[0], BENCH_FLITS); break;
	case FEC_CHECK: c->bad += weft_fec_check(c->p->fec, c->flits[0], BENCH_FLITS) != 0; break;
	case CRC: weft_crc_run(c->p->crc, c->flits[0], BENCH_FLITS, c->crc); break;
	case CRC6: weft_crc6_run(c->p->crc, c->flits[0], BENCH_FLITS, c->crc, c->odd); break;
	case ISN:
		/* What numbering costs beside the CRC: the syndromes are at hand. */
		weft_isn_judge(&c->isn, c->implicit, BENCH_FLITS, 0, 0, &isn);
		c->bad += isn.in_turn != UINT64_MAX;
		break;
	case RX_CHECK:
		c->bad += weft_codec_check(&c->codec, (const uint8_t *const *)c->flit, BENCH_FLITS,
				  WEFT_CRC_R0_FIRST, c->crc) != 0;
		weft_isn_judge(&c->isn, c->crc, BENCH_FLITS, 0, 0, &isn);
		c->bad += isn.in_turn != UINT64_MAX;
		break;
	case RX_TWO_PASSES:
		weft_fec_decode(c->p->fec, c->flits[0], BENCH_FLITS, &fec);
		weft_isn_check(&c->isn, c->p->crc, c->flits[0], BENCH_FLITS, 0, &isn);
		c->bad += (fec.corrected | fec.uncorrectable) != 0 || isn.in_turn != UINT64_MAX;
		break;
	case RX_CRC_FIRST:
		weft_isn_check(&c->isn, c->p->crc, c->flits[0], BENCH_FLITS, 0, &isn);
		c->bad += isn.in_turn != UINT64_MAX;
		break;
	default:
		weft_isn_take(&c->isn, c->implicit, BENCH_FLITS);
		weft_codec_protect(&c->codec, c->flit, BENCH_FLITS, WEFT_CRC_R0_FIRST, c->implicit);
		break;
	}
	return BENCH_FLITS;
}

/* Every flit has the CRC of the definition and is a codeword for the decoder, bit by bit. */
static bool
codec_flits_are_right(const struct codec *c)
{
	for (unsigned int i = 0; i < BENCH_FLITS; i++) {
		uint8_t copy[WEFT_FLIT_LEN];
		uint64_t want = bench_crc_ref(c->flits[i], SPID, DPID, VC, WEFT_ISN_FIRST + i);

		memcpy(copy, c->flits[i], sizeof(copy));
		if (weft_fec_decode_flit(copy, NULL) != WEFT_FEC_CLEAN ||
			weft_crc_load(copy, WEFT_CRC_R0_FIRST) != want)
			return false;
	}
	return true;
}

static bool
codec_crcs_are_right(const struct codec *c)
{
	for (unsigned int i = 0; i < BENCH_FLITS; i++) {
		const uint8_t *flit = c->flits[i];

		if (c->b->kind == CRC &&
			c->crc[i] != weft_crc_update_ref(0, flit, WEFT_CRC_COVERED))
			return false;
		if (c->b->kind == CRC6 &&
			(c->crc[i] != weft_crc6_half_ref(flit, WEFT_CRC6_EVEN_COVERED) ||
				c->odd[i] != weft_crc6_half_ref(flit + WEFT_CRC6_ODD_OFF,
						     WEFT_CRC6_ODD_COVERED)))
			return false;
	}
	return true;
}

/* A checker must also find what is wrong. */
static bool
codec_finds_damage(struct codec *c)
{
	struct weft_isn_result isn;
	bool found;

	c->flits[7][100] ^= 0x5A;
	c->isn.next = WEFT_ISN_FIRST;
	weft_isn_check(&c->isn, c->p->crc, c->flits[0], BENCH_FLITS, 0, &isn);
	found = weft_codec_check(&c->codec, (const uint8_t *const *)c->flit, BENCH_FLITS,
			WEFT_CRC_R0_FIRST, c->crc) == WEFT_BIT64(7) &&
	        isn.bad == WEFT_BIT64(7);
	c->flits[7][100] ^= 0x5A;
	return found;
}

static bool
codec_is_right(void *ctx)
{
	const struct codec *c = ctx;

	return c->bad == 0 && codec_flits_are_right(c) && codec_crcs_are_right(c);
}

static void *
codec_setup(const struct bench *b, const struct bench_params *p)
{
	struct codec *c = bench_alloc(sizeof(*c));

	c->b = b;
	c->p = p;
	c->codec = (struct weft_codec){ p->fec, p->crc };
	for (unsigned int i = 0; i < BENCH_FLITS; i++)
		c->flit[i] = c->flits[i];
	bench_fill(c->flits[0], BENCH_FLITS);
	weft_isn_init(&c->isn, WEFT_ISN_PSEUDO, WEFT_CRC_R0_FIRST, SPID, DPID, VC, WEFT_ISN_FIRST);
	weft_isn_protect(&c->isn, p->crc, c->flits[0], BENCH_FLITS);
	weft_fec_encode(p->fec, c->flits[0], BENCH_FLITS);
	codec_prepare(c);
	weft_isn_take(&c->isn, c->implicit, BENCH_FLITS);
	c->bad += !codec_finds_damage(c);
	codec_prepare(c);
	codec_run(c);
	return c;
}

static const struct bench_ops codec = { codec_setup, codec_prepare, codec_run, codec_is_right,
	free };

const struct bench bench_codec[] = {
	{ "fec-encode", "write the FEC bytes of 64 flits", BENCH_FEC, 1 << BENCH_RTC, FEC_ENCODE,
		&codec },
	{ "fec-check", "FEC syndromes of 64 clean flits", BENCH_FEC, 1 << BENCH_RTC, FEC_CHECK,
		&codec },
	{ "crc", "flit CRC of 64 flits", BENCH_CRC, 1 << BENCH_RTC, CRC, &codec },
	{ "crc-lopt", "both 6-byte CRCs of 64 latency-optimised flits", BENCH_CRC, 1 << BENCH_RTC,
		CRC6, &codec },
	{ "isn", "sequence check of 64 flits, their CRCs at hand", BENCH_PLAIN, 1 << BENCH_RTC, ISN,
		&codec },
	{ "rx-check", "FEC and CRC/ISN check of 64 clean flits in one pass", BENCH_CODEC,
		1 << BENCH_RTC, RX_CHECK, &codec },
	{ "rx-check-two-passes", "the same in two passes", BENCH_CODEC, 1 << BENCH_RTC,
		RX_TWO_PASSES, &codec },
	{ "rx-check-crc-first", "the same where a good CRC spares the FEC", BENCH_CODEC,
		1 << BENCH_RTC, RX_CRC_FIRST, &codec },
	{ "tx-protect", "number, CRC and FEC bytes of 64 flits", BENCH_CODEC, 1 << BENCH_RTC,
		TX_PROTECT, &codec },
};

const unsigned int bench_n_codec = sizeof(bench_codec) / sizeof(bench_codec[0]);
