/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the command line of weft-bench asks for. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "atc_sim.h"
#include "bench.h"

#define STAGES_MAX 256 /* more than there are */
#define LIST_MAX ATC_SIM_LIST_MAX /* of numbers */

struct options {
	const char *stage[STAGES_MAX]; /* each once */
	unsigned int n_stages;
	const char *kernel;
	const char *json;
	int layout; /* enum bench_layout, or -1: what each stage has */
	unsigned int frame_flits[LIST_MAX];
	unsigned int n_frame_flits; /* 1 or more */
	double seconds;
	unsigned int iterations; /* instead of seconds; 0: not asked for */
	bool count;
	bool list;
	struct atc_sim_cfg atc; /* instead of all benchmarks, if it names a workload */
	char *live[2]; /* ports, as they are named; NULL: none */
	bool sig; /* the benchmarks of signatures, which otherwise run only by name */
};

extern const char *const bench_layout_words[];

/* Read the command line; what is wrong with it ends the program with one line. */
void options_parse(struct options *o, int argc, char **argv);

/*
 * The @p i-th benchmark of all files, in the order in which they are shown; NULL behind the last.
 */
const struct bench *bench_at(unsigned int i);

/* Whether a benchmark is one of those of --sig. */
bool bench_is_sig(const struct bench *b);

/*
 * Print those that a run of these options would choose from, as text or, with --json, with the
 * stages of each and the layouts of weftd that have them. 0, or -errno: nothing could be written.
 */
int bench_print_list(const struct options *o);

#endif /* OPTIONS_H */
