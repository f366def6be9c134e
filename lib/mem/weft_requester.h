/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The requester's end of CXL.mem and of UIO: reads and writes, many at once, matched by tag
 * (wire-formats.md section 4, ats.md section 2). Every request ends in exactly one completion: its
 * answer, or LOST after a timeout (reliability.md section 5). Tags, deadlines, quarantine, credits
 * and latencies are kept here; weft_mem_requester.h and weft_uio_requester.h turn a request into a
 * packet and take what answers it. What differs between the two is in doc/txn.md.
 *
 * Words of requests:
 *
 *   1. A request is open from its begin to its one completion: DONE, NXM, POISON, UR, CA or LOST.
 *   2. A tag names one open request, or one in quarantine; its upper bits count its uses.
 *   3. A lost request is one without an answer in time, or whose session ended. A write that was
 *      lost may or may not have been executed, and may still be.
 *   4. Its tag and credit stay in quarantine as long as an answer or the write may still arrive;
 *      a session that is over ends quarantine, since nothing of it can.
 *   5. A credit of this level is room for one request at its destination, end to end. The credits
 *      that flits return are the link's (weft_credits.h).
 *   6. Time during which nobody polled, or during which the way stood still, makes no request older
 *      (weft_request_clock.h).
 *   7. Requests to one line are ordered by whoever makes them: the fabric promises an order only to
 *      requests of one kind between two nodes.
 *
 * A requester belongs to one thread; it neither allocates nor looks at a clock: time comes with
 * each call and never runs backwards.
 */
#ifndef WEFT_REQUESTER_H
#define WEFT_REQUESTER_H

#include "weft_base.h"
#include "weft_latency.h"
#include "weft_request_clock.h"

WEFT_BEGIN_DECLS

#define WEFT_REQUESTER_TAGS_MAX 4096
#define WEFT_REQUESTER_PEERS 4096 /**< one for each 12-bit DPID; 0xFFF names nobody */
#define WEFT_REQUESTER_ANYBODY 0xFFF /**< UIO: whom a request goes to is not known yet */

enum weft_requester_protocol { WEFT_REQUESTER_MEM, WEFT_REQUESTER_UIO };

struct weft_requester_cfg {
	uint64_t timeout_ns; /**< a request this old is lost; 1 or more */
	uint64_t quarantine_ns; /**< how long the tag of a lost request then stays unused */
	uint32_t tags; /**< most requests outstanding: a power of two, 1..4096, by UIO 1..1024 */
	uint16_t id; /**< its own: SPID, 0..0xFFE; by UIO the requester id */
	/** What of its time makes no request older; the caller's, for its life. NULL: all does. */
	const struct weft_request_clock *clock;
	uint8_t protocol; /**< enum weft_requester_protocol */
	/** Of its process, any number: tags begin elsewhere in each, as answers may outlive one. */
	uint32_t run;
};

enum weft_request_kind { WEFT_REQUEST_READ, WEFT_REQUEST_WRITE, WEFT_REQUEST_KINDS };

/** A request. */
struct weft_request {
	uint64_t addr; /**< of its first byte; within 4 KiB */
	uint64_t cookie; /**< comes back with the completion */
	const uint8_t *data; /**< write: len bytes, the caller's until there is a packet */
	uint16_t len; /**< bytes: 64 of CXL.mem, on a multiple of 64; 4..256 of UIO, of 4 */
	uint16_t dpid; /**< who answers, 0..0xFFE; by UIO also WEFT_REQUESTER_ANYBODY */
	uint16_t tag; /**< valid once it has begun */
	uint8_t kind; /**< enum weft_request_kind */
};

enum weft_request_status {
	WEFT_REQUEST_DONE,
	WEFT_REQUEST_NXM, /**< read of memory that is not there; data as the GFD sent it */
	WEFT_REQUEST_POISON, /**< read of poisoned memory */
	WEFT_REQUEST_UR, /**< refused, and not executed: Unsupported Request */
	WEFT_REQUEST_CA, /**< likewise: Completer Abort */
	WEFT_REQUEST_LOST, /**< no answer in time: a write may or may not have been executed */
	WEFT_REQUEST_PART /**< not an end: more packets of the answer will follow */
};

/** How a request ended. */
struct weft_completion {
	uint64_t cookie; /**< as given with the request */
	uint64_t latency_ns; /**< from request to completion */
	/** read that is DONE, NXM or POISON: len bytes, until the next call or the packet goes */
	const uint8_t *data;
	uint16_t len; /**< of the request */
	uint8_t kind; /**< enum weft_request_kind */
	uint8_t status; /**< enum weft_request_status */
};

