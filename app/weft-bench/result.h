/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is known of a benchmark behind its run, and how it is measured and shown. */
#ifndef RESULT_H
#define RESULT_H

#include <jansson.h>

#include "bench.h"

struct result {
	const struct bench *b;
	enum bench_layout layout;
	unsigned int frame_flits;
	const char *kernel;
	double cycles_per_flit; /* median of the slices */
	double least;
	double most;
	double mean; /* of everything timed: what programs that only count can be compared with */
	uint64_t timed_flits;
	double cpu_share;
	const char *counted_by; /* "counters", "steps", or NULL: the rest is not known */
	double instructions_per_flit;
	double core_cycles_per_flit; /* by counters only, else 0 */
	bool checked;
};

#define SLICES_MAX 100000

/*
 * Run for @p seconds, or if @p iterations (at most SLICES_MAX) is not 0 exactly so often, and fill
 * in cycles and the share of the CPU.
 */
void measure(const struct bench *b, void *ctx, double seconds, unsigned int iterations,
	struct result *r);

/* The timed part and nothing else, by a name that a profiler can be told. Returns flits. */
__attribute__((noinline)) uint64_t timed_run(const struct bench *b, void *ctx);

/*
 * Count instructions of this thread in user space over a few runs: by the CPU's counters, or where
 * there are none by the trap flag, one instruction at a time.
 */
void count_instructions(const struct bench *b, void *ctx, struct result *r);

double mflits_per_s(const struct result *r);

void result_print_head(void);
void result_print(const struct result *r);
json_t *result_json(const struct result *r);

/* Write all results with what is known of the machine. 0 or -errno. */
int results_write(const char *path, json_t *results);

#endif /* RESULT_H */
