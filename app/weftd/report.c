/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the nodes counted, and whether all went well. Values are read while lcores write them: each
 * is whole, the set is not a snapshot. As JSON, as text and over telemetry: the files beside this one.
 */

#include "daemon.h"

uint64_t
report_drops(const struct node *n, enum weft_verdict v)
{
	uint64_t sum = n->node->drops[v] + weft_pipe_drops(n->rx, v);

	if (n->tx != NULL)
		sum += weft_pipe_drops(n->tx, v);
	if (v == WEFT_DROP_TX_FULL)
		for (uint16_t p = 0; p < n->n_ports; p++)
			sum += n->out[p].dropped;
	return sum;
}

bool
report_is_good(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (!weft_node_is_good(d->node[i].node))
			return false;
	return true;
}
