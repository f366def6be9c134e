/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Stores by their kinds, and what memory that one has must be like to be the fabric's. */

#include "store_priv.h"

#include <errno.h>
#include <sys/random.h>

#include "cli.h"

static const struct store_kind *const store_kinds[] = {
	&store_sqlite,
#ifdef WEFT_HAVE_CURL
	&store_etcd,
#endif
};

struct store *
store_open(const struct store_cfg *cfg)
{
	if (cfg->url == NULL)
		return store_sqlite.open(NULL, cfg);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(store_kinds); i++) {
		const size_t len = strlen(store_kinds[i]->scheme);

		if (strncmp(cfg->url, store_kinds[i]->scheme, len) != 0)
			continue;
		if (cfg->url[len] == '\0')
			cli_usage("--store: expected %s, got \"%s\"", store_kinds[i]->expects,
				cfg->url);
		return store_kinds[i]->open(cfg->url + len, cfg);
	}
#ifndef WEFT_HAVE_CURL
	if (strncmp(cfg->url, "etcd:", 5) == 0)
		cli_fail("--store %s: this weft-fm was built without libcurl: expected %s",
			cfg->url, store_sqlite.expects);
#endif
	cli_usage("--store: expected sqlite:PATH or etcd:http[s]://HOST:PORT[,...][/PREFIX], got "
		  "\"%s\"",
		cfg->url);
	return NULL;
}

void
store_close(struct store *s)
{
	if (s != NULL)
		s->kind->close(s);
}

bool
store_is_shared(const struct store *s)
{
	return s->kind->is_shared;
}

uint64_t
store_turn(struct store *s)
{
	return s->kind->turn(s);
}

bool
store_leads(const struct store *s)
{
	return s->kind->leads(s);
}

int
store_identity(struct store *s, struct store_identity *id)
{
	return s->kind->identity(s, id);
}

int
store_audit(struct store *s, const struct store_change *change)
{
	return s->kind->audit(s, change);
}

json_t *
store_history(struct store *s, unsigned int n)
{
	return s->kind->history(s, n);
}

const char *
store_why(const struct store *s)
{
	return s->why;
}

int
store_set_drained(struct store *s, const char *node, bool is_drained)
{
	return s->kind->set_drained(s, node, is_drained);
}

int
store_get_drained(struct store *s, const struct weft_topo *t, struct weft_fm_node *node)
{
	for (unsigned int i = 0; i < t->n_nodes; i++)
		node[i].is_drained = false;
	return s->kind->get_drained(s, t, node);
}

int
store_set_memories(struct store *s, const struct weft_topo *t, const struct memories *all)
{
	return s->kind->set_memories(s, t, all);
}

static void
store_has_no_place(const char *name)
{
	cli_fail("store: memory %s: expected its GFDs and hosts in the topology file, and room for "
		 "its group: use the file that it was made by, or release it by that first",
		name);
}

/* Two that have the same name, group or piece of memory: no manager wrote that. */
static void
store_check_pair(const struct memory *a, const struct memory *b)
{
	bool is_good = strcmp(a->name, b->name) != 0 && a->group != b->group;

	for (unsigned int i = 0; i < a->n_extents; i++)
		for (unsigned int k = 0; k < b->n_extents; k++) {
			const struct memory_extent *x = &a->extent[i], *y = &b->extent[k];

			if (x->gfd == y->gfd && x->dpa < y->dpa + y->size &&
				y->dpa < x->dpa + x->size)
				is_good = false;
		}
	if (!is_good)
		cli_fail("store: memories %s and %s: expected names, groups and places of their "
			 "own: put back a copy of the store in which they have them",
			a->name, b->name);
}

int
store_get_memories(struct store *s, const struct weft_topo *t, struct memories *all)
{
	int rc;

	all->n = 0;
	rc = s->kind->get_memories(s, t, all);
	for (unsigned int i = 0; rc == 0 && i < all->n; i++) {
		if (all->m[i].n_extents == 0 && !memory_is_released(&all->m[i]))
			store_has_no_place(all->m[i].name);
		for (unsigned int k = 0; k < i; k++)
			store_check_pair(&all->m[k], &all->m[i]);
	}
	return rc;
}

void
store_draw_uuid(uint8_t uuid[16])
{
	if (getrandom(uuid, 16, 0) != 16)
		cli_fail("no random numbers for a UUID");
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

/* Node of a name, of the kind that it must be; or -1. */
static int
store_node(const struct weft_topo *t, const char *name, unsigned int kind)
{
	const int node = name == NULL ? -1 : weft_topo_find(t, name);

	return node < 0 || t->node[node].kind != kind ? -1 : node;
}

struct memory *
store_add_memory(struct memories *all, const struct weft_topo *t, const char *name, int64_t group,
	int64_t segment)
{
	struct memory *m = &all->m[all->n];

	if (name == NULL || !memory_is_name(name))
		cli_fail("store: a memory of group %lld has a name that is none: expected 1 to %u "
			 "printable characters",
			(long long)group, MANAGER_NAME - 1);
	if (all->n == MEMORY_MAX || group < t->access.n_groups || group >= WEFT_TOPO_FM_GROUPS ||
		segment < 0 || segment >= t->map.n_segments)
		store_has_no_place(name);
	*m = (struct memory){ .group = (uint8_t)group, .segment = (uint16_t)segment };
	memcpy(m->name, name, strlen(name));
	all->n++;
	return m;
}

void
store_add_extent(
	const struct weft_topo *t, struct memory *m, const char *gfd, int64_t dpa, int64_t size)
{
	const int node = store_node(t, gfd, WEFT_TOPO_GFD);
	const struct memory_extent e = {
		.gfd = (uint16_t)node, .dpa = (uint64_t)dpa, .size = (uint64_t)size
	};

	if (node < 0 || m->n_extents == MEMORY_EXTENTS || e.size == 0 ||
		((e.dpa | e.size) & (WEFT_TOPO_BLOCK - 1)) != 0 || e.size > t->node[node].memory ||
		e.dpa > t->node[node].memory - e.size)
		store_has_no_place(m->name);
	m->extent[m->n_extents++] = e;
}

void
store_add_host(const struct weft_topo *t, struct memory *m, const char *host)
{
	const int node = store_node(t, host, WEFT_TOPO_HOST);

	if (node < 0 || m->n_hosts == MEMORY_HOSTS)
		store_has_no_place(m->name);
	m->host[m->n_hosts++] = (uint16_t)node;
}
