/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Routes of a found fabric, and which rows may be written next (weft_fm_routes.h). */

#include "weft_fm_routes.h"

#include <errno.h>
#include <stdlib.h>

#define ROWS WEFT_PID_RESERVED
#define ROW_GAP 16 /* rows that are right already, written again rather than a second command */

/* A group that is to be and is not. */
static bool
routes_group_differs(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int table, unsigned int row)
{
	const struct weft_rgt_entry *want = &r->group[node][row];

	return want->counts != 0 && memcmp(&found[node].rgt[table][row], want, sizeof(*want)) != 0;
}

/* A row, and the group that it names. */
static bool
routes_same(const struct weft_fm_routes *r, const struct weft_fm_tables *found, unsigned int node,
	unsigned int table, unsigned int dpid)
{
	const uint8_t *want = r->want[node].entry[dpid];

	return memcmp(found[node].drt[table].entry[dpid], want, 2) == 0 &&
	       (want[0] != WEFT_DRT_RGT || !routes_group_differs(r, found, node, table, want[1]));
}

/* Whether all tables of a node have the row that they are to have. */
static bool
routes_is_written(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int dpid)
{
	for (unsigned int k = 0; k < found[node].n; k++)
		if (!routes_same(r, found, node, k, dpid))
			return false;
	return true;
}

/* Node that a port leads to, or -1. */
static int
routes_behind(const struct weft_fm_routes *r, unsigned int node, uint8_t physical)
{
	const uint16_t port = r->port_at[node * WEFT_FM_PORTS + physical];

	return port == WEFT_FM_NO_PORT ? -1 : r->graph->neighbour[port];
}

/* Node that a row that is to be leads to, or -1 for one that leads nowhere. */
static int
routes_next_node(const struct weft_fm_routes *r, unsigned int node, const uint8_t row[2])
{
	return row[0] == WEFT_DRT_INVALID ? -1 : routes_behind(r, node, row[1]);
}

#define ROUTES_PORTS (2 * WEFT_RGT_PORTS) /* that a row may lead to */

/* Ports of the graph of a group. */
static unsigned int
routes_members(const struct weft_fm_routes *r, unsigned int node, const struct weft_rgt_entry *e,
	uint16_t *port)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i <= (e->counts & 7u); i++) {
		port[n] = r->port_at[node * WEFT_FM_PORTS + e->port[i]];
		n += port[n] != WEFT_FM_NO_PORT;
	}
	return n;
}

/*
 * Ports of the graph that a row may lead to: of table k, or, behind the last, as it is to be. A row
 * of a table may meet its group before and after that is written.
 */
