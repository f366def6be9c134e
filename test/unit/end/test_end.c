/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two whole ends over a bad wire, as host and GFD: every message arrives once and in order within its
 * kind, a slow consumer loses nothing, credits never run over, and sessions begin, end and come back.
 */

#include <errno.h>

#include "weft_end.h"
#include "weft_isn.h"
#include "weft_test.h"

#define MAX_FLITS 5
#define FRAMES 2048

struct frame {
	uint64_t at_ns;
	struct weft_wire_hdr hdr;
	size_t len;
	uint64_t syndrome[MAX_FLITS];
	uint8_t payload[MAX_FLITS * WEFT_FLIT_LEN];
};

struct side {
	struct weft_end *end;
	struct weft_end_cfg cfg;
	struct frame *frame; /* on the way here */
	uint32_t n_frames;
	uint64_t free_ns;
	uint64_t came[WEFT_MSG_KINDS]; /* messages consumed */
	uint16_t tag[WEFT_MSG_KINDS]; /* the next must have */
	uint64_t wrong;
	bool consumes; /* at once; otherwise messages wait */
	unsigned int begun, ended;
};

struct rig {
	struct side side[2]; /* 0 asks */
	struct weft_rand rnd;
	uint64_t now_ns;
	uint32_t bad, drop; /* parts of a million: flits, frames */
	bool cut[2]; /* nothing arrives at this side */
};

static struct weft_end_cfg
side_cfg(bool asks)
{
	struct weft_end_cfg c = { .form = WEFT_FORM_PBR, .max_flits = MAX_FLITS };

	weft_session_defaults(&c.session);
	c.session.asks = asks;
	c.session.params = (struct weft_control){ .version = WEFT_WIRE_VERSION,
		.mode = WEFT_MODE_RXL,
		.max_flits = MAX_FLITS,
		.credits = 40 };
	weft_llr_defaults(&c.llr, WEFT_MODE_RXL);
	c.llr.window = 64;
	c.llr.rx_flits = 63;
	c.room[asks ? WEFT_MSG_S2M_NDR : WEFT_MSG_M2S_REQ] = 40;
	c.room[asks ? WEFT_MSG_S2M_DRS : WEFT_MSG_M2S_RWD] = 33;
	return c;
}

static void
side_start(struct rig *r, unsigned int i)
{
	struct side *s = &r->side[i];

	s->end = weft_end_init(s->end, &s->cfg, r->now_ns);
	assert_non_null(s->end);
	memset(s->tag, 0, sizeof(s->tag));
}

static void
rig_init(struct rig *r, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	weft_rand_seed(&r->rnd, seed);
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		s->cfg = side_cfg(i == 0);
		s->end = aligned_alloc(WEFT_CACHE_LINE, weft_end_size(&s->cfg));
		s->frame = malloc(FRAMES * sizeof(*s->frame));
		assert_true(s->end != NULL && s->frame != NULL);
		s->consumes = true;
		side_start(r, i);
	}
}

static void
rig_free(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++) {
		free(r->side[i].end);
		free(r->side[i].frame);
	}
}

static bool
chance(struct rig *r, uint32_t ppm)
{
	return ppm != 0 && weft_rand_below(&r->rnd, 1000000) < ppm;
}

static void
note(struct side *s, const struct weft_msg *m)
{
	s->wrong += m->tag != s->tag[m->kind];
	s->tag[m->kind] = (uint16_t)(m->tag + 1);
	s->came[m->kind]++;
}

static bool
consume(void *arg, const struct weft_msg *m)
{
	struct side *s = arg;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (!s->consumes)
		return false;
	note(s, m);
	return true;
}

static void
follow(struct rig *r, unsigned int i, enum weft_session_event ev)
{
	struct side *s = &r->side[i];

	s->begun += ev == WEFT_SESSION_BEGIN;
	s->ended += ev == WEFT_SESSION_END;
	if (ev == WEFT_SESSION_BEGIN)
		memset(s->tag, 0, sizeof(s->tag));
}

static void
arrive(struct rig *r, unsigned int i, struct frame *f)
{
	struct side *s = &r->side[i];
	enum weft_session_event ev = WEFT_SESSION_NOTHING;

	if (f->hdr.kind == WEFT_WIRE_CONTROL)
		ev = weft_end_control(
			s->end, &f->hdr, f->payload, f->len, r->now_ns, weft_rand_u64(&r->rnd));
	else
		weft_end_receive(s->end, &f->hdr, f->payload, f->syndrome, 0, r->now_ns, &ev, NULL,
			consume, s);
	follow(r, i, ev);
}

