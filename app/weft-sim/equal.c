/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of equal links (fabric.md section 1.10), in cxl mode: completions of a GFD for a host
 * come in the order in which they left it, however many links are between; and of links between the
 * same two switches each has its share of what may be spread. Writes to a line leave a switch by
 * one port, or one that its host has given up could come behind the next.
 */

#include "judge.h"

#include "weft_topo_graph.h"

#define EQUAL_NODES 64 /* of a fabric that is judged */
#define EQUAL_UNDER_WAY 1024 /* completions of a GFD for a host, and more than there can be */
#define EQUAL_WRITES 4096 /* that are remembered */
#define EQUAL_SHARED 128 /* messages that a group has spread before shares are looked at */
#define EQUAL_LEAST 64 /* a link has one in so many, times the links, of its group's */

/* Completions of a GFD for a host. */
struct equal_pair {
	uint64_t sent;
	uint64_t came; /* 1 + number of the last that came */
	uint32_t tag[EQUAL_UNDER_WAY]; /* and opcode, by number; a ring */
};

/* The last write to a line that left a switch. */
struct equal_write {
	uint64_t addr;
	const struct sim_node *at; /* NULL: none yet */
	uint32_t port;
};

struct sim_equal {
	struct equal_write write[EQUAL_WRITES]; /* by address and switch; others take their place */
	struct equal_pair *pair[EQUAL_NODES][EQUAL_NODES]; /* [GFD][host] */
	uint64_t *spread; /* by port: messages that may be spread */
};

static bool
equal_has_any(const struct weft_topo *t)
{
	uint8_t equal[WEFT_RGT_PORTS];

	for (unsigned int i = 0; i < t->n_ports; i++)
		if (weft_topo_equal_ports(
			    t, t->port[i].node, i - t->node[t->port[i].node].first_port, equal) > 1)
			return true;
	return false;
}

void
equal_make(struct sim *s)
{
	if (s->sc.mode != WEFT_MODE_CXL || s->topo->n_nodes > EQUAL_NODES ||
		!equal_has_any(s->topo))
		return;
	s->equal = arena_alloc(&s->memory.arena, sizeof(*s->equal));
	s->equal->spread =
		arena_alloc(&s->memory.arena, s->topo->n_ports * sizeof(*s->equal->spread));
}

static uint32_t
equal_name(const struct weft_msg *m)
{
	return (uint32_t)m->op << 16 | m->tag;
}

static void
equal_write_left(const struct sim_end *e, const struct weft_msg *m)
{
	struct sim *s = e->node->sim;
	const uint64_t place = m->addr / WEFT_MSG_DATA_LEN * 31 + e->node->index;
	struct equal_write *w = &s->equal->write[place % EQUAL_WRITES];

	if (w->at == e->node && w->addr == m->addr && w->port != e->link_dir)
		violation(s, "writes to %llx leave switch %u by two ports",
			(unsigned long long)m->addr, e->node->pid);
	*w = (struct equal_write){ m->addr, e->node, e->link_dir };
}

void
equal_sent(const struct sim_end *e, const struct weft_msg *m)
{
	struct sim *s = e->node->sim;
	struct equal_pair **p;

	if (s->equal == NULL)
		return;
	if (e->node->kind == WEFT_TOPO_SWITCH) {
		const bool is_spread = m->kind == WEFT_MSG_M2S_REQ || m->kind == WEFT_MSG_S2M_DRS;

		s->equal->spread[e->link_dir] += is_spread;
		if (m->kind == WEFT_MSG_M2S_RWD)
			equal_write_left(e, m);
		return;
	}
	if (e->node->kind != WEFT_TOPO_GFD || m->kind != WEFT_MSG_S2M_NDR || m->dpid >= WEFT_PIDS ||
		s->by_pid[m->dpid] == NULL)
		return;
	p = &s->equal->pair[e->node->index][s->by_pid[m->dpid]->index];
	if (*p == NULL)
		*p = arena_alloc(&s->memory.arena, sizeof(**p));
	(*p)->tag[(*p)->sent++ % EQUAL_UNDER_WAY] = equal_name(m);
}

/* Number of the newest completion like this one, or UINT64_MAX. */
static uint64_t
equal_find(const struct equal_pair *p, const struct weft_msg *m)
{
	for (uint64_t n = p->sent; n-- != 0 && p->sent - n <= EQUAL_UNDER_WAY;)
		if (p->tag[n % EQUAL_UNDER_WAY] == equal_name(m))
			return n;
	return UINT64_MAX;
}

void
equal_came(const struct sim_end *e, const struct weft_msg *m)
{
	struct sim *s = e->node->sim;
	struct equal_pair *of = NULL;
	uint64_t newest = 0;

	if (s->equal == NULL || e->node->kind != WEFT_TOPO_HOST || m->kind != WEFT_MSG_S2M_NDR)
		return;
	/* It does not say whose it is: of those that have sent such a one, where it is the next. */
	for (unsigned int g = 0; g < s->topo->n_nodes; g++) {
		struct equal_pair *p = s->equal->pair[g][e->node->index];
		const uint64_t n = p == NULL ? UINT64_MAX : equal_find(p, m);

		if (n == UINT64_MAX || (of != NULL && n < p->came))
			continue;
		of = p;
		newest = n;
	}
	if (of == NULL)
		return; /* the judge of links says so */
	if (newest < of->came)
		violation(s, "host %u gets completion %llu of a gfd behind number %llu",
			e->node->pid, (unsigned long long)newest, (unsigned long long)of->came - 1);
	else
		of->came = newest + 1;
}

/* A link that was down, or between nodes of which one was, has what it has. */
static bool
equal_was_up(const struct sim *s, uint32_t port)
{
	const struct weft_topo_port *p = &s->topo->port[port];

	return s->link_dir[port].flaps == 0 && s->link_dir[p->peer].flaps == 0 &&
	       s->link_dir[port].impair == NULL && s->link_dir[p->peer].impair == NULL &&
	       s->node[p->node].node.cfg.run <= 1 &&
	       s->node[s->link_dir[port].to].node.cfg.run <= 1;
}

static void
equal_look_at(struct sim *s, unsigned int node, unsigned int number)
{
	const uint32_t first = s->topo->node[node].first_port;
	uint8_t equal[WEFT_RGT_PORTS];
	const unsigned int n = weft_topo_equal_ports(s->topo, node, number, equal);
	uint64_t all = 0;

	if (n == 1)
		return;
	for (unsigned int i = 0; i < n; i++) {
		if (!equal_was_up(s, first + equal[i]))
			return;
		all += s->equal->spread[first + equal[i]];
	}
	s->total.domain[DOMAIN_EQUAL] += s->equal->spread[first + number];
	if (all >= EQUAL_SHARED && s->equal->spread[first + number] * n * EQUAL_LEAST < all)
		violation(s, "port %u of switch %u has %llu of the %llu messages of %u equal links",
			number, s->topo->node[node].pid,
			(unsigned long long)s->equal->spread[first + number],
			(unsigned long long)all, n);
}

void
equal_look(struct sim *s)
{
	if (s->equal == NULL)
		return;
	for (unsigned int i = 0; i < s->topo->n_nodes; i++)
		for (unsigned int p = 0; p < s->topo->node[i].n_ports; p++)
			equal_look_at(s, i, p);
}
