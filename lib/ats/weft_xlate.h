/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The translation unit: where requests with virtual addresses leave, it has the cache, all that
 * waits for the agent, and the ATS client that asks it (ats.md sections 6 and 11). Bursts are
 * looked up by the run kernel; what hits goes on at once, what misses waits in one queue while
 * others pass.
 *
 * Two kinds of users. A host submits CXL.mem messages and gets them back with fabric addresses
 * (weft_xlate_submit() and below). Whoever has many requests in one piece, such as a frame, looks
 * them up himself (weft_xlate_run()) and lets the piece wait (weft_xlate_wait()). No translated
 * address is kept: what could not leave is looked up again.
 *
 * Words of translation:
 *
 *   1. An agent has the table; a client asks it (Translation Request) and keeps what it answers in
 *      its cache, until the agent invalidates it.
 *   2. A context is one function and address space; its translations are no other's.
 *   3. An invalidation covers a range. Its completion says that no request with an older
 *      translation is under way any more, so the unit completes it behind those.
 *   4. A translation that was asked for before an invalidation of its page and comes after is not
 *      installed.
 *   5. A page that is not there may be asked for (Page Request); the agent says when it is.
 *   6. A miss waits, and what hits passes it, unless the context is ordered: then nothing of it
 *      passes what waits.
 *
 * Pure: no clock and no allocation; one thread. Packets are those of weft_ats_wire.h.
 */
#ifndef WEFT_XLATE_H
#define WEFT_XLATE_H

#include "weft_atc.h"
#include "weft_base.h"
#include "weft_msg.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_XLATE_TAGS_MAX 1024
#define WEFT_XLATE_PLACES_MAX 32768
#define WEFT_XLATE_BURST 64 /**< messages looked up at a time */

struct weft_xlate_cfg {
	uint64_t answer_ns; /**< a Translation Request unanswered for so long is sent again */
	/** what is this old waits no more: it was given up, or nothing helps it */
	uint64_t life_ns;
	uint32_t entries; /**< of the cache, for pages of one size: a power of 2, 8..2^20 */
	uint32_t tags; /**< of messages, as weft_requester_cfg.tags; 0: no messages are submitted */
	uint16_t places; /**< that may wait in all; as many as tags where there are tags */
	uint16_t share; /**< of them for one context: one that misses much leaves room to others */
	/** 0 as 1. Context 0 has no PASID, another one the PASID of its number */
	uint16_t contexts;
	uint16_t id; /**< requester ID */
	uint8_t prefetch_degree; /**< translations of one request at most, 1..15 */
	uint8_t stu; /**< Smallest Translation Unit: 2^stu * 4 KB, 0..18 */
	bool is_ordered; /**< what is of a context never passes what waits of it */
	const struct weft_atc_kernel *kernel; /**< NULL: the scalar one */
};

enum weft_xlate_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_XLATE_N_##id,
#include "weft_xlate_counters.def"
#undef WEFT_COUNTER
	WEFT_XLATE_N_COUNTERS
};

struct weft_xlate;
struct weft_ats_atc;

/** Bytes that a unit of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_xlate_size(const struct weft_xlate_cfg *cfg);

/**
 * Make a unit that may not translate yet.
 *
 * @param mem  weft_xlate_size() bytes, 64-byte aligned, the caller's for the unit's life
 * @return the unit; NULL for a bad @p cfg or misaligned memory
 */
struct weft_xlate *weft_xlate_init(void *mem, const struct weft_xlate_cfg *cfg);

/* --- the agent --- */

/** A session with the agent began: translations may be asked for. */
void weft_xlate_enable(struct weft_xlate *x);

/** The session with the agent ended: everything it said is forgotten (section 11). */
void weft_xlate_reset(struct weft_xlate *x, uint64_t now_ns);

/** Let time pass, and what was answered go on. To be called in every poll. */
void weft_xlate_time(struct weft_xlate *x, uint64_t now_ns);

/** Take a packet of the agent. @return as weft_ats_atc_receive() and weft_ats_pri_receive() */
enum weft_verdict weft_xlate_receive(
	struct weft_xlate *x, const uint8_t *p, size_t len, uint64_t now_ns);

/** Next Translation Request. @return bytes; 0: none. @p room is WEFT_ATS_PACKET_MAX or more */
size_t weft_xlate_send_request(struct weft_xlate *x, uint8_t *buf, size_t room, uint64_t now_ns);

/** Next message: Invalidate Completion or Page Request. As weft_xlate_send_request(). */
size_t weft_xlate_send_posted(struct weft_xlate *x, uint8_t *buf, size_t room);

/* --- what waits --- */

/** Why something need not wait any more. */
enum weft_xlate_why {
	WEFT_XLATE_LOOK, /**< look it up again */
	WEFT_XLATE_NO_PAGE, /**< the page of its address is not given */
	WEFT_XLATE_EXPIRED /**< it waited for life_ns */
};

/** One that waits: a message of the unit's own, or whatever the caller has. */
struct weft_xlate_item {
	uint64_t va; /**< address that missed */
	uint64_t cookie; /**< the caller's */
	uint64_t until_ns; /**< end of its life; 0: life_ns from now */
	uint64_t known; /**< the caller's; 0 when it comes out, if translations were taken away */
	uint16_t ctx;
	uint8_t want; /**< enum weft_atc_flags */
	uint8_t why; /**< weft_xlate_take(): enum weft_xlate_why */
};

