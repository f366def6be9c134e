/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What pipe.c calls for a burst of a pipeline that is traced. */
#ifndef TRACE_PRIV_H
#define TRACE_PRIV_H

#include "weft_trace.h"

/* Frames of a burst that are followed. */
struct trace_burst {
	unsigned int n;
	struct weft_trace_frame *frame[WEFT_TRACE_SLOTS];
};

/* A burst comes to stage @first of the pipeline: take up frames if it is the first of all. */
void trace_begin(struct weft_trace *t, const struct weft_burst *b, unsigned int first,
	struct trace_burst *w);

/* Stage @s comes next. */
void trace_before(const struct weft_burst *b, const struct weft_stage *s, struct trace_burst *w);

/* It is done, and what it dropped is still there; @verdict is why, if that is one reason. */
void trace_after(struct weft_trace *t, const struct weft_burst *b,
	const struct weft_trace_step *step, enum weft_verdict verdict, struct trace_burst *w);

/* The burst leaves the pipeline. */
void trace_end(struct weft_trace *t, const struct trace_burst *w);

#endif /* TRACE_PRIV_H */
