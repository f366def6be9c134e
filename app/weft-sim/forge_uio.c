/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node that sends by UIO what it may not, to memory that a host offers in windows. Where its link
 * has PBR form it is a request that is to get no prefix, which is refused for that; where a switch
 * decodes, one under the requester id of a node that the window names, which the switch drops.
 * Memory that serves it gets a line that no source writes.
 */

#include "sim.h"

#include <string.h>

#include "weft_uio.h"

#define WEIGHT 4 /* among the other faults */
#define TAG (WEFT_UIO_TAGS - 1) /* no requester has so many */
#define FORGED 0xEE /* each byte of the line: no source writes such a line, nor new memory */

void
forge_uio_draw(struct sim *s)
{
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		if (s->topo->node[i].n_windows != 0 &&
			(s->opt->without & WEFT_BIT64(FAULT_UIO)) == 0)
			s->sc.fault.weight[FAULT_UIO] = WEIGHT;
}

void *
forge_uio_mapped(struct sim_node *n, void *mem, size_t len)
{
	const struct weft_topo_node *t = &n->sim->topo->node[n->index];

	if (t->kind == WEFT_TOPO_HOST && len == t->gim && n->host.offered == NULL)
		n->host.offered = mem;
	return mem;
}

void
forge_uio_look(struct sim *s)
{
	uint8_t forged[WEFT_MSG_DATA_LEN];

	memset(forged, FORGED, sizeof(forged));
	for (uint16_t i = 0; i < s->topo->n_hosts; i++) {
		const struct sim_node *n = &s->node[s->topo->host[i]];
		const uint64_t len = n->host.offered == NULL ? 0 : s->topo->node[n->index].gim;

		for (uint64_t at = 0; at < len; at += WEFT_MSG_DATA_LEN)
			if (memcmp(n->host.offered + at, forged, sizeof(forged)) == 0)
				violation(s,
					"host %u lets a node write that does not say who it is",
					n->pid);
	}
}

/* A host with windows, from number @p at on; NULL: none. */
static const struct sim_node *
forge_uio_host(const struct sim *s, uint64_t at)
{
	for (uint16_t i = 0; i < s->topo->n_hosts; i++) {
		const uint16_t node = s->topo->host[(at + i) % s->topo->n_hosts];

		if (s->topo->node[node].n_windows != 0)
			return &s->node[node];
	}
	return NULL;
}

static bool
forge_uio_names(const struct weft_topo *t, const struct weft_topo_window *w, uint16_t node)
{
	for (unsigned int k = 0; k < w->nodes.n; k++)
		if (t->list[w->nodes.first + k] == node)
			return true;
	return false;
}

/* Address of a line of the window @p w of @p host. */
static uint64_t
forge_uio_address(const struct sim *s, const struct sim_node *host,
	const struct weft_topo_window *w, uint64_t line)
{
	const struct weft_topo *t = s->topo;

	for (unsigned int i = 0; i < t->map.n_segments; i++)
		if (t->map.target[t->map.segment[i].first_target].node == host->index)
			return t->map.segment[i].base + w->base +
			       line % (w->size / WEFT_MSG_DATA_LEN) * WEFT_MSG_DATA_LEN;
	return 0;
}

static void
forge_uio_send(struct sim_end *e, const struct sim_node *host, uint64_t addr, uint16_t requester)
{
	struct sim_node *n = e->node;
	uint8_t data[WEFT_MSG_DATA_LEN];
	const struct weft_uio u = { .kind = WEFT_UIO_WRITE,
		.requester = requester,
		.tag = TAG,
		.len = sizeof(data),
		.addr = addr,
		.data = data };
	struct weft_io_tlp t;

	memset(data, FORGED, sizeof(data));
	weft_uio_encode(&t, &u);
	if (!n->node.is_hbr) {
		t.spid = n->pid;
		t.dpid = host->pid;
	}
	sim_node_time(n);
	if (weft_link_send_io(e->end, &t) != 0)
		return;
	if (n->node.is_hbr)
		e->peer->node->host.refusals_due++;
	else
		n->host.refusals_due++;
	edge_flush(e);
}

void
forge_uio(struct sim *s, uint64_t where)
{
	const struct weft_topo *t = s->topo;
	const struct sim_node *host = forge_uio_host(s, where);
	struct sim_node *n = &s->node[(where >> 8) % t->n_nodes];
	const struct weft_topo_window *w;
	struct sim_end *e;
	uint16_t requester = n->pid;

	forge_uio_look(s);
	if (host == NULL || host == n || !n->node.load->has_uio || n->resume_ns != 0 ||
		n->life.state != LIFE_RUNS)
		return;
	w = &t->access.window[t->node[host->index].first_window +
			      (where >> 16) % t->node[host->index].n_windows];
	if (n->node.is_hbr) {
		if (w->nodes.n == 0 || forge_uio_names(t, w, n->index))
			return;
		requester = t->node[t->list[w->nodes.first + (where >> 20) % w->nodes.n]].pid;
	}
	e = s->sc.mode == WEFT_MODE_CXL ? n->end : node_end_of(n, host->pid);
	if (e != NULL && e->session != 0)
		forge_uio_send(e, host, forge_uio_address(s, host, w, where >> 32), requester);
}

bool
forge_uio_is_due(struct sim_node *n, enum weft_verdict why)
{
	const bool is_switch = n->kind == WEFT_TOPO_SWITCH;

	if (n->host.refusals_due == 0 || why != (is_switch ? WEFT_DROP_SPID : WEFT_DROP_NO_TAG))
		return false;
	n->host.refusals_due--;
	return true;
}
