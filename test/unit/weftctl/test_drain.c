/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* When a node counts as drained: by what it has outstanding, and by those that use it. */

#include "weft_test.h"

#include "drain_state.h"

/* Two daemons: hosts h0 and h1 in the one, a switch in the other. Texts: the drain of each. */
static void
state_is(const char *h0, const char *h1, const char *s0, const char *name, enum drain_state want,
	const char *who_want)
{
	char text[1024], who[64] = "";
	json_t *states;
	enum drain_state got;

	snprintf(text, sizeof(text),
		"[{\"nodes\": [{\"name\": \"h0\", \"drain\": %s}, {\"name\": \"h1\", \"drain\": "
		"%s}]}, {\"nodes\": [{\"name\": \"s0\", \"drain\": %s}]}]",
		h0, h1, s0);
	states = json_loads(text, 0, NULL);
	assert_non_null(states);
	got = drain_state_of(states, drain_find(states, name), who, sizeof(who));
	assert_int_equal(got, want);
	assert_string_equal(who, who_want);
	json_decref(states);
}

#define IDLE "{\"left\": 0, \"first\": []}"
#define BUSY "{\"left\": 3, \"first\": []}"
#define NEW "{\"left\": null, \"first\": []}"
#define USED "{\"left\": 0, \"first\": [\"h0\", \"h1\"]}"

WEFT_TEST(a_node_is_drained_when_nothing_is_outstanding)
{
	state_is("null", "null", "null", "h0", DRAIN_NOT, "");
	state_is(BUSY, "null", "null", "h0", DRAIN_GOES_ON, "");
	state_is(NEW, "null", "null", "h0", DRAIN_GOES_ON, "");
	state_is(IDLE, BUSY, "null", "h0", DRAIN_DONE, "");
}

WEFT_TEST(a_node_that_is_used_waits_for_its_users)
{
	state_is("null", "null", USED, "s0", DRAIN_WAITS, "h0, h1");
	state_is(IDLE, "null", USED, "s0", DRAIN_WAITS, "h1");
	state_is(IDLE, BUSY, USED, "s0", DRAIN_GOES_ON, "");
	state_is(IDLE, NEW, USED, "s0", DRAIN_GOES_ON, "");
	state_is(IDLE, IDLE, USED, "s0", DRAIN_DONE, "");
	/* Of a node that no daemon here runs nothing is known. */
	state_is(IDLE, IDLE, "{\"left\": 0, \"first\": [\"h9\"]}", "s0", DRAIN_WAITS, "h9");
	state_is(IDLE, IDLE, "{}", "nonesuch", DRAIN_NOT, "");
}

WEFT_TEST(states_have_words)
{
	assert_string_equal(drain_word(DRAIN_NOT), "runs");
	assert_string_equal(drain_word(DRAIN_GOES_ON), "draining");
	assert_string_equal(drain_word(DRAIN_WAITS), "draining");
	assert_string_equal(drain_word(DRAIN_DONE), "drained");
}
