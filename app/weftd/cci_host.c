/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hosts here to a fabric manager that gives out memory (C100h, C101h; doc/fm.md): what a host has,
 * which its load, its checks and its programs go by. Who may reach memory is up to GFDs, whatever
 * is said here.
 */

#include "cci.h"
#include "update.h"

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

/* The host goes by what it was told: an answer, or the end of what runs in the background. */
static void
cci_host_done(struct daemon *d, void *component, int rc)
{
	struct cci_component *c = component;
	const bool is_announced = c->host->next.is_announced;

	(void)d;
	c->is_taking = false;
	c->took = rc;
	if (c->component.background.is_running)
		weft_cci_component_done(&c->component, weft_cci_host_taken(c->host, rc));
	if (rc == 0 && !is_announced)
		weft_node_begin_load(c->node->node);
}

/* As update_memory(), by the memory that the host is to have next. */
static int
cci_host_begin(struct cci_component *c)
{
	const struct weft_cci_host_next *next = &c->host->next;
	struct weft_topo_grant own[WEFT_CCI_HOST_EXTENTS], *all;
	size_t n_all;
	int rc;

	if (!cci_host_read(c, next->extent, next->n, own))
		return -EINVAL;
	rc = cci_host_collect(c, own, next->n, &all, &n_all);
	if (rc != 0)
		return rc;
	c->is_taking = true;
	rc = update_memory(c->node->daemon, all, n_all, next->is_announced, cci_host_done, c);
	free(all);
	c->is_taking = c->is_taking && rc == 0;
	return rc;
}

static int
cci_host_take(
	void *component, const struct weft_cci_host_extent *e, unsigned int n, bool is_announced)
{
	struct cci_component *c = component;
	const int rc = cci_host_begin(c);

	(void)e;
	(void)n;
	(void)is_announced;
	c->is_waiting = rc == -EBUSY;
	if (c->is_waiting || c->is_taking)
		return -EINPROGRESS;
	return rc == 0 ? c->took : rc;
}

void
cci_hosts_go_on(void)
{
	struct cci_component *c;

	for (unsigned int i = 0; !update_is_going() && (c = cci_component_at(i)) != NULL; i++) {
		int rc;

		if (c->host == NULL || !c->is_waiting)
			continue;
		c->is_waiting = false;
		rc = cci_host_begin(c);
		if (rc != 0)
			cci_host_done(c->node->daemon, c, rc);
	}
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
