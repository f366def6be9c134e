/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * SIGHUP: the topology file is read again, and routes, segments, groups and rights are changed
 * under traffic. All tables of all nodes here are made before any is put in force; one that cannot
 * be made leaves everything as it was. On the control thread.
 */

#include "attach.h"
#include "cci.h"
#include "fabric.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "event.h"

#define POLL_NS 50000 /* for hosts that let open requests end */

static uint64_t
update_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Frames of a connection were sized by its path. */
static int
update_check_frames(const struct daemon *d, const struct weft_topo *t, struct weft_topo_error *e)
{
	for (uint16_t i = 0; i < d->n_nodes && !daemon_is_cxl(d); i++) {
		const struct node *n = &d->node[i];

		for (uint16_t p = 0; p < n->node->n_links; p++) {
			const uint16_t other = n->node->link[p].topo_node;
			const unsigned int fit = weft_topo_path_flits(t, n->index, other);

			if (fit >= n->node->link[p].max_flits)
				continue;
			snprintf(e->text, sizeof(e->text),
				"%s: routing: expected ways for frames of %u flits between %s and "
				"%s, got %u",
				d->cfg.topology, n->node->link[p].max_flits, n->topo->name,
				t->node[other].name, fit);
			return -EINVAL;
		}
	}
	return 0;
}

/* The file as it is now, if the fabric here can go on by it. */
static struct weft_topo *
update_load(const struct daemon *d, struct weft_topo_error *e)
{
	const struct weft_topo *now = daemon_now(d);
	struct weft_load_files files = daemon_files(d);
	const struct weft_load_version began = { d->topo, d->load, d->cfg.topology };
	struct weft_load *l = NULL;
	struct weft_topo *t = NULL;
	int rc;

	if (d->cfg.topology == NULL) {
		snprintf(e->text, sizeof(e->text), "the built-in fabric has no file to read again");
		return NULL;
	}
	snprintf(e->text, sizeof(e->text), "out of memory");
	files.is_stopped = daemon_is_stopped;
	rc = weft_load_open(&t, &l, &files, e);
	if (rc == 0) {
		const struct weft_load_version next = { t, l, d->cfg.topology };

		rc = weft_load_check_change(&began, &next, e);
	}
	weft_load_free(l);
	if (rc == 0 && t->access.management == WEFT_TOPO_MANAGED_BY_FM)
		rc = cci_keep_memory(t);
	if (rc == 0)
		rc = attach_resolve(d, t, e);
	if (rc == 0)
		rc = update_check_frames(d, t, e);
	/* Switches that hold messages back must not come to wait for each other. */
	if (rc == 0 && daemon_is_cxl(d) &&
		memcmp(now->route, t->route, (size_t)t->n_nodes * t->n_nodes) != 0)
		rc = weft_topo_check_mixed_routes(now, t, d->cfg.topology, e);
	if (rc == 0)
		return t;
	weft_topo_free(t);
	return NULL;
}

static int
update_prepare(struct daemon *d, const struct weft_topo *t, struct weft_node_change **change,
	char *err, size_t err_len)
{
	int rc = 0;

	snprintf(err, err_len, "out of memory");
	for (uint16_t i = 0; i < d->n_nodes && rc == 0; i++) {
		rc = fabric_prepare(&d->node[i], t, err, err_len);
		if (rc == 0)
			rc = weft_node_prepare(
				d->node[i].node, daemon_now(d), t, daemon_is_stopped, &change[i]);
	}
	return rc;
}

/* Hosts learn first: none may be surprised by an answer of the new tables. False: the run ends. */
static bool
update_tell_hosts(struct daemon *d, struct weft_node_change *const *change)
{
	const struct timespec nap = { .tv_nsec = POLL_NS };

	/* On shutdown weft_node_prepare() returns half a table; do not publish it. */
	if (daemon_is_stopped())
		return false;
	for (uint16_t i = 0; i < d->n_nodes; i++)
		weft_node_change(d->node[i].node, change[i]);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		while (weft_node_is_changing(d->node[i].node) && !daemon_is_stopped())
			nanosleep(&nap, NULL);
	if (!daemon_is_stopped())
		return true;
	for (uint16_t i = 0; i < d->n_nodes; i++)
		weft_node_change(d->node[i].node, NULL);
	weft_loop_quiesce();
	return false;
}

/* What programs may not do any more has ended before that. False: the run ends. */
static bool
update_tell_clients(const struct weft_topo *t)
{
	const struct timespec nap = { .tv_nsec = POLL_NS };

	/* Hosts may be beginning what they have looked at: only then it is seen to be open. */
	attach_change(t, true);
	weft_loop_quiesce();
	while (!attach_change(t, true)) {
		if (daemon_is_stopped())
			return false;
		nanosleep(&nap, NULL);
	}
	return true;
}

static bool
update_is_same_client(const struct weft_topo_client *a, const struct weft_topo_client *b)
{
	return a->is_group == b->is_group && a->is_all == b->is_all && a->rights == b->rights &&
	       a->share == b->share && a->n_regions == b->n_regions &&
	       a->first_region == b->first_region && a->id == b->id &&
	       strcmp(a->name, b->name) == 0;
}

