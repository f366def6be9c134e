/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an operator hears of requests that one device or another does not answer, long before their
 * time is over, whoever else answers meanwhile. Where the session that they go by is silent or down
 * that is said of it (watch_sessions.c), and not here: here it is somebody behind a switch, of whom
 * in cxl mode no session of this node can tell.
 */

#include "watch.h"
#include "conn.h"

#include <stdio.h>
#include <stdlib.h>

#include "event.h"
#include "inject.h"

#define WATCH_ANSWERS_NS UINT64_C(1500000000) /* a shorter wait is not said */
#define WATCH_ROWS 512 /* in a round: they are taken from the caches of lcores */

static const char *const watch_protocols[REQUEST_WATCHES] = { "CXL.mem", "UIO" };

/* Requests of one protocol for one other node, or for whoever it is. */
struct watch_place {
	struct node *n;
	const char *protocol;
	const char *at; /* NULL: not known, as of what waits for its translation */
	uint32_t open, answered;
	uint16_t pid;
};

/* Whether the session that they go by says it, or nobody here runs. */
static bool
watch_is_elsewhere(const struct watch_place *p)
{
	const struct weft_node_link *to = daemon_is_cxl(p->n->daemon) || p->at == NULL
	                                          ? NULL
	                                          : weft_node_link_find(p->n->node, p->pid);

	if (node_is_paused(p->n))
		return true;
	for (uint16_t i = 0; i < p->n->node->n_links; i++)
		if ((to == NULL || i == to->index) && p->n->conn[i].watch.state != WEFT_SESSION_UP)
			return true;
	return false;
}

/* "CXL.mem at g0" */
static const char *
watch_name(const struct watch_place *p, char *text, size_t len)
{
	snprintf(text, len, "%s%s%s", p->protocol, p->at == NULL ? "" : " at ",
		p->at == NULL ? "" : p->at);
	return text;
}

static void
watch_tell_wait(const struct watch_place *p, uint64_t for_ns)
{
	char name[96], since[48];

	watch_name(p, name, sizeof(name));
	event_put(EVENT_REQUESTS_WAIT, p->n->topo->name, name, 1,
		"%u request%s of %s wait%s, and none was answered %s, though sessions here are up",
		p->open, p->open == 1 ? "" : "s", name, p->open == 1 ? "s" : "",
		event_since(since, sizeof(since), for_ns));
}

static void
watch_tell_answered(const struct watch_place *p, uint64_t after_ns)
{
	char name[96];

	watch_name(p, name, sizeof(name));
	event_put(EVENT_REQUESTS_ANSWERED, p->n->topo->name, name, 1,
		"requests of %s are answered again, after %.1f s", name, (double)after_ns / 1e9);
}

static void
watch_requests_at(const struct watch_place *p, struct request_watch *w, uint64_t now_ns)
{
	if (w->is_told && p->answered != w->answered)
		watch_tell_answered(p, now_ns - w->since_ns);
	/* Who was told waits for the end of it, whatever else is silent meanwhile. */
	if (p->open == 0 || p->answered != w->answered || (!w->is_told && watch_is_elsewhere(p))) {
		*w = (struct request_watch){ .answered = p->answered, .since_ns = now_ns };
	} else if (!w->is_told && now_ns - w->since_ns >= WATCH_ANSWERS_NS) {
		w->is_told = true;
		watch_tell_wait(p, now_ns - w->since_ns);
	}
}

static void
watch_add(struct watch_place *p, const struct weft_requester_peer *peer)
{
	p->open += weft_requester_open_at(peer);
	p->answered += __atomic_load_n(&peer->answered, __ATOMIC_RELAXED);
}

/* @w: by node of the topology; the node's own row is that of whoever else it is. */
static void
watch_requester(struct node *n, const char *protocol, const struct weft_requester *r,
	struct request_watch *w, uint64_t now_ns)
{
	const struct weft_topo *t = n->daemon->topo;

	for (unsigned int k = 0; k < t->n_nodes; k++) {
		const bool is_known = k != n->index;
		const struct weft_requester_peer *peer = weft_requester_peer(r, t->node[k].pid);
		struct watch_place p = { .n = n,
			.protocol = protocol,
			.at = is_known ? t->node[k].name : NULL,
			.pid = t->node[k].pid };

		if (peer == NULL || t->node[k].kind == WEFT_TOPO_SWITCH)
			continue;
		watch_add(&p, peer);
		if (!is_known)
			watch_add(&p, weft_requester_anybody(r));
		watch_requests_at(&p, &w[k], now_ns);
	}
}

/* @return rows that were looked at */
static unsigned int
watch_node(struct node *n, uint64_t now_ns)
{
	const unsigned int n_nodes = n->daemon->topo->n_nodes;
	struct weft_node_requests mem, uio;
	const bool has_mem =
		n->conn != NULL && weft_node_mem(n->node, &mem) && mem.requester != NULL;
	const bool has_uio =
		n->conn != NULL && weft_node_uio(n->node, &uio) && uio.requester != NULL;

	if (n->told.requests == NULL && (has_mem || has_uio))
		n->told.requests =
			calloc(REQUEST_WATCHES * (size_t)n_nodes, sizeof(*n->told.requests));
	if (n->told.requests == NULL)
		return 0;
	if (has_mem)
		watch_requester(n, watch_protocols[0], mem.requester, n->told.requests, now_ns);
	if (has_uio)
		watch_requester(
			n, watch_protocols[1], uio.requester, n->told.requests + n_nodes, now_ns);
	return ((unsigned int)has_mem + has_uio) * n_nodes;
}

void
requests_watch(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();
	unsigned int rows = 0;

	for (uint16_t i = 0; i < d->n_nodes && rows < WATCH_ROWS; i++) {
		rows += watch_node(&d->node[d->watched], now_ns);
		d->watched = d->watched + 1 == d->n_nodes ? 0 : (uint16_t)(d->watched + 1);
	}
}
