/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The retry layer of one retry domain, both directions: a link in cxl mode, a connection (SPID,
 * DPID, VC) in rxl mode (encapsulation.md sections 1 and 3, wire-formats.md section 3). A pure
 * state machine: flits and time come in, flits to send and flits to hand on come out. It neither
 * makes nor checks a CRC; it is told syndromes, and tells which numbers a CRC has to be made with.
 *
 *   send     weft_llr_reserve(), fill the flit, weft_llr_commit(): it has a number and stays in the
 *            replay buffer until it is acknowledged
 *   wire     weft_llr_tx(): what to send now, first or again, with Acks and Naks in the headers
 *   receive  weft_llr_rx(): which flits of a frame are to be handed on, in order, once; then
 *            weft_llr_rx_next(): flits that had come too early and are in turn now
 *
 * Inside it is two halves, that of weft_llr_rx() and that of the rest (doc/llr.md). A retry layer
 * belongs to one thread at a time. It allocates nothing.
 */
#ifndef WEFT_LLR_H
#define WEFT_LLR_H

#include "weft_base.h"
#include "weft_isn.h"
#include "weft_rtt.h"
#include "weft_telem.h"
#include "weft_wire.h"

WEFT_BEGIN_DECLS

#define WEFT_LLR_WINDOW_MAX 511
#define WEFT_LLR_ACK_EVERY 10 /**< default coalescing: one Ack for ten flits */
#define WEFT_LLR_NEVER UINT64_MAX /**< no deadline */

struct weft_llr_cfg {
	uint8_t mode; /**< enum weft_mode */
	uint8_t isn; /**< enum weft_isn_form; rxl: PSEUDO or XOR, cxl: NONE */
	/**
	 * rxl, PSEUDO: read the number of an intact flit that is out of turn from its syndrome.
	 * Without it such a flit cannot be told from a corrupt one, as in the paper.
	 */
	bool gap_decoding;
	/**
	 * Ask for single flits and keep those behind a gap in the Rx buffer; without it go back N.
	 * In rxl it needs gap_decoding.
	 */
	bool selective;
	/**
	 * cxl, both ends alike: the first flit of each frame shows its number, and others are
	 * counted within a frame alone, so a frame that is lost whole shows. Without it as in the
	 * paper.
	 */
	bool show_first;
	/** rxl: the receiving half runs on an lcore of its own: see "apart" below. */
	bool apart;
	uint16_t window; /**< most flits unacknowledged, 1..WEFT_LLR_WINDOW_MAX */
	uint16_t rx_flits; /**< room of the Rx buffer, 1..511 with selective, else 0 */
	uint16_t ack_every; /**< an Ack is due after so many flits, 1..255 */
	uint16_t nak_repeat; /**< a Nak is repeated after so many bad flits, 1..1023 */
	/**
	 * How long an Ack may wait for a flit to ride on; 0: a quarter of the round trip, half
	 * of it while it is for one or two flits.
	 */
	uint64_t ack_delay_ns;
	uint64_t timeout_min_ns; /**< bounds of the retry time-out; see weft_rtt_init() */
	uint64_t timeout_first_ns;
	uint64_t timeout_max_ns;
	/**
	 * Without progress for less than this, a time-out sends a NOP and nothing again: what is
	 * lost shows by it, and who merely was slow (its CPU was another's) gets nothing twice.
	 * 0..10 s.
	 */
	uint64_t resend_after_ns;
	uint8_t replays_max; /**< time-outs in a row without progress, then retrain (cxl); 1..255 */
};

/** Defaults for a mode, for an unknown network: to be changed at will before weft_llr_init(). */
void weft_llr_defaults(struct weft_llr_cfg *c, enum weft_mode mode);

/** Row order of weft_llr_counters and of the values. */
enum weft_llr_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_LLR_N_##id,
#include "weft_llr_counters.def"
#undef WEFT_COUNTER
	WEFT_LLR_N_COUNTERS
};

struct weft_llr;

