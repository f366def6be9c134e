/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Frames that wait for a port. */
#ifndef BACKLOG_H
#define BACKLOG_H

#include "daemon.h"

#define NODE_BACKLOG 1024 /* frames that wait for a port; a power of two */

/* Frames on their way to one port, for as long as it takes none. Of the lcore that sends. */
struct backlog {
	/* A line of its own: the node's lcore reads it. */
	alignas(WEFT_CACHE_LINE) bool is_waiting;
	bool is_held; /* its port is in reset: nothing passes either way; by the control thread */
	alignas(WEFT_CACHE_LINE) struct weft_port *port;
	uint32_t head;
	uint32_t n;
	uint64_t dropped; /* TX_FULL */
	uint64_t down; /* PORT_DOWN, either way */
	uint64_t flits; /* taken, of frames that were not dropped; any readers */
	struct rte_mbuf *frame[NODE_BACKLOG];
};

/**
 * Send frames, in order; those the port does not take wait, and beyond NODE_BACKLOG are dropped.
 */
void backlog_send(struct backlog *b, struct rte_mbuf **frame, uint16_t n);

/** Offer what waits to the port again. Returns frames taken. */
unsigned int backlog_flush(struct backlog *b);

void backlog_free(struct backlog *b);

/** Drop frames of a port that is in reset. Any thread. */
void backlog_drop(struct backlog *b, struct rte_mbuf **frame, uint16_t n);

/** Whether the port is in reset. Any thread. */
static inline bool
backlog_is_held(const struct backlog *b)
{
	return __atomic_load_n(&b->is_held, __ATOMIC_RELAXED);
}

/** Whether frames wait for the port. Any thread. */
static inline bool
backlog_waits(const struct backlog *b)
{
	return __atomic_load_n(&b->is_waiting, __ATOMIC_RELAXED);
}

#endif /* BACKLOG_H */
