/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What lost frames cost a link that retries: rate and latency beside the same link without loss,
 * and how long it takes to be itself again after a burst of lost frames. Both ways lose frames and
 * both carry flits, so Acks and Naks are lost too.
 */

#include <stdlib.h>

#include "cli.h"
#include "rig.h"

#define PIECES 4
#define WAY_SLOTS 35 /* a frame of 35 flits, 7 of 5, 35 of 1 */
#define HALF_LOAD 0.5
#define CUTS 32 /* of which the mean is taken */
#define CUT_FROM 2000 /* steps: the link is in full flow by then */
#define CUT_MAX 100 /* frames lost in a row */
#define CUT_SLOTS 60000 /* after which it is again */

enum { USEFUL, WRONG, MADE, LATE, RETRIES };

static const unsigned int retry_frame_flits[] = { 1, 5, 35 };

static struct rig_cfg cfg; /* of the pieces under way */

static void
retry_piece(const struct exp *x, unsigned int i, uint64_t seed, uint64_t *sum)
{
	uint64_t *latency = calloc(RIG_LATENCY_MAX + 1, sizeof(*latency));
	struct rig_result r = { 0 };

	(void)i;
	if (latency == NULL)
		cli_fail("out of memory");
	rig_run(x, &cfg, seed, &r, latency);
	sum[USEFUL] = r.useful;
	sum[WRONG] = r.skips + r.stale;
	sum[RETRIES] = r.replays + r.timeouts;
	for (unsigned int l = 0; l <= RIG_LATENCY_MAX; l++) {
		sum[MADE] += latency[l];
		sum[LATE] += latency[l] * l;
	}
	free(latency);
}

static struct rig_cfg
retry_link(unsigned int frame_flits, bool selective)
{
	return (struct rig_cfg){ .mode = WEFT_MODE_RXL,
		.gap_decoding = true,
		.selective = selective,
		.both_ways = true,
		.frame_flits = frame_flits,
		.there = WAY_SLOTS,
		.back = WAY_SLOTS,
		.load = 1 };
}

/* One row: the ratio to a link that loses nothing, in rate at full load or latency at half. */
static void
retry_ratio_row(struct exp *x, unsigned int frame_flits, double drop, bool selective, bool is_rate)
{
	const char *const kind = selective ? "selective" : "back_n";
	struct exp_row *r = exp_row(x,
		is_rate ? "rate beside that without loss" : "mean latency beside that without loss",
		"%s_%g_f%u_%s", is_rate ? "rate" : "latency", drop, frame_flits, kind);
	uint64_t sum[2][EXP_SUMS];

	for (unsigned int lossy = 0; lossy < 2; lossy++) {
		cfg = retry_link(frame_flits, selective);
		cfg.load = is_rate ? 1 : HALF_LOAD;
		cfg.frame_drop = lossy ? drop : 0;
		cfg.slots = exp_sample(x, 4000000) / PIECES;
		exp_work(x, r->id, retry_piece, PIECES, sum[lossy]);
		if (sum[lossy][WRONG] != 0)
			r->note = "flits out of order";
	}
	if (is_rate)
		r->measured = (double)sum[1][USEFUL] / (double)sum[0][USEFUL];
	else
		r->measured = ((double)sum[1][LATE] / (double)sum[1][MADE]) /
		              ((double)sum[0][LATE] / (double)sum[0][MADE]);
	r->events = sum[1][RETRIES];
	r->sample = sum[1][is_rate ? USEFUL : MADE];
	if (r->note == NULL)
		r->note = "events: replays and time-outs, sample: flits";
}

/* Flits that arrive although so many frames in a row are lost, at one of CUTS times. */
static uint64_t
retry_cut_useful(struct exp *x, struct exp_row *r, unsigned int frame_flits, unsigned int frames,
	unsigned int at)
{
	uint64_t sum[EXP_SUMS];

	cfg = retry_link(frame_flits, true);
	cfg.cut_from = CUT_FROM + at;
	cfg.cut_steps = frames;
	cfg.slots = (uint64_t)(CUT_FROM + CUT_MAX) * frame_flits + CUT_SLOTS;
	exp_work(x, r->id, retry_piece, 1, sum);
	r->events += sum[RETRIES];
	return sum[USEFUL];
}

/* Slots that a burst costs beyond those in which its frames were sent, in round trips. */
static void
retry_cut_row(struct exp *x, unsigned int frame_flits, unsigned int frames)
{
	struct exp_row *r = exp_row(x, "round trips until a burst of lost frames is made good",
		"burst%u_f%u", frames, frame_flits);
	const unsigned int cuts = x->brief ? 1 : CUTS;
	uint64_t lost = 0;

	for (unsigned int at = 0; at < cuts; at++)
		lost += retry_cut_useful(x, r, frame_flits, 0, at) -
		        retry_cut_useful(x, r, frame_flits, frames, at) -
		        (uint64_t)frames * frame_flits;
	r->measured = (double)(int64_t)lost / cuts / (2 * WAY_SLOTS);
	r->sample = cuts;
	r->note = "events: replays and time-outs, sample: bursts";
}

void
exp_llr(struct exp *x)
{
	static const double drops[] = { 0.001, 0.01, 0.02, 0.05 };
	static const unsigned int bursts[] = { 1, 10, CUT_MAX };

	for (unsigned int f = 0; f < WEFT_ARRAY_SIZE(retry_frame_flits); f++)
		for (unsigned int d = 0; d < WEFT_ARRAY_SIZE(drops); d++)
			for (unsigned int selective = 0; selective < 2; selective++) {
				retry_ratio_row(x, retry_frame_flits[f], drops[d], selective, true);
				retry_ratio_row(
					x, retry_frame_flits[f], drops[d], selective, false);
			}
	for (unsigned int f = 0; f < WEFT_ARRAY_SIZE(retry_frame_flits); f++)
		for (unsigned int b = 0; b < WEFT_ARRAY_SIZE(bursts); b++)
			retry_cut_row(x, retry_frame_flits[f], bursts[b]);
}
