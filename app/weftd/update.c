/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * SIGHUP: the topology file is read again, and routes, segments, groups and rights are changed
 * under traffic. All tables of all nodes here are made before any is put in force; one that cannot
 * be made leaves everything as it was. On the control thread, which does not wait: a change goes on
 * a step at a time while hosts let open requests end, and commands may come between its steps. One
 * change at a time.
 */

#include "attach.h"
#include "cci.h"
#include "fabric.h"
#include "update.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "event.h"

#define UPDATE_PATIENCE_NS UINT64_C(1500000000) /* with a pipe that nobody writes */

/* What a change waits for. */
enum update_stage {
	UPDATE_HOSTS, /* that let open requests end */
	UPDATE_PROGRAMS, /* likewise, where they may not do any more what they do */
	UPDATE_TABLES /* that could not be made, for lack of memory */
};

/* The change that is under way. */
static struct {
	struct weft_topo *t; /* NULL: none is */
	struct weft_node_change **change; /* by node */
	enum update_stage stage;
	bool is_announced, is_warned;
	update_done_fn done;
	void *arg;
} update;

/* Reloads that were asked for, begun and ended, by number; what came of the last. */
static struct {
	uint64_t asked, begun, ended;
	uint64_t from_ns;
	int rc;
	char err[sizeof(((struct weft_topo_error *)NULL)->text)];
} update_reload;

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

/* Nothing is answered while a file is read, and who writes to a pipe may never come. */
static bool
update_gives_up(void)
{
	return daemon_is_stopped() || node_now_ns() - update_reload.from_ns > UPDATE_PATIENCE_NS;
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
	files.is_stopped = update_gives_up;
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

static void
update_free_tables(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		fabric_free_retired(&d->node[i]);
}

static int
update_make_tables(struct daemon *d, const struct weft_topo *t, char *err, size_t err_len)
{
	int rc = 0;

	snprintf(err, err_len, "out of memory");
	for (uint16_t i = 0; i < d->n_nodes && rc == 0; i++)
		rc = fabric_prepare(&d->node[i], t, err, err_len);
	return rc;
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
	const uint64_t from = node_now_ns();
	unsigned int changed = 0;
	uint64_t took;

	__atomic_store_n(&d->now, t, __ATOMIC_RELEASE);
	for (uint16_t i = 0; i < d->n_nodes; i++)
		changed += fabric_publish(&d->node[i]);
	weft_loop_quiesce();
	took = node_now_ns() - from;
	attach_change(t, false);
	if (old != d->topo)
		weft_topo_free(old);
	d->updates++;
	d->updates_changed += changed != 0 || differs;
	if (!d->cfg.no_text)
		printf("tables: changed in %u nodes%s, visible after %llu us\n", changed,
			differs ? " and what is in no table" : "",
			(unsigned long long)(took / 1000));
}

/* The change is over: 0, or -ESHUTDOWN. */
static void
update_end(struct daemon *d, int rc)
{
	const update_done_fn done = update.done;

	for (uint16_t i = 0; i < d->n_nodes; i++)
		weft_node_change_free(d->node[i].node, update.change[i]);
	free(update.change);
	if (update.t != d->now)
		weft_topo_free(update.t);
	update.change = NULL;
	update.t = NULL;
	done(d, update.arg, rc);
}

static bool
update_hosts_have_ended(const struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++)
		if (weft_node_is_changing(d->node[i].node))
			return false;
	return true;
}

/*
 * Tables are made once more: commands may have come since they were tried. Hosts go by the change
 * already, so it is not given up any more.
 */
static bool
update_put_in_force(struct daemon *d)
{
	char err[sizeof(update_reload.err)];

	if (update_make_tables(d, update.t, err, sizeof(err)) != 0) {
		if (!update.is_warned)
			cli_warn("tables: not changed yet, and tried again: %s", err);
		update.is_warned = true;
		update_free_tables(d);
		return false;
	}
	update_publish(d, update.t, update_differs(d, update.t, update.change));
	update_free_tables(d);
	return true;
}

/*
 * Hosts learn first, as none may be surprised by an answer of the new tables; what programs may not
 * do any more has ended before these, too.
 */
void
update_go_on(struct daemon *d)
{
	if (update.t == NULL)
		return;
	if (update.stage == UPDATE_HOSTS) {
		if (!update_hosts_have_ended(d))
			return;
		if (update.is_announced) {
			update_end(d, 0);
			return;
		}
		attach_change(update.t, true);
		/* Hosts may be beginning what they have looked at: only then it is seen open. */
		weft_loop_quiesce();
		update.stage = UPDATE_PROGRAMS;
	}
	if (update.stage == UPDATE_PROGRAMS) {
		if (!attach_change(update.t, true))
			return;
		update.stage = UPDATE_TABLES;
	}
	if (update_put_in_force(d))
		update_end(d, 0);
}

