/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What share of bursts of 4 wrong symbols and more FEC notices (reliability.md section 3.1),
 * through the encoder and the decoder.
 */

#include <math.h>
#include <stdio.h>

#include "exp.h"
#include "weft_fec.h"
#include "weft_wire.h"

#define PIECES 16
#define RUN WEFT_IMPAIR_RUN_MAX
#define WAYS 3
#define CRC_BURST_MAX 6 /* longer ones may pass the CRC, too seldom to be seen */

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
share_way_symbols(unsigned int way)
{
	return (WEFT_WIRE_FLIT_LEN - way + WAYS - 1) / WAYS;
}

/*
 * Code words of a way whose symbols are all wrong at k given places, and right elsewhere: the full
 * weight of a code of length k with two check symbols (of an MDS code, by its distance alone).
 */
static double
share_code_words(unsigned int k)
{
	double words = 0, term = 1;

	if (k < WAYS)
		return 0;
	for (unsigned int j = 0; j + WAYS <= k; j++) {
		words += term * pow(256, k - WAYS - j);
		term *= -(double)(k - 1 - j) / (j + 1);
	}
	return 255 * words;
}

/*
 * Share of k wrong symbols of a way of n, all values alike, that the decoder takes for none or one:
 * code words at a distance of at most one. One more or one other place, one fewer, or another
 * value.
 */
static double
share_way_missed(unsigned int n, unsigned int k)
{
	double words;

	if (k <= 1)
		return 1; /* put right, or there is nothing */
	words = share_code_words(k) + (n - k) * share_code_words(k + 1) +
	        k * 254.0 * share_code_words(k) + k * 255.0 * share_code_words(k - 1);
	return words / pow(255, k);
}

/* FEC is silent about a burst if all ways are. */
static double
share_exact(unsigned int len)
{
	const unsigned int starts = WEFT_WIRE_FLIT_LEN - len + 1;
	double missed = 0;

	for (unsigned int start = 0; start < starts; start++) {
		double all = 1;

		for (unsigned int i = 0; i < WAYS; i++)
			all *= share_way_missed(
				share_way_symbols((start + i) % WAYS), (len - i + WAYS - 1) / WAYS);
		missed += all / starts;
	}
	return 1 - missed;
}

void
exp_shares(struct exp *x)
{
	static const struct {
		unsigned int len;
		double paper; /* for 6 and more it has one number */
		const char *what;
	} bursts[] = {
		{ 4, 2.0 / 3, "FEC notices a burst of 4 symbols" },
		{ 5, 8.0 / 9, "FEC notices a burst of 5 symbols" },
		{ 6, 26.0 / 27, "FEC notices a burst of 6 symbols" },
		{ 7, 26.0 / 27, "FEC notices a burst of 7 symbols" },
		{ 8, 26.0 / 27, "FEC notices a burst of 8 symbols" },
		{ 9, 26.0 / 27, "FEC notices a burst of 9 symbols" },
		{ 16, 26.0 / 27, "FEC notices a burst of 16 symbols" },
		{ 64, 26.0 / 27, "FEC notices a burst of 64 symbols" },
	};
	uint64_t missed = 0, silent = 0;
	struct exp_row *r;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(bursts); i++) {
		const unsigned int len = bursts[i].len;
		uint64_t sum[EXP_SUMS];
		char topic[8];

		snprintf(topic, sizeof(topic), "burst%u", len);
		burst_len = len;
		exp_work(x, topic, share_piece, PIECES, sum);
		r = exp_row(x, bursts[i].what, "fec_detect_%u", len);
		r->paper = bursts[i].paper;
		r->exact = share_exact(len);
		r->note =
			"the ways hold 86, 85 and 85 symbols; the paper's powers of 1/3 stand for "
			"84/255 and 83/255";
		exp_row_share(r, sum[NOTICED], sum[BURSTS], 1);
		if (len == 4)
			x->fec_detect_4 = r;
		if (len > CRC_BURST_MAX)
			continue;
		missed += sum[CRC_MISSED];
		silent += sum[BURSTS] - sum[NOTICED];
	}
	r = exp_row(x, "CRC misses such a burst of 4 to 6 after FEC did", "crc_miss_bursts");
	r->exact = 0;
	r->note = "what FEC left of bursts of 4 and 5 has up to 6 wrong symbols: below the "
		  "distance of 9";
	exp_row_share(r, missed, silent, 1);
}
