/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The graph of what was found: components that are ours, hosts at ports, and links that both ends
 * report (fabric.md sections 6.3, 6.4). Nodes stand in the order of the intent, others after them.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fm_priv.h"

bool
fm_is_usable(const struct fm_component *c)
{
	return c->state == WEFT_FM_READY || (c->state == WEFT_FM_READING && c->was_ready);
}

int
fm_find_id(const struct weft_fm *fm, const uint8_t id[16], uint32_t except)
{
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];

		if (i != except && c->has_id && c->state != WEFT_FM_ABSENT &&
			c->state != WEFT_FM_QUARANTINED && memcmp(c->id, id, sizeof(c->id)) == 0)
			return (int)i;
	}
	return -1;
}

/* In the making: which node a path or a host is, and whether a link leads to it. */
struct graph_build {
	struct weft_fm *fm;
	uint16_t *node_of; /* by path, then by host; FM_NO_LINK: none */
	uint32_t n_links;
};

static bool
graph_is_wanted(const struct weft_fm *fm, const struct fm_component *c)
{
	const struct weft_fm_node *n;

	if (!fm_is_usable(c) || c->kind == WEFT_TOPO_HOST)
		return false;
	n = fm_intent_of(fm, c->path);
	return n == NULL || (!n->is_drained && n->kind == c->kind);
}

static void
graph_tell(struct weft_fm *fm, const struct fm_component *c, unsigned int port,
	enum fm_cabling cabling)
{
	static const char *const text[] = {
		[FM_CABLING_SELF] = "leads to the switch itself, which is not allowed",
		[FM_CABLING_ONE_WAY] = "is not reported by the other end",
		[FM_CABLING_UNKNOWN] = "leads to a component that no path of the manager leads to",
	};
	struct fm_port *p = &c->sw->port[port];

	if (p->told == cabling)
		return;
	p->told = (uint8_t)cabling;
	if (cabling != FM_CABLING_FINE)
		fm_event(fm, WEFT_FM_EVENT_LINK, c, 0, "port %u %s: left out", port, text[cabling]);
}

/* What is at the other end of a port: a path, or -1 with the reason told. */
static int
graph_far_end(struct weft_fm *fm, const struct fm_component *c, unsigned int port)
{
	const struct fm_port *p = &c->sw->port[port];
	const struct fm_component *far;
	const struct fm_port *back;
	int path;

	if (!p->is_up || !p->has_partner)
		return -1;
	if (memcmp(p->far_id, c->id, sizeof(c->id)) == 0) {
		graph_tell(fm, c, port, FM_CABLING_SELF);
		return -1;
	}
	path = fm_find_id(fm, p->far_id, c->path);
	if (path < 0) {
		graph_tell(fm, c, port, FM_CABLING_UNKNOWN);
		return -1;
	}
	far = &fm->component[path];
	if (!graph_is_wanted(fm, far))
		return -1;
	back = far->sw == NULL ? NULL : &far->sw->port[p->far_port];
	if (back != NULL && (!back->is_up || !back->has_partner || back->far_port != port ||
				    memcmp(back->far_id, c->id, sizeof(c->id)) != 0)) {
		graph_tell(fm, c, port, FM_CABLING_ONE_WAY);
		return -1;
	}
	graph_tell(fm, c, port, FM_CABLING_FINE);
	return path;
}

static void
graph_add_node(struct graph_build *b, uint32_t path, uint16_t host)
{
	struct weft_fm *fm = b->fm;
	uint16_t *at = &b->node_of[path != WEFT_FM_NO_PATH ? path : fm->cfg.n_paths + host];

	if (*at != FM_NO_LINK || fm->n_nodes == WEFT_TOPO_NODES)
		return;
	*at = fm->n_nodes;
	fm->node[fm->n_nodes++] = (struct fm_graph_node){ path, host };
}

/* Index of the host at a port that has one which may be used, or -1. */
static int
graph_host(struct weft_fm *fm, const struct fm_component *c, unsigned int port)
{
	const struct weft_fm_node *n;
	int host;

	if (!c->sw->port[port].is_up || !c->sw->port[port].is_host)
		return -1;
	n = fm_intent_of_host(fm, c->path, (uint8_t)port);
	if (n == NULL ? fm->intent->is_closed : n->is_drained)
		return -1;
	host = fm_host_at(fm, c->path, (uint8_t)port);
	return host < 0 || fm->host[host].want_pid == WEFT_FM_NO_PID ? -1 : host;
}

