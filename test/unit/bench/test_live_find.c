/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The search of weft-bench --live over wires that are made up: 1000 frames/s are line rate. */

#include "weft_test.h"

#include <math.h>

#include "live_find.h"

#define LINE 1000.0

/* Loses this share above a rate, and 2 % of one trial. */
struct wire_of_test {
	double keeps, loss; /* frames/s; share of what is sent above */
	unsigned int bad, n; /* the trial that loses, 0: none; trials so far */
};

static void
find_try(void *arg, double intended, struct live_trial *t)
{
	struct wire_of_test *w = arg;
	const double rate = fmin(intended, LINE);
	double loss = rate > w->keeps ? w->loss : 0;

	if (++w->n == w->bad)
		loss = 0.02;
	t->seconds = 1000;
	t->sent = (uint64_t)(rate * t->seconds);
	t->received = (uint64_t)((double)t->sent * (1 - loss));
}

static bool
find_goes_on(void)
{
	return false;
}

static void
find(struct wire_of_test w, struct live_search *s, struct live_bound bound[2])
{
	unsigned int median;

	live_find(s, bound, &median, find_try, find_goes_on, &w);
	assert_int_equal(s->n, w.n);
}

static double
find_rate(const struct live_bound *b)
{
	assert_non_null(b->best);
	return live_sent_rate(b->best);
}

WEFT_TEST(a_wire_that_loses_nothing_is_done_with_three_trials)
{
	struct live_bound bound[2];
	struct live_search s;

	find((struct wire_of_test){ .keeps = LINE }, &s, bound);
	assert_int_equal(s.n, 3);
	assert_true(find_rate(&bound[0]) == LINE && find_rate(&bound[1]) == LINE);
}

WEFT_TEST(bounds_are_found_to_a_hundredth)
{
	struct live_bound bound[2];
	struct live_search s;

	find((struct wire_of_test){ .keeps = 400, .loss = 0.003 }, &s, bound);
	assert_true(find_rate(&bound[1]) == LINE);
	assert_true(find_rate(&bound[0]) <= 400 && find_rate(&bound[0]) >= 400 * 0.98);
	find((struct wire_of_test){ .keeps = 400, .loss = 0.1 }, &s, bound);
	for (unsigned int b = 0; b < 2; b++)
		assert_true(find_rate(&bound[b]) <= 400 && find_rate(&bound[b]) >= 400 * 0.98);
}

WEFT_TEST(no_trial_spoils_pdr_and_not_ndr)
{
	struct live_bound bound[2];
	struct live_search s;

	for (unsigned int bad = 1; bad <= LIVE_TRIALS_MAX; bad++) {
		find((struct wire_of_test){ .keeps = 400, .loss = 0.006, .bad = bad }, &s, bound);
		assert_true(find_rate(&bound[1]) >= find_rate(&bound[0]));
		find((struct wire_of_test){ .keeps = 400, .loss = 0.003, .bad = bad }, &s, bound);
		assert_true(find_rate(&bound[1]) >= find_rate(&bound[0]));
	}
}
