/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How old a request is for its timeout: time in which its requester did not run, or in which the
 * way to its destination stood still and may go on, does not count (doc/txn.md). One clock serves
 * all requesters of a node. Time comes with each call; one thread at a time.
 */
#ifndef WEFT_REQUEST_CLOCK_H
#define WEFT_REQUEST_CLOCK_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_REQUEST_CLOCK_PEERS                                                                   \
	4096 /**< one for each 12-bit DPID; the last: nobody in particular */

/** All zeros: nothing stands still. */
struct weft_request_clock {
	uint64_t forgiven_ns; /**< in which nobody ran */
	struct weft_request_clock_peer {
		uint64_t since_ns; /**< it stands still: since when */
		uint64_t stood_ns; /**< before that, in all */
		bool is_stalled;
	} peer[WEFT_REQUEST_CLOCK_PEERS];
};

/** The requesters did not run for @p ns. */
void weft_request_clock_forgive(struct weft_request_clock *c, uint64_t ns);

/** From now on the way to @p dpid stands still, or goes on. The same again changes nothing. */
void weft_request_clock_stall(
	struct weft_request_clock *c, uint16_t dpid, bool is_stalled, uint64_t now_ns);

/**
 * What has not counted so far for @p dpid, to be kept with a request that begins. @p c may be NULL.
 */
uint32_t weft_request_clock_stood(
	const struct weft_request_clock *c, uint16_t dpid, uint64_t now_ns);

/**
 * Age of a request, to 66 us.
 *
 * @param since_ns  when it began
 * @param stood     weft_request_clock_stood() of that moment
 * @return nanoseconds, at most those since @p since_ns
 */
uint64_t weft_request_clock_age(const struct weft_request_clock *c, uint16_t dpid,
	uint64_t since_ns, uint32_t stood, uint64_t now_ns);

WEFT_END_DECLS

#endif /* WEFT_REQUEST_CLOCK_H */
