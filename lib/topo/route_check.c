/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Proof of routing tables, from the tables alone (fabric.md section 3.3): all ways between nodes
 * are followed; none ends short, turns round or leads through an end; and the directions of links,
 * joined where a way goes on from the one to the other, close no circle (Dally and Seitz 1987). All
 * classes of message count as one queue, which is more than the rule asks. Shares no code with the
 * engines that make the tables.
 */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "weft_topo.h"

#define WORDS 4 /* of the ports of a switch */

/* A direction of a link, named by the port that it leaves by. */
struct channel {
	uint64_t goes_on[WORDS]; /* by these ports of the node that it leads to */
	uint16_t came_from; /* on the search for a circle */
	uint16_t next; /* port to be looked at */
	bool seen;
	bool open; /* on the way that is being searched */
};

struct proof {
	const struct weft_topo *t;
	weft_topo_port_fn port;
	const void *arg;
	struct weft_topo_fault *f;
	struct channel *channel;
	/* By channel: what is looked at in every step, out of the large structs. */
	uint32_t *last_walk; /* all walks to one destination have numbers of their own */
	uint16_t *leads_to;
	uint16_t *comes_in; /* port number there */
	uint16_t *part; /* of the fabric that a node belongs to: index of a node in it */
	uint32_t first_walk; /* to this destination */
	uint32_t walk;
};

