/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sessions, rule by rule. Each rule has a test that breaks the wire, an end or a clock in one way
 * and says by when both ends must agree again.
 */

#include "session_net.h"

/* --- coming up --- */

/* SESS-1, SESS-3, SESS-8, SESS-13 */
WEFT_TEST(comes_up_in_four_frames)
{
	run(3 * LATENCY - 1);
	assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_DOWN);
	run(1);
	assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_UP);
	run(LATENCY);
	assert_up();
	for (unsigned int end = 0; end < ENDS; end++) {
		assert_int_equal(n->begun[end], 1);
		assert_int_equal(n->s[end].peer.port, 40 + !end);
		assert_int_equal(n->s[end].peer.credits, 7);
		assert_memory_equal(
			n->s[end].peer.node, n->cfg[!end].params.node, WEFT_NODE_ID_LEN);
	}
	assert_int_equal(n->last[WEFT_CONTROL_HELLO].padded, 8);
	assert_int_equal(n->last[WEFT_CONTROL_WELCOME].padded, 8);
	run(100 * KEEPALIVE);
	assert_up();
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_HELLO], 1);
	assert_int_equal(n->sent[ANSWERS][WEFT_CONTROL_WELCOME], 1);
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_READY], 1);
	assert_in_range(n->sent[ASKS][WEFT_CONTROL_KEEPALIVE], 99, 101);
	assert_in_range(n->sent[ANSWERS][WEFT_CONTROL_KEEPALIVE], 100, 102);
}

/* SESS-7 */
WEFT_TEST(flits_begin_a_session_at_the_asking_end)
{
	n->streams[ANSWERS] = true;
	n->drop_type = WEFT_CONTROL_KEEPALIVE;
	run(4 * LATENCY);
	assert_up();
}

/* SESS-38 */
WEFT_TEST(the_answering_end_sends_flits_when_it_has_heard_the_other)
{
	n->drop_type = WEFT_CONTROL_KEEPALIVE;
	run(3 * LATENCY);
	assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_UP);
	assert_false(weft_session_takes_flits(&n->s[ANSWERS]));
	inject(ANSWERS, WEFT_CONTROL_READY, n->s[ANSWERS].id);
	assert_false(weft_session_takes_flits(&n->s[ANSWERS]));
	run(KEEPALIVE + 2 * LATENCY);
	assert_up();
	assert_true(weft_session_takes_flits(&n->s[ASKS]));
	run(KEEPALIVE + LATENCY);
	assert_true(weft_session_takes_flits(&n->s[ANSWERS]));
}

/* SESS-1, SESS-3 */
WEFT_TEST(any_lost_frame_of_the_bring_up_costs_one_hello)
{
	static const enum weft_control_type types[] = { WEFT_CONTROL_HELLO, WEFT_CONTROL_WELCOME,
		WEFT_CONTROL_READY, WEFT_CONTROL_KEEPALIVE };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(types); i++) {
		boot(ASKS);
		boot(ANSWERS);
		n->n = 0;
		n->drop_type = types[i];
		run(HELLO + 4 * LATENCY);
		assert_up();
		assert_int_equal(n->drop_type, 0);
		assert_int_equal(n->begun[ASKS], i + 1);
		assert_int_equal(n->begun[ANSWERS], i + 1);
	}
	assert_int_equal(n->ended[ASKS] + n->ended[ANSWERS], 0);
}

WEFT_TEST(comes_up_over_a_round_trip_of_many_hellos)
{
	n->latency = 450;
	run(4 * n->latency);
	assert_int_equal(n->begun[ASKS], 1);
	assert_int_equal(n->begun[ANSWERS], 1);
	run(4 * n->latency);
	assert_up();
	assert_int_equal(n->begun[ASKS] + n->begun[ANSWERS], 2);
}

