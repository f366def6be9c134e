/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The search for MRR, NDR and PDR (live.h). Pure, but for the trials, which are the caller's. */
#ifndef LIVE_FIND_H
#define LIVE_FIND_H

#include <stdbool.h>
#include <stdint.h>

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

#endif /* LIVE_FIND_H */
