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

/* Poison is what a fabric whose GFDs have late poison promises; anywhere else it is a fault. */
static bool
report_poison_is_expected(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->topo->n_gfds; i++)
		if (d->topo->node[d->topo->gfd[i]].late_poison > 0)
			return true;
	return false;
}

bool
report_is_good(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		const uint64_t *c;
		uint64_t failed;

		if (!uio_is_good(n) || (n->xfers != NULL && !transfers_are_good(n)))
			return false;
		if (n->topo->kind != WEFT_TOPO_HOST || n->traffic == NULL)
			continue;
		c = weft_traffic_counts(n->traffic);
		failed = c[WEFT_TRAFFIC_N_FAILED];
		if (report_poison_is_expected(d))
			failed -= c[WEFT_TRAFFIC_N_POISONED];
		if (c[WEFT_TRAFFIC_N_MISMATCHES] != 0 || failed != 0 || c[WEFT_TRAFFIC_N_LOST] != 0)
			return false;
	}
	return true;
}
