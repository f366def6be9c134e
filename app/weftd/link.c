/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * cxl mode: the retry domain is the link, so every port of every node has an end. A direction is
 * known by its source address, which has the port's number in it.
 */

#include "conn.h"
#include "backlog.h"

#include "cli.h"

#define MAC_PORT 3 /* byte of a source address */
#define FRAME_SRC 6 /* where it stands in a frame */

void
link_mac(const struct weft_topo *t, unsigned int port, uint8_t mac[6])
{
	const struct weft_topo_node *n = &t->node[t->port[port].node];

	mac[0] = 0x02;
	mac[1] = 'W';
	mac[2] = 'E';
	mac[MAC_PORT] = (uint8_t)(port - n->first_port);
	weft_put_be16(mac + 4, n->pid);
}

void
link_put_port(struct rte_mbuf *m, uint16_t port)
{
	*rte_pktmbuf_mtod_offset(m, uint8_t *, FRAME_SRC + MAC_PORT) = (uint8_t)port;
}

void
link_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;

	for (uint16_t i = 0; i < n; i++) {
		const uint16_t port = (uint16_t)weft_frame(pkt[i])->out_port;

		link_put_port(pkt[i], port);
		backlog_send(&node->out[port], &pkt[i], 1);
	}
}

/* Whether a wire takes frames away, or changes their order or number. */
static bool
link_wire_moves_frames(const char *wire)
{
	static const char *const keys[] = {
		",drop=", ",dup=", ",reorder=", ",replay=", ",jitter_us="
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(keys); i++)
		if (strstr(wire, keys[i]) != NULL)
			return true;
	return false;
}

void
links_warn(const struct daemon *d)
{
	const struct weft_topo *t = d->topo;

	for (uint16_t p = 0; p < t->n_ports; p++) {
		const struct weft_topo_node *n = &t->node[t->port[p].node];

		if (!link_wire_moves_frames(t->port[p].wire))
			continue;
		cli_warn("port %s.%u: a wire that loses, repeats or mixes frames: in cxl mode "
			 "that is not always noticed",
			n->name, p - n->first_port);
		return; /* where one is, there are more */
	}
}
