/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a host sees of an order failure, with real messages in the flits (figure 5 of the paper),
 * order failures at other levels of coalescing, the flit without FSN of section 6.2, and the buffer
 * that single-flit retry needs (section 5).
 */

#include <stdio.h>

#include "rig.h"
#include "weft_msg.h"

#define PIECES 16
#define Q 1e-3
#define ACK_MESSAGE_BITS 16 /* type, kind of answer, number: 4, 2 and 10 */
#define FSN_BITS 12
#define SELECTIVE_NS 1000 /* of section 5: from a flit to the end of what follows it */

enum { USEFUL, SKIPS, STALE, MESSAGES, EARLY, TWICE, LATE, ACK_MESSAGES, ACK_FLITS };

static struct rig_cfg cfg; /* of the pieces under way */
static uint64_t held_max[PIECES]; /* each piece its own */

static void
figure_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	struct rig_result r = { 0 };

	rig_run(x, &cfg, seed, &r, NULL);
	sum[USEFUL] = r.useful;
	sum[SKIPS] = r.skips;
	sum[STALE] = r.stale;
	sum[MESSAGES] = r.messages;
	sum[EARLY] = r.early;
	sum[TWICE] = r.twice;
	sum[LATE] = r.late;
	sum[ACK_MESSAGES] = r.ack_messages;
	sum[ACK_FLITS] = r.ack_flits;
	held_max[i] = r.held_max;
}

static void
figure_run(const struct exp *x, const char *topic, enum weft_mode mode, int kind, uint64_t *sum)
{
	cfg = rig_paper(mode, 1, Q, exp_sample(x, 8000000) / PIECES);
	cfg.has_messages = true;
	cfg.kind = (uint8_t)kind;
	exp_work(x, topic, figure_piece, PIECES, sum);
}

/* --- figure 5 --- */

static void
figure_5a(struct exp *x)
{
	uint64_t sum[EXP_SUMS];
	struct exp_row *r;

	figure_run(x, "fig5a-cxl", WEFT_MODE_CXL, WEFT_MSG_M2S_REQ, sum);
	r = exp_row(x, "requests carried out twice, an order failure, CXL", "fig5a_cxl_twice");
	r->paper = r->exact = 1;
	r->note = "figure 5a: the request that overtook comes once more with the replay";
	exp_row_rate(r, sum[TWICE], sum[EARLY], 1);
	r = exp_row(x, "requests never carried out, an order failure, CXL", "fig5a_cxl_never");
	r->paper = 0;
	r->exact = 1;
	r->note = "figure 5a has the lost request come with the replay: there the receiver knows "
		  "which one is missing. Here the one that overtook was counted in its place, "
		  "so the replay begins behind it";
	exp_row_rate(r, sum[EARLY] - sum[LATE], sum[EARLY], 1);
	figure_run(x, "fig5a-rxl", WEFT_MODE_RXL, WEFT_MSG_M2S_REQ, sum);
	r = exp_row(x, "requests carried out twice, RXL", "fig5a_rxl");
	r->paper = r->exact = 0;
	r->note = "none seen at q = 1e-3, nor any out of order: the upper end is 3/N";
	exp_row_rate(r, sum[TWICE] + sum[EARLY], sum[MESSAGES], 1);
}

static void
figure_5b(struct exp *x)
{
	uint64_t sum[EXP_SUMS];
	struct exp_row *r;

	figure_run(x, "fig5b-cxl", WEFT_MODE_CXL, WEFT_MSG_S2M_DRS, sum);
	r = exp_row(x, "data of one queue out of order, a message, CXL", "fig5b_cxl");
	r->paper = PAPER_FER_UC * PAPER_P;
	r->paper_half = 0.05e-6;
	r->exact = PAPER_FER_UC * PAPER_P;
	r->note = "figure 5b: data came though data before it is missing; a flit has one message. "
		  "Measured at q = 1e-3 and scaled to 3e-5";
	exp_row_rate(r, sum[EARLY], sum[MESSAGES], PAPER_FER_UC / Q);
	figure_run(x, "fig5b-rxl", WEFT_MODE_RXL, WEFT_MSG_S2M_DRS, sum);
	r = exp_row(x, "data of one queue out of order, RXL", "fig5b_rxl");
	r->paper = r->exact = 0;
	r->note = "none seen at q = 1e-3: the upper end is 3/N";
	exp_row_rate(r, sum[EARLY] + sum[TWICE], sum[MESSAGES], 1);
}

/* --- equation 7 and section 7.2.2 at other levels of coalescing --- */

