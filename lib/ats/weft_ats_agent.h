/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A translation agent with its tables: answers clients from ranges of pages, gives pages that are
 * asked for, and moves pages between two places as migration does (ats.md sections 4.8, 5.4, 11):
 * take the page out of the table, invalidate, wait until every completion came, copy, wipe the old
 * place, put the page back. Questions about a page that moves wait.
 *
 * A page that has moved stays for three times as long as its move took it from its users, and then
 * moves again at the earliest; so it is theirs for three quarters of the time, whatever period_ns
 * says.
 *
 * A client that does not complete in time is isolated, and its page stays where it is, held, until
 * the client's session has ended and whatever it sent in it must have arrived.
 *
 * Pure: no clock and no allocation; one thread, but for weft_ats_agent_isolated(). Packets are
 * those of weft_ats_wire.h; the lines of a copy are read and written by the caller.
 */
#ifndef WEFT_ATS_AGENT_H
#define WEFT_ATS_AGENT_H

#include "weft_base.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_ATS_AGENT_MIGRATIONS 32
#define WEFT_ATS_AGENT_ASKS 64 /**< moves that were asked for and have not been told of */
#define WEFT_ATS_AGENT_LINE 64
#define WEFT_ATS_AGENT_WIPED 0xDB /**< every byte of a place that was given up */

/** Pages of a client: addresses from va on stand for memory from pa on. */
struct weft_ats_agent_map {
	uint64_t va, pa, size; /**< whole pages */
	uint64_t alt_pa; /**< the other place; 0: none */
	uint16_t client; /**< index into cfg.client */
	uint8_t page_log2; /**< 12..30 */
	uint8_t bits; /**< WEFT_ATS_R, WEFT_ATS_W */
	bool on_demand; /**< a page is there once it was asked for */
};

struct weft_ats_agent_client {
	uint16_t id; /**< requester ID */
	uint8_t stu; /**< Smallest Translation Unit: 2^stu * 4 KB; no page of its maps is smaller */
};

struct weft_ats_agent_cfg {
	uint64_t timeout_ns; /**< of an invalidation */
	uint64_t fence_ns; /**< what was sent in a session that ended has arrived after so long */
	uint64_t period_ns; /**< a page is moved so often at most; 0: never */
	const struct weft_ats_agent_map *map; /**< the caller's, for the agent's life */
	const struct weft_ats_agent_client *client; /**< likewise */
	uint16_t n_maps; /**< 1 or more */
	uint16_t n_clients; /**< 1..4096 */
	uint16_t id; /**< of the agent */
	uint8_t max_concurrent; /**< at a time, 1..WEFT_ATS_AGENT_MIGRATIONS */
};

enum weft_ats_agent_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_ATS_AGENT_N_##id,
#include "weft_ats_agent_counters.def"
#undef WEFT_COUNTER
	WEFT_ATS_AGENT_N_COUNTERS
};

/** A line of a copy. */
struct weft_ats_agent_op {
	const uint8_t *data; /**< to be written; NULL: it is to be read */
	uint64_t hpa;
	uint32_t cookie;
	bool is_poison; /**< to be written as poison: what was read was */
};

struct weft_ats_agent;
struct weft_ats_ta;

/** Bytes that an agent of @p cfg needs; 0 if @p cfg is out of range. */
size_t weft_ats_agent_size(const struct weft_ats_agent_cfg *cfg);

/**
 * Make an agent whose clients are all down.
 *
 * @param mem  weft_ats_agent_size() bytes, 64-byte aligned, the caller's for the agent's life
 * @return the agent; NULL for a bad @p cfg or misaligned memory
 */
struct weft_ats_agent *weft_ats_agent_init(void *mem, const struct weft_ats_agent_cfg *cfg);

/** The session with a client began. @param client index; any other is ignored */
void weft_ats_agent_up(struct weft_ats_agent *a, unsigned int client);

/**
 * The session with a client ended: it knows nothing any more (section 11). Its questions are
 * dropped; pages that it had go on to move once cfg.fence_ns have passed.
 */
void weft_ats_agent_down(struct weft_ats_agent *a, unsigned int client, uint64_t now_ns);

/** Let time pass: answer, give pages, begin and end moves. To be called in every poll. */
void weft_ats_agent_time(struct weft_ats_agent *a, uint64_t now_ns);

