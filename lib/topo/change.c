/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What may change in a fabric that runs: routes, segments, groups and rights. All
 * else is in the state of its nodes, and is compared here, value by value, by the rows of keys.def.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "topo_priv.h"

struct change {
	const struct weft_topo *now;
	const struct weft_topo *next;
	const char *file;
	struct weft_topo_error *err;
};

/* What of a port comes from more than one key, or from none. */
#define OF_PORT(member, word)                                                                      \
	{                                                                                          \
		word, offsetof(struct weft_topo_port, member),                                     \
			sizeof(((struct weft_topo_port *)NULL)->member)                            \
	}
static const struct {
	const char *name;
	size_t offset;
	size_t len;
} of_port[] = {
	OF_PORT(link, "place"),
	OF_PORT(peer, "other end"),
	OF_PORT(mtu, "mtu"),
	OF_PORT(device_kind, "device"),
	OF_PORT(device, "device"),
	OF_PORT(role, "role"),
	OF_PORT(form, "link_form"),
	OF_PORT(driver, "driver"),
	OF_PORT(socket, "socket"),
	OF_PORT(wire, "wire"),
};

int
topo_refuse(struct weft_topo_error *err, const char *file, const char *where, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (err != NULL)
		err->line = 0;
	topo_error_text(err, file, where, text);
	return -EINVAL;
}

/* Values that may not change are the same byte by byte: loading leaves zeros after strings. */
int
topo_compare(struct weft_topo_error *err, const char *file, const char *where, const char *path,
	const struct topo_section *s, const struct topo_kept *kept)
{
	int rc = 0;

	for (unsigned int i = 1; i < s->n && rc == 0; i++) {
		const struct topo_key *k = &s->key[i];
		const size_t at = k->offset - kept->offset;
		char word[96];

		snprintf(word, sizeof(word), "%s%s", path, k->name);
		if (k->read == topo_read_map) {
			strcat(word, ".");
			rc = topo_compare(err, file, where, word, k->section, kept);
		} else if ((k->flags & MAY_CHANGE) == 0 && k->offset >= kept->offset &&
			   at < kept->len &&
			   memcmp((const char *)kept->now + at, (const char *)kept->next + at,
				   k->width) != 0) {
			rc = topo_refuse(
				err, file, where, "%s cannot change while the fabric runs", word);
		}
	}
	return rc;
}

static int
change_compare_ports(const struct change *c, const struct weft_topo_node *n)
{
	char where[WEFT_TOPO_NAME_ROOM + 32];

	for (unsigned int p = 0; p < n->n_ports; p++) {
		const char *now = (const char *)&c->now->port[n->first_port + p];
		const char *next = (const char *)&c->next->port[n->first_port + p];

		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(of_port); i++) {
			if (memcmp(now + of_port[i].offset, next + of_port[i].offset,
				    of_port[i].len) == 0)
				continue;
			snprintf(where, sizeof(where), "port %s.%u", n->name, p);
			return topo_refuse(c->err, c->file, where,
				"%s cannot change while the fabric runs", of_port[i].name);
		}
	}
	return 0;
}

static bool
change_has_name(const struct weft_topo *t, const struct weft_topo_names *n, uint16_t node)
{
	for (unsigned int i = 0; i < n->n; i++)
		if (t->list[n->first + i] == node)
			return true;
	return false;
}

/* Whether all that @a names of @s are named by @b of @t as well. */
static bool
change_names_all(const struct weft_topo *s, const struct weft_topo_names *a,
	const struct weft_topo *t, const struct weft_topo_names *b)
{
	for (unsigned int i = 0; i < a->n; i++)
		if (!change_has_name(t, b, s->list[a->first + i]))
			return false;
	return a->is_given == b->is_given;
}

/* Rows of rerouters go by these at the start, so vectors of the edge ports stay as they were. */
static int
change_compare_vectors(
	const struct change *c, const struct weft_topo_node *now, const struct weft_topo_node *next)
{
	const struct {
		const char *name;
		const struct weft_topo_names *now, *next;
	} of[] = { { "vtv", &now->vtv, &next->vtv }, { "lav", &now->lav, &next->lav } };
	char where[WEFT_TOPO_NAME_ROOM + 32];

	for (unsigned int i = 0; c->now->cxl_io.packets != 0 && i < WEFT_ARRAY_SIZE(of); i++) {
		if (change_names_all(c->now, of[i].now, c->next, of[i].next) &&
			change_names_all(c->next, of[i].next, c->now, of[i].now))
			continue;
		snprintf(where, sizeof(where), "node %s", now->name);
		return topo_refuse(c->err, c->file, where, "%s cannot change while the fabric runs",
			of[i].name);
	}
	return 0;
}

static int
change_compare_nodes(const struct change *c)
{
	char where[WEFT_TOPO_NAME_ROOM + 32];
	int rc = 0;

	for (unsigned int i = 0; i < c->now->n_nodes && rc == 0; i++) {
		const struct weft_topo_node *now = &c->now->node[i], *next = &c->next->node[i];
		const struct topo_kept kept = { offsetof(struct topo_node_src, out), sizeof(*now),
			now, next };

		snprintf(where, sizeof(where), "node %s", now->name);
		rc = topo_compare(c->err, c->file, where, "", &topo_section[SECTION_NODE], &kept);
		if (rc == 0)
			rc = change_compare_vectors(c, now, next);
		if (rc == 0 && now->n_ports != next->n_ports)
			rc = topo_refuse(c->err, c->file, where,
				"links cannot change while the fabric runs");
		if (rc == 0)
			rc = change_compare_ports(c, now);
	}
	return rc;
}

