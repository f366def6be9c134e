/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Shared by the tests of lib/impair: rates against their expectation, and damage on zero flits. */
#ifndef IMPAIR_TEST_H
#define IMPAIR_TEST_H

#include "weft_test.h"

#include <math.h>

#include "weft_impair.h"

#define FLIT 256
#define RUN WEFT_IMPAIR_RUN_MAX

static inline void
test_wire(struct weft_impair *w, const struct weft_impair_cfg *cfg)
{
	char err[128] = "";

	if (weft_impair_check(cfg, err, sizeof(err)) != 0)
		fail_msg("%s", err);
	assert_int_equal(weft_impair_init(w, cfg), 0);
}

/* Of n tries each with probability p, seen is within 5 sigma. */
static inline void
test_rate(const char *what, uint64_t seen, uint64_t n, double p)
{
	const double mean = (double)n * p, sigma = sqrt(mean * (1 - p));

	if (fabs((double)seen - mean) > 5 * sigma)
		fail_msg("%s: %llu of %llu, expected %.1f +-%.1f", what, (unsigned long long)seen,
			(unsigned long long)n, mean, 5 * sigma);
}

static inline unsigned int
test_wrong_bits(const uint8_t *flit)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < FLIT; i++)
		wrong += (unsigned int)__builtin_popcount(flit[i]);
	return wrong;
}

/* The two wires lose the same of the next frames. */
static inline void
test_same_drops(struct weft_impair *w, struct weft_impair *v, unsigned int frames)
{
	for (unsigned int i = 0; i < frames; i++) {
		struct weft_impair_fate a, b;

		weft_impair_frame(w, &a);
		weft_impair_frame(v, &b);
		assert_int_equal(a.drop, b.drop);
	}
}

#endif /* IMPAIR_TEST_H */
