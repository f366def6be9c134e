/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sessions: bring-up, keepalive, stalls, ends (doc/session.md). What keeps old frames out: a session
 * id is drawn afresh for each offer, only the answering end draws it, it begins there once, by READY,
 * and the asking end begins it when it hears the answering end in it. So whoever says that a session
 * is over, by RESET or GOODBYE, is right for ever, however late that arrives.
 */

#include "weft_session.h"

#include <errno.h>

#include "weft_base.h"
#include "weft_telem.h"

#define PADDED_TRIES 3 /* HELLOs in a row before one asks whether a short one passes */
#define REFUSED_TIMES 10 /* an end that was refused waits so many times longer */

static const struct weft_counter rows[] = {
	[WEFT_SESSION_N_HELLOS] = { "hellos", "frames", "HELLOs sent" },
	[WEFT_SESSION_N_BEGUN] = { "begun", "sessions", "sessions begun" },
	[WEFT_SESSION_N_ENDED] = { "ended", "sessions", "sessions ended or replaced" },
	[WEFT_SESSION_N_STALLS] = { "stalls", "stalls", "times that one way or both fell silent" },
	[WEFT_SESSION_N_RESUMED] = { "resumed", "stalls", "stalls that passed" },
	[WEFT_SESSION_N_RESETS] = { "resets", "frames", "RESETs sent" },
	[WEFT_SESSION_N_UNKNOWN] = { "unknown", "frames", "frames of no session that lives" },
	[WEFT_SESSION_N_STALE] = { "stale", "frames", "control frames for nothing that is open" },
	[WEFT_SESSION_N_REFUSALS] = { "refusals", "frames", "REFUSEs sent or heeded" },
	[WEFT_SESSION_N_LOSSES] = { "losses", "flits", "flits that switches reported as dropped" },
	[WEFT_SESSION_N_BAD_PROOFS] = { "bad_proofs", "frames",
		"WELCOMEs and READYs whose proof shows another pre-shared key" },
	[WEFT_SESSION_N_NO_RANDOM] = { "no_random", "times",
		"times that nothing began for want of random bytes" },
};

static_assert(WEFT_ARRAY_SIZE(rows) == WEFT_SESSION_N_COUNTERS, "one row a counter");

void
weft_session_defaults(struct weft_session_cfg *c)
{
	*c = (struct weft_session_cfg){
		.hello_ns = 100000000,
		.keepalive_ns = 25000000,
		.silence_ns = 100000000,
		.dead_ns = 10000000000,
		.pad_flits = 1,
		.params = { .version = WEFT_WIRE_VERSION, .max_flits = 1 },
	};
}

static bool
cfg_is_valid(const struct weft_session_cfg *c)
{
	const struct weft_control *p = &c->params;

	return c->hello_ns >= 1 && c->keepalive_ns >= 1 && c->keepalive_ns <= c->silence_ns / 2 &&
	       c->silence_ns < c->dead_ns && c->pad_flits >= 1 &&
	       c->pad_flits <= WEFT_WIRE_FLITS_MAX && p->max_flits >= 1 &&
	       p->max_flits <= WEFT_WIRE_FLITS_MAX && p->mode <= WEFT_MODE_RXL &&
	       p->crc_order <= 1 && p->isn_form <= 2 && p->ide_mode <= 2 &&
	       (p->ide_mode == 0 || c->keys != NULL);
}

int
weft_session_init(struct weft_session *s, const struct weft_session_cfg *cfg, uint64_t now_ns)
{
	if (!cfg_is_valid(cfg))
		return -EINVAL;
	*s = (struct weft_session){ .cfg = *cfg,
		.state = WEFT_SESSION_DOWN,
		.pad_flits = cfg->pad_flits,
		.ask_ns = now_ns };
	return 0;
}

bool
weft_session_is_live(const struct weft_session *s)
{
	return s->id != 0;
}

static bool
is_asking(const struct weft_session *s)
{
	return s->cfg.asks && s->id == 0 && s->state != WEFT_SESSION_CLOSED;
}

