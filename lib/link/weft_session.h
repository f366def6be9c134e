/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How the two ends of a retry domain come up, notice that the other one is gone, and come up again,
 * by link control frames (doc/session.md). One end asks, the other answers:
 *
 *	HELLO(X)      ->            X, S: session ids of 32 fresh random bits
 *	              <- WELCOME(X) with S in it
 *	READY(S)      ->            the responder begins S
 *	              <- KEEPALIVE(S), or flits of S: the initiator begins S
 *	flits of S    ->            the responder sends flits from now on
 *
 * The responder gives up the session it had only when READY of the new one proves that the
 * initiator lives now; the initiator takes a WELCOME only for the HELLO it sends now. So no frame
 * of an older life, however late, starts, ends or enters a session, and the initiator is never in a
 * session that the responder has not begun. A session that is said to be over ends when it is
 * proven: GOODBYE by a MAC, if there are keys; else it is asked about:
 *
 *	RESET(S), GOODBYE(S) ->     they may be from anybody
 *	              <- CHALLENGE(S) with a random number
 *	GONE(S) with it      ->     over; with keys GONE shows the pre-shared key
 *
 * Words of sessions, with the rules that keep them (doc/spec/rules.md):
 *
 *   1. The initiator sends HELLO, the responder answers; in rxl mode the initiator is the host.
 *   2. X names an attempt of the initiator, S a session. Both are random, never 0, never the last
 *      one again (SESS-2). The frame header carries one of them.
 *   3. A candidate is an S that was offered. It becomes the session by READY alone (SESS-6).
 *   4. A session begins once at each end, at the responder first (SESS-8).
 *   5. An end whose receiver has timed out says so, and both ends are stalled: they keep all state
 *      (SESS-14). After the session timeout the session is over (SESS-17).
 *   6. A session that is over never begins again, so what an end says of its end stays true
 *      (SESS-19).
 *   7. With keys (IDE) a session begins with proofs of the pre-shared key (SESS-25), and control
 *      frames carry numbers and MACs (SESS-26).
 *
 * A pure state machine: time and random bits come in with each call. One thread at a time.
 */
#ifndef WEFT_SESSION_H
#define WEFT_SESSION_H

#include "weft_base.h"
#include "weft_control.h"
#include "weft_telem.h"
#include "weft_verdict.h"
#include "weft_wire.h"

WEFT_BEGIN_DECLS

/**
 * What the two ends of a session have told each other: the keys of the session are made from it, so
 * ends that were told different things have different keys.
 */
struct weft_session_transcript {
	uint32_t session; /**< S */
	/** HELLO and WELCOME; what is of one message only (type, padded, session, proof) is 0. */
	struct weft_control initiator, responder;
};

/** With IDE on: what a session cannot do itself. Called on the thread of the session. */
struct weft_session_keys {
	/** Fill with @p len fresh random bytes; false: there are none, so nothing begins. */
	bool (*random)(void *arg, uint8_t *out, size_t len);
	/**
	 * Make WEFT_PROOF_LEN bytes that only an end with the pre-shared key can make; false:
	 * cannot.
	 */
	bool (*proof)(void *arg, const struct weft_session_transcript *d, bool is_initiator,
		uint8_t *proof);
	/**
	 * Make the keys of control frames, one a direction, of a session that begins, in place of
	 * those there are; @p d NULL: wipe them. False: cannot, and those there were stay.
	 */
	bool (*bind)(void *arg, const struct weft_session_transcript *d);
	/**
	 * Make WEFT_CONTROL_MAC_LEN bytes of @p image with the key of a direction. @p
	 * from_initiator: the initiator sends. False: cannot.
	 */
	bool (*mac)(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac);
	/**
	 * Make WEFT_PROOF_LEN bytes by which an end with the pre-shared key shows that @p session
	 * is over there, for the one who asked with @p number. False: cannot.
	 */
	bool (*gone)(
		void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof);
	void *arg;
};

