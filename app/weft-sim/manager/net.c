/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The network between a manager and components. A path keeps its order, as a socket does, and paths
 * know nothing of each other; while faults are, messages are lost, come twice, or later than
 * anybody waits for them. What a manager that has died sent comes before what the next one sends.
 */

#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct net_message {
	struct manager_node *node;
	unsigned int manager;
	uint32_t life; /* of the node, when it was sent: with it goes what is under way */
	size_t len;
	uint8_t bytes[];
};

static bool
net_draws(struct manager *m, unsigned int of_1000)
{
	return !m->is_calm && weft_rand_below(&m->rand, 1000) < of_1000;
}

/* Once: perhaps later than what follows by other paths, never than what follows by this one. */
static void
net_put(struct manager *m, enum manager_event kind, const struct net_message *head,
	const uint8_t *bytes)
{
	struct manager_conn *k = &head->node->conn;
	uint64_t *last_ns = &k->last_ns[kind == MANAGER_ANSWER];
	uint64_t at_ns = m->now_ns + 1 + weft_rand_below(&m->rand, m->plan.delay_ns);
	struct net_message *msg = malloc(sizeof(*msg) + head->len);

	if (msg == NULL)
		cli_fail("out of memory");
	*msg = *head;
	memcpy(msg->bytes, bytes, head->len);
	if (net_draws(m, m->plan.late))
		at_ns += weft_rand_below(&m->rand, m->plan.late_ns);
	if (at_ns <= *last_ns)
		at_ns = *last_ns + 1;
	*last_ns = at_ns;
	heap_push(&m->heap, at_ns, (uint8_t)kind, msg);
}

static void
net_send(struct manager *m, enum manager_event kind, struct manager_node *n, unsigned int manager,
	const uint8_t *bytes, size_t len)
{
	const struct net_message head = {
		.node = n, .manager = manager, .life = n->life, .len = len
	};

	if (n->cut_ns > m->now_ns || net_draws(m, m->plan.lost))
		return;
	net_put(m, kind, &head, bytes);
	if (net_draws(m, m->plan.repeated))
		net_put(m, kind, &head, bytes);
}

int
manager_send(void *arg, uint32_t path, const uint8_t *msg, size_t len)
{
	struct manager *m = arg;
	struct manager_node *n = &m->node[path];

	if (m->is_dying)
		return 0;
	m->s->total.manager[MANAGER_N_REQUESTS]++;
	if (!n->is_connected)
		return -ENOTCONN;
	net_send(m, MANAGER_REQUEST, n, m->number, msg, len);
	if (m->dies_after != 0 && --m->dies_after == 0) {
		m->is_dying = true;
		heap_push(&m->heap, m->now_ns, MANAGER_DEATH, m);
	}
	return 0;
}

void
manager_notify(void *node, uint16_t fm_pid, const uint8_t *msg, size_t len)
{
	struct manager_node *n = node;

	if (n->conn.manager != 0 && n->conn.fm_pid == fm_pid)
		net_send(n->m, MANAGER_ANSWER, n, n->conn.manager, msg, len);
}

static void
net_request(struct manager *m, const struct net_message *msg)
{
	struct manager_node *n = msg->node;
	struct weft_cci_caller who = { .iface = WEFT_CCI_FM };
	uint8_t rsp[WEFT_CCI_MESSAGE_MAX];
	size_t len;

	if (!n->is_up || n->life != msg->life)
		return;
	if (n->conn.manager != msg->manager) {
		n->conn.manager = msg->manager;
		n->conn.fm_pid = WEFT_CCI_NO_PID;
	}
	who.pid = weft_cci_component_manager(&n->component, n->conn.fm_pid, msg->bytes, msg->len);
	len = weft_cci_component_run(
		&n->component, &who, msg->bytes, msg->len, rsp, sizeof(rsp), m->now_ns);
	if (len == 0)
		return;
	n->conn.fm_pid = weft_cci_component_learn(&n->component, n->conn.fm_pid, msg->bytes, rsp);
	net_send(m, MANAGER_ANSWER, n, msg->manager, rsp, len);
}

static void
net_answer(struct manager *m, const struct net_message *msg)
{
	if (m->fm == NULL || m->is_dying || msg->manager != m->number || !msg->node->is_up ||
		msg->node->life != msg->life)
		return;
	weft_fm_answer(m->fm, msg->node->index, msg->bytes, msg->len, m->now_ns);
	manager_wake(m);
}

void
manager_message(struct manager *m, enum manager_event kind, void *message)
{
	if (kind == MANAGER_REQUEST)
		net_request(m, message);
	else
		net_answer(m, message);
	free(message);
}
