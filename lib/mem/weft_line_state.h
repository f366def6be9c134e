/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a checking source knows of one line that it alone writes. Versions are 64 bits: the run of
 * the source above WEFT_LINE_RUN_SHIFT, a count of writes below, so that what a source finds of an
 * earlier run of its own is told from what it wrote itself. Pure functions, no allocation; the
 * caller's thread.
 */
#ifndef WEFT_LINE_STATE_H
#define WEFT_LINE_STATE_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_LINE_RUN_SHIFT 40
#define WEFT_LINE_RUN_MAX 0xFFFFFFu

/** The line holds a version from last - version_slack to last, or what the two flags allow. */
struct weft_line_state {
	/** written last, lost writes included; or read, if it is of an earlier run */
	uint64_t last;
	uint32_t version_slack; /**< lost writes that nothing has settled yet */
	bool may_be_zero; /**< as new memory is */
	bool may_be_former; /**< zeros, or any version of an earlier run */
};

/** How the memory of a line was replaced by a new one, all zeros. */
enum weft_line_loss {
	WEFT_LINE_LOST_ALL, /**< no write that was sent before reaches the new memory */
	WEFT_LINE_LOST_LATE, /**< lost writes may yet be executed there */
	/** it is not known whether the line was in it, or is copied into it */
	WEFT_LINE_LOST_PARTLY
};

/** Nothing was written. @p run 0: the memory is new; else 1..WEFT_LINE_RUN_MAX: it may be used. */
void weft_line_state_init(struct weft_line_state *s, uint32_t run);

/** Version of the next write. */
uint64_t weft_line_state_next(const struct weft_line_state *s, uint32_t run);

/** That write has begun. One of settle, doubt and undo follows. */
void weft_line_state_begin(struct weft_line_state *s, uint32_t run);

/** It was executed. */
void weft_line_state_settle(struct weft_line_state *s);

/** It may have been executed, or may be later. */
void weft_line_state_doubt(struct weft_line_state *s);

/** It was refused, and never will be executed. */
void weft_line_state_undo(struct weft_line_state *s);

/** Whether the line may hold @p version; 0: zeros. */
bool weft_line_state_admits(const struct weft_line_state *s, uint32_t run, uint64_t version);

/** It was read, and holds @p version, which it may. */
void weft_line_state_seen(struct weft_line_state *s, uint32_t run, uint64_t version);

/** The memory was replaced. @return whether the line was known to hold something else than zeros */
bool weft_line_state_forget(struct weft_line_state *s, uint32_t run, enum weft_line_loss how);

WEFT_END_DECLS

#endif /* WEFT_LINE_STATE_H */
