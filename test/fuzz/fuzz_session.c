/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A session and its records, by a script: messages of the other end, true, stale and made up,
 * frames with flits, time that stands, runs and jumps. Whatever comes, what the session says can be
 * built and read, it says only so much at a time, it is in a session only between BEGIN and END,
 * and its counters never go down.
 *
 *   byte 0  bit 0: this end asks; bit 1: IDE, with keys
 *   then    steps: what, and what it needs (step())
 */

#include "weft_fuzz.h"

#include "weft_session.h"

#define SAID_MAX 16 /* messages in a row without time passing */
#define MS UINT64_C(1000000)

struct script {
	struct fuzz_in in;
	struct weft_session s;
	struct weft_session_cfg cfg;
	struct weft_control last; /* said by this end */
	uint32_t last_id;
	uint64_t now, rnd;
	bool is_live;
	uint64_t count[WEFT_SESSION_N_COUNTERS];
};

/* Stand-ins for keys, which anybody can make: so the fuzzer gets behind them. */
static bool
key_random(void *arg, uint8_t *out, size_t len)
{
	(void)arg;
	memset(out, 0x5A, len);
	return true;
}

static bool
key_proof(void *arg, const struct weft_session_transcript *d, bool is_initiator, uint8_t *proof)
{
	(void)arg;
	(void)d;
	memset(proof, is_initiator ? 1 : 2, WEFT_PROOF_LEN);
	return true;
}

static bool
key_bind(void *arg, const struct weft_session_transcript *d)
{
	(void)arg;
	(void)d;
	return true;
}

static bool
key_mac(void *arg, bool from_initiator, const uint8_t *image, size_t len, uint8_t *mac)
{
	uint8_t sum = 0;

	(void)arg;
	for (size_t i = 0; i < len; i++)
		sum ^= image[i];
	memset(mac, from_initiator ? 3 : 4, WEFT_CONTROL_MAC_LEN);
	mac[0] = sum;
	return true;
}

static bool
key_gone(void *arg, uint32_t session, bool from_initiator, uint64_t number, uint8_t *proof)
{
	(void)arg;
	(void)session;
	(void)number;
	memset(proof, from_initiator ? 5 : 6, WEFT_PROOF_LEN);
	return true;
}

static const struct weft_session_keys keys = { key_random, key_proof, key_bind, key_mac, key_gone,
	NULL };

static void
event(struct script *x, enum weft_session_event e)
{
	FUZZ_CHECK(e <= WEFT_SESSION_END);
	FUZZ_CHECK(e != WEFT_SESSION_END || x->is_live);
	if (e != WEFT_SESSION_NOTHING)
		x->is_live = e == WEFT_SESSION_BEGIN;
	FUZZ_CHECK(weft_session_is_live(&x->s) == x->is_live);
	FUZZ_CHECK(x->s.state <= WEFT_SESSION_CLOSED && (x->s.id != 0) == x->is_live);
	for (unsigned int i = 0; i < WEFT_SESSION_N_COUNTERS; i++)
		FUZZ_CHECK(x->s.count[i] >= x->count[i]);
	memcpy(x->count, x->s.count, sizeof(x->count));
}

/* What the session has to say: each can be built, and read by whoever gets it. */
static void
say(struct script *x)
{
	uint8_t *rec = fuzz_alloc((size_t)WEFT_WIRE_FLITS_MAX * WEFT_WIRE_FLIT_LEN);
	struct weft_control c, read;
	unsigned int said = 0;
	uint32_t id;

	while (weft_session_next(&x->s, x->now, x->rnd += 0x9E3779B97F4A7C15, &id, &c)) {
		const size_t len = weft_control_build(rec, &c);

		FUZZ_CHECK(weft_control_parse(rec, len, &read) == WEFT_OK && ++said <= SAID_MAX);
		FUZZ_CHECK(read.type == c.type && read.session == c.session);
		x->last = read;
		x->last_id = id;
		event(x, WEFT_SESSION_NOTHING);
	}
	free(rec);
}

