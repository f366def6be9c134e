/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Somebody who sees all frames sends frames of his own, with the right session ids: what he says
 * ends no session, keeps none from beginning, and costs both ends a bounded number of answers.
 */

#include "session_net.h"

/* Everything that may be said of a session, to one end. */
static void
forge(unsigned int to, enum weft_control_type type, uint32_t id)
{
	struct weft_control c = n->cfg[!to].params;

	c.type = (uint8_t)type;
	c.session = 77 + ++n->fresh;
	c.padded = 8;
	c.count = 3;
	c.flags = WEFT_CONTROL_RDI;
	c.differs = WEFT_PARAM_MODE;
	c.challenge = n->fresh;
	c.number = 1000000 + n->fresh;
	memset(c.proof, 0xA5, sizeof(c.proof));
	memset(c.mac, 0x5A, sizeof(c.mac));
	note(to, weft_session_control(&n->s[to], id, &c, n->now, n->fresh));
}

static uint64_t
counted(unsigned int end, enum weft_session_counter c)
{
	return n->s[end].count[c];
}

/* SESS-21, SESS-23 */
WEFT_TEST(said_without_proof_ends_no_session)
{
	static const enum weft_control_type types[] = { WEFT_CONTROL_GOODBYE, WEFT_CONTROL_RESET,
		WEFT_CONTROL_GONE };
	static struct rig_keys keys[ENDS];

	for (unsigned int with_keys = 0; with_keys < 2; with_keys++) {
		uint32_t id;

		if (with_keys)
			ide_on(keys);
		bring_up();
		id = n->s[ASKS].id;
		for (unsigned int i = 0; i < 20 * KEEPALIVE; i++) {
			for (unsigned int end = 0; end < ENDS; end++)
				forge(end, types[i % 3], id);
			run(1);
			assert_up();
		}
		assert_int_equal(n->s[ASKS].id, id);
		for (unsigned int end = 0; end < ENDS; end++) {
			assert_int_equal(counted(end, WEFT_SESSION_N_BEGUN), 1);
			assert_in_range(counted(end, WEFT_SESSION_N_CHALLENGES), 10, 21); /* rate */
			assert_in_range(counted(end, WEFT_SESSION_N_FALSE_GONES), 160, 170);
			assert_in_range(counted(end, WEFT_SESSION_N_BAD_MACS), with_keys ? 160 : 0,
				with_keys ? 170 : 0);
			assert_int_equal(n->sent[end][WEFT_CONTROL_GONE], 0);
		}
	}
	assert_int_equal(n->ended[ASKS] + n->ended[ANSWERS], 0);
}

/* A flood, within one keepalive_ns (SESS-21, SESS-22). */
WEFT_TEST(doubts_are_answered_seldom_and_with_no_more_than_was_said)
{
	uint8_t rec[2][WEFT_CONTROL_MAX];
	struct weft_control c = { .type = WEFT_CONTROL_CHALLENGE, .challenge = 1 };
	size_t len;

	bring_up();
	for (unsigned int i = 0; i < 1000; i++) {
		forge(ASKS, WEFT_CONTROL_RESET, n->s[ASKS].id);
		forge(ANSWERS, WEFT_CONTROL_CHALLENGE, 5);
	}
	run(1);
	assert_int_equal(n->sent[ASKS][WEFT_CONTROL_CHALLENGE], 1);
	assert_int_equal(n->sent[ANSWERS][WEFT_CONTROL_GONE], 1);
	len = weft_control_build(rec[0], &c);
	c.type = WEFT_CONTROL_GONE;
	assert_int_equal(weft_control_build(rec[1], &c), len);
	/* Padded to the least that Ethernet carries, neither is longer than a RESET. */
	assert_true(WEFT_WIRE_FLITS_OFF + len <= 60);
}

/* What is true is found out: the responder has forgotten the session (SESS-22, SESS-28). */
WEFT_TEST(an_end_that_knows_nothing_says_so)
{
	static struct rig_keys keys[ENDS];

	for (unsigned int with_keys = 0; with_keys < 2; with_keys++) {
		uint32_t id;

		if (with_keys)
			ide_on(keys);
		else
			start_over();
		run(HELLO);
		assert_up();
		id = n->s[ASKS].id;
		boot(ANSWERS);
		run(KEEPALIVE + 4 * LATENCY);
		assert_int_equal(n->last[WEFT_CONTROL_GONE].challenge,
			n->last[WEFT_CONTROL_CHALLENGE].challenge);
		assert_int_not_equal(n->s[ASKS].id, id);
		run(HELLO);
		assert_up();
	}
	/* Another pre-shared key, and it is not believed. */
	ide_on(keys);
	run(HELLO);
	keys[ANSWERS].psk = 100;
	boot(ANSWERS);
	run(DEAD / 2);
	assert_true(counted(ASKS, WEFT_SESSION_N_FALSE_GONES) > 5);
	assert_int_equal(n->s[ASKS].state, WEFT_SESSION_STALLED);
}

