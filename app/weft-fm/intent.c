/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Desired state from a topology file: nodes, their PIDs, groups and rights. */

#include <poll.h>
#include <stdlib.h>

#include "cli.h"
#include "manager.h"

#define INTENT_GROUPS 31 /* that a command can name (fabric.md section (b), Q4) */

static void *
intent_alloc(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (p == NULL)
		cli_fail("out of memory");
	return p;
}

static void
intent_check(const struct weft_topo *t)
{
	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (t->node[i].kind != WEFT_TOPO_HOST && t->node[i].kind != WEFT_TOPO_SWITCH &&
			t->node[i].kind != WEFT_TOPO_GFD)
			cli_fail("%s is a %s: expected hosts, switches and GFDs, which are what a "
				 "manager can command",
				t->node[i].name, weft_topo_kind_words[t->node[i].kind]);
	if (t->access.n_groups > INTENT_GROUPS)
		cli_fail("%u groups: expected at most %u, which a row of a SAT can name",
			t->access.n_groups, INTENT_GROUPS);
}

static void
intent_add_node(struct intent *in, unsigned int i)
{
	const struct weft_topo *t = in->topo;
	const struct weft_topo_node *n = &t->node[i];
	struct weft_fm_node *w = &in->node[i];

	*w = (struct weft_fm_node){ .kind = n->kind,
		.pid = n->pid,
		.path = WEFT_FM_NO_PATH,
		.at_path = WEFT_FM_NO_PATH,
		.n_at = n->n_at };
	memcpy(w->name, n->name, sizeof(w->name));
	memcpy(w->at, n->at, sizeof(w->at));
	if (n->kind == WEFT_TOPO_HOST)
		return;
	w->path = in->n_paths;
	in->node_of[in->n_paths++] = (uint16_t)i;
}

/* A host is where its link leads to: at a port of a switch. */
static void
intent_place_host(struct intent *in, unsigned int i)
{
	const struct weft_topo *t = in->topo;
	const unsigned int peer = t->port[t->node[i].first_port].peer;
	const unsigned int at = t->port[peer].node;

	in->node[i].at_path = in->node[at].path;
	in->node[i].at_port = (uint8_t)(peer - t->node[at].first_port);
}

static void
intent_add_rights(struct intent *in, unsigned int gfd)
{
	const struct weft_topo *t = in->topo;
	uint32_t groups = 0;

	for (unsigned int r = 0; r < t->access.n_ranges; r++) {
		const struct weft_topo_range *range = &t->access.range[r];

		if (range->gfd != gfd)
			continue;
		groups |= UINT32_C(1) << range->group;
		in->extent[in->want.n_extents++] = (struct weft_fm_extent){
			.path = in->node[gfd].path,
			.group = range->group,
			.dpa = range->base,
			.len = range->size,
		};
	}
	for (unsigned int h = 0; h < t->n_hosts; h++) {
		const struct weft_topo_node *host = &t->node[t->host[h]];

		if (((uint32_t)host->access & groups) != 0)
			in->right[in->want.n_rights++] = (struct weft_fm_right){
				.path = in->node[gfd].path,
				.pid = host->pid,
				.groups = (uint32_t)host->access & groups,
			};
	}
}

void
intent_init(struct intent *in, const struct weft_topo *t)
{
	intent_check(t);
	*in = (struct intent){ .topo = t };
	in->node = intent_alloc(t->n_nodes, sizeof(*in->node));
	in->node_of = intent_alloc(t->n_nodes, sizeof(*in->node_of));
	in->extent = intent_alloc(t->access.n_ranges, sizeof(*in->extent));
	in->right = intent_alloc((size_t)t->n_gfds * t->n_hosts, sizeof(*in->right));
	for (unsigned int i = 0; i < t->n_nodes; i++)
		intent_add_node(in, i);
	for (unsigned int h = 0; h < t->n_hosts; h++)
		intent_place_host(in, t->host[h]);
	for (unsigned int g = 0; g < t->n_gfds; g++)
		intent_add_rights(in, t->gfd[g]);
	in->want.routing = t->routing;
	in->want.is_closed = true;
	in->want.has_memory = true;
	in->want.n_nodes = t->n_nodes;
	in->want.node = in->node;
	in->want.extent = in->extent;
	in->want.right = in->right;
}

void
intent_free(struct intent *in)
{
	free(in->node);
	free(in->node_of);
	free(in->extent);
	free(in->right);
	*in = (struct intent){ 0 };
}

uint32_t
intent_path(const struct intent *in, unsigned int node)
{
	return in->node[node].path;
}

const char *
intent_name(const struct intent *in, uint32_t path)
{
	return path >= in->n_paths ? "fabric" : in->topo->node[in->node_of[path]].name;
}