/* Every end needs a link: GFDs are nodes once a port leads to them. */
static void
graph_note_ends(struct graph_build *b)
{
	struct weft_fm *fm = b->fm;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];

		for (unsigned int p = 0;
			graph_is_wanted(fm, c) && c->sw != NULL && p < WEFT_FM_PORTS; p++) {
			const int far = graph_far_end(fm, c, p);
			const int host = graph_host(fm, c, p);

			c->sw->port[p].link = FM_NO_LINK;
			if (far >= 0 && fm->component[far].kind == WEFT_TOPO_GFD)
				graph_add_node(b, (uint32_t)far, 0);
			if (host >= 0)
				graph_add_node(b, WEFT_FM_NO_PATH, (uint16_t)host);
		}
	}
}

static void
graph_add_link(struct graph_build *b, uint16_t a, uint8_t a_port, uint16_t z, uint8_t z_port)
{
	struct weft_fm *fm = b->fm;

	if (fm->n_links == WEFT_TOPO_LINKS)
		return;
	fm->link[fm->n_links++] = (struct weft_fm_link){ { a, z }, { a_port, z_port } };
}

static void
graph_add_links(struct graph_build *b)
{
	struct weft_fm *fm = b->fm;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];
		const uint16_t here = b->node_of[i];

		for (unsigned int p = 0; here != FM_NO_LINK && c->sw != NULL && p < WEFT_FM_PORTS;
			p++) {
			const int far = graph_far_end(fm, c, p);
			const int host = graph_host(fm, c, p);
			const uint16_t before = fm->n_links;

			if (far >= 0 && fm->component[far].sw != NULL) {
				const uint8_t far_port = c->sw->port[p].far_port;

				if ((uint32_t)far > i)
					graph_add_link(
						b, here, (uint8_t)p, b->node_of[far], far_port);
				c->sw->port[p].link = 0;
			} else if (far >= 0 && fm->component[far].kind == WEFT_TOPO_GFD &&
				   b->node_of[far] != FM_NO_LINK) {
				/* A second port of a GFD would be a second way in. */
				graph_add_link(b, here, (uint8_t)p, b->node_of[far], 0);
				b->node_of[far] = FM_NO_LINK;
			} else if (host >= 0) {
				graph_add_link(b, here, (uint8_t)p,
					b->node_of[fm->cfg.n_paths + (uint32_t)host], 0);
			}
			if (fm->n_links != before)
				c->sw->port[p].link = before;
		}
	}
}

static int
graph_compare_nodes(const void *a, const void *b, void *arg)
{
	const struct weft_fm *fm = arg;
	const struct fm_graph_node *node[2] = { a, b };
	uint64_t key[2];

	for (unsigned int k = 0; k < 2; k++) {
		const struct fm_graph_node *n = node[k];
		const struct fm_host *host = &fm->host[n->host];
		const struct weft_fm_node *want =
			n->path != WEFT_FM_NO_PATH ? fm_intent_of(fm, n->path)
						   : fm_intent_of_host(fm, host->path, host->port);

		if (want != NULL)
			key[k] = (uint64_t)(want - fm->intent->node);
		else if (n->path != WEFT_FM_NO_PATH)
			key[k] = UINT64_C(1) << 32 | n->path;
		else
			key[k] = UINT64_C(2) << 40 | (uint64_t)host->path << 8 | host->port;
	}
	return (key[0] > key[1]) - (key[0] < key[1]);
}

/* Nodes of switches and ends in their order, then the links between them. */
static int
graph_find(struct weft_fm *fm)
{
	struct graph_build b = { .fm = fm };
	size_t room;

	fm->n_nodes = fm->n_links = 0;
	/* Every port may lead to a host. */
	room = fm->cfg.n_paths + (size_t)WEFT_TOPO_NODES + fm->n_hosts + 1;
	b.node_of = malloc(room * sizeof(*b.node_of));
	if (b.node_of == NULL)
		return -ENOMEM;
	memset(b.node_of, 0xff, room * sizeof(*b.node_of));
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		if (graph_is_wanted(fm, &fm->component[i]) && fm->component[i].sw != NULL)
			graph_add_node(&b, i, 0);
	graph_note_ends(&b);
	qsort_r(fm->node, fm->n_nodes, sizeof(*fm->node), graph_compare_nodes, fm);
	for (uint16_t i = 0; i < fm->n_nodes; i++) {
		const struct fm_graph_node *n = &fm->node[i];

		b.node_of[n->path != WEFT_FM_NO_PATH ? n->path : fm->cfg.n_paths + n->host] = i;
	}
	graph_add_links(&b);
	free(b.node_of);
	return 0;
}

