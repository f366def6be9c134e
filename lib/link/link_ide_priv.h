/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside lib/link: IDE of an end. Flits are sealed before they enter the replay buffer, so what is
 * sent again is the same ciphertext, and opened when the retry layer has put them in order
 * (encapsulation.md section 5).
 */
#ifndef LINK_IDE_PRIV_H
#define LINK_IDE_PRIV_H

#include "weft_link.h"

#include "weft_flit.h"
#include "weft_ide_pace.h"

/* Flits of the largest frame, what containment may hold, and some so that these seldom move. */
#define LINK_IDE_ROOM (WEFT_WIRE_FLITS_MAX + WEFT_IDE_HELD_MAX + 24)

/* A session as the receiver of its flits is told of it. */
struct link_ide_session {
	uint32_t number; /* of sessions and pauses between them, from 1 on; wrapping is no harm */
	uint32_t id; /* 0: there is none */
	struct weft_session_transcript deal;
};

#define LINK_IDE_FRESH 4u /* beside a place in session[]: the receiver has not seen it */

/*
 * From the lcore that has the sessions to the one that opens: the newest counts alone, so neither
 * waits. Each has one place to itself, and they exchange it for the third.
 */
struct link_ide_apart {
	uint32_t third __attribute__((aligned(WEFT_CACHE_LINE)));
	uint32_t failed; /* number of the last session that failed at the receiver; 0: none did */
	struct link_ide_session session[3] __attribute__((aligned(WEFT_CACHE_LINE)));
};

/* The half that opens. Its lines are those of the lcore that does. */
struct link_ide_rx {
	struct weft_link_rx_ide now;
	const struct weft_link_ide *cfg;
	const struct weft_session_transcript *deal; /* of the session */
	struct link_ide_apart *apart; /* NULL: it runs where the rest does */
	uint32_t place; /* its own in apart->session[] */
	bool from_initiator;
	bool is_broken;
	uint64_t keys; /* generation in use */
	uint64_t count[WEFT_LINK_N_COUNTERS];
} __attribute__((aligned(WEFT_CACHE_LINE)));

struct link_ide {
	struct weft_link_ide cfg;
	struct link_ide_rx rx;
	struct link_ide_apart *apart; /* NULL: rx is on this lcore */
	uint32_t place; /* its own in apart->session[] */
	uint32_t number; /* as in struct link_ide_session */
	bool is_initiator;
	struct weft_session_transcript deal; /* from here on: of this session */
	struct weft_ide_stream *tx; /* NULL without a session */
	uint64_t tx_keys; /* generation in use */
	struct weft_ide_pace pace; /* of what is packed */
	uint8_t *unsealed; /* flits back to back in the replay buffer that link_ide_flush() seals */
	unsigned int n_unsealed;
	uint64_t sealed; /* flits, in this session */
	uint8_t n_checks; /* epochs without messages sealed last, as long as their pause doubles */
	uint8_t n_poison; /* Poison in front of the next flit that is sealed */
	bool is_open; /* an epoch may be unfinished, or its MAC unsent */
	bool is_fresh; /* sealed since `sealed_ns` */
	bool rekey_due; /* nothing may be sent but what leads to a new key */
	uint64_t sealed_ns;
	uint64_t key_flits; /* sealed with the key in use */
	uint64_t key_ns; /* since when it is */
	bool is_broken; /* of either half: the session must end, and the owner has not been told */
};

/*
 * Receiver that opens copies: flits from `head` on, those that are held and then those just taken.
 */
struct link_ide_hold {
	unsigned int head, n;
	bool skip[LINK_IDE_ROOM]; /* refused by the owner */
	uint8_t flit[LINK_IDE_ROOM][WEFT_FLIT_LEN] __attribute__((aligned(WEFT_CACHE_LINE)));
};

/* An end's IDE, without a session; @p apart NULL: both halves are on one lcore. */
void link_ide_init(struct link_ide *s, const struct weft_link_ide *cfg, bool is_initiator,
	struct link_ide_apart *apart);

/*
 * Make the streams of the session that begins, or have the other lcore make its own. False: there
 * are no keys, so it must not.
 */
bool link_ide_begin(struct link_ide *s, const struct weft_session *session, uint64_t now_ns);

/* Wipe what the session had, or have the other lcore wipe it. */
void link_ide_end(struct link_ide *s);

/* Wipe both halves: no other lcore runs. */
void link_ide_fini(struct link_ide *s);

/*
 * A flit in the replay buffer is complete but for its MAC. It is sealed with those beside it, by
 * link_ide_flush(), which must come before anything is sent.
 */
void link_ide_seal(struct link_ide *s, uint8_t *flit);
void link_ide_flush(struct link_ide *s);

/* Whether one more Poison flit may stand in front of the next flit. */
bool link_ide_may_poison(const struct link_ide *s);

/* A Poison flit goes out next. */
void link_ide_poison(struct link_ide *s, const uint8_t *flit);

/* As weft_ide_close(), for all that was packed. */
enum weft_ide_close link_ide_close(struct link_ide *s, uint8_t *flit);

/* Whether the open epoch should be ended by now. @p delay_ns how long skid may leave it open. */
bool link_ide_must_close(struct link_ide *s, uint64_t now_ns, uint64_t delay_ns);

/*
 * When an epoch without messages is due, if all that was sent is acknowledged: @p idle_ns behind
 * the last flit that was sealed, doubled with each such epoch. An old flit that was played back may
 * have been taken for that one; the Ack does not tell, and the MAC that does comes with the next
 * flit only.
 */
uint64_t link_ide_check_ns(const struct link_ide *s, uint64_t idle_ns);

/* The flit sealed last was the @p n_checks-th in a row of such epochs. */
void link_ide_checks(struct link_ide *s, uint8_t n_checks);

/* When link_ide_must_close() says so, or a key change by time is due. */
uint64_t link_ide_deadline(const struct link_ide *s, uint64_t delay_ns);

/*
 * The IDE.Start flit of a key change that is due, outside an epoch. False: the session is broken.
 */
bool link_ide_start(struct link_ide *s, uint8_t *flit, uint64_t now_ns);

/* The receiver: hear which session there is. */
void link_ide_rx_hear(struct link_ide_rx *rx);

/*
 * The receiver: note what a run of flits came to, at most the last of which is IDE.Start: after it
 * a key is made.
 *
 * @return whether the stream failed just now
 */
bool link_ide_opened(struct link_ide_rx *rx, const struct weft_ide_run *run);

/* Hear whether the other half has failed in this session. */
void link_ide_hear(struct link_ide *s);

/*
 * Take a flit that is in turn: it waits for link_ide_open(). False: there is no room, open first.
 */
bool link_ide_take(struct link_ide_hold *h, const uint8_t *flit, bool skip);

/*
 * Decrypt a run of what was taken. What it releases is to be fetched by link_ide_released() before
 * the next; the rest is dropped, or held.
 *
 * @return flits of the run; 0: there are none
 */
unsigned int link_ide_open(struct link_ide *s, struct link_ide_hold *h, struct weft_ide_run *run);

/*
 * The oldest flit that is held; it is not held any more. @p skip receives whether it was refused.
 */
const uint8_t *link_ide_released(struct link_ide_hold *h, bool *skip);

#endif /* LINK_IDE_PRIV_H */
