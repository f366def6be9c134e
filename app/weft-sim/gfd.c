/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * GFDs: memory that answers. A fast one answers as soon as the answer can be sent, either inside the
 * call that brings the request or right after; a slow one takes its time with each, and requests
 * wait in the room that was granted for them.
 */

#include "replay.h"

#include <string.h>

void
gfd_draw_generation(struct sim_node *n)
{
	do
		n->gfd.generation = weft_rand_u64(&n->sim->memory_rand);
	while (n->gfd.generation == 0);
}

void
gfd_forget(struct sim_node *n)
{
	struct weft_gfd *g = &n->gfd.gfd;

	gfd_draw_generation(n);
	if (g->len_bytes == 0)
		return; /* nobody uses it */
	memset(g->mem, 0, g->len_bytes);
	memset(g->poison, 0, weft_gfd_poison_size(g->len_bytes));
}

static enum weft_msg_kind
gfd_answer_kind(const struct weft_msg *m)
{
	return m->kind == WEFT_MSG_M2S_REQ ? WEFT_MSG_S2M_DRS : WEFT_MSG_S2M_NDR;
}

static bool
gfd_is_slow(const struct sim_node *n)
{
	return n->gfd.serve_ns != 0 && n->sim->now_ns < n->gfd.slow_until_ns && !n->sim->healed &&
	       !(n->sim->core.is_on && core_has(n->sim, n->index));
}

/* Execute a request whose answer can be sent. */
static void
gfd_answer(struct sim_end *e, const struct weft_msg *m)
{
	struct sim_node *n = e->node;
	struct weft_msg reply;
	enum weft_verdict v;

	order_came(e, m);
	oracle_executes(e, m);
	v = weft_gfd_request(&n->gfd.gfd, m, &reply);
	if (v == WEFT_OK && reply.kind == gfd_answer_kind(m))
		edge_send(e, &reply);
	else if (!replay_excuses(e))
		violation(n->sim, "gfd %u refuses a request: %s", n->pid, weft_verdict_name(v));
}

bool
gfd_message(void *arg, const struct weft_msg *m)
{
	struct sim_end *e = arg;

	if (!e->node->sim->sc.direct || gfd_is_slow(e->node) ||
		!weft_link_can_send(e->end, gfd_answer_kind(m)))
		return false;
	gfd_answer(e, m);
	return true;
}

/* Take one request that waits. False: none, or its answer cannot be sent. */
static bool
gfd_take(struct sim_end *e, enum weft_msg_kind kind)
{
	const struct weft_msg *m = weft_link_peek(e->end, kind);
	struct weft_msg copy;

	if (m == NULL || !weft_link_can_send(e->end, gfd_answer_kind(m)))
		return false;
	copy = *m;
	weft_link_pop(e->end, kind);
	gfd_answer(e, &copy);
	return true;
}

static bool
gfd_has_work(const struct sim_end *e)
{
	return weft_link_peek(e->end, WEFT_MSG_M2S_REQ) != NULL ||
	       weft_link_peek(e->end, WEFT_MSG_M2S_RWD) != NULL;
}

void
gfd_serve(struct sim_end *e)
{
	struct sim *s = e->node->sim;
	bool read, write;

	if (gfd_is_slow(e->node)) {
		if (e->serving || !gfd_has_work(e))
			return;
		e->serving = true;
		heap_push(&s->heap, s->now_ns + e->node->gfd.serve_ns, EV_SERVE, e);
		return;
	}
	do {
		read = gfd_take(e, WEFT_MSG_M2S_REQ);
		write = gfd_take(e, WEFT_MSG_M2S_RWD);
	} while (read || write);
}

void
gfd_serve_event(struct sim_end *e)
{
	e->serving = false;
	if (e->node->resume_ns != 0)
		return; /* looked at again when the node goes on */
	if (!gfd_take(e, WEFT_MSG_M2S_RWD))
		gfd_take(e, WEFT_MSG_M2S_REQ);
	gfd_serve(e);
	edge_pump(e);
}
