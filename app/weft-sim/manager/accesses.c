/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What hosts do once they were told of memory: accesses, most to what they have, some to what they
 * have not. Each goes by the tables of switches as they are when it comes there, and its answer
 * comes back in the same way.
 */

#include "world.h"

#include <stdlib.h>

#include "cli.h"

#define ACCESS_HOPS 64 /* more than any way has, whatever changes on it */
#define ACCESS_OPCODE 0

struct manager_going {
	struct manager_node *at; /* it comes here */
	uint16_t in_port;
	uint16_t link; /* it comes by */
	uint32_t flaps; /* of that, when it left */
	uint16_t host, gfd; /* nodes */
	uint16_t spid, dpid;
	uint16_t hops;
	bool is_write, is_answer, is_refused;
	uint64_t dpa;
	uint64_t begun_ns;
	uint32_t host_life;
};

static void
accesses_leave(struct manager *m, struct manager_going *g, const struct manager_node *from,
	unsigned int port)
{
	const struct weft_topo *t = m->topo;
	const unsigned int index = t->node[from->index].first_port + port;
	const unsigned int peer = t->port[index].peer;

	if (!manager_port_is_up(from, port) || ++g->hops > ACCESS_HOPS) {
		free(g);
		return;
	}
	g->link = t->port[index].link;
	g->flaps = m->flaps[g->link];
	g->at = &m->node[t->port[peer].node];
	g->in_port = (uint16_t)(peer - t->node[g->at->index].first_port);
	heap_push(&m->heap, m->now_ns + 1 + weft_rand_below(&m->rand, m->plan.hop_ns),
		MANAGER_ACCESS, g);
}

/* --- hosts --- */

/* Where it goes: into what the host has, or anywhere. */
static struct manager_node *
accesses_draw(struct manager_node *n, uint64_t *dpa)
{
	struct manager *m = n->m;
	struct weft_rand *r = &m->rand;
	struct manager_node *gfd;

	if (n->host.cci.n != 0 && weft_rand_below(r, 8) < 5) {
		const struct weft_cci_host_extent *e =
			&n->host.cci.extent[weft_rand_below(r, n->host.cci.n)];

		*dpa = e->dpa + weft_rand_below(r, e->len / MANAGER_BLOCK) * MANAGER_BLOCK;
		return &m->node[m->topo->gfd[manager_find_gfd(m, e->pid)]];
	}
	gfd = &m->node[m->topo->gfd[weft_rand_below(r, m->topo->n_gfds)]];
	/* The lowest places are those that memories have. */
	*dpa = weft_rand_below(r, 1 + weft_rand_below(r, gfd->gfd.n_blocks)) * MANAGER_BLOCK;
	return gfd;
}

void
manager_begin_access(struct manager_node *n)
{
	struct manager *m = n->m;
	const struct manager_node *sw = manager_far(n, 0);
	struct manager_going *g;
	struct manager_node *gfd;
	uint64_t dpa;

	manager_push(
		m, m->plan.gap_ns / 2 + weft_rand_below(&m->rand, m->plan.gap_ns), MANAGER_LOAD, n);
	/* Who was told nothing sends nothing; who has no PID cannot. */
	if (!n->is_up || !n->host.cci.is_told || !sw->is_up ||
		sw->sw.pid[n->at_port] == WEFT_CCI_NO_PID)
		return;
	gfd = accesses_draw(n, &dpa);
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		cli_fail("out of memory");
	g->host = n->index;
	g->gfd = gfd->index;
	g->spid = sw->sw.pid[n->at_port];
	g->dpid = m->topo->node[gfd->index].pid;
	g->is_write = weft_rand_below(&m->rand, 2) == 0;
	g->dpa = dpa + weft_rand_below(&m->rand, MANAGER_LINES) * WEFT_MSG_DATA_LEN;
	g->begun_ns = m->now_ns;
	g->host_life = n->life;
	accesses_leave(m, g, n, 0);
}

