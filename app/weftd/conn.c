/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The links of a node and what the daemon has of each. Their frames: conn_frames.c. */

#include "conn.h"
#include "backlog.h"
#include "event.h"
#include "ide.h"

#define CONNS_A_TURN 512

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int
conn_cfg(void *node, struct weft_node_link *l, struct weft_link_cfg *c)
{
	struct node *n = node;
	struct conn *conn = &n->conn[l - n->node->link];

	conn->node = n;
	conn->link = l;
	c->llr.apart = n->env.ends.rx_apart;
	return ide_conn(conn, c);
}

int
conns_init(struct node *n, char *err, size_t err_len)
{
	int rc;

	n->conn = calloc((size_t)n->daemon->topo->n_nodes + n->n_ports, sizeof(*n->conn));
	if (n->conn == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "node %s: out of memory", n->topo->name);
	rc = weft_node_init(n->node, err, err_len);
	if (rc == -ENOLCK)
		snprintf(err, err_len,
			"node %s: no memory could be locked for keys: " WEFT_SECRET_ADVICE,
			n->topo->name);
	for (uint16_t i = 0; i < n->node->n_links && rc == 0; i++) {
		rc = conn_directions(&n->conn[i]);
		if (rc != 0)
			snprintf(err, err_len, "node %s: connection table: %s", n->topo->name,
				strerror(-rc));
	}
	return rc;
}

void
conns_fini(struct node *n)
{
	for (uint16_t i = 0; i < n->node->n_links && n->conn != NULL; i++)
		conn_directions_fini(&n->conn[i]);
	weft_node_fini(n->node);
	for (size_t i = 0; n->conn != NULL && n->conn[i].node != NULL; i++)
		ide_conn_fini(&n->conn[i]);
	free(n->conn);
}

bool
conns_are_parting(const struct node *n)
{
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		const struct weft_session *s = weft_link_session(n->node->link[i].end);

		if (weft_session_is_parting(s) || s->due.goodbye)
			return true;
	}
	for (uint16_t p = 0; p < n->n_ports; p++)
		if (backlog_waits(&n->out[p]))
			return true;
	return false;
}

static uint32_t
conn_count(const struct daemon *d)
{
	uint32_t n = 0;

	for (uint16_t i = 0; i < d->n_nodes; i++)
		n += d->node[i].node->n_links;
	return n;
}

void
conns_turn(struct daemon *d)
{
	const uint32_t all = conn_count(d);

	while (conns_next(d, &d->walk) != NULL)
		;
	d->walk.left = all < CONNS_A_TURN ? all : CONNS_A_TURN;
}

void
conns_turn_all(struct daemon *d)
{
	d->walk = (struct conn_walk){ .left = conn_count(d) };
}

struct conn *
conns_next(const struct daemon *d, struct conn_walk *w)
{
	if (w->left == 0)
		return NULL;
	while (w->link >= d->node[w->node].node->n_links) {
		w->node = w->node + 1 == d->n_nodes ? 0 : (uint16_t)(w->node + 1);
		w->link = 0;
	}
	w->left--;
	return &d->node[w->node].conn[w->link++];
}

void
conns_log_events(struct daemon *d)
{
	struct conn_walk w = d->walk;
	struct conn *c;

	while ((c = conns_next(d, &w)) != NULL) {
		const uint64_t n = weft_link_count(c->link->end, WEFT_LINK_N_DOUBTED);
		const struct weft_llr *l = weft_link_llr(c->link->end);

		event_put(EVENT_DOUBTED, c->node->topo->name, conn_peer_name(c), n - c->others_told,
			"flits came in the name of %s that it did not send (%llu numbers "
			"with two contents): a new session begins, what was open is lost",
			conn_peer_name(c),
			(unsigned long long)weft_llr_count(l, WEFT_LLR_N_CONFLICTS));
		c->others_told = n;
	}
}
