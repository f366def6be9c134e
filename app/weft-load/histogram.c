/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A histogram as text of percentiles. */

#include "histogram.h"

#include <inttypes.h>
#include <math.h>

#define STEPS 5 /* while what is left halves */
#define US(ns) ((double)(ns) / 1e3)

/* Of a step: where what is left is halved, shares have no error. */
static double
histogram_share(unsigned int step)
{
	return 1 - exp2(-(double)(step / STEPS)) * (1 - (double)(step % STEPS) / (2 * STEPS));
}

static double
histogram_deviation(const struct weft_latency *l, double mean)
{
	struct weft_latency_row row;
	unsigned int at = 0;
	double sum = 0;

	while (weft_latency_walk(l, &at, &row)) {
		const double from = ((double)row.least_ns + (double)row.most_ns) / 2 - mean;

		sum += (double)row.n * from * from;
	}
	return l->count == 0 ? 0 : sqrt(sum / (double)l->count);
}

static void
histogram_rows(FILE *f, const struct weft_latency *l)
{
	struct weft_latency_row row;
	unsigned int at = 0;
	uint64_t seen = 0;
	unsigned int step = 0;

	while (weft_latency_walk(l, &at, &row)) {
		seen += row.n;
		/* Of the last bucket one step is enough: what follows is the end. */
		while ((double)seen >= histogram_share(step) * (double)l->count) {
			const double share = histogram_share(step++);

			fprintf(f, "%12.3f %.12f %10" PRIu64 " %14.2f\n", US(row.most_ns), share,
				seen, 1 / (1 - share));
			if (seen == l->count)
				break;
		}
	}
	if (l->count != 0)
		fprintf(f, "%12.3f %.12f %10" PRIu64 "\n", US(l->max_ns), 1.0, l->count);
}

void
histogram_print(FILE *f, const struct weft_latency *l)
{
	const double mean = weft_latency_mean(l);

	fprintf(f, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount",
		"1/(1-Percentile)");
	histogram_rows(f, l);
	fprintf(f, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", US(mean),
		US(histogram_deviation(l, mean)));
	fprintf(f, "#[Max     = %12.3f, Total count    = %12" PRIu64 "]\n", US(l->max_ns),
		l->count);
	fprintf(f, "#[Buckets = %12d, SubBuckets     = %12d]\n",
		WEFT_LATENCY_BUCKETS >> WEFT_LATENCY_SUB_LOG2, 1 << WEFT_LATENCY_SUB_LOG2);
}