/* SESS-2 */
WEFT_TEST(ids_are_never_zero_nor_the_one_before)
{
	uint32_t before = 0;

	for (int i = 0; i < 20; i++) {
		n->fresh = (uint32_t)(i % 2 ? 0 : -4); /* about to pass zero, again and again */
		inject(ANSWERS, WEFT_CONTROL_HELLO, 1000 + (uint32_t)i);
		assert_int_not_equal(n->s[ANSWERS].candidate.sid, 0);
		assert_int_not_equal(n->s[ANSWERS].candidate.sid, before);
		before = n->s[ANSWERS].candidate.sid;
		inject(ANSWERS, WEFT_CONTROL_READY, before);
		assert_int_equal(n->s[ANSWERS].id, before);
	}
	n->s[ANSWERS].candidate.sid = 0;
	for (int i = 0; i < 6; i++) {
		struct weft_control c = n->cfg[ASKS].params;

		c.type = WEFT_CONTROL_HELLO;
		c.padded = 8;
		weft_session_control(&n->s[ANSWERS], 2000 + (uint32_t)i, &c, n->now, before);
		assert_int_not_equal(n->s[ANSWERS].candidate.sid, before);
		assert_int_not_equal(n->s[ANSWERS].candidate.sid, 0);
	}
}

WEFT_TEST(senseless_settings_are_refused)
{
	struct weft_session_cfg cfg[15];
	struct weft_session s;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cfg); i++)
		cfg[i] = session_cfg(ASKS);
	assert_int_equal(weft_session_init(&s, &cfg[0], 0), 0);
	cfg[0].hello_ns = 0;
	cfg[1].keepalive_ns = 0;
	cfg[2].keepalive_ns = SILENCE / 2 + 1;
	cfg[3].session_timeout_ns = SILENCE;
	cfg[4].pad_flits = 0;
	cfg[5].pad_flits = 65;
	cfg[6].params.max_flits = 0;
	cfg[7].params.max_flits = 65;
	cfg[8].params.mode = 2;
	cfg[9].params.crc_order = 2;
	cfg[10].params.isn_form = 3;
	cfg[11].params.ide_mode = 3;
	cfg[12].rx_timeout_ns = 0;
	cfg[13].rx_timeout_ns = DEAD;
	cfg[14].params.ide_mode = 1; /* and no keys */
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(cfg); i++)
		if (weft_session_init(&s, &cfg[i], 0) != -22)
			fail_msg("settings %zu were taken", i);
	weft_session_defaults(&cfg[0]);
	assert_int_equal(weft_session_init(&s, &cfg[0], 0), 0);
}

/* --- frames of older lives --- */

/* SESS-4, SESS-5 */
WEFT_TEST(an_old_hello_does_not_disturb_a_live_session)
{
	uint32_t id;

	bring_up();
	id = n->s[ASKS].id;
	for (uint32_t x = 1; x < 50; x++) {
		inject(ANSWERS, WEFT_CONTROL_HELLO, x);
		run(KEEPALIVE);
	}
	assert_up();
	assert_int_equal(n->s[ASKS].id, id);
	assert_int_equal(n->begun[ANSWERS], 1);
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_STALE], 49); /* the WELCOMEs */
	/* Nor do parameters that were different then. */
	n->cfg[ASKS].params.crc_order = 1;
	inject(ANSWERS, WEFT_CONTROL_HELLO, 51);
	run(KEEPALIVE);
	assert_up();
}

/* SESS-6 */
WEFT_TEST(an_old_hello_between_welcome_and_ready_costs_one_hello)
{
	run(2 * LATENCY); /* READY is on its way */
	inject(ANSWERS, WEFT_CONTROL_HELLO, 5);
	run(LATENCY);
	assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_DOWN);
	run(HELLO + 2 * LATENCY);
	assert_up();
	assert_int_equal(n->begun[ASKS], 1);
	assert_int_equal(n->begun[ANSWERS], 1);
}

