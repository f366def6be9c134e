/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the states of daemons say of a node that drains. Pure. */
#ifndef DRAIN_STATE_H
#define DRAIN_STATE_H

#include <jansson.h>

enum drain_state {
	DRAIN_NOT, /* it does not drain */
	DRAIN_GOES_ON, /* something is outstanding, of it or of those that use it */
	DRAIN_WAITS, /* it is used by nodes that do not drain */
	DRAIN_DONE
};

/** The node of this name; NULL: none of the states has it. @p states: of daemons, a list */
const json_t *drain_find(const json_t *states, const char *name);

/**
 * State of a node of such a list. With DRAIN_WAITS, @p who receives the names of those that do not
 * drain, with commas; may be NULL.
 */
enum drain_state drain_state_of(
	const json_t *states, const json_t *node, char *who, size_t who_len);

/** "runs", "draining", "drained". */
const char *drain_word(enum drain_state state);

#endif /* DRAIN_STATE_H */