/* A message: the fields a fuzzer cannot guess are those of this end or 0. */
static void
hear(struct script *x, uint8_t how)
{
	const uint32_t ids[] = { x->s.id, x->s.attempt.hello_nonce, x->s.candidate.sid,
		x->s.attempt.pending_sid, x->last_id, x->s.live_nonce, x->s.last, fuzz_u8(&x->in) };
	struct weft_control c = x->cfg.params;
	uint8_t image[WEFT_CONTROL_MAX], rec[WEFT_CONTROL_MAX + 4096];
	const uint32_t id = ids[how >> 5];
	size_t len;

	c.type = (uint8_t)(1 + fuzz_u8(&x->in) % WEFT_CONTROL_GONE);
	c.ide_mode = c.type <= WEFT_CONTROL_REFUSE ? c.ide_mode : 0;
	c.padded = 0;
	c.session = ids[fuzz_u8(&x->in) % WEFT_ARRAY_SIZE(ids)] | 1u;
	c.differs = (uint8_t)(1 + fuzz_u8(&x->in) % (WEFT_PARAM_COUNT - 1));
	c.flags = fuzz_u8(&x->in) & WEFT_CONTROL_RDI;
	c.count = 1;
	c.challenge = how & 8 ? x->s.challenged.number | 1 : fuzz_u64(&x->in) | 1;
	c.number = x->cfg.keys != NULL && (how & 16) ? x->s.rx_number + fuzz_u8(&x->in) : 0;
	if (x->cfg.keys != NULL) {
		(void)key_proof(NULL, NULL, !x->cfg.is_initiator, c.proof);
		if (c.type == WEFT_CONTROL_GONE)
			(void)key_gone(NULL, 0, !x->cfg.is_initiator, 0, c.proof);
	}
	if (c.type != WEFT_CONTROL_KEEPALIVE && c.type != WEFT_CONTROL_GOODBYE)
		c.number = 0;
	len = weft_control_image(image, &c);
	if (c.number != 0)
		(void)key_mac(NULL, !x->cfg.is_initiator, image, len, c.mac);
	len = weft_control_build(rec, &c);
	if (weft_control_parse(rec, len, &c) == WEFT_OK)
		event(x, weft_session_control(&x->s, id, &c, x->now, x->rnd += 7));
}

/* Bytes from anywhere, if they are a message. */
static void
hear_raw(struct script *x)
{
	const size_t len = fuzz_u8(&x->in);
	uint8_t *rec = fuzz_alloc(len);
	struct weft_control c;

	fuzz_take(&x->in, rec, len);
	if (weft_control_parse(rec, len, &c) == WEFT_OK)
		event(x, weft_session_control(&x->s, x->s.id, &c, x->now, x->rnd += 7));
	free(rec);
}

static void
hear_flits(struct script *x, uint8_t how)
{
	const uint32_t ids[] = { x->s.id, x->s.attempt.pending_sid, x->s.candidate.sid, x->s.last };
	enum weft_session_event e;
	const enum weft_verdict v = weft_session_flits(&x->s, ids[how >> 6], x->now, &e);

	event(x, e);
	FUZZ_CHECK(v == WEFT_OK || v == WEFT_DROP_SESSION);
	FUZZ_CHECK(v != WEFT_OK || x->is_live);
}

static void
step(struct script *x)
{
	static const uint64_t ahead[] = { 0, 1, MS, 30 * MS, 120 * MS, 1200 * MS, 11000 * MS };
	const uint8_t how = fuzz_u8(&x->in);

	switch (how & 7) {
	case 0:
		x->now += ahead[(how >> 3) % WEFT_ARRAY_SIZE(ahead)];
		event(x, weft_session_tick(&x->s, x->now));
		break;
	case 1:
		if (weft_session_deadline(&x->s) > x->now &&
			weft_session_deadline(&x->s) != UINT64_MAX)
			x->now = weft_session_deadline(&x->s);
		event(x, weft_session_tick(&x->s, x->now));
		break;
	case 2: hear_raw(x); break;
	case 3: hear_flits(x, how); break;
	case 4:
		if (x->is_live)
			weft_session_sent(&x->s, x->now);
		break;
	case 5:
		if (how == 0xFD) {
			weft_session_close(&x->s);
			x->is_live = false;
			event(x, WEFT_SESSION_NOTHING);
		} else if (how == 0xF5) {
			event(x, weft_session_abandon(&x->s, x->now));
		}
		break;
	default: hear(x, how); break;
	}
	if (how & 16)
		say(x);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct script *x = fuzz_alloc(sizeof(*x));
	uint8_t how;

	memset(x, 0, sizeof(*x));
	x->in = (struct fuzz_in){ data, len };
	x->now = 1000 * MS;
	x->rnd = 1;
	how = fuzz_u8(&x->in);
	weft_session_defaults(&x->cfg);
	x->cfg.is_initiator = (how & 1) != 0;
	x->cfg.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = 5,
		.port = 1,
		.credits = 4,
		.node = "fuzz" };
	if (how & 2) {
		x->cfg.params.ide_mode = 1;
		x->cfg.keys = &keys;
	}
	FUZZ_CHECK(weft_session_init(&x->s, &x->cfg, x->now) == 0);
	while (x->in.n > 0)
		step(x);
	say(x);
	free(x);
	return 0;
}
