/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hosts: the traffic source and the requester of lib/mem, and the ends of their connections.
 * Requests are begun when something has ended or a frame has come. A destination that takes none
 * has no credit with the requester, so nothing waits between the two.
 */

#include "replay.h"

#include <errno.h>

#define POLL_NS (100 * US)
#define MISSES_MAX 4 /* choices of the source in a row that cannot begin */

/* What an end takes now is what may be asked of those behind it: in cxl mode more than one. */
static void
host_allow_by(struct sim_node *n, const struct sim_end *e)
{
	const uint16_t reads = weft_link_can_send(e->end, WEFT_MSG_M2S_REQ) ? UINT16_MAX : 0;
	const uint16_t writes = weft_link_can_send(e->end, WEFT_MSG_M2S_RWD) ? UINT16_MAX : 0;

	for (uint32_t i = 0; i < n->host.n_targets; i++)
		if (n->host.target[i].end == e)
			weft_requester_grant(n->host.host, n->host.target[i].dpid, reads, writes);
}

bool
host_message(void *arg, const struct weft_msg *m)
{
	struct sim_end *e = arg;
	struct sim_node *n = e->node;
	struct weft_completion c;
	enum weft_verdict v;

	order_came(e, m);
	v = weft_mem_response(n->host.host, m, sim_node_now(n), &c);
	if (v != WEFT_OK && replay_excuses(e))
		return true;
	if (v != WEFT_OK) {
		violation(n->sim, "host %u refuses a response: %s", n->pid, weft_verdict_name(v));
		return true;
	}
	n->sim->total.completed++;
	progress(n->sim);
	oracle_response(e, m, &c);
	weft_traffic_complete(n->host.traffic, &c);
	return true;
}

static void
host_lost(void *arg, const struct weft_completion *c)
{
	struct sim_node *n = arg;

	n->sim->total.lost++;
	weft_traffic_complete(n->host.traffic, c);
}

void
host_abort(struct sim_end *e)
{
	struct sim_node *n = e->node;

	if (n->host.host == NULL)
		return;
	for (uint32_t i = 0; i < n->host.n_targets; i++) {
		struct sim_target *t = &n->host.target[i];
		uint32_t open, ended;

		if (t->end != e)
			continue;
		weft_requester_grant(n->host.host, t->dpid, 0, 0);
		open = oracle_lost(n, t);
		ended = weft_requester_abort(
			n->host.host, t->dpid, true, sim_node_now(n), host_lost, n);
		if (open != ended)
			violation(n->sim, "host %u had %u requests open to %u, but %u ended",
				n->pid, open, t->dpid, ended);
	}
}

void
host_met(struct sim_end *e)
{
	const uint64_t generation = weft_link_session(e->end)->peer.memory;
	struct sim_node *n = e->node;

	for (uint32_t i = 0; i < n->host.n_targets; i++) {
		struct sim_target *t = &n->host.target[i];

		if (t->end != e)
			continue;
		if (t->generation != 0 && t->generation != generation)
			n->sim->total.forgotten +=
				weft_traffic_forget(n->host.traffic, t->dpid, WEFT_LINE_LOST_ALL);
		t->generation = generation;
	}
}

static struct sim_target *
host_target(struct sim_node *n, uint16_t dpid)
{
	for (uint32_t i = 0; i < n->host.n_targets; i++)
		if (n->host.target[i].dpid == dpid)
			return &n->host.target[i];
	return NULL;
}

/* Nothing is open whose end would call: come back in a while. */
static void
host_sleep(struct sim_node *n)
{
	if (n->host.polls || n->host.done || weft_requester_outstanding(n->host.host) != 0)
		return;
	n->host.polls = true;
	heap_push(&n->sim->heap, n->sim->now_ns + POLL_NS, EV_HOST, n);
}

static void
host_done(struct sim_node *n)
{
	struct sim *s = n->sim;

	if (n->host.done)
		return;
	n->host.done = true;
	s->hosts_done++;
	progress(s);
	if (weft_traffic_counts(n->host.traffic)[WEFT_TRAFFIC_N_MISMATCHES] > n->host.excused)
		violation(s, "host %u read %llu lines that its source did not expect", n->pid,
			(unsigned long long)weft_traffic_counts(
				n->host.traffic)[WEFT_TRAFFIC_N_MISMATCHES]);
}

void
host_pump(struct sim_node *n)
{
	const uint64_t now_ns = sim_node_now(n);
	unsigned int misses = 0;
	struct weft_request rq;
	struct weft_msg m;

	if (n->host.host == NULL || n->host.done)
		return;
	weft_requester_expire(n->host.host, now_ns, host_lost, n, 1);
	for (uint32_t i = 0; i < n->n_ends; i++)
		host_allow_by(n, &n->end[i]);
	while (misses < MISSES_MAX) {
		const int rc = weft_traffic_next(n->host.traffic, now_ns, &rq);
		struct sim_target *t;

		if (rc == -ESHUTDOWN) {
			host_done(n);
			break;
		}
		if (rc != 0) {
			misses++;
			continue;
		}
		weft_mem_request(n->host.host, &rq, &m);
		/* Whom it asks is for the judges; a link of HBR form does not say it. */
		m.spid = n->pid;
		t = host_target(n, rq.dpid);
		n->sim->total.requests++;
		oracle_request(n, &m);
		edge_send(t->end, &m);
		host_allow_by(n, t->end);
		t->has_sent = true;
	}
	for (uint32_t i = 0; i < n->host.n_targets; i++) {
		struct sim_target *t = &n->host.target[i];

		if (t->has_sent)
			edge_pump(t->end);
		t->has_sent = false;
	}
	host_sleep(n);
}

void
host_poll(struct sim_node *n)
{
	n->host.polls = false;
	if (n->resume_ns == 0)
		host_pump(n);
	else
		host_sleep(n);
}
