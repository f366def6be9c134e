/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One end of a retry domain, whole: session, retry, credits, packing. Messages and CXL.io packets
 * go in at one side and come out in order, once, at the other; the owner moves frames and makes and
 * checks CRC and FEC. weftd and the simulator run the same object. Pure: time and random bits come
 * in. One thread at a time.
 *
 * Words of links, with the rules that keep them (doc/spec/rules.md):
 *
 *   1. A retry domain has two ends: in cxl mode those of a link, in rxl mode those of a connection
 *      (SPID, DPID, VC), with switches between them that keep nothing of it.
 *   2. A session (weft_session.h) is one life of a domain. All state of retry, credits and IDE
 *      begins with it (SESS-8).
 *   3. A flit that is committed has a number and stays in the replay buffer until the other end has
 *      acknowledged it (RETRY-1). Those are unacked; no more than the window (RETRY-2).
 *   4. A flit is in order if its number follows that of the last one delivered. In order, each
 *      once, is how flits are delivered (RETRY-3).
 *   5. A gap is one or more numbers that are missing before a flit that came. A duplicate has a
 *      number that was delivered already (RETRY-6).
 *   6. An Ack names the newest flit delivered, and stands for all before it. It is pending from the
 *      first flit that it would be for until it is sent (RETRY-4).
 *   7. A standard Nak asks for all flits from a number on (go back N), a selective Nak for one,
 *      while later flits are kept (RETRY-20, RETRY-21).
 *   8. A replay sends flits again from the oldest unacked one. A time-out without progress begins
 *      one, or first a NOP that shows what was sent (RETRY-10).
 *   9. A credit is room for one message of a class at the receiver: granted at first, consumed by
 *      the message, returned in a flit with a number (RETRY-12).
 */
#ifndef WEFT_LINK_H
#define WEFT_LINK_H

#include "weft_base.h"
#include "weft_control.h"
#include "weft_credits.h"
#include "weft_ide.h"
#include "weft_io.h"
#include "weft_llr.h"
#include "weft_msg.h"
#include "weft_session.h"
#include "weft_telem.h"
#include "weft_verdict.h"
#include "weft_wire.h"

WEFT_BEGIN_DECLS

/** IDE of an end. What lies behind the pointers must outlive the end. */
struct weft_link_ide {
	struct weft_ide_lib *lib;
	/** weft_link_ide_size() bytes for both streams, 64-byte aligned: they hold keys */
	void *mem;
	/**
	 * Make the key of a direction: WEFT_IDE_KEY_LEN bytes, which the end wipes. @p
	 * from_initiator: the initiator sends; @p generation: key changes in the session before it.
	 * No (deal, direction, generation) is asked for twice. False: cannot, and the session ends.
	 */
	bool (*key)(void *arg, const struct weft_session_transcript *d, bool from_initiator,
		uint32_t generation, uint8_t *key);
	void *arg;
	/**
	 * A key is changed when it has sealed so many flits, 1..2^48: beyond it seals at most the
	 * one that ends the epoch.
	 */
	uint64_t rekey_flits;
	uint64_t rekey_ns; /**< or after so long, if it has sealed any; 1 or more */
	/**
	 * The owner opens what came, with the stream of weft_link_rx_ide(), before it delivers.
	 * False: the end does, on copies.
	 */
	bool owner_opens;
	/** With owner_opens: on another lcore, with the half of this that opens. */
	bool apart;
};

/** What an owner that opens has of the session. */
struct weft_link_rx_ide {
	struct weft_ide_stream *stream; /**< NULL: there is no session, or none with keys */
	uint32_t session; /**< whose flits it opens */
	/** Changes whenever the stream does: flits that an earlier one held are lost. */
	uint32_t number;
};

#define WEFT_LINK_IO_ROOM_MAX 127 /**< CXL.io packets of a class that an end may grant */

/**
 * Called for a CXL.io packet that is complete and in order; valid during the call only.
 *
 * @return true: consumed, its credit goes back; false: it waits in the end's room until
 *         weft_link_io_pop(). Behind one that waits, packets of its class wait without a call, and
 *         behind a posted one all that came after it
 */
