/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

#include "top.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"
#include "weft_base.h"

/* A counter that went back is one of a daemon that has begun anew. */
static double
top_rate(double now, double before, double seconds)
{
	return seconds > 0 && now >= before ? (now - before) / seconds : -1;
}

static struct top_node *
top_node_of(struct top_model *m, unsigned int daemon, const char *name)
{
	struct top_node *n;

	for (unsigned int i = 0; i < m->n_nodes; i++)
		if (m->node[i].daemon == daemon && strcmp(m->node[i].name, name) == 0)
			return &m->node[i];
	if (m->n_nodes == m->room) {
		const unsigned int room = m->room == 0 ? 64 : 2 * m->room;
		struct top_node *more = realloc(m->node, room * sizeof(*more));

		if (more == NULL)
			return NULL;
		m->node = more;
		m->room = room;
	}
	n = &m->node[m->n_nodes++];
	*n = (struct top_node){ .daemon = daemon };
	snprintf(n->name, sizeof(n->name), "%s", name);
	return n;
}

static void
top_note(struct top_node *n, double value)
{
	if (n->n_history == TOP_HISTORY)
		memmove(n->history, n->history + 1, (TOP_HISTORY - 1) * sizeof(n->history[0]));
	else
		n->n_history++;
	n->history[n->n_history - 1] = value;
}

static void
top_connections(struct top_node *n, const json_t *list, double *resent)
{
	const json_t *c;
	size_t i;

	n->up = 0;
	n->all = (unsigned int)json_array_size(list);
	*resent = 0;
	json_array_foreach(list, i, c)
	{
		n->up += strcmp(show_text(c, "state"), "up") == 0;
		*resent += show_number(json_object_get(c, "retry"), "resent");
	}
}

static struct top_drop *
top_drop_of(struct top_model *m, const char *reason)
{
	for (unsigned int i = 0; i < m->n_drops; i++)
		if (strcmp(m->drop[i].reason, reason) == 0)
			return &m->drop[i];
	if (m->n_drops == WEFT_ARRAY_SIZE(m->drop))
		return NULL;
	m->drop[m->n_drops] = (struct top_drop){ .per_s = -1 };
	snprintf(m->drop[m->n_drops].reason, TOP_NAME, "%s", reason);
	return &m->drop[m->n_drops++];
}

static double
top_drops(struct top_model *m, const json_t *drops)
{
	const char *reason;
	json_t *count;
	double sum = 0;

	json_object_foreach((json_t *)(uintptr_t)drops, reason, count)
	{
		struct top_drop *d = top_drop_of(m, reason);

		sum += json_number_value(count);
		if (d != NULL)
			d->total += json_number_value(count);
	}
	return sum;
}

static int
top_take_node(struct top_model *m, const json_t *state, const json_t *o, unsigned int order)
{
	struct top_node *n =
		top_node_of(m, (unsigned int)show_number(state, "pid"), show_text(o, "name"));
	const json_t *flits = json_object_get(o, "mflits"), *ns = json_object_get(o, "latency_ns");
	const double seconds = show_number(state, "seconds");
	double resent, dropped;

	if (n == NULL)
		return -ENOMEM;
	n->order = order;
	n->is_there = true;
	n->is_silent = json_is_true(json_object_get(state, "silent"));
	if (n->is_silent) {
		top_drops(m, json_object_get(o, "drops"));
		return 0;
	}
	snprintf(n->kind, sizeof(n->kind), "%s", show_text(o, "kind"));
	n->pid = (unsigned int)show_number(o, "pid");
	n->in = show_number(flits, "last_in");
	n->out = show_number(flits, "last_out");
	n->p50_us = ns == NULL ? -1 : show_number(ns, "p50") / 1e3;
	n->p99_us = ns == NULL ? -1 : show_number(ns, "p99") / 1e3;
	top_connections(n, json_object_get(o, "connections"), &resent);
	dropped = top_drops(m, json_object_get(o, "drops"));
	n->resent_per_s = n->seconds == 0 ? -1 : top_rate(resent, n->resent, seconds - n->seconds);
	n->drops_per_s = n->seconds == 0 ? -1 : top_rate(dropped, n->dropped, seconds - n->seconds);
	n->resent = resent;
	n->dropped = dropped;
	n->seconds = seconds;
	top_note(n, n->in + n->out);
	return 0;
}