/* That there are as many of what cannot come or go. */
static int
change_compare_counts(const struct change *c)
{
	const char *what = c->now->n_nodes != c->next->n_nodes         ? "nodes"
	                   : c->now->n_links != c->next->n_links       ? "links"
	                   : c->now->n_bindings != c->next->n_bindings ? "bindings"
	                                                               : NULL;

	return what == NULL ? 0
	                    : topo_refuse(c->err, c->file, "",
				      "%s cannot change while the fabric runs", what);
}

bool
topo_same_segment(const struct weft_topo *a, const struct weft_topo *b, unsigned int s)
{
	const struct weft_topo_segment *x = &a->map.segment[s], *y = &b->map.segment[s];

	if (b->map.n_segments <= s || a->map.segment_log2 != b->map.segment_log2 ||
		x->base != y->base || x->size != y->size || x->ways_log2 != y->ways_log2 ||
		x->gran != y->gran || x->is_gim != y->is_gim)
		return false;
	for (unsigned int w = 0; w < 1u << x->ways_log2; w++) {
		const struct weft_topo_target *at = &a->map.target[x->first_target + w];
		const struct weft_topo_target *bt = &b->map.target[y->first_target + w];

		if (at->node != bt->node || at->dpa != bt->dpa)
			return false;
	}
	return true;
}

/* What is expected of their memory is worked out when load begins. */
static bool
change_is_fixed(const struct weft_topo *t)
{
	bool fixed = t->translations.n != 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		fixed = fixed || t->node[i].gim != 0;
	return fixed;
}

int
weft_topo_check_change(const struct weft_topo *now, const struct weft_topo *next, const char *file,
	struct weft_topo_error *err)
{
	const struct change c = { now, next, file, err };
	const struct topo_kept kept = { offsetof(struct topo_load, t), sizeof(*now), now, next };
	int rc = change_compare_counts(&c);

	if (rc == 0 && (change_is_fixed(now) || change_is_fixed(next)))
		rc = topo_refuse(c.err, c.file, "",
			"a fabric with gim or translations cannot change while it runs");
	if (rc == 0)
		rc = topo_compare(err, file, "", "", &topo_section[SECTION_ROOT], &kept);
	if (rc == 0)
		rc = change_compare_nodes(&c);
	if (rc == 0 && now->map.is_default && !next->map.is_default)
		rc = topo_refuse(c.err, c.file, "",
			"segments, groups and access cannot come while the fabric runs, expected "
			"one that began with them");
	return rc;
}

/* Whether @node may send what is for @to by its port @number, by either table. */
static bool
change_may_leave(const struct change *c, unsigned int node, unsigned int to, unsigned int number)
{
	return c->now->route[(size_t)node * c->now->n_nodes + to] == number ||
	       c->next->route[(size_t)node * c->next->n_nodes + to] == number;
}

/*
 * Directions of links that something may wait in for the link before it: from what is in use, again
 * and again, strike those that wait for none. What is left closes a circle.
 */
static unsigned int
change_strike(const struct change *c, bool *waits)
{
	const struct weft_topo *t = c->now;
	unsigned int left = 0;

	for (unsigned int p = 0; p < t->n_ports; p++) {
		const unsigned int at = t->port[p].node, via = t->port[t->port[p].peer].node;
		bool goes_on = false;

		if (!waits[p])
			continue;
		for (unsigned int q = 0; q < t->node[via].n_ports && !goes_on; q++) {
			if (!waits[t->node[via].first_port + q])
				continue;
			for (unsigned int to = 0; to < t->n_nodes && !goes_on; to++)
				goes_on = to != via && to != at &&
				          change_may_leave(c, at, to, p - t->node[at].first_port) &&
				          change_may_leave(c, via, to, q);
		}
		waits[p] = goes_on;
		left += goes_on;
	}
	return left;
}

int
weft_topo_check_mixed_routes(const struct weft_topo *now, const struct weft_topo *next,
	const char *file, struct weft_topo_error *err)
{
	const struct change c = { now, next, file, err };
	bool *waits = malloc(now->n_ports);
	unsigned int left = now->n_ports, before = 0;
	int rc = 0;

	if (waits == NULL)
		return -ENOMEM;
	for (unsigned int p = 0; p < now->n_ports; p++)
		waits[p] = weft_topo_is_transit(now, now->port[p].node) &&
		           weft_topo_is_transit(now, now->port[now->port[p].peer].node);
	while (left != before) {
		before = left;
		left = change_strike(&c, waits);
	}
	for (unsigned int p = 0; left != 0 && p < now->n_ports && rc == 0; p++)
		if (waits[p])
			rc = topo_refuse(c.err, c.file, "routing",
				"%s cannot become %s while the fabric runs: with some of the old "
				"routes and some of the new, links wait in a circle, as that from "
				"%s to %s",
				weft_topo_routing_word(now->routing),
				weft_topo_routing_word(next->routing),
				now->node[now->port[p].node].name,
				now->node[now->port[now->port[p].peer].node].name);
	free(waits);
	return rc;
}