/** What an end is told. Times in nanoseconds. */
struct weft_session_cfg {
	bool is_initiator; /**< this end sends HELLO; exactly one end of a domain does */
	uint64_t hello_ns; /**< time between HELLOs that nobody answers, 1 or more */
	uint64_t keepalive_ns; /**< an end that has sent nothing for so long says that it lives */
	uint64_t rx_timeout_ns; /**< so long without a frame of the session: the way in is broken */
	uint64_t session_timeout_ns; /**< so long: the other end is gone; the session ends */
	/**
	 * Flits of the largest frame that this end will send, 1..64: HELLO and WELCOME are as long
	 * as that, or as the largest the other end takes, so that a path that drops full frames is
	 * found before anything depends on it.
	 */
	uint8_t pad_flits;
	struct weft_control params; /**< what this end says of itself; its type is not looked at */
	/** With params.ide_mode on; must outlive the session. */
	const struct weft_session_keys *keys;
};

/** Times for a lab: HELLO 100 ms, keepalive 25 ms, silence 100 ms, dead 10 s; one flit a frame. */
void weft_session_defaults(struct weft_session_cfg *c);

enum weft_session_state {
	WEFT_SESSION_DOWN, /**< no session; the initiator asks */
	WEFT_SESSION_UP, /**< flits flow */
	WEFT_SESSION_STALLED, /**< one way or both are silent: all state is kept, probes go out */
	/** down, the ends disagree; the initiator asks again in 10 hello_ns */
	WEFT_SESSION_REFUSED,
	WEFT_SESSION_CLOSED /**< said goodbye itself; stays so */
};

/** What the owner has to do after a call. */
enum weft_session_event {
	WEFT_SESSION_NOTHING,
	/** A new session, in place of the one before if there was one: all state starts over. */
	WEFT_SESSION_BEGIN,
	WEFT_SESSION_END /**< the session is over; what was open in it is lost */
};

/** Counter rows of one end. */
enum weft_session_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_SESSION_N_##id,
#include "weft_session_counters.def"
#undef WEFT_COUNTER
	WEFT_SESSION_N_COUNTERS
};

/** Initiator: an attempt to begin a session. */
struct weft_session_attempt {
	uint32_t hello_nonce; /* X of it; 0: to be drawn */
	uint32_t pending_sid; /* S that READY was sent for and nothing heard of yet; 0: none */
	uint64_t next_hello_ns;
	uint8_t pad_flits; /* of the next HELLO that is padded */
	uint8_t unanswered; /* padded HELLOs since it heard something */
	uint8_t suspected; /* what somebody says differs */
	bool is_probing; /* has sent a HELLO without padding */
	bool probe_answered; /* the other end lives, full frames or not */
};

/** Link control that is to go out, and what it will say. */
struct weft_session_due {
	bool welcome, refusal, ready, keepalive, reset, goodbye, challenge, gone;
	uint8_t welcome_flits; /* padding */
	uint8_t refusal_differs; /* enum weft_control_param */
	uint32_t welcome_nonce, refusal_nonce; /* X that is answered */
	uint32_t reset_sid, goodbye_sid, gone_sid;
	uint64_t gone_number;
	struct weft_control goodbye_says;
	uint64_t reset_after_ns, challenge_after_ns, gone_after_ns; /* none before */
};

/** One end. Set by weft_session_init(); to be read only, by the functions below. */
struct weft_session {
	struct weft_session_cfg cfg;
	uint8_t state; /* enum weft_session_state */
	uint8_t differs; /* enum weft_control_param, in REFUSED */
	bool rx_timed_out; /* live: nothing came for rx_timeout_ns */
	bool peer_rx_timed_out; /* live: the other end says so of itself */
	bool peer_has_begun; /* live: a responder has heard a KEEPALIVE or flits of it */
	uint32_t id; /* live session; 0: none */
	uint64_t ticked_ns; /* time is counted up to here */
	uint64_t idle_ns; /* live: without a frame of the session, as counted */
	uint64_t sent_ns; /* live: last frame this end sent in it */
	uint64_t kept_ns; /* live: last KEEPALIVE sent */
	uint64_t peer_rx_timed_out_ns; /* peer_rx_timed_out: when it last said so */
	struct weft_session_attempt attempt;
	struct weft_session_due due;
	bool was_probed; /* responder, since a session began: by a HELLO without padding */
	uint32_t live_nonce; /* responder: X that the live session was offered for */
	struct {
		uint32_t nonce, sid; /* responder: X and S that it offers; 0: none */
	} candidate;
	uint32_t last_sid_drawn;
	uint32_t last; /* session begun last */
	uint64_t tx_number, rx_number; /* live, IDE: of the last signed frame, either way */
	struct {
		uint64_t number; /* live: that was asked with; 0: none */
		uint64_t drawn_ns;
	} challenged;
	/* CLOSED, without keys: session that the other end has not asked about yet */
	uint32_t parting;
	struct weft_control offered; /* what the other end said when it was to begin */
	uint8_t offer_random[WEFT_RANDOM_LEN]; /* IDE: own share in what is asked or offered */
	uint8_t live_random[WEFT_RANDOM_LEN]; /* IDE: own share in the live session */
	struct weft_control said; /* what this end said of itself for the live session */
	/** What the other end says of itself; valid in a session, and in REFUSED. */
	struct weft_control peer;
	uint64_t count[WEFT_SESSION_N_COUNTERS];
};

