/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The requester's end of UIO: reads and writes of up to 256 bytes, many at once, matched by tag. A
 * read may be answered in several packets, in the order of their addresses. Every request ends in
 * exactly one completion: its answer, or LOST after a timeout. A requester belongs to one thread; it
 * neither allocates nor looks at a clock: time comes with each call and never runs backwards.
 */
#ifndef WEFT_UIO_REQUESTER_H
#define WEFT_UIO_REQUESTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_latency.h"
#include "weft_request_clock.h"
#include "weft_uio.h"
#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_uio_requester_cfg {
	uint64_t timeout_ns; /**< a request this old is lost; 1 or more */
	uint64_t quarantine_ns; /**< how long the tag of a lost request then stays unused */
	uint32_t tags; /**< most requests outstanding: a power of two, 1..WEFT_UIO_TAGS */
	uint16_t id; /**< requester id */
	/** What of its time makes no request older; the caller's, for its life. NULL: all does. */
	const struct weft_request_clock *clock;
};

enum weft_uio_end {
	WEFT_UIO_DONE,
	WEFT_UIO_POISONED, /**< read of poisoned memory */
	WEFT_UIO_REFUSED_UR,
	WEFT_UIO_REFUSED_CA,
	WEFT_UIO_LOST, /**< no answer in time: a write may or may not have been executed */
	WEFT_UIO_PART /**< not an end: more packets of the answer will follow */
};

/** How a request ended. */
struct weft_uio_done {
	uint64_t cookie; /**< as given with the request */
	uint64_t latency_ns; /**< from request to completion */
	const uint8_t *data; /**< a read that is DONE or POISONED: len bytes, until the next call */
	uint16_t len; /**< bytes asked for */
	uint8_t kind; /**< WEFT_UIO_READ or WEFT_UIO_WRITE */
	uint8_t end; /**< enum weft_uio_end */
};

/** Row order of weft_uio_counters() and of the values. */
enum weft_uio_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_UIO_N_##id,
#include "weft_uio_counters.def"
#undef WEFT_COUNTER
	WEFT_UIO_N_COUNTERS
};

struct weft_uio_requester;
struct weft_counter;

/** Bytes that a requester of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_uio_requester_size(const struct weft_uio_requester_cfg *cfg);

/**
 * Make a requester with nothing outstanding in @p mem, which stays the caller's and must outlive it.
 *
 * @return the requester, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_uio_requester *weft_uio_requester_init(
	void *mem, const struct weft_uio_requester_cfg *cfg);

/**
 * Begin a read.
 *
 * @param addr    multiple of 4
 * @param len     4..256, a multiple of 4; not across 4 KiB
 * @param cookie  comes back with the completion
 * @param t       receives the packet to send, without PTH and prefix
 * @return 0; -EAGAIN if every tag is taken; -EINVAL for a range that cannot be asked for. @p t is
 *         written on 0 only
 */
int weft_uio_read(struct weft_uio_requester *r, uint64_t addr, uint16_t len, uint64_t cookie,
	uint64_t now_ns, struct weft_io_tlp *t);

/** Begin a write of @p len bytes at @p data, which are copied. As weft_uio_read(). */
int weft_uio_write(struct weft_uio_requester *r, uint64_t addr, const uint8_t *data, uint16_t len,
	uint64_t cookie, uint64_t now_ns, struct weft_io_tlp *t);

/**
 * Say whom a request that was begun goes to: then its answer must come from there (SPID of its PTH).
 * Without it anybody may answer.
 */
void weft_uio_sent_to(struct weft_uio_requester *r, const struct weft_io_tlp *t, uint16_t dpid);

/**
 * Take a completion packet. Whatever the verdict, it is counted.
 *
 * @param d  receives the completion on WEFT_OK; its end may be WEFT_UIO_PART: not over yet
 * @return WEFT_OK; WEFT_DROP_WRONG_CLASS: no UIO completion; WEFT_DROP_BAD_OPCODE: malformed, or it
 *         does not answer this request; WEFT_DROP_NO_TAG: no such request is open (late or twice);
 *         WEFT_DROP_NOT_MINE: another requester's id, or of somebody who was not asked. A dropped
 *         packet leaves the request open
 */
enum weft_verdict weft_uio_take(struct weft_uio_requester *r, const struct weft_io_tlp *t,
	uint64_t now_ns, struct weft_uio_done *d);

/** Called for each lost request; may begin new ones. @p d is valid during the call only. */
typedef void (*weft_uio_lost_fn)(void *arg, const struct weft_uio_done *d);

/**
 * End requests that are timeout_ns old or older (by cfg.clock), and free tags whose quarantine is over. To be called
 * now and then; nothing else times out a request.
 *
 * @param max  most requests to end in this call
 * @return how many ended
 */
unsigned int weft_uio_expire(struct weft_uio_requester *r, uint64_t now_ns, weft_uio_lost_fn fn,
	void *arg, unsigned int max);

/**
 * End every open request to a destination (weft_uio_sent_to()) as lost, now. @p is_over, @p fn: as
 * those of weft_requester_abort().
 *
 * @return how many ended
 */
unsigned int weft_uio_abort(struct weft_uio_requester *r, uint16_t dpid, bool is_over,
	uint64_t now_ns, weft_uio_lost_fn fn, void *arg);

/** Whether a request that was begun has not ended. */
bool weft_uio_is_open(const struct weft_uio_requester *r, const struct weft_io_tlp *t);

/** Requests that are open now. */
uint32_t weft_uio_outstanding(const struct weft_uio_requester *r);

/** Latencies of the requests that had an answer. */
const struct weft_latency *weft_uio_latency(const struct weft_uio_requester *r);

/** Counter rows, WEFT_UIO_N_COUNTERS of them. */
const struct weft_counter *weft_uio_counters(void);

/** Their values, in row order. Written by the requester's thread only. */
const uint64_t *weft_uio_counts(const struct weft_uio_requester *r);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_UIO_REQUESTER_H */
