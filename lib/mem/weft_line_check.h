/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Writes and reads of test lines (weft_line.h) by who alone writes them and knows what they may
 * hold (weft_line_state.h): what the next write of a line is, and whether what was read is right.
 * The daemon's own traffic and weft-load check by it. Pure functions, no allocation; the caller's
 * thread.
 */
#ifndef WEFT_LINE_CHECK_H
#define WEFT_LINE_CHECK_H

#include "weft_base.h"
#include "weft_line_state.h"

WEFT_BEGIN_DECLS

/** Who writes lines. */
struct weft_line_owner {
	uint64_t seed; /**< of the data; the same for all writers is fine */
	uint32_t writer; /**< different for every writer of a memory */
	uint32_t run; /**< 0, or 1..WEFT_LINE_RUN_MAX (weft_line_state_init()) */
};

enum weft_line_verdict {
	WEFT_LINE_GOOD, /**< it holds what it may */
	WEFT_LINE_STALE, /**< another version, or zeros */
	WEFT_LINE_MISPLACED, /**< a whole line of another address or writer */
	WEFT_LINE_DAMAGED /**< no line that was written */
};

/** The 64 bytes of the next write of the line at @p addr, of which nothing has begun yet. */
void weft_line_check_next(const struct weft_line_owner *o, const struct weft_line_state *s,
	uint64_t addr, uint8_t *data);

/**
 * Judge 64 bytes that were read at @p addr. What a good line says is for weft_line_state_seen() to
 * keep.
 *
 * @param version  receives what it holds; 0: zeros, or it is damaged
 */
enum weft_line_verdict weft_line_check(const struct weft_line_owner *o,
	const struct weft_line_state *s, uint64_t addr, const uint8_t *data, uint64_t *version);

WEFT_END_DECLS

#endif /* WEFT_LINE_CHECK_H */
