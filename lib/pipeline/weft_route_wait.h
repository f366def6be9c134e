/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames of the stage route that wait for a translation while others pass (ats.md sections 6.1 and
 * 6.2): for tables that have to be asked for and answer later. A frame waits as a whole, and every
 * later frame of its context (its connection) waits behind it, so that order is kept; frames of
 * other contexts go on. Bounded: a frame that finds no room is dropped and counted.
 *
 * All of it belongs to the lcore of the stage.
 */
#ifndef WEFT_ROUTE_WAIT_H
#define WEFT_ROUTE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "weft_stage.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most frames that may wait: all of them may go on in one burst, behind a burst of a source. */
#define WEFT_ROUTE_WAIT_MAX (WEFT_BURST_CAP - WEFT_BURST_MAX)

/** How a question ended. */
struct weft_answer {
	uint16_t slot; /* what ask() said */
	uint16_t ctx;
	/*
	 * The cache was changed by whoever answers, or the answer was overtaken by an invalidation:
	 * look again, and ask again if it is still not there. Otherwise page is the answer.
	 */
	bool look;
	struct weft_walk page; /* for the cache; flags 0: this range has no translation */
};

/**
 * Ask for the page of @p va. Must not answer from inside the call.
 *
 * @param want  enum weft_atc_flags
 * @return slot of the question, 0..slots-1; that of a question under way which includes this one;
 *         -EAGAIN if none is free; another negative number: there is nothing to ask, the access is
 *         refused
 */
typedef int (*weft_ask_fn)(void *arg, uint16_t ctx, uint64_t va, unsigned int want);

/** Give the next question that ended; its slot is free then. @return false if there is none. */
typedef bool (*weft_answer_fn)(void *arg, struct weft_answer *a);

struct weft_route_wait_cfg {
	weft_ask_fn ask; /* of the stage's lcore, as answer */
	weft_answer_fn answer;
	void *arg;
	uint16_t slots; /* questions under way, 1..1023 */
	uint16_t places; /* frames that may wait, 1..WEFT_ROUTE_WAIT_MAX */
	uint16_t share; /* of them for one context, 1..places */
	uint16_t contexts; /* at least the cache's */
	int socket; /* NUMA node, or SOCKET_ID_ANY */
};

struct weft_route_wait;

/**
 * Make one, for one stage.
 *
 * @return NULL with rte_errno: EINVAL for a number out of range or a function that is NULL, ENOMEM
 */
struct weft_route_wait *weft_route_wait_create(const struct weft_route_wait_cfg *cfg);

/** Free it with every frame that waits. No stage may use it any more. NULL is allowed. */
void weft_route_wait_free(struct weft_route_wait *w);

/** Frames that wait, and how many did at the most. The stage's lcore. */
unsigned int weft_route_wait_used(const struct weft_route_wait *w);
unsigned int weft_route_wait_most(const struct weft_route_wait *w);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_ROUTE_WAIT_H */
