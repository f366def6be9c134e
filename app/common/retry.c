/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

#include "retry.h"

void
retry_from_topo(struct weft_llr_cfg *c, const struct weft_topo_retry *r)
{
	const bool can_select = c->mode == WEFT_MODE_CXL || c->gap_decoding;

	if (r->window != 0)
		c->window = r->window;
	if (r->ack_every != 0)
		c->ack_every = r->ack_every;
	if (r->selective >= 0)
		c->selective = r->selective != 0 && can_select;
	if (r->rx_buffer != 0)
		c->rx_flits = r->rx_buffer;
	else if (c->rx_flits == 0 || r->window != 0)
		c->rx_flits = (uint16_t)(c->window - 1);
	if (!c->selective)
		c->rx_flits = 0;
}
