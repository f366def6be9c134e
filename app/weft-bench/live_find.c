/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The search of RFC 2544 section 26.1 by halving, with each trial told to both bounds: one that is
 * good for NDR is good for PDR too.
 */

#include "live_find.h"

#include <math.h>
#include <stddef.h>

#define LINE_TRIALS 3u
#define PRECISION 0.01

double
live_sent_rate(const struct live_trial *t)
{
	return t->seconds > 0 ? (double)t->sent / t->seconds : 0;
}

double
live_received_rate(const struct live_trial *t)
{
	return t->seconds > 0 ? (double)t->received / t->seconds : 0;
}

double
live_loss(const struct live_trial *t)
{
	/* More than was sent comes of a wire that doubles frames: not lost, but not good either. */
	if (t->sent == 0 || t->received > t->sent)
		return 1;
	return (double)(t->sent - t->received) / (double)t->sent;
}

static double
live_rate(const struct live_trial *t)
{
	return isinf(t->intended) ? live_sent_rate(t) : t->intended;
}

static bool
live_is_good(const struct live_bound *b, const struct live_trial *t)
{
	return live_loss(t) <= b->loss && t->changed == 0;
}

/*
 * By all trials so far. A good one counts below the lowest that failed alone: what is lost
 * sometimes is lost.
 */
static void
live_judge(struct live_bound *b, const struct live_search *s)
{
	b->low = 0;
	b->high = INFINITY;
	b->best = NULL;
	for (unsigned int i = 0; i < s->n; i++)
		if (!live_is_good(b, &s->trial[i]))
			b->high = fmin(b->high, live_rate(&s->trial[i]));
	for (unsigned int i = 0; i < s->n; i++) {
		const double rate = live_rate(&s->trial[i]);

		if (live_is_good(b, &s->trial[i]) && rate < b->high && rate >= b->low) {
			b->low = rate;
			b->best = &s->trial[i];
		}
	}
}

static bool
live_is_found(const struct live_bound *b)
{
	return isinf(b->high) || b->high - b->low <= PRECISION * b->high;
}

static void
live_try(struct live_search *s, struct live_bound bound[2], double intended, live_try_fn try,
	void *arg)
{
	struct live_trial *t = &s->trial[s->n++];

	*t = (struct live_trial){ .intended = intended };
	try(arg, intended, t);
	live_judge(&bound[0], s);
	live_judge(&bound[1], s);
}

static unsigned int
live_median(const struct live_search *s)
{
	const double a = live_received_rate(&s->trial[0]), b = live_received_rate(&s->trial[1]),
		     c = live_received_rate(&s->trial[2]);

	return (a <= b) == (b <= c) ? 1 : (b <= a) == (a <= c) ? 0 : 2;
}

/* Where to look next: what came at line rate first, then the middle; far down in larger steps. */
static double
live_next(const struct live_bound *b, double guess)
{
	if (guess < 0.99 * b->high && guess > b->low)
		return guess;
	return b->low > 0 ? (b->low + b->high) / 2 : b->high / 2;
}

void
live_find(struct live_search *s, struct live_bound bound[2], unsigned int *median, live_try_fn try,
	bool (*stop)(void), void *arg)
{
	double by[2]; /* where each is looked for first */

	s->n = 0;
	*median = 0;
	bound[0] = (struct live_bound){ .loss = 0, .high = INFINITY };
	bound[1] = (struct live_bound){ .loss = LIVE_PDR, .high = INFINITY };
	while (s->n < LINE_TRIALS && !stop())
		live_try(s, bound, INFINITY, try, arg);
	if (s->n < LINE_TRIALS)
		return;
	*median = live_median(s);
	by[0] = by[1] = live_received_rate(&s->trial[*median]);
	while (s->n < LIVE_TRIALS_MAX && !stop()) {
		const unsigned int b = live_is_found(&bound[1]) ? 0 : 1;

		if (live_is_found(&bound[b]))
			break;
		live_try(s, bound, live_next(&bound[b], by[b]), try, arg);
		by[b] = 0;
	}
}