/**
 * Take a packet.
 *
 * @param from  the sender, by the fabric: a packet in another's name is WEFT_DROP_ATS_PEER
 * @return as weft_ats_ta_receive() and weft_ats_pages_receive()
 */
enum weft_verdict weft_ats_agent_receive(
	struct weft_ats_agent *a, uint16_t from, const uint8_t *p, size_t len);

/**
 * Next answer to a Translation Request.
 *
 * @param to  receives the requester ID that gets it
 * @return bytes; 0: none. @p room is WEFT_ATS_PACKET_MAX or more
 */
size_t weft_ats_agent_send_answer(
	struct weft_ats_agent *a, uint8_t *buf, size_t room, uint16_t *to);

/** Next message for a client that is up: Invalidate Request, or answer to a Page Request. */
size_t weft_ats_agent_send_posted(
	struct weft_ats_agent *a, unsigned int client, uint8_t *buf, size_t room, uint64_t now_ns);

/** A line that a copy needs read or written. @return false: none now */
bool weft_ats_agent_op(struct weft_ats_agent *a, uint64_t now_ns, struct weft_ats_agent_op *op);

/** It has begun; otherwise the same is offered again. */
void weft_ats_agent_op_begun(struct weft_ats_agent *a, uint32_t cookie);

/**
 * The page that has one of its two places at an address, wherever it is now.
 *
 * @param first  receives where that place begins, and @p size its bytes
 * @return 0, or -ENOENT: no page has, or it has no other place
 */
int weft_ats_agent_page(
	const struct weft_ats_agent *a, uint64_t hpa, uint64_t *first, uint64_t *size);

/**
 * Ask for the page at an address to move to its other place, before those that move by period_ns
 * and by the same rules: once its client is there, and it has stayed for as long as it is to.
 *
 * @param cookie  comes back with weft_ats_agent_moved()
 * @return 0; -ENOENT: as weft_ats_agent_page(); -EAGAIN: WEFT_ATS_AGENT_ASKS are not over
 */
int weft_ats_agent_move(struct weft_ats_agent *a, uint64_t hpa, uint64_t cookie, uint64_t now_ns);

/** A move that was asked for, and is over. */
struct weft_ats_agent_moved {
	uint64_t cookie;
	/**
	 * It is at its other place. False: it could not begin for timeout_ns, its client does not
	 * let go of it, or it is not copied fence_ns after that: it moves later or not at all.
	 */
	bool is_done;
};

/** The next of these. @return false: there is none now */
bool weft_ats_agent_moved(struct weft_ats_agent *a, struct weft_ats_agent_moved *m);

/** How a line ended. */
enum weft_ats_agent_op_end {
	WEFT_ATS_AGENT_OP_DONE,
	WEFT_ATS_AGENT_OP_POISON, /**< read, and poison: it is copied as that */
	WEFT_ATS_AGENT_OP_LOST
};

/**
 * It has ended.
 *
 * @param data  64 bytes, of a read that is DONE or POISON. A lost one is made again after
 *              cfg.fence_ns
 */
void weft_ats_agent_op_done(struct weft_ats_agent *a, uint32_t cookie,
	enum weft_ats_agent_op_end end, const uint8_t *data, uint64_t now_ns);

/** Clients isolated since the last call, a bit each of the first 64: to tell people. Any thread. */
uint64_t weft_ats_agent_isolated(struct weft_ats_agent *a);

/** Let no page move but those that were asked for, or let them move again. */
void weft_ats_agent_hold(struct weft_ats_agent *a, bool on);

/** Moves under way, and those of them whose client did not complete. */
unsigned int weft_ats_agent_moving(const struct weft_ats_agent *a);
unsigned int weft_ats_agent_stuck(const struct weft_ats_agent *a);

/** The peer, for its counters. */
const struct weft_ats_ta *weft_ats_agent_peer(const struct weft_ats_agent *a);

/** Counter rows, WEFT_ATS_AGENT_N_COUNTERS of them, and their values in row order. */
extern const struct weft_counter weft_ats_agent_counters[];
const uint64_t *weft_ats_agent_counts(const struct weft_ats_agent *a);

WEFT_END_DECLS

#endif /* WEFT_ATS_AGENT_H */
