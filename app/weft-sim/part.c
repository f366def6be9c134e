/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node that leaves in good order, as weftd does on SIGTERM: it says goodbye, and stays until all
 * have asked whether that is true, or they had the time to. Then it is away as after a crash. Where
 * nothing is wrong meanwhile the others have to know by then.
 */

#include "judge.h"

#define LOOK_NS (20 * US)
#define HOPS_MOST 10 /* links on a path that seeds draw, at most */
#define TURNS 3 /* goodbye, the question, the answer */

/* A frame's way, with whatever stands in the queues on it. */
static uint64_t
part_way_ns(const struct sim *s)
{
	return HOPS_MOST * (s->sc.latency_ns + (uint64_t)s->sc.queue_flits * s->sc.flit_ns);
}

/* Each turn waits for a keepalive at most. */
static uint64_t
part_patience_ns(const struct sim *s)
{
	return s->sc.session.rx_timeout_ns + TURNS * (part_way_ns(s) + s->sc.poll_ns);
}

/* Whatever may have kept a frame from coming in time. */
static uint64_t
part_disturbances(const struct sim *s)
{
	uint64_t n = s->faults.n;

	/* Of no session, and to a node that is down, there have to be some. */
	for (unsigned int k = 0; k < LOSS_KINDS; k++)
		n += k == LOSS_SESSION || k == LOSS_NODE ? 0 : s->total.loss[k];
	for (uint32_t i = 0; i < s->topo->n_ports; i++) {
		const struct weft_impair *w = s->link_dir[i].impair;

		if (w != NULL)
			n += w->count[WEFT_IMPAIR_N_DROPPED] + w->count[WEFT_IMPAIR_N_DELAYED];
	}
	return n;
}

static bool
part_is_calm(const struct sim *s)
{
	/* A forged goodbye says that the other end closes, too: the node does not stay. */
	const uint64_t forged_ns = s->faults.forged_ns;
	bool is_calm = s->now_ns >= s->faults.replayed_ns && !s->core.is_on &&
	               (forged_ns == 0 || s->now_ns >= forged_ns + part_way_ns(s));

	for (uint32_t i = 0; i < s->topo->n_ports; i++)
		is_calm &= s->link_dir[i].up_ns <= s->now_ns;
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		is_calm &= s->node[i].resume_ns == 0;
	return is_calm;
}

static void
part_begin(struct sim_node *n)
{
	struct sim *s = n->sim;
	struct sim_life *life = &n->life;

	if (n->resume_ns != 0 || life->state != LIFE_RUNS || s->faults.is_healed || s->core.is_on)
		return;
	sim_node_time(n);
	oracle_forget(n);
	weft_node_close(&n->node);
	life->state = LIFE_PARTS;
	life->judged_ns = s->now_ns + part_patience_ns(s);
	life->disturbances = part_is_calm(s) ? part_disturbances(s) : UINT64_MAX;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		n->end[i].left = n->end[i].session;
		n->end[i].session = 0;
		edge_flush(&n->end[i]);
	}
	heap_push(&s->heap, s->now_ns + LOOK_NS, EV_PART, n);
	heap_push(&s->heap, life->judged_ns, EV_PART, n);
}

void
node_part(struct sim_node *n, uint64_t away_ns, bool is_quiet)
{
	struct sim *s = n->sim;
	struct sim_life *life = &n->life;
	const uint64_t wait_ns = is_quiet ? s->sc.fault.max_ns : 0;

	if (life->judged_ns > s->now_ns || life->says_ns > s->now_ns || n->n_ends == 0)
		return;
	life->away_ns = away_ns;
	life->says_ns = s->now_ns + 1 + wait_ns;
	heap_push(&s->heap, life->says_ns, EV_PART, n);
	if (is_quiet)
		s->faults.quiet_ns = life->says_ns + part_patience_ns(s);
}

static bool
part_lingers(const struct sim_node *n)
{
	for (uint32_t i = 0; i < n->n_ends; i++) {
		const struct weft_session *s = weft_link_session(n->end[i].end);

		if (weft_session_is_parting(s) || s->due.goodbye)
			return true;
	}
	return false;
}

static void
part_judge(struct sim_node *n)
{
	struct sim *s = n->sim;

	if (n->life.disturbances != part_disturbances(s))
		return;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		const struct sim_end *e = &n->end[i];

		if (e->left == 0)
			continue;
		s->total.farewells++;
		if (e->peer->session == e->left)
			violation(s, "node %u does not know that node %u has said goodbye",
				e->peer_pid, n->pid);
	}
}

void
node_look_parting(struct sim_node *n)
{
	struct sim *s = n->sim;
	const struct sim_life *life = &n->life;
	const bool is_healed = s->faults.is_healed || (s->core.is_on && core_has(s, n->index));
	const bool is_late = is_healed || s->now_ns >= life->judged_ns;

	if (life->state == LIFE_PARTS && (n->resume_ns != 0 || (!is_late && part_lingers(n))))
		heap_push(&s->heap, s->now_ns + LOOK_NS, EV_PART, n);
	else if (life->state == LIFE_PARTS)
		node_crash(n, is_healed ? s->now_ns + 1 : life->judged_ns + life->away_ns);
	if (s->now_ns == life->says_ns)
		part_begin(n);
	else if (s->now_ns == life->judged_ns)
		part_judge(n);
}
