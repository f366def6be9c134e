/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routes of meshes (fabric.md section 3.3). Dimension order, for grids, hypercubes and HyperX:
 * switches say where they are, the first coordinate that differs is put right first, by hops that
 * come nearer and never pass by; so a wrap-around link is taken only as the whole way. Rising
 * order, for a full mesh that lacks links: a pair without a link takes one detour, whose second
 * hop has the greater key.
 */

#include <errno.h>
#include <stdio.h>

#include "topo_priv.h"

static unsigned int
mesh_peer(const struct weft_topo *t, unsigned int node, unsigned int number)
{
	return t->neighbour[t->node[node].first_port + number];
}

/* Lowest port of @from that leads to @to, or WEFT_TOPO_NO_ROUTE. */
static uint8_t
mesh_link_to(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	for (unsigned int n = 0; n < t->node[from].n_ports; n++)
		if (mesh_peer(t, from, n) == to)
			return (uint8_t)n;
	return WEFT_TOPO_NO_ROUTE;
}

/* Hop along dimension @d, or 0 if it is not one, or passes by: how near it comes. */
static unsigned int
mesh_stride(const struct weft_topo_node *here, const struct weft_topo_node *next,
	const struct weft_topo_node *end, unsigned int d)
{
	const int a = here->at[d], b = next->at[d], c = end->at[d];

	for (unsigned int i = 0; i < here->n_at; i++)
		if (i != d && here->at[i] != next->at[i])
			return 0;
	if (a < c)
		return b > a && b <= c ? (unsigned int)(b - a) : 0;
	return b < a && b >= c ? (unsigned int)(a - b) : 0;
}

static uint8_t
mesh_dimension_port(const struct weft_topo *t, unsigned int here, unsigned int end)
{
	const struct weft_topo_node *node = t->node;
	uint8_t best = WEFT_TOPO_NO_ROUTE;
	unsigned int most = 0, d = 0;

	while (node[here].at[d] == node[end].at[d])
		d++;
	for (unsigned int n = 0; n < node[here].n_ports; n++) {
		unsigned int next = mesh_peer(t, here, n);
		unsigned int step = node[next].kind == WEFT_TOPO_SWITCH
		                            ? mesh_stride(&node[here], &node[next], &node[end], d)
		                            : 0;

		if (step > most) {
			most = step;
			best = (uint8_t)n;
		}
	}
	return best;
}

/* The PBR switch that a node is, or hangs at through HBR switches or none. */
static unsigned int
mesh_switch(const struct weft_topo *t, const struct topo_hops *h)
{
	unsigned int best = 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (t->node[i].kind == WEFT_TOPO_SWITCH &&
			(t->node[best].kind != WEFT_TOPO_SWITCH || h->hop[i] < h->hop[best]))
			best = i;
	return best;
}

/* What is no PBR switch is a tree below one: there the shortest way is the only one. */
static void
mesh_fill_column(struct weft_topo *t, unsigned int to)
{
	struct topo_hops hops;
	unsigned int end;

	topo_hops_to(t, to, &hops);
	end = mesh_switch(t, &hops);
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const bool is_pbr = t->node[i].kind == WEFT_TOPO_SWITCH;

		if (!is_pbr || (i == end && to != end))
			*topo_route_at(t, i, to) = (uint8_t)topo_nearer_port(t, i, &hops);
		else if (to != end && hops.hop[i] != UINT16_MAX)
			*topo_route_at(t, i, to) = *topo_route_at(t, i, end);
	}
}

/* All rows: between PBR switches by @toward. */
static void
mesh_fill_rows(struct weft_topo *t,
	uint8_t (*toward)(const struct weft_topo *, unsigned int, unsigned int))
{
	for (unsigned int here = 0; here < t->n_nodes; here++) {
		if (t->node[here].kind != WEFT_TOPO_SWITCH)
			continue;
		for (unsigned int end = 0; end < t->n_nodes; end++) {
			if (end == here || t->node[end].kind != WEFT_TOPO_SWITCH)
				continue;
			*topo_route_at(t, here, end) = toward(t, here, end);
		}
	}
	for (unsigned int to = 0; to < t->n_nodes; to++)
		mesh_fill_column(t, to);
}

int
topo_route_dimension(struct weft_topo *t, struct weft_topo_fault *f)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		if (t->node[i].kind != WEFT_TOPO_SWITCH || t->node[i].n_at != 0)
			continue;
		snprintf(f->text, sizeof(f->text), "no \"at\" for switch %s", t->node[i].name);
		return -EINVAL;
	}
	mesh_fill_rows(t, mesh_dimension_port);
	return 0;
}

/* Key of the hop from one switch to another; ties go by where it starts. */
static unsigned int
mesh_rising_key(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	const unsigned int n = t->n_switches, a = t->node[from].order, b = t->node[to].order;

	return (b + n - a) % n * n + a;
}

static uint8_t
mesh_rising_port(const struct weft_topo *t, unsigned int here, unsigned int end)
{
	uint8_t port = mesh_link_to(t, here, end);

	for (unsigned int n = 0; port == WEFT_TOPO_NO_ROUTE && n < t->node[here].n_ports; n++) {
		unsigned int by = mesh_peer(t, here, n);

		if (t->node[by].kind == WEFT_TOPO_SWITCH &&
			mesh_link_to(t, by, end) != WEFT_TOPO_NO_ROUTE &&
			mesh_rising_key(t, here, by) < mesh_rising_key(t, by, end))
			port = (uint8_t)n;
	}
	return port;
}

int
topo_route_rising(struct weft_topo *t, struct weft_topo_fault *f)
{
	(void)f;
	mesh_fill_rows(t, mesh_rising_port);
	return 0;
}
