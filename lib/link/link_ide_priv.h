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

struct link_ide {
	struct weft_link_ide cfg;
	uint32_t n_streams; /* sets of streams that there were; wrapping does no harm */
	struct weft_session_transcript deal; /* from here on: of this session */
	bool is_initiator;
	struct weft_ide_stream *tx, *rx; /* NULL without a session */
	uint64_t tx_keys, rx_keys; /* generation in use */
	/* sender */
	struct weft_ide_pace pace; /* of what is packed */
	uint8_t *unsealed; /* flits back to back in the replay buffer that link_ide_flush() seals */
	unsigned int n_unsealed;
	uint64_t sealed; /* flits, in this session */
	uint8_t n_poison; /* Poison in front of the next flit that is sealed */
	bool is_open; /* an epoch may be unfinished, or its MAC unsent */
	bool is_fresh; /* sealed since `sealed_ns` */
	bool rekey_due; /* nothing may be sent but what leads to a new key */
	uint64_t sealed_ns;
	uint64_t key_flits; /* sealed with the key in use */
	uint64_t key_ns; /* since when it is */
	/* either */
	bool is_broken; /* the session must end: the owner has not been told yet */
};

/*
 * Receiver that opens copies: flits from `head` on, those that are held and then those just taken.
 */
struct link_ide_hold {
	unsigned int head, n;
	bool skip[LINK_IDE_ROOM]; /* refused by the owner */
	uint8_t flit[LINK_IDE_ROOM][WEFT_FLIT_LEN] __attribute__((aligned(WEFT_CACHE_LINE)));
};

/* Make the streams of the session that begins. False: there are no keys, so it must not. */
bool link_ide_begin(struct link_ide *s, const struct weft_session *session, uint64_t now_ns);

/* Wipe what the session had. */
void link_ide_end(struct link_ide *s);

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

/* When that, or a key change by time, is due. */
uint64_t link_ide_deadline(const struct link_ide *s, uint64_t delay_ns);

/*
 * The IDE.Start flit of a key change that is due, outside an epoch. False: the session is broken.
 */
bool link_ide_start(struct link_ide *s, uint8_t *flit, uint64_t now_ns);

/*
 * Note what a run of flits came to, at most the last of which is IDE.Start: after it a key is made.
 */
void link_ide_opened(struct link_ide *s, const struct weft_ide_run *run);

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