/* A number that was heard once is of no use for the next session, nor long after (SESS-23). */
WEFT_TEST(a_challenge_is_fresh)
{
	struct weft_control c = { .type = WEFT_CONTROL_GONE };
	uint64_t seen[3];

	for (unsigned int i = 0; i < 3; i++) {
		if (i == 2)
			start_over();
		else
			run(i == 0 ? HELLO : DEAD + 1);
		forge(ASKS, WEFT_CONTROL_RESET, n->s[ASKS].id);
		run(1);
		seen[i] = n->last[WEFT_CONTROL_CHALLENGE].challenge;
		for (unsigned int k = 0; k < i; k++) {
			assert_true(seen[i] != seen[k]);
			c.challenge = seen[k];
			note(ASKS, weft_session_control(&n->s[ASKS], n->s[ASKS].id, &c, n->now, 1));
		}
		assert_up();
	}
	/* The right one does end it. */
	c.challenge = seen[2];
	note(ASKS, weft_session_control(&n->s[ASKS], n->s[ASKS].id, &c, n->now, 1));
	assert_int_equal(n->ended[ASKS], 1);
}

WEFT_TEST(without_random_bytes_nothing_is_asked)
{
	struct weft_control c;
	uint32_t id;

	bring_up();
	forge(ASKS, WEFT_CONTROL_RESET, n->s[ASKS].id);
	assert_false(weft_session_next(&n->s[ASKS], n->now, 0, &id, &c));
	assert_int_equal(counted(ASKS, WEFT_SESSION_N_NO_RANDOM), 1);
	/* And 0 is no answer to it. */
	c = (struct weft_control){ .type = WEFT_CONTROL_GONE };
	weft_session_control(&n->s[ASKS], n->s[ASKS].id, &c, n->now, 1);
	assert_up();
}

/* With keys: whatever is said in a session, or played back, changes nothing of it (SESS-26). */
WEFT_TEST(what_has_no_mac_changes_nothing)
{
	static struct rig_keys keys[ENDS];

	ide_on(keys);
	bring_up();
	run(3 * KEEPALIVE);
	n->cut[ASKS] = n->cut[ANSWERS] = true;
	n->n = 0;
	for (unsigned int i = 0; i < SILENCE / 2; i++) {
		for (unsigned int end = 0; end < ENDS; end++) {
			const struct weft_session before = n->s[end];

			forge(end, WEFT_CONTROL_KEEPALIVE, before.id);
			forge(end, WEFT_CONTROL_READY, before.id);
			forge(end, WEFT_CONTROL_GOODBYE, before.id);
			forge(end, WEFT_CONTROL_LOSS, before.id);
			assert_int_equal(n->s[end].id, before.id);
			assert_int_equal(n->s[end].state, before.state);
			assert_true(n->s[end].idle_ns == before.idle_ns);
			assert_true(n->s[end].peer_rx_timed_out == before.peer_rx_timed_out);
			assert_true(n->s[end].rx_number == before.rx_number);
			assert_true(n->s[end].count[WEFT_SESSION_N_BAD_MACS] ==
				    before.count[WEFT_SESSION_N_BAD_MACS] + 2);
		}
		run(1);
	}
	run(SILENCE);
	assert_state(WEFT_SESSION_STALLED, WEFT_SESSION_STALLED); /* no sign of life */
}

