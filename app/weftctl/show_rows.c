/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Rows of what is between nodes: the fabric, links, connections, programs. */

#include "show.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static json_t *
show_string(const json_t *o, const char *key)
{
	json_t *v = json_object_get(o, key);

	return v == NULL ? json_null() : json_incref(v);
}

/* Those of one name are one fabric, whatever daemons run its nodes. */
json_t *
show_fabric(const struct show_view *v)
{
	json_t *rows = json_array();
	const json_t *state;
	size_t i;

	json_array_foreach(v->now, i, state)
	{
		const json_t *t = json_object_get(state, "topology");
		json_t *row =
			(json_t *)(uintptr_t)show_find(rows, "fabric", show_text(state, "fabric"));
		json_t *names = json_array();
		const json_t *node;
		size_t k;

		if (row == NULL) {
			row = json_pack("{s:s, s:o, s:o, s:o, s:i, s:i, s:i, s:b, s:[]}", "fabric",
				show_text(state, "fabric"), "mode", show_string(t, "mode"),
				"routing", show_string(t, "routing"), "ide", show_string(t, "ide"),
				"nodes", (int)json_array_size(json_object_get(t, "nodes")), "links",
				(int)json_array_size(json_object_get(t, "links")), "here", 0,
				"good", 1, "daemons");
			json_array_append_new(rows, row);
		}
		json_array_foreach(json_object_get(state, "nodes"), k, node)
			json_array_append_new(names, show_string(node, "name"));
		json_object_set_new(row, "here",
			json_integer(json_integer_value(json_object_get(row, "here")) +
				     (json_int_t)json_array_size(names)));
		if (!json_is_true(json_object_get(state, "good")))
			json_object_set_new(row, "good", json_false());
		json_array_append_new(json_object_get(row, "daemons"),
			json_pack("{s:o, s:o, s:o, s:o, s:o}", "pid", show_string(state, "pid"),
				"version", show_string(state, "version"), "seconds",
				show_string(state, "seconds"), "updates",
				show_string(state, "updates"), "nodes", names));
	}
	return rows;
}

json_t *
show_injections(const struct show_view *v)
{
	json_t *rows = json_array();
	const json_t *state;
	json_t *one;
	size_t i, k;

	json_array_foreach(v->now, i, state) json_array_foreach(
		json_object_get(json_object_get(state, "injections"), "list"), k, one)
	{
		if (v->node != NULL && strcmp(v->node, show_text(one, "node")) != 0)
			continue;
		json_object_set_new(one, "daemon", show_string(state, "pid"));
		json_array_append(rows, one);
	}
	return rows;
}

/* The port of a link's end, if its node runs here. */
static const json_t *
show_port(const json_t *states, const char *node, json_int_t port)
{
	const json_t *state;
	size_t i;

	json_array_foreach(states, i, state)
	{
		const json_t *n = show_find(json_object_get(state, "nodes"), "name", node);

		if (n != NULL)
			return json_array_get(json_object_get(n, "ports"), (size_t)port);
	}
	return NULL;
}

static json_t *
show_link(const struct show_view *v, const json_t *link)
{
	const json_int_t ap = json_integer_value(json_object_get(link, "a_port"));
	const json_int_t bp = json_integer_value(json_object_get(link, "b_port"));
	const json_t *a = show_port(v->now, show_text(link, "a"), ap);
	const json_t *b = show_port(v->now, show_text(link, "b"), bp);
	const json_t *near = a != NULL ? a : b, *state = json_object_get(near, "state");
	const json_t *mflits = json_object_get(near, "mflits");
	char end[2][80];

	if (near == NULL)
		return NULL;
	snprintf(end[0], sizeof(end[0]), "%.60s.%d", show_text(link, "a"), (int)ap);
	snprintf(end[1], sizeof(end[1]), "%.60s.%d", show_text(link, "b"), (int)bp);
	return json_pack("{s:s, s:s, s:o, s:o, s:o, s:{s:o, s:o}}", "a", end[0], "b", end[1],
		"state", show_string(state, "link"), "form", show_string(link, "form"), "mtu",
		show_string(link, "mtu"), "mflits", "a_to_b",
		show_string(mflits, a != NULL ? "last_out" : "last_in"), "b_to_a",
		show_string(mflits, a != NULL ? "last_in" : "last_out"));
}