static int route_fault(struct proof *p, enum weft_topo_fault_kind kind, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int
route_fault(struct proof *p, enum weft_topo_fault_kind kind, const char *fmt, ...)
{
	va_list args;

	p->f->kind = (uint8_t)kind;
	va_start(args, fmt);
	vsnprintf(p->f->text, sizeof(p->f->text), fmt, args);
	va_end(args);
	return -EINVAL;
}

static uint16_t
route_part_of(struct proof *p, uint16_t node)
{
	while (p->part[node] != node)
		node = p->part[node] = p->part[p->part[node]];
	return node;
}

static void
route_look_round(struct proof *p)
{
	for (uint16_t i = 0; i < p->t->n_nodes; i++)
		p->part[i] = i;
	for (unsigned int c = 0; c < p->t->n_ports; c++) {
		const unsigned int peer = p->t->port[c].peer;

		p->leads_to[c] = p->t->port[peer].node;
		p->comes_in[c] = (uint16_t)(peer - p->t->node[p->leads_to[c]].first_port);
	}
	for (unsigned int i = 0; i < p->t->n_links; i++) {
		uint16_t a = route_part_of(p, p->t->port[p->t->link[i].a].node);
		uint16_t b = route_part_of(p, p->t->port[p->t->link[i].b].node);

		p->part[a] = b;
	}
	for (uint16_t i = 0; i < p->t->n_nodes; i++)
		p->part[i] = route_part_of(p, i);
}

/* Follow one message until it arrives or meets an earlier walk to the same node. */
static int
route_follow(struct proof *p, unsigned int from, unsigned int to)
{
	const struct weft_topo_node *node = p->t->node;
	const uint16_t dpid = node[to].pid;
	struct channel *before = NULL;
	unsigned int at = from;
	int in = -1;

	p->walk++;
	while (at != to) {
		const int number = p->port(p->arg, at, in, dpid);
		unsigned int c;

		/* Switches have nothing to say to each other: their ways may be left out. */
		if (number < 0 && before == NULL && weft_topo_is_transit(p->t, from) &&
			weft_topo_is_transit(p->t, to))
			return 0;
		if (number < 0 || number >= node[at].n_ports)
			return route_fault(p, WEFT_TOPO_FAULT_NO_ROUTE,
				"no route from %s to %s: none at %s", node[from].name,
				node[to].name, node[at].name);
		if (before != NULL && !weft_topo_is_transit(p->t, at))
			return route_fault(p, WEFT_TOPO_FAULT_NO_ROUTE,
				"a route from %s to %s through %s, which is no switch",
				node[from].name, node[to].name, node[at].name);
		c = node[at].first_port + (unsigned int)number;
		if (before != NULL)
			before->goes_on[number / 64] |= WEFT_BIT64(number % 64);
		if (p->last_walk[c] == p->walk)
			return route_fault(p, WEFT_TOPO_FAULT_LOOP,
				"a route from %s to %s that comes back to %s", node[from].name,
				node[to].name, node[at].name);
		if (p->last_walk[c] >= p->first_walk)
			return 0;
		p->last_walk[c] = p->walk;
		before = &p->channel[c];
		at = p->leads_to[c];
		in = p->comes_in[c];
	}
	return 0;
}

static int
route_follow_all(struct proof *p)
{
	const struct weft_topo *t = p->t;
	int rc = 0;

	for (uint16_t to = 0; to < t->n_nodes; to++) {
		p->first_walk = p->walk + 1;
		for (uint16_t from = 0; from < t->n_nodes && rc == 0; from++)
			if (p->part[from] == p->part[to])
				rc = route_follow(p, from, to);
	}
	return rc;
}

/* The next port that a channel goes on by, or -1. */
static int
route_next_port(struct channel *c)
{
	while (c->next < WORDS * 64) {
		const unsigned int i = c->next++;

		if ((c->goes_on[i / 64] & WEFT_BIT64(i % 64)) != 0)
			return (int)i;
	}
	return -1;
}

/* The circle that ends at @last and begins at @first, as "s0 > s1 > s0". */
static int
route_name_circle(struct proof *p, uint16_t last, uint16_t first)
{
	char text[sizeof(p->f->text) - 32];
	size_t start = sizeof(text);
	uint16_t at = last;

	/* The way is known backwards; long circles keep their end. */
	text[--start] = '\0';
	for (;;) {
		const char *name = p->t->node[p->t->port[at].node].name;
		const size_t len = strlen(name);

		if (len + 8 > start) {
			memcpy(text + start - 4, "... ", 4);
			start -= 4;
			break;
		}
		start -= len + 3;
		memcpy(text + start, name, len);
		memcpy(text + start + len, " > ", 3);
		if (at == first)
			break;
		at = p->channel[at].came_from;
	}
	return route_fault(p, WEFT_TOPO_FAULT_DEADLOCK_CYCLE, "a circle of links that wait: %s%s",
		text + start, p->t->node[p->t->port[first].node].name);
}

/* Search on from one channel as far as it goes. */
static int
route_search(struct proof *p, uint16_t first)
{
	struct channel *channel = p->channel;
	uint16_t at = first;

	channel[at].seen = channel[at].open = true;
	for (;;) {
		const unsigned int leads_to = p->leads_to[at];
		const int number = route_next_port(&channel[at]);
		uint16_t next;

		if (number < 0) {
			channel[at].open = false;
			if (at == first)
				return 0;
			at = channel[at].came_from;
			continue;
		}
		next = (uint16_t)(p->t->node[leads_to].first_port + number);
		if (channel[next].open)
			return route_name_circle(p, at, next);
		if (channel[next].seen)
			continue;
		channel[next].seen = channel[next].open = true;
		channel[next].came_from = at;
		at = next;
	}
}

int
weft_topo_check_routes(const struct weft_topo *t, weft_topo_port_fn port, const void *arg,
	struct weft_topo_fault *f)
{
	struct proof p = { .t = t, .port = port, .arg = arg, .f = f };
	int rc = -ENOMEM;

	p.channel = calloc(t->n_ports + 1u, sizeof(*p.channel));
	p.last_walk = calloc(t->n_ports + 1u, sizeof(*p.last_walk));
	p.leads_to = calloc(t->n_ports + 1u, sizeof(*p.leads_to));
	p.comes_in = calloc(t->n_ports + 1u, sizeof(*p.comes_in));
	p.part = calloc(t->n_nodes + 1u, sizeof(*p.part));
	if (p.channel != NULL && p.last_walk != NULL && p.leads_to != NULL && p.comes_in != NULL &&
		p.part != NULL) {
		route_look_round(&p);
		rc = route_follow_all(&p);
		for (uint16_t c = 0; rc == 0 && c < t->n_ports; c++)
			rc = p.channel[c].seen ? 0 : route_search(&p, c);
	}
	free(p.channel);
	free(p.last_walk);
	free(p.leads_to);
	free(p.comes_in);
	free(p.part);
	return rc;
}
