/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Whether routes close a circle of links. A link waits for another where a path goes on from the one
 * to the other; what is buffered at the ends of links that wait for each other in a circle may stand
 * still for ever (Dally and Seitz 1987). Requests and answers have buffers of their own, so each has
 * a graph of its own.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"

#include "topo_priv.h"

#define WORDS 4 /* of the ports of a switch */

/* A direction of a link, named by the port that it leaves by. */
struct way {
	uint64_t waits_for[WORDS]; /* ports of the node that it leads to */
	uint16_t came_from; /* on the walk below */
	uint16_t next; /* port to be looked at */
	bool seen;
	bool open; /* on the way that is being walked */
};

static void
path_add(const struct weft_topo *t, struct way *way, const int16_t *port, unsigned int from,
	unsigned int to)
{
	struct way *before = NULL;

	for (unsigned int u = from; u != to;) {
		const unsigned int p = t->node[u].first_port + (unsigned int)port[u];

		if (before != NULL)
			before->waits_for[port[u] / 64] |= WEFT_BIT64(port[u] % 64);
		before = &way[p];
		u = t->port[t->port[p].peer].node;
	}
}

static void
paths_add(const struct weft_topo *t, struct way *way, int16_t *port, bool answers)
{
	const uint16_t n_from = answers ? t->n_gfds : t->n_hosts;
	const uint16_t n_to = answers ? t->n_hosts : t->n_gfds;
	const uint16_t *from = answers ? t->gfd : t->host, *to = answers ? t->host : t->gfd;

	for (uint16_t i = 0; i < n_to; i++) {
		weft_topo_routes_to(t, to[i], port);
		for (uint16_t k = 0; k < n_from; k++)
			path_add(t, way, port, from[k], to[i]);
	}
}

/* The next port that @p w waits for, or -1. */
static int
way_next(struct way *w)
{
	while (w->next < WORDS * 64) {
		const unsigned int i = w->next++;

		if ((w->waits_for[i / 64] & WEFT_BIT64(i % 64)) != 0)
			return (int)i;
	}
	return -1;
}

/* Walk on from one way as far as it goes. */
static bool
walk_closes(const struct weft_topo *t, struct way *way, uint16_t first)
{
	uint16_t at = first;

	way[at].seen = way[at].open = true;
	for (;;) {
		const struct weft_topo_node *leads_to = &t->node[t->port[t->port[at].peer].node];
		const int number = way_next(&way[at]);
		uint16_t next;

		if (number < 0) {
			way[at].open = false;
			if (at == first)
				return false;
			at = way[at].came_from;
			continue;
		}
		next = (uint16_t)(leads_to->first_port + number);
		if (way[next].open)
			return true;
		if (way[next].seen)
			continue;
		way[next].seen = way[next].open = true;
		way[next].came_from = at;
		at = next;
	}
}

int
weft_topo_has_circle(const struct weft_topo *t)
{
	struct way *way = calloc(t->n_ports + 1u, sizeof(*way));
	int16_t *port = calloc(t->n_nodes + 1u, sizeof(*port));
	int rc = way == NULL || port == NULL ? -ENOMEM : 0;

	for (unsigned int answers = 0; rc == 0 && answers < 2; answers++) {
		memset(way, 0, t->n_ports * sizeof(*way));
		paths_add(t, way, port, answers == 1);
		for (uint16_t p = 0; rc == 0 && p < t->n_ports; p++)
			rc = !way[p].seen && walk_closes(t, way, p);
	}
	free(way);
	free(port);
	return rc;
}