/* That of the live session least of all: the initiator has started again since. */
WEFT_TEST(an_old_hello_of_the_live_session_does_not_take_the_place_of_a_new_one)
{
	uint32_t x;

	bring_up();
	x = n->last_id[WEFT_CONTROL_HELLO];
	boot(ASKS);
	run(2 * LATENCY);
	inject(ANSWERS, WEFT_CONTROL_HELLO, x);
	run(2 * LATENCY);
	assert_up();
	assert_int_equal(n->begun[ANSWERS], 2);
}

/* SESS-5, SESS-6; FRAME-9 */
WEFT_TEST(frames_of_older_lives_change_nothing)
{
	enum weft_session_event ev;

	for (int live = 0; live < 2; live++) {
		for (unsigned int end = 0; end < ENDS; end++)
			for (unsigned int type = 1; type < WEFT_CONTROL_TYPES; type++) {
				const struct weft_session before = n->s[end];

				if (end == ANSWERS && type == WEFT_CONTROL_HELLO)
					continue;
				inject(end, (enum weft_control_type)type, 12345);
				inject(end, (enum weft_control_type)type, 0);
				assert_int_equal(n->s[end].state, before.state);
				assert_int_equal(n->s[end].id, before.id);
				assert_int_equal(
					n->s[end].attempt.pending_sid, before.attempt.pending_sid);
				assert_int_equal(n->s[end].ticked_ns, before.ticked_ns);
				assert_int_equal(n->s[end].count[WEFT_SESSION_N_LOSSES], 0);
			}
		for (unsigned int end = 0; end < ENDS; end++) {
			assert_int_equal(weft_session_flits(&n->s[end], 12345, n->now, &ev),
				WEFT_DROP_SESSION);
			assert_int_equal(
				weft_session_flits(&n->s[end], 0, n->now, &ev), WEFT_DROP_SESSION);
			assert_int_equal(ev, WEFT_SESSION_NOTHING);
		}
		run(5 * LATENCY);
		assert_up();
	}
	assert_int_equal(n->ended[ASKS] + n->ended[ANSWERS], 0);
}

/* --- disagreement --- */

/* SESS-9, SESS-10 */
WEFT_TEST(both_ends_name_what_differs)
{
	static struct rig_keys keys; /* the net outlives this test */

	rig_ide(&n->cfg[ANSWERS], &keys);
	n->cfg[ANSWERS].params.ide_mode = 0;

	for (unsigned int p = WEFT_PARAM_VERSION; p <= WEFT_PARAM_IDE_MODE; p++) {
		const struct weft_session_cfg good = n->cfg[ANSWERS];
		struct weft_control *c = &n->cfg[ANSWERS].params;
		unsigned int hellos;

		c->version ^= p == WEFT_PARAM_VERSION;
		c->mode ^= p == WEFT_PARAM_MODE;
		c->crc_order ^= p == WEFT_PARAM_CRC_ORDER;
		c->isn_form ^= p == WEFT_PARAM_ISN_FORM;
		c->ide_mode ^= p == WEFT_PARAM_IDE_MODE;
		boot(ASKS);
		boot(ANSWERS);
		run(3 * LATENCY);
		assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_REFUSED);
		run(HELLO); /* nothing better came */
		assert_state(WEFT_SESSION_REFUSED, WEFT_SESSION_REFUSED);
		for (unsigned int end = 0; end < ENDS; end++) {
			assert_int_equal(n->s[end].differs, p);
			assert_int_equal(n->s[end].peer.port, 40 + !end);
		}
		hellos = n->sent[ASKS][WEFT_CONTROL_HELLO];
		run(50 * HELLO);
		assert_in_range(n->sent[ASKS][WEFT_CONTROL_HELLO] - hellos, 4, 5);
		n->cfg[ANSWERS] = good;
		boot(ANSWERS);
		run(10 * HELLO + 5 * LATENCY);
		assert_up();
	}
}

