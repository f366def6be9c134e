/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who may attach to hosts (attach.md section 4): rows of users and groups, of which the first that
 * is about somebody decides. Names of users are another thing on each machine: who runs the host
 * looks them up, and until then they are nobody's.
 */

#include <errno.h>
#include <stdlib.h>

#include "topo_priv.h"

const char *const topo_client_words[] = { [0] = "none",
	[WEFT_TOPO_CLIENT_READ] = "read",
	[WEFT_TOPO_CLIENT_WRITE] = "write",
	[WEFT_TOPO_CLIENT_READ | WEFT_TOPO_CLIENT_WRITE] = "rw",
	NULL };

static int
clients_take_who(struct topo_load *l, struct topo_client_src *src)
{
	static const unsigned int keys[] = { CLIENT_UID, CLIENT_GID, CLIENT_USER, CLIENT_GROUP };
	struct weft_topo_client *c = &src->out;
	unsigned int key = 0, n = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(keys); i++) {
		if (src->line_of[keys[i]] == 0)
			continue;
		key = keys[i];
		n++;
	}
	c->id = WEFT_TOPO_NO_ID;
	if (n != 1)
		return topo_fail(l, -EINVAL, src->line_of[0],
			"bad client, expected one of uid, gid, user and group, got %s",
			n == 0 ? "none" : "several");
	c->line = src->line_of[key];
	c->is_group = key == CLIENT_GID || key == CLIENT_GROUP;
	if (key == CLIENT_UID || key == CLIENT_GID)
		c->id = c->is_group ? src->gid : src->uid;
	memcpy(c->name, c->is_group ? src->group : src->user, sizeof(c->name));
	return 0;
}

static int
clients_take_regions(struct topo_load *l, struct topo_client_src *src)
{
	const struct topo_value *value = l->tree.value;
	struct weft_topo_attach *a = &l->t.attach;
	struct weft_topo_client *c = &src->out;

	c->is_all = src->line_of[CLIENT_REGIONS] == 0;
	if (c->is_all)
		return 0;
	c->first_region = a->n_list;
	for (unsigned int v = value[src->regions].first; v != 0; v = value[v].next) {
		const int r = weft_topo_find_region(&l->t, value[v].text, strlen(value[v].text));

		if (r < 0)
			return topo_fail(l, -EINVAL, value[v].line,
				"unknown region, expected a name under regions, of a gfd that is "
				"one segment, or segK, got \"%.48s\"",
				value[v].text);
		for (unsigned int i = 0; i < c->n_regions; i++)
			if (a->list[c->first_region + i] == r)
				return topo_fail(l, -EINVAL, value[v].line,
					"region twice, expected each once, got \"%.48s\" again",
					value[v].text);
		a->list[a->n_list++] = (uint16_t)r;
		c->n_regions++;
	}
	return 0;
}

/* Of two rows about one user or group nobody would come to the second. */
static int
clients_check_others(struct topo_load *l, unsigned int first, unsigned int i)
{
	const struct weft_topo_client *c = &l->of_node.client[first + i].out;

	for (unsigned int j = 0; j < i; j++) {
		const struct weft_topo_client *o = &l->of_node.client[first + j].out;

		if (o->is_group == c->is_group && o->id == c->id && strcmp(o->name, c->name) == 0)
			return topo_fail(l, -EINVAL, c->line,
				"%s twice, expected a row for each, as the first decides, got that "
				"of line %u again",
				c->is_group ? "group" : "user", o->line);
	}
	return 0;
}

static int
clients_take_rows(struct topo_load *l, unsigned int node)
{
	const struct weft_topo_node *host = &l->t.node[node];
	int rc = 0;

	if (host->clients.n != 0 && (host->translates || host->n_translations != 0)) {
		topo_where(l, "nodes[%u].clients", node);
		return topo_fail(l, -EINVAL, l->node[node].line_of[NODE_CLIENTS],
			"clients of a host with ats or translations, expected none, got those of "
			"%s",
			host->name);
	}
	for (unsigned int i = 0; i < host->clients.n && rc == 0; i++) {
		struct topo_client_src *src = &l->of_node.client[host->clients.first + i];
		const unsigned int before = l->n_fails;

		topo_where(l, "nodes[%u].clients[%u]", node, i);
		rc = clients_take_who(l, src);
		if (rc == 0 && l->n_fails == before)
			rc = clients_check_others(l, host->clients.first, i);
		topo_where(l, "nodes[%u].clients[%u].regions", node, i);
		if (rc == 0)
			rc = clients_take_regions(l, src);
		l->t.attach.client[host->clients.first + i] = src->out;
	}
	return rc;
}

int
topo_clients(struct topo_load *l)
{
	struct weft_topo *t = &l->t;
	int rc = 0;

	t->attach.n_clients = l->n[SECTION_CLIENT];
	t->attach.client = calloc((size_t)t->attach.n_clients + 1, sizeof(*t->attach.client));
	/* No value is in two lists. */
	t->attach.list = calloc((size_t)l->tree.n + 1, sizeof(*t->attach.list));
	if (t->attach.client == NULL || t->attach.list == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++)
		rc = clients_take_rows(l, i);
	return rc;
}

static bool
clients_has_group(const struct weft_topo_user *who, uint32_t gid)
{
	for (unsigned int i = 0; i < who->n_groups; i++)
		if (who->group[i] == gid)
			return true;
	return who->gid == gid;
}

const struct weft_topo_client *
weft_topo_client_of(const struct weft_topo *t, unsigned int host, const struct weft_topo_user *who)
{
	const struct weft_topo_clients *rows = &t->node[host].clients;

	for (unsigned int i = 0; i < rows->n; i++) {
		const struct weft_topo_client *c = &t->attach.client[rows->first + i];

		if (c->id != WEFT_TOPO_NO_ID &&
			(c->is_group ? clients_has_group(who, c->id) : who->uid == c->id))
			return c;
	}
	return NULL;
}

bool
weft_topo_client_may_open(
	const struct weft_topo *t, const struct weft_topo_client *c, unsigned int region)
{
	for (unsigned int i = 0; c != NULL && !c->is_all && i < c->n_regions; i++)
		if (t->attach.list[c->first_region + i] == region)
			return true;
	return c == NULL || c->is_all;
}
