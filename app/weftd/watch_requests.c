/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an operator hears of requests that nobody answers, long before their time is over. Where a
 * session of the node itself is silent or down that is said of it (watch_sessions.c), and not here:
 * here it is somebody behind a switch, of whom in cxl mode no session of this node can tell.
 */

#include "watch.h"
#include "conn.h"

#include "event.h"
#include "inject.h"

#define WATCH_ANSWERS_NS UINT64_C(1500000000) /* a shorter wait is not said */

static const char *const watch_protocols[REQUEST_WATCHES] = { "CXL.mem", "UIO" };

/* Whether a session of the node says it, or nobody here runs. */
static bool
watch_is_elsewhere(const struct node *n)
{
	if (node_is_paused(n))
		return true;
	for (uint16_t i = 0; i < n->node->n_links; i++)
		if (n->conn[i].watch.state != WEFT_SESSION_UP)
			return true;
	return false;
}

static void
watch_tell_wait(const struct node *n, const char *protocol, uint32_t open, uint64_t for_ns)
{
	char since[48];

	event_since(since, sizeof(since), for_ns);
	event_put(EVENT_REQUESTS_WAIT, n->topo->name, protocol, 1,
		"%u request%s of %s wait%s, and none was answered %s, though sessions here are up",
		open, open == 1 ? "" : "s", protocol, open == 1 ? "s" : "", since);
}

static void
watch_requester(struct node *n, unsigned int i, const struct weft_requester *r, uint64_t now_ns)
{
	const uint64_t answered =
		__atomic_load_n(&weft_requester_latency(r)->count, __ATOMIC_RELAXED);
	const uint32_t open = weft_requester_outstanding(r);
	struct request_watch *w = &n->told.requests[i];

	if (w->is_told && answered != w->answered)
		event_put(EVENT_REQUESTS_ANSWERED, n->topo->name, watch_protocols[i], 1,
			"requests of %s are answered again, after %.1f s", watch_protocols[i],
			(double)(now_ns - w->since_ns) / 1e9);
	if (open == 0 || answered != w->answered || watch_is_elsewhere(n)) {
		*w = (struct request_watch){ .answered = answered, .since_ns = now_ns };
	} else if (!w->is_told && now_ns - w->since_ns >= WATCH_ANSWERS_NS) {
		w->is_told = true;
		watch_tell_wait(n, watch_protocols[i], open, now_ns - w->since_ns);
	}
}

void
requests_watch(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();

	for (uint16_t i = 0; i < d->n_nodes; i++) {
		struct node *n = &d->node[i];
		struct weft_node_requests r;

		if (n->conn == NULL)
			continue;
		if (weft_node_mem(n->node, &r) && r.requester != NULL)
			watch_requester(n, 0, r.requester, now_ns);
		if (weft_node_uio(n->node, &r) && r.requester != NULL)
			watch_requester(n, 1, r.requester, now_ns);
	}
}
