/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the topology says of addresses, rights and routes, as the tables that decide: FAST, IDT and
 * GMV of the edge port of each host and GFD (where their links are of HBR form, at the switch), DRT of every node, GDT, MGT and SAT of each GFD
 * (fabric.md sections 1.2 to 1.10). --resolve answers from the topology without them, and hosts
 * hold what the tables do to its answers.
 */

#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "weft_resolve.h"

#define DMP_UNIT (UINT64_C(256) << 20) /* a DMP is a multiple of it, memory need not be */
#define BLOCK_LOG2 12

static_assert(WEFT_TOPO_BLOCK == 1 << BLOCK_LOG2, "groups are made of blocks");

static bool
fabric_is_requester(const struct weft_topo_node *n)
{
	return n->kind == WEFT_TOPO_HOST || n->kind == WEFT_TOPO_DEVICE;
}

static int
fabric_fail(const struct node *n, const char *what, int rc, char *err, size_t err_len)
{
	snprintf(err, err_len, "node %s: %s: %s", n->topo->name, what, strerror(-rc));
	return rc;
}

/* What a host may reach any memory of; a GFD's own port is for looking where requests belong. */
static bool
fabric_may_reach(const struct weft_topo *t, uint16_t node, uint16_t gfd)
{
	const struct weft_topo_node *from = &t->node[node];

	for (unsigned int i = 0; i < t->n_ranges; i++)
		if (t->range[i].gfd == gfd && (from->access >> t->range[i].group & 1) != 0)
			return true;
	return from->kind == WEFT_TOPO_GFD;
}

/* What the FAST of any port, or the LDST of a device's, says of memory of a device. */
static int
fabric_set_direct(struct weft_edge *e, const struct weft_topo *t, unsigned int index)
{
	const struct weft_topo_segment *s = &t->segment[index];
	const uint16_t pid = t->node[t->target[s->first_target].node].pid;
	const struct weft_fast_entry entry = { .flags = WEFT_SEG_VALID, .dpid = pid };
	int rc;

	if (e->cfg.ldst_idt == 0)
		return 0;
	rc = weft_edge_allow(e, WEFT_LAV, pid, true);
	return rc != 0 ? rc : weft_seg_set_entries(&e->ldst, index, &entry, 1);
}

static int
fabric_set_segment(
	struct weft_edge *e, const struct weft_topo *t, unsigned int index, unsigned int *idt_used)
{
	const struct weft_topo_segment *s = &t->segment[index];
	const unsigned int ways = 1u << s->ways_log2;
	struct weft_fast_entry entry = {
		.flags = (uint8_t)(WEFT_SEG_VALID | (s->is_gim ? WEFT_SEG_GIM : 0)),
		.intlv = s->ways_log2,
		.gran = s->gran,
	};
	uint16_t pid[WEFT_TOPO_WAYS];
	int rc;

	if (t->node[t->target[s->first_target].node].kind == WEFT_TOPO_DEVICE)
		return fabric_set_direct(e, t, index);
	for (unsigned int w = 0; w < ways; w++) {
		pid[w] = t->node[t->target[s->first_target + w].node].pid;
		rc = weft_edge_allow(e, s->is_gim ? WEFT_VTV : WEFT_GMV, pid[w], true);
		if (rc != 0)
			return rc;
	}
	entry.dpid = pid[0];
	if (ways > 1) {
		entry.dpid = (uint16_t)*idt_used;
		rc = weft_seg_set_idt(&e->fast, *idt_used, pid, ways);
		if (rc != 0)
			return rc;
		*idt_used += ways;
	}
	return weft_seg_set_entries(&e->fast, index, &entry, 1);
}

/* A completion of a device finds its way back by who asked: its requester id is its PID. */
static int
fabric_set_rerouter(struct weft_edge *e, const struct daemon *d, unsigned int node)
{
	const struct weft_topo *t = d->topo;
	unsigned int n = 0;
	int rc = 0;

	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++) {
		const uint16_t pid = t->node[i].pid;
		const struct weft_reroute row = {
			.pid = pid, .bus = (uint8_t)(pid >> 8), .devfn = (uint8_t)pid
		};

		if (!d->load->node[i].has_uio || !weft_topo_in_lav(t, node, i))
			continue;
		if (n == WEFT_REROUTER_ROWS)
			return -E2BIG;
		rc = weft_edge_allow(e, WEFT_LAV, pid, true);
		if (rc == 0)
			rc = weft_edge_set_rerouter(e, n++, &row, 1);
	}
	return rc;
}