static void
graph_describe(const struct weft_fm *fm, unsigned int i, struct weft_topo_graph_node *g)
{
	const struct fm_graph_node *n = &fm->node[i];
	const struct fm_host *host = &fm->host[n->host];
	const struct weft_fm_node *want = n->path != WEFT_FM_NO_PATH
	                                          ? fm_intent_of(fm, n->path)
	                                          : fm_intent_of_host(fm, host->path, host->port);

	*g = (struct weft_topo_graph_node){ .kind = WEFT_TOPO_HOST };
	if (n->path != WEFT_FM_NO_PATH) {
		g->kind = fm->component[n->path].kind;
		g->pid = fm->component[n->path].want_pid;
		snprintf(g->name, sizeof(g->name), "path %u", n->path);
	} else {
		g->pid = host->want_pid;
		snprintf(g->name, sizeof(g->name), "host at path %u port %u", host->path,
			host->port);
	}
	if (want == NULL)
		return;
	memcpy(g->name, want->name, sizeof(g->name));
	g->n_at = want->n_at;
	memcpy(g->at, want->at, sizeof(g->at));
}

/* Routes are proven for every pair of nodes: those that would be the same stay. */
static int
graph_route(struct weft_fm *fm, struct weft_topo_graph_node *g, struct weft_topo_fault *f)
{
	const enum weft_topo_routing routing = (enum weft_topo_routing)fm->intent->routing;

	for (unsigned int i = 0; i < fm->n_nodes; i++) {
		const struct fm_switch *sw = fm->node[i].path == WEFT_FM_NO_PATH
		                                     ? NULL
		                                     : fm->component[fm->node[i].path].sw;

		graph_describe(fm, i, &g[i]);
		fm->found[i] = (struct weft_fm_tables){ 0 };
		if (sw != NULL)
			fm->found[i] = (struct weft_fm_tables){ sw->drt, sw->n_drts, sw->rgt,
				sw->n_groups };
	}
	if (fm->has_routes && weft_fm_routes_stay(&fm->routes, g, fm->n_nodes, fm->link,
				      fm->n_links, fm->found, routing))
		return 0;
	weft_fm_routes_free(&fm->routes);
	return weft_fm_routes_new(
		&fm->routes, g, fm->n_nodes, fm->link, fm->n_links, fm->found, routing, f);
}

enum weft_fm_way
fm_way(const struct weft_fm *fm, uint16_t pid, uint16_t other)
{
	const uint16_t a = fm->node_of_pid[pid & WEFT_FM_NO_PID];
	const uint16_t b = fm->node_of_pid[other & WEFT_FM_NO_PID];
	enum weft_fm_way there, back;

	if (!fm->has_routes)
		return WEFT_FM_WAY_THERE; /* tables stay as they are, whatever these are */
	if (a == FM_NO_LINK || b == FM_NO_LINK)
		return WEFT_FM_WAY_NONE;
	there = weft_fm_routes_way(&fm->routes, fm->found, a, b);
	back = weft_fm_routes_way(&fm->routes, fm->found, b, a);
	return there < back ? there : back;
}

/* Ends alone: nobody sends to a switch. */
static void
graph_index_pids(struct weft_fm *fm)
{
	memset(fm->node_of_pid, 0xff, WEFT_PIDS * sizeof(*fm->node_of_pid));
	for (uint16_t i = 0; fm->has_routes && i < fm->n_nodes; i++)
		if (fm->found[i].n == 0)
			fm->node_of_pid[fm->routes.graph->node[i].pid & WEFT_FM_NO_PID] = i;
	fm->node_of_pid[WEFT_FM_NO_PID] = FM_NO_LINK;
}

void
fm_build_graph(struct weft_fm *fm)
{
	struct weft_topo_graph_node *g = calloc(WEFT_TOPO_NODES, sizeof(*g));
	struct weft_topo_fault f = { .text = "memory is short" };
	int rc = -ENOMEM;

	if (g != NULL)
		rc = graph_find(fm);
	if (rc == 0)
		rc = graph_route(fm, g, &f);
	free(g);
	fm->has_routes = rc == 0;
	fm->is_graph_old = rc == -ENOMEM;
	graph_index_pids(fm);
	if (rc != 0) {
		fm_event(fm, WEFT_FM_EVENT_ROUTES, NULL, 0, "none: %s: tables stay as they are",
			f.text);
		return;
	}
	if (fm->told.nodes != fm->n_nodes || fm->told.links != fm->n_links ||
		fm->told.routing != fm->routes.graph->routing)
		fm_event(fm, WEFT_FM_EVENT_ROUTES, NULL, 0, "%u nodes, %u links, by %s",
			fm->n_nodes, fm->n_links,
			weft_topo_routing_word(fm->routes.graph->routing));
	fm->told.nodes = fm->n_nodes;
	fm->told.links = fm->n_links;
	fm->told.routing = fm->routes.graph->routing;
	if (fm->routes.must_drain)
		fm_event(fm, WEFT_FM_EVENT_DRAIN, NULL, 0,
			"old and new routes together would wait in a circle: old ones go first");
}