/* SESS-12 */
WEFT_TEST(frames_that_do_not_pass_are_found_at_bring_up)
{
	n->path_flits = 7;
	run(10 * HELLO);
	assert_state(WEFT_SESSION_REFUSED, WEFT_SESSION_REFUSED);
	for (unsigned int end = 0; end < ENDS; end++) {
		assert_int_equal(n->s[end].differs, WEFT_PARAM_FRAME_SIZE);
		assert_int_equal(n->s[end].peer.max_flits, 8);
	}
	run(100 * HELLO);
	assert_state(WEFT_SESSION_REFUSED, WEFT_SESSION_REFUSED);
	/* At the worst the last long one has just been lost: a short one, a refusal, the wait. */
	n->path_flits = 8;
	run(11 * HELLO + 7 * LATENCY);
	assert_up();
}

/* HELLOs and the short one come to a responder at once that was away: full frames do pass. */
WEFT_TEST(a_responder_that_is_slow_refuses_nothing)
{
	for (uint64_t late = 4; late > 0; late--) {
		n->latency = late * HELLO;
		run(late == 4 ? 0 : HELLO);
	}
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_HELLO], 4);
	assert_int_equal(n->last[WEFT_CONTROL_HELLO].padded, 0);
	n->latency = LATENCY;
	run(HELLO + 4 * LATENCY);
	assert_up();
	assert_int_equal(n->sent[ANSWERS][WEFT_CONTROL_REFUSE], 0);
}

/* The responder sends longer frames than the asking one: its WELCOME is what gets lost. */
WEFT_TEST(frames_that_do_not_pass_the_other_way_are_found_too)
{
	n->cfg[ASKS].pad_flits = 2;
	boot(ASKS);
	n->path_flits = 5;
	run(10 * HELLO);
	assert_state(WEFT_SESSION_REFUSED, WEFT_SESSION_REFUSED);
	assert_int_equal(n->s[ASKS].differs, WEFT_PARAM_FRAME_SIZE);
}

WEFT_TEST(an_end_that_takes_less_is_asked_with_less)
{
	n->cfg[ANSWERS].params.max_flits = n->cfg[ANSWERS].pad_flits = n->path_flits = 3;
	boot(ANSWERS);
	run(3 * HELLO + 8 * LATENCY);
	assert_up();
	assert_int_equal(n->last[WEFT_CONTROL_HELLO].padded, 3);
	assert_int_equal(n->last[WEFT_CONTROL_WELCOME].padded, 3);
	assert_int_equal(n->s[ASKS].peer.max_flits, 3);
	/* One that takes more comes in its place. */
	n->cfg[ANSWERS] = session_cfg(ANSWERS);
	n->path_flits = 8;
	boot(ANSWERS);
	run(5 * HELLO);
	assert_up();
	assert_int_equal(n->last[WEFT_CONTROL_HELLO].padded, 8);
}

WEFT_TEST(an_end_that_takes_more_after_all_is_asked_with_more)
{
	n->cfg[ANSWERS].params.max_flits = n->path_flits = 3;
	boot(ANSWERS);
	while (n->s[ASKS].attempt.pad_flits != 3)
		run(1);
	n->cfg[ANSWERS] = session_cfg(ANSWERS);
	n->path_flits = 8;
	boot(ANSWERS);
	run(7 * LATENCY);
	assert_up();
	assert_int_equal(n->last[WEFT_CONTROL_HELLO].padded, 8);
}

WEFT_TEST(an_end_that_comes_late_is_not_taken_for_a_short_path)
{
	for (unsigned int late = 0; late < 10; late++) {
		n->off[ANSWERS] = true;
		boot(ASKS);
		n->n = 0;
		run(late * HELLO / 2 + 1);
		boot(ANSWERS);
		for (unsigned int i = 0; i < HELLO + 6 * LATENCY; i++) {
			run(1);
			assert_int_not_equal(n->s[ASKS].state, WEFT_SESSION_REFUSED);
			assert_int_not_equal(n->s[ANSWERS].state, WEFT_SESSION_REFUSED);
		}
		assert_up();
	}
}