static uint32_t
draw(struct weft_session *s, uint64_t rnd)
{
	uint32_t id = (uint32_t)rnd;

	while (id == 0 || id == s->drawn || id == s->last)
		id++;
	s->drawn = id;
	return id;
}

/* --- what keys are made from; nothing of it happens with IDE off --- */

static bool
has_ide(const struct weft_session *s)
{
	return s->cfg.params.ide_mode != 0;
}

static bool
draw_share(struct weft_session *s)
{
	if (!has_ide(s) || s->cfg.keys->random(s->cfg.keys->arg, s->offer_random, WEFT_RANDOM_LEN))
		return true;
	s->count[WEFT_SESSION_N_NO_RANDOM]++;
	return false;
}

static void
make_deal(const struct weft_session *s, uint32_t id, const struct weft_control *peer,
	const uint8_t *random, struct weft_session_deal *d)
{
	struct weft_control *own = s->cfg.asks ? &d->asks : &d->answers;
	struct weft_control *other = s->cfg.asks ? &d->answers : &d->asks;

	d->session = id;
	*own = s->cfg.params;
	memcpy(own->random, random, WEFT_RANDOM_LEN);
	*other = *peer;
	own->type = other->type = 0;
	own->padded = other->padded = 0;
	own->session = other->session = 0;
	memset(own->proof, 0, WEFT_PROOF_LEN);
	memset(other->proof, 0, WEFT_PROOF_LEN);
}

static bool
prove(const struct weft_session *s, uint32_t id, bool is_live, bool asks, uint8_t *proof)
{
	struct weft_session_deal d;

	if (!has_ide(s))
		return true;
	if (is_live)
		weft_session_deal(s, &d);
	else
		make_deal(s, id, &s->offered, s->offer_random, &d);
	return s->cfg.keys->proof(s->cfg.keys->arg, &d, asks, proof);
}

/* In a time that does not tell how much was right. */
static bool
is_proven(struct weft_session *s, uint32_t id, const uint8_t *proof)
{
	uint8_t want[WEFT_PROOF_LEN], wrong = 0;

	if (!has_ide(s))
		return true;
	if (!prove(s, id, false, !s->cfg.asks, want))
		return false;
	for (unsigned int i = 0; i < WEFT_PROOF_LEN; i++)
		wrong |= want[i] ^ proof[i];
	if (wrong != 0)
		s->count[WEFT_SESSION_N_BAD_PROOFS]++;
	return wrong == 0;
}

void
weft_session_deal(const struct weft_session *s, struct weft_session_deal *d)
{
	make_deal(s, s->id, &s->peer, s->live_random, d);
}

/* --- a session's life --- */

static void
stalled_or_not(struct weft_session *s)
{
	const bool stalled = s->is_deaf || s->peer_is_deaf;

	if (stalled && s->state == WEFT_SESSION_UP) {
		s->state = WEFT_SESSION_STALLED;
		s->count[WEFT_SESSION_N_STALLS]++;
	} else if (!stalled && s->state == WEFT_SESSION_STALLED) {
		s->state = WEFT_SESSION_UP;
		s->count[WEFT_SESSION_N_RESUMED]++;
	}
}

static enum weft_session_event
begin(struct weft_session *s, uint32_t id, uint64_t now_ns)
{
	if (s->id != 0)
		s->count[WEFT_SESSION_N_ENDED]++;
	s->count[WEFT_SESSION_N_BEGUN]++;
	s->id = s->last = id;
	s->for_x = s->offer_for;
	s->offer = s->offer_for = 0;
	s->wanted = 0;
	s->peer = s->offered;
	memcpy(s->live_random, s->offer_random, WEFT_RANDOM_LEN);
	s->state = WEFT_SESSION_UP;
	s->differs = WEFT_PARAM_NONE;
	s->is_deaf = s->peer_is_deaf = false;
	s->was_probed = false;
	s->owes_ready = false;
	s->owes_keepalive = !s->cfg.asks; /* the asking end waits for it */
	s->quiet_ns = 0;
	s->ticked_ns = s->sent_ns = s->kept_ns = now_ns;
	return WEFT_SESSION_BEGIN;
}