static int
top_compare_drops(const void *a, const void *b)
{
	const struct top_drop *x = a, *y = b;

	if (x->per_s != y->per_s)
		return x->per_s < y->per_s ? 1 : -1;
	return (x->total < y->total) - (x->total > y->total);
}

/* Of all daemons together: by the clock of the first that answers. */
static void
top_rate_drops(struct top_model *m, const json_t *states)
{
	const json_t *state;
	double seconds = m->seconds;
	size_t k;

	json_array_foreach(states, k, state) if (!json_is_true(json_object_get(state, "silent")))
	{
		seconds = show_number(state, "seconds");
		break;
	}
	for (unsigned int i = 0; i < m->n_drops; i++) {
		struct top_drop *d = &m->drop[i];

		d->per_s =
			m->seconds == 0 ? -1 : top_rate(d->total, d->before, seconds - m->seconds);
	}
	qsort(m->drop, m->n_drops, sizeof(m->drop[0]), top_compare_drops);
	m->seconds = seconds;
}

/* Nodes whose daemon has ended go. */
static void
top_forget(struct top_model *m)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < m->n_nodes; i++)
		if (m->node[i].is_there)
			m->node[kept++] = m->node[i];
	m->n_nodes = kept;
}

int
top_update(struct top_model *m, const json_t *states, const char *node)
{
	const json_t *state, *o;
	unsigned int order = 0;
	size_t i, k;

	for (k = 0; k < m->n_nodes; k++)
		m->node[k].is_there = false;
	for (k = 0; k < m->n_drops; k++) {
		m->drop[k].before = m->drop[k].total;
		m->drop[k].total = 0;
	}
	json_array_foreach(states, i, state)
		json_array_foreach(json_object_get(state, "nodes"), k, o)
	{
		if (node != NULL && strcmp(node, show_text(o, "name")) != 0)
			continue;
		if (top_take_node(m, state, o, order++) != 0)
			return -ENOMEM;
	}
	m->n_daemons = (unsigned int)json_array_size(states);
	m->n_silent = 0;
	json_array_foreach(states, i, state)
	{
		m->n_silent += json_is_true(json_object_get(state, "silent"));
		if (json_object_get(state, "fabric") != NULL)
			snprintf(m->fabric, sizeof(m->fabric), "%s", show_text(state, "fabric"));
	}
	top_rate_drops(m, states);
	top_forget(m);
	return 0;
}

static int
top_compare_order(const void *a, const void *b)
{
	const struct top_node *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static int
top_compare_load(const void *a, const void *b)
{
	const struct top_node *x = a, *y = b;
	const double u = x->in + x->out, v = y->in + y->out;

	return u == v ? top_compare_order(a, b) : (u < v) - (u > v);
}

void
top_sort(struct top_model *m, bool by_load)
{
	if (m->n_nodes > 0)
		qsort(m->node, m->n_nodes, sizeof(m->node[0]),
			by_load ? top_compare_load : top_compare_order);
}

void
top_free(struct top_model *m)
{
	free(m->node);
	*m = (struct top_model){ 0 };
}

void
top_bars(const struct top_node *n, unsigned char *bar, unsigned int cols)
{
	const unsigned int shown = cols < n->n_history ? cols : n->n_history;
	const double *sample = n->history + n->n_history - shown;
	double most = 0;

	memset(bar, 0, cols);
	for (unsigned int i = 0; i < shown; i++)
		most = sample[i] > most ? sample[i] : most;
	for (unsigned int i = 0; i < shown && most > 0; i++) {
		const double eighths = sample[i] / most * 8;

		bar[cols - shown + i] = (unsigned char)(sample[i] > 0 && eighths < 1 ? 1 : eighths);
	}
}
