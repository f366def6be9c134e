/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Of one kind, node and peer: a line at once, then one an interval with how many more there were.
 */

#include "weft_test.h"

#include "weft_event_log.h"

#define SECOND UINT64_C(1000000000)
#define START (1000 * SECOND)

static struct weft_event_log *
log_of(unsigned int rows)
{
	static uint64_t mem[8192];

	assert_true(weft_event_log_size(rows) <= sizeof(mem));
	return weft_event_log_init(mem, rows, 10 * SECOND);
}

WEFT_TEST(first_is_said_at_once_and_the_rest_together)
{
	struct weft_event_log *l = log_of(4);
	struct weft_event e;

	assert_true(weft_event_log_put(l, 1, "s0", "h1", 12, "a", START, &e));
	assert_string_equal(e.text, "a");
	assert_int_equal(e.more, 12);
	assert_int_equal(e.span_ns, 0);
	for (unsigned int i = 1; i <= 37; i++)
		assert_false(weft_event_log_put(l, 1, "s0", "h1", 1, "b", START + i, &e));
	assert_false(weft_event_log_due(l, START + 10 * SECOND - 1, false, &e));
	assert_true(weft_event_log_due(l, START + 10 * SECOND, false, &e));
	assert_string_equal(e.text, "b");
	assert_string_equal(e.node, "s0");
	assert_string_equal(e.peer, "h1");
	assert_int_equal(e.more, 37);
	assert_int_equal(e.span_ns, 10 * SECOND);
	assert_false(weft_event_log_due(l, START + 10 * SECOND, false, &e));
	/* That line began another interval. */
	assert_false(weft_event_log_put(l, 1, "s0", "h1", 1, "c", START + 19 * SECOND, &e));
	assert_true(weft_event_log_due(l, START + 20 * SECOND, false, &e));
	assert_int_equal(e.more, 1);
}

WEFT_TEST(after_a_quiet_interval_it_is_said_at_once_again)
{
	struct weft_event_log *l = log_of(4);
	struct weft_event e;

	assert_true(weft_event_log_put(l, 1, "s0", NULL, 1, "a", START, &e));
	assert_true(weft_event_log_put(l, 1, "s0", NULL, 1, "b", START + 10 * SECOND, &e));
	assert_int_equal(e.span_ns, 0);
	assert_false(weft_event_log_put(l, 1, "s0", "", 0, "c", START + 30 * SECOND, &e));
	assert_false(weft_event_log_due(l, START + 90 * SECOND, true, &e));
}

WEFT_TEST(what_is_held_is_not_overtaken_by_a_new_one)
{
	struct weft_event_log *l = log_of(4);
	struct weft_event e;

	assert_true(weft_event_log_put(l, 1, "s0", "h1", 1, "a", START, &e));
	assert_false(weft_event_log_put(l, 1, "s0", "h1", 5, "b", START + 1, &e));
	assert_false(weft_event_log_put(l, 1, "s0", "h1", 2, "c", START + 11 * SECOND, &e));
	assert_true(weft_event_log_due(l, START + 11 * SECOND, false, &e));
	assert_string_equal(e.text, "c");
	assert_int_equal(e.more, 7);
}

WEFT_TEST(combinations_do_not_silence_each_other)
{
	struct weft_event_log *l = log_of(4);
	struct weft_event e;

	assert_true(weft_event_log_put(l, 1, "s0", "h1", 1, "a", START, &e));
	assert_true(weft_event_log_put(l, 2, "s0", "h1", 1, "a", START, &e));
	assert_true(weft_event_log_put(l, 1, "s1", "h1", 1, "a", START, &e));
	assert_true(weft_event_log_put(l, 1, "s0", "h2", 1, "a", START, &e));
	assert_false(weft_event_log_put(l, 1, "s0", "h1", 1, "a", START + 1, &e));
}

/* Up and down of a link that flaps end with what it is. */
WEFT_TEST(held_events_come_in_the_order_of_the_newest)
{
	struct weft_event_log *l = log_of(4);
	struct weft_event e;

	weft_event_log_put(l, 1, "s0", "h1", 1, "up", START, &e);
	weft_event_log_put(l, 2, "s0", "h1", 1, "down", START, &e);
	for (unsigned int i = 1; i < 10; i++) {
		weft_event_log_put(l, 2, "s0", "h1", 1, "down", START + 2 * i, &e);
		weft_event_log_put(l, 1, "s0", "h1", 1, "up", START + 2 * i + 1, &e);
	}
	assert_true(weft_event_log_due(l, START + 1 * SECOND, true, &e));
	assert_string_equal(e.text, "down");
	assert_true(weft_event_log_due(l, START + 1 * SECOND, true, &e));
	assert_string_equal(e.text, "up");
	assert_int_equal(e.more, 9);
	assert_int_equal(e.span_ns, 1 * SECOND);
	assert_false(weft_event_log_due(l, START + 1 * SECOND, true, &e));
}

WEFT_TEST(more_combinations_than_rows_forget_the_oldest)
{
	struct weft_event_log *l = log_of(2);
	struct weft_event e;

	assert_true(weft_event_log_put(l, 1, "a", "", 1, "x", START, &e));
	assert_true(weft_event_log_put(l, 1, "b", "", 1, "x", START + 1, &e));
	assert_true(weft_event_log_put(l, 1, "c", "", 1, "x", START + 2, &e));
	assert_false(weft_event_log_put(l, 1, "b", "", 1, "x", START + 3, &e));
	assert_false(weft_event_log_put(l, 1, "c", "", 1, "x", START + 4, &e));
	assert_true(weft_event_log_put(l, 1, "a", "", 1, "x", START + 5, &e));
}

WEFT_TEST(long_names_and_texts_are_cut)
{
	struct weft_event_log *l = log_of(2);
	char name[2 * WEFT_EVENT_NAME_ROOM], text[2 * WEFT_EVENT_TEXT_ROOM];
	struct weft_event e;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memset(text, 't', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	assert_true(weft_event_log_put(l, 1, name, name, 1, text, START, &e));
	assert_int_equal(strlen(e.node), WEFT_EVENT_NAME_ROOM - 1);
	assert_int_equal(strlen(e.peer), WEFT_EVENT_NAME_ROOM - 1);
	assert_int_equal(strlen(e.text), WEFT_EVENT_TEXT_ROOM - 1);
	assert_false(weft_event_log_put(l, 1, name, name, 1, text, START, &e));
}
