/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What the judges see of the nodes. */

#include "judge.h"
#include "replay.h"
#include "update.h"

static void
watch_came(void *world, struct weft_node_link *l, const struct weft_msg *m)
{
	(void)world;
	order_came(world_end(l), m);
}

static void
watch_sent(void *world, struct weft_node_link *l, const struct weft_msg *m, bool late)
{
	(void)world;
	rights_answered(world_end(l), m);
	late_answered(world_end(l), m, late);
	edge_sent(world_end(l), m, late);
}

static void
watch_begun(void *world, const struct weft_node *n, const struct weft_request *rq)
{
	struct sim_node *node = world;

	(void)n;
	node->sim->total.requests++;
	node->host.open++;
	drawn_begun(node, rq->dpid);
	oracle_begun(node, rq);
}

static void
watch_ended(void *world, const struct weft_node *n, const struct weft_completion *c)
{
	struct sim_node *node = world;

	(void)n;
	node->host.open--;
	if (c->status == WEFT_REQUEST_LOST) {
		node->sim->total.lost++;
	} else {
		node->sim->total.completed++;
		node->host.completed++;
		progress(node->sim);
	}
	oracle_ended(node, c);
}

static void
watch_executed(void *world, struct weft_node_link *l, const struct weft_msg *m)
{
	(void)world;
	oracle_executes(world_end(l), m);
	rights_executes(world_end(l), m);
	late_executes(world_end(l), m);
}

static void
watch_dropped(void *world, const struct weft_node *n, enum weft_verdict why)
{
	struct sim_node *node = world;

	/* A connection's session takes answers by UIO with it. */
	if (why == WEFT_DROP_NO_CONN && n->cfg.topo->cxl_io.packets != 0 && !weft_node_is_cxl(n))
		return;
	if (forge_uio_is_due(node, why))
		return;
	/* A translation that takes too long is asked for again, and both answers come. */
	if (why == WEFT_DROP_NO_TAG && n->topo->translates)
		return;
	/*
	 * Where sessions end: what no link takes, and what comes too late; by UIO also the rest of
	 * an answer whose first part was lost, and an answer to an earlier life that meets another
	 * request, as tags are few.
	 */
	if (node->sim->sc.load.timeout_ms != 0 &&
		(why == WEFT_DROP_PORT_DOWN || why == WEFT_DROP_NO_TAG ||
			(why == WEFT_DROP_BAD_OPCODE && n->topo->kind != WEFT_TOPO_GFD)))
		return;
	for (uint32_t i = 0; i < node->n_ends; i++)
		if (replay_excuses(&node->end[i]))
			return;
	violation(node->sim, "node %u drops a message: %s", node->pid, weft_verdict_name(why));
}

static void
watch_session(void *world, struct weft_node_link *l, bool ended, bool began)
{
	struct sim_node *n = world;
	struct sim_end *e = world_end(l);

	if (ended)
		oracle_left(e);
	e->was_fooled = false;
	if (!began)
		return;
	order_memory(e);
	n->sim->total.forgotten += l->memory.forgotten;
	l->memory.forgotten = 0;
}

const struct weft_node_watch sim_watch = {
	.came = watch_came,
	.sent = watch_sent,
	.begun = watch_begun,
	.ended = watch_ended,
	.executed = watch_executed,
	.dropped = watch_dropped,
	.session = watch_session,
};
