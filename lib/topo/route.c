/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which engine routes a fabric (fabric.md section 3.3, Q22). The file names one or leaves it to
 * the first below whose tables stand the check of route_check.c; no topology is handed out with
 * others. All tables are indexed by destination alone, so one serves every ingress port.
 */

#include <errno.h>
#include <stdlib.h>

#include "weft_pbr.h"

#include "topo_priv.h"
#include "weft_topo_graph.h"

const char *const weft_topo_management_words[] = { "file", "fm", NULL };

const char *const topo_routing_words[] = {
	[WEFT_TOPO_ROUTING_AUTO] = "auto",
	[WEFT_TOPO_ROUTING_SHORTEST] = "shortest",
	[WEFT_TOPO_ROUTING_UPDOWN] = "updown",
	[WEFT_TOPO_ROUTING_DIMENSION] = "dimension",
	[WEFT_TOPO_ROUTING_RISING] = "rising",
	NULL,
};

const char *
weft_topo_routing_word(unsigned int routing)
{
	return routing <= WEFT_TOPO_ROUTING_RISING ? topo_routing_words[routing] : "unknown";
}

/* In the order of trial: auto takes any but rising, whose detours only who asks for them gets. */
static const struct {
	uint8_t routing;
	bool is_auto;
	topo_route_fn fill;
} engines[] = {
	{ WEFT_TOPO_ROUTING_DIMENSION, true, topo_route_dimension },
	{ WEFT_TOPO_ROUTING_SHORTEST, true, topo_route_shortest },
	{ WEFT_TOPO_ROUTING_UPDOWN, true, topo_route_layers },
	{ WEFT_TOPO_ROUTING_UPDOWN, true, topo_route_root },
	{ WEFT_TOPO_ROUTING_RISING, false, topo_route_rising },
};

/*
 * What is judged: equal links as one, since what may be spread goes by any of them. A proof goes
 * by destination: rows of one stand together, where tables of thousands of nodes have them 8 KB
 * apart.
 */
struct route_case {
	const struct weft_topo *t;
	uint8_t *port; /* [destination][node], as the node's table says */
	uint16_t *node_of; /* by PID */
	uint8_t *lowest; /* by port: number of the first of its equals */
};

static int
route_port(const void *arg, unsigned int node, int in, uint16_t dpid)
{
	const struct route_case *c = arg;
	const uint8_t port = dpid >= WEFT_PIDS
	                             ? WEFT_TOPO_NO_ROUTE
	                             : c->port[(size_t)c->node_of[dpid] * c->t->n_nodes + node];

	(void)in;
	return port == WEFT_TOPO_NO_ROUTE ? -1 : c->lowest[c->t->node[node].first_port + port];
}

static int
route_new(struct route_case *c, const struct weft_topo *t)
{
	c->t = t;
	c->port = malloc((size_t)t->n_nodes * t->n_nodes + 1);
	c->node_of = calloc(WEFT_PIDS, sizeof(*c->node_of));
	c->lowest = malloc(t->n_ports + 1u);
	if (c->port == NULL || c->node_of == NULL || c->lowest == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (t->node[i].pid < WEFT_PIDS)
			c->node_of[t->node[i].pid] = i;
	return 0;
}

static void
route_free(struct route_case *c)
{
	free(c->port);
	free(c->node_of);
	free(c->lowest);
}

/* Fill the tables as they will be given out, and have those judged. */
static int
route_judge(struct route_case *c, struct weft_topo_fault *f)
{
	const struct weft_topo *t = c->t;
	struct weft_drt drt;

	for (unsigned int i = 0; i < t->n_nodes; i++) {
		weft_topo_routes(t, i, &drt);
		for (unsigned int to = 0; to < t->n_nodes; to++) {
			const int port = weft_drt_port(&drt, t->node[to].pid);

			c->port[(size_t)to * t->n_nodes + i] =
				port < 0 ? WEFT_TOPO_NO_ROUTE : (uint8_t)port;
		}
	}
	return weft_topo_check_routes(c->t, route_port, c, f);
}

int
weft_topo_route(struct weft_topo *t, enum weft_topo_routing asked, weft_topo_accept_fn accept,
	void *arg, struct weft_topo_fault *f)
{
	const size_t len = (size_t)t->n_nodes * t->n_nodes;
	struct route_case c = { 0 };
	int rc = -EINVAL;

	*f = (struct weft_topo_fault){ .text = "no engine fits" };
	free(t->route);
	t->route = malloc(len + 1);
	if (t->route == NULL || route_new(&c, t) != 0) {
		route_free(&c);
		return -ENOMEM;
	}
	topo_equal_lowest(t, c.lowest);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(engines) && rc == -EINVAL; i++) {
		if (asked == WEFT_TOPO_ROUTING_AUTO ? !engines[i].is_auto
						    : engines[i].routing != asked)
			continue;
		memset(t->route, WEFT_TOPO_NO_ROUTE, len);
		t->routing = engines[i].routing;
		rc = engines[i].fill(t, f);
		if (rc == 0)
			topo_route_equal(t);
		if (rc == 0)
			rc = route_judge(&c, f);
		if (rc == 0 && accept != NULL && !accept(arg, t))
			rc = -EINVAL;
	}
	route_free(&c);
	return rc;
}

int
topo_route(struct topo_load *l)
{
	const uint8_t asked = l->t.routing;
	struct weft_topo_fault f;
	const int rc = weft_topo_route(&l->t, asked, NULL, NULL, &f);

	if (rc != -EINVAL)
		return rc;
	topo_where(l, "routing");
	return topo_fail(l, rc, l->line_of[ROOT_ROUTING],
		"%s: expected routes without a circle, got %s", topo_routing_words[asked], f.text);
}