typedef bool (*weft_link_io_fn)(void *arg, const struct weft_io_tlp *t);

struct weft_link_cfg {
	struct weft_session_cfg session; /**< its params say mode, ISN form and largest frame */
	struct weft_llr_cfg llr; /**< window 8 or more */
	uint8_t form; /**< enum weft_form of messages and CXL.io packets; rxl: PBR */
	/** Of a frame that this end sends, 1..64; the other end may lower it. */
	uint8_t max_flits;
	/**
	 * Messages of each kind (enum weft_msg_kind) that may wait here for the owner; that many
	 * are granted. 0: this end takes none of the kind.
	 */
	uint16_t room[WEFT_MSG_LLCTRL];
	/**
	 * WEFT_MSG_KINDS counts of messages seen, the owner's; see weft_unpack_init(). May be NULL.
	 */
	uint64_t *seen;
	/** With session.params.ide_mode on, else NULL. Mode and options are those of the params. */
	const struct weft_link_ide *ide;
	/**
	 * CXL.io packets of each class (enum weft_io_class) that may wait here, 0..127; that many
	 * are granted. 0: this end takes none; if neither end takes any, no CXL.io flit is sent.
	 * Not with IDE, which does not cover such flits.
	 */
	uint16_t io_room[WEFT_IO_CLASSES];
	weft_link_io_fn io; /**< may be NULL: all wait */
	void *io_arg;
};

/** Row order of weft_link_counters. */
enum weft_link_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_LINK_N_##id,
#include "weft_link_counters.def"
#undef WEFT_COUNTER
	WEFT_LINK_N_COUNTERS
};

struct weft_link;

/**
 * With owner_opens, on the lcore that opens: the stream of what comes in this session. Flits go
 * through it once, when the retry layer has put them in order. With ide.apart to be called now and
 * then without flits too: keys of a session that is over are wiped by it.
 */
const struct weft_link_rx_ide *weft_link_rx_ide(struct weft_link *e);

/**
 * What came of a run of flits in it, none after an IDE.Start: makes keys, counts, notes failures.
 *
 * @return whether it failed: with ide.apart weft_link_hear() is due
 */
bool weft_link_rx_opened(struct weft_link *e, const struct weft_ide_run *run);

/** Bytes of memory for keys that an end with IDE needs. */
size_t weft_link_ide_size(void);

/** Bytes that an end of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_link_size(const struct weft_link_cfg *cfg);

/** Make an end, down, in @p mem, which stays the caller's. NULL: bad @p cfg or alignment. */
struct weft_link *weft_link_init(void *mem, const struct weft_link_cfg *cfg, uint64_t now_ns);

/**
 * Called for a message that is complete and in order; valid during the call only. LLCTRL messages
 * come too (their result does not matter).
 *
 * @return true: consumed, its credit goes back; false: it waits in the end's room until
 *         weft_link_pop(). Behind one that waits, messages of its class wait without a call
 */
typedef bool (*weft_link_msg_fn)(void *arg, const struct weft_msg *m);

/**
 * Prefetch what a frame for this end, or a look at it, will touch. Reads nothing of it: with
 * thousands of ends a call some hundred nanoseconds early hides most of the way to memory.
 */
void weft_link_prefetch(const struct weft_link *e);

/** A control frame came for this end: @p len bytes of records behind its header @p h. */
enum weft_session_event weft_link_control(struct weft_link *e, const struct weft_wire_hdr *h,
	const uint8_t *rec, size_t len, uint64_t now_ns, uint64_t rnd);

/**
 * A frame with flits came. First of the three steps of receiving; the others are
 * weft_llr_rx() on weft_link_llr(), and weft_link_deliver() on what it gives.
 *
 * @param ev  receives BEGIN if a session began just now
 * @return WEFT_OK or WEFT_DROP_SESSION
 */
enum weft_verdict weft_link_frame(
	struct weft_link *e, uint32_t session, uint64_t now_ns, enum weft_session_event *ev);