/* Last, what the vectors of the file do not have: entries may name a PID only while it is in them. */
static int
fabric_set_vectors(struct weft_edge *e, const struct weft_topo *t, unsigned int node)
{
	int rc = 0;

	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++) {
		if (t->node[i].kind != WEFT_TOPO_HOST && t->node[i].kind != WEFT_TOPO_DEVICE)
			continue;
		rc = weft_edge_allow(e, WEFT_VTV, t->node[i].pid, weft_topo_in_vtv(t, node, i));
		if (rc == 0)
			rc = weft_edge_allow(
				e, WEFT_LAV, t->node[i].pid, weft_topo_in_lav(t, node, i));
	}
	return rc;
}

/* Switch, fabric manager and host agree on what the file says. */
static int
fabric_set_prefixes(struct weft_edge *e, const struct weft_topo_node *n)
{
	const unsigned int vp = (n->ingress_prefix ? WEFT_VP_INGRESS : 0u) |
	                        (n->egress_prefix ? WEFT_VP_EGRESS : 0u);
	const int rc = weft_edge_set_vp_vcs(e, vp);

	return rc != 0 ? rc : weft_edge_set_vp_host(e, vp);
}

/* The edge port of a node. Entries may name a PID only while it is in GMV: what it may not reach is taken out last. */
static int
fabric_set_edge(
	struct weft_edge *e, const struct daemon *d, const struct weft_topo *t, uint16_t node)
{
	const struct weft_topo_node *of = &d->topo->node[node];
	const uint64_t base = weft_topo_fast_base(t);
	const uint64_t limit = base + ((uint64_t)t->n_segments << t->segment_log2);
	unsigned int idt_used = 0;
	int rc = 0;

	if (t->n_segments != 0)
		rc = weft_seg_set_range(&e->fast, t->segment_log2, base, limit);
	if (rc == 0 && e->cfg.ldst_idt != 0 && t->n_segments != 0)
		rc = weft_seg_set_range(&e->ldst, t->segment_log2, base, limit);
	for (unsigned int s = 0; s < t->n_segments && rc == 0; s++)
		rc = fabric_set_segment(e, t, s, &idt_used);
	for (unsigned int g = 0; g < t->n_gfds && rc == 0; g++)
		if (!fabric_may_reach(t, node, t->gfd[g]))
			rc = weft_edge_allow(e, WEFT_GMV, t->node[t->gfd[g]].pid, false);
	if (rc == 0 && of->kind == WEFT_TOPO_DEVICE && of->memory != 0)
		rc = fabric_set_rerouter(e, d, node);
	if (rc == 0)
		rc = fabric_set_vectors(e, t, node);
	return rc == 0 ? fabric_set_prefixes(e, of) : rc;
}

static int
fabric_set_routes(struct weft_route *r, const struct node *n, const struct weft_topo *t)
{
	struct weft_drt drt;
	int rc = weft_topo_routes(t, n->index, &drt);

	if (rc == 0 && n->topo->kind != WEFT_TOPO_SWITCH && !daemon_is_cxl(n->daemon))
		rc = weft_drt_set(&drt, n->topo->pid, 0);
	return rc != 0 ? rc : weft_route_set_drt(r, 0, drt.entry, WEFT_PID_RESERVED);
}

/* Of the full size: what a topology names may change while the node runs. */
static struct weft_edge_cfg
fabric_edge_cfg(const struct weft_topo_node *of)
{
	struct weft_edge_cfg edge = {
		.pid = of->pid,
		.gim = true,
		.vp = WEFT_VP_EGRESS | WEFT_VP_INGRESS,
		.pbr_link = of->kind == WEFT_TOPO_GFD,
		.fast_depth_log2 = __builtin_ctz(WEFT_SEG_ENTRIES),
		.fast_idt = WEFT_SEG_ENTRIES,
	};

	/* Ports above devices have what leads to other devices. */
	if (of->kind == WEFT_TOPO_DEVICE) {
		edge.ldst_idt = 1;
		edge.ldst_depth_log2 = edge.fast_depth_log2;
		edge.rerouter_rows = WEFT_REROUTER_ROWS;
	}
	return edge;
}

