/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Nodes that drain. */

#include "drain.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "event.h"

/* Each of its events is one of its own, however fast they follow. */
static const char *
drain_name(const struct node *n, char name[32])
{
	snprintf(name, 32, "drain %u", n->told.drains);
	return name;
}

void
drain_set(struct node *n, bool on)
{
	char name[32];

	if (weft_node_is_draining(n->node) == on)
		return;
	n->told.drains += on;
	n->told.drained = false;
	weft_node_drain(n->node, on);
	if (on)
		event_put(EVENT_DRAIN_BEGUN, n->topo->name, drain_name(n, name), 1,
			"drains: it begins no new work");
	else
		event_put(EVENT_DRAIN_UNDONE, n->topo->name, drain_name(n, name), 1,
			"drains no more: its work goes on");
}

void
drains_log_events(struct daemon *d)
{
	char name[32];

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];

		if (!weft_node_is_draining(n->node) || n->told.drained ||
			weft_node_drain_left(n->node) != 0 || !weft_node_works(n->topo, n->load))
			continue;
		n->told.drained = true;
		event_put(EVENT_DRAINED, n->topo->name, drain_name(n, name), 1,
			"is drained: nothing of its work is outstanding");
	}
}

/* --- who has to be drained before a node is at rest --- */

/* Whether the way to @p to, by the ports that lead there, has @p n on it or ends there. */
static bool
drain_passes(const struct weft_topo *t, unsigned int from, unsigned int to, unsigned int n,
	const int16_t *port)
{
	unsigned int at = from;

	for (unsigned int hops = 0; at != to && hops < t->n_nodes; hops++) {
		const int next =
			port[at] < 0 ? -1 : weft_topo_neighbour(t, at, (unsigned int)port[at]);

		if (next < 0)
			return false;
		at = (unsigned int)next;
		if (at == n)
			return true;
	}
	return false;
}

/*
 * Marks those that send requests to memory by this node or at it, or get their answers so.
 *
 * @param port  room for t->n_nodes
 */
static void
drain_mark(const struct daemon *d, unsigned int n, bool *is_first, int16_t *port)
{
	const struct weft_topo *t = daemon_now(d);

	for (unsigned int to = 0; to < t->n_nodes; to++) {
		const bool offers = weft_node_offers_memory(&t->node[to]);
		const bool works = weft_node_works(&t->node[to], &d->load->node[to]);

		if ((!offers && !works) || weft_topo_routes_to(t, to, port) != 0)
			continue;
		for (unsigned int from = 0; from < t->n_nodes; from++) {
			if (from == to || !drain_passes(t, from, to, n, port))
				continue;
			if (offers && from != n &&
				weft_node_works(&t->node[from], &d->load->node[from]))
				is_first[from] = true;
			if (works && to != n && from != n &&
				weft_node_offers_memory(&t->node[from]))
				is_first[to] = true;
		}
	}
}

static json_t *
drain_first(const struct node *n)
{
	const struct weft_topo *t = daemon_now(n->daemon);
	bool *is_first = calloc(t->n_nodes, sizeof(*is_first));
	int16_t *port = calloc(t->n_nodes, sizeof(*port));
	json_t *list = json_array();

	if (is_first != NULL && port != NULL)
		drain_mark(n->daemon, n->index, is_first, port);
	for (unsigned int i = 0; is_first != NULL && i < t->n_nodes; i++)
		if (is_first[i])
			json_array_append_new(list, json_string(t->node[i].name));
	free(is_first);
	free(port);
	return list;
}

json_t *
drain_json(const struct node *n)
{
	uint64_t left;

	if (!weft_node_is_draining(n->node))
		return json_null();
	left = weft_node_drain_left(n->node);
	return json_pack("{s:o, s:o}", "left",
		left == UINT64_MAX ? json_null() : json_integer((json_int_t)left), "first",
		drain_first(n));
}