/**
 * With llr.apart, in the place of weft_link_frame() where flits come in: hear of the frames that
 * the other lcore took, and what they said. With ide.apart: hear whether what came failed.
 *
 * @return whether there was anything: the deadline may be another
 */
bool weft_link_hear(struct weft_link *e, uint64_t now_ns);

/**
 * Take flits that are in turn: unpack them, and before that, with IDE that the end opens, decrypt
 * them together. Containment may keep some until a later call. A flit that fails its MAC ends the
 * session: weft_link_tick() says so.
 *
 * @param flits    256 bytes each, back to back; only read
 * @param live     a bit for each that is to be taken
 * @param refused  those of them that the owner has refused: their credits count, their messages are
 *                 lost, and so are those whose data runs over into them or out of them; a CXL.io
 *                 flit that is refused ends the session
 */
void weft_link_deliver(struct weft_link *e, const uint8_t *flits, uint64_t live, uint64_t refused,
	weft_link_msg_fn fn, void *arg);

/**
 * All three steps for a frame whose syndromes are known (see weft_llr_rx()).
 *
 * @param ev  as for weft_link_frame()
 * @param in  receives what became of each flit; may be NULL
 */
enum weft_verdict weft_link_receive(struct weft_link *e, const struct weft_wire_hdr *h,
	const uint8_t *flits, const uint64_t *syndrome, uint64_t skip, uint64_t now_ns,
	enum weft_session_event *ev, struct weft_llr_rx_result *in, weft_link_msg_fn fn, void *arg);

/** The oldest message of a kind that waits, or NULL. Valid until weft_link_pop(). */
const struct weft_msg *weft_link_peek(const struct weft_link *e, enum weft_msg_kind kind);

/** It is consumed: its credit goes back. */
void weft_link_pop(struct weft_link *e, enum weft_msg_kind kind);

/** Whether weft_link_send() of a message of @p kind would succeed. */
bool weft_link_can_send(const struct weft_link *e, enum weft_msg_kind kind);

/** Whether weft_link_send() would take an S2M NDR, and also an S2M DRS. */
bool weft_link_can_answer(const struct weft_link *e);

/**
 * Send a message.
 *
 * @return 0: it will arrive in order, once, if the session lasts; -EAGAIN: no credit or no room in
 *         the window; -ENOTCONN: no session; -EINVAL: the message cannot be packed
 */
int weft_link_send(struct weft_link *e, const struct weft_msg *m);

/**
 * Late poison: the data of the message that weft_link_send() took last turned out to be bad. It
 * will arrive, with its poison bit set. To be called before the next weft_link_send() or
 * weft_link_next().
 *
 * On the wire, a LLCTRL Poison flit comes before the rest of the data; if the flit at hand has all
 * of it, that flit goes out with its CRC spoilt, then Poison, then the flit as it is, with nothing
 * in between (wire-formats.md section 4.6). With IDE the epoch's MAC is made after that, once.
 *
 * @return 0; -EALREADY: that message is out of reach, or has no data; -EAGAIN: no room in the
 *         window, or, with IDE, WEFT_IDE_POISON_MAX in front of one flit; -ENOTCONN: no session
 */
int weft_link_poison(struct weft_link *e);

/** Whether weft_link_poison() would succeed behind a weft_link_send() of data that succeeds now. */
bool weft_link_can_poison(const struct weft_link *e);

/** Whether weft_link_send_io() of a packet of class @p c would succeed. */
bool weft_link_can_send_io(const struct weft_link *e, enum weft_io_class c);

/**
 * Send a CXL.io packet. When the window is nearly full, flits with packets and flits with messages
 * take turns.
 *
 * @return 0: it will arrive in order of its class, once, and behind the posted packets sent before
 *         it, if the session lasts; -EAGAIN: no credit or no room in the window; -ENOTCONN: no
 *         session; -EINVAL: the packet is not valid (weft_io_is_valid()), or IDE is on
 */
int weft_link_send_io(struct weft_link *e, const struct weft_io_tlp *t);

