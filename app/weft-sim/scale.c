/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Large fabrics. What a seed draws is meant for some dozens of nodes. With thousands of them faults
 * strike as often for each node, not for all together; and where thousands of connections share a
 * link, their keepalives must not be all that it carries, nor its queue too short for a frame of
 * each. The fabrics that seeds draw stay as they are drawn, but for sessions of many where links
 * are slow.
 */

#include "sim.h"

#define NODES_DRAWN 40 /* for so many nodes a seed's faults are drawn: no drawn fabric has more */
#define NODE_HOPS 1500 /* flit-hops of a run, for each of them */
#define CONTROL_SHARE 20 /* control frames of all connections take 1 / so much of a link */

void
scale_faults(struct sim *s)
{
	const uint32_t n_nodes = s->topo->n_nodes;
	const uint32_t n = n_nodes > NODES_DRAWN ? n_nodes : NODES_DRAWN;

	s->sc.fault.gap_ns = s->sc.fault.gap_ns * NODES_DRAWN / n;
	s->faults.hops = s->opt->hops != 0 ? s->opt->hops : (uint64_t)n * NODE_HOPS;
}

/* Each link direction from a host or GFD to another carries one connection more. */
static void
scale_count_way(const struct sim *s, uint32_t *load, const struct sim_node *from, uint16_t to)
{
	const struct sim_node *n = from;
	int port = 0;

	while (port >= 0) {
		const uint32_t link_dir = n->first_link_dir + (uint32_t)port;

		load[link_dir]++;
		n = &s->node[s->link_dir[link_dir].to];
		port = n->way == NULL ? -1 : n->way[to];
	}
}

void
scale_count(const struct sim *s, uint32_t *load, const struct sim_node *a, const struct sim_node *b)
{
	scale_count_way(s, load, a, b->pid);
	scale_count_way(s, load, b, a->pid);
}

void
scale_links(struct sim *s, const uint32_t *load)
{
	struct scenario *sc = &s->sc;
	struct weft_session_cfg *c = &sc->session;
	uint64_t most = 0, control_ns, times;

	for (uint32_t i = 0; i < s->topo->n_ports; i++)
		most = load[i] > most ? load[i] : most;
	if (most > sc->queue_flits)
		sc->queue_flits = (uint32_t)most;
	control_ns = most * sc->flit_ns * CONTROL_SHARE;
	times = (control_ns + c->keepalive_ns - 1) / c->keepalive_ns;
	if (times <= 1)
		return;
	c->hello_ns *= times;
	c->keepalive_ns *= times;
	c->rx_timeout_ns *= times;
	c->session_timeout_ns *= times;
}