/* The last KEEPALIVE of each end, again and again; and to the one who sent it (SESS-26). */
WEFT_TEST(what_came_before_is_no_sign_of_life)
{
	static struct rig_keys keys[ENDS];
	struct weft_control c;
	uint32_t id;

	ide_on(keys);
	bring_up();
	for (unsigned int end = 0; end < ENDS; end++) {
		run(3 * KEEPALIVE);
		id = n->s[end].id;
		n->cut[!end] = true;
		n->n = 0;
		n->sent[end][WEFT_CONTROL_KEEPALIVE] = 0;
		while (n->sent[end][WEFT_CONTROL_KEEPALIVE] == 0)
			run(1);
		c = n->last[WEFT_CONTROL_KEEPALIVE];
		for (unsigned int i = 0; i < SILENCE + KEEPALIVE; i++) {
			const enum weft_session_event ev =
				weft_session_control(&n->s[!end], id, &c, n->now, 1);

			assert_int_equal(ev, WEFT_SESSION_NOTHING);
			assert_int_equal(weft_session_control(&n->s[end], id, &c, n->now, 1), ev);
			run(1);
		}
		assert_true(n->s[!end].rx_timed_out);
		assert_int_equal(counted(!end, WEFT_SESSION_N_OLD_NUMBERS),
			SILENCE + KEEPALIVE - 1); /* it was new once */
		assert_int_equal(counted(end, WEFT_SESSION_N_BAD_MACS), SILENCE + KEEPALIVE);
		n->cut[!end] = false;
		run(2 * SILENCE);
		assert_up();
		assert_int_equal(n->s[end].id, id);
		ide_on(keys);
		n->n = 0;
		run(HELLO);
		assert_up();
	}
}

/* A MAC covers all that is in the message, its type first. */
WEFT_TEST(a_changed_message_has_another_mac)
{
	static struct rig_keys keys[ENDS];
	struct weft_control c, changed;

	ide_on(keys);
	bring_up();
	n->cut[ASKS] = true;
	n->sent[ANSWERS][WEFT_CONTROL_KEEPALIVE] = 0;
	while (n->sent[ANSWERS][WEFT_CONTROL_KEEPALIVE] == 0)
		run(1);
	c = n->last[WEFT_CONTROL_KEEPALIVE];
	for (unsigned int what = 0; what < 4; what++) {
		changed = c;
		changed.flags ^= what == 0;
		changed.number += what == 1;
		if (what == 2)
			changed.type = WEFT_CONTROL_GOODBYE;
		changed.mac[15] ^= what == 3;
		weft_session_control(&n->s[ASKS], n->s[ASKS].id, &changed, n->now, 1);
		assert_int_equal(counted(ASKS, WEFT_SESSION_N_BAD_MACS), what + 1);
	}
	assert_int_equal(n->ended[ASKS], 0);
	weft_session_control(&n->s[ASKS], n->s[ASKS].id, &c, n->now, 1);
	assert_int_equal(counted(ASKS, WEFT_SESSION_N_BAD_MACS), 4);
}

/* SESS-27 */
WEFT_TEST(goodbye_with_a_mac_is_believed_at_once)
{
	static struct rig_keys keys[ENDS];

	for (unsigned int end = 0; end < ENDS; end++) {
		ide_on(keys);
		n->ended[!end] = 0;
		bring_up();
		weft_session_close(&n->s[end]);
		assert_false(weft_session_is_parting(&n->s[end]));
		assert_true(keys[end].control == 0); /* wiped */
		run(LATENCY);
		assert_int_equal(n->ended[!end], 1);
		assert_int_equal(n->sent[!end][WEFT_CONTROL_CHALLENGE], 0);
	}
}

/*
 * While the ends come up, somebody answers each HELLO at once, and all the time
 * (SESS-10, SESS-11).
 */
WEFT_TEST(nothing_said_keeps_a_session_from_beginning)
{
	static struct rig_keys keys[ENDS];

	for (unsigned int with_keys = 0; with_keys < 2; with_keys++)
		for (unsigned int shift = 0; shift < 3; shift++) {
			if (with_keys)
				ide_on(keys);
			boot(ASKS);
			boot(ANSWERS);
			n->n = 0;
			run(shift);
			for (unsigned int i = 0; i < 5 * LATENCY; i++) {
				const struct weft_session *a = &n->s[ASKS];

				forge(ASKS, WEFT_CONTROL_REFUSE, a->attempt.hello_nonce);
				forge(ASKS, WEFT_CONTROL_GOODBYE, a->attempt.pending_sid);
				forge(ASKS, WEFT_CONTROL_RESET, a->attempt.pending_sid);
				forge(ANSWERS, WEFT_CONTROL_GOODBYE, n->s[ANSWERS].candidate.sid);
				if (with_keys) {
					forge(ASKS, WEFT_CONTROL_WELCOME, a->attempt.hello_nonce);
					forge(ASKS, WEFT_CONTROL_KEEPALIVE, a->attempt.pending_sid);
					forge(ANSWERS, WEFT_CONTROL_READY,
						n->s[ANSWERS].candidate.sid);
				}
				assert_int_not_equal(a->state, WEFT_SESSION_REFUSED);
				run(1);
			}
			assert_up();
			assert_int_equal(counted(ASKS, WEFT_SESSION_N_HELLOS), 1);
		}
}

