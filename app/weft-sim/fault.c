/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Faults of links and nodes: when, where, what and for how long is drawn one after another, from
 * numbers of their own, so that a run with only the first few of them is the same up to there.
 */

#include "judge.h"
#include "replay.h"
#include "update.h"

#include <math.h>

#define STORM_MAX 400 /* frames */
#define REPLAY_MAX 400 /* flits */

const char *const fault_word[FAULT_KINDS + 1] = {
	[FAULT_FLAP] = "link_flap",
	[FAULT_HOLD] = "link_hold",
	[FAULT_DEAF] = "link_deaf",
	[FAULT_STALL] = "node_stall",
	[FAULT_CRASH] = "node_crash",
	[FAULT_SLOW] = "slow_gfd",
	[FAULT_CLOCK] = "clock_jump",
	[FAULT_GHOST] = "old_frame",
	[FAULT_FORGED] = "forged",
	[FAULT_CONTROL] = "forged_control",
	[FAULT_SPID] = "forged_spid",
	[FAULT_STORM] = "storm",
	[FAULT_MEMORY] = "memory_loss",
	[FAULT_REPLAY] = "replays",
	[FAULT_RIGHTS] = "rights_change",
	[FAULT_MISFIT] = "misfit",
	[FAULT_GOODBYE] = "goodbye",
	[FAULT_UIO] = "forged_uio",
};

/* Next fault of a Poisson process. */
void
fault_plan(struct sim *s)
{
	const double gap = -log(1 - weft_rand_unit(&s->faults.rand)) * (double)s->sc.fault.gap_ns;
	const uint64_t from_ns = s->now_ns > s->faults.quiet_ns ? s->now_ns : s->faults.quiet_ns;

	if (s->sc.fault.gap_ns != 0)
		heap_push(&s->heap, from_ns + 1 + (uint64_t)gap, EV_FAULT, s);
}

static void
fault_fail_link_dir(struct sim_link_dir *w, uint64_t until_ns, bool holds)
{
	if (until_ns <= w->up_ns)
		return;
	w->up_ns = until_ns;
	w->holds = holds;
	w->flaps += !holds;
}

static void
fault_on_link(struct sim *s, enum fault_kind kind, uint64_t where, uint64_t until_ns)
{
	const struct weft_topo_link *l = &s->topo->link[(where >> 1) % s->topo->n_links];
	const bool both = kind != FAULT_DEAF;

	if (both || (where & 1) == 0)
		fault_fail_link_dir(&s->link_dir[l->a], until_ns, kind == FAULT_HOLD);
	if (both || (where & 1) == 1)
		fault_fail_link_dir(&s->link_dir[l->b], until_ns, kind == FAULT_HOLD);
}

/* The switch that keeps the generation of a node's memory; NULL: whoever uses it does. */
static const struct sim_node *
fault_keeper(const struct sim_node *n)
{
	const struct sim_node *next = n->n_ends == 1 ? n->end->peer->node : NULL;

	return n->sim->sc.mode == WEFT_MODE_CXL && next != NULL && next->kind == WEFT_TOPO_SWITCH
	               ? next
	               : NULL;
}

/* The generation that it will say it knows; 0: none. */
static uint64_t
fault_kept(const struct sim_node *n)
{
	const struct sim_end *e = n->end->peer;

	return e->node->life.state == LIFE_DOWN ? 0 : weft_link_session(e->end)->cfg.params.known;
}

/* Whether memory of @p n, should it be lost, would be known to have been there. */
static bool
fault_is_known(const struct sim_node *n)
{
	return fault_keeper(n) == NULL || fault_kept(n) != 0;
}

/* Whether it has memory that is lost with it: a GFD's is not, but for its own fault. */
static bool
fault_offers(const struct sim_node *n)
{
	const struct weft_topo_node *t = &n->sim->topo->node[n->index];

	return t->n_windows != 0 || (t->kind == WEFT_TOPO_DEVICE && t->memory != 0);
}

/* Whether memory of @p n was lost, and its switch has yet to hear that it is new. */
static bool
fault_is_unheard(const struct sim_node *n)
{
	if (fault_offers(n))
		return n->life.state == LIFE_DOWN ||
		       (n->node.cfg.run > 1 && fault_kept(n) != n->node.generation);
	return n->gfd.n_lost != 0 && fault_kept(n) != n->gfd.generation;
}

/* Memory that is lost is known to be so (SESS-32): not where its switch is lost with it. */
static bool
fault_may_crash(const struct sim_node *n)
{
	if (fault_offers(n) && !fault_is_known(n))
		return false;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		const struct sim_node *next = n->end[i].peer->node;

		if (fault_keeper(next) == n && fault_is_unheard(next))
			return false;
	}
	return true;
}

