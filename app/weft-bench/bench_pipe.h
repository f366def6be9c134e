/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the benchmarks of pipelines and rings share. */
#ifndef BENCH_PIPE_H
#define BENCH_PIPE_H

#include "bench.h"
#include "bench_agent.h"
#include "weft_pipe.h"

#define PIPE_FRAMES_MAX (8 * WEFT_BURST_MAX)

enum pipe_kind {
	PIPE_RX,
	PIPE_RX_CRC_FIRST,
	PIPE_RX_IDE,
	PIPE_TX,
	PIPE_TX_IDE,
	PIPE_SWITCH,
	PIPE_ROUTE,
	PIPE_ROUTE_WAIT,
	PIPE_RX_NO_ROUTE,
	PIPE_WORKERS,
	PIPE_WORKERS_IDE,
};

#define PIPE_WAIT_CONNS 8 /* of which one waits in each burst */
#define PIPE_WORKERS_CONNS 64

struct pipe {
	const struct bench_params *p;
	enum pipe_kind kind;
	unsigned int n_frames;
	size_t frame_len;
	struct rte_mbuf *frame[PIPE_FRAMES_MAX];
	uint8_t *plain; /* n_frames of frame_len: before protection */
	uint8_t *wire; /* and as sent */
	struct weft_conns *conns;
	struct weft_conn_dir *conn;
	unsigned int n_conns; /* senders, frame by frame in turn */
	struct weft_conn_dir *of[PIPE_WORKERS_CONNS];
	uint8_t *elsewhere; /* PIPE_WORKERS: what takes the frames' place in the cache */
	struct weft_env env;
	struct weft_tables *tables;
	struct weft_tables_slot slot;
	struct bench_agent agent;
	struct weft_conn_dir *one_of[PIPE_WAIT_CONNS]; /* PIPE_ROUTE_WAIT */
	struct weft_pipe *pipe;
	unsigned int n_kept; /* frames that wait for a MAC at the end of a run */
	uint64_t expect; /* frames that must have reached the sink, the open epoch's included */
	bool stop;
	/* Written by the lcores of the last segments. */
	_Alignas(WEFT_CACHE_LINE) uint64_t sunk;
	uint64_t right_port;
};

extern const struct bench_ops ring_ops;

#endif /* BENCH_PIPE_H */
