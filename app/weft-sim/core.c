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
core_draw(struct scenario *sc, uint64_t seed, const struct weft_topo *file)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0xC04E));
	/* Between two retry layers what waits for a part that is cut off is in others' way. */
	sc->has_core = weft_rand_below(&r, 2) == 0 && sc->mode == WEFT_MODE_RXL && file == NULL &&
	               sc->fault.gap_ns != 0 && sc->fault.weight[FAULT_REPLAY] == 0;
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
	if (host->host.n_targets != 0) {
		const struct sim_node *gfd = s->by_pid[host->host.target[0].dpid];

		core_add_way(s, &m, host, gfd);
		core_add_way(s, &m, gfd, host);
	}
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

/* @return pairs of a host and a GFD that have to go on */
static uint32_t
core_pairs(struct sim *s)
{
	uint32_t pairs = 0;

	for (uint16_t h = 0; h < s->topo->n_hosts; h++) {
		struct sim_node *n = &s->node[s->topo->host[h]];

		for (uint32_t i = 0; i < n->host.n_targets && core_has(s, n->index); i++) {
			struct sim_target *t = &n->host.target[i];
			const struct sim_node *gfd = s->by_pid[t->dpid];

			/* One that has just started waits until it has met all of its GFDs. */
			t->core_due = n->life.state == LIFE_RUNS && n->life.misfit == MISFIT_NONE &&
			                              n->node.was_up && core_reaches(s, n, gfd) &&
			                              core_reaches(s, gfd, n)
			                      ? t->completed + CORE_REQUESTS
			                      : 0;
			pairs += t->core_due != 0;
		}
	}
	return pairs;
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
	if (n->sim->core.began_ns != 0 && n->host.traffic != NULL)
		weft_traffic_rate(n->host.traffic, CORE_RATE);
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
	if (core_pairs(s) == 0)
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

bool
core_look(struct sim *s)
{
	bool is_over = true;

	for (uint16_t h = 0; h < s->topo->n_hosts; h++) {
		const struct sim_node *n = &s->node[s->topo->host[h]];

		for (uint32_t i = 0; i < n->host.n_targets; i++) {
			const struct sim_target *t = &n->host.target[i];

			if (t->completed >= t->core_due)
				continue;
			is_over = false;
			if (s->now_ns > s->core.began_ns + CORE_PATIENCE_NS)
				violation(s,
					"host %u does not go on with gfd %u, and all between is "
					"well",
					n->pid, t->dpid);
		}
	}
	s->core.is_on = !is_over;
	return is_over;
}
