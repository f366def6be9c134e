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

/* What is judged: equal links as one, since what may be spread goes by any of them. */
struct route_case {
	const struct weft_topo *t;
	struct weft_drt *drt;
	uint8_t *lowest; /* by port: number of the first of its equals */
};

static int
route_port(const void *arg, unsigned int node, int in, uint16_t dpid)
{
	const struct route_case *c = arg;
	const int port = weft_drt_port(&c->drt[node], dpid);

	(void)in;
	return port < 0 ? port : c->lowest[c->t->node[node].first_port + port];
}

/* Fill the tables as they will be given out, and have those judged. */
static int
route_judge(struct route_case *c, struct weft_topo_fault *f)
{
	for (unsigned int i = 0; i < c->t->n_nodes; i++)
		weft_topo_routes(c->t, i, &c->drt[i]);
	return weft_topo_check_routes(c->t, route_port, c, f);
}

int
weft_topo_route(struct weft_topo *t, enum weft_topo_routing asked, weft_topo_accept_fn accept,
	void *arg, struct weft_topo_fault *f)
{
	const size_t len = (size_t)t->n_nodes * t->n_nodes;
	struct route_case c = { .t = t };
	int rc = -EINVAL;

	*f = (struct weft_topo_fault){ .text = "no engine fits" };
	free(t->route);
	t->route = malloc(len + 1);
	c.drt = calloc(t->n_nodes + 1u, sizeof(*c.drt));
	c.lowest = malloc(t->n_ports + 1u);
	if (c.drt == NULL || c.lowest == NULL || t->route == NULL) {
		free(c.drt);
		free(c.lowest);
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
	free(c.drt);
	free(c.lowest);
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