static bool
leave(struct rig *r, unsigned int i)
{
	struct side *s = &r->side[i], *to = &r->side[1 - i];
	struct weft_end_out out;
	struct frame f;

	if (r->now_ns < s->free_ns ||
		!weft_end_next(s->end, f.payload, r->now_ns, weft_rand_u64(&r->rnd), &out))
		return false;
	f.hdr = out.hdr;
	f.len = out.len;
	for (unsigned int k = 0; k < out.flits.n; k++) {
		unsigned int numbered = out.flits.n - out.flits.nops;
		unsigned int number = out.flits.first + (k < numbered ? k : numbered);

		f.syndrome[k] = weft_isn_number(number % WEFT_ISN_NUMBERS);
		if (chance(r, r->bad))
			f.syndrome[k] ^= weft_rand_u64(&r->rnd) | 1;
	}
	s->free_ns = r->now_ns + 20 * (f.len / WEFT_FLIT_LEN + 1);
	f.at_ns = s->free_ns + 1500;
	if (chance(r, r->drop) || r->cut[1 - i])
		return true;
	assert_true(to->n_frames < FRAMES);
	to->frame[to->n_frames++] = f;
	return true;
}

/* One step; false: nothing will happen any more by itself. */
static bool
step(struct rig *r)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];

		while (s->n_frames != 0 && s->frame[0].at_ns <= r->now_ns) {
			arrive(r, i, &s->frame[0]);
			memmove(s->frame, s->frame + 1, --s->n_frames * sizeof(*s->frame));
		}
		follow(r, i, weft_end_tick(s->end, r->now_ns));
	}
	for (unsigned int i = 0; i < 2; i++)
		while (leave(r, i))
			;
	for (unsigned int i = 0; i < 2; i++) {
		struct side *s = &r->side[i];
		uint64_t at = weft_end_deadline(s->end);

		if (at < s->free_ns)
			at = s->free_ns;
		if (s->n_frames != 0 && s->frame[0].at_ns < at)
			at = s->frame[0].at_ns;
		if (at < next)
			next = at;
	}
	if (next == UINT64_MAX)
		return false;
	r->now_ns = next > r->now_ns ? next : r->now_ns + 1;
	return true;
}

static void
run_until(struct rig *r, uint64_t ns)
{
	while (r->now_ns < ns && step(r))
		;
}

static bool
both_up(const struct rig *r)
{
	return weft_end_session(r->side[0].end)->state == WEFT_SESSION_UP &&
	       weft_end_session(r->side[1].end)->state == WEFT_SESSION_UP;
}

static struct weft_msg
message(enum weft_msg_kind kind, uint16_t tag)
{
	struct weft_msg m = { .kind = (uint8_t)kind, .tag = tag, .dpid = 0x200, .spid = 0x100 };

	m.op = kind == WEFT_MSG_M2S_REQ   ? WEFT_M2S_REQ_MEMRD
	       : kind == WEFT_MSG_M2S_RWD ? WEFT_M2S_RWD_MEMWR
	                                  : 0;
	if (kind == WEFT_MSG_M2S_REQ || kind == WEFT_MSG_M2S_RWD)
		m.addr = UINT64_C(64) * tag;
	else
		m.spid = 0;
	for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN && weft_msg_has_data(&m); i++)
		m.data[i] = (uint8_t)(tag + i);
	return m;
}

static void
a_session_comes_up_with_credits(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 1);
	assert_int_equal(
		weft_end_send(r.side[0].end, &(struct weft_msg){ .kind = WEFT_MSG_M2S_REQ }),
		-ENOTCONN);
	run_until(&r, 1000000);
	assert_true(both_up(&r));
	assert_int_equal(r.side[0].begun, 1);
	assert_int_equal(r.side[1].begun, 1);
	/* All that was granted has arrived, and nothing else. */
	assert_int_equal(
		weft_end_flow(r.side[0].end)->may_send[WEFT_CREDIT_MEM_DN][WEFT_CREDIT_REQ], 40);
	assert_int_equal(
		weft_end_flow(r.side[0].end)->may_send[WEFT_CREDIT_MEM_DN][WEFT_CREDIT_DATA], 33);
	assert_int_equal(
		weft_end_flow(r.side[1].end)->may_send[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_RSP], 40);
	assert_int_equal(
		weft_end_flow(r.side[1].end)->may_send[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_REQ], 0);
	assert_false(weft_end_can_send(r.side[0].end, WEFT_MSG_M2S_BIRSP));
	rig_free(&r);
}