/* A new attempt: a new X, so that nothing that was said before counts. */
static void
ask_anew(struct weft_session *s, uint64_t at_ns)
{
	s->asked = s->wanted = 0;
	s->owes_ready = false;
	s->unanswered = 0;
	s->ask_ns = at_ns;
}

static enum weft_session_event
end(struct weft_session *s, uint64_t now_ns)
{
	s->count[WEFT_SESSION_N_ENDED]++;
	s->id = s->for_x = 0;
	s->owes_keepalive = false;
	s->state = WEFT_SESSION_DOWN;
	s->pad_flits = s->cfg.pad_flits;
	s->probe_answered = false;
	ask_anew(s, now_ns);
	return WEFT_SESSION_END;
}

static void
say_goodbye(struct weft_session *s, uint32_t id)
{
	s->owes_goodbye = id != 0;
	s->goodbye_id = id;
}

/* A frame of the live session came. */
static void
heard(struct weft_session *s, uint64_t now_ns)
{
	s->ticked_ns = now_ns;
	s->quiet_ns = 0;
	if (s->is_deaf) {
		s->is_deaf = false;
		s->owes_keepalive = true; /* the other end waits to hear so */
		stalled_or_not(s);
	}
}

/*
 * A frame that only an end in session @p id sends. The asking end tells nobody that a session is
 * unknown while it asks: it may be about to begin that one, and what it asks for replaces all others.
 */
static bool
is_in_session(struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev)
{
	*ev = WEFT_SESSION_NOTHING;
	if (id != 0 && id == s->id) {
		heard(s, now_ns);
		return true;
	}
	if (id != 0 && id == s->wanted) {
		*ev = begin(s, id, now_ns);
		return true;
	}
	s->count[WEFT_SESSION_N_UNKNOWN]++;
	if ((!s->cfg.asks || s->state == WEFT_SESSION_CLOSED) && now_ns >= s->reset_ns) {
		s->owes_reset = true;
		s->reset_id = id;
		s->reset_ns = now_ns + s->cfg.keepalive_ns;
	}
	return false;
}

/* --- control frames, by type --- */

static void
refused(struct weft_session *s, uint8_t differs, const struct weft_control *c)
{
	s->state = WEFT_SESSION_REFUSED;
	s->differs = differs;
	s->peer = *c;
}

static void
hello(struct weft_session *s, uint32_t x, const struct weft_control *c, uint64_t rnd)
{
	uint8_t differs = (uint8_t)weft_control_compare(&s->cfg.params, c);

	if (differs == WEFT_PARAM_NONE && c->padded == 0)
		differs = WEFT_PARAM_FRAME_SIZE; /* it asks why long ones get no answer */
	if (differs != WEFT_PARAM_NONE) {
		s->owes_refusal = true;
		s->refusal = differs;
		s->refusal_for = x;
		/* The first short one may be due to this end having been away. */
		if (differs == WEFT_PARAM_FRAME_SIZE && !s->was_probed)
			s->was_probed = true;
		else if (s->id == 0)
			refused(s, differs, c);
		return;
	}
	/* Only a session proves that full frames pass both ways. */
	if (s->state == WEFT_SESSION_REFUSED && s->differs != WEFT_PARAM_FRAME_SIZE)
		s->state = WEFT_SESSION_DOWN;
	s->owes_welcome = true;
	s->welcome_for = x;
	s->welcome_flits = c->max_flits < s->cfg.pad_flits ? c->max_flits : s->cfg.pad_flits;
	/* Asked again, for want of an answer: the same answer. */
	if ((s->id != 0 && x == s->for_x) || (s->offer != 0 && x == s->offer_for))
		return;
	s->offer = s->offer_for = 0; /* its share is overwritten */
	if (!draw_share(s))
		return;
	s->offer = draw(s, rnd);
	s->offer_for = x;
	s->offered = *c;
}

