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

#define HOST_TOLD 0x01 /* of the flags of C100h: the manager has said so */
#define HOST_ANNOUNCED 0x01 /* of those of C101h: to be expected, not yet to be used */

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
		memcpy(g, c->host->grant, c->host->n * sizeof(*g));
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

static uint16_t
cci_host_get(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct cci_component *c = arg;
	const struct weft_topo *t = c->node->daemon->topo;
	struct weft_cci_get_host_memory_rsp out = { .flags = c->host->is_told ? HOST_TOLD : 0,
		.n = (uint16_t)c->host->n,
		.extent = rsp + WEFT_CCI_GET_HOST_MEMORY_RSP_LIST };
	int rc;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	for (unsigned int i = 0; i < c->host->n; i++) {
		const struct weft_topo_grant *g = &c->host->grant[i];
		const struct weft_cci_host_extent e = {
			.pid = t->node[g->gfd].pid, .grp = g->group, .dpa = g->base, .len = g->size
		};

		weft_cci_put_host_extent(rsp + WEFT_CCI_GET_HOST_MEMORY_RSP_LIST, i, &e);
	}
	rc = weft_cci_put_get_host_memory_rsp(rsp, *rsp_len, &out);
	if (rc < 0)
		return WEFT_CCI_INVALID_INPUT; /* a limit of responses below what it has */
	*rsp_len = (size_t)rc;
	return WEFT_CCI_SUCCESS;
}

/* Index of the GFD with a PID, or -1. */
static int
cci_host_gfd(const struct weft_topo *t, uint16_t pid)
{
	for (unsigned int g = 0; g < t->n_gfds; g++)
		if (t->node[t->gfd[g]].pid == pid)
			return t->gfd[g];
	return -1;
}

/* Extents of a request as memory of the host; whether that can be. */
static bool
cci_host_read(const struct cci_component *c, const struct weft_cci_set_host_memory_req *in,
	struct weft_topo_grant grant[CCI_HOST_EXTENTS])
{
	if (in->n > CCI_HOST_EXTENTS)
		return false;
	for (unsigned int i = 0; i < in->n; i++) {
		struct weft_cci_host_extent e;
		int gfd;

		weft_cci_get_host_extent(in->extent, i, &e);
		gfd = cci_host_gfd(c->node->daemon->topo, e.pid);
		if (gfd < 0)
			return false;
		grant[i] = (struct weft_topo_grant){ .host = c->node->index,
			.gfd = (uint16_t)gfd,
			.group = e.grp,
			.base = e.dpa,
			.size = e.len };
	}
	return true;
}

static uint16_t
cci_host_set(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	struct cci_component *c = arg;
	struct weft_topo_grant own[CCI_HOST_EXTENTS], *all;
	struct weft_cci_set_host_memory_req in;
	size_t n;
	int rc = weft_cci_get_set_host_memory_req(&in, req, len);

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc != 0)
		return rc == -EMSGSIZE ? WEFT_CCI_INVALID_PAYLOAD_LENGTH : WEFT_CCI_INVALID_INPUT;
	if (!cci_host_read(c, &in, own))
		return WEFT_CCI_INVALID_INPUT;
	rc = cci_host_collect(c, own, in.n, &all, &n);
	if (rc == 0)
		rc = update_memory(c->node->daemon, all, n, (in.flags & HOST_ANNOUNCED) != 0);
	free(all);
	if (rc != 0)
		return rc == -EINVAL ? WEFT_CCI_INVALID_INPUT : WEFT_CCI_RETRY_REQUIRED;
	if ((in.flags & HOST_ANNOUNCED) != 0)
		return WEFT_CCI_SUCCESS;
	c->host->n = in.n;
	memcpy(c->host->grant, own, in.n * sizeof(*own));
	c->host->is_told = true;
	weft_node_begin_load(c->node->node);
	return WEFT_CCI_SUCCESS;
}

static const struct weft_cci_command cci_host_commands[] = {
	{ WEFT_CCI_GET_HOST_MEMORY, 0, WEFT_CCI_WHO_FM, false, cci_host_get },
	{ WEFT_CCI_SET_HOST_MEMORY, WEFT_CCI_EFFECT_CONFIG, WEFT_CCI_WHO_FM, true, cci_host_set },
};

int
cci_begin_host(struct cci_component *c, struct weft_cci_component_cfg *cfg)
{
	if (c->node->daemon->topo->access.management != WEFT_TOPO_MANAGED_BY_FM)
		return -ENOTSUP;
	c->host = calloc(1, sizeof(*c->host));
	if (c->host == NULL)
		return -ENOMEM;
	cfg->type = WEFT_CCI_TYPE_HOST;
	cfg->pid = c->node->topo->pid;
	cfg->command = cci_host_commands;
	cfg->n_commands = WEFT_ARRAY_SIZE(cci_host_commands);
	cfg->arg = c;
	return 0;
}
