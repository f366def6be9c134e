/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Tables of nodes (lib/node/tables.c), put in force. */

#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FABRIC_EXTENTS 1024 /* of a GFD, beside those of the file */
#define FABRIC_TAGS 1024

static int
fabric_fail(const struct node *n, const char *what, int rc, char *err, size_t err_len)
{
	return weft_errorf(err, err_len, rc, "node %s: %s: %s", n->topo->name, what, strerror(-rc));
}

static void
fabric_free(const struct node *n, struct weft_gfam *g)
{
	n->node->cfg.world->free(n->node->cfg.world_arg, g);
}

int
fabric_tables(struct node *n, char *err, size_t err_len)
{
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = weft_node_tables_cfg(&n->node->cfg, edge);
	int rc = weft_tables_writer_init(&n->tables, &cfg, SOCKET_ID_ANY);

	if (rc != 0) {
		n->tables.slot.now = NULL;
		return fabric_fail(n, "routing tables", rc, err, err_len);
	}
	rc = weft_node_set_tables(
		weft_tables_begin(&n->tables), &n->node->cfg, n->daemon->topo, err, err_len);
	if (rc == 0)
		weft_tables_commit(&n->tables);
	return rc;
}

/*
 * Lists of the capacity of a GFD, which commands may change: NULL with 0 for what is no GFD, and
 * for one whose file names more ranges than lists hold.
 */
static int
fabric_make_lists(const struct node *n, const struct weft_topo *t, struct weft_gfam_dc **out)
{
	struct weft_gfam_dc_cfg cfg = { .extents = FABRIC_EXTENTS, .tags = FABRIC_TAGS };
	void *mem;

	*out = NULL;
	for (uint16_t i = 0; i < t->access.n_ranges; i++)
		cfg.extents = (uint16_t)(cfg.extents + (t->access.range[i].gfd == n->index));
	if (n->topo->kind != WEFT_TOPO_GFD || weft_gfam_dc_size(&cfg) == 0)
		return 0;
	mem = malloc(weft_gfam_dc_size(&cfg));
	if (mem == NULL)
		return -ENOMEM;
	*out = weft_gfam_dc_init(mem, &cfg);
	return 0;
}

int
fabric_access(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	int rc;

	if (!weft_node_has_access(&n->node->cfg))
		return 0;
	n->rights.log = calloc(1, sizeof(*n->rights.log));
	rc = n->rights.log == NULL ? -ENOMEM : fabric_make_lists(n, t, &n->rights.lists);
	if (rc != 0)
		return fabric_fail(n, "tables of rights", rc, err, err_len);
	rc = weft_node_make_access(
		&n->node->cfg, t, n->rights.lists, &n->rights.live, err, err_len);
	if (rc != 0)
		return rc;
	weft_gfam_publish(&n->rights.now, n->rights.live);
	weft_gfam_log_init(n->rights.log);
	n->rights.guard =
		(struct weft_gfam_checker){ .tables = &n->rights.now, .log = n->rights.log };
	n->node->cfg.guard = &n->rights.guard;
	return 0;
}

struct weft_gfam *
fabric_copy_access(struct node *n)
{
	const struct weft_gfam *live = n->rights.live;

	if (n->rights.next == NULL)
		n->rights.next = n->node->cfg.world->alloc(
			n->node->cfg.world_arg, weft_gfam_size(weft_gfam_cfg(live)));
	return n->rights.next == NULL ? NULL : weft_gfam_copy(n->rights.next, live);
}

void
fabric_publish_access(struct node *n)
{
	struct weft_gfam *old = n->rights.live;

	weft_gfam_publish(&n->rights.now, n->rights.next);
	n->rights.live = n->rights.next;
	n->rights.next = old;
}

/* Where a manager gives out memory, the file says only where it is for hosts. */
static int
fabric_prepare_access(struct node *n, const struct weft_topo *t, char *err, size_t err_len)
{
	struct weft_gfam *next;
	int rc;

	fabric_free_retired(n);
	if (t->access.management == WEFT_TOPO_MANAGED_BY_FM && n->rights.lists != NULL) {
		next = fabric_copy_access(n);
		rc = next == NULL ? -ENOMEM : weft_node_set_decoders(next, &n->node->cfg, t);
		return rc == 0 ? 0 : fabric_fail(n, "decoders", rc, err, err_len);
	}
	rc = fabric_make_lists(n, t, &n->rights.next_lists);
	if (rc == 0 && (n->rights.next_lists == NULL) != (n->rights.lists == NULL))
		rc = -E2BIG;
	return rc != 0 ? fabric_fail(n, "tables of rights", rc, err, err_len)
	               : weft_node_make_access(&n->node->cfg, t, n->rights.next_lists,
				 &n->rights.next, err, err_len);
}

int
fabric_prepare(struct node *n, const struct weft_topo *t, char *err, size_t err_len)
{
	int rc =
		weft_node_set_tables(weft_tables_begin(&n->tables), &n->node->cfg, t, err, err_len);

	return rc != 0 || n->rights.live == NULL ? rc : fabric_prepare_access(n, t, err, err_len);
}

/* But for its generation, which comes first. */
static bool
fabric_tables_differ(const struct weft_tables *a, const struct weft_tables *b)
{
	const size_t from = offsetof(struct weft_tables, size);

	return memcmp((const char *)a + from, (const char *)b + from, a->size - from) != 0;
}

bool
fabric_publish(struct node *n)
{
	bool is_changed = fabric_tables_differ(n->tables.live, n->tables.spare);

	if (is_changed)
		weft_tables_commit(&n->tables);
	if (n->rights.next != NULL && weft_gfam_differs(n->rights.live, n->rights.next)) {
		is_changed = true;
		fabric_publish_access(n);
	}
	if (n->rights.next_lists != NULL) {
		struct weft_gfam_dc *old = n->rights.lists;

		n->rights.lists = n->rights.next_lists;
		n->rights.next_lists = old;
	}
	return is_changed;
}

void
fabric_free_retired(struct node *n)
{
	fabric_free(n, n->rights.next);
	n->rights.next = NULL;
	free(n->rights.next_lists);
	n->rights.next_lists = NULL;
}

void
fabric_fini(struct node *n)
{
	fabric_free_retired(n);
	fabric_free(n, n->rights.live);
	free(n->rights.lists);
	free(n->rights.log);
	if (n->tables.slot.now != NULL)
		weft_tables_writer_fini(&n->tables);
}
