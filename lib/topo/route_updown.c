/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * up-then-down routes (fabric.md section 3.3): switches get an order, a hop to a lower one is up,
 * and no hop up follows a hop down. A switch that can reach the destination by hops down alone does
 * so even where going up first would be shorter: then the way of a message does not depend on
 * where it came from, and one table for all ingress ports is enough.
 *
 * Any order is free of circles; which pairs it joins depends on it. By layers (distance from the
 * ends, the farthest on top) all roots of a fat tree are used; by distance from one root every
 * connected graph is complete.
 */

#include <errno.h>
#include <stdlib.h>

#include "topo_priv.h"

#define FAR UINT16_MAX

struct updown {
	const struct weft_topo *t;
	uint32_t *key; /* of each node; lower is higher up */
	uint16_t *by_key; /* switches, top first */
	unsigned int n_switches;
	uint16_t *down; /* hops to the destination by hops down alone, or FAR */
	uint16_t *hops; /* by hops up and then down */
	uint16_t *queue;
};

static unsigned int
updown_peer(const struct weft_topo *t, unsigned int node, unsigned int number)
{
	return t->neighbour[t->node[node].first_port + number];
}

/* Levels of switches, breadth first from those that are in the queue. */
static void
updown_spread(struct updown *u, uint16_t *level, unsigned int tail)
{
	for (unsigned int head = 0; head < tail; head++) {
		unsigned int here = u->queue[head];

		for (unsigned int n = 0; n < u->t->node[here].n_ports; n++) {
			unsigned int next = updown_peer(u->t, here, n);

			if (!weft_topo_is_transit(u->t, next) || level[next] != FAR)
				continue;
			level[next] = (uint16_t)(level[here] + 1);
			u->queue[tail++] = (uint16_t)next;
		}
	}
}

/* Distance of every switch from the nearest that has an end. */
static void
updown_levels_of_layers(struct updown *u, uint16_t *level)
{
	unsigned int tail = 0;

	for (uint16_t i = 0; i < u->t->n_nodes; i++) {
		unsigned int s;

		if (weft_topo_is_transit(u->t, i))
			continue;
		s = updown_peer(u->t, i, 0);
		if (!weft_topo_is_transit(u->t, s) || level[s] == 0)
			continue;
		level[s] = 0;
		u->queue[tail++] = (uint16_t)s;
	}
	updown_spread(u, level, tail);
	for (unsigned int i = 0; i < u->t->n_nodes; i++)
		if (level[i] != FAR)
			level[i] = (uint16_t)(WEFT_TOPO_NODES - level[i]);
}

/* Greatest distance from a switch; its own part of the fabric only. */
static unsigned int
updown_eccentricity(struct updown *u, unsigned int from, uint16_t *level)
{
	unsigned int most = 0;

	memset(level, 0xff, u->t->n_nodes * sizeof(*level));
	level[from] = 0;
	u->queue[0] = (uint16_t)from;
	updown_spread(u, level, 1);
	for (unsigned int i = 0; i < u->t->n_nodes; i++)
		if (level[i] != FAR && level[i] > most)
			most = level[i];
	return most;
}

/* Distance from the switch in the middle; parts that it does not reach have roots of their own. */
static void
updown_levels_of_root(struct updown *u, uint16_t *level)
{
	unsigned int best = UINT32_MAX;
	unsigned int root = 0;

	for (unsigned int i = 0; i < u->t->n_nodes; i++) {
		unsigned int far = weft_topo_is_transit(u->t, i) ? updown_eccentricity(u, i, level)
		                                                 : UINT32_MAX;

		if (far < best) {
			best = far;
			root = i;
		}
	}
	memset(level, 0xff, u->t->n_nodes * sizeof(*level));
	for (unsigned int k = 0; k < u->t->n_nodes; k++) {
		unsigned int i = (root + k) % u->t->n_nodes;

		if (!weft_topo_is_transit(u->t, i) || level[i] != FAR)
			continue;
		level[i] = 0;
		u->queue[0] = (uint16_t)i;
		updown_spread(u, level, 1);
	}
}

static int
updown_compare_keys(const void *a, const void *b, void *key)
{
	uint32_t ka = ((const uint32_t *)key)[*(const uint16_t *)a];
	uint32_t kb = ((const uint32_t *)key)[*(const uint16_t *)b];

	return (ka > kb) - (ka < kb);
}

