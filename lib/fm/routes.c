/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Routes of a found fabric, and which rows may be written next (weft_fm_routes.h). */

#include "weft_fm_routes.h"

#include <errno.h>
#include <stdlib.h>

#define ROWS WEFT_PID_RESERVED
#define ROW_GAP 16 /* rows that are right already, written again rather than a second command */

static bool
routes_same(const struct weft_drt *a, const struct weft_drt *b, unsigned int dpid)
{
	return memcmp(a->entry[dpid], b->entry[dpid], 2) == 0;
}

/* Whether all tables of a node have the row that they are to have. */
static bool
routes_is_written(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int dpid)
{
	for (unsigned int k = 0; k < found[node].n; k++)
		if (!routes_same(&found[node].drt[k], &r->want[node], dpid))
			return false;
	return true;
}

/* Node that a row leads to, or -1 for a row that leads nowhere. */
static int
routes_next_node(const struct weft_fm_routes *r, unsigned int node, const uint8_t row[2])
{
	uint16_t port;

	if (row[0] != WEFT_DRT_PORT)
		return -1;
	port = r->port_at[node * WEFT_FM_PORTS + row[1]];
	return port == WEFT_FM_NO_PORT ? -1 : r->graph->neighbour[port];
}

/* Rule 1. */
static bool
routes_may_write(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int dpid)
{
	const int next = routes_next_node(r, node, r->want[node].entry[dpid]);

	return next < 0 || found[next].n == 0 || r->graph->node[next].pid == dpid ||
	       routes_is_written(r, found, (unsigned int)next, dpid);
}

/* Whether a row is the business of a phase. */
static bool
routes_is_due(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	enum weft_fm_phase phase, unsigned int node, unsigned int table, unsigned int dpid)
{
	const struct weft_drt *have = &found[node].drt[table];
	const struct weft_drt *want = &r->want[node];
	const bool has = have->entry[dpid][0] != WEFT_DRT_INVALID;
	const bool wants = want->entry[dpid][0] != WEFT_DRT_INVALID;

	if (routes_same(have, want, dpid))
		return false;
	switch (phase) {
	case WEFT_FM_PHASE_DRAIN: return has;
	case WEFT_FM_PHASE_WRITE: return wants && routes_may_write(r, found, node, dpid);
	default: return !wants;
	}
}

enum weft_fm_phase
weft_fm_routes_phase(const struct weft_fm_routes *r, const struct weft_fm_tables *found)
{
	enum weft_fm_phase phase = WEFT_FM_PHASE_DONE;

	for (unsigned int i = 0; i < r->graph->n_nodes; i++) {
		for (unsigned int k = 0; k < found[i].n; k++) {
			for (unsigned int d = 0; d < ROWS; d++) {
				const uint8_t *have = found[i].drt[k].entry[d];
				const uint8_t *want = r->want[i].entry[d];

				if (memcmp(have, want, 2) == 0)
					continue;
				if (r->must_drain && have[0] != WEFT_DRT_INVALID)
					return WEFT_FM_PHASE_DRAIN;
				if (want[0] != WEFT_DRT_INVALID)
					phase = WEFT_FM_PHASE_WRITE;
				else if (phase == WEFT_FM_PHASE_DONE)
					phase = WEFT_FM_PHASE_REMOVE;
			}
		}
	}
	return phase;
}

unsigned int
weft_fm_routes_next(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	enum weft_fm_phase phase, unsigned int node, unsigned int table, uint16_t *first,
	unsigned int max, uint8_t (*row)[2])
{
	const struct weft_drt *have = &found[node].drt[table];
	const struct weft_drt *want = &r->want[node];
	unsigned int d = *first, len = 0, last = 0;

	while (d < ROWS && !routes_is_due(r, found, phase, node, table, d))
		d++;
	*first = (uint16_t)d;
	for (; d < ROWS && len < max && d - *first <= last + ROW_GAP; d++) {
		const bool is_due = routes_is_due(r, found, phase, node, table, d);

		if (is_due && phase == WEFT_FM_PHASE_DRAIN)
			memset(row[len], 0, 2);
		else
			memcpy(row[len], is_due ? want->entry[d] : have->entry[d], 2);
		len++;
		if (is_due)
			last = d - *first;
	}
	return len == 0 ? 0 : last + 1;
}

