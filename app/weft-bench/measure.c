/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Cycles per flit by the TSC: slices of runs, of which the median stands for all. */

#include "result.h"

#include <stdlib.h>
#include <time.h>

#include <rte_cycles.h>

#define SLICES_MIN 20
#define SLICES_MAX 100000
#define SLICE_CYCLES 20000 /* at least: a reading of the TSC is then nothing */

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
cpu_seconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void
measure(const struct bench *b, void *ctx, double seconds, struct result *r)
{
	static double slice[SLICES_MAX];
	double wall = cpu_seconds(CLOCK_MONOTONIC), cpu = cpu_seconds(CLOCK_THREAD_CPUTIME_ID);
	unsigned int n = 0;

	while (n < SLICES_MAX &&
		(n < SLICES_MIN || cpu_seconds(CLOCK_MONOTONIC) - wall < seconds)) {
		uint64_t cycles = 0, flits = 0;

		while (cycles < SLICE_CYCLES) {
			uint64_t t;

			if (b->prepare != NULL)
				b->prepare(ctx);
			t = rte_rdtsc_precise();
			flits += b->run(ctx);
			cycles += rte_rdtsc_precise() - t;
		}
		slice[n++] = (double)cycles / (double)flits;
	}
	wall = cpu_seconds(CLOCK_MONOTONIC) - wall;
	r->cpu_share = (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu) / wall;
	qsort(slice, n, sizeof(slice[0]), compare);
	r->cycles_per_flit = slice[n / 2];
	r->least = slice[0];
	r->most = slice[n - 1];
}

double
mflits_per_s(const struct result *r)
{
	return r->cycles_per_flit > 0 ? (double)rte_get_tsc_hz() / r->cycles_per_flit / 1e6 : 0;
}