static void
welcome(struct weft_session *s, const struct weft_control *c, uint64_t now_ns)
{
	const enum weft_control_param differs = weft_control_compare(&s->cfg.params, c);
	const uint8_t pad = c->max_flits < s->cfg.pad_flits ? c->max_flits : s->cfg.pad_flits;

	if (differs != WEFT_PARAM_NONE) {
		refused(s, (uint8_t)differs, c);
		ask_anew(s, now_ns + REFUSED_TIMES * s->cfg.hello_ns);
		return;
	}
	if (pad > s->pad_flits) {
		/* It takes more than what was tried for the end that was there before. */
		s->pad_flits = pad;
		ask_anew(s, now_ns);
		return;
	}
	s->wanted = 0;
	s->offered = *c;
	if (!is_proven(s, c->session, c->proof)) {
		refused(s, WEFT_PARAM_IDE_KEY, c);
		ask_anew(s, now_ns + REFUSED_TIMES * s->cfg.hello_ns);
		return;
	}
	s->state = WEFT_SESSION_DOWN;
	s->unanswered = 0;
	s->wanted = c->session;
	s->owes_ready = true;
}

static void
refuse(struct weft_session *s, const struct weft_control *c, uint64_t now_ns)
{
	if (c->differs == WEFT_PARAM_FRAME_SIZE && s->wanted != 0) {
		s->count[WEFT_SESSION_N_STALE]++; /* a long one got through since it was asked */
		return;
	}
	s->count[WEFT_SESSION_N_REFUSALS]++;
	if (c->differs == WEFT_PARAM_FRAME_SIZE &&
		(!s->probe_answered || c->max_flits < s->pad_flits)) {
		/* It lives. Whether long frames pass is seen now, of the size that it takes. */
		s->probe_answered = true;
		if (c->max_flits < s->pad_flits)
			s->pad_flits = c->max_flits;
		ask_anew(s, now_ns);
		return;
	}
	refused(s, c->differs, c);
	ask_anew(s, now_ns + REFUSED_TIMES * s->cfg.hello_ns);
}

static enum weft_session_event
ready(struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	if (id == s->id)
		heard(s, now_ns);
	else if (is_proven(s, id, c->proof))
		return begin(s, id, now_ns);
	return WEFT_SESSION_NOTHING;
}

static enum weft_session_event
keepalive(struct weft_session *s, uint32_t id, const struct weft_control *c, uint64_t now_ns)
{
	enum weft_session_event ev;

	if (!is_in_session(s, id, now_ns, &ev))
		return ev;
	s->peer_is_deaf = (c->flags & WEFT_CONTROL_DEAF) != 0;
	s->deaf_ns = now_ns;
	stalled_or_not(s);
	return ev;
}

/* The other end says that a session is over. */
static enum weft_session_event
over(struct weft_session *s, uint32_t id, uint64_t now_ns)
{
	if (id == s->id)
		return end(s, now_ns);
	/* Not begun here yet, and never will be. */
	if (id == s->wanted)
		ask_anew(s, s->ask_ns);
	else
		s->offer = s->offer_for = 0;
	return WEFT_SESSION_NOTHING;
}

/* Whether a control frame is for something that is open here. */
static bool
is_for_us(const struct weft_session *s, uint32_t id, uint8_t type)
{
	const bool answers = !s->cfg.asks && s->state != WEFT_SESSION_CLOSED;

	switch (type) {
	case WEFT_CONTROL_KEEPALIVE: return true; /* judges for itself */
	case WEFT_CONTROL_HELLO: return answers && id != 0;
	case WEFT_CONTROL_WELCOME:
	case WEFT_CONTROL_REFUSE: return is_asking(s) && id != 0 && id == s->asked;
	case WEFT_CONTROL_READY: return answers && id != 0 && (id == s->id || id == s->offer);
	case WEFT_CONTROL_GOODBYE:
		return id != 0 && (id == s->id || id == s->wanted || id == s->offer);
	case WEFT_CONTROL_RESET:
	case WEFT_CONTROL_LOSS: return id != 0 && id == s->id;
	default: return false;
	}
}

