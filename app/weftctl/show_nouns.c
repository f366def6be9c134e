/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Rows of what is in nodes, and the table of all nouns. */

#include "show.h"

#include <stdio.h>
#include <string.h>

#include "drain_state.h"
#include "weft_base.h"

const json_t *
show_find(const json_t *list, const char *key, const char *text)
{
	const json_t *o;
	size_t i;

	json_array_foreach(list, i, o) if (strcmp(show_text(o, key), text) == 0) return o;
	return NULL;
}

/* The same daemon's state before. */
static const json_t *
show_before(const struct show_view *v, const json_t *state)
{
	const json_t *o;
	size_t i;

	json_array_foreach(
		v->before, i, o) if (show_number(o, "pid") == show_number(state, "pid")) return o;
	return NULL;
}

static void
show_each_node(const struct show_view *v, json_t *rows,
	void (*one)(const struct show_node *n, json_t *rows))
{
	const json_t *state, *node;
	size_t i, k;

	json_array_foreach(v->now, i, state)
	{
		const json_t *before = show_before(v, state);

		json_array_foreach(json_object_get(state, "nodes"), k, node)
		{
			const struct show_node n = {
				.states = v->now,
				.state = state,
				.node = node,
				.before = json_array_get(json_object_get(before, "nodes"), k),
				.name = show_text(node, "name"),
				.seconds = before == NULL ? 0
				                          : show_number(state, "seconds") -
				                                    show_number(before, "seconds"),
			};

			if (v->node == NULL || strcmp(v->node, n.name) == 0)
				one(&n, rows);
		}
	}
}

json_t *
show_rows(const struct show_noun *noun, const struct show_view *v)
{
	json_t *rows;

	if (noun->rows != NULL)
		return noun->rows(v);
	rows = json_array();
	show_each_node(v, rows, noun->rows_of);
	return rows;
}

json_t *
show_per_s(const struct show_node *n, const json_t *now, const json_t *before, const char *key)
{
	const double grown = show_number(now, key) - show_number(before, key);

	if (before == NULL || n->seconds <= 0 || grown < 0)
		return json_null();
	return json_real(grown / n->seconds);
}

static double
show_sum(const json_t *counts)
{
	const char *key;
	json_t *value;
	double sum = 0;

	json_object_foreach((json_t *)(uintptr_t)counts, key, value) sum +=
		json_number_value(value);
	return sum;
}

/* Kinds of what is injected at a node, with commas, or null. */
static json_t *
show_injected(const struct show_node *n)
{
	const json_t *list = json_object_get(json_object_get(n->state, "injections"), "list"), *o;
	char words[128] = "";
	size_t i, used = 0;

	json_array_foreach(list, i, o)
	{
		const char *kind = show_text(o, "kind");

		if (strcmp(show_text(o, "node"), n->name) != 0 || strstr(words, kind) != NULL)
			continue;
		used += (size_t)snprintf(
			words + used, sizeof(words) - used, "%s%.30s", used == 0 ? "" : ",", kind);
		if (used >= sizeof(words))
			break;
	}
	return used == 0 ? json_null() : json_string(words);
}

static void
show_nodes_of(const struct show_node *n, json_t *rows)
{
	const json_t *links = json_object_get(n->node, "connections"), *c;
	const json_t *mflits = json_object_get(n->node, "mflits");
	json_t *row;
	int up = 0;
	size_t i;

	json_array_foreach(links, i, c) up += strcmp(show_text(c, "state"), "up") == 0;
	row = json_pack("{s:s, s:s, s:O, s:O, s:O, s:O, s:{s:O, s:O}, s:f}", "node", n->name,
		"state", drain_word(drain_state_of(n->states, n->node, NULL, 0)), "kind",
		json_object_get(n->node, "kind"), "pid", json_object_get(n->node, "pid"), "daemon",
		json_object_get(n->state, "pid"), "lcore", json_object_get(n->node, "lcore"),
		"mflits", "in", json_object_get(mflits, "last_in"), "out",
		json_object_get(mflits, "last_out"), "drops",
		show_sum(json_object_get(n->node, "drops")));
	json_object_set_new(row, "connections",
		links == NULL
			? json_null()
			: json_pack("{s:i, s:i}", "up", up, "all", (int)json_array_size(links)));
	json_object_set_new(row, "injected", show_injected(n));
	json_array_append_new(rows, row);
}

static json_t *
show_ratio(double a, double b)
{
	return b == 0 ? json_null() : json_real(a / b);
}

