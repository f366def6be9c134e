/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Physical Port Control (5102h) of the switches here. Ports have no pins: in reset a port drops all
 * that comes and goes, and its link is down to who asks. In cxl mode the session of the link ends,
 * and another begins afterwards; sessions that pass a switch in rxl mode stall meanwhile.
 */

#include "backlog.h"
#include "cci.h"

#define CCI_RESET_NS UINT64_C(100000000) /* so long a device may take to be there again */

/* In cxl mode the switch has an end of the link. */
static void
cci_reset_link(const struct node *n, unsigned int port)
{
	for (uint16_t i = 0; daemon_is_cxl(n->daemon) && i < n->node->n_links; i++)
		if (n->node->link[i].port == port)
			weft_link_reset(n->node->link[i].end);
}

static void
cci_hold_port(struct cci_component *c, unsigned int port, uint64_t until_ns)
{
	uint64_t *held_ns = &c->resets.until_ns[port];

	c->resets.n = c->resets.n + (until_ns != 0) - (*held_ns != 0);
	*held_ns = until_ns;
	__atomic_store_n(&c->node->out[port].is_held, until_ns != 0, __ATOMIC_RELAXED);
	if (until_ns != 0)
		cci_reset_link(c->node, port);
}

uint16_t
cci_port_control(void *component, unsigned int port, enum weft_cci_port_op op)
{
	struct cci_component *c = component;
	const uint64_t held_ns = c->resets.until_ns[port];

	if (op == WEFT_CCI_PORT_ASSERT && held_ns != UINT64_MAX)
		cci_hold_port(c, port, UINT64_MAX);
	else if (op == WEFT_CCI_PORT_DEASSERT && held_ns == UINT64_MAX)
		cci_hold_port(c, port, 0);
	else if (op == WEFT_CCI_PORT_RESET && held_ns != UINT64_MAX)
		cci_hold_port(c, port, node_now_ns() + CCI_RESET_NS);
	return WEFT_CCI_SUCCESS;
}

void
cci_end_resets(struct cci_component *c, uint64_t now_ns)
{
	for (unsigned int p = 0; c->resets.n != 0 && p < WEFT_ARRAY_SIZE(c->resets.until_ns); p++)
		if (c->resets.until_ns[p] != 0 && now_ns >= c->resets.until_ns[p] &&
			c->resets.until_ns[p] != UINT64_MAX)
			cci_hold_port(c, p, 0);
}
