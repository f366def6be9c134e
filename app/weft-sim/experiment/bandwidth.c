/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Bandwidth that retries cost, going back N with a round trip of 50 slots (reliability.md section
 * 3.5, equations 11 to 14), and what Acks in flits of their own cost on top.
 */

#include <stdio.h>

#include "rig.h"

#define PIECES 16
#define Q 1e-4 /* retries of retries are rare here, and events ten times as many as at 3e-5 */

enum { SLOTS, USEFUL, REPLAYS, NOPS_BACK };

static struct rig_cfg cfg; /* of the pieces under way */

static void
bandwidth_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	struct rig_result r = { 0 };

	(void)i;
	rig_run(x, &cfg, seed, &r, NULL);
	sum[SLOTS] = r.slots;
	sum[USEFUL] = r.useful;
	sum[REPLAYS] = r.replays;
	sum[NOPS_BACK] = r.nops_back;
}

/* Loss by equations 11, 12 and 14: a retry takes a round trip. */
static double
bandwidth_loss(unsigned int links, double fer_uc)
{
	return 1 - 1 / (1 + PAPER_ROUND_TRIP * links * fer_uc);
}

/* Slots lost a useful flit, from Q to what the paper has, as a share of all slots. */
static double
bandwidth_scaled_loss(double lost_by_useful)
{
	double at_paper = lost_by_useful * PAPER_FER_UC / Q;

	return at_paper / (1 + at_paper);
}

static struct exp_row *
bandwidth_loss_row(struct exp *x, const char *id, const char *what, const char *topic,
	enum weft_mode mode, unsigned int levels)
{
	struct exp_row *r = exp_row(x, what, "%s", id);
	struct stats_range shown, far;
	uint64_t sum[EXP_SUMS];
	double lost;

	cfg = rig_paper(mode, levels, Q, exp_sample(x, 30000000) / PIECES);
	exp_work(x, topic, bandwidth_piece, PIECES, sum);
	/* The way itself holds flits at the end of each piece. */
	sum[SLOTS] -= (uint64_t)PIECES * cfg.there;
	lost = (double)(sum[SLOTS] - sum[USEFUL]) / (double)sum[USEFUL];
	shown = stats_count(sum[REPLAYS], STATS_CONFIDENCE);
	far = stats_count(sum[REPLAYS], STATS_FAR);
	r->exact = bandwidth_loss(levels + 1, PAPER_FER_UC);
	r->events = sum[REPLAYS];
	r->sample = sum[SLOTS];
	r->measured = bandwidth_scaled_loss(lost);
	lost /= (double)sum[REPLAYS];
	r->shown = (struct stats_range){ bandwidth_scaled_loss(lost * shown.low),
		bandwidth_scaled_loss(lost * shown.high) };
	r->far = (struct stats_range){ bandwidth_scaled_loss(lost * far.low),
		bandwidth_scaled_loss(lost * far.high) };
	r->note = "measured at q = 1e-4 and scaled to 3e-5; interval by the number of retries";
	return r;
}

/* Acks in flits of their own: what they take of the slots of the way back. */
static void
bandwidth_separate_acks(struct exp *x, const struct exp_row *direct)
{
	struct exp_row *r = exp_row(
		x, "bandwidth lost with separate Acks, CXL (eq. 13)", "bwloss_separate_acks");
	uint64_t sum[EXP_SUMS];
	double scale;

	cfg = rig_paper(WEFT_MODE_CXL, 0, PAPER_FER_UC, exp_sample(x, 4000000) / PIECES);
	cfg.one_way = true;
	exp_work(x, "acks", bandwidth_piece, PIECES, sum);
	exp_row_rate(r, sum[NOPS_BACK], sum[USEFUL], 1);
	scale = 1 - direct->measured;
	r->measured = direct->measured + r->measured * scale;
	r->shown.low = direct->shown.low + r->shown.low * scale;
	r->shown.high = direct->shown.high + r->shown.high * scale;
	r->far.low = direct->far.low + r->far.low * scale;
	r->far.high = direct->far.high + r->far.high * scale;
	r->paper = PAPER_P;
	r->paper_half = 0.005;
	r->exact = PAPER_P + direct->exact * (1 - PAPER_P);
	r->note = "eq. 13 is the Acks alone: here with the retries of a direct link";
}

/* Equation 13 and the paper's section 7.2.2 at other levels, up to an Ack for every flit. */
static void
bandwidth_acks_of_other_levels(struct exp *x)
{
	static const uint16_t every[] = { 20, 5, 2, 1 };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(every); i++) {
		const double p = 1.0 / every[i];
		struct exp_row *r = exp_row(
			x, "bandwidth that separate Acks take (eq. 13)", "bwloss_acks_p%g", p);
		uint64_t sum[EXP_SUMS];
		char topic[16];

		snprintf(topic, sizeof(topic), "acks%u", every[i]);
		cfg = rig_paper(WEFT_MODE_CXL, 0, PAPER_FER_UC, exp_sample(x, 4000000) / PIECES);
		cfg.one_way = true;
		cfg.ack_every = every[i];
		exp_work(x, topic, bandwidth_piece, PIECES, sum);
		exp_row_rate(r, sum[NOPS_BACK], sum[USEFUL], 1);
		r->paper = r->exact = p;
		r->paper_half = 0.005;
		r->note = every[i] == 1
		                  ? "an Ack for every flit: the way back has room for nothing else"
		                  : "Acks alone; of the way back's slots";
	}
}

void
exp_bandwidth(struct exp *x)
{
	struct exp_row *direct, *r;

	direct = bandwidth_loss_row(x, "bwloss_direct", "bandwidth lost, direct, CXL (eq. 11)",
		"bw0", WEFT_MODE_CXL, 0);
	direct->paper = 0.0015;
	direct->paper_half = 0.00005;
	r = bandwidth_loss_row(x, "bwloss_l1", "bandwidth lost, one switch, RXL (eq. 14)", "bw1",
		WEFT_MODE_RXL, 1);
	r->paper = 0.0030;
	r->paper_half = 0.00005;
	r = bandwidth_loss_row(x, "bwloss_cxl_l1", "bandwidth lost, one switch, CXL (eq. 12)",
		"bw1cxl", WEFT_MODE_CXL, 1);
	r->paper = 0.0030;
	r->paper_half = 0.00005;
	bandwidth_separate_acks(x, direct);
	bandwidth_acks_of_other_levels(x);
}
