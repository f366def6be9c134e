/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Order failures behind switches that drop silently, and the failures in time that follow
 * (reliability.md section 3.4). At the paper's q too little happens, so q is larger here and the
 * rate scaled by the law: L q p a useful flit. One row without that checks it.
 */

#include <stdio.h>

#include "rig.h"

#define PIECES 16
#define LEVELS 4
#define Q 1e-3

enum { SLOTS, USEFUL, SKIPS, STALE, SENT, ACKS, TIMEOUTS };

static struct rig_cfg cfg; /* of the pieces under way */

static void
order_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	struct rig_result r = { 0 };

	(void)i;
	rig_run(x, &cfg, seed, &r, NULL);
	sum[SLOTS] = r.slots;
	sum[USEFUL] = r.useful;
	sum[SKIPS] = r.skips;
	sum[STALE] = r.stale;
	sum[SENT] = r.sent + r.resent;
	sum[ACKS] = r.acks;
	sum[TIMEOUTS] = r.timeouts;
}

static void
order_run(const struct exp *x, const char *topic, enum weft_mode mode, unsigned int levels,
	double q, uint64_t slots, uint64_t *sum)
{
	cfg = rig_paper(mode, levels, q, slots / PIECES);
	exp_work(x, topic, order_piece, PIECES, sum);
}

/* --- rows --- */

static void
order_add_fit(struct exp *x, unsigned int levels, const char *mode, const struct exp_row *r)
{
	json_array_append_new(x->fit,
		json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "levels", (int)levels, "mode", mode,
			"exact", exp_number(r->exact), "measured", exp_number(r->measured), "low",
			exp_number(r->shown.low), "high", exp_number(r->shown.high)));
}

static struct stats_range
order_times(struct stats_range r, double by)
{
	return (struct stats_range){ r.low * by, r.high * by };
}

/* Failures in 1e9 h from the order failures of @p order. */
static void
order_fit(struct exp *x, unsigned int levels, const struct exp_row *order)
{
	struct exp_row *r = exp_row(x, "FIT of CXL by order failures", "fit_cxl_l%u", levels);

	r->paper = levels == 1 ? 5.4e15 : EXP_NONE;
	r->paper_half = 0.05e15;
	r->exact = order->exact * FIT_OF_RATE;
	r->measured = order->measured * FIT_OF_RATE;
	r->shown = order_times(order->shown, FIT_OF_RATE);
	r->far = order_times(order->far, FIT_OF_RATE);
	r->events = order->events;
	r->sample = order->sample;
	r->note = "at 5e8 flits/s; for r flits/s multiply by r / 5e8";
	order_add_fit(x, levels, "cxl", r);
}

static void
order_of_cxl(struct exp *x)
{
	uint64_t sum[EXP_SUMS];
	struct exp_row *r;

	for (unsigned int levels = 1; levels <= LEVELS; levels++) {
		char topic[16];

		snprintf(topic, sizeof(topic), "cxl%u", levels);
		order_run(x, topic, WEFT_MODE_CXL, levels, Q, exp_sample(x, 10000000), sum);
		r = exp_row(x, "order failures a flit, CXL", "order_cxl_l%u", levels);
		r->paper = levels == 1 ? PAPER_FER_UC * PAPER_P : EXP_NONE;
		r->paper_half = 0.05e-6;
		r->exact = levels * PAPER_FER_UC * PAPER_P;
		r->note = "L q p with Acks in one flit of ten; measured at q = 1e-3, where 33 "
			  "times as "
			  "much happens, and scaled to q = 3e-5";
		exp_row_rate(r, sum[SKIPS], sum[USEFUL], PAPER_FER_UC / Q);
		order_fit(x, levels, r);
		if (levels != 1)
			continue;
		r = exp_row(x, "flits that carry an Ack, CXL", "ack_share_cxl");
		r->paper = r->exact = PAPER_P;
		r->note = "of all sent by one end; it tells no number of its own in these";
		exp_row_rate(r, sum[ACKS], sum[SENT], 1);
		r = exp_row(x, "flits handed up twice, an order failure", "order_cxl_repeats");
		r->note = "the flit that hid the loss was counted as the lost one, so the lost one "
			  "never "
			  "comes";
		exp_row_rate(r, sum[STALE], sum[SKIPS], 1);
	}
	order_run(
		x, "cxl-plain", WEFT_MODE_CXL, 1, PAPER_FER_UC, exp_sample_rare(x, 30000000), sum);
	r = exp_row(x, "the same at q = 3e-5, plain", "order_cxl_l1_plain");
	r->paper = r->exact = PAPER_FER_UC * PAPER_P;
	exp_row_rate(r, sum[SKIPS], sum[USEFUL], 1);
}