/*
 * Nodes whose edge ports are here: a node has its own, unless its link is of HBR form; then the switch
 * in cxl mode has it, and a table for each such port, in their order.
 */
static unsigned int
fabric_edges(const struct node *n, uint16_t node[WEFT_TOPO_SWITCH_PORTS])
{
	const struct weft_topo *t = n->daemon->topo;
	unsigned int edges = 0;

	if (n->topo->kind != WEFT_TOPO_SWITCH) {
		node[0] = n->index;
		return !daemon_is_hbr(n);
	}
	for (unsigned int p = n->topo->first_port; p < n->topo->first_port + n->n_ports; p++)
		if (t->port[p].form == WEFT_FORM_HBR)
			node[edges++] = t->neighbour[p];
	return edges;
}

/* Write a copy of the tables in force anew. */
static int
fabric_set_tables(struct weft_tables *tables, const struct node *n, const struct weft_topo *t)
{
	uint16_t node[WEFT_TOPO_SWITCH_PORTS];
	const unsigned int edges = fabric_edges(n, node);
	int rc = fabric_set_routes(weft_tables_route_rw(tables, 0), n, t);

	for (unsigned int i = 0; i < edges && rc == 0; i++) {
		const struct weft_edge_cfg cfg = fabric_edge_cfg(&t->node[node[i]]);
		struct weft_edge *e = weft_tables_edge_rw(tables, i);

		rc = weft_edge_init(e, &cfg);
		if (rc == 0)
			rc = fabric_set_edge(e, n->daemon, t, node[i]);
	}
	return rc;
}

int
fabric_tables(struct node *n, char *err, size_t err_len)
{
	uint16_t node[WEFT_TOPO_SWITCH_PORTS];
	struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS];
	const struct weft_tables_cfg cfg = {
		.n_edges = (uint16_t)fabric_edges(n, node),
		.edge = edge,
		.n_routes = 1,
	};
	int rc;

	for (unsigned int i = 0; i < cfg.n_edges; i++)
		edge[i] = fabric_edge_cfg(&n->daemon->topo->node[node[i]]);
	rc = weft_tables_writer_init(&n->tables, &cfg, SOCKET_ID_ANY);
	if (rc != 0) {
		n->tables.slot.now = NULL;
		return fabric_fail(n, "routing tables", rc, err, err_len);
	}
	rc = fabric_set_tables(weft_tables_begin(&n->tables), n, n->daemon->topo);
	if (rc != 0)
		return fabric_fail(n, "routing tables", rc, err, err_len);
	weft_tables_commit(&n->tables);
	return 0;
}

/* Decoders of this node for each host and device: its share of each segment. */
static int
fabric_set_decoders(struct weft_gfam *g, const struct node *n, const struct weft_topo *t)
{
	int rc = 0;

	for (unsigned int s = 0; s < t->n_segments; s++) {
		const struct weft_topo_segment *seg = &t->segment[s];

		for (unsigned int w = 0; w < 1u << seg->ways_log2; w++) {
			const struct weft_topo_target *target = &t->target[seg->first_target + w];
			const struct weft_gfam_decoder d = {
				.hpa_base = seg->base,
				.dpa_base = target->dpa,
				.dpa_len = seg->size >> seg->ways_log2,
				.valid = true,
				.intlv = seg->ways_log2,
				.gran = seg->gran,
				.way = (uint8_t)w,
			};

			for (unsigned int h = 0; target->node == n->index && h < t->n_nodes; h++)
				if (rc == 0 && fabric_is_requester(&t->node[h]))
					rc = weft_gfam_set_gdt(g, WEFT_GFAM_SELF, t->node[h].pid,
						target->decoder, &d, 1);
		}
	}
	return rc;
}

