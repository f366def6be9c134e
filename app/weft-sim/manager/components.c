/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The nodes of a fabric with a manager: tables as weftd makes them, and the responders of lib/node
 * that change them, with what weftd is to those (app/weftd/cci_nodes.c).
 */

#include "world.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define COMPONENT_IDENTITY 16 /* of a link partner: what Identify begins with */
#define COMPONENT_EXTENTS 256 /* of a GFD */
#define COMPONENT_SLOW_NS (3 * SEC) /* until a host has ended what it began */

static void
components_check(const struct manager_node *n, const char *what, int rc)
{
	if (rc != 0)
		cli_fail("seed %llu: %s of node %s: %s", (unsigned long long)n->m->s->seed, what,
			n->m->topo->node[n->index].name, strerror(-rc));
}

/* As above, for what says itself what is wrong. */
static void
components_check_text(const struct manager_node *n, int rc, const char *text)
{
	if (rc != 0)
		cli_fail("seed %llu: %s", (unsigned long long)n->m->s->seed, text);
}

/* --- memory of tables --- */

static void *
components_alloc(void *world, size_t len)
{
	const size_t lines = (len + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE;
	void *p = aligned_alloc(WEFT_CACHE_LINE, lines * WEFT_CACHE_LINE);

	(void)world;
	if (p == NULL)
		cli_fail("out of memory");
	return memset(p, 0, len);
}

static void
components_free(void *world, void *mem)
{
	(void)world;
	free(mem);
}

static const struct weft_node_world components_node_world = {
	.alloc = components_alloc,
	.free = components_free,
};

/* --- what all of them are to their manager --- */

static uint64_t
components_serial(const struct manager_node *n)
{
	return UINT64_C(0x1000) + n->index;
}

static uint16_t
components_device_id(const struct manager_node *n)
{
	return (uint16_t)(n->kind + 1);
}

static uint16_t
components_take_pid(void *node, uint16_t pid)
{
	const struct manager_node *n = node;

	return pid == n->m->topo->node[n->index].pid ? WEFT_CCI_SUCCESS : WEFT_CCI_INVALID_INPUT;
}

struct manager_node *
manager_far(const struct manager_node *n, unsigned int port)
{
	const struct weft_topo *t = n->m->topo;

	return &n->m->node[t->neighbour[t->node[n->index].first_port + port]];
}

bool
manager_port_is_up(const struct manager_node *n, unsigned int port)
{
	const struct weft_topo *t = n->m->topo;
	const uint16_t link = t->port[t->node[n->index].first_port + port].link;

	return n->is_up && manager_far(n, port)->is_up && n->m->link_up_ns[link] <= n->m->now_ns;
}

/* --- switches --- */

static const struct weft_tables *
components_tables_now(void *node)
{
	return ((struct manager_node *)node)->live;
}

static struct weft_tables *
components_tables_begin(void *node)
{
	struct manager_node *n = node;

	weft_tables_copy(n->spare, n->live);
	return n->spare;
}

static void
components_tables_commit(void *node)
{
	struct manager_node *n = node;
	struct weft_tables *old = n->live;

	n->live = n->spare;
	n->spare = old;
	manager_judge_rows(n, old);
}

static void
components_port(void *node, unsigned int port, struct weft_cci_switch_port *p)
{
	const struct manager_node *n = node;
	const struct weft_topo *t = n->m->topo;
	const uint8_t far = manager_far(n, port)->kind;

	p->state = far == WEFT_TOPO_HOST     ? WEFT_CCI_PORT_USP
	           : far == WEFT_TOPO_SWITCH ? WEFT_CCI_PORT_FABRIC
	                                     : WEFT_CCI_PORT_DSP;
	p->is_pbr = t->mode != WEFT_MODE_CXL ||
	            t->port[t->node[n->index].first_port + port].form != WEFT_FORM_HBR;
	p->is_up = manager_port_is_up(n, port);
	if (far != WEFT_TOPO_HOST)
		p->type = WEFT_CCI_PORT_PBR;
}

static void
components_partner(void *node, unsigned int port, struct weft_cci_lpi_block *b)
{
	const struct manager_node *n = node;
	const struct manager_node *far = manager_far(n, port);
	const struct weft_topo *t = n->m->topo;

	if (far->kind == WEFT_TOPO_HOST)
		return;
	b->far_port = (uint8_t)(t->port[t->node[n->index].first_port + port].peer -
				t->node[far->index].first_port);
	b->pid_type = t->node[far->index].pid;
	if (far->kind == WEFT_TOPO_GFD)
		b->pid_type |= 1u << 12;
	memset(b->id, 0, COMPONENT_IDENTITY);
	weft_put_le16(b->id + 2, components_device_id(far));
	weft_put_le64(b->id + 8, components_serial(far));
}

static bool
components_may_have_pid(void *node, unsigned int port, uint16_t pid)
{
	const struct manager_node *n = node;
	const struct manager_node *far = manager_far(n, port);

	return far->kind != WEFT_TOPO_SWITCH && pid == n->m->topo->node[far->index].pid;
}

static const struct weft_cci_switch_world components_switch_world = {
	.now = components_tables_now,
	.begin = components_tables_begin,
	.commit = components_tables_commit,
	.port = components_port,
	.partner = components_partner,
	.may_have_pid = components_may_have_pid,
};

static struct weft_tables *
components_tables(struct manager_node *n)
{
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = weft_node_tables_cfg(&n->cfg, edge);
	struct weft_tables *t = components_alloc(n, weft_tables_size(&cfg));
	char err[256];

	components_check(n, "tables", weft_tables_init(t, &cfg));
	components_check_text(
		n, weft_node_set_tables(t, &n->cfg, n->m->topo, err, sizeof(err)), err);
	return t;
}

static void
components_begin_switch(struct manager_node *n, struct weft_cci_component_cfg *cfg)
{
	n->live = components_tables(n);
	n->spare = components_tables(n);
	components_check(n, "switch",
		weft_cci_switch_init(
			&n->sw, &components_switch_world, n, n->m->topo->node[n->index].n_ports));
	cfg->type = WEFT_CCI_TYPE_SWITCH;
	cfg->command = weft_cci_switch_commands;
	cfg->n_commands = weft_cci_switch_n_commands;
	cfg->arg = &n->sw;
}

/* --- GFDs --- */

static const struct weft_gfam *
components_access_now(void *node)
{
	return ((struct manager_node *)node)->gfd.access;
}

static struct weft_gfam *
components_access_begin(void *node)
{
	struct manager_node *n = node;

	return weft_gfam_copy(n->gfd.spare, n->gfd.access);
}

static void
components_access_commit(void *node)
{
	struct manager_node *n = node;
	struct weft_gfam *old = n->gfd.access;

	n->gfd.access = n->gfd.spare;
	n->gfd.spare = old;
	weft_gfam_publish(&n->gfd.now, n->gfd.access);
	for (uint16_t p = 0; n->gfd.opened_ns == 0 && p < WEFT_PID_RESERVED; p++)
		if (weft_gfam_sat(n->gfd.access, p) != 0)
			n->gfd.opened_ns = n->m->now_ns;
}

static void
components_wipe(void *node, uint64_t dpa, uint64_t len)
{
	struct manager_node *n = node;

	memset(&n->gfd.line[dpa / MANAGER_BLOCK * MANAGER_LINES], 0,
		len / MANAGER_BLOCK * MANAGER_LINES * sizeof(*n->gfd.line));
}

static bool
components_gfd_is_up(void *node)
{
	return manager_port_is_up(node, 0);
}

static const struct weft_cci_gfd_world components_gfd_world = {
	.now = components_access_now,
	.begin = components_access_begin,
	.commit = components_access_commit,
	.wipe = components_wipe,
	.is_up = components_gfd_is_up,
};

static void
components_report(void *node, const struct weft_gfam_report *r)
{
	struct manager_node *n = node;
	const uint16_t fm = weft_cci_component_owner(&n->component)->primary_pid;
	uint8_t msg[WEFT_CCI_GFD_REPORT_LEN];

	weft_cci_gfd_report(r, n->m->topo->node[n->index].pid, msg);
	manager_notify(n, fm, msg, sizeof(msg));
}

static void
components_begin_gfd(struct manager_node *n, struct weft_cci_component_cfg *cfg)
{
	const struct weft_gfam_dc_cfg dc = { .extents = COMPONENT_EXTENTS, .tags = 1 };
	char err[256];

	n->gfd.dc = weft_gfam_dc_init(components_alloc(n, weft_gfam_dc_size(&dc)), &dc);
	components_check_text(n,
		weft_node_make_access(
			&n->cfg, n->m->topo, n->gfd.dc, &n->gfd.access, err, sizeof(err)),
		err);
	n->gfd.spare = components_alloc(n, weft_gfam_size(weft_gfam_cfg(n->gfd.access)));
	weft_gfam_publish(&n->gfd.now, n->gfd.access);
	weft_gfam_log_init(&n->gfd.log);
	n->gfd.opened_ns = 0;
	n->gfd.guard = (struct weft_gfam_checker){ .tables = &n->gfd.now,
		.log = &n->gfd.log,
		.report = components_report,
		.report_arg = n };
	n->gfd.n_blocks = (uint32_t)(n->m->topo->node[n->index].memory / MANAGER_BLOCK);
	n->gfd.line = components_alloc(n, n->gfd.n_blocks * MANAGER_LINES * sizeof(*n->gfd.line));
	weft_cci_gfd_init(&n->gfd.cci, &components_gfd_world, n, n->gfd.dc);
	cfg->type = WEFT_CCI_TYPE_GFD;
	cfg->command = weft_cci_gfd_commands;
	cfg->n_commands = weft_cci_gfd_n_commands;
	cfg->arg = &n->gfd.cci;
}

/* --- hosts --- */

/* Since when a host has an extent of what it is told now. */
static uint64_t
components_since(const struct manager_node *n, const struct weft_cci_host_extent *e)
{
	for (unsigned int i = 0; i < n->host.cci.n; i++) {
		const struct weft_cci_host_extent *had = &n->host.cci.extent[i];

		if (had->pid == e->pid && had->grp == e->grp && had->dpa == e->dpa &&
			had->len == e->len)
			return n->host.since_ns[i];
	}
	return n->m->now_ns;
}

static void
components_note_since(struct manager_node *n, const struct weft_cci_host_extent *e,
	unsigned int n_extents, bool is_announced)
{
	uint64_t since_ns[WEFT_CCI_HOST_EXTENTS];

	for (unsigned int i = 0; i < n_extents; i++)
		since_ns[i] = components_since(n, &e[i]);
	if (!is_announced)
		memcpy(n->host.since_ns, since_ns, n_extents * sizeof(*since_ns));
}

static int
components_take(
	void *node, const struct weft_cci_host_extent *e, unsigned int n_extents, bool is_announced)
{
	struct manager_node *n = node;
	struct manager *m = n->m;

	n->host.heard_ns = n->host.is_behind ? SIM_NEVER : m->now_ns;
	for (unsigned int i = 0; i < n_extents; i++) {
		uint64_t *known = manager_known(n, e[i].pid);

		if (known == NULL)
			return -EINVAL;
		for (uint64_t b = 0; b < e[i].len / MANAGER_BLOCK; b++) {
			const uint64_t at = e[i].dpa / MANAGER_BLOCK + b;

			if (at >= MANAGER_BLOCKS)
				return -EINVAL;
			known[at / 64] |= WEFT_BIT64(at % 64);
		}
	}
	/* It may have requests open: then it goes by what it had until these have ended. */
	if (weft_rand_below(&m->rand, m->plan.is_large ? 256 : 8) == 0) {
		n->host.is_excused = false;
		n->host.taken_ns = m->now_ns + 1 + weft_rand_below(&m->rand, COMPONENT_SLOW_NS);
		manager_push(m, n->host.taken_ns - m->now_ns, MANAGER_TAKEN, n);
		return -EINPROGRESS;
	}
	components_note_since(n, e, n_extents, is_announced);
	return 0;
}

void
manager_take(struct manager_node *n)
{
	const struct weft_cci_host_next *next = &n->host.cci.next;

	/* One that began again has forgotten it. */
	if (!n->is_up || n->host.taken_ns != n->m->now_ns)
		return;
	n->host.taken_ns = 0;
	components_note_since(n, next->extent, next->n, next->is_announced);
	if (n->host.is_excused)
		memset(n->host.since_ns, 0, sizeof(n->host.since_ns));
	weft_cci_component_done(&n->component, weft_cci_host_taken(&n->host.cci, 0));
}

void
manager_excuse(struct manager_node *n)
{
	n->gfd.was_lost = true;
	memset(n->host.since_ns, 0, sizeof(n->host.since_ns));
	n->host.heard_ns = SIM_NEVER;
	n->host.is_excused = n->host.is_behind = true;
}

void
manager_catch_up(struct manager *m)
{
	struct weft_fm_component c;

	for (uint16_t i = 0; i < m->topo->n_nodes; i++)
		if (weft_fm_component(m->fm, i, &c) == 0 && c.state == WEFT_FM_READY)
			m->node[i].host.is_behind = false;
}

int
manager_find_gfd(const struct manager *m, uint16_t pid)
{
	const struct weft_topo *t = m->topo;

	for (int g = 0; g < t->n_gfds; g++)
		if (t->node[t->gfd[g]].pid == pid)
			return g;
	return -1;
}

uint64_t *
manager_known(struct manager_node *n, uint16_t pid)
{
	const int g = manager_find_gfd(n->m, pid);

	return g < 0 ? NULL : &n->host.known[g * MANAGER_KNOWN_WORDS];
}

static const struct weft_cci_host_world components_host_world = { .take = components_take };

static void
components_begin_host(struct manager_node *n, struct weft_cci_component_cfg *cfg)
{
	weft_cci_host_init(&n->host.cci, &components_host_world, n);
	n->host.taken_ns = 0;
	n->host.is_excused = n->host.is_behind = false;
	n->host.known = components_alloc(
		n, n->m->topo->n_gfds * MANAGER_KNOWN_WORDS * sizeof(*n->host.known));
	cfg->type = WEFT_CCI_TYPE_HOST;
	cfg->pid = n->m->topo->node[n->index].pid;
	cfg->command = weft_cci_host_commands;
	cfg->n_commands = weft_cci_host_n_commands;
	cfg->arg = &n->host.cci;
}

/* --- their lives --- */

void
manager_begin_node(struct manager_node *n)
{
	struct weft_cci_component_cfg cfg = {
		.did = components_device_id(n),
		.serial = components_serial(n),
		.pid = WEFT_CCI_NO_PID,
		.world = n,
		.take_pid = components_take_pid,
		.notify = manager_notify,
	};

	n->life++;
	n->is_up = true;
	n->conn = (struct manager_conn){ .fm_pid = WEFT_CCI_NO_PID };
	switch (n->kind) {
	case WEFT_TOPO_SWITCH: components_begin_switch(n, &cfg); break;
	case WEFT_TOPO_GFD: components_begin_gfd(n, &cfg); break;
	default: components_begin_host(n, &cfg); break;
	}
	components_check(n, "component", weft_cci_component_init(&n->component, &cfg));
}

void
manager_end_node(struct manager_node *n)
{
	n->is_up = n->is_connected = false;
	free(n->host.known);
	free(n->live);
	free(n->spare);
	free(n->gfd.dc);
	free(n->gfd.access);
	free(n->gfd.spare);
	free(n->gfd.line);
	n->host.known = NULL;
	n->live = n->spare = NULL;
	n->gfd.dc = NULL;
	n->gfd.access = n->gfd.spare = NULL;
	n->gfd.line = NULL;
}

static uint64_t
components_hpa(const struct weft_topo *t, uint16_t gfd)
{
	for (unsigned int s = 0; s < t->map.n_segments; s++)
		if (t->map.target[t->map.segment[s].first_target].node == gfd)
			return t->map.segment[s].base;
	return 0;
}

void
manager_make_nodes(struct manager *m)
{
	const struct weft_topo *t = m->topo;

	m->node = arena_alloc(&m->arena, t->n_nodes * sizeof(*m->node));
	m->mark = arena_alloc(&m->arena, t->n_nodes);
	m->link_up_ns = arena_alloc(&m->arena, t->n_links * sizeof(*m->link_up_ns));
	m->flaps = arena_alloc(&m->arena, t->n_links * sizeof(*m->flaps));
	for (uint16_t i = 0, hosts = 0; i < t->n_nodes; i++) {
		struct manager_node *n = &m->node[i];

		n->m = m;
		n->index = i;
		n->kind = t->node[i].kind;
		n->hpa_base = components_hpa(t, i);
		n->cfg = (struct weft_node_cfg){
			.world = &components_node_world, .world_arg = n, .topo = t, .index = i
		};
		if (n->kind == WEFT_TOPO_HOST) {
			const uint16_t peer = t->port[t->node[i].first_port].peer;

			n->number = hosts++;
			n->at_port = (uint16_t)(peer - t->node[t->port[peer].node].first_port);
		}
		manager_begin_node(n);
	}
}

void
manager_free_nodes(struct manager *m)
{
	for (uint16_t i = 0; m->node != NULL && i < m->topo->n_nodes; i++)
		manager_end_node(&m->node[i]);
}