/** Bytes that a retry layer of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_llr_size(const struct weft_llr_cfg *cfg);

/**
 * Make a retry layer at the start of a session, in @p mem, which stays the caller's.
 *
 * @return it, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_llr *weft_llr_init(void *mem, const struct weft_llr_cfg *cfg, uint64_t now_ns);

/** Start over for the next session: all it held is gone; the counts go on. */
void weft_llr_restart(struct weft_llr *l, uint32_t session, uint64_t now_ns);

/** There is no session any more. */
void weft_llr_over(struct weft_llr *l);

/* --- sending --- */

/** Flits that weft_llr_reserve() would give now, one after another. */
unsigned int weft_llr_room(const struct weft_llr *l);

/**
 * Room for the next flit: WEFT_FLIT_LEN bytes in the replay buffer, the caller's to fill (bytes
 * 0..241) until weft_llr_commit(). Asked again before that, the same. NULL: the window is full.
 */
uint8_t *weft_llr_reserve(struct weft_llr *l);

/** The reserved flit is complete. Its number follows from the order of commits. */
void weft_llr_commit(struct weft_llr *l);

/**
 * As weft_llr_commit(), for a flit whose data turned out to be poisoned when it was already under
 * way: on the wire come the flit with its CRC inverted, the LLCTRL Poison flit, the flit as it is,
 * with nothing in between (the late-poison ECN; wire-formats.md section 4.6). Uses two
 * numbers.
 *
 * @param message  message offset, 0..7: payload of the Poison message
 * @return 0; -EAGAIN if the window has no room for both (the flit stays reserved)
 */
int weft_llr_commit_poisoned(struct weft_llr *l, uint8_t message);

/** Flits to be sent now, and how to protect them. */
struct weft_llr_tx_info {
	uint16_t n; /**< 0..64 */
	uint16_t nops; /**< of them NOPs: the last ones */
	uint16_t resent; /**< of them flits that are sent again */
	/**
	 * rxl: number of the first; the others follow one by one modulo 1024, but for the NOPs:
	 * they use no number, and all of them are made with the one behind the last flit.
	 */
	uint16_t first;
	/** flits whose CRC is to be inverted after it was made (bit i: flit i) */
	uint64_t invert_crc;
};

/**
 * Give what is to be sent now: replays first, then flits never sent, else a NOP if an Ack or Nak
 * may not wait any longer. Timers are looked at here and nowhere else.
 *
 * @param flits  room for @p max flits; bytes 0..241 are written, with the header for this sending
 * @param max    1..64
 * @return out->n
 */
unsigned int weft_llr_tx(struct weft_llr *l, uint8_t *flits, unsigned int max, uint64_t now_ns,
	struct weft_llr_tx_info *out);

/** When weft_llr_tx() has something to send: 0 for now, WEFT_LLR_NEVER for not by time alone. */
uint64_t weft_llr_deadline(const struct weft_llr *l);

/** Have a NOP sent soon, to tell the other end that this one lives. */
void weft_llr_request_nop(struct weft_llr *l);

/* --- receiving --- */

/** What became of the flits of a run; bit i stands for flit i. Masks are disjoint. */
struct weft_llr_rx_result {
	/** to be handed on, in this order, before what weft_llr_rx_next() gives */
	uint64_t deliver;
	uint64_t held; /**< copied into the Rx buffer: not to be handed on from here */
	uint64_t duplicate;
	uint64_t bad; /**< corrupt, or (without gap decoding) out of turn */
	uint64_t nop; /**< intact and empty: NOP, IDLE */
	uint64_t refused; /**< intact, but nothing can be done with it: out of window, no room */
};

/**
 * Take the flits of a frame of this session.
 *
 * @param flits     @p n (0..64) flits; only read
 * @param syndrome  of each: CRC recomputed XOR CRC received; in rxl as for number 0 of this
 *                  connection, so that an intact flit has L(its number)
 * @param skip      flits to pass over as if they were not there
 */