/* Which groups of this node are open to another: of a host they are its windows. */
static uint64_t
fabric_open_groups(const struct node *n, const struct weft_topo *t, unsigned int other)
{
	uint64_t vec = 0;

	if (n->topo->kind == WEFT_TOPO_GFD)
		return t->node[other].access;
	if (n->topo->kind == WEFT_TOPO_DEVICE)
		return weft_topo_in_lav(t, n->index, other);
	for (unsigned int i = 0; i < n->topo->n_windows; i++) {
		const struct weft_topo_window *w = &t->window[n->topo->first_window + i];

		for (unsigned int k = 0; k < w->nodes.n; k++)
			if (t->list[w->nodes.first + k] == other)
				vec |= UINT64_C(1) << i;
	}
	return vec;
}

static int
fabric_set_blocks(struct weft_gfam *g, const struct node *n, const struct weft_topo *t)
{
	int rc = 0;

	if (n->topo->kind == WEFT_TOPO_DEVICE)
		return weft_gfam_set_blocks(g, 0, n->topo->memory, 0);
	for (unsigned int i = 0; i < t->n_ranges && rc == 0; i++)
		if (t->range[i].gfd == n->index)
			rc = weft_gfam_set_blocks(
				g, t->range[i].base, t->range[i].size, t->range[i].group);
	for (unsigned int i = 0; i < n->topo->n_windows && rc == 0; i++) {
		const struct weft_topo_window *w = &t->window[n->topo->first_window + i];

		rc = weft_gfam_set_blocks(g, w->base, w->size, (uint8_t)i);
	}
	return rc;
}

static int
fabric_set_rights(struct weft_gfam *g, const struct node *n, const struct weft_topo *t)
{
	int rc = fabric_set_blocks(g, n, t);

	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++)
		if (fabric_is_requester(&t->node[i]))
			rc = weft_gfam_set_sat(g, t->node[i].pid, fabric_open_groups(n, t, i));
	return rc;
}

static uint16_t
fabric_count_requesters(const struct weft_topo *t)
{
	uint16_t n = 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		n = (uint16_t)(n + fabric_is_requester(&t->node[i]));
	return n;
}

static uint64_t
fabric_memory(const struct weft_topo_node *n)
{
	return n->kind == WEFT_TOPO_HOST ? n->gim : n->memory;
}

/* Tables of rights by @t in *@out, the caller's to free(). */
static int
fabric_make_access(const struct node *n, const struct weft_topo *t, struct weft_gfam **out)
{
	const uint64_t len = (fabric_memory(n->topo) + DMP_UNIT - 1) & ~(DMP_UNIT - 1);
	const uint16_t rows = fabric_count_requesters(t);
	const unsigned int groups = n->topo->kind == WEFT_TOPO_GFD    ? t->n_groups
	                            : n->topo->kind == WEFT_TOPO_HOST ? n->topo->n_windows
	                                                              : 1;
	const struct weft_gfam_cfg cfg = {
		.rows = rows == 0 ? 1 : rows,
		.groups = (uint8_t)(groups == 0 ? 1 : groups),
		.dmps = 1,
		.knobs = WEFT_GFAM_UIO,
		.blocks = (uint32_t)(len >> BLOCK_LOG2),
		.media[0].block_sizes = WEFT_TOPO_BLOCK,
	};
	struct weft_gfam *g;
	void *mem = NULL;
	int rc;

	if (posix_memalign(&mem, WEFT_CACHE_LINE, weft_gfam_size(&cfg)) != 0)
		return -ENOMEM;
	g = weft_gfam_init(mem, &cfg);
	rc = g == NULL ? -EINVAL : weft_gfam_set_dmp(g, 0, 0, len, WEFT_TOPO_BLOCK);
	if (rc == 0)
		rc = fabric_set_decoders(g, n, t);
	if (rc == 0)
		rc = fabric_set_rights(g, n, t);
	if (rc == 0)
		*out = g;
	else
		free(mem);
	return rc;
}

