/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of a manager, which knows what an operator wants and nothing of how it is reached:
 *
 *   1. No access is executed that neither the state desired now allows, nor one before that the
 *      manager may still be busy to leave.
 *   2. Nobody reads what was written as part of another memory: it was wiped before.
 *   3. No row of a DRT, nor a group that it names, leads back to its switch, at any moment.
 *   4. In the end all is as desired: PIDs, ways, capacity, rights, and what hosts were told.
 */

#include "world.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* --- 1, 2: accesses --- */

/* What is desired from now on; what was desired may still be in force. */
void
manager_add_claims(struct manager *m)
{
	const unsigned int most = m->n_claims + MANAGER_GROUPS * MANAGER_EXTENTS;

	if (most > m->room_claims) {
		m->room_claims = 2 * most;
		m->claim = realloc(m->claim, m->room_claims * sizeof(*m->claim));
		if (m->claim == NULL)
			cli_fail("out of memory");
	}
	for (unsigned int i = 0; i < m->n_claims; i++)
		m->claim[i].is_now = false;
	m->has_old_claims = m->n_claims != 0;
	for (unsigned int i = 0; i < m->n_memories; i++)
		for (unsigned int k = 0; k < m->memory[i].n_extents; k++)
			m->claim[m->n_claims++] = (struct manager_claim){ m->memory[i].extent[k],
				m->memory[i].id, true, m->memory[i].hosts };
}

/* The manager says that it has converged: so it has left all other states, where it may write. */
void
manager_drop_claims(struct manager *m)
{
	unsigned int kept = 0;

	if (!m->has_old_claims)
		return;
	m->has_old_claims = false;
	for (unsigned int i = 0; i < m->n_claims; i++) {
		const struct manager_claim *c = &m->claim[i];
		struct weft_fm_component gfd;
		const bool is_left = weft_fm_component(m->fm, c->extent.gfd, &gfd) == 0 &&
		                     gfd.state == WEFT_FM_READY;

		if (!c->is_now && is_left)
			continue;
		m->has_old_claims |= !c->is_now;
		m->claim[kept++] = *c;
	}
	m->n_claims = kept;
}

/* Memories by which a host may reach a block: one more than fit means any. */
static unsigned int
verdict_ids(const struct manager *m, const struct manager_node *gfd, unsigned int host,
	uint64_t block, uint32_t id[MANAGER_IDS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < m->n_claims; i++) {
		const struct manager_claim *c = &m->claim[i];
		bool is_new = c->extent.gfd == gfd->index && block >= c->extent.first &&
		              block - c->extent.first < c->extent.n &&
		              manager_has_host(c->hosts, host);

		for (unsigned int k = 0; k < n; k++)
			is_new = is_new && id[k] != c->id;
		if (is_new && n == MANAGER_IDS)
			return MANAGER_IDS + 1;
		if (is_new)
			id[n++] = c->id;
	}
	return n;
}

static bool
verdict_shares(const struct manager_line *l, const uint32_t *id, unsigned int n)
{
	for (unsigned int i = 0; i < n && n <= MANAGER_IDS; i++)
		for (unsigned int k = 0; k < l->n; k++)
			if (l->id[k] == id[i])
				return true;
	return l->n == 0 || n > MANAGER_IDS;
}

/* What is one of too many is as good as wiped. */
static void
verdict_write(struct manager_line *l, const uint32_t id[MANAGER_IDS], unsigned int n)
{
	l->n = n > MANAGER_IDS ? 0 : n;
	memcpy(l->id, id, sizeof(l->id));
}

void
manager_judge_access(
	struct manager *m, struct manager_node *gfd, unsigned int host, uint64_t dpa, bool is_write)
{
	const uint64_t block = dpa / MANAGER_BLOCK;
	struct manager_line *l =
		&gfd->gfd.line[block * MANAGER_LINES + dpa % MANAGER_BLOCK / WEFT_MSG_DATA_LEN];
	uint32_t id[MANAGER_IDS] = { 0 };
	const unsigned int n = verdict_ids(m, gfd, host, block, id);
	const char *from = m->topo->node[m->topo->host[host]].name;
	const char *to = m->topo->node[gfd->index].name;

	m->s->total.domain[DOMAIN_MANAGER]++;
	if (n == 0)
		violation(m->s, "managed: host %s %s byte 0x%llx of %s, which no state gives it",
			from, is_write ? "writes" : "reads", (unsigned long long)dpa, to);
	else if (is_write)
		verdict_write(l, id, n);
	else if (!verdict_shares(l, id, n))
		violation(m->s, "managed: host %s reads at byte 0x%llx of %s what was another's",
			from, (unsigned long long)dpa, to);
}