/* A direction of a link, by the port that it leaves by. */
struct routes_channel {
	uint64_t goes_on[WEFT_FM_PORTS / 64]; /* by ports of the node that it leads to */
	uint16_t came_from;
	uint16_t next;
	uint8_t seen; /* 1: on the way that is searched, 2: done */
};

static void
routes_add_arc(const struct weft_fm_routes *r, struct routes_channel *channel, unsigned int node,
	const uint8_t row[2], unsigned int next, const uint8_t next_row[2])
{
	unsigned int number;

	if (next_row[0] != WEFT_DRT_PORT ||
		r->port_at[next * WEFT_FM_PORTS + next_row[1]] == WEFT_FM_NO_PORT)
		return;
	number = (unsigned int)(r->port_at[next * WEFT_FM_PORTS + next_row[1]] -
				r->graph->node[next].first_port);
	channel[r->port_at[node * WEFT_FM_PORTS + row[1]]].goes_on[number / 64] |=
		WEFT_BIT64(number % 64);
}

/* What a message for @dpid that leaves @node by a row of a table may wait for at the next. */
static void
routes_add_arcs(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	struct routes_channel *channel, unsigned int node, unsigned int dpid)
{
	for (unsigned int k = 0; k <= found[node].n; k++) {
		/* A new row is there only after the next node's, so it leads to no old one. */
		const bool is_new = k == found[node].n;
		const uint8_t *row =
			is_new ? r->want[node].entry[dpid] : found[node].drt[k].entry[dpid];
		const int next = routes_next_node(r, node, row);

		if (next < 0 || r->graph->node[next].pid == dpid)
			continue;
		for (unsigned int j = 0; !is_new && j < found[next].n; j++)
			routes_add_arc(r, channel, node, row, (unsigned int)next,
				found[next].drt[j].entry[dpid]);
		if (found[next].n != 0)
			routes_add_arc(r, channel, node, row, (unsigned int)next,
				r->want[next].entry[dpid]);
	}
}

/* The next channel after @at on a search, or -1. */
static int
routes_step(const struct weft_topo *t, struct routes_channel *channel, unsigned int at)
{
	const struct weft_topo_node *next = &t->node[t->neighbour[at]];

	while (channel[at].next < next->n_ports) {
		const unsigned int n = channel[at].next++;

		if ((channel[at].goes_on[n / 64] & WEFT_BIT64(n % 64)) != 0)
			return next->first_port + (int)n;
	}
	return -1;
}

static bool
routes_has_circle(const struct weft_topo *t, struct routes_channel *channel, uint16_t first)
{
	unsigned int at = first;

	channel[at].seen = 1;
	for (;;) {
		const int next = routes_step(t, channel, at);

		if (next < 0) {
			channel[at].seen = 2;
			if (at == first)
				return false;
			at = channel[at].came_from;
		} else if (channel[next].seen == 1) {
			return true;
		} else if (channel[next].seen == 0) {
			channel[next].seen = 1;
			channel[next].came_from = (uint16_t)at;
			at = (unsigned int)next;
		}
	}
}

int
weft_fm_routes_check_mixed(const struct weft_fm_routes *r, const struct weft_fm_tables *found)
{
	const struct weft_topo *t = r->graph;
	struct routes_channel *channel = calloc(t->n_ports + 1u, sizeof(*channel));
	int rc = 0;

	if (channel == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->n_nodes; i++)
		for (unsigned int d = 0; found[i].n != 0 && d < ROWS; d++)
			routes_add_arcs(r, found, channel, i, d);
	for (uint16_t c = 0; rc == 0 && c < t->n_ports; c++)
		if (channel[c].seen == 0 && routes_has_circle(t, channel, c))
			rc = -EINVAL;
	free(channel);
	return rc;
}