enum weft_session_event
weft_session_control(struct weft_session *s, uint32_t id, const struct weft_control *c,
	uint64_t now_ns, uint64_t rnd)
{
	if (!is_for_us(s, id, c->type)) {
		s->count[WEFT_SESSION_N_STALE]++;
		return WEFT_SESSION_NOTHING;
	}
	switch (c->type) {
	case WEFT_CONTROL_HELLO: hello(s, id, c, rnd); break;
	case WEFT_CONTROL_WELCOME: welcome(s, c, now_ns); break;
	case WEFT_CONTROL_REFUSE: refuse(s, c, now_ns); break;
	case WEFT_CONTROL_READY: return ready(s, id, c, now_ns);
	case WEFT_CONTROL_KEEPALIVE: return keepalive(s, id, c, now_ns);
	case WEFT_CONTROL_GOODBYE:
	case WEFT_CONTROL_RESET: return over(s, id, now_ns);
	default: /* LOSS: of a switch, so it is no sign of life of the other end */
		s->count[WEFT_SESSION_N_LOSSES] += c->count;
	}
	return WEFT_SESSION_NOTHING;
}

enum weft_verdict
weft_session_flits(
	struct weft_session *s, uint32_t id, uint64_t now_ns, enum weft_session_event *ev)
{
	return is_in_session(s, id, now_ns, ev) ? WEFT_OK : WEFT_DROP_SESSION;
}

/* --- time --- */

void
weft_session_sent(struct weft_session *s, uint64_t now_ns)
{
	assert(s->id != 0);
	s->sent_ns = now_ns;
}

enum weft_session_event
weft_session_tick(struct weft_session *s, uint64_t now_ns)
{
	uint64_t passed = now_ns - s->ticked_ns;

	if (s->id == 0)
		return WEFT_SESSION_NOTHING;
	s->ticked_ns = now_ns;
	s->quiet_ns += passed < s->cfg.silence_ns / 2 ? passed : s->cfg.silence_ns / 2;
	if (s->quiet_ns >= s->cfg.dead_ns) {
		say_goodbye(s, s->id); /* the other way may still work */
		return end(s, now_ns);
	}
	if (!s->is_deaf && s->quiet_ns >= s->cfg.silence_ns) {
		s->is_deaf = true;
		s->owes_keepalive = true;
	}
	/* Its all-clear was lost; were it still deaf it would have said so again. */
	if (s->peer_is_deaf && !s->is_deaf && now_ns - s->deaf_ns >= s->cfg.silence_ns)
		s->peer_is_deaf = false;
	stalled_or_not(s);
	return WEFT_SESSION_NOTHING;
}

/*
 * When the next KEEPALIVE is due. In a stall flits do not stand in for it: they cannot say who is
 * deaf.
 */
static uint64_t
keepalive_at(const struct weft_session *s)
{
	const uint64_t last = s->state == WEFT_SESSION_STALLED ? s->kept_ns : s->sent_ns;

	return s->owes_keepalive ? 0 : last + s->cfg.keepalive_ns;
}

