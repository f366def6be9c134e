/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A topology made of a graph: what engines and the checker of routes read, and nothing else. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo_priv.h"
#include "weft_topo_graph.h"

static int
graph_new_check(const struct weft_topo_graph_node *node, unsigned int n_nodes,
	const struct weft_topo_graph_link *link, unsigned int n_links)
{
	if (n_nodes > WEFT_TOPO_NODES || n_links > WEFT_TOPO_LINKS)
		return -EFBIG;
	for (unsigned int i = 0; i < n_nodes; i++)
		if (node[i].kind > WEFT_TOPO_HBR || node[i].pid >= WEFT_TOPO_NO_PID ||
			node[i].n_at > WEFT_TOPO_DIMENSIONS)
			return -EINVAL;
	for (unsigned int i = 0; i < n_links; i++)
		if (link[i].a >= n_nodes || link[i].b >= n_nodes || link[i].a == link[i].b)
			return -EINVAL;
	return 0;
}

static void
graph_new_nodes(struct weft_topo *t, const struct weft_topo_graph_node *node)
{
	uint16_t order[WEFT_TOPO_HBR + 1] = { 0 };

	for (unsigned int i = 0; i < t->n_nodes; i++) {
		struct weft_topo_node *n = &t->node[i];

		n->kind = node[i].kind;
		n->pid = node[i].pid;
		n->order = order[node[i].kind]++;
		n->n_at = node[i].n_at;
		memcpy(n->at, node[i].at, sizeof(n->at));
		snprintf(n->name, sizeof(n->name), "%s", node[i].name);
	}
	t->n_switches = order[WEFT_TOPO_SWITCH];
}

static int
graph_new_ports(struct weft_topo *t, const struct weft_topo_graph_link *link, unsigned int n_links)
{
	uint16_t first = 0;

	for (unsigned int i = 0; i < n_links; i++) {
		t->node[link[i].a].n_ports++;
		t->node[link[i].b].n_ports++;
	}
	for (unsigned int i = 0; i < t->n_nodes; i++) {
		struct weft_topo_node *n = &t->node[i];

		if (weft_topo_is_transit(t, i) ? n->n_ports > WEFT_TOPO_SWITCH_PORTS
					       : n->n_ports != 1)
			return -EINVAL;
		n->first_port = first;
		first = (uint16_t)(first + n->n_ports);
		n->n_ports = 0;
	}
	for (uint16_t i = 0; i < n_links; i++) {
		const uint16_t end[2] = { link[i].a, link[i].b };
		uint16_t port[2];

		for (unsigned int e = 0; e < 2; e++) {
			struct weft_topo_node *n = &t->node[end[e]];

			port[e] = (uint16_t)(n->first_port + n->n_ports++);
		}
		t->link[i] = (struct weft_topo_link){ port[0], port[1] };
		for (unsigned int e = 0; e < 2; e++) {
			struct weft_topo_port *p = &t->port[port[e]];

			p->node = end[e];
			p->link = i;
			p->peer = port[1 - e];
			t->neighbour[port[e]] = end[1 - e];
		}
	}
	return 0;
}

int
weft_topo_graph_new(struct weft_topo **out, const struct weft_topo_graph_node *node,
	unsigned int n_nodes, const struct weft_topo_graph_link *link, unsigned int n_links)
{
	struct weft_topo *t;
	int rc = graph_new_check(node, n_nodes, link, n_links);

	*out = NULL;
	if (rc != 0)
		return rc;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	t->n_nodes = (uint16_t)n_nodes;
	t->n_links = (uint16_t)n_links;
	t->n_ports = (uint16_t)(2 * n_links);
	/* One more, so that none is asked for nothing. */
	t->node = calloc(n_nodes + 1u, sizeof(*t->node));
	t->link = calloc(n_links + 1u, sizeof(*t->link));
	t->port = calloc(2u * n_links + 1u, sizeof(*t->port));
	t->neighbour = calloc(2u * n_links + 1u, sizeof(*t->neighbour));
	rc = -ENOMEM;
	if (t->node != NULL && t->link != NULL && t->port != NULL && t->neighbour != NULL) {
		graph_new_nodes(t, node);
		rc = graph_new_ports(t, link, n_links);
	}
	if (rc != 0) {
		weft_topo_free(t);
		return rc;
	}
	*out = t;
	return 0;
}