/* Of the interval where flits came in it, else of the whole run. */
static void
show_stages_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "stages"), *s;
	const json_t *old = json_object_get(n->before, "stages");
	size_t i;

	json_array_foreach(list, i, s)
	{
		const json_t *then = json_array_get(old, i);
		const bool came = show_number(s, "flits") > show_number(then, "flits");
		const json_t *from = came ? then : NULL;
		const double flits = show_number(s, "flits") - show_number(from, "flits");

		json_array_append_new(rows,
			json_pack("{s:s, s:O, s:O, s:O, s:O, s:o, s:o, s:o}", "node", n->name,
				"stage", json_object_get(s, "stage"), "bursts",
				json_object_get(s, "bursts"), "frames",
				json_object_get(s, "frames"), "flits", json_object_get(s, "flits"),
				"flits_per_s", show_per_s(n, s, then, "flits"), "flits_per_burst",
				show_ratio(flits,
					show_number(s, "bursts") - show_number(from, "bursts")),
				"cycles_per_flit",
				show_ratio(show_number(s, "cycles") - show_number(from, "cycles"),
					flits)));
	}
}

static void
show_lcores_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "lcores"), *l;
	size_t i;

	json_array_foreach(list, i, l)
	{
		const json_t *b = json_array_get(json_object_get(n->before, "lcores"), i);
		const double busy = show_number(l, "busy_cycles") - show_number(b, "busy_cycles");
		const double idle = show_number(l, "idle_cycles") - show_number(b, "idle_cycles");

		json_array_append_new(rows, json_pack("{s:O, s:s, s:O, s:O, s:o, s:O}", "daemon",
						    json_object_get(n->state, "pid"), "node",
						    n->name, "lcore", json_object_get(l, "lcore"),
						    "segment", json_object_get(l, "segment"),
						    "busy", show_ratio(busy, busy + idle), "stages",
						    json_object_get(l, "stages")));
	}
}

static void
show_drops_of(const struct show_node *n, json_t *rows)
{
	const json_t *was = json_object_get(n->before, "drops");
	const char *reason;
	json_t *count;

	json_object_foreach(json_object_get(n->node, "drops"), reason, count) json_array_append_new(
		rows, json_pack("{s:s, s:s, s:O, s:o}", "node", n->name, "reason", reason,
			      "dropped", count, "per_s",
			      show_per_s(n, json_object_get(n->node, "drops"), was, reason)));
}

static void
show_routes_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "routes"), *r;
	size_t i;

	json_array_foreach(list, i, r) json_array_append_new(rows,
		json_pack("{s:s, s:O, s:O, s:O}", "node", n->name, "to", json_object_get(r, "to"),
			"dpid", json_object_get(r, "dpid"), "port", json_object_get(r, "port")));
}

static const struct table_column fabric_columns[] = {
	{ "FABRIC", "fabric", TABLE_TEXT },
	{ "MODE", "mode", TABLE_TEXT },
	{ "ROUTING", "routing", TABLE_TEXT },
	{ "IDE", "ide", TABLE_TEXT },
	{ "NODES", "nodes", TABLE_NUMBER },
	{ "HERE", "here", TABLE_NUMBER },
	{ "LINKS", "links", TABLE_NUMBER },
	{ "DAEMONS", "daemons", TABLE_COUNT },
	{ "GOOD", "good", TABLE_TEXT },
};

static const struct table_column node_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "KIND", "kind", TABLE_TEXT },
	{ "PID", "pid", TABLE_HEX },
	{ "DAEMON", "daemon", TABLE_NUMBER },
	{ "LCORE", "lcore", TABLE_NUMBER },
	{ "UP", "connections.up", TABLE_NUMBER },
	{ "OF", "connections.all", TABLE_NUMBER },
	{ "MFLIT/S IN", "mflits.in", TABLE_REAL },
	{ "OUT", "mflits.out", TABLE_REAL },
	{ "DROPS", "drops", TABLE_NUMBER },
	{ "STATE", "state", TABLE_TEXT },
	{ "INJECTED", "injected", TABLE_TEXT },
};

static const struct table_column link_columns[] = {
	{ "A", "a", TABLE_TEXT },
	{ "B", "b", TABLE_TEXT },
	{ "STATE", "state", TABLE_TEXT },
	{ "FORM", "form", TABLE_TEXT },
	{ "MTU", "mtu", TABLE_NUMBER },
	{ "MFLIT/S A>B", "mflits.a_to_b", TABLE_REAL },
	{ "B>A", "mflits.b_to_a", TABLE_REAL },
};

static const struct table_column connection_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "PEER", "peer", TABLE_TEXT },
	{ "PID", "pid", TABLE_HEX },
	{ "STATE", "state", TABLE_TEXT },
	{ "IDE", "ide", TABLE_TEXT },
	{ "RX LCORE", "rx_lcore", TABLE_NUMBER },
	{ "SENT/S", "sent_per_s", TABLE_NUMBER },
	{ "DELIVERED/S", "delivered_per_s", TABLE_NUMBER },
	{ "RTT NS", "round_trip_ns", TABLE_NUMBER },
	{ "UNACKED", "unacked", TABLE_NUMBER },
	{ "RESENT", "resent", TABLE_NUMBER },
	{ "LOST", "lost", TABLE_NUMBER },
};

