/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two whole ends over a bad wire, as host and GFD: every message arrives once and in order within
 * its kind, a slow consumer loses nothing, credits never run over, and sessions begin, end and come
 * back.
 */

#include "link_rig.h"

WEFT_TEST(a_session_comes_up_with_credits)
{
	struct rig r;

	rig_init(&r, 1);
	assert_int_equal(
		weft_link_send(r.side[0].end, &(struct weft_msg){ .kind = WEFT_MSG_M2S_REQ }),
		-ENOTCONN);
	run_until(&r, 1000000);
	assert_true(both_up(&r));
	assert_int_equal(r.side[0].begun, 1);
	assert_int_equal(r.side[1].begun, 1);
	/* All that was granted has arrived, and nothing else. */
	assert_int_equal(
		weft_link_credits(r.side[0].end)->may_send[WEFT_CREDIT_MEM_DN][WEFT_CREDIT_REQ],
		40);
	assert_int_equal(
		weft_link_credits(r.side[0].end)->may_send[WEFT_CREDIT_MEM_DN][WEFT_CREDIT_DATA],
		33);
	assert_int_equal(
		weft_link_credits(r.side[1].end)->may_send[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_RSP],
		40);
	assert_int_equal(
		weft_link_credits(r.side[1].end)->may_send[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_REQ], 0);
	assert_false(weft_link_can_send(r.side[0].end, WEFT_MSG_M2S_BIRSP));
	rig_free(&r);
}

static uint64_t
credit_flits(const struct rig *r)
{
	return weft_link_count(r->side[0].end, WEFT_LINK_N_CREDIT_FLITS) +
	       weft_link_count(r->side[1].end, WEFT_LINK_N_CREDIT_FLITS);
}

/* A message each way in somewhat more than a round trip: hardly a flit goes for credits alone. */
WEFT_TEST(few_credits_wait_for_messages)
{
	static const enum weft_msg_kind kind[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_S2M_NDR };
	uint64_t before;
	struct rig r;

	rig_init(&r, 1);
	run_until(&r, 1000000);
	before = credit_flits(&r);
	for (uint16_t i = 0; i < 400; i++) {
		const struct weft_msg m = message(kind[i % 2], i / 2);

		assert_int_equal(weft_link_send(r.side[i % 2].end, &m), 0);
		run_until(&r, r.now_ns + 4000);
	}
	assert_in_range(credit_flits(&r) - before, 0, 20);
	/* In the end they come all the same. */
	run_until(&r, r.now_ns + 10000000);
	assert_int_equal(
		weft_link_credits(r.side[0].end)->may_send[WEFT_CREDIT_MEM_DN][WEFT_CREDIT_REQ],
		40);
	assert_int_equal(
		weft_link_credits(r.side[1].end)->may_send[WEFT_CREDIT_MEM_UP][WEFT_CREDIT_RSP],
		40);
	assert_int_equal(r.side[0].wrong + r.side[1].wrong, 0);
	rig_free(&r);
}

/*
 * What a receiver does not consume, it does not have to take: the sender stops, nothing is lost
 * (RETRY-12).
 */
WEFT_TEST(a_slow_consumer_holds_the_sender_back)
{
	struct weft_msg m;
	unsigned int sent = 0;
	struct rig r;

	rig_init(&r, 1);
	run_until(&r, 1000000);
	r.side[1].consumes = false;
	for (unsigned int i = 0; i < 200; i++) {
		m = message(WEFT_MSG_M2S_RWD, (uint16_t)sent);
		while (weft_link_send(r.side[0].end, &m) == 0)
			m = message(WEFT_MSG_M2S_RWD, (uint16_t)++sent);
		run_until(&r, r.now_ns + 100000);
	}
	assert_int_equal(sent, 33);
	assert_int_equal(r.side[1].came[WEFT_MSG_M2S_RWD], 0);
	/* Another kind has its own credits, so it cannot be stopped by the first. */
	m = message(WEFT_MSG_M2S_REQ, 0);
	assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
	run_until(&r, r.now_ns + 100000);
	assert_non_null(weft_link_peek(r.side[1].end, WEFT_MSG_M2S_REQ));
	for (unsigned int i = 0; i < 33; i++) {
		const struct weft_msg *got = weft_link_peek(r.side[1].end, WEFT_MSG_M2S_RWD);

		assert_non_null(got);
		note(&r.side[1], got);
		weft_link_pop(r.side[1].end, WEFT_MSG_M2S_RWD);
	}
	assert_null(weft_link_peek(r.side[1].end, WEFT_MSG_M2S_RWD));
	assert_int_equal(r.side[1].wrong, 0);
	run_until(&r, r.now_ns + 10000000);
	m = message(WEFT_MSG_M2S_RWD, 33);
	assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
	rig_free(&r);
}

