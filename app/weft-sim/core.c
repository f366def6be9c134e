/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * In some seeds a part of the fabric is healed before the rest: connected nodes and the links
 * between them, the core. The links that lead out of it are cut, and what is beyond is as bad as it
 * was. Then each host of the core has to go on with each GFD there that it reaches inside of it.
 */

#include "sim.h"

#include "weft_traffic.h"

#define CORE_REQUESTS 3 /* that end well, of each pair */
#define CORE_PATIENCE_NS (2 * SEC)
#define CORE_RATE 5000 /* requests a second and host: a core may take most of a second */

void
core_draw(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0xC04E));
	/*
	 * Between two retry layers what waits for a part that is cut off is in others' way, until
	 * it is dropped; and what the cut loses has to show.
	 */
	sc->has_core =
		weft_rand_below(&r, 2) == 0 && sc->fault.gap_ns != 0 &&
		sc->fault.weight[FAULT_REPLAY] == 0 &&
		(sc->mode == WEFT_MODE_RXL || (sc->load.timeout_ms != 0 && sc->llr.show_first));
	sc->core_seed = weft_rand_u64(&r);
}

bool
core_has(const struct sim *s, uint16_t node)
{
	return s->core.has_node != NULL && s->core.has_node[node];
}

struct core_met {
	uint16_t *node;
	uint16_t n;
};

static void
core_add(struct sim *s, struct core_met *m, uint16_t node)
{
	if (s->core.has_node[node])
		return;
	s->core.has_node[node] = true;
	m->node[m->n++] = node;
}

/* Node that a frame for @p to comes to from @p n, which is not it, or -1. */
static int
core_next(const struct sim *s, const struct sim_node *n, const struct sim_node *to)
{
	const int port = n->way == NULL ? 0 : n->way[to->pid];

	return port < 0 ? -1 : s->link_dir[n->first_link_dir + (uint32_t)port].to;
}

static void
core_add_way(
	struct sim *s, struct core_met *m, const struct sim_node *from, const struct sim_node *to)
{
	int at = from->index;

	for (uint16_t hops = 0; at >= 0 && hops < s->topo->n_nodes; hops++) {
		core_add(s, m, (uint16_t)at);
		if (at == to->index)
			return;
		at = core_next(s, &s->node[at], to);
	}
}

/* The ways to all that a node speaks with; where requests are without end, to one of its GFDs. */
static void
core_add_ways(struct sim *s, struct core_met *m, const struct sim_node *n)
{
	const struct weft_node_cfg *c = &n->node.cfg;

	for (uint16_t i = 0; i < c->n_peers; i++) {
		const struct sim_node *peer = &s->node[c->peer[i].node];

		if (s->is_drawn && peer->pid != n->host.target[0].dpid)
			continue;
		core_add_way(s, m, n, peer);
		core_add_way(s, m, peer, n);
	}
}

/* A host, one of its GFDs, the ways between them, and nodes around until there are enough. */
static void
core_choose(struct sim *s, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;
	const uint16_t want = (uint16_t)(1 + weft_rand_below(r, t->n_nodes));
	const struct sim_node *host = &s->node[t->host[weft_rand_below(r, t->n_hosts)]];
	struct core_met m = { .node = arena_alloc(&s->memory.arena, t->n_nodes * sizeof(*m.node)) };

	s->core.has_node = arena_alloc(&s->memory.arena, t->n_nodes * sizeof(*s->core.has_node));
	core_add(s, &m, host->index);
	core_add_ways(s, &m, host);
	for (uint16_t i = 0; i < m.n; i++) {
		const struct weft_topo_node *node = &t->node[m.node[i]];

		for (uint16_t p = 0; p < node->n_ports && m.n < want; p++)
			core_add(s, &m, t->port[t->port[node->first_port + p].peer].node);
	}
}

/* Whether what @p from sends to @p to stays in the core. */
static bool
core_reaches(const struct sim *s, const struct sim_node *from, const struct sim_node *to)
{
	int at = from->index;

	for (uint16_t hops = 0; at >= 0 && hops < s->topo->n_nodes; hops++) {
		if (!core_has(s, (uint16_t)at))
			return false;
		if (at == to->index)
			return true;
		at = core_next(s, &s->node[at], to);
	}
	return false;
}

