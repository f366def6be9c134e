/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Cycles per flit by the TSC: slices of runs, of which the median stands for all. */

#include "cli.h"
#include "result.h"

#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>

#define SLICES_MIN 20
#define SLICE_CYCLES 20000 /* at least: a reading of the TSC is then nothing */

struct sums {
	uint64_t cycles;
	uint64_t flits;
};

static int
measure_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
measure_cpu_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

uint64_t
timed_run(const struct bench *b, void *ctx)
{
	return b->ops->run(ctx);
}

/* Until @p least cycles have passed, and one run at any rate; adds to the sums. Cycles a flit. */
static double
measure_one_slice(const struct bench *b, void *ctx, uint64_t least, struct sums *sums)
{
	uint64_t cycles = 0, flits = 0;

	do {
		uint64_t t;

		if (b->ops->prepare != NULL)
			b->ops->prepare(ctx);
		t = rte_rdtsc_precise();
		flits += timed_run(b, ctx);
		cycles += rte_rdtsc_precise() - t;
	} while (cycles < least);
	sums->cycles += cycles;
	sums->flits += flits;
	return (double)cycles / (double)flits;
}

void
measure(const struct bench *b, void *ctx, double seconds, unsigned int iterations, struct result *r)
{
	static double slice[SLICES_MAX];
	double wall = measure_cpu_seconds(CLOCK_MONOTONIC),
	       cpu = measure_cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	struct sums sums = { 0 };
	unsigned int n = 0;

	if (iterations != 0)
		while (n < iterations && (n == 0 || !cli_is_stopped()))
			slice[n++] = measure_one_slice(b, ctx, 0, &sums);
	else
		while (n < SLICES_MAX && (n == 0 || !cli_is_stopped()) &&
			(n < SLICES_MIN || measure_cpu_seconds(CLOCK_MONOTONIC) - wall < seconds))
			slice[n++] = measure_one_slice(b, ctx, SLICE_CYCLES, &sums);
	wall = measure_cpu_seconds(CLOCK_MONOTONIC) - wall;
	r->cpu_share = (measure_cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / wall;
	qsort(slice, n, sizeof(slice[0]), measure_compare);
	r->cycles_per_flit = slice[n / 2];
	r->least = slice[0];
	r->most = slice[n - 1];
	r->mean = (double)sums.cycles / (double)sums.flits;
	r->timed_flits = sums.flits;
}

double
mflits_per_s(const struct result *r)
{
	return r->cycles_per_flit > 0 ? (double)rte_get_tsc_hz() / r->cycles_per_flit / 1e6 : 0;
}