/* What an engine has computed, in physical ports. */
static void
routes_translate(struct weft_fm_routes *r, const struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		struct weft_drt *want = &r->want[i];

		if (!weft_topo_is_transit(t, i))
			continue;
		(void)weft_topo_routes(t, i, want);
		for (unsigned int d = 0; d < ROWS; d++)
			if (want->entry[d][0] == WEFT_DRT_PORT)
				want->entry[d][1] =
					r->physical[t->node[i].first_port + want->entry[d][1]];
	}
}

struct routes_choice {
	struct weft_fm_routes *r;
	const struct weft_fm_tables *found;
	bool is_out_of_memory;
};

static bool
routes_accept(void *arg, const struct weft_topo *t)
{
	struct routes_choice *c = arg;
	int rc;

	routes_translate(c->r, t);
	rc = weft_fm_routes_check_mixed(c->r, c->found);
	c->is_out_of_memory |= rc == -ENOMEM;
	return rc == 0;
}

static int
routes_choose(struct weft_fm_routes *r, const struct weft_fm_tables *found,
	enum weft_topo_routing routing, struct weft_topo_fault *f)
{
	struct routes_choice c = { r, found, false };
	int rc = weft_topo_route(r->graph, routing, routes_accept, &c, f);

	if (c.is_out_of_memory)
		return -ENOMEM;
	if (rc != -EINVAL)
		return rc;
	rc = weft_topo_route(r->graph, routing, NULL, NULL, f);
	if (rc == 0) {
		r->must_drain = true;
		routes_translate(r, r->graph);
	}
	return rc;
}

static int
routes_map_ports(struct weft_fm_routes *r, const struct weft_fm_link *link, unsigned int n_links)
{
	memset(r->port_at, 0xff, (size_t)r->graph->n_nodes * WEFT_FM_PORTS * sizeof(*r->port_at));
	for (unsigned int i = 0; i < n_links; i++) {
		const uint16_t end[2] = { r->graph->link[i].a, r->graph->link[i].b };

		for (unsigned int e = 0; e < 2; e++) {
			uint16_t *at =
				&r->port_at[link[i].node[e] * WEFT_FM_PORTS + link[i].port[e]];

			if (*at != WEFT_FM_NO_PORT)
				return -EINVAL;
			*at = end[e];
			r->physical[end[e]] = link[i].port[e];
		}
	}
	return 0;
}

int
weft_fm_routes_new(struct weft_fm_routes *r, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_fm_link *link, unsigned int n_links,
	const struct weft_fm_tables *found, enum weft_topo_routing routing,
	struct weft_topo_fault *f)
{
	struct weft_topo_graph_link *pair = calloc(n_links + 1u, sizeof(*pair));
	int rc = -ENOMEM;

	*r = (struct weft_fm_routes){ 0 };
	*f = (struct weft_topo_fault){ .text = "two links at one port, or an end without one" };
	if (pair == NULL)
		return rc;
	for (unsigned int i = 0; i < n_links; i++)
		pair[i] = (struct weft_topo_graph_link){ link[i].node[0], link[i].node[1] };
	rc = weft_topo_graph_new(&r->graph, node, n_nodes, pair, n_links);
	free(pair);
	if (rc != 0)
		return rc;
	r->want = calloc(n_nodes + 1u, sizeof(*r->want));
	r->physical = calloc(2u * n_links + 1u, sizeof(*r->physical));
	r->port_at = calloc(n_nodes + 1u, WEFT_FM_PORTS * sizeof(*r->port_at));
	rc = -ENOMEM;
	if (r->want != NULL && r->physical != NULL && r->port_at != NULL)
		rc = routes_map_ports(r, link, n_links);
	if (rc == 0)
		rc = routes_choose(r, found, routing, f);
	if (rc != 0)
		weft_fm_routes_free(r);
	return rc;
}

void
weft_fm_routes_free(struct weft_fm_routes *r)
{
	weft_topo_free(r->graph);
	free(r->want);
	free(r->physical);
	free(r->port_at);
	*r = (struct weft_fm_routes){ 0 };
}
