/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside lib/link: the parts of a session. */
#ifndef SESSION_PRIV_H
#define SESSION_PRIV_H

#include "weft_session.h"

#define SESSION_REFUSED_TIMES 10 /* hello_ns times this between HELLOs of an end that was refused */

static inline bool
session_has_ide(const struct weft_session *s)
{
	return s->cfg.params.ide_mode != 0;
}

static inline bool
session_is_asking(const struct weft_session *s)
{
	return s->cfg.is_initiator && s->id == 0 && s->state != WEFT_SESSION_CLOSED;
}

/* --- session.c: a session's life --- */

enum weft_session_event session_begin(struct weft_session *s, uint32_t id, uint64_t now_ns);
enum weft_session_event session_end(struct weft_session *s, uint64_t now_ns);

/* A session id that is neither 0 nor one of the last two. */
uint32_t session_draw(struct weft_session *s, uint64_t rnd);

/* A new attempt at @p at_ns: a new X, so that answers to earlier HELLOs do not count. */
void session_ask_anew(struct weft_session *s, uint64_t at_ns);

/* The ends disagree, according to @p c. */
void session_refused(struct weft_session *s, uint8_t differs, const struct weft_control *c);

/* Derive UP or STALLED from the Rx time-outs. */
void session_stalled_or_not(struct weft_session *s);

/* A frame of the live session was received. */
void session_heard(struct weft_session *s, uint64_t now_ns);

/* A frame was received that only an end in session @p id sends. */
bool session_is_in(
	struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev);

/* --- session_proof.c: keys, proofs and MACs, with IDE on --- */

/*
 * Draw this end's share of the keys of the session that is requested or offered. False: no random
 * bytes.
 */
bool session_draw_share(struct weft_session *s);

/* Make this end's proof, for the live session or the handshake with `offered`. */
bool session_prove(const struct weft_session *s, uint32_t id, bool is_live, uint8_t *proof);

/* Check the proof of the other end, whose parameters are @p peer. */
bool session_is_proven(
	struct weft_session *s, uint32_t id, const struct weft_control *peer, const uint8_t *proof);

/* Make the control-frame keys of session @p id, whose handshake is with `offered`. */
bool session_bind(struct weft_session *s, uint32_t id);
void session_unbind(struct weft_session *s);

/* Set number and MAC of a message in the live session. */
void session_sign(struct weft_session *s, struct weft_control *c);

/*
 * Check the MAC with the bound keys, and that the number is fresh. Counts a message that fails; of
 * one that passes the caller keeps the number.
 */
bool session_is_authentic(struct weft_session *s, const struct weft_control *c);

/* Make the proof of a GONE. */
bool session_prove_gone(const struct weft_session *s, uint32_t id, uint64_t number, uint8_t *proof);

/* Check the proof of a GONE about the live session. */
bool session_is_gone_proven(const struct weft_session *s, const struct weft_control *c);

#endif /* SESSION_PRIV_H */
