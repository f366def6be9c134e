/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside lib/link: the parts of a session. */
#ifndef SESSION_PRIV_H
#define SESSION_PRIV_H

#include "weft_session.h"

#define SESSION_REFUSED_TIMES 10 /* an end that was refused waits so many times longer */

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

/* A new attempt at @p at_ns: a new X, so that nothing that was said before counts. */
void session_ask_anew(struct weft_session *s, uint64_t at_ns);

/* The ends disagree, as far as @p c tells. */
void session_refused(struct weft_session *s, uint8_t differs, const struct weft_control *c);

/* Stalled or not, as what is heard says. */
void session_stalled_or_not(struct weft_session *s);

/* A frame of the live session came. */
void session_heard(struct weft_session *s, uint64_t now_ns);

/* A frame that only an end in session @p id sends. */
bool session_is_in(
	struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev);

/* --- session_proof.c: keys, proofs and MACs; nothing of it happens with IDE off --- */

/* An own share in the keys of what is asked or offered. False: there are no random bytes. */
bool session_draw_share(struct weft_session *s);

/* The proof that this end shows, of the live session or of what is under way with `offered`. */
bool session_prove(const struct weft_session *s, uint32_t id, bool is_live, uint8_t *proof);

/* Whether that is the proof of the other end, which says @p peer of itself. */
bool session_is_proven(
	struct weft_session *s, uint32_t id, const struct weft_control *peer, const uint8_t *proof);

/* Make the keys of control frames of session @p id, which is under way with `offered`. */
bool session_bind(struct weft_session *s, uint32_t id);
void session_unbind(struct weft_session *s);

/* Number and MAC of a message in the live session. */
void session_sign(struct weft_session *s, struct weft_control *c);

/*
 * Whether the other end of the session whose keys are bound made it, and it has not come before.
 * Counts it if not; if so its number is the caller's to keep.
 */
bool session_is_authentic(struct weft_session *s, const struct weft_control *c);

/* The proof of a GONE that this end sends. */
bool session_prove_gone(const struct weft_session *s, uint32_t id, uint64_t number, uint8_t *proof);

/* Whether that is the proof of a GONE about the live session. */
bool session_is_gone_proven(const struct weft_session *s, const struct weft_control *c);

#endif /* SESSION_PRIV_H */
