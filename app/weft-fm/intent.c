/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Desired state from a topology file: nodes, their PIDs, groups and rights. */

#include <stdlib.h>

#include "cli.h"
#include "manager.h"

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
	if (t->access.n_groups > WEFT_TOPO_FM_GROUPS)
		cli_fail("%u groups: expected at most %u, which a row of a SAT can name",
			t->access.n_groups, WEFT_TOPO_FM_GROUPS);
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

/* Where the manager gives out memory, daemons of hosts are told what they have. */
static void
intent_add_agent(struct intent *in, unsigned int host)
{
	in->node[host].has_agent = true;
	in->node[host].agent_path = in->n_paths;
	in->node_of[in->n_paths++] = (uint16_t)host;
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
intent_add_extents(struct intent *in, unsigned int gfd)
{
	const struct weft_topo *t = in->topo;

	for (unsigned int r = 0; r < t->access.n_ranges; r++) {
		const struct weft_topo_range *range = &t->access.range[r];

		if (range->gfd == gfd)
			in->extent[in->n_file_extents++] = (struct weft_fm_extent){
				.path = in->node[gfd].path,
				.group = range->group,
				.dpa = range->base,
				.len = range->size,
			};
	}
}

/* Groups of a host, by the file and by operators. */
static uint32_t
intent_groups(const struct intent *in, const struct memories *s, unsigned int host)
{
	uint32_t groups = (uint32_t)in->topo->node[host].access;

	for (unsigned int i = 0; i < s->n; i++)
		if (memory_has_host(&s->m[i], host))
			groups |= UINT32_C(1) << s->m[i].group;
	return groups;
}

static void
intent_add_rights(struct intent *in, unsigned int gfd, const uint32_t *groups_of)
{
	const struct weft_topo *t = in->topo;
	uint32_t groups = 0;

	for (uint32_t i = 0; i < in->want.n_extents; i++)
		if (in->extent[i].path == in->node[gfd].path)
			groups |= UINT32_C(1) << in->extent[i].group;
	for (unsigned int h = 0; h < t->n_hosts; h++)
		if ((groups_of[h] & groups) != 0)
			in->right[in->want.n_rights++] = (struct weft_fm_right){
				.path = in->node[gfd].path,
				.pid = t->node[t->host[h]].pid,
				.groups = groups_of[h] & groups,
			};
}

void
intent_set_memory(struct intent *in, const struct memories *s)
{
	const struct weft_topo *t = in->topo;
	uint32_t *groups_of = intent_alloc(t->n_hosts, sizeof(*groups_of));

	in->want.n_extents = in->n_file_extents;
	in->want.n_rights = 0;
	for (unsigned int i = 0; i < s->n; i++)
		for (unsigned int k = 0; k < s->m[i].n_extents; k++)
			in->extent[in->want.n_extents++] = (struct weft_fm_extent){
				.path = in->node[s->m[i].extent[k].gfd].path,
				.group = s->m[i].group,
				.dpa = s->m[i].extent[k].dpa,
				.len = s->m[i].extent[k].size,
			};
	for (unsigned int h = 0; h < t->n_hosts; h++)
		groups_of[h] = intent_groups(in, s, t->host[h]);
	for (unsigned int g = 0; g < t->n_gfds; g++)
		intent_add_rights(in, t->gfd[g], groups_of);
	free(groups_of);
}

void
intent_init(struct intent *in, const struct weft_topo *t)
{
	intent_check(t);
	*in = (struct intent){ .topo = t };
	in->node = intent_alloc(t->n_nodes, sizeof(*in->node));
	in->node_of = intent_alloc(t->n_nodes, sizeof(*in->node_of));
	in->extent =
		intent_alloc(t->access.n_ranges + MEMORY_MAX * MEMORY_EXTENTS, sizeof(*in->extent));
	in->right = intent_alloc((size_t)t->n_gfds * t->n_hosts, sizeof(*in->right));
	for (unsigned int i = 0; i < t->n_nodes; i++)
		intent_add_node(in, i);
	for (unsigned int h = 0; h < t->n_hosts; h++)
		intent_place_host(in, t->host[h]);
	for (unsigned int h = 0; h < t->n_hosts; h++)
		if (t->access.management == WEFT_TOPO_MANAGED_BY_FM)
			intent_add_agent(in, t->host[h]);
	for (unsigned int g = 0; g < t->n_gfds; g++)
		intent_add_extents(in, t->gfd[g]);
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
