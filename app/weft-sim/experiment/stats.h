/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Intervals for shares and counts, exact ones: right for few events and for none. */
#ifndef STATS_H
#define STATS_H

#include <stdint.h>

#define STATS_CONFIDENCE 0.95 /* of what is shown */
#define STATS_FAR 0.99993666 /* four sigma: of what is held against a result */

struct stats_range {
	double low, high;
};

/** Clopper-Pearson interval of a share: @p events (0..n) of @p n (1 or more). */
struct stats_range stats_share(uint64_t events, uint64_t n, double confidence);

/** Interval of the mean of a Poisson count (Garwood). Zero events: 0 to the one-sided bound. */
struct stats_range stats_count(uint64_t events, double confidence);

#endif /* STATS_H */