/** Look a run up, as weft_atc_lookup_run(). */
unsigned int weft_xlate_run(struct weft_xlate *x, const struct weft_atc_run *q, unsigned int n);

/**
 * Let something wait for the translation of its address, which is asked for. Where contexts are
 * ordered it waits behind what waits of its context, without asking.
 *
 * @return 0; -EAGAIN if there is no place; another negative number: nothing can be asked, it does
 *         not wait
 */
int weft_xlate_wait(struct weft_xlate *x, const struct weft_xlate_item *item, uint64_t now_ns);

/** Ask for a translation that will be wanted: of what waits for another one already. */
void weft_xlate_ask(struct weft_xlate *x, uint16_t ctx, uint64_t va);

/**
 * Next one that waits no more, in the order of the answers. All of them are to be taken before
 * anything new of an ordered context is looked up.
 */
bool weft_xlate_take(struct weft_xlate *x, uint64_t now_ns, struct weft_xlate_item *item);

/** Nothing is waited for any more: all of it is to be taken, as if expired. */
void weft_xlate_give_up(struct weft_xlate *x);

/** Whether something of a context is waiting or to be taken. Ordered contexts only. */
bool weft_xlate_is_waiting(const struct weft_xlate *x, uint16_t ctx);

/** How many wait for an answer; how many are to be taken; how many were in a place at the most. */
unsigned int weft_xlate_waiting(const struct weft_xlate *x);
unsigned int weft_xlate_ready(const struct weft_xlate *x);
unsigned int weft_xlate_most(const struct weft_xlate *x);

/**
 * @p n requests leave by translations looked up just now. They are as writes: Invalidate
 *    Completions stay behind them until weft_xlate_passed().
 */
void weft_xlate_leave(struct weft_xlate *x, unsigned int n);

/** How many left in all; wraps. */
uint32_t weft_xlate_left(const struct weft_xlate *x);

/** Those that had left at weft_xlate_left() == @p left are in their ordered channel. */
void weft_xlate_passed(struct weft_xlate *x, uint32_t left);

/* --- messages of a host --- */

/** Bits of what may leave now. */
enum weft_xlate_kinds { WEFT_XLATE_READS = 1 << 0, WEFT_XLATE_WRITES = 1 << 1 };

/** A message that leaves. */
struct weft_xlate_out {
	struct weft_msg msg; /**< with its fabric address; its dpid is the caller's to decide */
	bool is_refused; /**< may not be done, its address is as it was: the caller answers it */
};

/**
 * Take a request of the host: MemRd or MemWr of a line, its address virtual.
 *
 * @return 0; -EBUSY if an older one of its tag still waits for an answer (the host's timeout is too
 *         short for that to come): it is not taken, and so lost
 */
int weft_xlate_submit(struct weft_xlate *x, const struct weft_msg *m, uint64_t now_ns);

/**
 * The next requests that leave. Before the next packet is received, of each is told that it was
 * sent (weft_xlate_sent()) or could not be (weft_xlate_put_back()), or it is answered or given up.
 *
 * @param kinds  enum weft_xlate_kinds: what the way out has room for
 * @return how many, up to @p n and WEFT_XLATE_BURST; 0: nothing leaves now
 */
unsigned int weft_xlate_next(struct weft_xlate *x, unsigned int kinds, uint64_t now_ns,
	struct weft_xlate_out *out, unsigned int n);

/** The request with @p tag, from weft_xlate_next(), is sent to @p dpid. */
void weft_xlate_sent(struct weft_xlate *x, uint16_t tag, uint16_t dpid);

/** The request with @p tag, from weft_xlate_next(), could not be sent: it is looked up again. */
void weft_xlate_put_back(struct weft_xlate *x, uint16_t tag);

/**
 * An answer came. @return true: the host may have it; false: its data must not be used, as an
 * invalidation overtook it; the request is made again
 *
 * Requests and Invalidate Completions have different ways here, so a completion pushes nothing: a
 * write counts as passed when it was answered.
 */
bool weft_xlate_response(struct weft_xlate *x, const struct weft_msg *m);

/**
 * The session with a memory device ended. As this host may have been away for as long, the cache is
 * emptied; writes under way to @p dpid have an unknown fate until the next session begins.
 */
void weft_xlate_ended(struct weft_xlate *x, uint16_t dpid);

/** Another session with @p dpid began: nothing of the old one can arrive there any more. */
void weft_xlate_began(struct weft_xlate *x, uint16_t dpid);

/* --- counters --- */

/** The peer and the cache, for their counters. */
const struct weft_ats_atc *weft_xlate_peer(const struct weft_xlate *x);
const struct weft_atc *weft_xlate_cache(const struct weft_xlate *x);

/** Counter rows, WEFT_XLATE_N_COUNTERS of them, and their values in row order. */
extern const struct weft_counter weft_xlate_counters[];
const uint64_t *weft_xlate_counts(const struct weft_xlate *x);

WEFT_END_DECLS

#endif /* WEFT_XLATE_H */
