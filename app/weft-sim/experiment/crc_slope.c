/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How often a CRC passes what FEC missed (reliability.md section 3.3). 2^-64 cannot be seen, so 8,
 * 12 and 16 bits of the 64-bit CRC's syndrome are looked at: every such window of it, side by side,
 * is one trial. Part of a remainder is not a shorter CRC: it has no distance. But each bit of it is
 * a linear form of the errors, so of random wide errors it passes 2^-bits all the same. Narrow ones
 * would not do: what FEC leaves of 5 wrong symbols passes 16 bits twice as often.
 */

#include <math.h>

#include "exp.h"
#include "weft_fec.h"
#include "weft_wire.h"

#define PIECES 32
#define RUN WEFT_IMPAIR_RUN_MAX
#define WIDE_BURST "burst=16"

static const unsigned int widths[] = { 8, 12, 16 };

enum { MISSED_BY_FEC, PASSED, PASSED_ALL = PASSED + WEFT_ARRAY_SIZE(widths) };

/* Windows of the syndrome that are zero. */
static unsigned int
slope_windows_passed(uint64_t syndrome, unsigned int width)
{
	unsigned int n = 0;

	for (unsigned int at = 0; at + width <= 64; at += width)
		n += (syndrome >> at & weft_mask64(width)) == 0;
	return n;
}

static void
slope_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	const uint64_t runs = exp_sample_rare(x, 40000000) / PIECES / RUN;
	uint8_t good[RUN * WEFT_WIRE_FLIT_LEN], bad[sizeof(good)];
	struct weft_impair wire;

	(void)i;
	exp_wire(&wire, seed, WIDE_BURST);
	exp_flits(x, seed, good, RUN);
	for (uint64_t r = 0; r < runs; r++) {
		const uint8_t *flit[RUN];
		uint64_t syndrome[RUN];
		struct weft_fec_result res;
		unsigned int n = 0;

		memcpy(bad, good, sizeof(bad));
		weft_impair_flits(&wire, bad, RUN);
		weft_fec_decode(x->codec.fec, bad, RUN, &res);
		for (unsigned int k = 0; k < RUN; k++)
			if (!(res.uncorrectable & WEFT_BIT64(k)))
				flit[n++] = bad + (size_t)k * WEFT_WIRE_FLIT_LEN;
		weft_codec_syndromes(&x->codec, flit, n, WEFT_CRC_R0_FIRST, syndrome);
		sum[MISSED_BY_FEC] += n;
		for (unsigned int k = 0; k < n; k++) {
			for (unsigned int w = 0; w < WEFT_ARRAY_SIZE(widths); w++)
				sum[PASSED + w] += slope_windows_passed(syndrome[k], widths[w]);
			sum[PASSED_ALL] += syndrome[k] == 0;
		}
	}
}

/* log2 of the share that passes, by bits: a line through the widths, weighted by what was seen. */
struct line {
	double at_mean, slope, mean;
	double var_at_mean, var_slope;
};

static struct line
slope_fit(const uint64_t *sum)
{
	struct line l = { 0 };
	double weights = 0, ww = 0, wy = 0;

	for (unsigned int pass = 0; pass < 2; pass++) {
		for (unsigned int w = 0; w < WEFT_ARRAY_SIZE(widths); w++) {
			double seen = (double)sum[PASSED + w];
			double y = log2(seen / (double)(sum[MISSED_BY_FEC] * (64 / widths[w])));

			if (seen == 0)
				continue;
			if (pass == 0) {
				weights += seen;
				l.mean += seen * widths[w];
			} else {
				double d = widths[w] - l.mean;

				ww += seen * d * d;
				wy += seen * d * y;
				l.at_mean += seen * y / weights;
			}
		}
		if (pass == 0)
			l.mean /= weights;
	}
	l.slope = wy / ww;
	/* The variance of log2 of a count n is 1 / (n ln 2 ^ 2). */
	l.var_at_mean = 1 / (weights * M_LN2 * M_LN2);
	l.var_slope = 1 / (ww * M_LN2 * M_LN2);
	return l;
}

static void
slope_set_normal(struct exp_row *r, double middle, double sigma)
{
	r->measured = middle;
	r->shown = (struct stats_range){ middle - 1.96 * sigma, middle + 1.96 * sigma };
	r->far = (struct stats_range){ middle - 4 * sigma, middle + 4 * sigma };
}

void
exp_crc_slope(struct exp *x)
{
	static const char *const what[] = { "8 bits of the CRC pass what FEC missed",
		"12 bits of the CRC pass what FEC missed",
		"16 bits of the CRC pass what FEC missed" };
	uint64_t sum[EXP_SUMS];
	struct exp_row *r;
	struct line l;

	exp_work(x, "crc", slope_piece, PIECES, sum);
	for (unsigned int w = 0; w < WEFT_ARRAY_SIZE(widths); w++) {
		r = exp_row(x, what[w], "crc_miss_%u", widths[w]);
		r->exact = ldexp(1, -(int)widths[w]);
		r->note = "windows of the 64-bit remainder: no shorter CRC, but of random errors "
			  "they pass 2^-bits too";
		exp_row_share(r, sum[PASSED + w], sum[MISSED_BY_FEC] * (64 / widths[w]), 1);
		json_array_append_new(x->crc,
			json_pack("{s:i, s:o, s:o, s:o}", "bits", (int)widths[w], "measured",
				exp_number(r->measured), "low", exp_number(r->shown.low), "high",
				exp_number(r->shown.high)));
	}
	l = slope_fit(sum);
	r = exp_row(x, "log2 of what passes, by bit of CRC", "crc_slope");
	r->exact = -1;
	r->events = sum[PASSED];
	r->sample = sum[MISSED_BY_FEC];
	slope_set_normal(r, l.slope, sqrt(l.var_slope));
	r = exp_row(x, "log2 of what 64 bits pass, extrapolated", "crc_log2_miss_64");
	r->paper = -64;
	r->exact = -64;
	r->events = sum[PASSED];
	r->sample = sum[MISSED_BY_FEC];
	r->note = "an extrapolation of the line through 8, 12 and 16 bits; nobody sees 2^-64";
	slope_set_normal(r, l.at_mean + l.slope * (64 - l.mean),
		sqrt(l.var_at_mean + l.var_slope * (64 - l.mean) * (64 - l.mean)));
	r = exp_row(x, "64 bits pass what FEC missed", "crc_miss_64");
	r->exact = 0x1p-64;
	r->note = "none seen: the bound that this sample allows";
	exp_row_share(r, sum[PASSED_ALL], sum[MISSED_BY_FEC], 1);
}