static void
order_of_rxl(struct exp *x)
{
	uint64_t sum[EXP_SUMS];

	for (unsigned int levels = 1; levels <= LEVELS; levels++) {
		struct exp_row *r =
			exp_row(x, "order failures a flit, RXL", "order_rxl_l%u", levels);
		char topic[16];

		snprintf(topic, sizeof(topic), "rxl%u", levels);
		order_run(x, topic, WEFT_MODE_RXL, levels, Q, exp_sample(x, 25000000), sum);
		r->paper = r->exact = 0;
		r->note =
			"none seen at q = 1e-3: the upper end is 3/N, at a loss rate 33 times the "
			"paper's";
		exp_row_rate(r, sum[SKIPS] + sum[STALE], sum[USEFUL], 1);
	}
}

static void
order_set_product(struct exp_row *r, const struct exp_row *uc, double by)
{
	r->exact = uc->exact * by;
	r->measured = uc->measured * by;
	r->shown = order_times(uc->shown, by);
	r->far = order_times(uc->far, by);
	r->events = uc->events;
	r->sample = uc->sample;
}

/* Undetected errors of one link: equations 4 and 9. */
static void
order_undetected(struct exp *x)
{
	struct exp_row *r = exp_row(x, "undetected errors a flit (eq. 4)", "fer_ud");

	order_set_product(r, x->fer_uc_burst, 0x1p-64);
	r->paper = 1.6e-24;
	r->paper_half = 0.05e-24;
	r->note = "FER_UC measured, times 2^-64: an extrapolation (see crc_slope)";
	r = exp_row(x, "undetected errors a flit, eq. 9 as printed", "fer_ud_eq9");
	order_set_product(r, x->fer_uc_burst, 0x1p-64);
	r->exact += 0x1p-64;
	r->measured += 0x1p-64;
	r->shown.low += 0x1p-64;
	r->shown.high += 0x1p-64;
	r->far.low += 0x1p-64;
	r->far.high += 0x1p-64;
	r->paper = 1.6e-24;
	r->note = "a misprint: (1 + FER_UC) 2^-64 is 5.4e-20, 98 FIT; the 1.6e-24 that is printed "
		  "next to it needs FER_UC (1 + FER_UC) 2^-64";
}

/*
 * What FEC-only switches let through reaches the end: FER_UC (1 + L m) 2^-64, m the share of
 * uncorrectable flits that FEC misses, as of bursts of 4 symbols, the most frequent ones.
 */
static void
order_fit_of_rxl(struct exp *x)
{
	const struct exp_row *uc = x->fer_uc_burst, *noticed = x->fec_detect_4;
	double missed = (double)x->channel_missed / (double)x->channel_uncorrectable;
	struct exp_row *r;

	for (unsigned int levels = 0; levels <= LEVELS; levels++) {
		r = exp_row(x, "FIT of RXL by corrupt data", "fit_rxl_l%u", levels);
		order_set_product(r, uc, 0x1p-64 * FIT_OF_RATE);
		r->exact *= 1 + levels * (1 - noticed->exact);
		r->measured *= 1 + levels * (1 - noticed->measured);
		r->shown.low *= 1 + levels * (1 - noticed->shown.high);
		r->shown.high *= 1 + levels * (1 - noticed->shown.low);
		r->far.low *= 1 + levels * (1 - noticed->far.high);
		r->far.high *= 1 + levels * (1 - noticed->far.low);
		r->note = levels == 0 ? "eq. 5, direct; also CXL's"
		          : levels == 1
		                  ? "the paper lets no link before the last one count; a third "
		                    "of what its switch cannot put right passes the switch"
		                  : NULL;
		if (levels <= 1) {
			r->paper = 2.9e-3;
			r->paper_half = 0.05e-3;
		}
		order_add_fit(x, levels, "rxl", r);
		if (levels == 0)
			order_add_fit(x, levels, "cxl", r);
	}
	r = exp_row(x, "the same, misses of the whole channel", "fit_rxl_l1_channel");
	order_set_product(r, uc, 0x1p-64 * FIT_OF_RATE * (1 + missed));
	r->exact = EXP_NONE;
	r->note = "with the measured share of all bursts (fec_detect_channel), not of 4 symbols";
}

void
exp_order(struct exp *x)
{
	order_of_cxl(x);
	order_of_rxl(x);
	order_undetected(x);
	order_fit_of_rxl(x);
}