/* Whether programs may do what they could: the same regions, and clients in the same order. */
static bool
update_is_same_for_programs(const struct weft_topo *a, const struct weft_topo *b)
{
	const struct weft_topo_attach *x = &a->attach, *y = &b->attach;

	if (x->n_regions != y->n_regions || x->n_clients != y->n_clients ||
		x->n_list != y->n_list ||
		(x->n_list != 0 && memcmp(x->list, y->list, x->n_list * sizeof(*x->list)) != 0))
		return false;
	for (unsigned int i = 0; i < x->n_regions; i++)
		if (strcmp(x->region[i].name, y->region[i].name) != 0 ||
			x->region[i].segment != y->region[i].segment ||
			x->region[i].offset != y->region[i].offset ||
			x->region[i].size != y->region[i].size)
			return false;
	for (uint32_t i = 0; i < x->n_clients; i++)
		if (!update_is_same_client(&x->client[i], &y->client[i]))
			return false;
	for (unsigned int i = 0; i < a->n_nodes; i++)
		if (a->node[i].clients.first != b->node[i].clients.first ||
			a->node[i].clients.n != b->node[i].clients.n)
			return false;
	return true;
}

/* Whether anything differs: what hosts expect, ways, what programs may do; tables are not in it. */
static bool
update_differs(
	const struct daemon *d, const struct weft_topo *t, struct weft_node_change *const *change)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (change[i] != NULL)
			return true;
	return d->now->routing != t->routing ||
	       memcmp(d->now->route, t->route, (size_t)t->n_nodes * t->n_nodes) != 0 ||
	       !update_is_same_for_programs(d->now, t);
}

/*
 * Put everything in force; what it replaced is free once every loop has turned. @p differs: other
 * than by tables, which are counted.
 */
static void
update_publish(struct daemon *d, struct weft_topo *t, bool differs)
{
	struct weft_topo *old = d->now;
	const uint64_t from = update_clock_ns();
	unsigned int changed = 0;
	uint64_t took;

	__atomic_store_n(&d->now, t, __ATOMIC_RELEASE);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		changed += fabric_publish(&d->node[i]);
	weft_loop_quiesce();
	took = update_clock_ns() - from;
	attach_change(t, false);
	if (old != d->topo)
		weft_topo_free(old);
	d->updates++;
	d->updates_changed += changed != 0 || differs;
	if (!d->cfg.no_text)
		printf("tables: changed in %u nodes, visible after %llu us\n", changed,
			(unsigned long long)(took / 1000));
}

/*
 * Go on by @p t, which is taken over; or only have hosts expect it. 0; -EINVAL with a line: nothing
 * has changed; -ESHUTDOWN: the run ends.
 */
static int
update_apply(struct daemon *d, struct weft_topo *t, bool is_announced, struct weft_topo_error *e)
{
	struct weft_node_change **change = calloc(d->n_nodes, sizeof(struct weft_node_change *));
	bool is_taken = false;
	int rc = -EINVAL;

	snprintf(e->text, sizeof(e->text), "out of memory");
	if (change != NULL && update_prepare(d, t, change, e->text, sizeof(e->text)) == 0) {
		rc = update_tell_hosts(d, change) ? 0 : -ESHUTDOWN;
		if (rc == 0 && !is_announced) {
			is_taken = update_tell_clients(t);
			rc = is_taken ? 0 : -ESHUTDOWN;
		}
	}
	if (is_taken)
		update_publish(d, t, update_differs(d, t, change));
	else
		weft_topo_free(t);
	if (rc == -ESHUTDOWN) {
		attach_change(daemon_now(d), false);
		snprintf(e->text, sizeof(e->text), "the run ends");
	}
	for (uint16_t i = 0; i < d->n_nodes; i++)
		fabric_free_retired(&d->node[i]);
	for (uint16_t i = 0; i < d->n_nodes && change != NULL; i++)
		weft_node_change_free(d->node[i].node, change[i]);
	free(change);
	return rc;
}

int
update_run(struct daemon *d, char *err, size_t err_len)
{
	struct weft_topo_error e = { 0 };
	const uint64_t from = update_clock_ns();
	struct weft_topo *t = update_load(d, &e);
	const int rc = t == NULL ? -EINVAL : update_apply(d, t, false, &e);

	weft_probe_reload(rc, d->updates, update_clock_ns() - from);
	if (rc != 0)
		snprintf(err, err_len, "%s", e.text);
	if (rc == -EINVAL) {
		char which[32];

		/* Each is said, however soon it comes after another. */
		snprintf(which, sizeof(which), "reload %u", (unsigned int)++d->updates_refused);
		event_put(EVENT_RELOAD_REFUSED, d->node[0].topo->name, which, 1,
			"tables: not changed: %s", e.text);
	}
	return rc;
}

int
update_memory(struct daemon *d, const struct weft_topo_grant *grant, size_t n, bool is_announced)
{
	struct weft_topo_error e = { 0 };
	struct weft_topo *t;
	int rc = weft_topo_copy(&t, daemon_now(d));

	if (rc == 0)
		rc = weft_topo_set_memory(t, grant, n);
	if (rc != 0) {
		weft_topo_free(t);
		return rc;
	}
	rc = update_apply(d, t, is_announced, &e);
	if (rc == -EINVAL)
		cli_warn("memory of hosts: not changed: %s", e.text);
	return rc;
}
