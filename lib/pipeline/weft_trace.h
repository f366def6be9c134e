/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What became of single frames in a pipeline: their bytes, the stages they passed, with the cycles
 * of the bursts they passed in, and how they left. A pipeline without a trace pays one predictable
 * branch for a burst of a segment; one with a trace copies frames.
 *
 * Slots go round: the lcore of the first segment takes a free one for a frame, the lcore that has
 * the frame writes to it, and control reads it when the frame has left the pipeline.
 */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include "weft_pipe.h"

WEFT_BEGIN_DECLS

#define WEFT_TRACE_SLOTS 64 /**< frames that wait to be read; those beyond go untraced */
#define WEFT_TRACE_ANY (-1)
#define WEFT_TRACE_UNKNOWN 0xFF /**< of data_slots */

/** How a frame left. */
enum weft_trace_end {
	WEFT_TRACE_PASSED, /**< to the sink behind the last stage */
	WEFT_TRACE_DELIVERED, /**< its flits went to the end of the connection */
	WEFT_TRACE_DROPPED,
	WEFT_TRACE_KEPT /**< the stage keeps it for now; what follows is not traced */
};

/** "passed", "delivered", "dropped", "kept". */
extern const char *const weft_trace_end_words[];

/** A stage, and the burst in which the frame went through it. */
struct weft_trace_step {
	const struct weft_stage *stage;
	uint64_t cycles; /**< of the TSC, of the whole burst */
	uint32_t flits; /**< in the burst */
	uint16_t frames; /**< likewise */
};

struct weft_trace_frame {
	/* Private. */
	unsigned int state;
	const struct rte_mbuf *m;
	uint64_t order;
	/* Good once weft_trace_next() gave it. */
	bool is_out; /**< the bytes are those that leave; else those that came */
	uint8_t end; /**< enum weft_trace_end; the last step is where */
	uint8_t verdict; /**< of a dropped one; WEFT_OK: several reasons in its burst */
	uint8_t n_steps;
	/** Slots of data of flits before it that its first flits hold; WEFT_TRACE_UNKNOWN */
	uint8_t data_slots;
	uint64_t tsc; /**< when its first stage began */
	uint64_t corrected, discard; /**< as in struct weft_frame; 0 of one that leaves */
	struct weft_trace_step step[WEFT_PIPE_STAGES_MAX];
	uint32_t len;
	uint8_t bytes[WEFT_WIRE_FRAME_LEN(WEFT_WIRE_FLITS_MAX)];
};

/** Which frames. */
struct weft_trace_cfg {
	int in_port; /**< those that came by it, or -1: none */
	int out_port; /**< those that leave by it, or -1: none */
	int pid; /**< SPID or DPID of the frame, or WEFT_TRACE_ANY */
	int frame_kind; /**< enum weft_wire_kind, or WEFT_TRACE_ANY */
	int flit_type; /**< enum weft_flit_type of one of its flits, or WEFT_TRACE_ANY */
	int message; /**< enum weft_msg_kind of a message in it, or WEFT_TRACE_ANY */
};

struct weft_trace;

/** A trace that no pipeline uses yet, or NULL: no memory. Control. */
struct weft_trace *weft_trace_new(const struct weft_trace_cfg *cfg);

/** Forget it; no pipeline uses it any more. NULL is allowed. Control. */
void weft_trace_free(struct weft_trace *t);

/**
 * Trace a pipeline from now on, or with NULL no longer. Before the trace that it had is freed the
 * loops have to pass a quiescent point (weft_loop_quiesce()). Control.
 */
void weft_pipe_trace(struct weft_pipe *p, struct weft_trace *t);

/** Whether it has a trace. Control. */
bool weft_pipe_is_traced(const struct weft_pipe *p);

/**
 * The next frame that has left the pipeline, the one that came first; NULL: none yet. It is the
 * caller's until weft_trace_took(). One reader.
 */
const struct weft_trace_frame *weft_trace_next(struct weft_trace *t);
void weft_trace_took(struct weft_trace *t, const struct weft_trace_frame *f);

/** Frames that were meant, but found no free slot. Any thread. */
uint64_t weft_trace_missed(const struct weft_trace *t);

WEFT_END_DECLS

#endif /* WEFT_TRACE_H */
