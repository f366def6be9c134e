/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sessions: bring-up, keepalive, stalls, ends (doc/session.md). What keeps old frames out: a
 * session id is drawn afresh for each offer, only the responder draws it, it begins there once, by
 * READY, and the initiator begins it when it hears the responder in it. So a statement that a
 * session is over stays true, however late it arrives. Rx is in session_in.c, Tx in session_out.c,
 * keys in session_proof.c.
 */

#include "session_priv.h"

#include <errno.h>

#include "weft_base.h"

const struct weft_counter weft_session_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_session_counters.def"
#undef WEFT_COUNTER
};

void
weft_session_defaults(struct weft_session_cfg *c)
{
	*c = (struct weft_session_cfg){
		.hello_ns = 100000000,
		.keepalive_ns = 25000000,
		.rx_timeout_ns = 100000000,
		.session_timeout_ns = 10000000000,
		.pad_flits = 1,
		.params = { .version = WEFT_WIRE_VERSION, .max_flits = 1 },
	};
}

static bool
session_cfg_is_valid(const struct weft_session_cfg *c)
{
	const struct weft_control *p = &c->params;

	return c->hello_ns >= 1 && c->keepalive_ns >= 1 &&
	       c->keepalive_ns <= c->rx_timeout_ns / 2 &&
	       c->rx_timeout_ns < c->session_timeout_ns && c->pad_flits >= 1 &&
	       c->pad_flits <= WEFT_WIRE_FLITS_MAX && p->max_flits >= 1 &&
	       p->max_flits <= WEFT_WIRE_FLITS_MAX && p->mode <= WEFT_MODE_RXL &&
	       p->crc_order <= 1 && p->isn_form <= 2 && p->ide_mode <= 2 &&
	       (p->ide_mode == 0 || c->keys != NULL);
}

int
weft_session_init(struct weft_session *s, const struct weft_session_cfg *cfg, uint64_t now_ns)
{
	if (!session_cfg_is_valid(cfg))
		return -EINVAL;
	*s = (struct weft_session){ .cfg = *cfg,
		.state = WEFT_SESSION_DOWN,
		.attempt.pad_flits = cfg->pad_flits,
		.attempt.next_hello_ns = now_ns };
	return 0;
}

/* SESS-2 */
uint32_t
session_draw(struct weft_session *s, uint64_t rnd)
{
	uint32_t id = (uint32_t)rnd;

	while (id == 0 || id == s->last_sid_drawn || id == s->last)
		id++;
	s->last_sid_drawn = id;
	return id;
}

void
weft_session_knows(struct weft_session *s, uint64_t generation)
{
	s->cfg.params.known = generation;
}

/* --- a session's life --- */

void
session_stalled_or_not(struct weft_session *s)
{
	const bool stalled = s->rx_timed_out || s->peer_rx_timed_out;

	if (stalled && s->state == WEFT_SESSION_UP) {
		s->state = WEFT_SESSION_STALLED;
		s->count[WEFT_SESSION_N_STALLS]++;
	} else if (!stalled && s->state == WEFT_SESSION_STALLED) {
		s->state = WEFT_SESSION_UP;
		s->count[WEFT_SESSION_N_RESUMED]++;
	}
}

static void
session_forget_live(struct weft_session *s)
{
	s->tx_number = s->rx_number = 0;
	s->challenged.number = 0;
	s->due.challenge_after_ns = 0;
	s->due.challenge = false;
}

/* SESS-8 */
enum weft_session_event
session_begin(struct weft_session *s, uint32_t id, uint64_t now_ns)
{
	/* The initiator has the keys since WELCOME. */
	if (!s->cfg.is_initiator && !session_bind(s, id))
		return WEFT_SESSION_NOTHING;
	if (s->id != 0)
		s->count[WEFT_SESSION_N_ENDED]++;
	s->count[WEFT_SESSION_N_BEGUN]++;
	s->id = s->last = id;
	s->live_nonce = s->candidate.nonce;
	s->candidate.sid = s->candidate.nonce = 0;
	s->attempt.pending_sid = 0;
	s->peer = s->offered;
	s->said = s->cfg.params;
	memcpy(s->live_random, s->offer_random, WEFT_RANDOM_LEN);
	s->state = WEFT_SESSION_UP;
	s->differs = WEFT_PARAM_NONE;
	s->rx_timed_out = s->peer_rx_timed_out = false;
	s->peer_has_begun = s->cfg.is_initiator; /* SESS-38 */
	s->was_probed = false;
	s->due.ready = false;
	s->due.keepalive = !s->cfg.is_initiator; /* the initiator waits for it */
	s->idle_ns = 0;
	s->ticked_ns = s->sent_ns = s->kept_ns = now_ns;
	session_forget_live(s);
	return WEFT_SESSION_BEGIN;
}

void
session_ask_anew(struct weft_session *s, uint64_t at_ns)
{
	s->attempt.hello_nonce = s->attempt.pending_sid = 0;
	s->due.ready = false;
	s->attempt.suspected = WEFT_PARAM_NONE;
	s->attempt.is_probing = false;
	s->attempt.unanswered = 0;
	s->attempt.next_hello_ns = at_ns;
}

void
session_refused(struct weft_session *s, uint8_t differs, const struct weft_control *c)
{
	s->state = WEFT_SESSION_REFUSED;
	s->differs = differs;
	s->peer = *c;
}

