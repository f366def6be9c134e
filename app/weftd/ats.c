/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is said of address translation. */

#include "watch.h"

#include "event.h"

void
ats_log_events(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		int c;

		while ((c = weft_node_next_isolated(n->node)) >= 0)
			event_put(EVENT_ISOLATED, n->topo->name, d->topo->node[c].name, 1,
				"%s did not complete an invalidation in %u ms: it is isolated, and "
				"the page is not reused",
				d->topo->node[c].name, n->load->move.timeout_ms);
	}
}