json_t *
show_links(const struct show_view *v)
{
	json_t *rows = json_array();
	const json_t *state, *link;
	size_t i, k;

	json_array_foreach(v->now, i, state) json_array_foreach(
		json_object_get(json_object_get(state, "topology"), "links"), k, link)
	{
		json_t *row;

		if (v->node != NULL && strcmp(v->node, show_text(link, "a")) != 0 &&
			strcmp(v->node, show_text(link, "b")) != 0)
			continue;
		row = show_link(v, link);
		/* Another daemon of the fabric may have shown it. */
		if (row != NULL && show_find(rows, "a", show_text(row, "a")) == NULL)
			json_array_append_new(rows, row);
		else
			json_decref(row);
	}
	return rows;
}

void
show_connections_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "connections"), *c;
	size_t i;

	json_array_foreach(list, i, c)
	{
		const json_t *b = json_array_get(json_object_get(n->before, "connections"), i);
		const json_t *retry = json_object_get(c, "retry");
		const json_t *was = json_object_get(b, "retry");

		json_array_append_new(rows,
			json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
				  "s:o, s:o}",
				"node", n->name, "peer", show_string(c, "peer"), "pid",
				show_string(c, "pid"), "state", show_string(c, "state"), "since",
				show_string(c, "since"), "ide", show_string(c, "ide"), "rx_lcore",
				show_string(c, "rx_lcore"), "unacked", show_string(c, "unacked"),
				"round_trip_ns", show_string(c, "round_trip_ns"), "sent_per_s",
				show_per_s(n, retry, was, "sent"), "delivered_per_s",
				show_per_s(n, retry, was, "delivered"), "resent",
				show_string(retry, "resent"), "lost", show_string(retry, "lost"),
				"last_event", show_string(c, "last_event")));
	}
}

void
show_keys_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "connections"), *c;
	size_t i;

	json_array_foreach(list, i, c)
	{
		const json_t *end = json_object_get(c, "end");

		json_array_append_new(rows,
			json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "node", n->name,
				"peer", show_string(c, "peer"), "ide", show_string(c, "ide"),
				"epochs", show_string(end, "ide_epochs"), "checks",
				show_string(end, "ide_checks"), "rekeys",
				show_string(end, "ide_rekeys"), "failures",
				show_string(end, "ide_failures"), "dropped",
				show_string(end, "ide_dropped"), "bad_macs",
				show_string(json_object_get(c, "session"), "bad_macs")));
	}
}

static const char *
show_program(json_int_t pid, char *name, size_t len)
{
	char path[48];
	FILE *f;

	snprintf(name, len, "?");
	snprintf(path, sizeof(path), "/proc/%lld/comm", (long long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return name;
	if (fgets(name, (int)len, f) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
	return name;
}

void
show_clients_of(const struct show_node *n, json_t *rows)
{
	const json_t *list = json_object_get(n->node, "programs"), *p, *r;
	size_t i, k;

	json_array_foreach(list, i, p)
	{
		const json_t *regions = json_object_get(p, "regions");
		const json_int_t pid = json_integer_value(json_object_get(p, "pid"));
		double reads = 0, writes = 0;
		char name[32];

		json_array_foreach(regions, k, r)
		{
			reads += show_number(r, "reads_open");
			writes += show_number(r, "writes_open");
		}
		json_array_append_new(
			rows, json_pack("{s:s, s:I, s:s, s:o, s:I, s:I, s:O}", "node", n->name,
				      "pid", pid, "program", show_program(pid, name, sizeof(name)),
				      "uid", show_string(p, "uid"), "reads", (json_int_t)reads,
				      "writes", (json_int_t)writes, "regions", regions));
	}
}
