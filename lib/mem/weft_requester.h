/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The requester's end of CXL.mem: a host that reads and writes 64-byte lines of GFDs, many at once,
 * matched by tag (wire-formats.md section 4). Every request ends in exactly one completion: its
 * response, or LOST after a timeout (reliability.md section 5). A host belongs to one thread; it
 * neither allocates nor looks at a clock: time comes with each call and never runs backwards.
 */
#ifndef WEFT_REQUESTER_H
#define WEFT_REQUESTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_latency.h"
#include "weft_msg.h"
#include "weft_request_clock.h"
#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_REQUESTER_TAGS_MAX 4096
#define WEFT_REQUESTER_PEERS 4096 /**< one for each 12-bit DPID; 0xFFF names nobody */

struct weft_requester_cfg {
	uint64_t timeout_ns; /**< a request this old is lost; 1 or more */
	uint64_t quarantine_ns; /**< how long the tag of a lost request then stays unused */
	uint32_t tags; /**< most requests outstanding: a power of two, 1..WEFT_REQUESTER_TAGS_MAX */
	uint16_t id; /**< this host's PID, 0..0xFFE */
	/** What of its time makes no request older; the caller's, for the host's life. NULL: all does. */
	const struct weft_request_clock *clock;
};

enum weft_request_kind { WEFT_REQUEST_READ, WEFT_REQUEST_WRITE, WEFT_REQUEST_KINDS };

enum weft_request_status {
	WEFT_REQUEST_DONE,
	WEFT_REQUEST_NXM, /**< read of memory that is not there; data as the GFD sent it */
	WEFT_REQUEST_POISON, /**< read of poisoned memory */
	WEFT_REQUEST_LOST /**< no response in time: a write may or may not have been executed */
};

/** How a request ended. */
struct weft_completion {
	uint64_t cookie; /**< as given with the request */
	uint64_t latency_ns; /**< from request to completion */
	const uint8_t *data; /**< 64 bytes inside the response; NULL for a write or a lost read */
	uint8_t kind; /**< enum weft_request_kind */
	uint8_t status; /**< enum weft_request_status */
};

/** What a host may have open at one destination, by enum weft_request_kind. */
struct weft_requester_peer {
	uint16_t limit[WEFT_REQUEST_KINDS]; /**< M2S Req and RwD that the GFD granted */
	uint16_t in_flight[WEFT_REQUEST_KINDS]; /**< tags held, quarantine included */
};

/** Row order of weft_requester_counters() and of the values. */
enum weft_mem_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_MEM_N_##id,
#include "weft_mem_requester_counters.def"
#undef WEFT_COUNTER
	WEFT_MEM_N_COUNTERS
};

struct weft_requester;
struct weft_counter;

/** Bytes that a host of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_requester_size(const struct weft_requester_cfg *cfg);

/**
 * Make a host with nothing outstanding and no credits in @p mem, which stays the caller's and must
 * outlive it.
 *
 * @return the host, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_requester *weft_requester_init(void *mem, const struct weft_requester_cfg *cfg);

/**
 * Say how many requests a destination takes at once, as it granted when the connection came up.
 * A lower limit than what is in flight only holds back new requests.
 *
 * @param req  reads (M2S Req) at once, 0 = none
 * @param rwd  writes (M2S RwD) at once, 0 = none
 * @return 0, or -EINVAL for a DPID above 0xFFE
 */
int weft_requester_grant(struct weft_requester *h, uint16_t dpid, uint16_t req, uint16_t rwd);

/** Credits of a destination, or NULL for a DPID above 0xFFE. Valid as long as the host. */
const struct weft_requester_peer *weft_requester_peer(
	const struct weft_requester *h, uint16_t dpid);

/**
 * Begin a read of one line: MemRd without metadata.
 *
 * @param hpa     fabric address, 64-byte aligned, 52 bits
 * @param cookie  comes back with the completion
 * @param msg     receives the message to send
 * @return 0; -EAGAIN if every tag is taken or the destination has no credit left; -EINVAL for a
 *         DPID or address out of range. @p msg is written on 0 only
 */
int weft_mem_read(struct weft_requester *h, uint16_t dpid, uint64_t hpa, uint64_t cookie,
	uint64_t now_ns, struct weft_msg *msg);

/**
 * Begin a write of one whole line: MemWr. As weft_mem_read().
 *
 * @param data  64 bytes, copied
 */
int weft_mem_write(struct weft_requester *h, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t cookie, uint64_t now_ns, struct weft_msg *msg);

/**
 * Begin a write of some bytes of a line: MemWrPtl. As weft_mem_write().
 *
 * @param data     64 bytes, copied; those not written do not matter
 * @param enables  bit k: byte k is written
 */
int weft_mem_write_partial(struct weft_requester *h, uint16_t dpid, uint64_t hpa,
	const uint8_t *data, uint64_t enables, uint64_t cookie, uint64_t now_ns,
	struct weft_msg *msg);

/**
 * Take a response. Whatever the verdict, it is counted.
 *
 * @param c  receives the completion on WEFT_OK; its data points into @p msg
 * @return WEFT_OK; WEFT_DROP_NOT_MINE for another DPID than this host's; WEFT_DROP_NO_TAG if no
 *         such request is open (late or twice); WEFT_DROP_WRONG_CLASS if it is no S2M response, or
 *         not of the class that answers this request; WEFT_DROP_BAD_OPCODE if its opcode does not
 *         answer it. A dropped response leaves the request open
 */
enum weft_verdict weft_mem_response(struct weft_requester *h, const struct weft_msg *msg,
	uint64_t now_ns, struct weft_completion *c);

/** Called for each lost request; may begin new ones. @p c is valid during the call only. */
typedef void (*weft_completion_fn)(void *arg, const struct weft_completion *c);

/**
 * End requests that are timeout_ns old or older (by cfg.clock), and free tags whose quarantine is over. To be
 * called now and then; nothing else times out a request.
 *
 * @param max  most requests to end in this call
 * @return how many ended
 */
unsigned int weft_requester_expire(struct weft_requester *h, uint64_t now_ns, weft_completion_fn fn,
	void *arg, unsigned int max);

/**
 * End every open request to a destination as lost, now.
 *
 * @param is_over  the session that they went by is over, so that no answer can come any more: the tags
 *                 of all requests to it are free at once, of those lost before as well. Else they rest
 *                 for the quarantine
 * @param fn       called for each; must not begin requests
 * @return how many ended
 */
unsigned int weft_requester_abort(struct weft_requester *h, uint16_t dpid, bool is_over,
	uint64_t now_ns, weft_completion_fn fn, void *arg);

/** Requests that are open now. */
uint32_t weft_requester_outstanding(const struct weft_requester *h);

/** Latencies of the requests that had a response. */
const struct weft_latency *weft_requester_latency(const struct weft_requester *h);

/** Counter rows, WEFT_MEM_N_COUNTERS of them. */
const struct weft_counter *weft_requester_counters(void);

/** Their values, in row order. Written by the host's thread only. */
const uint64_t *weft_requester_counts(const struct weft_requester *h);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_REQUESTER_H */
