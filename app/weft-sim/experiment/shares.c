/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What share of bursts of 4, 5 and 6 wrong symbols FEC notices (reliability.md section 3.1), through
 * the encoder and the decoder.
 */

#include <stdio.h>

#include "exp.h"
#include "weft_fec.h"
#include "weft_wire.h"

#define PIECES 16
#define RUN WEFT_IMPAIR_RUN_MAX
#define WAYS 3

enum { BURSTS, NOTICED, CRC_MISSED };

static unsigned int burst_len; /* of the pieces under way */

static void
share_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	const uint64_t runs = exp_sample(x, 2000000) / PIECES / RUN;
	uint8_t good[RUN * WEFT_WIRE_FLIT_LEN], bad[sizeof(good)];
	struct weft_impair wire;
	char settings[32];

	(void)i;
	snprintf(settings, sizeof(settings), "burst=%u", burst_len);
	exp_wire(&wire, seed, settings);
	exp_flits(x, seed, good, RUN);
	for (uint64_t r = 0; r < runs; r++) {
		struct weft_fec_result res;

		memcpy(bad, good, sizeof(bad));
		weft_impair_flits(&wire, bad, RUN);
		weft_fec_decode(x->codec.fec, bad, RUN, &res);
		sum[NOTICED] += (unsigned int)__builtin_popcountll(res.uncorrectable);
		for (unsigned int k = 0; k < RUN; k++)
			sum[CRC_MISSED] +=
				!(res.uncorrectable & WEFT_BIT64(k)) &&
				weft_codec_syndrome(&x->codec, bad + (size_t)k * WEFT_WIRE_FLIT_LEN,
					WEFT_CRC_R0_FIRST) == 0;
	}
	sum[BURSTS] += runs * RUN;
}

/* Symbols of a way, its FEC bytes included. */
static unsigned int
way_symbols(unsigned int way)
{
	return (WEFT_WIRE_FLIT_LEN - way + WAYS - 1) / WAYS;
}

/*
 * Two wrong symbols of a way of n go unnoticed in (n - 2) of the 255 ratios of their errors. Of a
 * burst of 4 to 6, len - 3 ways have two, and FEC is silent if all of them are.
 */
static double
exact_share(unsigned int len)
{
	const unsigned int starts = WEFT_WIRE_FLIT_LEN - len + 1;
	double missed = 0;

	for (unsigned int start = 0; start < starts; start++) {
		double all = 1;

		for (unsigned int i = 0; i < len - WAYS; i++)
			all *= (way_symbols((start + i) % WAYS) - 2) / 255.0;
		missed += all / starts;
	}
	return 1 - missed;
}

void
exp_shares(struct exp *x)
{
	static const double paper[] = { 2.0 / 3, 8.0 / 9, 26.0 / 27 };
	static const char *const what[] = { "FEC notices a burst of 4 symbols",
		"FEC notices a burst of 5 symbols", "FEC notices a burst of 6 symbols" };
	uint64_t missed = 0, bursts = 0;
	struct exp_row *r;

	for (unsigned int len = 4; len <= 6; len++) {
		uint64_t sum[EXP_SUMS];
		char topic[8];

		snprintf(topic, sizeof(topic), "burst%u", len);
		burst_len = len;
		exp_work(x, topic, share_piece, PIECES, sum);
		r = exp_row(x, what[len - 4], "fec_detect_%u", len);
		r->paper = paper[len - 4];
		r->exact = exact_share(len);
		r->note =
			"the ways hold 86, 85 and 85 symbols; the paper's powers of 1/3 stand for "
			"84/255 and 83/255";
		exp_row_share(r, sum[NOTICED], sum[BURSTS], 1);
		if (len == 4)
			x->fec_detect_4 = r;
		missed += sum[CRC_MISSED];
		bursts += sum[BURSTS] - sum[NOTICED];
	}
	r = exp_row(x, "CRC misses such a burst after FEC did", "crc_miss_bursts");
	r->exact = 0;
	r->note = "what FEC left of bursts of 4 and 5 has up to 6 wrong symbols: below the "
		  "distance of 9";
	exp_row_share(r, missed, bursts, 1);
}
