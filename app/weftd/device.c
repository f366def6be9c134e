/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A device that is no GFD: it asks and answers by UIO (uio.c), and nothing by CXL.mem. */

#include "daemon.h"

#include <errno.h>

static bool
device_message(void *arg, const struct weft_msg *m)
{
	struct node *n = daemon_node(((struct weft_node_link *)arg)->node);

	if (m->kind != WEFT_MSG_LLCTRL)
		n->node->drops[WEFT_DROP_WRONG_CLASS]++;
	return true;
}

unsigned int
device_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = node_flush(n);

	weft_node_time(n->node, node_now_ns());
	n->guard.now_ns = n->node->now_ns;
	worked += node_poll_rx(n);
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		bool ended, began;

		follow_session(&n->node->link[i], &ended, &began);
	}
	n->was_up = n->was_up || weft_node_is_up(n->node);
	worked += uio_poll(n, n->was_up && node_may_send(n));
	return worked + peers_flush(n);
}

int
device_init(struct node *n, char *err, size_t err_len)
{
	int rc;

	n->env.message = device_message;
	rc = peers_init(n, err, err_len);
	if (rc == 0)
		rc = uio_init(n, err, err_len);
	if (rc != 0)
		return rc;
	return node_rx(n, n->daemon->cfg.rx_layout, peers_sink, err, err_len);
}
