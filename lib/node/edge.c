/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Edge ports of a switch in cxl mode: behind those of HBR form a host or device speaks of addresses
 * alone (fabric.md 1.11, 1.12). What comes in is decoded by the port's tables and gets its ids, or
 * is answered here; what leaves loses them (weft_edge_link.h). Hot.
 */

#include "node_priv.h"

#include <errno.h>

#include "weft_edge_link.h"
#include "weft_uio.h"

const struct weft_counter weft_node_edge_counters[WEFT_NODE_EDGE_N_COUNTERS] = {
	[WEFT_NODE_EDGE_N_FAST] = { "fast", "requests", "Sent to a GFD by FAST" },
	[WEFT_NODE_EDGE_N_GIM] = { "gim_fast", "requests", "Sent to a host by FAST (flow 1)" },
	[WEFT_NODE_EDGE_N_PREFIX] = { "gim_prefix", "requests",
		"Sent to a host by their prefix (flow 2)" },
	[WEFT_NODE_EDGE_N_LDST] = { "ldst", "requests", "Sent to a device by LDST" },
	[WEFT_NODE_EDGE_N_PREFIX_ADDED] = { "prefix_added", "requests",
		"Came in and were given a prefix" },
	[WEFT_NODE_EDGE_N_EGRESS_UR] = { "egress_ur", "requests",
		"Came in and were refused, as the port adds no prefix" },
	[WEFT_NODE_EDGE_N_BY_PREFIX] = { "answers_prefix", "packets",
		"Answers that went by their prefix" },
	[WEFT_NODE_EDGE_N_REROUTED] = { "answers_rerouted", "packets",
		"Answers that went by the re-router" },
	[WEFT_NODE_EDGE_N_UNEXPECTED] = { "unexpected", "packets",
		"Answers dropped, as the port may not send them (Unexpected Completion)" },
};

int
edges_init(struct weft_node *n)
{
	const struct weft_topo *t = n->cfg.topo;
	uint16_t table = 0;

	for (uint16_t p = 0; p < n->n_links; p++) {
		struct weft_node_link *l = &n->link[p];

		if (t->port[n->topo->first_port + p].form != WEFT_FORM_HBR)
			continue;
		l->edge = node_alloc(n, sizeof(*l->edge));
		if (l->edge == NULL)
			return -ENOMEM;
		l->edge->table = table++;
		l->edge->is_host = t->node[l->topo_node].kind == WEFT_TOPO_HOST;
	}
	return 0;
}

static const struct weft_edge *
edge_tables(const struct weft_node_link *l)
{
	return weft_tables_edge(weft_tables_now(l->node->cfg.tables), l->edge->table);
}

/* --- messages --- */

enum edge_way
edge_message_in(struct weft_node_link *in, const struct weft_msg *m, struct weft_msg *on)
{
	enum weft_edge_reason why;
	int rc;

	*on = *m;
	why = weft_edge_msg_in(edge_tables(in), on);
	if (why == WEFT_EDGE_OK)
		return EDGE_ON;
	if (why != WEFT_EDGE_UNEXPECTED) {
		rc = node_send(in, on, false);
		if (rc == -EAGAIN)
			return EDGE_WAITS;
		weft_node_set_due(in, 0); /* or its link is down, and nobody waits for the answer */
	}
	in->edge->stopped[why]++;
	return EDGE_DONE;
}

/* --- packets --- */

void
edge_count_request(uint64_t *count, const struct weft_topo *t, const struct weft_edge_decision *d)
{
	enum weft_node_edge_counter c = WEFT_NODE_EDGE_N_FAST;

	if (d->decoder == WEFT_EDGE_BY_PREFIX)
		c = WEFT_NODE_EDGE_N_PREFIX;
	else if (d->decoder == WEFT_EDGE_BY_LDST)
		c = WEFT_NODE_EDGE_N_LDST;
	else
		for (unsigned int h = 0; h < t->n_hosts; h++)
			if (t->node[t->host[h]].pid == d->dpid)
				c = WEFT_NODE_EDGE_N_GIM;
	count[c]++;
}

void
edge_count_answer(uint64_t *count, const struct weft_edge_decision *d)
{
	count[d->reason != WEFT_EDGE_OK             ? WEFT_NODE_EDGE_N_UNEXPECTED
		: d->decoder == WEFT_EDGE_BY_PREFIX ? WEFT_NODE_EDGE_N_BY_PREFIX
						    : WEFT_NODE_EDGE_N_REROUTED]++;
}

/* What may not go on. Requests are answered, the rest is dropped. */
static enum edge_way
edge_stop(struct weft_node_link *in, const struct weft_io_tlp *t, uint8_t why)
{
	struct weft_io_tlp cpl;
	int rc = 0;

	if (weft_uio_refuse(t, WEFT_UIO_UR, 0, &cpl) == 0)
		rc = weft_link_send_io(in->end, &cpl);
	if (rc == -EAGAIN)
		return EDGE_WAITS;
	weft_node_set_due(in, 0);
	in->edge->uio_stopped[why]++;
	return EDGE_DONE;
}

bool
edge_packet_in(struct weft_node_link *in, const struct weft_io_tlp *t)
{
	const bool is_request = weft_io_class(t) == WEFT_IO_REQUEST;
	const int requester = weft_edge_requester(t);
	struct weft_node_edge *e = in->edge;
	struct weft_edge_decision d;
	struct weft_io_tlp on = *t;

	/* On an HBR link rights go by the requester id, which must be the port's own. */
	if (is_request && requester >= 0 && requester != in->pid)
		return weft_node_refuse(in, (uint16_t)requester & (WEFT_PIDS - 1));
	weft_edge_tlp_in(edge_tables(in), e->is_host, &on, &d);
	if (d.reason != WEFT_EDGE_OK && is_request)
		return edge_stop(in, t, d.reason) == EDGE_DONE;
	if (d.reason == WEFT_EDGE_OK && !cxl_switch_send_packet(in->node, &on))
		return false;
	if (is_request)
		edge_count_request(e->count, in->node->cfg.topo, &d);
	else
		edge_count_answer(e->count, &d);
	return true;
}

enum edge_way
edge_packet_out(struct weft_node_link *out, struct weft_io_tlp *t)
{
	struct weft_io_tlp cpl;

	switch (weft_edge_tlp_out(edge_tables(out), t)) {
	case WEFT_EGRESS_PASS: return EDGE_ON;
	case WEFT_EGRESS_PREFIX:
		if (!weft_link_can_send_io(out->end, (enum weft_io_class)weft_io_class(t)))
			return EDGE_WAITS;
		out->edge->count[WEFT_NODE_EDGE_N_PREFIX_ADDED]++;
		return EDGE_ON;
	case WEFT_EGRESS_UR: break;
	default: return EDGE_DONE;
	}
	if (weft_uio_refuse(t, WEFT_UIO_UR, 0, &cpl) == 0) {
		cpl.spid = out->pid;
		cpl.dpid = t->spid;
		cpl.pif = true;
		if (!cxl_switch_send_packet(out->node, &cpl))
			return EDGE_WAITS;
	}
	out->edge->count[WEFT_NODE_EDGE_N_EGRESS_UR]++;
	return EDGE_DONE;
}