/* Since when a host has a byte: SIM_NEVER: it has not. */
static uint64_t
accesses_since(const struct manager_node *n, uint16_t pid, uint64_t dpa)
{
	for (unsigned int i = 0; i < n->host.cci.n; i++)
		if (n->host.cci.extent[i].pid == pid && dpa >= n->host.cci.extent[i].dpa &&
			dpa - n->host.cci.extent[i].dpa < n->host.cci.extent[i].len)
			return n->host.since_ns[i];
	return SIM_NEVER;
}

/*
 * What a host was told before an access began is how the access ends: nobody refuses what it has,
 * nor serves what it never heard of.
 */
static void
accesses_judge_told(struct manager *m, const struct manager_going *g, struct manager_node *n)
{
	const uint64_t since_ns = accesses_since(n, g->spid, g->dpa);
	const struct manager_gfd *at = &m->node[g->gfd].gfd;
	const uint64_t block = g->dpa / MANAGER_BLOCK;
	const uint64_t *known = manager_known(n, g->spid);
	const char *host = m->topo->node[g->host].name, *gfd = m->topo->node[g->gfd].name;

	/* A GFD that began again is as it was told to hosts once it was opened again. */
	if (g->is_refused && since_ns < g->begun_ns && at->opened_ns != 0 &&
		since_ns > at->opened_ns)
		violation(m->s, "managed: host %s has byte 0x%llx of %s, which refuses it", host,
			(unsigned long long)g->dpa, gfd);
	if (!g->is_refused && !at->was_lost && n->host.heard_ns < g->begun_ns &&
		(known[block / 64] >> block % 64 & 1) == 0)
		violation(m->s, "managed: host %s never heard of byte 0x%llx of %s, and is served",
			host, (unsigned long long)g->dpa, gfd);
}

static void
accesses_come_back(struct manager *m, const struct manager_going *g, struct manager_node *n)
{
	if (n->index != g->host)
		violation(m->s, "managed: an answer for host %s came to %s",
			m->topo->node[g->host].name, m->topo->node[n->index].name);
	m->s->total.manager[MANAGER_N_ANSWERS]++;
	if (n->index == g->host && n->life == g->host_life)
		accesses_judge_told(m, g, n);
}

/* --- on the way --- */

static void
accesses_execute(struct manager *m, struct manager_going *g, struct manager_node *n)
{
	struct weft_gfam_decision d;
	const uint64_t hpa = n->hpa_base + g->dpa;
	const uint16_t spid = g->spid;

	if (n->index != g->gfd) {
		violation(m->s, "managed: an access to %s came to %s", m->topo->node[g->gfd].name,
			m->topo->node[n->index].name);
		free(g);
		return;
	}
	n->gfd.guard.now_ns = m->now_ns;
	g->is_refused = weft_gfam_access_check(&n->gfd.guard, spid, hpa, ACCESS_OPCODE, g->is_write,
				&d) != WEFT_GFAM_SERVE;
	if (!g->is_refused)
		manager_judge_access(m, n, m->node[g->host].number, d.dpa, g->is_write);
	g->is_answer = true;
	g->spid = g->dpid;
	g->dpid = spid;
	g->hops = 0;
	accesses_leave(m, g, n, 0);
}

static void
accesses_pass(struct manager *m, struct manager_going *g, struct manager_node *n)
{
	const int port = weft_route_port_of_key(weft_tables_route_of(n->live, (uint8_t)g->in_port),
		g->dpid, g->is_answer ? WEFT_CLASS_S2M_DRS : WEFT_CLASS_M2S_RWD, g->dpa);

	if (port < 0 || port >= m->topo->node[n->index].n_ports)
		free(g);
	else
		accesses_leave(m, g, n, (unsigned int)port);
}

void
manager_access(struct manager *m, void *access)
{
	struct manager_going *g = access;
	struct manager_node *n = g->at;

	if (!n->is_up || m->flaps[g->link] != g->flaps) {
		free(g);
	} else if (n->kind == WEFT_TOPO_SWITCH) {
		accesses_pass(m, g, n);
	} else if (!g->is_answer) {
		accesses_execute(m, g, n);
	} else {
		accesses_come_back(m, g, n);
		free(g);
	}
}