/* Messages of all kinds both ways over a bad wire: each arrives once, in order of its kind. */
WEFT_TEST(messages_arrive_once_and_in_order)
{
	static const enum weft_msg_kind kinds[2][2] = { { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD },
		{ WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS } };
	struct weft_rand pick;

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
						weft_link_send(s->end, &m) == 0)
						sent[i][k]++;
					todo += r.side[1 - i].came[kinds[i][k]] < 500;
				}
				s->consumes = chance(&r, 700000);
				for (unsigned int k = 0; k < 2; k++) {
					const struct weft_msg *m =
						weft_link_peek(s->end, kinds[1 - i][k]);

					if (m == NULL)
						continue;
					note(s, m);
					weft_link_pop(s->end, kinds[1 - i][k]);
				}
			}
			assert_true(step(&r));
			assert_true(r.now_ns < UINT64_C(30000000000));
		} while (todo != 0);
		for (unsigned int i = 0; i < 2; i++) {
			const struct weft_link *c = r.side[i].end;

			assert_int_equal(r.side[i].wrong, 0);
			assert_int_equal(r.side[i].begun, 1);
			assert_int_equal(r.side[i].ended, 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_NO_CREDIT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BAD_CRD), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BEFORE_INIT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_BAD_SLOT), 0);
			assert_int_equal(weft_link_count(c, WEFT_LINK_N_MESSAGES), 1000);
		}
		rig_free(&r);
	}
}

/* A crash of either end: the other one notices, and a new session begins from nothing (SESS-8). */
WEFT_TEST(an_end_that_restarts_gets_a_new_session)
{
	for (unsigned int who = 0; who < 2; who++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);
		uint32_t before;
		struct rig r;

		rig_init(&r, 5 + who);
		run_until(&r, 1000000);
		before = weft_link_session(r.side[0].end)->id;
		assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 100000);
		side_start(&r, who);
		run_until(&r, r.now_ns + 500000000);
		assert_true(both_up(&r));
		assert_int_not_equal(weft_link_session(r.side[0].end)->id, before);
		assert_int_equal(
			weft_link_session(r.side[0].end)->id, weft_link_session(r.side[1].end)->id);
		assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 1000000);
		assert_int_equal(r.side[1].came[WEFT_MSG_M2S_REQ], 2);
		assert_int_equal(r.side[1].wrong, 0);
		rig_free(&r);
	}
}

/* What was in force ends at both, and the next session is as whole as the first. */
WEFT_TEST(a_reset_begins_a_new_session)
{
	for (unsigned int who = 0; who < 2; who++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);
		uint32_t before;
		struct rig r;

		rig_init(&r, 7 + who);
		weft_link_reset(r.side[who].end); /* there is none to end */
		run_until(&r, 1000000);
		before = weft_link_session(r.side[0].end)->id;
		assert_true(both_up(&r));
		weft_link_reset(r.side[who].end);
		run_until(&r, r.now_ns + 500000000);
		assert_true(both_up(&r));
		assert_int_not_equal(weft_link_session(r.side[0].end)->id, before);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(r.side[i].begun, 2);
			assert_int_equal(r.side[i].ended, 1);
		}
		assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 1000000);
		assert_int_equal(r.side[1].came[WEFT_MSG_M2S_REQ], 1);
		rig_free(&r);
	}
}