/* What a receiver does not consume, it does not have to take: the sender stops, nothing is lost. */
static void
a_slow_consumer_holds_the_sender_back(void **state)
{
	struct weft_msg m;
	unsigned int sent = 0;
	struct rig r;

	(void)state;
	rig_init(&r, 1);
	run_until(&r, 1000000);
	r.side[1].consumes = false;
	for (unsigned int i = 0; i < 200; i++) {
		m = message(WEFT_MSG_M2S_RWD, (uint16_t)sent);
		while (weft_end_send(r.side[0].end, &m) == 0)
			m = message(WEFT_MSG_M2S_RWD, (uint16_t)++sent);
		run_until(&r, r.now_ns + 100000);
	}
	assert_int_equal(sent, 33);
	assert_int_equal(r.side[1].came[WEFT_MSG_M2S_RWD], 0);
	/* Another kind has its own credits, so it cannot be stopped by the first. */
	m = message(WEFT_MSG_M2S_REQ, 0);
	assert_int_equal(weft_end_send(r.side[0].end, &m), 0);
	run_until(&r, r.now_ns + 100000);
	assert_non_null(weft_end_peek(r.side[1].end, WEFT_MSG_M2S_REQ));
	for (unsigned int i = 0; i < 33; i++) {
		const struct weft_msg *got = weft_end_peek(r.side[1].end, WEFT_MSG_M2S_RWD);

		assert_non_null(got);
		note(&r.side[1], got);
		weft_end_pop(r.side[1].end, WEFT_MSG_M2S_RWD);
	}
	assert_null(weft_end_peek(r.side[1].end, WEFT_MSG_M2S_RWD));
	assert_int_equal(r.side[1].wrong, 0);
	run_until(&r, r.now_ns + 10000000);
	m = message(WEFT_MSG_M2S_RWD, 33);
	assert_int_equal(weft_end_send(r.side[0].end, &m), 0);
	rig_free(&r);
}

/* Messages of all kinds both ways over a bad wire: each arrives once, in order of its kind. */
static void
messages_arrive_once_and_in_order(void **state)
{
	static const enum weft_msg_kind kinds[2][2] = { { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD },
		{ WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS } };
	struct weft_rand pick;

	(void)state;
	weft_test_seed(&pick, "messages");
	for (unsigned int run = 0; run < 60; run++) {
		uint16_t sent[2][2] = { { 0 } };
		struct rig r;
		unsigned int todo;

		rig_init(&r, weft_rand_u64(&pick));
		r.bad = (uint32_t)weft_rand_below(&pick, 60000);
		r.drop = (uint32_t)weft_rand_below(&pick, 60000);
		do {
			todo = 0;
			for (unsigned int i = 0; i < 2; i++) {
				struct side *s = &r.side[i];

				for (unsigned int k = 0; k < 2; k++) {
					struct weft_msg m = message(kinds[i][k], sent[i][k]);

					if (sent[i][k] < 500 && chance(&r, 300000) &&
						weft_end_send(s->end, &m) == 0)
						sent[i][k]++;
					todo += r.side[1 - i].came[kinds[i][k]] < 500;
				}
				s->consumes = chance(&r, 700000);
				for (unsigned int k = 0; k < 2; k++) {
					const struct weft_msg *m =
						weft_end_peek(s->end, kinds[1 - i][k]);

					if (m == NULL)
						continue;
					note(s, m);
					weft_end_pop(s->end, kinds[1 - i][k]);
				}
			}
			assert_true(step(&r));
			assert_true(r.now_ns < UINT64_C(30000000000));
		} while (todo != 0);
		for (unsigned int i = 0; i < 2; i++) {
			const uint64_t *c = weft_end_counts(r.side[i].end);

			assert_int_equal(r.side[i].wrong, 0);
			assert_int_equal(r.side[i].begun, 1);
			assert_int_equal(r.side[i].ended, 0);
			assert_int_equal(c[WEFT_END_N_NO_CREDIT], 0);
			assert_int_equal(c[WEFT_END_N_BAD_CRD], 0);
			assert_int_equal(c[WEFT_END_N_BEFORE_INIT], 0);
			assert_int_equal(c[WEFT_END_N_BAD_SLOT], 0);
			assert_int_equal(c[WEFT_END_N_MESSAGES], 1000);
		}
		rig_free(&r);
	}
}

