/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch in rxl mode: frames pass it in the buffers they came in, which are its world's, and
 * lose what FEC cannot correct. Who sent what was lost is told, now and then, for diagnosis. Hot.
 */

#include "node_priv.h"

/* Flits that FEC gave up, by connection, until their sender is told. */
struct rxl_switch_state {
	unsigned int n;
	uint64_t due_ns; /* when to tell; 0: nothing to tell */
	uint64_t reported; /* frames sent for them */
	struct loss {
		struct weft_wire_hdr hdr; /* of a frame that lost some */
		uint32_t flits;
	} loss[32];
};

static bool
rxl_switch_same_connection(const struct weft_wire_hdr *a, const struct weft_wire_hdr *b)
{
	return a->spid == b->spid && a->dpid == b->dpid && a->vc == b->vc &&
	       a->session == b->session;
}

/* Keep account of a loss; of more connections than there is room for, the stage's count tells. */
static void
rxl_switch_lost(void *arg, const struct weft_wire_hdr *h, unsigned int flits)
{
	const struct weft_node *n = arg;
	struct rxl_switch_state *l = n->state;
	unsigned int i = 0;

	while (i < l->n && !rxl_switch_same_connection(&l->loss[i].hdr, h))
		i++;
	if (i == WEFT_ARRAY_SIZE(l->loss))
		return;
	if (i == l->n) {
		l->loss[l->n++] = (struct loss){ .hdr = *h };
		if (l->due_ns == 0)
			l->due_ns = n->now_ns + n->cfg.rules->losses_ns;
	}
	l->loss[i].flits += flits;
}

/* Tell a sender, as if its other end did: from there it takes control frames of the session. */
static void
rxl_switch_report(struct weft_node *n, const struct loss *loss)
{
	struct weft_wire_hdr h = loss->hdr;
	struct weft_control c = { .type = WEFT_CONTROL_LOSS, .count = loss->flits };
	int port;

	h.kind = WEFT_WIRE_CONTROL;
	h.n_flits = 0;
	h.spid = loss->hdr.dpid;
	h.dpid = loss->hdr.spid;
	h.clock = 0;
	memcpy(c.node, n->topo->name, strnlen(n->topo->name, WEFT_NODE_ID_LEN));
	port = weft_node_port(n, h.dpid);
	if (port < 0) {
		node_drop(n, WEFT_DROP_NO_ROUTE);
		return;
	}
	if (n->cfg.world->send_control(n->cfg.world_arg, (uint16_t)port, &h, &c))
		((struct rxl_switch_state *)n->state)->reported++;
}

static unsigned int
rxl_switch_poll(struct weft_node *n, bool may_ask)
{
	struct rxl_switch_state *l = n->state;

	(void)may_ask;
	if (l->due_ns == 0 || n->now_ns < l->due_ns)
		return 0;
	for (unsigned int i = 0; i < l->n; i++)
		rxl_switch_report(n, &l->loss[i]);
	l->n = 0;
	l->due_ns = 0;
	return 0;
}

uint64_t
weft_node_losses_reported(const struct weft_node *n)
{
	return n->kind == &node_rxl_switch ? ((const struct rxl_switch_state *)n->state)->reported
	                                   : 0;
}

const struct weft_node_kind node_rxl_switch = {
	.name = "rxl switch",
	.topo_kind = WEFT_TOPO_SWITCH,
	.modes = 1 << WEFT_MODE_RXL,
	.state_len = sizeof(struct rxl_switch_state),
	.lost = rxl_switch_lost,
	.poll = rxl_switch_poll,
};
