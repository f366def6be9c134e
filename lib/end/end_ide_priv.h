/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside lib/end: IDE of an end. Flits are sealed before they enter the replay buffer, so what is sent
 * again is the same ciphertext, and opened when the retry layer has put them in order
 * (encapsulation.md section 5).
 */
#ifndef END_IDE_PRIV_H
#define END_IDE_PRIV_H

#include "weft_end.h"

#include "weft_flit.h"

struct end_ide_held {
	uint8_t flit[WEFT_FLIT_LEN];
	bool skip; /* refused by the owner */
};

struct end_ide {
	struct weft_end_ide cfg;
	struct weft_session_deal deal;
	bool asks;
	struct weft_ide_stream *tx, *rx; /* NULL without a session */
	uint64_t tx_keys, rx_keys; /* generation in use */
	/* sender */
	bool is_open; /* an epoch may be unfinished, or its MAC unsent */
	bool is_fresh; /* sealed since `sealed_ns` */
	bool rekey_due; /* nothing may be sent but what leads to a new key */
	uint64_t sealed_ns;
	uint64_t key_flits; /* sealed with the key in use */
	uint64_t key_ns; /* since when it is */
	/* either */
	bool is_broken; /* the session must end: the owner has not been told yet */
	/* receiver */
	uint8_t head, n_held;
	struct end_ide_held held[WEFT_IDE_HELD_MAX + 1];
};

/* Make the streams of the session that begins. False: there are no keys, so it must not. */
bool end_ide_begin(struct end_ide *s, const struct weft_session *session, uint64_t now_ns);

/* Wipe what the session had. */
void end_ide_end(struct end_ide *s);

/* Seal a flit that is complete but for its MAC. */
void end_ide_seal(struct end_ide *s, uint8_t *flit);

/* Whether the open epoch should be ended by now. @p delay_ns how long skid may leave it open. */
bool end_ide_must_close(struct end_ide *s, uint64_t now_ns, uint64_t delay_ns);

/* When that, or a key change by time, is due. */
uint64_t end_ide_deadline(const struct end_ide *s, uint64_t delay_ns);

/* The IDE.Start flit of a key change that is due, outside an epoch. False: the session is broken. */
bool end_ide_start(struct end_ide *s, uint8_t *flit, uint64_t now_ns);

/*
 * Take a flit that is in turn. What it gives is to be fetched by end_ide_released() before the next.
 * @return epochs that were good: 0 or 1; dropped receives flits lost to a failure
 */
bool end_ide_open(struct end_ide *s, const uint8_t *flit, bool skip, unsigned int *release,
	unsigned int *dropped);

/* The oldest flit that is held; it is not held any more. */
const struct end_ide_held *end_ide_released(struct end_ide *s);

#endif /* END_IDE_PRIV_H */
