/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which events become a line, and which are held and counted: of one kind, node and peer the first
 * is said at once, and then at most one line in every interval, which says how many more there
 * were. Pure: time comes in. One thread at a time.
 */
#ifndef WEFT_EVENT_LOG_H
#define WEFT_EVENT_LOG_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_EVENT_NAME_ROOM 48 /**< of a node or peer, with its 0; longer ones are cut */
#define WEFT_EVENT_TEXT_ROOM 320 /**< of a line, likewise */

/** An event, or the newest of those that are said together. */
struct weft_event {
	uint32_t kind; /**< the caller's */
	char node[WEFT_EVENT_NAME_ROOM];
	char peer[WEFT_EVENT_NAME_ROOM]; /**< "": the event has none */
	char text[WEFT_EVENT_TEXT_ROOM];
	uint64_t more; /**< happenings since the line before, those of this line included */
	uint64_t span_ns; /**< time since the line before; 0: there was none in the interval */
	uint64_t last_ns; /**< when the newest came */
};

struct weft_event_log;

/** Bytes of a log that tells @p rows combinations of kind, node and peer apart, 1 or more. */
size_t weft_event_log_size(unsigned int rows);

/**
 * Start a log in @p mem, which stays the caller's, aligned for a uint64_t.
 *
 * @param interval_ns  shortest time between two lines of one combination; 0: every event is a line
 */
struct weft_event_log *weft_event_log_init(void *mem, unsigned int rows, uint64_t interval_ns);

/**
 * Something happened @p n times. Of more combinations than there are rows the one that was silent
 * longest is forgotten.
 *
 * @param kind, node, peer  what tells one combination from another; @p node and @p peer are copied,
 *                          NULL stands for ""
 * @param n                 how often since the caller's last call; 0 does nothing
 * @param text              the line, copied
 * @param e                 receives the event if it is to be said now
 * @return whether it is
 */
bool weft_event_log_put(struct weft_event_log *l, uint32_t kind, const char *node, const char *peer,
	uint64_t n, const char *text, uint64_t now_ns, struct weft_event *e);

/**
 * Next event that was held and is to be said now, in the order in which they came. To be called
 * until there is none.
 *
 * @param all  also those whose interval is not over: there is no later call
 */
bool weft_event_log_due(struct weft_event_log *l, uint64_t now_ns, bool all, struct weft_event *e);

WEFT_END_DECLS

#endif /* WEFT_EVENT_LOG_H */
