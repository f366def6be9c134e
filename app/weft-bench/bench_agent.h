/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A translation unit and its agent, for benchmarks. */
#ifndef BENCH_AGENT_H
#define BENCH_AGENT_H

#include "weft_ats_ta.h"
#include "weft_xlate.h"

struct bench_agent {
	struct weft_xlate *unit;
	struct weft_ats_ta *ta;
	uint64_t now_ns; /* stands still */
};

/**
 * Make both. @p a is zero before. False: something is out of range; bench_agent_fini() all the same
 */
bool bench_agent_init(struct bench_agent *a, uint32_t entries, uint16_t contexts, uint16_t places,
	const struct weft_atc_kernel *kernel);
void bench_agent_fini(struct bench_agent *a);

/** All that the two have to say to each other now. */
void bench_agent_talk(struct bench_agent *a);

/** A page comes into the unit's cache. */
void bench_agent_give(struct bench_agent *a, uint16_t ctx, uint64_t va);

/** A page is invalidated, and completed. @return false: it was not */
bool bench_agent_take(struct bench_agent *a, uint16_t ctx, uint64_t va);

#endif /* BENCH_AGENT_H */
