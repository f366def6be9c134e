/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What becomes of requests with the session that they went by. While it is stalled, requests do not
 * grow older: it may resume, for session_timeout_ns at most. When it is over, no answer can come any more: what
 * is open ends as lost, and no tag rests. But where in cxl mode a switch is at the other end of the link,
 * what has passed that may still be answered: requests end by their own timeout.
 */

#include "daemon.h"

static void
follow_cxl_mem(void *arg, const struct weft_completion *c)
{
	host_complete(arg, c);
}

static void
follow_stall(struct weft_node_link *p, bool is_stalled)
{
	struct node *n = daemon_node(p->node);
	const struct weft_topo *t = n->daemon->topo;

	p->is_stalled = is_stalled;
	n->node->n_stalled =
		(uint16_t)(is_stalled ? n->node->n_stalled + 1 : n->node->n_stalled - 1);
	/* Where a request of a host that translates leads is not known while it is counted. */
	weft_request_clock_stall(
		n->node->clock, n->topo->pid, n->node->n_stalled != 0, n->node->now_ns);
	if (!daemon_is_cxl(n->daemon)) {
		weft_request_clock_stall(n->node->clock, p->pid, is_stalled, n->node->now_ns);
		return;
	}
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (i != n->index)
			weft_request_clock_stall(
				n->node->clock, t->node[i].pid, is_stalled, n->node->now_ns);
}

/* Whether the end of the session is that of all that was asked for by it. */
static bool
follow_is_whole(const struct weft_node_link *p)
{
	const struct daemon *d = daemon_node(p->node)->daemon;

	return !daemon_is_cxl(d) || d->topo->node[p->topo_node].kind != WEFT_TOPO_SWITCH;
}

void
follow_session(struct weft_node_link *p, bool *ended, bool *began)
{
	struct node *n = daemon_node(p->node);
	const bool is_stalled = weft_end_session(p->end)->state == WEFT_SESSION_STALLED;

	*ended = weft_node_link_ended(p);
	*began = weft_node_link_began(p);
	if (n->node->clock != NULL && is_stalled != p->is_stalled)
		follow_stall(p, is_stalled);
	if (*ended && follow_is_whole(p)) {
		if (p->waiting != NULL) {
			weft_requester_grant(n->host, p->pid, 0, 0);
			p->waiting->n = 0;
		}
		if (n->host != NULL)
			weft_requester_abort(
				n->host, p->pid, true, n->node->now_ns, follow_cxl_mem, n);
		uio_abort(n, p->pid);
	}
	/* What was open has ended: it counts for the memory before. */
	if (*began)
		generation_met(p, weft_end_session(p->end)->peer.memory);
}