static unsigned int
routes_ports(const struct weft_fm_routes *r, const struct weft_fm_tables *found, unsigned int node,
	unsigned int k, unsigned int dpid, uint16_t port[ROUTES_PORTS])
{
	const bool is_new = k == found[node].n;
	const uint8_t *row = is_new ? r->want[node].entry[dpid] : found[node].drt[k].entry[dpid];
	const struct weft_rgt_entry one = { .port = { row[1] } };
	const struct weft_rgt_entry *want = &r->group[node][row[1]];
	unsigned int n = 0;

	if (row[0] == WEFT_DRT_PORT)
		return routes_members(r, node, &one, port);
	if (row[0] != WEFT_DRT_RGT)
		return 0;
	if (want->counts != 0)
		n = routes_members(r, node, want, port);
	if (!is_new && row[1] < found[node].n_groups)
		n += routes_members(r, node, &found[node].rgt[k][row[1]], port + n);
	return n;
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

enum weft_fm_way
weft_fm_routes_way(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int from, unsigned int to)
{
	const struct weft_topo *t = r->graph;
	const unsigned int at = t->neighbour[t->node[from].first_port];
	const uint16_t dpid = t->node[to].pid;

	if (r->want[at].entry[dpid][0] == WEFT_DRT_INVALID)
		return WEFT_FM_WAY_NONE;
	return routes_is_written(r, found, at, dpid) ? WEFT_FM_WAY_THERE : WEFT_FM_WAY_COMES;
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

	if (routes_same(r, found, node, table, dpid))
		return false;
	switch (phase) {
	case WEFT_FM_PHASE_DRAIN: return has;
	case WEFT_FM_PHASE_WRITE: return wants && routes_may_write(r, found, node, dpid);
	default: return !wants;
	}
}

/* Whether any group of a node is to be written. */
static bool
routes_has_groups_due(
	const struct weft_fm_routes *r, const struct weft_fm_tables *found, unsigned int node)
{
	for (unsigned int k = 0; k < found[node].n; k++)
		for (unsigned int p = 0; p < found[node].n_groups; p++)
			if (routes_group_differs(r, found, node, k, p))
				return true;
	return false;
}

enum weft_fm_phase
weft_fm_routes_phase(const struct weft_fm_routes *r, const struct weft_fm_tables *found)
{
	enum weft_fm_phase phase = WEFT_FM_PHASE_DONE;

	for (unsigned int i = 0; i < r->graph->n_nodes; i++) {
		for (unsigned int k = 0; k < found[i].n; k++) {
			for (unsigned int d = 0; d < ROWS; d++) {
				if (routes_same(r, found, i, k, d))
					continue;
				if (r->must_drain &&
					found[i].drt[k].entry[d][0] != WEFT_DRT_INVALID)
					return WEFT_FM_PHASE_DRAIN;
				if (phase == WEFT_FM_PHASE_GROUPS)
					continue;
				if (r->want[i].entry[d][0] != WEFT_DRT_INVALID)
					phase = WEFT_FM_PHASE_WRITE;
				else if (phase == WEFT_FM_PHASE_DONE)
					phase = WEFT_FM_PHASE_REMOVE;
			}
		}
		if (routes_has_groups_due(r, found, i))
			phase = WEFT_FM_PHASE_GROUPS;
	}
	return phase;
}

unsigned int
weft_fm_routes_next_groups(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int table, unsigned int *first, unsigned int max,
	const struct weft_rgt_entry **row)
{
	unsigned int p = *first, n = 0;

	while (p < found[node].n_groups && !routes_group_differs(r, found, node, table, p))
		p++;
	*first = p;
	*row = &r->group[node][p % WEFT_FM_PORTS];
	while (n < max && p + n < found[node].n_groups &&
		routes_group_differs(r, found, node, table, p + n))
		n++;
	return n;
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

/* What leaves by a port, whose next node goes on by rows of its table k. */
static void
routes_add_arc(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	struct routes_channel *channel, uint16_t port, unsigned int k, unsigned int dpid)
{
	const unsigned int next = r->graph->neighbour[port];
	uint16_t onward[ROUTES_PORTS];
	const unsigned int n = routes_ports(r, found, next, k, dpid, onward);

	for (unsigned int i = 0; i < n; i++) {
		const unsigned int number = onward[i] - r->graph->node[next].first_port;

		channel[port].goes_on[number / 64] |= WEFT_BIT64(number % 64);
	}
}

/* What a message for @dpid that leaves @node by a row of a table may wait for at the next. */
static void
routes_add_arcs(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	struct routes_channel *channel, unsigned int node, unsigned int dpid)
{
	for (unsigned int k = 0; k <= found[node].n; k++) {
		/* A new row is there only after the next node's, so it leads to no old one. */
		const bool is_new = k == found[node].n;
		uint16_t port[ROUTES_PORTS];
		const unsigned int n = routes_ports(r, found, node, k, dpid, port);

		for (unsigned int i = 0; i < n; i++) {
			const unsigned int next = r->graph->neighbour[port[i]];

			if (r->graph->node[next].pid == dpid || found[next].n == 0)
				continue;
			for (unsigned int j = is_new ? found[next].n : 0; j <= found[next].n; j++)
				routes_add_arc(r, found, channel, port[i], j, dpid);
		}
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

/* The group of a port of the graph, in physical ports: in row @p of a port @p. */
static void
routes_translate_group(struct weft_fm_routes *r, const struct weft_topo *t, unsigned int node,
	unsigned int number, unsigned int n_groups)
{
	const uint8_t *physical = r->physical + t->node[node].first_port;
	struct weft_rgt_entry *e = &r->group[node][physical[number]];
	uint8_t equal[WEFT_RGT_PORTS];
	const unsigned int n = weft_topo_equal_ports(t, node, number, equal);

	if (n == 1 || physical[number] >= n_groups)
		return;
	for (unsigned int i = 0; i < n; i++)
		e->port[i] = physical[equal[i]];
	e->counts = (uint8_t)((n - 1) | (n - 1) << 3);
}

/* What an engine has computed, in physical ports. */
static void
routes_translate(
	struct weft_fm_routes *r, const struct weft_topo *t, const struct weft_fm_tables *found)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		struct weft_drt *want = &r->want[i];

		if (!weft_topo_is_transit(t, i))
			continue;
		memset(r->group[i], 0, sizeof(r->group[i]));
		for (unsigned int p = 0; p < t->node[i].n_ports && found[i].n_groups != 0; p++)
			routes_translate_group(r, t, i, p, found[i].n_groups);
		(void)weft_topo_routes(t, i, want);
		for (unsigned int d = 0; d < ROWS; d++) {
			if (want->entry[d][0] != WEFT_DRT_PORT)
				continue;
			want->entry[d][1] = r->physical[t->node[i].first_port + want->entry[d][1]];
			if (r->group[i][want->entry[d][1]].counts != 0)
				want->entry[d][0] = WEFT_DRT_RGT;
		}
	}
}

/* Whether a group that rows name leads, as it is or as it is to be, to two nodes. */
static bool
routes_group_parts(const struct weft_fm_routes *r, const struct weft_fm_tables *found,
	unsigned int node, unsigned int table, unsigned int row)
{
	const struct weft_rgt_entry *e = &found[node].rgt[table][row];
	int to = r->group[node][row].counts == 0 ? -1 : routes_behind(r, node, (uint8_t)row);

	for (unsigned int i = 0; i <= (e->counts & 7u); i++) {
		const int next = routes_behind(r, node, e->port[i]);

		if (next >= 0 && to >= 0 && next != to)
			return true;
		to = next >= 0 ? next : to;
	}
	return false;
}

/* Cables were moved, or somebody else's groups are there: what is named may not be changed. */
static bool
routes_groups_part(const struct weft_fm_routes *r, const struct weft_fm_tables *found)
{
	for (unsigned int i = 0; i < r->graph->n_nodes; i++)
		for (unsigned int k = 0; k < found[i].n && found[i].n_groups != 0; k++)
			for (unsigned int d = 0; d < ROWS; d++) {
				const uint8_t *row = found[i].drt[k].entry[d];

				if (row[0] == WEFT_DRT_RGT && row[1] < found[i].n_groups &&
					routes_group_parts(r, found, i, k, row[1]))
					return true;
			}
	return false;
}

struct routes_choice {
	struct weft_fm_routes *r;
	const struct weft_fm_tables *found;
	bool is_out_of_memory, is_refused;
};

static bool
routes_accept(void *arg, const struct weft_topo *t)
{
	struct routes_choice *c = arg;
	int rc;

	routes_translate(c->r, t, c->found);
	rc = weft_fm_routes_check_mixed(c->r, c->found);
	c->is_out_of_memory |= rc == -ENOMEM;
	c->is_refused |= rc != 0;
	return rc == 0;
}

static int
routes_choose(struct weft_fm_routes *r, const struct weft_fm_tables *found,
	enum weft_topo_routing routing, struct weft_topo_fault *f)
{
	struct routes_choice c = { .r = r, .found = found };
	int rc = weft_topo_route(r->graph, routing, routes_accept, &c, f);

	if (c.is_out_of_memory)
		return -ENOMEM;
	if (rc == 0)
		r->must_drain = routes_groups_part(r, found);
	r->is_first = rc == 0 && !c.is_refused;
	if (rc != -EINVAL)
		return rc;
	rc = weft_topo_route(r->graph, routing, NULL, NULL, f);
	if (rc == 0) {
		r->must_drain = true;
		routes_translate(r, r->graph, found);
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

	*r = (struct weft_fm_routes){ .asked = (uint8_t)routing };
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
	r->group = calloc(n_nodes + 1u, sizeof(*r->group));
	r->physical = calloc(2u * n_links + 1u, sizeof(*r->physical));
	r->port_at = calloc(n_nodes + 1u, WEFT_FM_PORTS * sizeof(*r->port_at));
	r->n_groups = calloc(n_nodes + 1u, sizeof(*r->n_groups));
	rc = -ENOMEM;
	for (unsigned int i = 0; r->n_groups != NULL && i < n_nodes; i++)
		r->n_groups[i] = (uint16_t)found[i].n_groups;
	if (r->want != NULL && r->group != NULL && r->physical != NULL && r->port_at != NULL &&
		r->n_groups != NULL)
		rc = routes_map_ports(r, link, n_links);
	if (rc == 0)
		rc = routes_choose(r, found, routing, f);
	if (rc != 0)
		weft_fm_routes_free(r);
	return rc;
}

/* Names are for messages alone. */
static bool
routes_is_node(const struct weft_fm_routes *r, unsigned int i,
	const struct weft_topo_graph_node *node, const struct weft_fm_tables *found)
{
	const struct weft_topo_node *n = &r->graph->node[i];

	return n->kind == node->kind && n->pid == node->pid && n->n_at == node->n_at &&
	       memcmp(n->at, node->at, sizeof(n->at)) == 0 && r->n_groups[i] == found->n_groups;
}

static bool
routes_is_link(const struct weft_fm_routes *r, unsigned int i, const struct weft_fm_link *link)
{
	const uint16_t end[2] = { r->graph->link[i].a, r->graph->link[i].b };

	for (unsigned int e = 0; e < 2; e++)
		if (r->graph->port[end[e]].node != link->node[e] ||
			r->physical[end[e]] != link->port[e])
			return false;
	return true;
}

bool
weft_fm_routes_stay(const struct weft_fm_routes *r, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_fm_link *link, unsigned int n_links,
	const struct weft_fm_tables *found, enum weft_topo_routing routing)
{
	if (!r->is_first || r->asked != routing || r->graph->n_nodes != n_nodes ||
		r->graph->n_links != n_links)
		return false;
	for (unsigned int i = 0; i < n_nodes; i++)
		if (!routes_is_node(r, i, &node[i], &found[i]))
			return false;
	for (unsigned int i = 0; i < n_links; i++)
		if (!routes_is_link(r, i, &link[i]))
			return false;
	return !r->must_drain && weft_fm_routes_phase(r, found) == WEFT_FM_PHASE_DONE;
}

void
weft_fm_routes_free(struct weft_fm_routes *r)
{
	weft_topo_free(r->graph);
	free(r->want);
	free(r->group);
	free(r->physical);
	free(r->port_at);
	free(r->n_groups);
	*r = (struct weft_fm_routes){ 0 };
}