int
fabric_access(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	int rc;

	if (t->is_default_map)
		return 0;
	n->access_log = calloc(1, sizeof(*n->access_log));
	rc = n->access_log == NULL ? -ENOMEM : fabric_make_access(n, t, &n->access);
	if (rc != 0)
		return fabric_fail(n, "tables of rights", rc, err, err_len);
	weft_gfam_publish(&n->access_now, n->access);
	weft_gfam_log_init(n->access_log);
	n->guard = (struct weft_gfam_checker){ .tables = &n->access_now, .log = n->access_log };
	if (n->topo->kind == WEFT_TOPO_GFD)
		weft_gfd_set_guard(&n->gfd, &n->guard);
	return 0;
}

int
fabric_prepare(struct node *n, const struct weft_topo *t, char *err, size_t err_len)
{
	int rc = fabric_set_tables(weft_tables_begin(&n->tables), n, t);

	if (rc != 0)
		return fabric_fail(n, "routing tables", rc, err, err_len);
	if (n->access != NULL)
		rc = fabric_make_access(n, t, &n->access_next);
	return rc == 0 ? 0 : fabric_fail(n, "tables of rights", rc, err, err_len);
}

/* But for its generation, which comes first. */
static bool
fabric_tables_differ(const struct weft_tables *a, const struct weft_tables *b)
{
	const size_t from = offsetof(struct weft_tables, size);

	return memcmp((const char *)a + from, (const char *)b + from, a->size - from) != 0;
}

bool
fabric_publish(struct node *n)
{
	bool is_changed = fabric_tables_differ(n->tables.live, n->tables.spare);

	if (is_changed)
		weft_tables_commit(&n->tables);
	if (n->access_next != NULL && weft_gfam_differs(n->access, n->access_next)) {
		struct weft_gfam *old = n->access;

		is_changed = true;
		weft_gfam_publish(&n->access_now, n->access_next);
		n->access = n->access_next;
		n->access_next = old;
	}
	return is_changed;
}

void
fabric_settle(struct node *n)
{
	free(n->access_next);
	n->access_next = NULL;
}

void
fabric_fini(struct node *n)
{
	free(n->access);
	free(n->access_log);
	if (n->tables.slot.now != NULL)
		weft_tables_writer_fini(&n->tables);
}

int
fabric_port(const struct node *n, uint16_t dpid)
{
	const struct weft_tables *t = weft_tables_now(&n->tables.slot);

	return dpid < WEFT_PID_RESERVED ? weft_tables_route(t, 0)->first[dpid] : -1;
}

void
fabric_decide(const struct node *n, uint64_t hpa, struct weft_edge_decision *d)
{
	const struct weft_tables *t = weft_tables_now(&n->tables.slot);

	weft_edge_request(weft_tables_edge(t, 0), WEFT_EDGE_MEM, hpa, WEFT_EDGE_ABSENT, d);
}

enum weft_expect
fabric_answer(const struct node *n, const struct weft_topo *t, uint64_t hpa, uint16_t *dpid)
{
	struct weft_resolve_xlat x;
	struct weft_resolve r;

	*dpid = n->topo->pid;
	if (weft_resolve_from(t, n->index, hpa, false, &x, &r, n->hop) != 0)
		return WEFT_EXPECT_NXM;
	if (x.rule != NULL && (x.rule->rights & WEFT_TOPO_R) == 0)
		return WEFT_EXPECT_NXM;
	/* Also where its edge port stops it: it may not do so for ever. Translations say it later. */
	if (!n->topo->translates && r.target != WEFT_RESOLVE_NONE &&
		t->node[r.target].kind == WEFT_TOPO_GFD)
		*dpid = r.dpid;
	if (x.rule != NULL && x.rule->rights == WEFT_TOPO_R && r.rule == WEFT_RESOLVE_ALLOWED)
		return WEFT_EXPECT_READ_ONLY;
	if (r.rule == WEFT_RESOLVE_ALLOWED)
		return WEFT_EXPECT_DATA;
	return r.rule == WEFT_RESOLVE_DENIED || r.rule == WEFT_RESOLVE_NO_GROUP ? WEFT_EXPECT_ONES
	                                                                        : WEFT_EXPECT_NXM;
}