enum weft_session_event
session_end(struct weft_session *s, uint64_t now_ns)
{
	s->count[WEFT_SESSION_N_ENDED]++;
	s->id = s->live_nonce = 0;
	s->due.keepalive = false;
	s->state = WEFT_SESSION_DOWN;
	s->attempt.pad_flits = s->cfg.pad_flits;
	s->attempt.probe_answered = false;
	session_forget_live(s);
	session_unbind(s);
	session_ask_anew(s, now_ns);
	return WEFT_SESSION_END;
}

/* GOODBYE of the live session, while its keys are there to sign it. */
static void
session_say_goodbye(struct weft_session *s)
{
	s->due.goodbye = true;
	s->due.goodbye_sid = s->id;
	s->due.goodbye_says = (struct weft_control){ .type = WEFT_CONTROL_GOODBYE };
	session_sign(s, &s->due.goodbye_says);
}

/* SESS-15 */
void
session_heard(struct weft_session *s, uint64_t now_ns)
{
	s->ticked_ns = now_ns;
	s->idle_ns = 0;
	if (s->rx_timed_out) {
		s->rx_timed_out = false;
		s->due.keepalive = true; /* the other end waits for the all-clear */
		session_stalled_or_not(s);
	}
}

/*
 * No RESET from an initiator with a HELLO out: it may be about to begin the session in question,
 * and the one that it requests replaces all others (SESS-7, SESS-20).
 */
bool
session_is_in(struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev)
{
	*ev = WEFT_SESSION_NOTHING;
	if (id != 0 && id == s->id) {
		s->peer_has_begun = true;
		session_heard(s, now_ns);
		return true;
	}
	if (id != 0 && id == s->attempt.pending_sid) {
		*ev = session_begin(s, id, now_ns);
		return true;
	}
	s->count[WEFT_SESSION_N_UNKNOWN]++;
	if ((!s->cfg.is_initiator || s->state == WEFT_SESSION_CLOSED) &&
		now_ns >= s->due.reset_after_ns) {
		s->due.reset = true;
		s->due.reset_sid = id;
		s->due.reset_after_ns = now_ns + s->cfg.keepalive_ns;
	}
	return false;
}

/* SESS-29; FRAME-9 */
enum weft_verdict
weft_session_flits(
	struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev)
{
	/* With keys only a frame with a MAC begins a session; its flits will be sent again. */
	if (id != s->id && id == s->attempt.pending_sid && session_has_ide(s)) {
		*ev = WEFT_SESSION_NOTHING;
		s->count[WEFT_SESSION_N_UNKNOWN]++;
		return WEFT_DROP_SESSION;
	}
	return session_is_in(s, id, now_ns, ev) ? WEFT_OK : WEFT_DROP_SESSION;
}

/* --- time --- */

void
weft_session_sent(struct weft_session *s, uint64_t now_ns)
{
	assert(s->id != 0);
	s->sent_ns = now_ns;
}

/* SESS-14, SESS-16, SESS-17 */
enum weft_session_event
weft_session_tick(struct weft_session *s, uint64_t now_ns)
{
	uint64_t passed = now_ns - s->ticked_ns;

	if (s->id == 0)
		return WEFT_SESSION_NOTHING;
	s->ticked_ns = now_ns;
	s->idle_ns += passed < s->cfg.rx_timeout_ns / 2 ? passed : s->cfg.rx_timeout_ns / 2;
	if (s->idle_ns >= s->cfg.session_timeout_ns) {
		session_say_goodbye(s); /* the other way may still work */
		return session_end(s, now_ns);
	}
	if (!s->rx_timed_out && s->idle_ns >= s->cfg.rx_timeout_ns) {
		s->rx_timed_out = true;
		s->due.keepalive = true;
	}
	/* Its all-clear was lost: with its Rx still timed out it would have repeated RDI. */
	if (s->peer_rx_timed_out && !s->rx_timed_out &&
		now_ns - s->peer_rx_timed_out_ns >= s->cfg.rx_timeout_ns)
		s->peer_rx_timed_out = false;
	session_stalled_or_not(s);
	return WEFT_SESSION_NOTHING;
}

enum weft_session_event
weft_session_abandon(struct weft_session *s, uint64_t now_ns)
{
	if (s->id == 0)
		return WEFT_SESSION_NOTHING;
	session_say_goodbye(s);
	return session_end(s, now_ns);
}

/* SESS-24 */
void
weft_session_close(struct weft_session *s)
{
	if (s->state == WEFT_SESSION_CLOSED)
		return;
	if (s->id != 0) {
		session_say_goodbye(s);
		s->count[WEFT_SESSION_N_ENDED]++;
		s->parting = session_has_ide(s) ? 0 : s->id;
	}
	session_unbind(s);
	session_forget_live(s);
	s->id = s->live_nonce = s->attempt.hello_nonce = s->attempt.pending_sid = s->candidate.sid =
		s->candidate.nonce = 0;
	s->due.welcome = s->due.refusal = s->due.ready = s->due.keepalive = false;
	s->state = WEFT_SESSION_CLOSED;
}

bool
weft_session_is_parting(const struct weft_session *s)
{
	return s->parting != 0;
}
