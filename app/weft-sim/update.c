/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rights that change at work, by the code that SIGHUP runs in weftd and in its order: all tables of
 * all nodes are made, hosts learn and let their open requests end, then one node after the other
 * gets its tables.
 */

#include "update.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define LOOK_NS (20 * US) /* whether hosts have let go */
#define WEIGHT 6 /* among the other faults */

const struct weft_topo *
update_topo(const struct sim *s)
{
	return s->faults.update == NULL ? s->topo : s->faults.update->now;
}

bool
update_is_on(const struct sim *s)
{
	return s->faults.update != NULL && s->faults.update->next != NULL;
}

static int
update_check(const struct sim *s, const struct weft_load *load, char *err, size_t err_len)
{
	const struct weft_load_version now = { s->topo, s->load, "drawn" };
	const struct weft_load_version next = { s->faults.update->other, load, "drawn change" };
	struct weft_topo_error why;

	if (weft_load_check_change(&now, &next, &why) == 0)
		return 0;
	return weft_errorf(err, err_len, -1, "%s", why.text);
}

int
update_open(struct sim *s, char *err, size_t err_len)
{
	struct weft_load_files files = { .topology = "drawn change" };
	char *text = drawn_change_text(s->opt, s->seed, &files.len);
	struct weft_load *load = NULL;
	struct weft_topo_error why;
	int rc;

	s->faults.update = arena_alloc(&s->memory.arena, sizeof(*s->faults.update));
	s->faults.update->now = s->topo;
	if (text == NULL)
		return 0;
	files.yaml = text;
	rc = weft_load_open(&s->faults.update->other, &load, &files, &why);
	if (rc != 0)
		snprintf(err, err_len, "%s", why.text);
	else
		rc = update_check(s, load, err, err_len);
	weft_load_free(load);
	free(text);
	if ((s->opt->without & WEFT_BIT64(FAULT_RIGHTS)) == 0)
		s->sc.fault.weight[FAULT_RIGHTS] = WEIGHT;
	return rc;
}

void
update_make(struct sim *s)
{
	struct sim_update *u = s->faults.update;

	if (u == NULL)
		return;
	u->node = arena_alloc(&s->memory.arena, s->topo->n_nodes * sizeof(*u->node));
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		u->node[i].by = s->topo;
}

void
update_free(struct sim *s)
{
	if (s->faults.update != NULL)
		weft_topo_free(s->faults.update->other);
}

/* --- a change --- */

static bool
update_never(void)
{
	return false;
}

static void
update_fail(const struct sim_node *n, int rc)
{
	if (rc != 0)
		cli_fail("seed %llu: change of rights of node %u: %s",
			(unsigned long long)n->sim->seed, n->pid, strerror(-rc));
}

static void
update_prepare_tables(struct sim_node *n, struct update_node *u, const struct weft_topo *next)
{
	char err[256];

	if (u->spare == NULL)
		u->spare = arena_alloc(&n->sim->memory.arena, n->tables.now->size);
	weft_tables_copy(u->spare, n->tables.now);
	u->spare->generation++;
	if (weft_node_set_tables(u->spare, &n->node.cfg, next, err, sizeof(err)) != 0)
		cli_fail("seed %llu: change of rights: %s", (unsigned long long)n->sim->seed, err);
	if (n->access != NULL &&
		weft_node_make_access(&n->node.cfg, next, NULL, &u->next, err, sizeof(err)) != 0)
		cli_fail("seed %llu: change of rights: %s", (unsigned long long)n->sim->seed, err);
}

static void
update_prepare_load(struct sim_node *n)
{
	const struct sim_update *u = n->sim->faults.update;

	update_fail(n, weft_node_prepare(
			       &n->node, u->now, u->next, update_never, &u->node[n->index].change));
}

static void
update_free_load(struct sim_node *n)
{
	struct update_node *u = &n->sim->faults.update->node[n->index];

	weft_node_change_free(&n->node, u->change);
	u->change = NULL;
}

void
update_begin(struct sim *s, uint64_t where, uint64_t gap_ns)
{
	struct sim_update *u = s->faults.update;

	if (u->next != NULL)
		return;
	u->next = u->now == s->topo ? u->other : s->topo;
	u->first = (uint16_t)(where % s->topo->n_nodes);
	u->done = 0;
	u->gap_ns = gap_ns;
	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		update_prepare_tables(&s->node[i], &u->node[i], u->next);
		update_prepare_load(&s->node[i]);
	}
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		weft_node_change(&s->node[i].node, u->node[i].change);
	heap_push(&s->heap, s->now_ns + LOOK_NS, EV_UPDATE, s);
}

void
update_node_started(struct sim_node *n)
{
	const struct sim_update *u = n->sim->faults.update;

	if (u == NULL || u->next == NULL)
		return;
	update_free_load(n);
	update_prepare_load(n);
	weft_node_change(&n->node, u->node[n->index].change);
}

static void
update_publish(struct sim_node *n)
{
	struct update_node *u = &n->sim->faults.update->node[n->index];
	struct weft_tables *old =
		(struct weft_tables *)(uintptr_t)weft_tables_publish(&n->tables, u->spare);

	u->spare = old;
	u->by = n->sim->faults.update->next;
	if (n->kind == WEFT_TOPO_SWITCH)
		n->way = weft_tables_route(n->tables.now, 0)->first;
	if (n->access == NULL)
		return;
	weft_gfam_publish(&n->access_now, u->next);
	sim_world.free(n, n->access);
	n->access = u->next;
}

static bool
update_is_waited_for(const struct sim *s)
{
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		if (weft_node_is_changing(&s->node[i].node))
			return true;
	return false;
}

void
update_go_on(struct sim *s)
{
	struct sim_update *u = s->faults.update;

	if (u->done == 0 && update_is_waited_for(s)) {
		heap_push(&s->heap, s->now_ns + LOOK_NS, EV_UPDATE, s);
		return;
	}
	update_publish(&s->node[(u->first + u->done++) % s->topo->n_nodes]);
	if (u->done < s->topo->n_nodes) {
		heap_push(&s->heap, s->now_ns + u->gap_ns, EV_UPDATE, s);
		return;
	}
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		update_free_load(&s->node[i]);
	u->now = u->next;
	u->next = NULL;
	s->total.rights_changed++;
}
