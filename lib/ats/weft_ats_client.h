/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A host whose requests go by virtual addresses: cache, Translation Requests, page requests, and what
 * waits for them (ats.md sections 6 and 11). CXL.mem requests go in with virtual addresses and come
 * out with fabric addresses, each as soon as it can; what misses waits while others pass. No
 * translated address is kept: a request that cannot leave at once is looked up again.
 *
 * Requests and Invalidate Completions have different ways here, so a completion pushes nothing: a
 * write counts as passed when it was answered (weft_ats_client_response()).
 *
 * Pure: no clock and no allocation; one thread. Packets are those of weft_ats_wire.h.
 */
#ifndef WEFT_ATS_CLIENT_H
#define WEFT_ATS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_atc.h"
#include "weft_msg.h"
#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ATS_CLIENT_TAGS_MAX 1024

struct weft_ats_client_cfg {
	uint64_t answer_ns; /**< a Translation Request unanswered for so long is sent again */
	uint64_t life_ns; /**< a request this old is not sent any more: its host gave it up */
	uint32_t entries; /**< of the cache, for pages of one size: a power of 2, 8..2^20 */
	uint32_t tags; /**< as weft_requester_cfg.tags, up to WEFT_ATS_CLIENT_TAGS_MAX */
	uint16_t id; /**< requester ID */
	uint8_t prefetch_degree; /**< translations of one request at most, 1..15 */
	uint8_t stu; /**< Smallest Translation Unit: 2^stu * 4 KB, 0..18 */
	const struct weft_atc_kernel *kernel; /**< NULL: the scalar one */
};

/** Results of weft_ats_client_next(). */
enum weft_ats_client_next {
	WEFT_ATS_CLIENT_NONE,
	WEFT_ATS_CLIENT_SEND, /**< has its fabric address; tell with weft_ats_client_sent() where to */
	WEFT_ATS_CLIENT_REFUSE /**< may not be done; as if sent, to be answered by the caller */
};

/** Bits of what may leave now. */
enum weft_ats_client_kinds { WEFT_ATS_CLIENT_READS = 1 << 0, WEFT_ATS_CLIENT_WRITES = 1 << 1 };

enum weft_ats_client_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_ATS_CLIENT_N_##id,
#include "weft_ats_client_counters.def"
#undef WEFT_COUNTER
	WEFT_ATS_CLIENT_N_COUNTERS
};

struct weft_ats_client;
struct weft_ats_atc;
struct weft_counter;

/** Bytes that a client of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_ats_client_size(const struct weft_ats_client_cfg *cfg);

/**
 * Make a client that may not translate yet.
 *
 * @param mem  weft_ats_client_size() bytes, 64-byte aligned, the caller's for the client's life
 * @return the client; NULL for a bad @p cfg or misaligned memory
 */
struct weft_ats_client *weft_ats_client_init(void *mem, const struct weft_ats_client_cfg *cfg);

/** A session with the agent began: translations may be asked for. */
void weft_ats_client_enable(struct weft_ats_client *c);

/** The session with the agent ended: everything it said is forgotten (section 11). */
void weft_ats_client_reset(struct weft_ats_client *c, uint64_t now_ns);

/**
 * The session with a memory device ended. As this host may have been away for as long, the cache is
 * emptied; writes under way to @p dpid have an unknown fate until the next session begins.
 */
void weft_ats_client_ended(struct weft_ats_client *c, uint16_t dpid);

/** Another session with @p dpid began: nothing of the old one can arrive there any more. */
void weft_ats_client_began(struct weft_ats_client *c, uint16_t dpid);

/**
 * Take a request of the host: MemRd or MemWr of a line, its address virtual.
 *
 * @return 0; -EBUSY if an older one of its tag still waits for an answer (the host's timeout is too
 *         short for that to come): it is not taken, and so lost
 */
int weft_ats_client_submit(struct weft_ats_client *c, const struct weft_msg *m, uint64_t now_ns);

/**
 * Next request that leaves.
 *
 * @param kinds  enum weft_ats_client_kinds: what the way out has room for
 * @param m      receives it. Its dpid is the caller's to decide by the address
 */
enum weft_ats_client_next weft_ats_client_next(
	struct weft_ats_client *c, unsigned int kinds, uint64_t now_ns, struct weft_msg *m);

/** The request with @p tag, from weft_ats_client_next(), was sent to @p dpid. */
void weft_ats_client_sent(struct weft_ats_client *c, uint16_t tag, uint16_t dpid);

/**
 * An answer came. @return true: the host may have it; false: its data must not be used, as an
 * invalidation overtook it; the request is made again
 */
bool weft_ats_client_response(struct weft_ats_client *c, const struct weft_msg *m);

/** Let time pass, and what was answered go on. To be called in every poll. */
void weft_ats_client_time(struct weft_ats_client *c, uint64_t now_ns);

/** Take a packet of the agent. @return as weft_ats_atc_receive() and weft_ats_pri_receive() */
enum weft_verdict weft_ats_client_receive(
	struct weft_ats_client *c, const uint8_t *p, size_t len, uint64_t now_ns);

/** Next Translation Request. @return bytes; 0: none. @p room is WEFT_ATS_PACKET_MAX or more */
size_t weft_ats_client_send_request(
	struct weft_ats_client *c, uint8_t *buf, size_t room, uint64_t now_ns);

/** Next message: Invalidate Completion or Page Request. As weft_ats_client_send_request(). */
size_t weft_ats_client_send_posted(struct weft_ats_client *c, uint8_t *buf, size_t room);

/** Requests that wait for a translation or a page. */
unsigned int weft_ats_client_waiting(const struct weft_ats_client *c);

/** The peer and the cache, for their counters. */
const struct weft_ats_atc *weft_ats_client_peer(const struct weft_ats_client *c);
const struct weft_atc *weft_ats_client_cache(const struct weft_ats_client *c);

/** Counter rows, WEFT_ATS_CLIENT_N_COUNTERS of them, and their values in row order. */
const struct weft_counter *weft_ats_client_counters(void);
const uint64_t *weft_ats_client_counts(const struct weft_ats_client *c);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_ATS_CLIENT_H */
