/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The fabric as a graph: shortest paths through switches, what the routes say, frame sizes along
 * them and the addresses of GFDs (fabric.md sections 1.2 and 1.10, encapsulation.md section 2). Of
 * several shortest paths the port with the lowest number wins; nothing here or in the other engines
 * is left to chance, so every daemon with the same file finds the same routes.
 */

#include <errno.h>

#include "weft_pbr.h"
#include "weft_wire.h"

#include "topo_priv.h"

#define NO_HOPS UINT16_MAX

int
weft_topo_find(const struct weft_topo *t, const char *name)
{
	for (int i = 0; i < t->n_nodes; i++) {
		if (strcmp(t->node[i].name, name) == 0)
			return i;
	}
	return -ENOENT;
}

int
weft_topo_neighbour(const struct weft_topo *t, unsigned int node, unsigned int number)
{
	if (node >= t->n_nodes || number >= t->node[node].n_ports)
		return -ENOENT;
	return t->neighbour[t->node[node].first_port + number];
}

/* Breadth first from the destination; only it and switches let anybody in. */
void
topo_hops_to(const struct weft_topo *t, unsigned int node, struct topo_hops *h)
{
	uint16_t queue[WEFT_TOPO_NODES];
	unsigned int head = 0;
	unsigned int tail = 0;

	memset(h->hop, 0xff, sizeof(h->hop));
	h->hop[node] = 0;
	queue[tail++] = (uint16_t)node;
	while (head < tail) {
		unsigned int here = queue[head++];

		if (here != node && !weft_topo_is_transit(t, here))
			continue;
		for (unsigned int n = 0; n < t->node[here].n_ports; n++) {
			unsigned int next = (unsigned int)weft_topo_neighbour(t, here, n);

			if (h->hop[next] != NO_HOPS)
				continue;
			h->hop[next] = (uint16_t)(h->hop[here] + 1);
			queue[tail++] = (uint16_t)next;
		}
	}
}

int
topo_nearer_port(const struct weft_topo *t, unsigned int node, const struct topo_hops *h)
{
	if (h->hop[node] == NO_HOPS || h->hop[node] == 0)
		return -1;
	for (unsigned int n = 0; n < t->node[node].n_ports; n++) {
		unsigned int next = (unsigned int)weft_topo_neighbour(t, node, n);
		bool lets_in = h->hop[next] == 0 || weft_topo_is_transit(t, next);

		if (lets_in && h->hop[next] + 1 == h->hop[node])
			return (int)n;
	}
	return -1;
}

bool
weft_topo_is_transit(const struct weft_topo *t, unsigned int node)
{
	return t->node[node].kind == WEFT_TOPO_SWITCH || t->node[node].kind == WEFT_TOPO_HBR;
}

uint8_t *
topo_route_at(struct weft_topo *t, unsigned int node, unsigned int to)
{
	return &t->route[(size_t)node * t->n_nodes + to];
}

/* An end has one way out: to its switch's destinations, or to the end that it is joined to. */
void
topo_route_ends(struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		unsigned int next;

		if (weft_topo_is_transit(t, i) || t->node[i].n_ports == 0)
			continue;
		next = (unsigned int)weft_topo_neighbour(t, i, 0);
		for (unsigned int to = 0; to < t->n_nodes; to++)
			if (to == next || (to != i && weft_topo_is_transit(t, next) &&
						  topo_next_port(t, next, to) >= 0))
				*topo_route_at(t, i, to) = 0;
	}
}

int
topo_route_shortest(struct weft_topo *t, struct weft_topo_fault *f)
{
	struct topo_hops hops;

	(void)f;
	for (unsigned int to = 0; to < t->n_nodes; to++) {
		topo_hops_to(t, to, &hops);
		for (unsigned int i = 0; i < t->n_nodes; i++)
			*topo_route_at(t, i, to) = (uint8_t)topo_nearer_port(t, i, &hops);
	}
	return 0;
}

int
topo_next_port(const struct weft_topo *t, unsigned int node, unsigned int to)
{
	uint8_t port = t->route[(size_t)node * t->n_nodes + to];

	return port == WEFT_TOPO_NO_ROUTE ? -1 : port;
}