static void
figure_other_levels(struct exp *x)
{
	static const uint16_t every[] = { 20, 5, 2 };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(every); i++) {
		const double p = 1.0 / every[i];
		struct exp_row *r = exp_row(
			x, "order failures a flit, CXL, by share of Acks", "order_cxl_p%g", p);
		uint64_t sum[EXP_SUMS];
		char topic[16];

		snprintf(topic, sizeof(topic), "order-p%u", every[i]);
		cfg = rig_paper(WEFT_MODE_CXL, 1, Q, exp_sample(x, 8000000) / PIECES);
		cfg.ack_every = every[i];
		exp_work(x, topic, figure_piece, PIECES, sum);
		r->paper = r->exact = PAPER_FER_UC * p;
		r->paper_half = 0.05e-6;
		r->note = "eq. 7 at another p_coalescing";
		exp_row_rate(r, sum[SKIPS], sum[USEFUL], PAPER_FER_UC / Q);
	}
}

/* --- section 6.2 --- */

static void
figure_without_fsn(struct exp *x)
{
	uint64_t sum[EXP_SUMS];
	struct exp_row *r, *acks;

	cfg = rig_paper(WEFT_MODE_RXL, 1, Q, exp_sample(x, 8000000) / PIECES);
	cfg.no_fsn = true;
	exp_work(x, "no-fsn", figure_piece, PIECES, sum);
	r = exp_row(x, "order failures a flit, RXL without FSN (6.2)", "order_rxl_no_fsn");
	r->paper = r->exact = 0;
	r->note =
		"12 bits less of header; Acks and Naks are packed messages. None seen at q = 1e-3";
	exp_row_rate(r, sum[SKIPS] + sum[STALE], sum[USEFUL], 1);
	acks = exp_row(x, "flits with an Ack message, RXL without FSN", "ack_share_no_fsn");
	acks->note = "Acks by count, both ways, and the Naks of q = 1e-3";
	exp_row_rate(acks, sum[ACK_MESSAGES], sum[ACK_FLITS], 1);
	r = exp_row(x, "bits of payload gained a flit, RXL without FSN", "gain_no_fsn");
	r->measured = FSN_BITS - ACK_MESSAGE_BITS * acks->measured;
	r->shown.low = FSN_BITS - ACK_MESSAGE_BITS * acks->shown.high;
	r->shown.high = FSN_BITS - ACK_MESSAGE_BITS * acks->shown.low;
	r->far.low = FSN_BITS - ACK_MESSAGE_BITS * acks->far.high;
	r->far.high = FSN_BITS - ACK_MESSAGE_BITS * acks->far.low;
	r->events = acks->events;
	r->sample = acks->sample;
	r->note = "the 12 bits of the paper less what its Acks take as messages of 16 bits, the "
		  "least there can be: with an Ack for every flit it would lose 4";
}

/* --- section 5 --- */

static void
figure_selective_buffer(struct exp *x)
{
	const unsigned int slots = SELECTIVE_NS / PAPER_SLOT_NS;
	struct exp_row *r =
		exp_row(x, "bits of Rx buffer for single-flit retry, 1 us", "buffer_selective");
	uint64_t sum[EXP_SUMS], most = 0;

	/*
	 * A Nak that the next flit from the other end carries: the way there and back is the delay.
	 */
	cfg = rig_paper(WEFT_MODE_RXL, 0, 1e-5, exp_sample_rare(x, 8000000) / PIECES);
	cfg.gap_decoding = cfg.selective = true;
	cfg.there = cfg.back = slots / 2 / 8 * 8;
	exp_work(x, "buffer", figure_piece, PIECES, sum);
	for (unsigned int i = 0; i < PIECES; i++)
		if (held_max[i] > most)
			most = held_max[i];
	r->paper = 1e6;
	r->paper_half = 0.05e6;
	r->exact = 2048.0 * (cfg.there + cfg.back);
	r->measured = 2048.0 * (double)most;
	r->events = most;
	r->sample = sum[USEFUL];
	/* A flit more or less: whether the Nak rides in the next flit. */
	r->shown = r->far = (struct stats_range){ r->measured - 3 * 2048, r->measured + 3 * 2048 };
	r->note = "the most flits that waited for one that was asked for again, of 2048 bits; the "
		  "paper rounds 1 us at 1 Tb/s";
}

void
exp_figures(struct exp *x)
{
	figure_5a(x);
	figure_5b(x);
	figure_other_levels(x);
	figure_without_fsn(x);
	figure_selective_buffer(x);
}