static uint64_t
sooner(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t
weft_session_deadline(const struct weft_session *s)
{
	uint64_t at;

	if (s->owes_welcome || s->owes_refusal || s->owes_ready || s->owes_reset || s->owes_goodbye)
		return 0;
	if (s->id == 0)
		return is_asking(s) ? s->ask_ns : UINT64_MAX;
	at = sooner(keepalive_at(s), s->ticked_ns + s->cfg.keepalive_ns);
	if (!s->is_deaf)
		at = sooner(at, s->ticked_ns + (s->cfg.silence_ns - s->quiet_ns));
	if (s->peer_is_deaf && !s->is_deaf)
		at = sooner(at, s->deaf_ns + s->cfg.silence_ns);
	return sooner(at, s->ticked_ns + (s->cfg.dead_ns - s->quiet_ns));
}

/* --- sending --- */

static bool
send_hello(
	struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id, struct weft_control *c)
{
	const bool is_probe = s->unanswered == PADDED_TRIES;

	if (s->asked == 0 && !draw_share(s)) {
		s->ask_ns = now_ns + s->cfg.hello_ns;
		return false;
	}
	if (s->asked == 0)
		s->asked = draw(s, rnd);
	if (is_probe)
		s->wanted = 0; /* what was offered came to nothing */
	s->unanswered = is_probe ? 0 : (uint8_t)(s->unanswered + 1);
	s->ask_ns = now_ns + s->cfg.hello_ns;
	s->count[WEFT_SESSION_N_HELLOS]++;
	*c = s->cfg.params;
	c->type = WEFT_CONTROL_HELLO;
	c->padded = is_probe ? 0 : s->pad_flits;
	if (has_ide(s))
		memcpy(c->random, s->offer_random, WEFT_RANDOM_LEN);
	*id = s->asked;
	return true;
}

/* False: what was offered is gone. */
static bool
send_welcome(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	const bool is_live = s->id != 0 && s->welcome_for == s->for_x;

	s->owes_welcome = false;
	if (!is_live && (s->offer == 0 || s->welcome_for != s->offer_for))
		return false;
	*c = s->cfg.params;
	c->type = WEFT_CONTROL_WELCOME;
	c->padded = s->welcome_flits;
	c->session = is_live ? s->id : s->offer;
	if (has_ide(s))
		memcpy(c->random, is_live ? s->live_random : s->offer_random, WEFT_RANDOM_LEN);
	*id = s->welcome_for;
	return prove(s, c->session, is_live, false, c->proof);
}

static bool
send_refusal(struct weft_session *s, uint32_t *id, struct weft_control *c)
{
	s->owes_refusal = false;
	s->count[WEFT_SESSION_N_REFUSALS]++;
	*c = s->cfg.params;
	c->type = WEFT_CONTROL_REFUSE;
	c->differs = s->refusal;
	*id = s->refusal_for;
	return true;
}

static bool
send_keepalive(struct weft_session *s, uint64_t now_ns, uint32_t *id, struct weft_control *c)
{
	s->owes_keepalive = false;
	s->sent_ns = s->kept_ns = now_ns;
	c->type = WEFT_CONTROL_KEEPALIVE;
	c->flags = s->is_deaf ? WEFT_CONTROL_DEAF : 0;
	*id = s->id;
	return true;
}

/* A message of its type alone. */
static bool
send_plain(bool *owed, enum weft_control_type type, uint32_t about, uint32_t *id,
	struct weft_control *c)
{
	*owed = false;
	c->type = (uint8_t)type;
	*id = about;
	return true;
}

bool
weft_session_next(
	struct weft_session *s, uint64_t now_ns, uint64_t rnd, uint32_t *id, struct weft_control *c)
{
	memset(c, 0, sizeof(*c));
	if (s->owes_goodbye)
		return send_plain(&s->owes_goodbye, WEFT_CONTROL_GOODBYE, s->goodbye_id, id, c);
	if (s->owes_reset) {
		s->count[WEFT_SESSION_N_RESETS]++;
		return send_plain(&s->owes_reset, WEFT_CONTROL_RESET, s->reset_id, id, c);
	}
	if (s->owes_refusal)
		return send_refusal(s, id, c);
	if (s->owes_welcome && send_welcome(s, id, c))
		return true;
	if (s->owes_ready)
		return send_plain(&s->owes_ready, WEFT_CONTROL_READY, s->wanted, id, c) &&
		       prove(s, s->wanted, false, true, c->proof);
	if (s->id != 0 && now_ns >= keepalive_at(s))
		return send_keepalive(s, now_ns, id, c);
	if (is_asking(s) && now_ns >= s->ask_ns)
		return send_hello(s, now_ns, rnd, id, c);
	return false;
}

enum weft_session_event
weft_session_abandon(struct weft_session *s, uint64_t now_ns)
{
	if (s->id == 0)
		return WEFT_SESSION_NOTHING;
	say_goodbye(s, s->id);
	return end(s, now_ns);
}

void
weft_session_close(struct weft_session *s)
{
	if (s->state == WEFT_SESSION_CLOSED)
		return;
	say_goodbye(s, s->id != 0 ? s->id : s->wanted);
	if (s->id != 0)
		s->count[WEFT_SESSION_N_ENDED]++;
	s->id = s->for_x = s->asked = s->wanted = s->offer = s->offer_for = 0;
	s->owes_welcome = s->owes_refusal = s->owes_ready = s->owes_keepalive = false;
	s->state = WEFT_SESSION_CLOSED;
}

const struct weft_counter *
weft_session_counters(void)
{
	return rows;
}
