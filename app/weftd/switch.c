/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch in rxl mode: frames come in by any port, lose what FEC cannot correct, and leave by
 * the port that the DRT gives for their DPID, in the buffer they came in. Link control frames take
 * the same way. Hot.
 */

#include "daemon.h"

#include <errno.h>

static void
switch_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;
	uint16_t first = 0;

	/* Frames for one port come in runs: send each run at once. */
	for (uint16_t i = 1; i <= n; i++) {
		int16_t port = weft_frame(pkt[first])->out_port;

		if (i < n && weft_frame(pkt[i])->out_port == port)
			continue;
		if (port >= 0) {
			backlog_send(&node->out[port], pkt + first, (uint16_t)(i - first));
		} else {
			/* DPID FFFh: for the switch itself, which takes nothing yet. */
			node->drops[WEFT_DROP_NO_ROUTE] += (uint64_t)(i - first);
			rte_pktmbuf_free_bulk(pkt + first, (unsigned int)(i - first));
		}
		first = i;
	}
}

int
switch_init(struct node *n, char *err, size_t err_len)
{
	struct weft_pipe_cfg cfg = {
		.name = n->topo->name,
		.layout = n->daemon->cfg.switch_layout,
		.env = &n->env,
		.source = node_source,
		.source_arg = n,
		.sink = switch_sink,
		.sink_arg = n,
		.socket = SOCKET_ID_ANY,
	};

	n->env.take_control = true;
	n->rx = weft_pipe_create(&cfg, err, err_len);
	return n->rx == NULL ? -EINVAL : 0;
}

unsigned int
switch_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = 0;

	for (unsigned int s = 0; s < weft_pipe_segments(n->rx); s++)
		worked += weft_pipe_poll(n->rx, s);
	for (uint16_t p = 0; p < n->n_ports; p++)
		worked += backlog_flush(&n->out[p]);
	return worked;
}