/* Whoever was offered a session does not give that up, whatever else he is told (SESS-11). */
WEFT_TEST(an_offer_that_was_proven_is_not_given_up)
{
	static struct rig_keys keys[ENDS];

	ide_on(keys);
	n->drop_type = WEFT_CONTROL_READY;
	run(3 * LATENCY);
	assert_int_not_equal(n->s[ASKS].attempt.pending_sid, 0);
	forge(ASKS, WEFT_CONTROL_WELCOME, n->s[ASKS].attempt.hello_nonce);
	forge(ASKS, WEFT_CONTROL_REFUSE, n->s[ASKS].attempt.hello_nonce);
	run(HELLO + 3 * LATENCY);
	assert_up();
}

/* The responder may be about to begin it: it says nothing of it (SESS-19). */
WEFT_TEST(what_is_offered_is_not_said_to_be_gone)
{
	run(2 * LATENCY - 1); /* READY is not sent yet */
	assert_int_not_equal(n->s[ANSWERS].candidate.sid, 0);
	forge(ANSWERS, WEFT_CONTROL_CHALLENGE, n->s[ANSWERS].candidate.sid);
	run(3 * LATENCY);
	assert_up();
	assert_int_equal(n->sent[ANSWERS][WEFT_CONTROL_GONE], 0);
}

/* Whoever is told that the ends disagree goes on asking, and finds out when it is not so. */
WEFT_TEST(a_refusal_is_not_for_ever)
{
	n->off[ANSWERS] = true;
	for (unsigned int i = 0; i < 50 * HELLO; i++) {
		forge(ASKS, WEFT_CONTROL_REFUSE, n->s[ASKS].attempt.hello_nonce);
		run(1);
	}
	assert_int_equal(n->s[ASKS].state, WEFT_SESSION_REFUSED);
	assert_in_range(counted(ASKS, WEFT_SESSION_N_HELLOS), 4, 6);
	boot(ANSWERS);
	for (unsigned int i = 0; i < 11 * HELLO; i++) {
		forge(ASKS, WEFT_CONTROL_REFUSE, n->s[ASKS].attempt.hello_nonce);
		run(1);
	}
	assert_up();
}

/* A short frame is refused for its size only if one was sent. */
WEFT_TEST(nobody_makes_hellos_short)
{
	struct weft_control c = n->cfg[ANSWERS].params;

	n->cut[ANSWERS] = true;
	c.type = WEFT_CONTROL_REFUSE;
	c.differs = WEFT_PARAM_FRAME_SIZE;
	c.max_flits = 1;
	run(1);
	for (unsigned int i = 0; i < 10; i++)
		weft_session_control(&n->s[ASKS], n->s[ASKS].attempt.hello_nonce, &c, n->now, 1);
	assert_int_equal(n->s[ASKS].attempt.pad_flits, 8);
	assert_int_equal(counted(ASKS, WEFT_SESSION_N_STALE), 10);
}

/* SESS-29 */
WEFT_TEST(with_keys_no_flit_begins_a_session)
{
	static struct rig_keys keys[ENDS];

	ide_on(keys);
	n->streams[ANSWERS] = true;
	n->drop_type = WEFT_CONTROL_KEEPALIVE;
	run(HELLO);
	assert_state(WEFT_SESSION_DOWN, WEFT_SESSION_UP);
	assert_true(counted(ASKS, WEFT_SESSION_N_UNKNOWN) > 0);
	run(KEEPALIVE + 6 * LATENCY); /* the next HELLO is answered with the same session */
	assert_up();
	assert_int_equal(n->begun[ANSWERS], 1);
}

WEFT_TEST(nothing_begins_without_keys_for_control_frames)
{
	static struct rig_keys keys[ENDS];

	for (unsigned int end = 0; end < ENDS; end++) {
		ide_on(keys);
		n->begun[ASKS] = n->begun[ANSWERS] = 0;
		keys[end].numb = true;
		run(5 * HELLO);
		assert_int_equal(n->begun[ASKS] + n->begun[ANSWERS], 0);
		assert_true(counted(end, WEFT_SESSION_N_NO_RANDOM) > 0);
		keys[end].numb = false;
		run(12 * HELLO);
		assert_up();
	}
}
