/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rx of control frames, by type. Any of them may be forged (doc/session.md, "Frames that are not
 * true"): a live session ends only by one that is proven, by a MAC or by the number of a challenge
 * that only the other end has received.
 */

#include "session_priv.h"

#include "weft_base.h"

#define GONE_SHARE 8 /* GONEs in keepalive_ns, at most */

/* --- HELLO, WELCOME, REFUSE, READY --- */

/* SESS-3, SESS-4, SESS-9 */
static void
session_in_hello(struct weft_session *s, uint32_t x, const struct weft_control *c, uint64_t rnd)
{
	uint8_t differs = (uint8_t)weft_control_compare(&s->cfg.params, c);

	if (differs == WEFT_PARAM_NONE && c->padded == 0) {
		/* A probe: why do long ones get no answer? This end was slow, here it comes. */
		if (s->due.welcome && s->due.welcome_nonce == x)
			return;
		differs = WEFT_PARAM_FRAME_SIZE;
	}
	if (differs != WEFT_PARAM_NONE) {
		s->due.refusal = true;
		s->due.refusal_differs = differs;
		s->due.refusal_nonce = x;
		/* This end may have been away for the long ones: one probe proves nothing. */
		if (differs == WEFT_PARAM_FRAME_SIZE && !s->was_probed)
			s->was_probed = true;
		else if (s->id == 0)
			session_refused(s, differs, c);
		return;
	}
	/* Only a session proves that full frames pass both ways. */
	if (s->state == WEFT_SESSION_REFUSED && s->differs != WEFT_PARAM_FRAME_SIZE)
		s->state = WEFT_SESSION_DOWN;
	s->due.welcome = true;
	s->due.welcome_nonce = x;
	s->due.welcome_flits = c->max_flits < s->cfg.pad_flits ? c->max_flits : s->cfg.pad_flits;
	/* A repeated HELLO (its answer was lost): the same answer. */
	if ((s->id != 0 && x == s->live_nonce) ||
		(s->candidate.sid != 0 && x == s->candidate.nonce))
		return;
	s->candidate.sid = s->candidate.nonce = 0; /* its share is overwritten */
	if (!session_draw_share(s))
		return;
	s->candidate.sid = session_draw(s, rnd);
	s->candidate.nonce = x;
	s->offered = *c;
}

/*
 * A REFUSE, perhaps forged: the attempt goes on, and unless a good offer arrives before the next
 * HELLO is due, the refusal stands (SESS-10, SESS-11).
 */
static void
session_in_suspect(struct weft_session *s, uint8_t differs, const struct weft_control *c)
{
	if (s->attempt.pending_sid != 0 || s->attempt.suspected != WEFT_PARAM_NONE)
		return;
	s->attempt.suspected = differs;
	s->peer = *c;
}

/* SESS-9 */
static void
session_in_welcome(struct weft_session *s, const struct weft_control *c, uint64_t now_ns)
{
	const enum weft_control_param differs = weft_control_compare(&s->cfg.params, c);
	const uint8_t pad = c->max_flits < s->cfg.pad_flits ? c->max_flits : s->cfg.pad_flits;

	if (differs != WEFT_PARAM_NONE) {
		session_in_suspect(s, (uint8_t)differs, c);
		return;
	}
	if (!session_is_proven(s, c->session, c, c->proof)) {
		session_in_suspect(s, WEFT_PARAM_IDE_KEY, c);
		return;
	}
	if (pad > s->attempt.pad_flits) {
		/* The peer (restarted?) accepts larger frames than were tried: begin anew. */
		s->attempt.pad_flits = pad;
		session_ask_anew(s, now_ns);
		return;
	}
	s->offered = *c;
	if (!session_bind(s, c->session))
		return;
	s->state = WEFT_SESSION_DOWN;
	s->attempt.suspected = WEFT_PARAM_NONE;
	s->attempt.unanswered = 0;
	s->attempt.pending_sid = c->session;
	s->due.ready = true;
}

/* SESS-11 */
static void
session_in_refuse(struct weft_session *s, const struct weft_control *c, uint64_t now_ns)
{
	const bool is_size = c->differs == WEFT_PARAM_FRAME_SIZE;

	/* No REFUSE follows an offer; frame size is only the answer to a probe. */
	if (s->attempt.pending_sid != 0 || (is_size && !s->attempt.is_probing)) {
		s->count[WEFT_SESSION_N_STALE]++;
		return;
	}
	s->count[WEFT_SESSION_N_REFUSALS]++;
	if (!is_size) {
		session_in_suspect(s, c->differs, c);
		return;
	}
	if (!s->attempt.probe_answered || c->max_flits < s->attempt.pad_flits) {
		/* It lives: now try frames of the size that it accepts. */
		s->attempt.probe_answered = true;
		if (c->max_flits < s->attempt.pad_flits)
			s->attempt.pad_flits = c->max_flits;
		session_ask_anew(s, now_ns);
		return;
	}
	session_refused(s, c->differs, c);
	session_ask_anew(s, now_ns + SESSION_REFUSED_TIMES * s->cfg.hello_ns);
}

/* SESS-6 */
static enum weft_session_event
session_in_ready(struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	if (id != s->id)
		return session_is_proven(s, id, &s->offered, c->proof)
		               ? session_begin(s, id, now_ns)
		               : WEFT_SESSION_NOTHING;
	/* With keys it may be a copy. */
	if (session_has_ide(s))
		s->count[WEFT_SESSION_N_STALE]++;
	else
		session_heard(s, now_ns);
	return WEFT_SESSION_NOTHING;
}

/* --- in a session --- */

static enum weft_session_event
session_in_keepalive(
	struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	const bool is_ours = id != 0 && (id == s->id || id == s->attempt.pending_sid);
	enum weft_session_event ev;

	if (is_ours && !session_is_authentic(s, c))
		return WEFT_SESSION_NOTHING;
	if (!session_is_in(s, id, now_ns, &ev))
		return ev;
	s->rx_number = c->number;
	s->peer_rx_timed_out = (c->flags & WEFT_CONTROL_RDI) != 0;
	s->peer_rx_timed_out_ns = now_ns;
	session_stalled_or_not(s);
	return ev;
}

/* --- how a session ends --- */

/* An unproven claim that the live session is over: challenge the other end (SESS-21). */
static void
session_in_challenge(struct weft_session *s, uint64_t now_ns)
{
	if (now_ns < s->due.challenge_after_ns)
		return;
	s->due.challenge = true;
	s->due.challenge_after_ns = now_ns + s->cfg.keepalive_ns;
}

/* SESS-21, SESS-27 */
static enum weft_session_event
session_in_goodbye(
	struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	if (id == s->parting) {
		s->parting = 0; /* both ends close at the same time */
		return WEFT_SESSION_NOTHING;
	}
	if (session_has_ide(s))
		return session_is_authentic(s, c) ? session_end(s, now_ns) : WEFT_SESSION_NOTHING;
	session_in_challenge(s, now_ns);
	return WEFT_SESSION_NOTHING;
}

/* SESS-23 */
static enum weft_session_event
session_in_gone(struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	if (id == s->parting) {
		s->parting = 0;
		return WEFT_SESSION_NOTHING;
	}
	if (s->challenged.number == 0 || c->challenge != s->challenged.number ||
		!session_is_gone_proven(s, c)) {
		s->count[WEFT_SESSION_N_FALSE_GONES]++;
		return WEFT_SESSION_NOTHING;
	}
	return session_end(s, now_ns);
}

/*
 * GONE may be said of session @p id only if it can never be live here again. An initiator with a
 * HELLO out may be about to begin any but the one that it was in last (SESS-19).
 */
static bool
session_says_over(const struct weft_session *s, uint32_t id)
{
	return id != 0 && id != s->id && id != s->attempt.pending_sid && id != s->candidate.sid &&
	       (!session_is_asking(s) || id == s->last);
}

/* SESS-22 */
static void
session_in_challenged(
	struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	if (now_ns < s->due.gone_after_ns)
		return;
	s->due.gone = true;
	s->due.gone_sid = id;
	s->due.gone_number = c->challenge;
	s->due.gone_after_ns = now_ns + s->cfg.keepalive_ns / GONE_SHARE;
}

/* False: a stale control frame, nothing it could be about is open (SESS-5, SESS-6). */
static bool
session_in_is_for_us(const struct weft_session *s, uint32_t id, uint8_t type)
{
	const bool answers = !s->cfg.is_initiator && s->state != WEFT_SESSION_CLOSED;

	switch (type) {
	case WEFT_CONTROL_KEEPALIVE: return true; /* session_in_keepalive() checks its id */
	case WEFT_CONTROL_HELLO: return answers && id != 0;
	case WEFT_CONTROL_WELCOME:
	case WEFT_CONTROL_REFUSE:
		return session_is_asking(s) && id != 0 && id == s->attempt.hello_nonce;
	case WEFT_CONTROL_READY:
		return answers && id != 0 && (id == s->id || id == s->candidate.sid);
	case WEFT_CONTROL_GOODBYE:
	case WEFT_CONTROL_GONE: return id != 0 && (id == s->id || id == s->parting);
	case WEFT_CONTROL_RESET:
	case WEFT_CONTROL_LOSS: return id != 0 && id == s->id;
	case WEFT_CONTROL_CHALLENGE: return session_says_over(s, id);
	default: return false;
	}
}

/* SESS-18 */
enum weft_session_event
weft_session_control(struct weft_session *s, uint32_t id, const struct weft_control *c,
	uint64_t now_ns, uint64_t rnd)
{
	if (!session_in_is_for_us(s, id, c->type)) {
		s->count[WEFT_SESSION_N_STALE]++;
		return WEFT_SESSION_NOTHING;
	}
	switch (c->type) {
	case WEFT_CONTROL_HELLO: session_in_hello(s, id, c, rnd); break;
	case WEFT_CONTROL_WELCOME: session_in_welcome(s, c, now_ns); break;
	case WEFT_CONTROL_REFUSE: session_in_refuse(s, c, now_ns); break;
	case WEFT_CONTROL_READY: return session_in_ready(s, id, c, now_ns);
	case WEFT_CONTROL_KEEPALIVE: return session_in_keepalive(s, id, c, now_ns);
	case WEFT_CONTROL_GOODBYE: return session_in_goodbye(s, id, c, now_ns);
	case WEFT_CONTROL_GONE: return session_in_gone(s, id, c, now_ns);
	case WEFT_CONTROL_RESET: session_in_challenge(s, now_ns); break;
	case WEFT_CONTROL_CHALLENGE: session_in_challenged(s, id, c, now_ns); break;
	default: /* LOSS: from a switch, unauthenticated: counted only, no sign of life */
		s->count[WEFT_SESSION_N_LOSSES] += c->count;
	}
	return WEFT_SESSION_NOTHING;
}
