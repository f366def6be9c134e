/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A device that is no GFD: it asks and answers by services, such as UIO, and nothing by CXL.mem. */

#include "node_priv.h"

static bool
device_message(void *link, const struct weft_msg *m)
{
	struct weft_node_link *l = link;

	if (m->kind != WEFT_MSG_LLCTRL)
		node_drop(l->node, WEFT_DROP_WRONG_CLASS);
	return true;
}

const struct weft_node_kind node_device = {
	.name = "device",
	.topo_kind = WEFT_TOPO_DEVICE,
	.modes = 1 << WEFT_MODE_RXL | 1 << WEFT_MODE_CXL,
	.has_links = true,
	.message = device_message,
	.packet = node_packet,
	.link = node_follow,
	.poll = node_poll_services,
	.poison = node_poison_services,
};