bool
update_is_going(void)
{
	return update.t != NULL;
}

/* Of a run that ends: what hosts did not take yet is taken back. */
void
update_stop(struct daemon *d)
{
	if (update.t == NULL)
		return;
	for (uint16_t i = 0; i < d->n_nodes; i++)
		weft_node_change(d->node[i].node, NULL);
	weft_loop_quiesce();
	attach_change(daemon_now(d), false);
	update_end(d, -ESHUTDOWN);
}

/*
 * Go on by @p t, which is taken over; or only have hosts expect it. 0: @p done is called when that
 * is so, at once perhaps; -ENOMEM: nothing has changed.
 */
static int
update_begin(
	struct daemon *d, struct weft_topo *t, bool is_announced, update_done_fn done, void *arg)
{
	struct weft_node_change **change = calloc(d->n_nodes, sizeof(*change));
	int rc = change == NULL ? -ENOMEM : 0;

	for (uint16_t i = 0; i < d->n_nodes && rc == 0; i++)
		rc = weft_node_prepare(
			d->node[i].node, daemon_now(d), t, daemon_is_stopped, &change[i]);
	update.t = t;
	update.change = change;
	update.stage = UPDATE_HOSTS;
	update.is_announced = is_announced;
	update.is_warned = false;
	update.done = done;
	update.arg = arg;
	/* On shutdown weft_node_prepare() returns half a table; do not publish it. */
	if (rc == 0 && daemon_is_stopped()) {
		update_stop(d);
		return 0;
	}
	if (rc != 0) {
		for (uint16_t i = 0; i < d->n_nodes && change != NULL; i++)
			weft_node_change_free(d->node[i].node, change[i]);
		free(change);
		weft_topo_free(t);
		update.t = NULL;
		return rc;
	}
	for (uint16_t i = 0; i < d->n_nodes; i++)
		weft_node_change(d->node[i].node, change[i]);
	weft_loop_quiesce(); /* a host without open requests has taken it then */
	update_go_on(d);
	return 0;
}

/* --- the file --- */

static void
update_reload_is_over(struct daemon *d, int rc)
{
	weft_probe_reload(rc, d->updates, node_now_ns() - update_reload.from_ns);
	if (rc == -EINVAL) {
		char which[32];

		/* Each is said, however soon it comes after another. */
		snprintf(which, sizeof(which), "reload %u", (unsigned int)++d->updates_refused);
		event_put(EVENT_RELOAD_REFUSED, d->node[0].topo->name, which, 1,
			"tables: not changed: %s", update_reload.err);
	}
	update_reload.rc = rc;
	update_reload.ended = update_reload.begun;
}

static void
update_reload_done(struct daemon *d, void *arg, int rc)
{
	(void)arg;
	if (rc != 0)
		snprintf(update_reload.err, sizeof(update_reload.err), "the run ends");
	update_reload_is_over(d, rc);
}

uint64_t
update_ask_reload(void)
{
	return ++update_reload.asked;
}

bool
update_reload_has_ended(uint64_t number, int *rc, const char **err)
{
	*rc = update_reload.rc;
	*err = update_reload.err;
	return number <= update_reload.ended;
}

void
update_maintain(struct daemon *d)
{
	struct weft_topo_error e = { 0 };
	struct weft_topo *t;
	int rc = -EINVAL;

	update_go_on(d);
	if (update.t != NULL || update_reload.begun == update_reload.asked)
		return;
	update_reload.begun = update_reload.asked;
	update_reload.from_ns = node_now_ns();
	t = update_load(d, &e);
	if (t != NULL) {
		/* Whether they can be made at all. */
		rc = update_make_tables(d, t, e.text, sizeof(e.text)) == 0 ? 0 : -EINVAL;
		update_free_tables(d);
		if (rc != 0)
			weft_topo_free(t);
	}
	if (rc == 0 && update_begin(d, t, false, update_reload_done, NULL) != 0) {
		snprintf(e.text, sizeof(e.text), "out of memory");
		rc = -EINVAL;
	}
	if (rc == 0)
		return;
	snprintf(update_reload.err, sizeof(update_reload.err), "%s", e.text);
	update_reload_is_over(d, rc);
}

/* --- memory that a manager gives --- */

int
update_memory(struct daemon *d, const struct weft_topo_grant *grant, size_t n, bool is_announced,
	update_done_fn done, void *arg)
{
	struct weft_topo *t;
	int rc;

	if (update.t != NULL)
		return -EBUSY;
	rc = weft_topo_copy(&t, daemon_now(d));
	if (rc == 0)
		rc = weft_topo_set_memory(t, grant, n);
	if (rc == 0)
		return update_begin(d, t, is_announced, done, arg);
	weft_topo_free(t);
	return rc;
}