/**
 * The oldest CXL.io packet of a class that waits, or NULL: also while a posted one waits that came
 * before it. Valid until weft_link_io_pop() of the class.
 */
const struct weft_io_tlp *weft_link_io_peek(const struct weft_link *e, enum weft_io_class c);

/** It is consumed: its credit goes back. */
void weft_link_io_pop(struct weft_link *e, enum weft_io_class c);

/** A frame to send. */
struct weft_link_out {
	/** kind, n_flits, session, mode and form set; ids, VC, clock are not */
	struct weft_wire_hdr hdr;
	size_t len; /**< bytes behind the frame header */
	struct weft_llr_tx_info flits; /**< for kind WEFT_WIRE_FLITS */
};

/**
 * The next frame to send now. Ends the flit being packed if nothing else is left to send.
 *
 * @param payload  room behind the frame header: max_flits flits
 * @return false: none now; see weft_link_deadline()
 */
bool weft_link_next(struct weft_link *e, uint8_t *payload, uint64_t now_ns, uint64_t rnd,
	struct weft_link_out *out);

/** Frames that weft_link_next() would give now, about: 1 or more. */
unsigned int weft_link_frames_due(const struct weft_link *e);

/*
 * The steps of weft_link_next(), for an owner that makes frames of many ends in bursts: first one
 * of these two. In each step all ends of the burst may take their turn.
 */

/**
 * A control frame, if one is due: as weft_link_next().
 *
 * @param random  called for fresh bits, if there may be one
 */
bool weft_link_next_control(struct weft_link *e, uint8_t *payload, uint64_t now_ns,
	uint64_t (*random)(void *arg), void *arg, struct weft_link_out *out);

/** End the flit being packed, and make those that carry credits and CXL.io packets. */
void weft_link_pack(struct weft_link *e, uint64_t now_ns);

/**
 * Encrypt what is packed, end the MAC epoch and change the key where that is due; without IDE
 * nothing.
 *
 * @return flits encrypted
 */
unsigned int weft_link_seal(struct weft_link *e, uint64_t now_ns);

/** A frame of what is packed and sealed, or is to be sent again: as weft_link_next(). */
bool weft_link_next_flits(
	struct weft_link *e, uint8_t *payload, uint64_t now_ns, struct weft_link_out *out);

/**
 * Look at time. To be called at the deadline or later. END: the session is dead, Insecure or reset,
 * or its CXL.io stream is malformed.
 */
enum weft_session_event weft_link_tick(struct weft_link *e, uint64_t now_ns);

/** When tick or next has something to do: 0 for now, UINT64_MAX never by time alone. */
uint64_t weft_link_deadline(const struct weft_link *e);

/**
 * Have the session that is live at the next weft_link_tick() ended by it; another may begin then.
 * Any thread.
 */
void weft_link_reset(struct weft_link *e);

/** End the session and stay closed; weft_link_next() gives the goodbye. */
void weft_link_close(struct weft_link *e);

/** With IDE: wipe the keys. The end is not used any more. Without IDE nothing. */
void weft_link_fini(struct weft_link *e);

/**
 * As weft_session_knows(), and any time: it is heeded once the other end was heard in the session,
 * so that it has begun it, too, and with it knows what was known before.
 */
void weft_link_knows(struct weft_link *e, uint64_t generation);

/** Slots of data that flits in turn have announced and that are still to come. */
unsigned int weft_link_data_slots(const struct weft_link *e);

/** Form of the messages in its flits. */
enum weft_form weft_link_form(const struct weft_link *e);

struct weft_llr *weft_link_llr(struct weft_link *e);
const struct weft_session *weft_link_session(const struct weft_link *e);
const struct weft_credits *weft_link_credits(const struct weft_link *e);

extern const struct weft_counter weft_link_counters[];

/** What one row has come to. */
uint64_t weft_link_count(const struct weft_link *e, enum weft_link_counter row);

/** Add all rows to WEFT_LINK_N_COUNTERS sums. */
void weft_link_counts_add(const struct weft_link *e, uint64_t *sum);

WEFT_END_DECLS

#endif /* WEFT_LINK_H */
