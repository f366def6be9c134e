/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Log-linear histogram of durations: 32 buckets a power of two, so a quantile is at most 1/32 too
 * high whatever the range. Adding one costs a shift and two increments; a histogram is a plain
 * struct that is all zero at the start.
 */
#ifndef WEFT_LATENCY_H
#define WEFT_LATENCY_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_LATENCY_SUB_LOG2 5
#define WEFT_LATENCY_BUCKETS ((64 - WEFT_LATENCY_SUB_LOG2 + 1) << WEFT_LATENCY_SUB_LOG2)

/** One writer; others may read, and then see a value that is a little old. */
struct weft_latency {
	uint64_t count;
	uint64_t max_ns;
	uint64_t bucket[WEFT_LATENCY_BUCKETS];
};

/** Add one duration; every value is in range. */
void weft_latency_add(struct weft_latency *l, uint64_t ns);

/**
 * Duration that a share of all does not exceed.
 *
 * @param per_10000  the share: 5000 = median, 9900 = p99, 9990 = p99.9; 10000 and above = maximum
 * @return upper edge of the bucket in ns, never above max_ns; 0 if nothing was added
 */
uint64_t weft_latency_quantile(const struct weft_latency *l, unsigned int per_10000);

/** Add all of @p from to @p l; neither may be written meanwhile. */
void weft_latency_merge(struct weft_latency *l, const struct weft_latency *from);

/** Durations that fell into one bucket. */
struct weft_latency_row {
	uint64_t least_ns, most_ns; /**< its edges; most_ns is never above max_ns */
	uint64_t n; /**< how many, 1 or more */
};

/**
 * Walk the buckets that are not empty, from the shortest durations on.
 *
 * @param at   0 at the start; the caller's, but not to be changed
 * @param row  receives one
 * @return false: there are no more
 */
bool weft_latency_walk(
	const struct weft_latency *l, unsigned int *at, struct weft_latency_row *row);

/** Mean, taken from the middles of buckets; 0 if nothing was added. */
double weft_latency_mean(const struct weft_latency *l);

WEFT_END_DECLS

#endif /* WEFT_LATENCY_H */