/* --- 3: ways --- */

static unsigned int
verdict_ports(const struct weft_route *r, unsigned int dpid, uint8_t port[WEFT_RGT_PORTS])
{
	const uint8_t *row = r->drt.entry[dpid];

	if (row[0] == WEFT_DRT_PORT) {
		port[0] = row[1];
		return 1;
	}
	if (row[0] != WEFT_DRT_RGT)
		return 0;
	memcpy(port, r->rgt[row[1]].port, WEFT_RGT_PORTS);
	return (r->rgt[row[1]].counts & 7) + 1u;
}

static const struct manager_node *
verdict_next(const struct manager *m, const struct manager_node *n, unsigned int port)
{
	return port >= m->topo->node[n->index].n_ports ? NULL : manager_far(n, port);
}

enum { MARK_NEW, MARK_ON_WAY, MARK_DONE };

/* Whether a way from @p n comes to a node that it was at. */
static bool
verdict_circles(struct manager *m, const struct manager_node *n, unsigned int dpid)
{
	uint8_t port[WEFT_RGT_PORTS];
	unsigned int ports;

	if (n == NULL || n->kind != WEFT_TOPO_SWITCH || !n->is_up || m->mark[n->index] == MARK_DONE)
		return false;
	if (m->mark[n->index] == MARK_ON_WAY)
		return true;
	m->mark[n->index] = MARK_ON_WAY;
	ports = verdict_ports(weft_tables_route(n->live, 0), dpid, port);
	for (unsigned int i = 0; i < ports; i++)
		if (verdict_circles(m, verdict_next(m, n, port[i]), dpid))
			return true;
	m->mark[n->index] = MARK_DONE;
	return false;
}

void
manager_judge_rows(struct manager_node *n, const struct weft_tables *before)
{
	struct manager *m = n->m;
	const struct weft_route *r = weft_tables_route(n->live, 0),
				*old = weft_tables_route(before, 0);
	const bool has_groups = memcmp(r->rgt, old->rgt, sizeof(r->rgt)) != 0;

	for (unsigned int dpid = 0; dpid < WEFT_PID_RESERVED; dpid++) {
		const uint8_t *row = r->drt.entry[dpid];

		if (memcmp(row, old->drt.entry[dpid], 2) == 0 &&
			!(has_groups && row[0] == WEFT_DRT_RGT))
			continue;
		m->s->total.manager[MANAGER_N_ROWS]++;
		memset(m->mark, MARK_NEW, m->topo->n_nodes);
		if (verdict_circles(m, n, dpid))
			violation(m->s, "managed: messages for 0x%03x go in a circle by switch %s",
				dpid, m->topo->node[n->index].name);
	}
}

/* --- 4: the end --- */

static bool
verdict_says(struct manager *m, const struct manager_node *n, const char *what)
{
	snprintf(m->why, sizeof(m->why), "%s: %s", m->topo->node[n->index].name, what);
	return false;
}

static bool
verdict_is_drained(const struct manager *m, const struct manager_node *n)
{
	return m->want[n->index].is_drained;
}

/* Mark all switches that traffic may come to from one. */
static void
verdict_flood(struct manager *m, const struct manager_node *n)
{
	if (n->kind != WEFT_TOPO_SWITCH || verdict_is_drained(m, n) ||
		m->mark[n->index] != MARK_NEW)
		return;
	m->mark[n->index] = MARK_DONE;
	for (unsigned int p = 0; p < m->topo->node[n->index].n_ports; p++)
		verdict_flood(m, verdict_next(m, n, p));
}

/* Whether every way that messages for a PID may take from a switch ends at @p to. */
static bool
verdict_leads(struct manager *m, const struct manager_node *n, const struct manager_node *to,
	unsigned int hops)
{
	const unsigned int dpid = m->topo->node[to->index].pid;
	uint8_t port[WEFT_RGT_PORTS];
	unsigned int ports;

	if (n == NULL || n->kind != WEFT_TOPO_SWITCH)
		return n == to;
	if (hops > m->topo->n_switches)
		return false;
	ports = verdict_ports(weft_tables_route(n->live, 0), dpid, port);
	for (unsigned int i = 0; i < ports; i++)
		if (!verdict_leads(m, verdict_next(m, n, port[i]), to, hops + 1))
			return false;
	return ports != 0;
}

