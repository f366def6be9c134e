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

static unsigned int
latency_shift(unsigned int i)
{
	return i < SUB ? 0 : (i >> WEFT_LATENCY_SUB_LOG2) - 1;
}

/* The lowest value that falls into bucket @p i. */
static uint64_t
latency_bucket_first(unsigned int i)
{
	const unsigned int shift = latency_shift(i);

	return (uint64_t)(i - (shift << WEFT_LATENCY_SUB_LOG2)) << shift;
}

/* The highest. */
static uint64_t
latency_bucket_top(unsigned int i)
{
	return latency_bucket_first(i) + ((UINT64_C(1) << latency_shift(i)) - 1);
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

void
weft_latency_merge(struct weft_latency *l, const struct weft_latency *from)
{
	for (unsigned int i = 0; i < WEFT_LATENCY_BUCKETS; i++)
		l->bucket[i] += from->bucket[i];
	l->count += from->count;
	if (from->max_ns > l->max_ns)
		l->max_ns = from->max_ns;
}

bool
weft_latency_walk(const struct weft_latency *l, unsigned int *at, struct weft_latency_row *row)
{
	while (*at < WEFT_LATENCY_BUCKETS && l->bucket[*at] == 0)
		++*at;
	if (*at == WEFT_LATENCY_BUCKETS)
		return false;
	row->least_ns = latency_bucket_first(*at);
	row->most_ns = latency_bucket_top(*at);
	if (row->most_ns > l->max_ns)
		row->most_ns = l->max_ns;
	row->n = l->bucket[*at];
	++*at;
	return true;
}

double
weft_latency_mean(const struct weft_latency *l)
{
	struct weft_latency_row row;
	unsigned int at = 0;
	double sum = 0;

	while (weft_latency_walk(l, &at, &row))
		sum += (double)row.n * ((double)row.least_ns + (double)row.most_ns) / 2;
	return l->count == 0 ? 0 : sum / (double)l->count;
}