static int
graph_find_pid(const struct weft_topo *t, uint16_t pid)
{
	for (int i = 0; i < t->n_nodes; i++) {
		if (t->node[i].pid == pid)
			return i;
	}
	return -1;
}

int
weft_topo_next_port(const struct weft_topo *t, unsigned int node, uint16_t dpid)
{
	int to = graph_find_pid(t, dpid);

	if (node >= t->n_nodes || to < 0)
		return -1;
	return topo_next_port(t, node, (unsigned int)to);
}

int
weft_topo_routes(const struct weft_topo *t, unsigned int node, struct weft_drt *drt)
{
	if (node >= t->n_nodes)
		return -EINVAL;
	memset(drt, 0, sizeof(*drt));
	for (unsigned int to = 0; to < t->n_nodes; to++)
		weft_drt_set(drt, t->node[to].pid, topo_next_port(t, node, to));
	for (unsigned int i = 0; i < t->n_bindings; i++)
		if (t->binding[i].pid != WEFT_TOPO_NO_PID)
			weft_drt_set(drt, t->binding[i].pid,
				topo_next_port(t, node, t->binding[i].device_switch));
	return 0;
}

int
weft_topo_routes_to(const struct weft_topo *t, unsigned int to, int16_t *port)
{
	if (to >= t->n_nodes)
		return -EINVAL;
	for (unsigned int i = 0; i < t->n_nodes; i++)
		port[i] = (int16_t)topo_next_port(t, i, to);
	return 0;
}

unsigned int
weft_topo_port_flits(const struct weft_topo *t, unsigned int port)
{
	unsigned int mine = t->port[port].mtu;
	unsigned int theirs = t->port[t->port[port].peer].mtu;
	unsigned int least = mine < theirs ? mine : theirs;

	return WEFT_WIRE_FLITS_FOR_MTU(least);
}

unsigned int
weft_topo_link_flits(const struct weft_topo *t, unsigned int port)
{
	return t->flits_per_frame != 0 ? t->flits_per_frame : weft_topo_port_flits(t, port);
}

uint16_t
weft_topo_port_spid(const struct weft_topo *t, unsigned int port)
{
	const struct weft_topo_node *n = &t->node[t->neighbour[port]];

	return n->kind == WEFT_TOPO_SWITCH ? WEFT_TOPO_ANY_SPID : n->pid;
}

/* Smallest frame on the way from one node to another, 0 if there is no way. */
static unsigned int
graph_way_flits(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	unsigned int least = WEFT_WIRE_FLITS_MAX;

	while (from != to) {
		const int number = topo_next_port(t, from, to);
		unsigned int fits;

		if (number < 0)
			return 0;
		fits = weft_topo_port_flits(t, t->node[from].first_port + (unsigned int)number);
		least = fits < least ? fits : least;
		from = (unsigned int)weft_topo_neighbour(t, from, (unsigned int)number);
	}
	return least;
}

unsigned int
weft_topo_path_flits(const struct weft_topo *t, unsigned int host, unsigned int gfd)
{
	unsigned int there, back;

	if (host >= t->n_nodes || gfd >= t->n_nodes || host == gfd)
		return 0;
	/* The ways there and back may differ. */
	there = graph_way_flits(t, host, gfd);
	back = graph_way_flits(t, gfd, host);
	if (there != 0 && t->flits_per_frame != 0)
		return t->flits_per_frame;
	return there < back ? there : back;
}

uint64_t
weft_topo_hpa(const struct weft_topo *t, unsigned int gfd_index)
{
	if (gfd_index >= t->n_gfds)
		return 0;
	for (unsigned int s = 0; s < t->map.n_segments; s++) {
		const struct weft_topo_segment *segment = &t->map.segment[s];

		for (uint32_t w = 0; w < 1u << segment->ways_log2; w++)
			if (t->map.target[segment->first_target + w].node == t->gfd[gfd_index])
				return segment->base;
	}
	return 0;
}