/* One that has just started waits until it has met all of its GFDs. */
static bool
core_may_go_on(const struct sim_node *n)
{
	return core_has(n->sim, n->index) && n->life.state == LIFE_RUNS &&
	       n->life.misfit == MISFIT_NONE && n->node.was_up;
}

/* @return pairs of a host and a GFD that have to go on */
static uint32_t
core_pairs(struct sim *s)
{
	uint32_t pairs = 0;

	for (uint16_t h = 0; h < s->topo->n_hosts; h++) {
		struct sim_node *n = &s->node[s->topo->host[h]];

		for (uint32_t i = 0; i < n->host.n_targets; i++) {
			struct sim_target *t = &n->host.target[i];
			const struct sim_node *gfd = s->by_pid[t->dpid];

			t->core_due = core_may_go_on(n) && core_reaches(s, n, gfd) &&
			                              core_reaches(s, gfd, n)
			                      ? t->completed + CORE_REQUESTS
			                      : 0;
			pairs += t->core_due != 0;
		}
	}
	return pairs;
}

/* Whether all that a node speaks with is in the core. */
static bool
core_is_whole(struct sim *s, const struct sim_node *n)
{
	const struct weft_node_cfg *c = &n->node.cfg;

	for (uint16_t i = 0; i < c->n_peers; i++) {
		const struct sim_node *peer = &s->node[c->peer[i].node];

		if (!core_reaches(s, n, peer) || !core_reaches(s, peer, n))
			return false;
	}
	return true;
}

/* @return sources of a file that have to go on, with whomever they send to */
static uint32_t
core_sources(struct sim *s)
{
	uint32_t sources = 0;

	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct sim_node *n = &s->node[i];
		const bool is_due =
			n->is_source && !n->is_done && core_may_go_on(n) && core_is_whole(s, n);

		n->host.core_due = is_due ? n->host.completed + CORE_REQUESTS : 0;
		sources += is_due;
	}
	return sources;
}

static void
core_heal_link_dir(struct sim *s, uint16_t i)
{
	struct sim_link_dir *w = &s->link_dir[i];
	const bool from = core_has(s, s->topo->port[i].node), to = core_has(s, w->to);

	if (from && to) {
		w->is_healed = true;
		if (w->up_ns > s->now_ns)
			w->up_ns = s->now_ns;
	} else if (from || to) {
		w->up_ns = SIM_NEVER;
		w->holds = false;
		w->flaps++;
	}
}

void
core_slow(struct sim_node *n)
{
	if (n->sim->core.began_ns == 0)
		return;
	if (n->host.traffic != NULL)
		weft_traffic_rate(n->host.traffic, CORE_RATE);
	if (n->host.uio != NULL)
		weft_traffic_rate(n->host.uio, CORE_RATE);
}

bool
core_heal(struct sim *s)
{
	struct weft_rand r;

	if (!s->sc.has_core || s->core.began_ns != 0)
		return false;
	weft_rand_seed(&r, s->sc.core_seed);
	core_choose(s, &r);
	s->core.began_ns = s->now_ns;
	if ((s->is_drawn ? core_pairs(s) : core_sources(s)) == 0)
		return false;
	s->core.is_on = true;
	s->total.cores++;
	for (uint16_t i = 0; i < s->topo->n_ports; i++)
		core_heal_link_dir(s, i);
	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct sim_node *n = &s->node[i];

		if (core_has(s, i))
			node_heal(n);
		core_slow(n);
	}
	return true;
}

static bool
core_look_pairs(struct sim *s, const struct sim_node *n, bool is_late)
{
	bool is_over = true;

	for (uint32_t i = 0; i < n->host.n_targets; i++) {
		const struct sim_target *t = &n->host.target[i];

		if (t->completed >= t->core_due)
			continue;
		is_over = false;
		if (is_late)
			violation(s, "host %u does not go on with gfd %u, and all between is well",
				n->pid, t->dpid);
	}
	return is_over;
}

bool
core_look(struct sim *s)
{
	const bool is_late = s->now_ns > s->core.began_ns + CORE_PATIENCE_NS;
	bool is_over = true;

	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		const struct sim_node *n = &s->node[i];

		is_over &= core_look_pairs(s, n, is_late);
		if (n->host.completed >= n->host.core_due || n->is_done)
			continue;
		is_over = false;
		if (is_late)
			violation(
				s, "node %u does not go on, and all that it needs is well", n->pid);
	}
	s->core.is_on = !is_over;
	return is_over;
}
