/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What may change in a fabric under load: nothing of the load, and no segment that it uses. */

#include <stdio.h>

#include "load_priv.h"

struct change {
	const struct weft_load_version *now, *next;
	struct weft_topo_error *err;
};

#define PART(member)                                                                               \
	{                                                                                          \
		offsetof(struct load_src, out.member),                                             \
			sizeof(((const struct weft_load_node *)NULL)->member)                      \
	}

static int
load_compare_part(const struct change *c, unsigned int node, enum load_section_id id, bool was,
	bool is, const void *now, const void *next)
{
	static const struct {
		size_t offset, len;
	} part[] = { [SECTION_LOAD_MEM] = PART(mem),
		[SECTION_LOAD_UIO] = PART(uio),
		[SECTION_LOAD_MOVE] = PART(move) };
	const struct topo_section *s = &load_section[id];
	char where[WEFT_TOPO_NAME_ROOM + 32], path[16];
	const struct topo_kept kept = { part[id].offset, part[id].len, now, next };

	snprintf(where, sizeof(where), "load of %s", c->now->topo->node[node].name);
	snprintf(path, sizeof(path), "%s.", s->name);
	if (was != is)
		return topo_refuse(c->err, c->next->file, where,
			"%s cannot change while the fabric runs", s->name);
	return topo_compare(c->err, c->next->file, where, path, s, &kept);
}

static int
load_compare_transfers(const struct change *c, unsigned int node)
{
	const struct weft_load *now = c->now->load, *next = c->next->load;
	const struct weft_load_node *a = &now->node[node], *b = &next->node[node];
	char where[WEFT_TOPO_NAME_ROOM + 32];

	snprintf(where, sizeof(where), "load of %s", c->now->topo->node[node].name);
	if (a->n_transfers != b->n_transfers)
		return topo_refuse(c->err, c->next->file, where,
			"transfers cannot change while the fabric runs");
	for (unsigned int i = 0; i < a->n_transfers; i++)
		if (memcmp(&now->transfer[a->first_transfer + i],
			    &next->transfer[b->first_transfer + i], sizeof(*now->transfer)) != 0)
			return topo_refuse(c->err, c->next->file, where,
				"transfers[%u] cannot change while the fabric runs", i);
	return 0;
}

static int
load_compare_nodes(const struct change *c)
{
	int rc = 0;

	for (unsigned int i = 0; i < c->now->load->n_nodes && rc == 0; i++) {
		const struct weft_load_node *a = &c->now->load->node[i];
		const struct weft_load_node *b = &c->next->load->node[i];

		rc = load_compare_part(
			c, i, SECTION_LOAD_MEM, a->has_mem, b->has_mem, &a->mem, &b->mem);
		if (rc == 0)
			rc = load_compare_part(
				c, i, SECTION_LOAD_UIO, a->has_uio, b->has_uio, &a->uio, &b->uio);
		if (rc == 0)
			rc = load_compare_part(
				c, i, SECTION_LOAD_MOVE, true, true, &a->move, &b->move);
		if (rc == 0)
			rc = load_compare_transfers(c, i);
	}
	return rc;
}

/* Sources and transfers know what stands where: their segments stay. */
static int
load_compare_segments(const struct change *c)
{
	const struct weft_topo *now = c->now->topo;
	const struct weft_topo_node *user = NULL;

	for (unsigned int i = 0; i < now->n_nodes && user == NULL; i++)
		if (c->now->load->node[i].has_mem || c->now->load->node[i].has_uio ||
			c->now->load->node[i].n_transfers != 0)
			user = &now->node[i];
	for (unsigned int s = 0; user != NULL && s < now->map.n_segments; s++)
		if (!topo_same_segment(now, c->next->topo, s))
			return topo_refuse(c->err, c->next->file, "",
				"segments[%u] cannot change while %s %s uses it", s,
				weft_topo_kind_words[user->kind], user->name);
	return 0;
}

int
weft_load_check_change(const struct weft_load_version *now, const struct weft_load_version *next,
	struct weft_topo_error *err)
{
	const struct change c = { now, next, err };
	int rc;

	/* First, as it brings CXL.io packets of its own. */
	if (now->load->has_uio != next->load->has_uio)
		return topo_refuse(
			err, next->file, "", "load by uio cannot come or go while the fabric runs");
	rc = weft_topo_check_change(now->topo, next->topo, next->file, err);
	if (rc == 0)
		rc = load_compare_nodes(&c);
	return rc == 0 ? load_compare_segments(&c) : rc;
}
