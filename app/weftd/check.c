/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What --check says of a topology that is good. */

#include "check.h"
#include "segments.h"

#include <stdio.h>
#include <stdlib.h>

/* What a port leads to, how large its frames are, and the rule of the edge check. */
static void
check_print_port(const struct daemon *d, unsigned int node, unsigned int p)
{
	const struct weft_topo *t = d->topo;
	const unsigned int port = t->node[node].first_port + p;
	const uint16_t spid = weft_topo_port_spid(t, port);

	printf("  port %u to %s (%u flits a frame%s%s), takes ", p,
		t->node[t->neighbour[port]].name, weft_topo_port_flits(t, port),
		daemon_is_cxl(d) ? ", " : "",
		daemon_is_cxl(d) ? weft_form_words[t->port[port].form] : "");
	if (spid == WEFT_TOPO_ANY_SPID)
		printf("any SPID");
	else
		printf("SPID 0x%03x", spid);
}

static const char *
check_plural(unsigned int n)
{
	return n == 1 ? "" : "s";
}

static void
check_print_load(const struct weft_load_node *l)
{
	const char *between = "  load ";

	if (l->has_mem)
		printf("%smem", between);
	between = l->has_mem ? ", " : between;
	if (l->has_uio)
		printf("%suio", between);
	between = l->has_uio ? ", " : between;
	if (l->n_transfers != 0)
		printf("%s%u transfer%s", between, l->n_transfers, check_plural(l->n_transfers));
	between = l->n_transfers != 0 ? ", " : between;
	if (l->move.period_ms != 0)
		printf("%smove", between);
}

int
check_print(const struct daemon *d)
{
	printf("fabric %s: %u node%s, %u link%s, %u segment%s, routes %s; %s\n", d->topo->fabric,
		d->topo->n_nodes, check_plural(d->topo->n_nodes), d->topo->n_links,
		check_plural(d->topo->n_links), d->topo->map.n_segments,
		check_plural(d->topo->map.n_segments), weft_topo_routing_word(d->topo->routing),
		d->n_nodes == 0 ? "no node is of this machine" : "here:");
	if (d->topo->access.management == WEFT_TOPO_MANAGED_BY_FM)
		printf("  management: fm: switches start with empty tables, which a fabric manager "
		       "fills by CCI, and memory is nobody's until it gives it\n");
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct weft_topo_node *n = d->node[i].topo;

		printf("  %-6s %-12s PID 0x%03x", weft_topo_kind_words[n->kind], n->name, n->pid);
		for (uint16_t p = 0; p < n->n_ports; p++)
			check_print_port(d, d->node[i].index, p);
		check_print_load(d->node[i].load);
		putchar('\n');
		segments_print(d, d->node[i].index);
	}
	return EXIT_SUCCESS;
}