/** What may be open at one destination, by enum weft_request_kind, and what it has answered. */
struct weft_requester_peer {
	/** M2S Req and RwD that a GFD granted; UIO: no limit */
	uint16_t limit[WEFT_REQUEST_KINDS];
	uint16_t in_flight[WEFT_REQUEST_KINDS]; /**< tags held, quarantine included */
	uint16_t quarantined; /**< of those of both kinds: lost already */
	uint32_t answered; /**< requests that ended by an answer; from 0 again at its end */
};

struct weft_requester;
struct weft_counter;

/** Bytes that a requester of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_requester_size(const struct weft_requester_cfg *cfg);

/**
 * Make a requester with nothing outstanding, and of CXL.mem without credits, in @p mem, which stays
 * the caller's and must outlive it.
 *
 * @return the requester, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_requester *weft_requester_init(void *mem, const struct weft_requester_cfg *cfg);

/**
 * Say how many requests a destination takes at once, as it granted when the connection came up.
 * A lower limit than what is in flight only holds back new requests.
 *
 * @param reads   M2S Req at once, 0 = none
 * @param writes  M2S RwD at once, 0 = none
 * @return 0, or -EINVAL for a DPID above 0xFFE
 */
int weft_requester_grant(struct weft_requester *r, uint16_t dpid, uint16_t reads, uint16_t writes);

/** Credits of a destination, or NULL for a DPID above 0xFFE. Valid as long as the requester. */
const struct weft_requester_peer *weft_requester_peer(
	const struct weft_requester *r, uint16_t dpid);

/** The same of requests of whom it is not known where they go: WEFT_REQUESTER_ANYBODY. */
const struct weft_requester_peer *weft_requester_anybody(const struct weft_requester *r);

/** Requests that are open at a destination. Any thread; what it sees may be a moment old. */
uint32_t weft_requester_open_at(const struct weft_requester_peer *p);

/**
 * Begin a request; its packet is made next, by weft_mem_request() or weft_uio_request().
 *
 * @param rq  its tag is set on 0 only
 * @return 0; -EAGAIN if every tag is taken or the destination has no credit left; -EINVAL for a
 *         range or destination that cannot be
 */
int weft_requester_begin(struct weft_requester *r, struct weft_request *rq, uint64_t now_ns);

/**
 * Say whom a request that is open goes to, or back to nobody: by UIO its answer must then come from
 * there. It is as old as it was. Another tag changes nothing.
 */
void weft_requester_sent_to(struct weft_requester *r, uint16_t tag, uint16_t dpid, uint64_t now_ns);

/** Called for each lost request; may begin new ones. @p c is valid during the call only. */
typedef void (*weft_completion_fn)(void *arg, const struct weft_completion *c);

/**
 * End requests that are timeout_ns old or older (by cfg.clock), and free tags whose quarantine is
 * over. To be called now and then; nothing else times out a request.
 *
 * @param max  most requests to end in this call
 * @return how many ended
 */
unsigned int weft_requester_expire(struct weft_requester *r, uint64_t now_ns, weft_completion_fn fn,
	void *arg, unsigned int max);

/**
 * End every open request to a destination as lost, now.
 *
 * @param is_over  the session that they went by is over, so that no answer can come any more: the
 *                 tags of all requests to it are free at once, of those lost before as well. Else
 *                 they are in quarantine
 * @param fn       called for each; must not begin requests
 * @return how many ended
 */
unsigned int weft_requester_abort(struct weft_requester *r, uint16_t dpid, bool is_over,
	uint64_t now_ns, weft_completion_fn fn, void *arg);

/** Whether the request with this tag has not ended. */
bool weft_requester_is_open(const struct weft_requester *r, uint16_t tag);

/** Whether no tag is free: no request can begin. */
bool weft_requester_is_full(const struct weft_requester *r);

/** Tags that are free: neither open nor in quarantine. */
uint32_t weft_requester_free(const struct weft_requester *r);

/** Requests that are open now. */
uint32_t weft_requester_outstanding(const struct weft_requester *r);

/** Latencies of the requests that had an answer. */
const struct weft_latency *weft_requester_latency(const struct weft_requester *r);

/** Values of weft_mem_counters or weft_uio_counters. Written by the requester's thread only. */
const uint64_t *weft_requester_counts(const struct weft_requester *r);

WEFT_END_DECLS

#endif /* WEFT_REQUESTER_H */
