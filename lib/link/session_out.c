/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Tx of control frames, and their deadlines. */

#include "session_priv.h"

#include "weft_base.h"

#define PADDED_TRIES 3 /* padded HELLOs in a row without an answer before a short one probes */

/*
 * When the next KEEPALIVE is due. During a stall flits do not replace it: they cannot carry RDI
 * (SESS-13).
 */
static uint64_t
session_keepalive_at(const struct weft_session *s)
{
	const uint64_t last = s->state == WEFT_SESSION_STALLED ? s->kept_ns : s->sent_ns;

	return s->due.keepalive ? 0 : last + s->cfg.keepalive_ns;
}

static uint64_t
session_sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t
weft_session_deadline(const struct weft_session *s)
{
	uint64_t at;

	if (s->due.welcome || s->due.refusal || s->due.ready || s->due.reset || s->due.goodbye ||
		s->due.challenge || s->due.gone)
		return 0;
	if (s->id == 0)
		return session_is_asking(s) ? s->attempt.next_hello_ns : UINT64_MAX;
	at = session_sooner(session_keepalive_at(s), s->ticked_ns + s->cfg.keepalive_ns);
	if (!s->rx_timed_out)
		at = session_sooner(at, s->ticked_ns + (s->cfg.rx_timeout_ns - s->idle_ns));
	if (s->peer_rx_timed_out && !s->rx_timed_out)
		at = session_sooner(at, s->peer_rx_timed_out_ns + s->cfg.rx_timeout_ns);
	return session_sooner(at, s->ticked_ns + (s->cfg.session_timeout_ns - s->idle_ns));
}

/* No good offer arrived: the refusal stands (SESS-10). */
static void
session_give_up_attempt(struct weft_session *s, uint64_t now_ns)
{
	const struct weft_control said = s->peer;

	session_refused(s, s->attempt.suspected, &said);
	session_ask_anew(s, now_ns + SESSION_REFUSED_TIMES * s->cfg.hello_ns);
}

/* SESS-1, SESS-12 */
static bool
session_send_hello(
	struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id, struct weft_control *c)
{
	const bool is_probe = s->attempt.unanswered == PADDED_TRIES;

	if (s->attempt.suspected != WEFT_PARAM_NONE) {
		session_give_up_attempt(s, now_ns);
		return false;
	}
	if (s->attempt.hello_nonce == 0 && !session_draw_share(s)) {
		s->attempt.next_hello_ns = now_ns + s->cfg.hello_ns;
		return false;
	}
	if (s->attempt.hello_nonce == 0)
		s->attempt.hello_nonce = session_draw(s, rnd);
	if (is_probe) {
		s->attempt.pending_sid = 0; /* the offer timed out */
		s->attempt.is_probing = true;
	}
	s->attempt.unanswered = is_probe ? 0 : (uint8_t)(s->attempt.unanswered + 1);
	s->attempt.next_hello_ns = now_ns + s->cfg.hello_ns;
	s->count[WEFT_SESSION_N_HELLOS]++;
	*c = s->cfg.params;
	c->type = WEFT_CONTROL_HELLO;
	c->padded = is_probe ? 0 : s->attempt.pad_flits;
	if (session_has_ide(s))
		memcpy(c->random, s->offer_random, WEFT_RANDOM_LEN);
	*id = s->attempt.hello_nonce;
	return true;
}

/* False: the offer is not current any more (SESS-3, SESS-12). */
static bool
session_send_welcome(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	const bool is_live = s->id != 0 && s->due.welcome_nonce == s->live_nonce;

	s->due.welcome = false;
	if (!is_live && (s->candidate.sid == 0 || s->due.welcome_nonce != s->candidate.nonce))
		return false;
	*c = is_live ? s->said : s->cfg.params;
	c->type = WEFT_CONTROL_WELCOME;
	c->padded = s->due.welcome_flits;
	c->session = is_live ? s->id : s->candidate.sid;
	if (session_has_ide(s))
		memcpy(c->random, is_live ? s->live_random : s->offer_random, WEFT_RANDOM_LEN);
	*id = s->due.welcome_nonce;
	return session_prove(s, c->session, is_live, c->proof);
}

static bool
session_send_refusal(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->due.refusal = false;
	s->count[WEFT_SESSION_N_REFUSALS]++;
	*c = s->cfg.params;
	c->type = WEFT_CONTROL_REFUSE;
	c->differs = s->due.refusal_differs;
	*id = s->due.refusal_nonce;
	return true;
}

static bool
session_send_ready(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->due.ready = false;
	c->type = WEFT_CONTROL_READY;
	*id = s->attempt.pending_sid;
	return session_prove(s, s->attempt.pending_sid, false, c->proof);
}

static bool
session_send_keepalive(
	struct weft_session *s, uint64_t now_ns, uint32_t *id, struct weft_control *c)
{
	s->due.keepalive = false;
	s->sent_ns = s->kept_ns = now_ns;
	c->type = WEFT_CONTROL_KEEPALIVE;
	c->flags = s->rx_timed_out ? WEFT_CONTROL_RDI : 0;
	session_sign(s, c);
	*id = s->id;
	return true;
}

static bool
session_send_goodbye(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->due.goodbye = false;
	*c = s->due.goodbye_says; /* signed when there were keys */
	*id = s->due.goodbye_sid;
	return true;
}

static bool
session_send_reset(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->due.reset = false;
	s->count[WEFT_SESSION_N_RESETS]++;
	c->type = WEFT_CONTROL_RESET;
	*id = s->due.reset_sid;
	return true;
}

/* The number is kept for further challenges: an answer may take longer than the next doubt. */
static bool
session_send_challenge(
	struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id, struct weft_control *c)
{
	s->due.challenge = false;
	if (s->id == 0)
		return false;
	if (s->challenged.number == 0 ||
		now_ns - s->challenged.drawn_ns >= s->cfg.session_timeout_ns) {
		s->challenged.number = rnd;
		s->challenged.drawn_ns = now_ns;
	}
	if (s->challenged.number == 0) {
		s->count[WEFT_SESSION_N_NO_RANDOM]++;
		return false;
	}
	s->count[WEFT_SESSION_N_CHALLENGES]++;
	c->type = WEFT_CONTROL_CHALLENGE;
	c->challenge = s->challenged.number;
	*id = s->id;
	return true;
}

/* SESS-22 */
static bool
session_send_gone(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->due.gone = false;
	if (s->due.gone_sid == s->parting)
		s->parting = 0;
	c->type = WEFT_CONTROL_GONE;
	c->challenge = s->due.gone_number;
	*id = s->due.gone_sid;
	return session_prove_gone(s, *id, c->challenge, c->proof);
}

bool
weft_session_next(
	struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id, struct weft_control *c)
{
	memset(c, 0, sizeof(*c));
	if (s->due.goodbye)
		return session_send_goodbye(s, id, c);
	if (s->due.gone && session_send_gone(s, id, c))
		return true;
	if (s->due.challenge && session_send_challenge(s, now_ns, rnd, id, c))
		return true;
	if (s->due.reset)
		return session_send_reset(s, id, c);
	if (s->due.refusal)
		return session_send_refusal(s, id, c);
	if (s->due.welcome && session_send_welcome(s, id, c))
		return true;
	if (s->due.ready)
		return session_send_ready(s, id, c);
	if (s->id != 0 && now_ns >= session_keepalive_at(s))
		return session_send_keepalive(s, now_ns, id, c);
	if (session_is_asking(s) && now_ns >= s->attempt.next_hello_ns)
		return session_send_hello(s, now_ns, rnd, id, c);
	return false;
}
