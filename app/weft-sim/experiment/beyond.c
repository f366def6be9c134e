/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the paper does not have: flits that share a frame are lost together, and gap decoding allows
 * to ask for the lost flits alone. Goodput at full load and latency at half load, side by side with
 * going back N.
 */

#include "rig.h"

#define PIECES 4
#define WAY_SLOTS 35 /* a frame of 35 flits, 7 of 5, 35 of 1 */
#define HALF_LOAD 0.5

enum { SLOTS, USEFUL, WRONG };

struct piece_arg {
	struct rig_cfg cfg;
	uint64_t latency[PIECES][RIG_LATENCY_MAX + 1]; /* each piece its own */
};

static struct piece_arg now; /* of the pieces under way */

static void
beyond_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	struct rig_result r = { 0 };

	memset(now.latency[i], 0, sizeof(now.latency[i]));
	rig_run(x, &now.cfg, seed, &r, now.latency[i]);
	sum[SLOTS] = r.slots - now.cfg.there;
	sum[USEFUL] = r.useful;
	sum[WRONG] = r.skips + r.stale;
}

static double
beyond_percentile(double share)
{
	uint64_t all = 0, seen = 0;

	for (unsigned int i = 0; i < PIECES; i++)
		for (unsigned int l = 0; l <= RIG_LATENCY_MAX; l++)
			all += now.latency[i][l];
	for (unsigned int l = 0; l < RIG_LATENCY_MAX; l++) {
		for (unsigned int i = 0; i < PIECES; i++)
			seen += now.latency[i][l];
		if ((double)seen >= share * (double)all)
			return l * PAPER_SLOT_NS;
	}
	return EXP_NONE; /* beyond what is kept */
}

/* One way of losing flits under one way of retrying. */
struct outcome {
	double loss, p50, p99, p999;
	uint64_t useful, wrong;
};

static struct outcome
beyond_measure(const struct exp *x, bool single, bool together, unsigned int n, double rate)
{
	struct outcome o = { 0 };
	uint64_t sum[EXP_SUMS];

	now.cfg = (struct rig_cfg){ .mode = WEFT_MODE_RXL,
		.gap_decoding = single,
		.selective = single,
		.uncorrectable = together ? 0 : rate,
		.frame_drop = together ? rate : 0,
		.frame_flits = n,
		.there = WAY_SLOTS,
		.back = WAY_SLOTS,
		.slots = exp_sample(x, 2000000) / PIECES };
	for (unsigned int full = 0; full < 2; full++) {
		now.cfg.load = full ? 1 : HALF_LOAD;
		exp_work(x, full ? "goodput" : "latency", beyond_piece, PIECES, sum);
		o.useful += sum[USEFUL];
		o.wrong += sum[WRONG];
		if (full) {
			o.loss = 1 - (double)sum[USEFUL] / (double)sum[SLOTS];
		} else {
			o.p50 = beyond_percentile(0.5);
			o.p99 = beyond_percentile(0.99);
			o.p999 = beyond_percentile(0.999);
		}
	}
	return o;
}

/* Flits a frame, and whether they are lost together. */
struct loss_case {
	unsigned int flits;
	bool together;
};

static void
beyond_add_outcome(
	struct exp *x, const struct loss_case *c, double rate, bool single, const struct outcome *o)
{
	json_array_append_new(
		x->beyond, json_pack("{s:i, s:s, s:f, s:s, s:o, s:o, s:o, s:o}", "frame_flits",
				   (int)c->flits, "lost", c->together ? "frames" : "flits", "rate",
				   rate, "retry", single ? "single" : "back-n", "goodput_loss",
				   exp_number(o->loss), "p50_ns", exp_number(o->p50), "p99_ns",
				   exp_number(o->p99), "p999_ns", exp_number(o->p999)));
}

void
exp_beyond(struct exp *x)
{
	static const struct loss_case cases[] = { { 1, true }, { 5, false }, { 5, true },
		{ 35, false }, { 35, true } };
	static const double rates[] = { 1e-4, 1e-3, 1e-2 };
	struct exp_row *r = exp_row(x, "order failures with frames lost whole", "order_frames");
	uint64_t useful = 0, wrong = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(cases); i++)
		for (unsigned int q = 0; q < WEFT_ARRAY_SIZE(rates); q++)
			for (unsigned int single = 0; single < 2; single++) {
				struct outcome o = beyond_measure(
					x, single, cases[i].together, cases[i].flits, rates[q]);

				useful += o.useful;
				wrong += o.wrong;
				beyond_add_outcome(x, &cases[i], rates[q], single, &o);
			}
	r->exact = 0;
	r->note = "1, 5 and 35 flits a frame, 1e-4 to 1e-2 of them lost, with both kinds of retry";
	exp_row_rate(r, wrong, useful, 1);
}