/* Short ones count from the last session on. */
WEFT_TEST(the_first_short_hello_is_no_refusal)
{
	struct weft_control c = n->cfg[ASKS].params;

	c.type = WEFT_CONTROL_HELLO;
	weft_session_control(&n->s[ANSWERS], 5, &c, n->now, ++n->fresh);
	bring_up();
	weft_session_abandon(&n->s[ANSWERS], n->now);
	weft_session_control(&n->s[ANSWERS], 6, &c, n->now, ++n->fresh);
	assert_int_equal(n->s[ANSWERS].state, WEFT_SESSION_DOWN);
	weft_session_control(&n->s[ANSWERS], 7, &c, n->now, ++n->fresh);
	assert_int_equal(n->s[ANSWERS].state, WEFT_SESSION_REFUSED);
}

/* --- restarts --- */

WEFT_TEST(ends_restart_in_any_order)
{
	for (unsigned int which = 0; which < 12; which++) {
		const bool asks = which % 3 != 1, answers = which % 3 != 0;
		uint32_t id;

		start_over();
		n->streams[ASKS] = which >= 6;
		n->streams[ANSWERS] = which >= 9;
		id = n->s[ASKS].id;
		n->off[ASKS] = asks;
		n->off[ANSWERS] = answers;
		run(which % 2 ? 1 : 3 * SILENCE);
		if (asks)
			boot(ASKS);
		run(which % 2 ? 1 : HELLO);
		if (answers)
			boot(ANSWERS);
		run(HELLO + KEEPALIVE + 6 * LATENCY);
		assert_up();
		assert_int_not_equal(n->s[ASKS].id, id);
		n->streams[ASKS] = n->streams[ANSWERS] = false;
	}
}

/* SESS-20 */
WEFT_TEST(reset_is_sent_seldom_and_by_the_answering_end)
{
	enum weft_session_event ev;

	bring_up();
	for (unsigned int i = 0; i < 1000; i++)
		for (unsigned int end = 0; end < ENDS; end++)
			assert_int_equal(
				weft_session_flits(&n->s[end], 5, n->now, &ev), WEFT_DROP_SESSION);
	run(KEEPALIVE - 1);
	assert_int_equal(n->sent[ANSWERS][WEFT_CONTROL_RESET], 1);
	assert_int_equal(n->last_id[WEFT_CONTROL_RESET], 5);
	for (unsigned int i = 0; i < 20; i++) {
		weft_session_flits(&n->s[ANSWERS], 5, n->now, &ev);
		run(KEEPALIVE / 5);
	}
	assert_in_range(n->sent[ANSWERS][WEFT_CONTROL_RESET], 4, 5);
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_RESET], 0);
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_UNKNOWN], 1000);
	assert_up(); /* none of them was for the live session */
	boot(ANSWERS);
	run(KEEPALIVE + 4 * LATENCY);
	assert_int_equal(n->ended[ASKS], 1);
	run(5 * LATENCY);
	assert_up();
}

/* --- silence --- */

/* SESS-14, SESS-15 */
WEFT_TEST(a_one_way_break_stalls_both_ends_and_heals)
{
	uint32_t id;

	bring_up();
	id = n->s[ASKS].id;
	for (unsigned int which = 0; which < 8; which++) {
		n->streams[ASKS] = which & 2;
		n->streams[ANSWERS] = which & 4;
		n->cut[which & 1] = true;
		run(2 * SILENCE);
		assert_state(WEFT_SESSION_STALLED, WEFT_SESSION_STALLED);
		for (unsigned int i = 0; i < DEAD / 2; i++) {
			run(1);
			assert_state(WEFT_SESSION_STALLED, WEFT_SESSION_STALLED);
		}
		n->cut[which & 1] = false;
		run(KEEPALIVE + 3 * LATENCY);
		assert_up();
		run(SILENCE);
	}
	assert_int_equal(n->s[ASKS].id, id);
	assert_int_equal(n->begun[ASKS] + n->begun[ANSWERS], 2);
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_STALLS], 8);
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_RESUMED], 8);
}

