/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weft-bench --live: how many frames a second go from one port to another, as RFC 2544 looks for
 * it: MRR, what comes when all is sent that the port takes; NDR and PDR, the most that can be sent
 * while nothing, or no more than 0.5 %, is lost.
 */
#ifndef LIVE_H
#define LIVE_H

#include "options.h"
#include "wire.h"

#define LIVE_PDR 0.005 /* of the frames sent */

/** A trial: frames at a rate for a time, and what came of them. */
struct live_trial {
	double intended; /* frames/s; INFINITY: all that the port takes */
	uint64_t sent; /* frames that the port took */
	uint64_t received;
	uint64_t changed; /* of those that were received: not what was sent */
	double seconds;
};

#define LIVE_TRIALS_MAX 32

/** What is known of one length of frames. */
struct live_search {
	struct live_trial trial[LIVE_TRIALS_MAX];
	unsigned int n;
};

/* One that NDR or PDR is looked for by. */
struct live_bound {
	double loss; /* at most */
	double low, high; /* frames/s that were good, and that were not */
	const struct live_trial *best; /* NULL: none was good */
};

/** Send at @p intended frames/s. */
typedef void (*live_try_fn)(void *arg, double intended, struct live_trial *t);

/** Frames/s that a trial sent, and that came of it; share that was lost. */
double live_sent_rate(const struct live_trial *t);
double live_received_rate(const struct live_trial *t);
double live_loss(const struct live_trial *t);

/**
 * Three trials at line rate, and as many as it takes to find the bounds to 1 %. Pure, but for
 * @p try.
 *
 * @param median  receives the one of the three of which most others came less, and most more
 * @param stop    asked before each trial; true: no more
 */
void live_find(struct live_search *s, struct live_bound bound[2], unsigned int *median,
	live_try_fn try, bool (*stop)(void), void *arg);

/**
 * Open the ports, measure each length of frames of the options, report. DPDK is started.
 *
 * @return whether frames came, as they were sent, and all was reported
 */
bool live_run(const struct options *o, struct wire *w, struct bench_params *p);

#endif /* LIVE_H */