/**
 * Start, down.
 *
 * @return 0; -EINVAL unless hello_ns >= 1, keepalive_ns >= 1, 2 keepalive_ns <= rx_timeout_ns <
 *         session_timeout_ns, pad_flits is 1..64, params are in the ranges of weft_control.h, and
 *         there are keys if IDE is on
 */
int weft_session_init(struct weft_session *s, const struct weft_session_cfg *cfg, uint64_t now_ns);

/**
 * A control frame came for this end.
 *
 * @param id   session id of its frame header
 * @param c    its records
 * @param rnd  64 fresh random bits
 */
enum weft_session_event weft_session_control(struct weft_session *s, uint32_t id,
	const struct weft_control *c, uint64_t now_ns, uint64_t rnd);

/**
 * A frame with flits came for this end. At the initiator it may begin the session.
 *
 * @param ev  receives what to do first, before the flits are taken
 * @return WEFT_OK: take its flits; WEFT_DROP_SESSION: not of a session that lives (a responder
 *         then says so with RESET, once in keepalive_ns)
 */
enum weft_verdict weft_session_flits(
	struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev);

/** This end sent a frame with flits in the session. */
void weft_session_sent(struct weft_session *s, uint64_t now_ns);

/**
 * Look at time: stalls, and ends a session that is dead. To be called at the deadline or later; a
 * gap between calls counts as rx_timeout_ns / 2 at most, so that no jump of the clock, and no pause
 * of this end, is taken for silence of the other.
 */
enum weft_session_event weft_session_tick(struct weft_session *s, uint64_t now_ns);

/**
 * Control frame to send now. Call until it gives none.
 *
 * @param rnd  64 fresh random bits
 * @param id   receives the session id for its frame header
 * @param c    receives its records; weft_control_build() may need room for pad_flits flits
 * @return false: none
 */
bool weft_session_next(struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id,
	struct weft_control *c);

/** When tick or next has something to do: 0 for now, UINT64_MAX never. */
uint64_t weft_session_deadline(const struct weft_session *s);

/**
 * Say goodbye and stay closed. The live session is over for the owner. The goodbye is sent once: an
 * end that has not heard it is told by RESET if it goes on, or finds out in session_timeout_ns.
 * Without keys the other end asks whether it is true; see weft_session_is_parting().
 */
void weft_session_close(struct weft_session *s);

/**
 * Closed, and the other end has not asked yet. An owner that goes on giving the session its frames
 * for some round trips lets it know at once; else it finds out in session_timeout_ns.
 */
bool weft_session_is_parting(const struct weft_session *s);

/**
 * Give up the live session, if there is one: as if it had died, with a goodbye. The initiator asks
 * for a new one at once.
 */
enum weft_session_event weft_session_abandon(struct weft_session *s, uint64_t now_ns);

/**
 * The generation of the other end's memory that this end knows, to be said from the next session
 * on; 0: none. To be called when a session begins, or while none is offered.
 */
void weft_session_knows(struct weft_session *s, uint64_t generation);

/** What was agreed on for the live session. */
void weft_session_transcript(const struct weft_session *s, struct weft_session_transcript *d);

/** Whether there is a session: UP or STALLED. */
static inline bool
weft_session_is_live(const struct weft_session *s)
{
	return s->id != 0;
}

/**
 * Whether the other end would take flits now. A responder waits for the first frame of the
 * initiator in the session: until its KEEPALIVE is heard there, flits may be judged to be those of
 * an unknown one.
 */
static inline bool
weft_session_takes_flits(const struct weft_session *s)
{
	return s->id != 0 && s->peer_has_begun;
}

extern const struct weft_counter weft_session_counters[];

WEFT_END_DECLS

#endif /* WEFT_SESSION_H */
