/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The links of a node and what the daemon has of each. Their frames: peer_frames.c. */

#include "daemon.h"
#include "event.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int
peer_cfg(void *node, struct weft_node_link *l, struct weft_link_cfg *c)
{
	struct node *n = node;
	struct peer *p = &n->peer[l - n->node->link];

	p->node = n;
	p->link = l;
	c->llr.apart = n->env.ends.rx_apart;
	return ide_peer(p, c);
}

int
peers_init(struct node *n, char *err, size_t err_len)
{
	int rc;

	n->peer = calloc((size_t)n->daemon->topo->n_nodes + n->n_ports, sizeof(*n->peer));
	if (n->peer == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "node %s: out of memory", n->topo->name);
	rc = weft_node_init(n->node, err, err_len);
	for (uint16_t i = 0; i < n->node->n_links && rc == 0; i++) {
		rc = peer_directions(&n->peer[i]);
		if (rc != 0)
			snprintf(err, err_len, "node %s: connection table: %s", n->topo->name,
				strerror(-rc));
	}
	return rc;
}

void
peers_fini(struct node *n)
{
	for (uint16_t i = 0; i < n->node->n_links && n->peer != NULL; i++)
		peer_directions_fini(&n->peer[i]);
	weft_node_fini(n->node);
	for (size_t i = 0; n->peer != NULL && n->peer[i].node != NULL; i++)
		ide_peer_fini(&n->peer[i]);
	free(n->peer);
}

void
peers_log_events(struct daemon *d)
{
	for (uint16_t k = 0; k < d->n_nodes; k++)
		for (uint16_t i = 0; i < d->node[k].node->n_links; i++) {
			struct peer *p = &d->node[k].peer[i];
			const uint64_t n = weft_link_counts(p->link->end)[WEFT_LINK_N_DOUBTED];
			const struct weft_llr *l = weft_link_llr(p->link->end);

			event_put(EVENT_DOUBTED, d->node[k].topo->name, daemon_peer_name(p),
				n - p->others_told,
				"flits came in the name of %s that it did not send (%llu numbers "
				"with two contents): a new session begins, what was open is lost",
				daemon_peer_name(p),
				(unsigned long long)weft_llr_count(l, WEFT_LLR_N_CONFLICTS));
			p->others_told = n;
		}
}