void weft_llr_rx(struct weft_llr *l, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, uint64_t now_ns, struct weft_llr_rx_result *in);

/**
 * The next flit that was held and is in turn now, or NULL. Valid until the next call for this retry
 * layer. Flits left here go before any that weft_llr_rx() delivers: until they are fetched it puts
 * flits that are in turn behind them.
 */
const uint8_t *weft_llr_rx_next(struct weft_llr *l);

/*
 * --- apart ---
 *
 * With cfg.apart one lcore, the receiver, calls weft_llr_rx(), weft_llr_rx_next() and what follows
 * here, another all else. They tell each other by queues.
 */

bool weft_llr_is_apart(const struct weft_llr *l);

/**
 * Receiver: whether frames of @p session are to be taken; if not, the other lcore is told of it.
 */
bool weft_llr_rx_session(struct weft_llr *l, uint32_t session, uint64_t now_ns);

/** Receiver: the session, 0 for none. */
uint32_t weft_llr_rx_live(const struct weft_llr *l);

/**
 * Receiver: look at time, and at what the other lcore said. To be called often.
 *
 * @return whether it said anything, or made room for what the other lcore has to say
 */
bool weft_llr_rx_poll(struct weft_llr *l, uint64_t now_ns);

/**
 * All else: hear one thing that the receiver said.
 *
 * @param session  receives the session that a frame came of, see weft_session_flits(); 0: none came
 * @return false: that was all
 */
bool weft_llr_hear(struct weft_llr *l, uint64_t now_ns, uint32_t *session);

/* --- looking at it --- */

/** What the owner has to know. */
enum weft_llr_state {
	WEFT_LLR_RUNNING,
	WEFT_LLR_RETRAINING, /**< cxl: sequence handshake under way, payload waits */
	WEFT_LLR_STUCK /**< replays_max time-outs in a row without progress; it goes on trying */
};

enum weft_llr_state weft_llr_state(const struct weft_llr *l);

/**
 * Signs that somebody else sends in this session too, so that what was handed on is not what the
 * other end sent. Nothing in the retry layer can mend that: only a new session does. A damaged,
 * lost, doubled or late flit is no such sign, nor is a silence.
 */
enum weft_llr_doubt {
	/**
	 * A number came with two contents, or (cxl) more was taken than was sent. Not told in the
	 * form XOR, whose numbers cannot be read.
	 */
	WEFT_LLR_DOUBT_CONFLICT = 1,
	WEFT_LLR_DOUBT_ACKS = 2 /**< for a while no Ack or Nak has fitted what is out */
};

/** The signs of this session, or-ed; 0: none. They stay until weft_llr_restart(). */
unsigned int weft_llr_doubt(const struct weft_llr *l);

/** Committed flits that are not acknowledged. */
unsigned int weft_llr_unacked(const struct weft_llr *l);

/** Flits in the Rx buffer, in turn or not. */
unsigned int weft_llr_held_count(const struct weft_llr *l);

/** Flits that weft_llr_rx_next() would give now. */
unsigned int weft_llr_ready_count(const struct weft_llr *l);

/** Flits to be sent now, those to be sent again included. */
unsigned int weft_llr_unsent(const struct weft_llr *l);

/** Number that enters the CRC of the next flit in turn; 0 in cxl mode, where none does. */
uint16_t weft_llr_expected(const struct weft_llr *l);

/** The measured round trip. */
const struct weft_rtt *weft_llr_rtt(const struct weft_llr *l);

/** Counter rows, WEFT_LLR_N_COUNTERS of them. */
extern const struct weft_counter weft_llr_counters[];

/** What one row has come to. */
uint64_t weft_llr_count(const struct weft_llr *l, enum weft_llr_counter row);

/** Add all rows to WEFT_LLR_N_COUNTERS sums. */
void weft_llr_counts_add(const struct weft_llr *l, uint64_t *sum);

WEFT_END_DECLS

#endif /* WEFT_LLR_H */
