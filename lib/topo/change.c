/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What may change in a fabric that runs: routes, segments that nobody uses, groups and rights. All
 * else is in the state of its nodes, and is compared here, value by value.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"

#include "topo_priv.h"

struct change {
	const struct weft_topo *now;
	const struct weft_topo *next;
	const char *file;
	struct weft_topo_error *err;
};

/* A value that stays: where it is in its struct. */
struct fixed {
	const char *key;
	size_t offset;
	size_t len;
};

#define FIXED(type, member, word)                                                                  \
	{                                                                                          \
		word, offsetof(type, member), sizeof(((type *)NULL)->member)                       \
	}
#define OF_FABRIC(member, word) FIXED(struct weft_topo, member, word)
#define OF_NODE(member, word) FIXED(struct weft_topo_node, member, word)
#define OF_PORT(member, word) FIXED(struct weft_topo_port, member, word)

static const struct fixed of_fabric[] = {
	OF_FABRIC(fabric, "fabric"),
	OF_FABRIC(mode, "mode"),
	OF_FABRIC(isn, "defaults.isn"),
	OF_FABRIC(crc_order, "defaults.crc_order"),
	OF_FABRIC(ide, "ide.mode"),
	OF_FABRIC(key_file, "ide.key_file"),
	OF_FABRIC(ide_opts.pcrc, "ide.pcrc"),
	OF_FABRIC(ide_opts.stop, "ide.stop"),
	OF_FABRIC(ide_opts.poison, "ide.poison"),
	OF_FABRIC(ide_opts.rekey_ms, "ide.rekey_ms"),
	OF_FABRIC(ide_opts.rekey_flits, "ide.rekey_flits"),
	OF_FABRIC(flits_per_frame, "defaults.flits_per_frame"),
	OF_FABRIC(retry.window, "defaults.retry.window"),
	OF_FABRIC(retry.ack_every, "defaults.retry.ack_every"),
	OF_FABRIC(retry.rx_buffer, "defaults.retry.rx_buffer"),
	OF_FABRIC(retry.selective, "defaults.retry.selective"),
	OF_FABRIC(n_nodes, "nodes"),
	OF_FABRIC(n_links, "links"),
	OF_FABRIC(n_bindings, "bindings"),
};

static const struct fixed of_node[] = {
	OF_NODE(name, "name"),
	OF_NODE(server, "server"),
	OF_NODE(kind, "kind"),
	OF_NODE(pid, "pid"),
	OF_NODE(n_ports, "links"),
	OF_NODE(n_lcores, "lcores"),
	OF_NODE(lcore, "lcores"),
	OF_NODE(numa, "socket"),
	OF_NODE(memory, "memory"),
	OF_NODE(late_poison, "late_poison"),
	OF_NODE(late_poison_seed, "late_poison_seed"),
	OF_NODE(has_traffic, "traffic"),
	OF_NODE(traffic.requests, "traffic.requests"),
	OF_NODE(traffic.seed, "traffic.seed"),
	OF_NODE(traffic.first_line, "traffic.lines"),
	OF_NODE(traffic.lines, "traffic.lines"),
	OF_NODE(traffic.outstanding, "traffic.outstanding"),
	OF_NODE(traffic.rate, "traffic.rate"),
	OF_NODE(traffic.timeout_ms, "traffic.timeout_ms"),
	OF_NODE(traffic.write_percent, "traffic.write_percent"),
	OF_NODE(n_transfers, "transfers"),
};

static const struct fixed of_port[] = {
	OF_PORT(link, "place"),
	OF_PORT(peer, "other end"),
	OF_PORT(mtu, "mtu"),
	OF_PORT(device_kind, "device"),
	OF_PORT(device, "device"),
	OF_PORT(role, "role"),
	OF_PORT(driver, "driver"),
	OF_PORT(socket, "socket"),
	OF_PORT(wire, "wire"),
};