static const struct table_column stage_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "STAGE", "stage", TABLE_TEXT },
	{ "BURSTS", "bursts", TABLE_NUMBER },
	{ "FRAMES", "frames", TABLE_NUMBER },
	{ "FLITS", "flits", TABLE_NUMBER },
	{ "FLITS/S", "flits_per_s", TABLE_NUMBER },
	{ "FLITS/BURST", "flits_per_burst", TABLE_REAL },
	{ "CYCLES/FLIT", "cycles_per_flit", TABLE_REAL },
};

static const struct table_column lcore_columns[] = {
	{ "DAEMON", "daemon", TABLE_NUMBER },
	{ "NODE", "node", TABLE_TEXT },
	{ "LCORE", "lcore", TABLE_NUMBER },
	{ "BUSY", "busy", TABLE_SHARE },
	{ "SEGMENT", "segment", TABLE_TEXT },
};

static const struct table_column drop_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "DROPPED", "dropped", TABLE_NUMBER },
	{ "PER S", "per_s", TABLE_NUMBER },
	{ "REASON", "reason", TABLE_TEXT },
};

static const struct table_column route_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "TO", "to", TABLE_TEXT },
	{ "DPID", "dpid", TABLE_HEX },
	{ "PORT", "port", TABLE_NUMBER },
};

static const struct table_column key_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "PEER", "peer", TABLE_TEXT },
	{ "IDE", "ide", TABLE_TEXT },
	{ "EPOCHS", "epochs", TABLE_NUMBER },
	{ "CHECKS", "checks", TABLE_NUMBER },
	{ "REKEYS", "rekeys", TABLE_NUMBER },
	{ "FAILURES", "failures", TABLE_NUMBER },
	{ "DROPPED", "dropped", TABLE_NUMBER },
	{ "BAD MACS", "bad_macs", TABLE_NUMBER },
};

static const struct table_column client_columns[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "PID", "pid", TABLE_NUMBER },
	{ "UID", "uid", TABLE_NUMBER },
	{ "REGIONS", "regions", TABLE_COUNT },
	{ "READS OPEN", "reads_open", TABLE_NUMBER },
	{ "WRITES OPEN", "writes_open", TABLE_NUMBER },
	{ "PROGRAM", "program", TABLE_TEXT },
};

static const struct table_column injection_columns[] = {
	{ "DAEMON", "daemon", TABLE_NUMBER },
	{ "NUMBER", "injection", TABLE_NUMBER },
	{ "KIND", "kind", TABLE_TEXT },
	{ "AT", "at", TABLE_TEXT },
	{ "LEFT S", "left", TABLE_REAL },
	{ "FRAMES", "frames", TABLE_NUMBER },
	{ "FLITS", "flits", TABLE_NUMBER },
	{ "LINES", "lines", TABLE_NUMBER },
	{ "READS", "reads", TABLE_NUMBER },
	{ "WHAT", "what", TABLE_TEXT },
};

#define SHOW_COLUMNS(array) array, WEFT_ARRAY_SIZE(array)

const struct show_noun show_nouns[] = {
	{ "fabric", "fabrics that run here, and by which daemons", show_fabric, NULL,
		SHOW_COLUMNS(fabric_columns) },
	{ "nodes", "nodes, and what goes in and out", NULL, show_nodes_of,
		SHOW_COLUMNS(node_columns) },
	{ "links", "links with an end here", show_links, NULL, SHOW_COLUMNS(link_columns) },
	{ "connections", "sessions with other nodes, and their retry", NULL, show_connections_of,
		SHOW_COLUMNS(connection_columns) },
	{ "stages", "what each stage of the pipelines costs", NULL, show_stages_of,
		SHOW_COLUMNS(stage_columns) },
	{ "lcores", "which segments run where, and how busy", NULL, show_lcores_of,
		SHOW_COLUMNS(lcore_columns) },
	{ "drops", "what was dropped, by reason", NULL, show_drops_of, SHOW_COLUMNS(drop_columns) },
	{ "routes", "by which port each node sends for another", NULL, show_routes_of,
		SHOW_COLUMNS(route_columns) },
	{ "keys", "which connections are encrypted; never a key", NULL, show_keys_of,
		SHOW_COLUMNS(key_columns) },
	{ "injections", "faults that operators inject now", show_injections, NULL,
		SHOW_COLUMNS(injection_columns) },
	{ "clients", "programs that are attached", NULL, show_clients_of,
		SHOW_COLUMNS(client_columns) },
};

const unsigned int show_n_nouns = WEFT_ARRAY_SIZE(show_nouns);
