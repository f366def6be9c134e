/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Frames of a port, decoded for an operator, with the stages that they passed (doc/control.md). */
#ifndef TRACES_H
#define TRACES_H

#include "daemon.h"
#include "weft_trace.h"

#define TRACES_COUNT_MAX 100000

/** A trace that an operator asked for. */
struct trace_run;

/**
 * Begin one. A node has one at a time. Control thread.
 *
 * @param port   such as "s0.0"
 * @param kind   a word of traces_kinds(), or NULL: all
 * @param pid    SPID or DPID of the frames, or WEFT_TRACE_ANY
 * @param count  frames, 1 or more
 * @param who    process that asks, for what another is told; 0: not known
 * @return the trace; NULL with a line
 */
struct trace_run *trace_start(struct daemon *d, const char *port, const char *kind, int pid,
	unsigned int count, int who, char *err, size_t err_len);

/**
 * The next line for its operator, a new object: a frame, and once all have come, the end. NULL:
 * none yet. Control thread.
 */
json_t *trace_line(struct trace_run *r);

/** Whether the end was said. */
bool trace_is_over(const struct trace_run *r);

/** End it; waits until no lcore uses it. NULL is allowed. Control thread. */
void trace_stop(struct trace_run *r);

/** Words that `kind` may be, with commas between. */
const char *traces_kinds(char *text, size_t len);

/* --- trace_json.c --- */

/**
 * What a frame is, a new object.
 *
 * @param is_sealed  messages of its flits are encrypted
 */
json_t *trace_frame_json(const struct weft_trace_frame *f, bool is_sealed);

#endif /* TRACES_H */