static int refuse(const struct change *c, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int
refuse(const struct change *c, const char *where, const char *fmt, ...)
{
	char text[400];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (c->err != NULL)
		c->err->line = 0;
	topo_error_text(c->err, c->file, where, text);
	return -EINVAL;
}

/* Strings are compared like numbers: loading leaves zeros behind them. */
static int
compare(const struct change *c, const char *where, const struct fixed *f, unsigned int n,
	const void *now, const void *next)
{
	for (unsigned int i = 0; i < n; i++) {
		if (memcmp((const char *)now + f[i].offset, (const char *)next + f[i].offset,
			    f[i].len) != 0)
			return refuse(c, where, "%s cannot change while the fabric runs", f[i].key);
	}
	return 0;
}

static int
compare_nodes(const struct change *c)
{
	char where[WEFT_TOPO_NAME_ROOM + 32];
	int rc = 0;

	for (unsigned int i = 0; i < c->now->n_nodes && rc == 0; i++) {
		const struct weft_topo_node *now = &c->now->node[i];

		snprintf(where, sizeof(where), "node %s", now->name);
		rc = compare(c, where, of_node, WEFT_ARRAY_SIZE(of_node), now, &c->next->node[i]);
		for (unsigned int p = 0; p < now->n_ports && rc == 0; p++) {
			snprintf(where, sizeof(where), "port %s.%u", now->name, p);
			rc = compare(c, where, of_port, WEFT_ARRAY_SIZE(of_port),
				&c->now->port[now->first_port + p],
				&c->next->port[now->first_port + p]);
		}
	}
	return rc;
}

static int
compare_transfers(const struct change *c)
{
	for (unsigned int i = 0; i < c->now->n_nodes; i++) {
		const struct weft_topo_node *n = &c->now->node[i];

		for (unsigned int k = n->first_transfer; k < n->first_transfer + n->n_transfers;
			k++)
			if (memcmp(&c->now->transfer[k], &c->next->transfer[k],
				    sizeof(c->now->transfer[k])) != 0)
				return refuse(c, "",
					"node %s: transfers[%u] cannot change while the "
					"fabric runs",
					n->name, k - n->first_transfer);
	}
	return 0;
}

static bool
same_segment(const struct weft_topo *a, const struct weft_topo *b, unsigned int s)
{
	const struct weft_topo_segment *x = &a->segment[s], *y = &b->segment[s];

	if (x->base != y->base || x->size != y->size || x->ways_log2 != y->ways_log2 ||
		x->gran != y->gran || x->is_gim != y->is_gim)
		return false;
	for (unsigned int w = 0; w < 1u << x->ways_log2; w++) {
		const struct weft_topo_target *at = &a->target[x->first_target + w];
		const struct weft_topo_target *bt = &b->target[y->first_target + w];

		if (at->node != bt->node || at->dpa != bt->dpa)
			return false;
	}
	return true;
}

/* Traffic and transfers know what stands where: their segments stay. */
static int
compare_segments(const struct change *c)
{
	const struct weft_topo *now = c->now, *next = c->next;
	const struct weft_topo_node *user = NULL;

	for (unsigned int i = 0; i < now->n_nodes && user == NULL; i++)
		if (now->node[i].has_traffic || now->node[i].n_transfers != 0)
			user = &now->node[i];
	for (unsigned int s = 0; user != NULL && s < now->n_segments; s++)
		if (next->n_segments <= s || now->segment_log2 != next->segment_log2 ||
			!same_segment(now, next, s))
			return refuse(c, "", "segments[%u] cannot change while %s %s uses it", s,
				weft_topo_kind_words[user->kind], user->name);
	return 0;
}

/* What their traffic expects is worked out when it begins. */
static bool
is_fixed(const struct weft_topo *t)
{
	bool fixed = t->n_translations != 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		fixed = fixed || t->node[i].has_uio || t->node[i].gim != 0;
	return fixed;
}

int
weft_topo_check_change(const struct weft_topo *now, const struct weft_topo *next, const char *file,
	struct weft_topo_error *err)
{
	const struct change c = { now, next, file, err };
	int rc = compare(&c, "", of_fabric, WEFT_ARRAY_SIZE(of_fabric), now, next);

	if (rc == 0)
		rc = compare_nodes(&c);
	if (rc == 0)
		rc = compare_transfers(&c);
	if (rc == 0 && now->is_plain && !next->is_plain)
		rc = refuse(&c, "",
			"segments, groups and access cannot come while the fabric runs, expected "
			"one that began with them");
	if (rc == 0 && (is_fixed(now) || is_fixed(next)))
		rc = refuse(&c, "",
			"a fabric with uio, gim or translations cannot change while it runs");
	/* Behind that, as uio and translations bring a value of their own. */
	if (rc == 0 && now->cxl_io != next->cxl_io)
		rc = refuse(&c, "", "defaults.cxl_io cannot change while the fabric runs");
	return rc != 0 ? rc : compare_segments(&c);
}

/* Whether @node may send what is for @to by its port @number, by either table. */
static bool
may_leave(const struct change *c, unsigned int node, unsigned int to, unsigned int number)
{
	return c->now->route[(size_t)node * c->now->n_nodes + to] == number ||
	       c->next->route[(size_t)node * c->next->n_nodes + to] == number;
}

/*
 * Directions of links that something may wait in for the link before it: from what is in use, again
 * and again, strike those that wait for none. What is left closes a circle.
 */
static unsigned int
strike(const struct change *c, bool *waits)
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
				          may_leave(c, at, to, p - t->node[at].first_port) &&
				          may_leave(c, via, to, q);
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
		waits[p] = weft_topo_passes(now, now->port[p].node) &&
		           weft_topo_passes(now, now->port[now->port[p].peer].node);
	while (left != before) {
		before = left;
		left = strike(&c, waits);
	}
	for (unsigned int p = 0; left != 0 && p < now->n_ports && rc == 0; p++)
		if (waits[p])
			rc = refuse(&c, "routing",
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