WEFT_TEST(a_lost_all_clear_is_not_waited_for)
{
	bring_up();
	n->streams[ASKS] = n->streams[ANSWERS] = true;
	n->cut[ANSWERS] = true;
	run(2 * SILENCE);
	n->cut[ANSWERS] = false;
	while (n->s[ANSWERS].state == WEFT_SESSION_STALLED) {
		n->drop_type = WEFT_CONTROL_KEEPALIVE; /* a flit is what comes first */
		run(1);
	}
	assert_int_equal(n->s[ASKS].state, WEFT_SESSION_STALLED);
	run(SILENCE + 2 * LATENCY);
	assert_up();
}

/* SESS-17 */
WEFT_TEST(a_break_that_lasts_ends_the_session_at_both_ends)
{
	for (unsigned int which = 1; which < 4; which++) {
		start_over();
		n->cut[ASKS] = which & 1;
		n->cut[ANSWERS] = which & 2;
		run(DEAD - KEEPALIVE);
		assert_state(WEFT_SESSION_STALLED, WEFT_SESSION_STALLED);
		run(KEEPALIVE + 2 * LATENCY);
		/* Whom a goodbye reaches asks back, and hears nothing either way. */
		run(DEAD);
		assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_DOWN);
		assert_int_equal(n->ended[ASKS], 1);
		assert_int_equal(n->ended[ANSWERS], 1);
		n->cut[ASKS] = n->cut[ANSWERS] = false;
		run(2 * HELLO);
		assert_up();
	}
}

/* SESS-16 */
WEFT_TEST(a_jump_of_the_clock_ends_nothing)
{
	uint32_t id;

	bring_up();
	id = n->s[ASKS].id;
	for (unsigned int i = 0; i < 20; i++) {
		run(3 * KEEPALIVE + i);
		n->now += 100 * DEAD;
		for (unsigned int k = 0; k < n->n; k++)
			n->queue[k].at += 100 * DEAD;
	}
	run(SILENCE);
	assert_up();
	assert_int_equal(n->s[ASKS].id, id);
}

/* SESS-16 */
WEFT_TEST(a_paused_end_finds_its_session_again)
{
	uint32_t id;

	bring_up();
	id = n->s[ASKS].id;
	for (unsigned int end = 0; end < ENDS; end++) {
		n->off[end] = true;
		run(DEAD / 2);
		assert_int_equal(n->s[!end].state, WEFT_SESSION_STALLED);
		n->off[end] = false;
		run(SILENCE);
		assert_up();
		assert_int_equal(n->s[ASKS].id, id);
	}
}

/* SESS-13, SESS-18 */
WEFT_TEST(flits_stand_in_for_keepalives_and_losses_do_not)
{
	unsigned int before;

	bring_up();
	n->streams[ASKS] = n->streams[ANSWERS] = true;
	before = n->sent[ASKS][WEFT_CONTROL_KEEPALIVE] + n->sent[ANSWERS][WEFT_CONTROL_KEEPALIVE];
	run(DEAD);
	assert_int_equal(
		n->sent[ASKS][WEFT_CONTROL_KEEPALIVE] + n->sent[ANSWERS][WEFT_CONTROL_KEEPALIVE],
		before);
	n->cut[ASKS] = true;
	for (unsigned int i = 0; i < 2 * SILENCE; i++) {
		inject(ASKS, WEFT_CONTROL_LOSS, n->s[ASKS].id);
		run(1);
	}
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_LOSSES], 3 * 2 * SILENCE);
	assert_state(WEFT_SESSION_STALLED, WEFT_SESSION_STALLED);
}

/* --- goodbye --- */