static void
fault_on_gfd_memory(struct sim_node *n, uint64_t until_ns)
{
	if (!fault_is_known(n))
		return;
	node_crash(n, until_ns);
	n->gfd.forgets = true;
	n->gfd.n_lost++;
	node_draw_generation(n);
	if (fault_keeper(n) != NULL)
		oracle_memory_lost(n);
}

static void
fault_on_node(struct sim *s, enum fault_kind kind, uint64_t where, uint64_t until_ns)
{
	struct sim_node *n = &s->node[where % s->topo->n_nodes];
	const uint64_t length_ns = until_ns - s->now_ns;

	switch (kind) {
	case FAULT_STALL: node_stall(n, until_ns); break;
	case FAULT_CRASH:
		/* An agent that starts again does not know which pages it had moved. */
		if (n->node.load->move.period_ms == 0 && fault_may_crash(n))
			node_crash(n, until_ns);
		break;
	case FAULT_MISFIT:
		if (n->node.load->move.period_ms == 0)
			misfit_strike(n, where >> 32, length_ns);
		break;
	case FAULT_GOODBYE:
		if (n->node.load->move.period_ms == 0)
			node_part(n, length_ns, (where >> 32) % 4 != 0);
		break;
	case FAULT_MEMORY:
		fault_on_gfd_memory(&s->node[s->topo->gfd[where % s->topo->n_gfds]], until_ns);
		break;
	case FAULT_SLOW:
		n = &s->node[s->topo->gfd[where % s->topo->n_gfds]];
		n->gfd.serve_ns = 1 + length_ns / 64;
		n->gfd.slow_until_ns = until_ns;
		break;
	default: node_jump(n, length_ns); break;
	}
}

/* In half of them requests stand still on a link meanwhile: what is open has to end first. */
static void
fault_on_rights(struct sim *s, uint64_t where, uint64_t length_ns)
{
	update_begin(s, where, length_ns / s->topo->n_nodes);
	if ((where >> 40 & 1) != 0)
		fault_on_link(s, FAULT_HOLD, where >> 20, s->now_ns + length_ns);
}

static enum fault_kind
fault_draw_kind(struct sim *s)
{
	uint64_t total = 0, at;
	unsigned int kind = 0;

	for (unsigned int i = 0; i < FAULT_KINDS; i++)
		total += s->sc.fault.weight[i];
	at = weft_rand_below(&s->faults.rand, total);
	while (at >= s->sc.fault.weight[kind])
		at -= s->sc.fault.weight[kind++];
	return (enum fault_kind)kind;
}

void
fault_strike(struct sim *s)
{
	const enum fault_kind kind = fault_draw_kind(s);
	const uint64_t where = weft_rand_u64(&s->faults.rand) >> 1;
	const double share = weft_rand_unit(&s->faults.rand);
	const uint64_t length_ns = (uint64_t)pow((double)s->sc.fault.max_ns, share);

	if (s->faults.is_healed || s->core.is_on || s->faults.n == s->opt->faults)
		return;
	s->faults.n++;
	s->total.fault[kind]++;
	if (kind == FAULT_GHOST)
		ghost_appear(s, where);
	else if (kind == FAULT_FORGED)
		s->link_dir[where % s->topo->n_ports].forges = true;
	else if (kind == FAULT_CONTROL)
		forge_control(s, where);
	else if (kind == FAULT_SPID)
		forge_spid(s, where);
	else if (kind == FAULT_UIO)
		forge_uio(s, where);
	else if (kind == FAULT_STORM)
		s->link_dir[where % s->topo->n_ports].storm = (uint16_t)(1 + length_ns % STORM_MAX);
	else if (kind == FAULT_REPLAY)
		replay_play(s, where, 1 + length_ns % REPLAY_MAX);
	else if (kind == FAULT_RIGHTS)
		fault_on_rights(s, where, length_ns);
	else if (kind <= FAULT_DEAF)
		fault_on_link(s, kind, where, s->now_ns + length_ns);
	else
		fault_on_node(s, kind, where, s->now_ns + length_ns);
	fault_plan(s);
}

void
fault_heal(struct sim *s)
{
	s->faults.is_healed = true;
	s->faults.healed_ns = s->now_ns;
	for (uint32_t i = 0; i < s->topo->n_ports; i++)
		if (s->link_dir[i].up_ns > s->now_ns)
			s->link_dir[i].up_ns = s->now_ns;
	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		struct sim_node *n = &s->node[i];

		node_heal(n);
		load_stop(n);
	}
}