/* One way is cut: both ends know, keep what they have, and go on where they were. */
WEFT_TEST(a_half_dead_link_loses_nothing)
{
	for (unsigned int deaf = 0; deaf < 2; deaf++) {
		struct weft_msg m = message(WEFT_MSG_M2S_REQ, 0);
		struct rig r;

		rig_init(&r, 9);
		run_until(&r, 1000000);
		r.cut[deaf] = true;
		assert_int_equal(weft_link_send(r.side[0].end, &m), 0);
		run_until(&r, r.now_ns + 400000000);
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(
				weft_link_session(r.side[i].end)->state, WEFT_SESSION_STALLED);
		r.cut[deaf] = false;
		run_until(&r, r.now_ns + 400000000);
		assert_true(both_up(&r));
		assert_int_equal(r.side[0].begun + r.side[1].begun, 2);
		assert_int_equal(r.side[1].came[WEFT_MSG_M2S_REQ], 1);
		assert_int_equal(weft_llr_unacked(weft_link_llr(r.side[0].end)), 0);
		rig_free(&r);
	}
}

/* SESS-9 */
WEFT_TEST(ends_that_disagree_say_so)
{
	struct rig r;

	rig_init(&r, 3);
	r.side[1].cfg.session.params.crc_order = 1;
	side_start(&r, 1);
	run_until(&r, 500000000);
	for (unsigned int i = 0; i < 2; i++) {
		const struct weft_session *s = weft_link_session(r.side[i].end);

		assert_int_equal(s->state, WEFT_SESSION_REFUSED);
		assert_int_equal(s->differs, WEFT_PARAM_CRC_ORDER);
	}
	rig_free(&r);
}

/* Of cxl mode: what each would make of the other's flits is not what was meant. */
WEFT_TEST(ends_of_two_forms_have_no_session)
{
	static const uint8_t forms[] = { WEFT_FORM_HBR, WEFT_FORM_PBR };

	for (unsigned int k = 0; k < 4; k++) {
		const bool differ = forms[k & 1] != forms[k >> 1];
		struct rig r;

		rig_init(&r, 7 + k);
		r.is_cxl = true;
		for (unsigned int i = 0; i < 2; i++) {
			struct weft_link_cfg *c = &r.side[i].cfg;

			c->form = forms[i == 0 ? k & 1 : k >> 1];
			c->session.params.mode = WEFT_MODE_CXL;
			c->session.params.isn_form = WEFT_ISN_NONE;
			weft_llr_defaults(&c->llr, WEFT_MODE_CXL);
			c->llr.window = 64;
			free(r.side[i].end);
			r.side[i].end = aligned_alloc(WEFT_CACHE_LINE, weft_link_size(c));
			side_start(&r, i);
		}
		run_until(&r, UINT64_C(500000000));
		assert_int_equal(both_up(&r), !differ);
		for (unsigned int i = 0; i < 2 && differ; i++) {
			const struct weft_session *s = weft_link_session(r.side[i].end);

			assert_int_equal(s->differs, WEFT_PARAM_FORM);
			assert_string_equal(weft_control_param_value(&s->peer, WEFT_PARAM_FORM),
				weft_form_words[r.side[1 - i].cfg.form]);
		}
		rig_free(&r);
	}
}

WEFT_TEST(goodbye_ends_it_at_both)
{
	struct rig r;

	rig_init(&r, 4);
	run_until(&r, 1000000);
	weft_link_close(r.side[1].end);
	run_until(&r, r.now_ns + 50000000);
	assert_int_equal(weft_link_session(r.side[1].end)->state, WEFT_SESSION_CLOSED);
	assert_int_equal(weft_link_session(r.side[0].end)->state, WEFT_SESSION_DOWN);
	assert_int_equal(r.side[0].ended, 1);
	rig_free(&r);
}

WEFT_TEST(impossible_options_are_refused)
{
	struct weft_link_cfg good = side_cfg(true), c;
	_Alignas(WEFT_CACHE_LINE) static uint8_t mem[WEFT_CACHE_LINE * 2];

	assert_int_not_equal(weft_link_size(&good), 0);
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		c = good;                                                                          \
		change;                                                                            \
		assert_int_equal(weft_link_size(&c), 0);                                           \
		assert_null(weft_link_init(mem, &c, 0));                                           \
	} while (0)
	REFUSED(c.llr.window = 7);
	REFUSED(c.llr.window = 512);
	REFUSED(c.max_flits = 0);
	REFUSED(c.max_flits = 65);
	REFUSED(c.form = 2);
	REFUSED(c.room[WEFT_MSG_S2M_NDR] = WEFT_CREDITS_ROOM_MAX + 1);
	assert_null(weft_link_init(mem + 1, &good, 0));
}
