/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Several links between the same two switches (fabric.md section 1.10). For every destination each
 * is as good as the others: so destinations are dealt out to them, and a routing group may name
 * all. Then a message waits for any of them, and proofs of routes have to take them for one.
 */

#include "topo_priv.h"
#include "weft_topo_graph.h"

static bool
equal_is_between_switches(const struct weft_topo *t, unsigned int port)
{
	return t->node[t->port[port].node].kind == WEFT_TOPO_SWITCH &&
	       t->node[t->neighbour[port]].kind == WEFT_TOPO_SWITCH;
}

/* Of two ports of a switch. */
static bool
equal_is_equal(const struct weft_topo *t, unsigned int a, unsigned int b)
{
	return equal_is_between_switches(t, a) && t->neighbour[a] == t->neighbour[b] &&
	       weft_topo_port_flits(t, a) == weft_topo_port_flits(t, b);
}

unsigned int
weft_topo_equal_ports(const struct weft_topo *t, unsigned int node, unsigned int number,
	uint8_t equal[WEFT_RGT_PORTS])
{
	const unsigned int first = t->node[node].first_port, n_ports = t->node[node].n_ports;
	const unsigned int port = first + number;
	unsigned int n = 0;

	equal[n++] = (uint8_t)number;
	if (!equal_is_between_switches(t, port))
		return n;
	for (unsigned int k = 1; k < n_ports && n < WEFT_RGT_PORTS; k++) {
		const unsigned int other = (number + k) % n_ports;

		if (equal_is_equal(t, port, first + other))
			equal[n++] = (uint8_t)other;
	}
	return n;
}

void
topo_equal_lowest(const struct weft_topo *t, uint8_t *lowest)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		const unsigned int first = t->node[i].first_port;

		for (unsigned int p = 0; p < t->node[i].n_ports; p++) {
			unsigned int k = 0;

			while (k < p && !equal_is_equal(t, first + p, first + k))
				k++;
			lowest[first + p] = (uint8_t)k;
		}
	}
}

/* The port that a destination is dealt to, by the port that the engine chose. */
static uint8_t
equal_deal(const struct weft_topo *t, unsigned int node, uint8_t chosen, unsigned int to)
{
	uint8_t equal[WEFT_RGT_PORTS];
	const unsigned int n = weft_topo_equal_ports(t, node, chosen, equal);
	unsigned int lowest = 0;

	for (unsigned int i = 1; i < n; i++)
		if (equal[i] < equal[lowest])
			lowest = i;
	return equal[(lowest + t->node[to].order) % n];
}

static bool
equal_has_any(const struct weft_topo *t, unsigned int node)
{
	uint8_t equal[WEFT_RGT_PORTS];

	for (unsigned int p = 0; p < t->node[node].n_ports; p++)
		if (weft_topo_equal_ports(t, node, p, equal) > 1)
			return true;
	return false;
}

void
topo_route_equal(struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		if (t->node[i].kind != WEFT_TOPO_SWITCH || !equal_has_any(t, i))
			continue;
		for (unsigned int to = 0; to < t->n_nodes; to++) {
			uint8_t *port = topo_route_at(t, i, to);

			if (*port != WEFT_TOPO_NO_ROUTE)
				*port = equal_deal(t, i, *port, to);
		}
	}
}

unsigned int
weft_topo_groups(const struct weft_topo *t, unsigned int node, struct weft_drt *drt,
	struct weft_rgt_entry rgt[WEFT_RGT_ROWS])
{
	uint8_t equal[WEFT_RGT_PORTS];
	unsigned int n_groups = 0;

	memset(rgt, 0, WEFT_RGT_ROWS * sizeof(*rgt));
	for (unsigned int p = 0; p < t->node[node].n_ports; p++) {
		const unsigned int n = weft_topo_equal_ports(t, node, p, equal);

		if (n == 1)
			continue;
		memcpy(rgt[p].port, equal, n);
		rgt[p].counts = (uint8_t)((n - 1) | (n - 1) << 3);
		n_groups++;
	}
	for (unsigned int d = 0; n_groups != 0 && d < WEFT_PID_RESERVED; d++)
		if (drt->entry[d][0] == WEFT_DRT_PORT && rgt[drt->entry[d][1]].counts != 0)
			drt->entry[d][0] = WEFT_DRT_RGT;
	return n_groups;
}
