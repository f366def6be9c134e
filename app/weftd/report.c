/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the nodes counted, and whether all went well. Values are read while lcores write them: each
 * is whole, the set is not a snapshot. As JSON, as text and over telemetry: the files beside this
 * one.
 */

#include "report.h"
#include "backlog.h"
#include "transfer.h"

#include <inttypes.h>

#include "cli.h"

uint64_t
report_drops(const struct node *n, enum weft_verdict v)
{
	uint64_t sum = n->node->drops[v] + weft_pipe_drops(n->rx, v);

	if (n->tx != NULL)
		sum += weft_pipe_drops(n->tx, v);
	for (uint16_t p = 0; v == WEFT_DROP_TX_FULL && p < n->n_ports; p++)
		sum += n->out[p].dropped;
	for (uint16_t p = 0; v == WEFT_DROP_PORT_DOWN && p < n->n_ports; p++)
		sum += __atomic_load_n(&n->out[p].down, __ATOMIC_RELAXED);
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

static void
report_fault(const struct node *n, const char *what, const struct weft_node_requests *r)
{
	const uint64_t *c = weft_traffic_counts(r->traffic);
	const uint64_t lost = c[WEFT_TRAFFIC_N_LOST], wrong = c[WEFT_TRAFFIC_N_MISMATCHES];
	const uint64_t failed = c[WEFT_TRAFFIC_N_FAILED];

	if (lost + wrong + failed != 0)
		cli_warn("%s %s: %s: expected every request answered and every line right, got "
			 "%" PRIu64 " lost, %" PRIu64 " mismatches, %" PRIu64 " failed",
			weft_topo_kind_words[n->topo->kind], n->topo->name, what, lost, wrong,
			failed);
}

void
report_faults(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		struct weft_node_requests r;

		if (weft_node_is_good(n->node))
			continue;
		if (weft_node_mem(n->node, &r) && r.traffic != NULL)
			report_fault(n, "mem", &r);
		if (weft_node_uio(n->node, &r) && r.traffic != NULL)
			report_fault(n, "uio", &r);
		if (weft_node_transfers(n->node) != NULL)
			transfers_say_faults(n);
	}
}