/* A crash of either end: the other one notices, and a new session begins from nothing. */
static void
an_end_that_restarts_gets_a_new_session(void **state)
{
	(void)state;
	for (unsigned int who = 0; who < 2; who++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);
		uint32_t before;
		struct rig r;

		rig_init(&r, 5 + who);
		run_until(&r, 1000000);
		before = weft_end_session(r.side[0].end)->id;
		assert_int_equal(weft_end_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 100000);
		side_start(&r, who);
		run_until(&r, r.now_ns + 500000000);
		assert_true(both_up(&r));
		assert_int_not_equal(weft_end_session(r.side[0].end)->id, before);
		assert_int_equal(
			weft_end_session(r.side[0].end)->id, weft_end_session(r.side[1].end)->id);
		assert_int_equal(weft_end_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 1000000);
		assert_int_equal(r.side[1].came[WEFT_MSG_M2S_REQ], 2);
		assert_int_equal(r.side[1].wrong, 0);
		rig_free(&r);
	}
}

/* One way is cut: both ends know, keep what they have, and go on where they were. */
static void
a_half_dead_link_loses_nothing(void **state)
{
	(void)state;
	for (unsigned int deaf = 0; deaf < 2; deaf++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);
		struct rig r;

		rig_init(&r, 9);
		run_until(&r, 1000000);
		r.cut[deaf] = true;
		assert_int_equal(weft_end_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 400000000);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(
				weft_end_session(r.side[i].end)->state, WEFT_SESSION_STALLED);
		r.cut[deaf] = false;
		run_until(&r, r.now_ns + 400000000);
		assert_true(both_up(&r));
		assert_int_equal(r.side[0].begun + r.side[1].begun, 2);
		assert_int_equal(r.side[1].came[WEFT_MSG_M2S_REQ], 1);
		assert_int_equal(weft_llr_unacked(weft_end_llr(r.side[0].end)), 0);
		rig_free(&r);
	}
}

static void
ends_that_disagree_say_so(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 3);
	r.side[1].cfg.session.params.crc_order = 1;
	side_start(&r, 1);
	run_until(&r, 500000000);
	for (unsigned int i = 0; i < 2; i++) {
		const struct weft_session *s = weft_end_session(r.side[i].end);

		assert_int_equal(s->state, WEFT_SESSION_REFUSED);
		assert_int_equal(s->differs, WEFT_PARAM_CRC_ORDER);
	}
	rig_free(&r);
}

static void
goodbye_ends_it_at_both(void **state)
{
	struct rig r;

	(void)state;
	rig_init(&r, 4);
	run_until(&r, 1000000);
	weft_end_close(r.side[1].end);
	run_until(&r, r.now_ns + 50000000);
	assert_int_equal(weft_end_session(r.side[1].end)->state, WEFT_SESSION_CLOSED);
	assert_int_equal(weft_end_session(r.side[0].end)->state, WEFT_SESSION_DOWN);
	assert_int_equal(r.side[0].ended, 1);
	rig_free(&r);
}

static void
impossible_options_are_refused(void **state)
{
	struct weft_end_cfg good = side_cfg(true), c;
	_Alignas(WEFT_CACHE_LINE) static uint8_t mem[WEFT_CACHE_LINE * 2];

	(void)state;
	assert_int_not_equal(weft_end_size(&good), 0);
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		c = good;                                                                          \
		change;                                                                            \
		assert_int_equal(weft_end_size(&c), 0);                                            \
		assert_null(weft_end_init(mem, &c, 0));                                            \
	} while (0)
	REFUSED(c.llr.window = 7);
	REFUSED(c.llr.window = 512);
	REFUSED(c.max_flits = 0);
	REFUSED(c.max_flits = 65);
	REFUSED(c.form = 2);
	REFUSED(c.room[WEFT_MSG_S2M_NDR] = WEFT_FLOW_ROOM_MAX + 1);
	assert_null(weft_end_init(mem + 1, &good, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_session_comes_up_with_credits),
		cmocka_unit_test(a_slow_consumer_holds_the_sender_back),
		cmocka_unit_test(messages_arrive_once_and_in_order),
		cmocka_unit_test(an_end_that_restarts_gets_a_new_session),
		cmocka_unit_test(a_half_dead_link_loses_nothing),
		cmocka_unit_test(ends_that_disagree_say_so),
		cmocka_unit_test(goodbye_ends_it_at_both),
		cmocka_unit_test(impossible_options_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