/* Hosts with a right, and all their ways. */
static bool
verdict_has_ways(struct manager *m)
{
	const struct weft_fm_intent *in = &m->intent[m->intent_now];

	for (unsigned int h = 0; h < m->topo->n_hosts; h++) {
		const struct manager_node *host = &m->node[m->topo->host[h]];
		const struct manager_node *sw = manager_far(host, 0);
		const uint16_t pid = m->topo->node[host->index].pid;

		memset(m->mark, MARK_NEW, m->topo->n_nodes);
		verdict_flood(m, sw);
		if (m->mark[sw->index] == MARK_DONE && sw->sw.pid[host->at_port] != pid)
			return verdict_says(m, host, "its port has not its PID");
		for (uint32_t i = 0; i < in->n_rights; i++) {
			const struct manager_node *gfd = &m->node[in->right[i].path];
			const struct manager_node *far = manager_far(gfd, 0);

			if (in->right[i].pid != pid || m->mark[far->index] != MARK_DONE)
				continue;
			if (!verdict_leads(m, sw, gfd, 0) || !verdict_leads(m, far, host, 0))
				return verdict_says(m, host, "no way to memory that it is to have");
		}
	}
	return true;
}

static bool
verdict_has_capacity(struct manager *m, const struct manager_node *g)
{
	const struct weft_fm_intent *in = &m->intent[m->intent_now];

	for (uint32_t b = 0; b < g->gfd.n_blocks; b++) {
		uint8_t group = WEFT_GFAM_NO_GROUP;

		for (uint32_t i = 0; i < in->n_extents; i++) {
			const struct weft_fm_extent *x = &in->extent[i];
			const uint64_t dpa = (uint64_t)b * MANAGER_BLOCK;

			if (x->path == g->index && dpa >= x->dpa && dpa - x->dpa < x->len)
				group = (uint8_t)x->group;
		}
		if (weft_gfam_group(g->gfd.access, (uint64_t)b * MANAGER_BLOCK) != group)
			return verdict_says(m, g, "a group has not the memory that it is to have");
	}
	return true;
}

static bool
verdict_has_rights(struct manager *m, const struct manager_node *g)
{
	const struct weft_fm_intent *in = &m->intent[m->intent_now];
	uint32_t want[WEFT_PIDS] = { 0 };

	for (uint32_t i = 0; i < in->n_rights; i++)
		if (in->right[i].path == g->index)
			want[in->right[i].pid] |= in->right[i].groups;
	for (unsigned int p = 0; p < WEFT_PID_RESERVED; p++)
		if (weft_gfam_sat(g->gfd.access, (uint16_t)p) != want[p])
			return verdict_says(m, g, "somebody has other rights than he is to have");
	return true;
}

/* What a host was told is what rights and capacity say, or less where no way leads there. */
static bool
verdict_was_told(struct manager *m, const struct manager_node *h)
{
	const struct weft_fm_intent *in = &m->intent[m->intent_now];
	const uint16_t pid = m->topo->node[h->index].pid;
	unsigned int n = 0;

	memset(m->mark, MARK_NEW, m->topo->n_nodes);
	verdict_flood(m, manager_far(h, 0));
	for (uint32_t i = 0; i < in->n_rights; i++)
		for (uint32_t k = 0; in->right[i].pid == pid && k < in->n_extents; k++) {
			const struct weft_fm_extent *x = &in->extent[k];
			const struct manager_node *sw = manager_far(&m->node[x->path], 0);
			bool is_told = false;

			if (x->path != in->right[i].path ||
				(in->right[i].groups >> x->group & 1) == 0)
				continue;
			for (unsigned int j = 0; j < h->host.cci.n; j++)
				is_told |=
					h->host.cci.extent[j].pid == m->topo->node[x->path].pid &&
					h->host.cci.extent[j].dpa == x->dpa &&
					h->host.cci.extent[j].len == x->len;
			n += is_told;
			if (!is_told && m->mark[sw->index] == MARK_DONE)
				return verdict_says(m, h, "was not told what it has");
		}
	return n == h->host.cci.n || verdict_says(m, h, "was told of more than it has");
}

bool
manager_is_right(struct manager *m)
{
	for (uint16_t i = 0; i < m->topo->n_nodes; i++) {
		const struct manager_node *n = &m->node[i];
		const struct weft_cci_owner *o = weft_cci_component_owner(&n->component);
		struct weft_fm_component c;

		if (weft_fm_component(m->fm, i, &c) != 0 || c.state != WEFT_FM_READY)
			return verdict_says(m, n, weft_fm_state_word(c.state));
		if (o->pid != m->topo->node[i].pid)
			return verdict_says(m, n, "has not its PID");
		if (n->kind == WEFT_TOPO_GFD &&
			(!verdict_has_capacity(m, n) || !verdict_has_rights(m, n)))
			return false;
		if (n->kind == WEFT_TOPO_HOST && !verdict_was_told(m, n))
			return false;
	}
	return verdict_has_ways(m);
}