/* SESS-24 */
WEFT_TEST(goodbye_ends_a_session_at_once)
{
	for (unsigned int end = 0; end < ENDS; end++) {
		start_over();
		weft_session_close(&n->s[end]);
		assert_false(weft_session_is_live(&n->s[end]));
		assert_true(weft_session_is_parting(&n->s[end]));
		run(3 * LATENCY);
		assert_int_equal(n->ended[!end], 1);
		assert_false(weft_session_is_parting(&n->s[end]));
		run(10 * HELLO);
		assert_int_equal(n->s[end].state, WEFT_SESSION_CLOSED);
		assert_int_equal(n->s[!end].state, WEFT_SESSION_DOWN);
		if (end == ASKS)
			assert_true(weft_session_deadline(&n->s[end]) == UINT64_MAX);
	}
}

WEFT_TEST(a_lost_goodbye_is_made_good_by_reset)
{
	for (unsigned int end = 0; end < ENDS; end++) {
		start_over();
		n->drop_type = WEFT_CONTROL_GOODBYE;
		weft_session_close(&n->s[end]);
		run(KEEPALIVE + 4 * LATENCY);
		assert_int_equal(n->drop_type, 0);
		assert_int_equal(n->ended[!end], 1);
		assert_int_equal(n->s[!end].state, WEFT_SESSION_DOWN);
	}
}

WEFT_TEST(an_end_may_close_while_it_comes_up)
{
	for (unsigned int end = 0; end < ENDS; end++)
		for (unsigned int after = 0; after < 5 * LATENCY; after++) {
			boot(ASKS);
			boot(ANSWERS);
			n->n = 0;
			run(after);
			weft_session_close(&n->s[end]);
			weft_session_close(&n->s[end]);
			run(2 * KEEPALIVE);
			assert_int_equal(n->s[end].state, WEFT_SESSION_CLOSED);
			assert_int_equal(n->s[!end].state, WEFT_SESSION_DOWN);
		}
}

WEFT_TEST(both_ends_may_close_at_once)
{
	bring_up();
	weft_session_close(&n->s[ASKS]);
	weft_session_close(&n->s[ANSWERS]);
	run(LATENCY);
	for (unsigned int end = 0; end < ENDS; end++) {
		assert_int_equal(n->s[end].state, WEFT_SESSION_CLOSED);
		assert_false(weft_session_is_parting(&n->s[end]));
	}
}

/* --- what keys are made from --- */

static uint64_t
deal_of(unsigned int end)
{
	struct weft_session_transcript d;

	weft_session_transcript(&n->s[end], &d);
	return rig_deal_hash(7, &d);
}

/*
 * What an end comes to know of the other's memory in a session it says from the next on, and what
 * was agreed on for this one stays, however long it lives and whichever end asks again.
 */
WEFT_TEST(what_is_known_is_said_from_the_next_session_on)
{
	static struct rig_keys keys[ENDS];
	uint64_t known[ENDS] = { 0 };

	ide_on(keys);
	for (unsigned int i = 0; i < 24; i++) {
		const unsigned int end = i / 3 % ENDS, leaver = i % ENDS;
		uint64_t agreed;

		run(20 * HELLO);
		assert_up();
		for (unsigned int e = 0; e < ENDS; e++)
			assert_true(n->s[1 - e].peer.known == known[e]);
		agreed = deal_of(ASKS);
		known[end] = 100 + i;
		weft_session_knows(&n->s[end], known[end]);
		run(5 * HELLO);
		assert_up();
		assert_true(deal_of(ASKS) == agreed && deal_of(ANSWERS) == agreed);
		if (i % 4 == 3) {
			boot(leaver);
			known[leaver] = 0;
		} else {
			note(leaver, weft_session_abandon(&n->s[leaver], n->now));
		}
	}
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_BAD_PROOFS], 0);
	assert_int_equal(n->s[ANSWERS].count[WEFT_SESSION_N_BAD_PROOFS], 0);
}

