/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A host whose requests go by virtual addresses: cache, Translation Requests, page requests, and what
 * waits for them (ats.md sections 6 and 11). CXL.mem requests go in with virtual addresses and come
 * out with fabric addresses, each as soon as it can; what misses waits while others pass. No
 * translated address is kept: a request that cannot leave at once is looked up again.
 *
 * Requests and Invalidate Completions have different ways here, so a completion pushes nothing: a
 * write counts as passed when it was answered (weft_xlate_response()).
 *
 * Pure: no clock and no allocation; one thread. Packets are those of weft_ats_wire.h.
 */
#ifndef WEFT_XLATE_H
#define WEFT_XLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_atc.h"
#include "weft_msg.h"
#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_XLATE_TAGS_MAX 1024

struct weft_xlate_cfg {
	uint64_t answer_ns; /**< a Translation Request unanswered for so long is sent again */
	uint64_t life_ns; /**< a request this old is not sent any more: its host gave it up */
	uint32_t entries; /**< of the cache, for pages of one size: a power of 2, 8..2^20 */
	uint32_t tags; /**< as weft_requester_cfg.tags, up to WEFT_XLATE_TAGS_MAX */
	uint16_t id; /**< requester ID */
	uint8_t prefetch_degree; /**< translations of one request at most, 1..15 */
	uint8_t stu; /**< Smallest Translation Unit: 2^stu * 4 KB, 0..18 */
	const struct weft_atc_kernel *kernel; /**< NULL: the scalar one */
};

/** Results of weft_xlate_next(). */
enum weft_xlate_next {
	WEFT_XLATE_NONE,
	WEFT_XLATE_SEND, /**< has its fabric address; tell with weft_xlate_sent() where to */
	WEFT_XLATE_REFUSE /**< may not be done; as if sent, to be answered by the caller */
};

/** Bits of what may leave now. */
enum weft_xlate_kinds { WEFT_XLATE_READS = 1 << 0, WEFT_XLATE_WRITES = 1 << 1 };

enum weft_xlate_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_XLATE_N_##id,
#include "weft_xlate_counters.def"
#undef WEFT_COUNTER
	WEFT_XLATE_N_COUNTERS
};

struct weft_xlate;
struct weft_ats_atc;
struct weft_counter;

/** Bytes that a client of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_xlate_size(const struct weft_xlate_cfg *cfg);

/**
 * Make a client that may not translate yet.
 *
 * @param mem  weft_xlate_size() bytes, 64-byte aligned, the caller's for the client's life
 * @return the client; NULL for a bad @p cfg or misaligned memory
 */
struct weft_xlate *weft_xlate_init(void *mem, const struct weft_xlate_cfg *cfg);

/** A session with the agent began: translations may be asked for. */
void weft_xlate_enable(struct weft_xlate *c);

/** The session with the agent ended: everything it said is forgotten (section 11). */
void weft_xlate_reset(struct weft_xlate *c, uint64_t now_ns);

/**
 * The session with a memory device ended. As this host may have been away for as long, the cache is
 * emptied; writes under way to @p dpid have an unknown fate until the next session begins.
 */
void weft_xlate_ended(struct weft_xlate *c, uint16_t dpid);

/** Another session with @p dpid began: nothing of the old one can arrive there any more. */
void weft_xlate_began(struct weft_xlate *c, uint16_t dpid);

/**
 * Take a request of the host: MemRd or MemWr of a line, its address virtual.
 *
 * @return 0; -EBUSY if an older one of its tag still waits for an answer (the host's timeout is too
 *         short for that to come): it is not taken, and so lost
 */
int weft_xlate_submit(struct weft_xlate *c, const struct weft_msg *m, uint64_t now_ns);

/**
 * Next request that leaves.
 *
 * @param kinds  enum weft_xlate_kinds: what the way out has room for
 * @param m      receives it. Its dpid is the caller's to decide by the address
 */
enum weft_xlate_next weft_xlate_next(
	struct weft_xlate *c, unsigned int kinds, uint64_t now_ns, struct weft_msg *m);

/** The request with @p tag, from weft_xlate_next(), was sent to @p dpid. */
void weft_xlate_sent(struct weft_xlate *c, uint16_t tag, uint16_t dpid);

/**
 * An answer came. @return true: the host may have it; false: its data must not be used, as an
 * invalidation overtook it; the request is made again
 */
bool weft_xlate_response(struct weft_xlate *c, const struct weft_msg *m);

/** Let time pass, and what was answered go on. To be called in every poll. */
void weft_xlate_time(struct weft_xlate *c, uint64_t now_ns);

/** Take a packet of the agent. @return as weft_ats_atc_receive() and weft_ats_pri_receive() */
enum weft_verdict weft_xlate_receive(
	struct weft_xlate *c, const uint8_t *p, size_t len, uint64_t now_ns);

/** Next Translation Request. @return bytes; 0: none. @p room is WEFT_ATS_PACKET_MAX or more */
size_t weft_xlate_send_request(struct weft_xlate *c, uint8_t *buf, size_t room, uint64_t now_ns);

/** Next message: Invalidate Completion or Page Request. As weft_xlate_send_request(). */
size_t weft_xlate_send_posted(struct weft_xlate *c, uint8_t *buf, size_t room);

/** Requests that wait for a translation or a page. */
unsigned int weft_xlate_waiting(const struct weft_xlate *c);

/** The peer and the cache, for their counters. */
const struct weft_ats_atc *weft_xlate_peer(const struct weft_xlate *c);
const struct weft_atc *weft_xlate_cache(const struct weft_xlate *c);

/** Counter rows, WEFT_XLATE_N_COUNTERS of them, and their values in row order. */
const struct weft_counter *weft_xlate_counters(void);
const uint64_t *weft_xlate_counts(const struct weft_xlate *c);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_XLATE_H */
