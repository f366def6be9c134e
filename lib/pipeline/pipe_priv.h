/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The pipeline object, shared by its run loop and its telemetry. */
#ifndef PIPE_PRIV_H
#define PIPE_PRIV_H

#include <rte_ring.h>

#include "weft_pipe.h"

/* Owned by the lcore that polls it. */
struct pipe_segment {
	struct rte_ring *in[WEFT_PIPE_SEGMENTS_MAX]; /* none: the pipeline's source */
	struct rte_ring *out[WEFT_PIPE_SEGMENTS_MAX]; /* none: its sink; one a way of the next */
	uint8_t n_in, n_out;
	uint8_t next_in; /* whose turn it is */
	bool polls; /* a stage has work without traffic */
	uint64_t passed; /* frames handed on */
	struct weft_burst burst;
	struct rte_mbuf *dealt[WEFT_PIPE_SEGMENTS_MAX][WEFT_BURST_MAX];
} __rte_cache_aligned;

struct weft_pipe {
	char name[WEFT_PIPE_NAME_MAX];
	struct weft_layout layout;
	bool may_fuse[WEFT_PIPE_STAGES_MAX]; /* the one it fuses with is next, on the same lcore */
	const struct weft_env *env;
	const uint8_t *way_of; /* of each SPID; NULL: there is one way */
	weft_source_fn source;
	void *source_arg;
	weft_sink_fn sink;
	void *sink_arg;
	struct weft_trace *trace; /* NULL: none; control changes it while lcores run */
	struct weft_pipe *next; /* in the telemetry's list */
	struct weft_stage_stats stats[WEFT_PIPE_STAGES_MAX];
	struct pipe_segment segment[WEFT_PIPE_SEGMENTS_MAX];
};

/* Show the pipeline under /weft/stages. 0, or -EEXIST. Control side. */
int pipe_telemetry_add(struct weft_pipe *p);

/* Forget it; one that was never added is fine. */
void pipe_telemetry_remove(struct weft_pipe *p);

#endif /* PIPE_PRIV_H */
