/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What weftctl top makes of states: rates, orders, bars, daemons that end or begin anew. */

#include "weft_test.h"

#include "top.h"

/* Two daemons: one of two nodes, one of a node, with these counters. */
static json_t *
top_state(double seconds, int resent, int dropped, double load)
{
	return json_pack("{s:i, s:s, s:f, s:[{s:s, s:s, s:i, s:{s:f, s:f}, s:{s:i, s:i}, "
			 "s:[{s:s, s:{s:i}}, {s:s, s:{s:i}}], s:{s:i, s:i}},"
			 "{s:s, s:s, s:i, s:{s:f, s:f}, s:{s:i}}]}",
		"pid", 7, "fabric", "lab", "seconds", seconds, "nodes", "name", "h0", "kind",
		"host", "pid", 0x101, "mflits", "last_in", load, "last_out", 1.0, "latency_ns",
		"p50", 2500, "p99", 9000, "connections", "state", "up", "retry", "resent", resent,
		"state", "lost", "retry", "resent", 1, "drops", "crc_bad", dropped, "no_route", 3,
		"name", "s0", "kind", "switch", "pid", 0x10, "mflits", "last_in", 4.0, "last_out",
		4.0, "drops", "crc_bad", 5);
}

static void
top_take(struct top_model *m, json_t *states, const char *node)
{
	assert_int_equal(top_update(m, states, node), 0);
	json_decref(states);
}

WEFT_TEST(rates_come_with_the_second_state)
{
	struct top_model m = { 0 };

	top_take(&m, json_pack("[o]", top_state(10, 100, 20, 2)), NULL);
	assert_int_equal(m.n_nodes, 2);
	assert_true(m.node[0].resent_per_s < 0 && m.node[0].drops_per_s < 0);
	assert_true(m.drop[0].per_s < 0);
	top_take(&m, json_pack("[o]", top_state(12, 150, 40, 3)), NULL);
	assert_true(m.node[0].resent_per_s == 25 && m.node[0].drops_per_s == 10);
	assert_int_equal(m.node[0].up, 1);
	assert_int_equal(m.node[0].all, 2);
	assert_true(m.node[0].p50_us == 2.5 && m.node[0].p99_us == 9);
	assert_true(m.node[1].p50_us < 0 && m.node[1].all == 0);
	/* All nodes together, the fastest first. */
	assert_string_equal(m.drop[0].reason, "crc_bad");
	assert_true(m.drop[0].total == 45 && m.drop[0].per_s == 10);
	assert_true(m.drop[1].total == 3 && m.drop[1].per_s == 0);
	/* A daemon that began anew has no rate for a turn. */
	top_take(&m, json_pack("[o]", top_state(1, 0, 0, 3)), NULL);
	assert_true(m.node[0].resent_per_s < 0);
	top_free(&m);
}

WEFT_TEST(nodes_go_with_their_daemon_and_stand_as_asked)
{
	struct top_model m = { 0 };

	top_take(&m,
		json_pack("[o, {s:i, s:f, s:[{s:s}]}]", top_state(1, 0, 0, 2), "pid", 8, "seconds",
			1.0, "nodes", "name", "h0"),
		NULL);
	assert_int_equal(m.n_nodes, 3);
	assert_int_equal(m.n_daemons, 2);
	top_sort(&m, true);
	assert_string_equal(m.node[0].name, "s0");
	top_sort(&m, false);
	assert_string_equal(m.node[0].name, "h0");
	assert_int_equal(m.node[2].daemon, 8);
	top_take(&m, json_pack("[o]", top_state(2, 0, 0, 2)), NULL);
	assert_int_equal(m.n_nodes, 2);
	top_free(&m);
	top_take(&m, json_pack("[o]", top_state(2, 0, 0, 2)), "s0");
	assert_int_equal(m.n_nodes, 1);
	top_free(&m);
}

WEFT_TEST(bars_are_of_the_highest_sample)
{
	static const unsigned char want[] = { 0, 0, 0, 8, 1, 2, 4 };
	static const double load[] = { 63, 0.1, 15, 31 };
	unsigned char bar[sizeof(want)];
	struct top_model m = { 0 };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(load); i++)
		top_take(&m, json_pack("[o]", top_state(i, 0, 0, load[i])), NULL);
	top_bars(&m.node[0], bar, sizeof(bar));
	assert_memory_equal(bar, want, sizeof(want));
	/* More samples than are kept, more than are shown. */
	for (unsigned int i = 0; i < 2 * TOP_HISTORY; i++)
		top_take(&m, json_pack("[o]", top_state(i, 0, 0, 2)), NULL);
	assert_int_equal(m.node[0].n_history, TOP_HISTORY);
	top_bars(&m.node[0], bar, sizeof(bar));
	assert_int_equal(bar[0], 8);
	top_free(&m);
}

WEFT_TEST(states_without_keys_are_zeros)
{
	struct top_model m = { 0 };

	top_take(&m, json_pack("[{}, {s:[{}]}]", "nodes"), NULL);
	assert_int_equal(m.n_nodes, 1);
	assert_string_equal(m.node[0].name, "");
	top_take(&m, json_array(), NULL);
	assert_int_equal(m.n_nodes, 0);
	top_free(&m);
}
