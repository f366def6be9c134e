/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A device that is no GFD: it asks and answers by UIO (uio.c), and nothing by CXL.mem. */

#include "daemon.h"

#include <errno.h>

static bool
device_message(void *arg, const struct weft_msg *m)
{
	struct node *n = arg;

	if (m->kind != WEFT_MSG_LLCTRL)
		n->drops[WEFT_DROP_WRONG_CLASS]++;
	return true;
}

bool
device_packet(void *arg, const struct weft_io_tlp *t)
{
	return uio_packet(arg, t);
}

static void
device_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;

	for (uint16_t i = 0; i < n; i++) {
		struct weft_frame *f = weft_frame(pkt[i]);
		struct peer *p = peer_of_frame(node, f);

		if (p == NULL)
			node->drops[WEFT_DROP_NO_CONN]++;
		else if (f->hdr.kind == WEFT_WIRE_CONTROL)
			peer_control(p, pkt[i]);
		else
			peer_flits(p, pkt[i], device_message, node);
	}
	rte_pktmbuf_free_bulk(pkt, n);
}

unsigned int
device_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = backlog_flush(&n->out[0]);

	node_clock(n);
	n->guard.now_ns = n->now_ns;
	for (unsigned int s = 0; s < weft_pipe_segments(n->rx); s++)
		worked += weft_pipe_poll(n->rx, s);
	for (uint16_t i = 0; i < n->n_peers; i++) {
		peer_ended(&n->peer[i]);
		peer_began(&n->peer[i]);
	}
	n->was_up = n->was_up || peers_are_up(n);
	worked += uio_poll(n, n->was_up && n->out[0].n == 0);
	for (uint16_t i = 0; i < n->n_peers; i++)
		worked += peer_flush(&n->peer[i], device_message, n);
	return worked;
}

int
device_init(struct node *n, char *err, size_t err_len)
{
	struct weft_pipe_cfg cfg = {
		.name = n->topo->name,
		.layout = n->daemon->cfg.rx_layout,
		.env = &n->env,
		.source = node_source,
		.source_arg = n,
		.sink = device_sink,
		.sink_arg = n,
		.socket = SOCKET_ID_ANY,
	};
	int rc;

	n->env.take_control = true;
	rc = daemon_is_cxl(n->daemon) ? links_init(n, err, err_len)
	                              : connections_init(n, err, err_len);
	if (rc == 0)
		rc = uio_init(n, err, err_len);
	if (rc != 0)
		return rc;
	n->rx = weft_pipe_create(&cfg, err, err_len);
	return n->rx == NULL ? -EINVAL : 0;
}
