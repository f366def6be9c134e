/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The fabric as a graph: shortest paths through switches, the ports that follow from them, frame
 * sizes along a path and the addresses of GFDs (fabric.md sections 1.2 and 1.10, encapsulation.md
 * section 2). Everything is computed on demand from the loaded arrays; a tie goes to the port with
 * the lowest number, so every daemon with the same file finds the same paths.
 */

#include <errno.h>
#include <string.h>

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
	return t->port[t->port[t->node[node].first_port + number].peer].node;
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

		if (here != node && t->node[here].kind != WEFT_TOPO_SWITCH)
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

/* Lowest port of @node that leads one hop nearer, or -1. */
static int
nearer_port(const struct weft_topo *t, unsigned int node, const struct topo_hops *h)
{
	if (h->hop[node] == NO_HOPS || h->hop[node] == 0)
		return -1;
	for (unsigned int n = 0; n < t->node[node].n_ports; n++) {
		unsigned int next = (unsigned int)weft_topo_neighbour(t, node, n);
		bool lets_in = h->hop[next] == 0 || t->node[next].kind == WEFT_TOPO_SWITCH;

		if (lets_in && h->hop[next] + 1 == h->hop[node])
			return (int)n;
	}
	return -1;
}

static int
find_pid(const struct weft_topo *t, uint16_t pid)
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
	struct topo_hops hops;
	int to = find_pid(t, dpid);

	if (node >= t->n_nodes || to < 0)
		return -1;
	topo_hops_to(t, (unsigned int)to, &hops);
	return nearer_port(t, node, &hops);
}

int
weft_topo_routes(const struct weft_topo *t, unsigned int node, struct weft_drt *drt)
{
	struct topo_hops hops;

	if (node >= t->n_nodes)
		return -EINVAL;
	memset(drt, 0, sizeof(*drt));
	for (unsigned int to = 0; to < t->n_nodes; to++) {
		topo_hops_to(t, to, &hops);
		weft_drt_set(drt, t->node[to].pid, nearer_port(t, node, &hops));
	}
	return 0;
}

int
weft_topo_routes_to(const struct weft_topo *t, unsigned int to, int16_t *port)
{
	struct topo_hops hops;

	if (to >= t->n_nodes)
		return -EINVAL;
	topo_hops_to(t, to, &hops);
	for (unsigned int i = 0; i < t->n_nodes; i++)
		port[i] = (int16_t)nearer_port(t, i, &hops);
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

/* Smallest frame on the way from one node to another, 0 if there is no way. */
static unsigned int
way_flits(const struct weft_topo *t, unsigned int from, unsigned int to)
{
	unsigned int least = WEFT_WIRE_FLITS_MAX;
	struct topo_hops hops;

	topo_hops_to(t, to, &hops);
	if (hops.hop[from] == NO_HOPS)
		return 0;
	while (from != to) {
		unsigned int number = (unsigned int)nearer_port(t, from, &hops);
		unsigned int fits = weft_topo_port_flits(t, t->node[from].first_port + number);

		least = fits < least ? fits : least;
		from = (unsigned int)weft_topo_neighbour(t, from, number);
	}
	return least;
}

unsigned int
weft_topo_path_flits(const struct weft_topo *t, unsigned int host, unsigned int gfd)
{
	unsigned int there, back;

	if (host >= t->n_nodes || gfd >= t->n_nodes || host == gfd)
		return 0;
	/* With several shortest paths the ways there and back may differ. */
	there = way_flits(t, host, gfd);
	back = way_flits(t, gfd, host);
	if (there != 0 && t->flits_per_frame != 0)
		return t->flits_per_frame;
	return there < back ? there : back;
}

uint64_t
weft_topo_hpa(const struct weft_topo *t, unsigned int gfd_index)
{
	if (gfd_index >= t->n_gfds)
		return 0;
	return WEFT_TOPO_FAST_BASE + ((uint64_t)gfd_index << WEFT_TOPO_SEGMENT_LOG2);
}