static void
updown_order_switches(struct updown *u, const uint16_t *level)
{
	for (uint16_t i = 0; i < u->t->n_nodes; i++) {
		u->key[i] = (uint32_t)level[i] << 16 | i;
		if (weft_topo_is_transit(u->t, i))
			u->by_key[u->n_switches++] = i;
		else
			u->key[i] = UINT32_MAX;
	}
	qsort_r(u->by_key, u->n_switches, sizeof(*u->by_key), updown_compare_keys, u->key);
}

static void
updown_hops_down(struct updown *u, unsigned int to)
{
	unsigned int tail = 1;

	memset(u->down, 0xff, u->t->n_nodes * sizeof(*u->down));
	u->down[to] = 0;
	u->queue[0] = (uint16_t)to;
	for (unsigned int head = 0; head < tail; head++) {
		unsigned int here = u->queue[head];

		for (unsigned int n = 0; n < u->t->node[here].n_ports; n++) {
			unsigned int next = updown_peer(u->t, here, n);

			if (!weft_topo_is_transit(u->t, next) || u->key[next] >= u->key[here] ||
				u->down[next] != FAR)
				continue;
			u->down[next] = (uint16_t)(u->down[here] + 1);
			u->queue[tail++] = (uint16_t)next;
		}
	}
}

/* Whether the way from a switch may go on by this port. */
static bool
updown_is_next(const struct updown *u, unsigned int here, unsigned int number)
{
	unsigned int next = updown_peer(u->t, here, number);

	if (u->down[here] != FAR)
		return u->key[next] > u->key[here] && u->down[next] + 1u == u->down[here];
	return u->key[next] < u->key[here] && u->hops[next] != FAR &&
	       u->hops[next] + 1u == u->hops[here];
}

/* Of several ports as good, destinations take turns: so a fat tree uses all its roots. */
static uint8_t
updown_choose_port(const struct updown *u, unsigned int here, unsigned int to)
{
	unsigned int n_good = 0;
	unsigned int skip;

	for (unsigned int n = 0; n < u->t->node[here].n_ports; n++)
		n_good += updown_is_next(u, here, n);
	if (n_good == 0)
		return WEFT_TOPO_NO_ROUTE;
	skip = u->t->node[to].order % n_good;
	for (unsigned int n = 0;; n++)
		if (updown_is_next(u, here, n) && skip-- == 0)
			return (uint8_t)n;
}

static void
route_to(struct updown *u, struct weft_topo *t, unsigned int to)
{
	updown_hops_down(u, to);
	memcpy(u->hops, u->down, t->n_nodes * sizeof(*u->hops));
	for (unsigned int i = 0; i < u->n_switches; i++) {
		unsigned int here = u->by_key[i];

		for (unsigned int n = 0; u->down[here] == FAR && n < t->node[here].n_ports; n++) {
			unsigned int next = updown_peer(t, here, n);

			if (u->key[next] < u->key[here] && u->hops[next] < u->hops[here])
				u->hops[here] = u->hops[next];
		}
		if (u->down[here] == FAR && u->hops[here] != FAR)
			u->hops[here]++;
		if (here != to && u->hops[here] != FAR)
			*topo_route_at(t, here, to) = updown_choose_port(u, here, to);
	}
}

static int
route_by(struct weft_topo *t, void (*levels)(struct updown *, uint16_t *))
{
	const size_t n = t->n_nodes;
	uint32_t *key = malloc(n * sizeof(*key));
	uint16_t *half = malloc(5 * n * sizeof(*half));
	struct updown u = { .t = t, .key = key };

	if (key == NULL || half == NULL) {
		free(key);
		free(half);
		return -ENOMEM;
	}
	u.by_key = half;
	u.down = half + n;
	u.hops = half + 2 * n;
	u.queue = half + 3 * n;
	memset(half, 0xff, 5 * n * sizeof(*half));
	levels(&u, half + 4 * n);
	updown_order_switches(&u, half + 4 * n);
	for (unsigned int to = 0; to < n; to++)
		route_to(&u, t, to);
	topo_route_ends(t);
	free(key);
	free(half);
	return 0;
}

int
topo_route_layers(struct weft_topo *t, struct weft_topo_fault *f)
{
	(void)f;
	return route_by(t, updown_levels_of_layers);
}

int
topo_route_root(struct weft_topo *t, struct weft_topo_fault *f)
{
	(void)f;
	return route_by(t, updown_levels_of_root);
}
