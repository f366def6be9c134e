/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What all kinds of node have: weft_node.h. */

#include "weft_node.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAUSE_NS UINT64_C(500000) /* a longer time between polls is a pause */

/* Memory of a random generation, which every session tells: SESS-30. */
static bool
node_offers_memory(const struct weft_topo_node *t)
{
	return t->kind == WEFT_TOPO_GFD || (t->kind == WEFT_TOPO_HOST && t->gim != 0) ||
	       (t->kind == WEFT_TOPO_DEVICE && t->memory != 0);
}

int
weft_node_init(struct weft_node *n, const struct weft_node_kind *kind,
	const struct weft_node_cfg *cfg, char *err, size_t err_len)
{
	memset(n, 0, sizeof(*n));
	n->cfg = *cfg;
	n->kind = kind;
	n->topo = &cfg->topo->node[cfg->index];
	n->load = &cfg->load->node[cfg->index];
	if (node_offers_memory(n->topo)) {
		n->generation = cfg->world->random(cfg->world_arg);
		if (n->generation == 0) {
			snprintf(err, err_len, "node %s: no random bits", n->topo->name);
			return -EIO;
		}
	}
	if (n->topo->kind == WEFT_TOPO_HOST || n->topo->kind == WEFT_TOPO_DEVICE) {
		n->clock = cfg->world->alloc(cfg->world_arg, sizeof(*n->clock));
		snprintf(err, err_len, "node %s: out of memory", n->topo->name);
		if (n->clock == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
weft_node_fini(struct weft_node *n)
{
	const struct weft_node_world *w = n->cfg.world;

	for (uint16_t i = 0; i < n->n_links; i++) {
		if (n->link[i].end != NULL)
			weft_end_fini(n->link[i].end);
		w->free(n->cfg.world_arg, n->link[i].end);
		w->free(n->cfg.world_arg, n->link[i].waiting);
	}
	w->free(n->cfg.world_arg, n->link);
	w->free(n->cfg.world_arg, n->clock);
	n->link = NULL;
	n->n_links = 0;
}

void
weft_node_time(struct weft_node *n, uint64_t now_ns)
{
	const uint64_t passed_ns = now_ns - n->now_ns;

	n->now_ns = now_ns;
	if (passed_ns <= PAUSE_NS) {
		n->ends_ns += passed_ns;
		return;
	}
	n->ends_ns += PAUSE_NS;
	if (n->clock != NULL)
		weft_request_clock_forgive(n->clock, passed_ns - PAUSE_NS);
}

bool
weft_node_refuse(const struct weft_node_link *in, uint16_t spid)
{
	struct weft_node *n = in->node;

	weft_ingress_refused(&n->cfg.ingress_drops[in->port], WEFT_INGRESS_MESSAGES, spid);
	n->drops[WEFT_DROP_SPID]++;
	return true;
}
