/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From links between names to numbered ports of nodes. A switch numbers its ports in the order of
 * its links in the file; a host GFD or device has exactly one, so no path can lead through it.
 */

#include <errno.h>
#include <stdlib.h>

#include "topo_priv.h"

static int
join_resolve_end(struct topo_load *l, unsigned int link, unsigned int end)
{
	struct topo_link_src *src = &l->link[link];
	unsigned int line = src->line_of[end == 0 ? LINK_A : LINK_B];
	int node = weft_topo_find(&l->t, src->name[end]);

	topo_where(l, "links[%u].%c", link, "ab"[end]);
	if (node < 0)
		return topo_fail(l, -EINVAL, line,
			"unknown node, expected a name under nodes, got \"%s\"", src->name[end]);
	if (end == 1 && node == src->end[0].node)
		return topo_fail(l, -EINVAL, line,
			"link to itself, expected a node other than a, got \"%s\"", src->name[end]);
	src->end[end].node = (uint16_t)node;
	if (src->end[end].line_of[PORT_SELF] == 0)
		src->end[end].line_of[PORT_SELF] = src->line_of[LINK_SELF];
	return 0;
}

/* Line of the first link of @node: it has one when this is asked. */
static unsigned int
join_first_link_line(const struct topo_load *l, unsigned int node)
{
	unsigned int i = 0;

	while (l->link[i].end[0].node != node && l->link[i].end[1].node != node)
		i++;
	return l->link[i].line_of[0];
}

static int
join_count_port(struct topo_load *l, unsigned int link, unsigned int end)
{
	struct topo_link_src *src = &l->link[link];
	unsigned int line = src->line_of[end == 0 ? LINK_A : LINK_B];
	struct weft_topo_node *node = &l->t.node[src->end[end].node];

	topo_where(l, "links[%u].%c", link, "ab"[end]);
	if (!weft_topo_is_transit(&l->t, src->end[end].node) && node->n_ports == 1)
		return topo_fail(l, -EINVAL, line,
			"second link of %s %s, expected exactly one, got another after line %u",
			weft_topo_kind_words[node->kind], node->name,
			join_first_link_line(l, src->end[end].node));
	if (node->n_ports == WEFT_TOPO_SWITCH_PORTS)
		return topo_fail(l, -EINVAL, line,
			"too many links of switch %s, expected at most %d, got one more",
			node->name, WEFT_TOPO_SWITCH_PORTS);
	node->n_ports++;
	return 0;
}

static int
join_check_linked(struct topo_load *l)
{
	for (unsigned int i = 0; i < l->t.n_nodes; i++) {
		const struct weft_topo_node *node = &l->t.node[i];

		if (weft_topo_is_transit(&l->t, i) || node->n_ports == 1)
			continue;
		topo_where(l, "nodes[%u]", i);
		return topo_fail(l, -EINVAL, l->node[i].line_of[0],
			"%s %s has no link, expected exactly one, got none",
			weft_topo_kind_words[node->kind], node->name);
	}
	return 0;
}

/* Ports stand by node; each node takes its own in the order of the links. */
static int
join_make_ports(struct weft_topo *t, const struct topo_link_src *src)
{
	uint16_t taken[WEFT_TOPO_NODES] = { 0 };

	t->n_ports = (uint16_t)(2 * t->n_links);
	t->port = calloc(t->n_ports, sizeof(*t->port));
	t->link = calloc(t->n_links, sizeof(*t->link));
	t->neighbour = calloc(t->n_ports, sizeof(*t->neighbour));
	if (t->port == NULL || t->link == NULL || t->neighbour == NULL)
		return -ENOMEM;
	for (unsigned int i = 1; i < t->n_nodes; i++)
		t->node[i].first_port =
			(uint16_t)(t->node[i - 1].first_port + t->node[i - 1].n_ports);
	for (unsigned int i = 0; i < t->n_links; i++) {
		uint16_t index[2];

		for (unsigned int e = 0; e < 2; e++) {
			uint16_t node = src[i].end[e].node;

			index[e] = (uint16_t)(t->node[node].first_port + taken[node]++);
			t->port[index[e]].node = node;
			t->port[index[e]].link = (uint16_t)i;
		}
		t->port[index[0]].peer = index[1];
		t->port[index[1]].peer = index[0];
		t->neighbour[index[0]] = src[i].end[1].node;
		t->neighbour[index[1]] = src[i].end[0].node;
		t->link[i] = (struct weft_topo_link){ .a = index[0], .b = index[1] };
	}
	return 0;
}

int
topo_join(struct topo_load *l)
{
	int rc = 0;

	for (unsigned int i = 0; i < l->t.n_links && rc == 0; i++) {
		for (unsigned int e = 0; e < 2 && rc == 0; e++)
			rc = join_resolve_end(l, i, e);
	}
	for (unsigned int i = 0; i < l->t.n_links && rc == 0 && l->n_findings == 0; i++) {
		for (unsigned int e = 0; e < 2 && rc == 0; e++)
			rc = join_count_port(l, i, e);
	}
	if (rc == 0 && l->n_findings == 0)
		rc = join_check_linked(l);
	return rc == 0 && l->n_findings == 0 ? join_make_ports(&l->t, l->link) : rc;
}
