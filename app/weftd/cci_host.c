/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hosts here to a fabric manager that gives out memory (C100h, C101h; doc/fm.md): what a host has,
 * which its load, its checks and its programs go by. Who may reach memory is up to GFDs, whatever
 * is said here.
 */

#include "cci.h"

#include <errno.h>
#include <stdlib.h>

/* Index of the GFD with a PID, or -1. */
static int
cci_host_gfd(const struct weft_topo *t, uint16_t pid)
{
	for (unsigned int g = 0; g < t->n_gfds; g++)
		if (t->node[t->gfd[g]].pid == pid)
			return t->gfd[g];
	return -1;
}

/* Extents as memory of the host; whether that can be. */
static bool
cci_host_read(const struct cci_component *c, const struct weft_cci_host_extent *e, unsigned int n,
	struct weft_topo_grant *grant)
{
	for (unsigned int i = 0; i < n; i++) {
		const int gfd = cci_host_gfd(c->node->daemon->topo, e[i].pid);

		if (gfd < 0)
			return false;
		grant[i] = (struct weft_topo_grant){ .host = c->node->index,
			.gfd = (uint16_t)gfd,
			.group = e[i].grp,
			.base = e[i].dpa,
			.size = e[i].len };
	}
	return true;
}

/* Of all hosts here, but @p but, whose memory is @p in place of what it has. */
static int
cci_host_collect(const struct cci_component *but, const struct weft_topo_grant *own, size_t n_own,
	struct weft_topo_grant **out, size_t *n)
{
	const struct cci_component *c;
	struct weft_topo_grant *g;

	*n = n_own;
	for (unsigned int i = 0; (c = cci_component_at(i)) != NULL; i++)
		*n += c != but && c->host != NULL ? c->host->n : 0;
	*out = g = calloc(*n + 1, sizeof(*g));
	if (g == NULL)
		return -ENOMEM;
	if (n_own != 0)
		memcpy(g, own, n_own * sizeof(*g));
	g += n_own;
	for (unsigned int i = 0; (c = cci_component_at(i)) != NULL; i++) {
		if (c == but || c->host == NULL)
			continue;
		(void)cci_host_read(c, c->host->extent, c->host->n, g);
		g += c->host->n;
	}
	return 0;
}

int
cci_keep_memory(struct weft_topo *t)
{
	struct weft_topo_grant *grant;
	size_t n;
	int rc = cci_host_collect(NULL, NULL, 0, &grant, &n);

	if (rc == 0)
		rc = weft_topo_set_memory(t, grant, n);
	free(grant);
	return rc;
}

static int
cci_host_take(
	void *component, const struct weft_cci_host_extent *e, unsigned int n, bool is_announced)
{
	struct cci_component *c = component;
	struct weft_topo_grant own[WEFT_CCI_HOST_EXTENTS], *all;
	size_t n_all;
	int rc;

	if (!cci_host_read(c, e, n, own))
		return -EINVAL;
	rc = cci_host_collect(c, own, n, &all, &n_all);
	if (rc == 0)
		rc = update_memory(c->node->daemon, all, n_all, is_announced);
	free(all);
	if (rc == 0 && !is_announced)
		weft_node_begin_load(c->node->node);
	return rc;
}

static const struct weft_cci_host_world cci_host_world = { .take = cci_host_take };

int
cci_begin_host(struct cci_component *c, struct weft_cci_component_cfg *cfg)
{
	if (c->node->daemon->topo->access.management != WEFT_TOPO_MANAGED_BY_FM)
		return -ENOTSUP;
	c->host = calloc(1, sizeof(*c->host));
	if (c->host == NULL)
		return -ENOMEM;
	weft_cci_host_init(c->host, &cci_host_world, c);
	cfg->type = WEFT_CCI_TYPE_HOST;
	cfg->pid = c->node->topo->pid;
	cfg->command = weft_cci_host_commands;
	cfg->n_commands = weft_cci_host_n_commands;
	cfg->arg = c->host;
	return 0;
}
