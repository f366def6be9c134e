/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Log-linear histogram. Values below 32 have a bucket each; above, the position of the top bit
 * picks a row of 32 buckets and the next 5 bits the bucket.
 */

#include "weft_latency.h"

#define SUB (1u << WEFT_LATENCY_SUB_LOG2)

static unsigned int
latency_bucket(uint64_t ns)
{
	unsigned int shift;

	if (ns < SUB)
		return (unsigned int)ns;
	shift = 63u - (unsigned int)__builtin_clzll(ns) - WEFT_LATENCY_SUB_LOG2;
	return (shift << WEFT_LATENCY_SUB_LOG2) + (unsigned int)(ns >> shift);
}

/* The highest value that falls into bucket @p i. */
static uint64_t
latency_bucket_top(unsigned int i)
{
	const unsigned int shift = i < SUB ? 0 : (i >> WEFT_LATENCY_SUB_LOG2) - 1;
	const uint64_t first = (uint64_t)(i - (shift << WEFT_LATENCY_SUB_LOG2)) << shift;

	return first + ((UINT64_C(1) << shift) - 1);
}

void
weft_latency_add(struct weft_latency *l, uint64_t ns)
{
	l->bucket[latency_bucket(ns)]++;
	l->count++;
	if (ns > l->max_ns)
		l->max_ns = ns;
}

uint64_t
weft_latency_quantile(const struct weft_latency *l, unsigned int per_10000)
{
	/* Rank of the value wanted, 1..count; written so that it cannot overflow. */
	const uint64_t rank =
		l->count / 10000 * per_10000 + (l->count % 10000 * per_10000 + 9999) / 10000;
	uint64_t seen = 0;

	for (unsigned int i = 0; per_10000 < 10000 && i < WEFT_LATENCY_BUCKETS; i++) {
		seen += l->bucket[i];
		if (seen > 0 && seen >= rank)
			return latency_bucket_top(i) < l->max_ns ? latency_bucket_top(i)
			                                         : l->max_ns;
	}
	return l->max_ns;
}
