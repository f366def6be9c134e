/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * When a node is polled: where something came, an end's time has come, or it waits for nothing but
 * time. weftd polls all the time; between events it would find nothing to do. Hot.
 */

#include "sim.h"

#define POLL_NS (100 * US) /* of load that waits for nothing else */
#define SERVICE_NS (20 * US) /* of services that do something of their own accord */

void
node_sleep(struct sim_node *n, uint64_t ns)
{
	if (n->polls)
		return;
	n->polls = true;
	heap_push(&n->sim->heap, n->sim->now_ns + ns, EV_POLL, n);
}

bool
node_is_slow(const struct sim_node *n)
{
	return n->gfd.serve_ns != 0 && n->sim->now_ns < n->gfd.slow_until_ns &&
	       !n->sim->faults.is_healed && !(n->sim->core.is_on && core_has(n->sim, n->index));
}

/* A slow GFD is polled now and then, and what came meanwhile waits in the room granted for it. */
static void
turn_serve_later(struct sim_node *n)
{
	if (n->gfd.serving)
		return;
	n->gfd.serving = true;
	heap_push(&n->sim->heap, n->sim->now_ns + n->gfd.serve_ns, EV_SERVE, n);
}

static void
turn_done(struct sim_node *n)
{
	struct sim *s = n->sim;
	const uint64_t mismatches = n->host.mismatches + load_unexpected(n);

	n->is_done = true;
	s->progress.sources_done++;
	progress(s);
	if (mismatches > n->host.excused)
		violation(s, "node %u has %llu answers that its sources did not expect", n->pid,
			(unsigned long long)mismatches);
	drawn_transfers(n);
	if (s->opt->calm && !s->opt->has_impair && !weft_node_is_good(&n->node))
		violation(s, "node %u did not end as it should have", n->pid);
}

static void
turn_source(struct sim_node *n)
{
	if (n->is_source && !n->is_done && weft_node_is_done(&n->node))
		turn_done(n);
	if (n->has_services)
		node_sleep(n, SERVICE_NS);
	else if (!n->is_done && weft_requester_outstanding(n->host.requester) == 0)
		node_sleep(n, POLL_NS);
}

static void
turn_look(struct sim_node *n)
{
	const struct sim *s = n->sim;
	/* Once all has ended, agents are to be quiet too. */
	const bool is_over = s->faults.is_healed &&
	                     s->progress.sources_done == s->progress.n_sources &&
	                     s->progress.n_programs == 0;
	const bool may_ask = !is_over && !link_dir_is_full(s, n->first_link_dir);

	weft_node_poll(&n->node, may_ask);
}

static void
turn_flush(struct sim_node *n)
{
	for (uint32_t i = 0; i < n->n_ends; i++)
		if (n->node.due_ns[i] <= n->node.ends_ns)
			edge_flush(&n->end[i]);
}

void
node_turn(struct sim_node *n)
{
	sim_node_time(n);
	if (n->life.state == LIFE_PARTS) {
		turn_flush(n);
		return;
	}
	if (node_is_slow(n))
		turn_serve_later(n);
	else
		turn_look(n);
	turn_flush(n);
	if (n->is_source || n->has_services)
		turn_source(n);
}

void
node_poll(struct sim_node *n)
{
	n->polls = false;
	if (n->resume_ns == 0)
		node_turn(n);
	else
		node_sleep(n, n->resume_ns + 1 - n->sim->now_ns);
}

void
node_serve(struct sim_node *n)
{
	n->gfd.serving = false;
	if (n->resume_ns != 0 || n->life.state == LIFE_PARTS)
		return; /* looked at when the node goes on */
	sim_node_time(n);
	turn_look(n);
	turn_flush(n);
	if (node_is_slow(n))
		turn_serve_later(n);
}