/* Both ends have the same deal, and no two sessions do (SESS-25). */
WEFT_TEST(shares_are_fresh_in_every_session)
{
	static struct rig_keys keys[ENDS];
	uint64_t seen[40];

	ide_on(keys);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(seen); i++) {
		run(20 * HELLO);
		assert_up();
		seen[i] = deal_of(ASKS);
		assert_true(seen[i] == deal_of(ANSWERS));
		for (unsigned int k = 0; k < i; k++)
			assert_true(seen[k] != seen[i]);
		if (i % 3 == 0)
			boot(i % 2);
		else
			note(i % 2, weft_session_abandon(&n->s[i % 2], n->now));
	}
	assert_true(keys[ASKS].drawn >= 40 && keys[ANSWERS].drawn >= 1040);
	assert_int_equal(n->s[ASKS].count[WEFT_SESSION_N_BAD_PROOFS], 0);
}

/* SESS-25 */
WEFT_TEST(another_key_never_begins_a_session)
{
	static struct rig_keys keys[ENDS];

	ide_on(keys);
	keys[ASKS].psk = 100;
	run(50 * HELLO);
	assert_int_equal(n->s[ASKS].state, WEFT_SESSION_REFUSED);
	assert_int_equal(n->s[ASKS].differs, WEFT_PARAM_IDE_KEY);
	assert_true(n->s[ASKS].count[WEFT_SESSION_N_BAD_PROOFS] >= 4);
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_READY], 0);
	assert_int_equal(n->begun[ASKS] + n->begun[ANSWERS], 0);
	/* Nor does a READY without the right proof. */
	inject(ANSWERS, WEFT_CONTROL_READY, n->s[ANSWERS].candidate.sid);
	assert_int_equal(n->begun[ANSWERS], 0);
	assert_int_equal(n->s[ANSWERS].count[WEFT_SESSION_N_BAD_PROOFS], 1);
	keys[ASKS].psk = 0;
	run(20 * HELLO);
	assert_up();
}

WEFT_TEST(nothing_begins_without_random_bytes)
{
	static struct rig_keys keys[ENDS];

	for (unsigned int end = 0; end < ENDS; end++) {
		ide_on(keys);
		keys[end].dry = true;
		run(20 * HELLO);
		assert_int_equal(n->begun[ASKS] + n->begun[ANSWERS], 2 * end);
		assert_true(n->s[end].count[WEFT_SESSION_N_NO_RANDOM] > 0);
		keys[end].dry = false;
		run(20 * HELLO);
		assert_up();
	}
}

/* SESS-9 */
WEFT_TEST(options_of_ide_must_agree)
{
	static const struct {
		uint16_t bits[ENDS];
		enum weft_control_param differs;
	} cases[] = {
		{ { 0x0001, 0x0000 }, WEFT_PARAM_IDE_PCRC },
		{ { 0x0602, 0x0600 }, WEFT_PARAM_IDE_STOP },
		{ { 0x0604, 0x0600 }, WEFT_PARAM_IDE_POISON },
		{ { 0x0604, 0x0204 }, WEFT_PARAM_IDE_POISON },
		{ { 0x0606, 0x0606 }, WEFT_PARAM_NONE },
		{ { 0x0701, 0x0001 }, WEFT_PARAM_NONE },
	};
	static struct rig_keys keys[ENDS];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(cases); i++) {
		n->cfg[ASKS].params.ide_bits = cases[i].bits[ASKS];
		n->cfg[ANSWERS].params.ide_bits = cases[i].bits[ANSWERS];
		ide_on(keys);
		run(20 * HELLO);
		if (cases[i].differs == WEFT_PARAM_NONE) {
			assert_up();
			continue;
		}
		assert_state(WEFT_SESSION_REFUSED, WEFT_SESSION_REFUSED);
		assert_int_equal(n->s[ASKS].differs, cases[i].differs);
		assert_int_equal(n->s[ANSWERS].differs, cases[i].differs);
	}
}
