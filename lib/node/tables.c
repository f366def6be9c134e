/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the topology says of addresses, rights and routes, as the tables that decide: FAST, IDT and
 * GMV of the edge port of each host and GFD (where their links are of HBR form, at the switch), DRT
 * of every node by the manager that is built in, GDT, MGT and SAT of each GFD (fabric.md sections
 * 1.2 to 1.10). --resolve answers from the topology without them, and hosts hold what the tables do
 * to its answers.
 */

#include "node_priv.h"

#include <errno.h>

#include "weft_manager.h"

#define DMP_UNIT (UINT64_C(256) << 20) /* a DMP is a multiple of it, memory need not be */
#define BLOCK_LOG2 12

static_assert(WEFT_TOPO_BLOCK == 1 << BLOCK_LOG2, "groups are made of blocks");

static const struct weft_topo_node *
tables_of(const struct weft_node_cfg *n)
{
	return &n->topo->node[n->index];
}

static bool
tables_is_requester(const struct weft_topo_node *n)
{
	return n->kind == WEFT_TOPO_HOST || n->kind == WEFT_TOPO_DEVICE;
}

/*
 * Strike from GMV the GFDs of which a host may reach no memory. A GFD decodes all segments, to
 * verify DPIDs. Where a manager gives out memory, GFDs alone decide who has it.
 */
static int
tables_strike_gfds(struct weft_edge *e, const struct weft_topo *t, uint16_t node)
{
	uint64_t reached[WEFT_PIDS / 64] = { 0 };
	const struct weft_topo_node *from = &t->node[node];
	int rc = 0;

	if (from->kind == WEFT_TOPO_GFD || t->access.management == WEFT_TOPO_MANAGED_BY_FM)
		return 0;
	for (unsigned int i = 0; i < t->access.n_ranges; i++) {
		const uint16_t gfd = t->access.range[i].gfd;

		if ((from->access >> t->access.range[i].group & 1) != 0)
			reached[gfd / 64] |= WEFT_BIT64(gfd % 64);
	}
	for (unsigned int g = 0; g < t->n_gfds && rc == 0; g++)
		if ((reached[t->gfd[g] / 64] >> t->gfd[g] % 64 & 1) == 0)
			rc = weft_edge_allow(e, WEFT_GMV, t->node[t->gfd[g]].pid, false);
	return rc;
}

/* What the FAST of any port, or the LDST of a device's, says of memory of a device. */
static int
tables_set_direct(struct weft_edge *e, const struct weft_topo *t, unsigned int index)
{
	const struct weft_topo_segment *s = &t->map.segment[index];
	const uint16_t pid = t->node[t->map.target[s->first_target].node].pid;
	const struct weft_fast_entry entry = { .flags = WEFT_SEG_VALID, .dpid = pid };
	int rc;

	if (e->cfg.ldst_idt == 0)
		return 0;
	rc = weft_edge_allow(e, WEFT_LAV, pid, true);
	return rc != 0 ? rc : weft_seg_set_entries(&e->ldst, index, &entry, 1);
}

static int
tables_set_segment(
	struct weft_edge *e, const struct weft_topo *t, unsigned int index, unsigned int *idt_used)
{
	const struct weft_topo_segment *s = &t->map.segment[index];
	const unsigned int ways = 1u << s->ways_log2;
	struct weft_fast_entry entry = {
		.flags = (uint8_t)(WEFT_SEG_VALID | (s->is_gim ? WEFT_SEG_GIM : 0)),
		.intlv = s->ways_log2,
		.gran = s->gran,
	};
	uint16_t pid[WEFT_TOPO_WAYS];
	int rc;

	if (t->node[t->map.target[s->first_target].node].kind == WEFT_TOPO_DEVICE)
		return tables_set_direct(e, t, index);
	for (unsigned int w = 0; w < ways; w++) {
		pid[w] = t->node[t->map.target[s->first_target + w].node].pid;
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
tables_set_rerouter(struct weft_edge *e, const struct weft_node_cfg *d, unsigned int node)
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

/*
 * Last, what the vectors of the file do not have: entries may name a PID only while it is in them.
 */
static int
tables_set_vectors(struct weft_edge *e, const struct weft_topo *t, unsigned int node)
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
tables_set_prefixes(struct weft_edge *e, const struct weft_topo_node *n)
{
	const unsigned int vp = (n->ingress_prefix ? WEFT_VP_INGRESS : 0u) |
	                        (n->egress_prefix ? WEFT_VP_EGRESS : 0u);
	const int rc = weft_edge_set_vp_vcs(e, vp);

	return rc != 0 ? rc : weft_edge_set_vp_host(e, vp);
}

/*
 * The edge port of a node. Entries may name a PID only while it is in GMV: what it may not reach
 * goes last.
 */
static int
tables_set_edge(struct weft_edge *e, const struct weft_node_cfg *d, const struct weft_topo *t,
	uint16_t node)
{
	const struct weft_topo_node *of = &d->topo->node[node];
	const uint64_t base = weft_topo_fast_base(t);
	const uint64_t limit = base + ((uint64_t)t->map.n_segments << t->map.segment_log2);
	unsigned int idt_used = 0;
	int rc = 0;

	if (t->map.n_segments != 0)
		rc = weft_seg_set_range(&e->fast, t->map.segment_log2, base, limit);
	if (rc == 0 && e->cfg.ldst_idt != 0 && t->map.n_segments != 0)
		rc = weft_seg_set_range(&e->ldst, t->map.segment_log2, base, limit);
	for (unsigned int s = 0; s < t->map.n_segments && rc == 0; s++)
		rc = tables_set_segment(e, t, s, &idt_used);
	if (rc == 0)
		rc = tables_strike_gfds(e, t, node);
	if (rc == 0 && of->kind == WEFT_TOPO_DEVICE && of->memory != 0)
		rc = tables_set_rerouter(e, d, node);
	if (rc == 0)
		rc = tables_set_vectors(e, t, node);
	return rc == 0 ? tables_set_prefixes(e, of) : rc;
}

static int
tables_set_routes(struct weft_tables *tables, const struct weft_node_cfg *n,
	const struct weft_topo *t, char *err, size_t err_len)
{
	const bool is_switch = tables_of(n)->kind == WEFT_TOPO_SWITCH;

	/* In rxl mode a frame has every class in it: none is spread. */
	weft_tables_route_rw(tables, 0)->spread = is_switch && t->mode == WEFT_MODE_CXL;
	if (is_switch && t->access.management == WEFT_TOPO_MANAGED_BY_FM)
		return 0; /* what it wrote stays, and at the start that is nothing */
	return weft_manager_set_routes(tables, n, t, err, err_len);
}

/* Of the full size: what a topology names may change while the node runs. */
static struct weft_edge_cfg
tables_edge_cfg(const struct weft_topo_node *of)
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

/* Nodes whose edge ports are here. */
static uint16_t
tables_edges(const struct weft_node_cfg *n, uint16_t node[WEFT_TOPO_SWITCH_PORTS])
{
	const struct weft_topo *t = n->topo;
	const struct weft_topo_node *own = tables_of(n);
	uint16_t edges = 0;

	if (own->kind != WEFT_TOPO_SWITCH) {
		node[0] = n->index;
		return t->mode != WEFT_MODE_CXL || t->port[own->first_port].form != WEFT_FORM_HBR;
	}
	for (unsigned int p = own->first_port; p < own->first_port + own->n_ports; p++)
		if (t->port[p].form == WEFT_FORM_HBR)
			node[edges++] = t->neighbour[p];
	return edges;
}

struct weft_tables_cfg
weft_node_tables_cfg(
	const struct weft_node_cfg *n, struct weft_edge_cfg edge[WEFT_TOPO_SWITCH_PORTS])
{
	uint16_t node[WEFT_TOPO_SWITCH_PORTS];
	const uint16_t edges = tables_edges(n, node);

	for (unsigned int i = 0; i < edges; i++)
		edge[i] = tables_edge_cfg(&n->topo->node[node[i]]);
	return (struct weft_tables_cfg){
		.n_edges = edges,
		.edge = edge,
		.n_routes = 1,
		.n_rgt = tables_of(n)->kind == WEFT_TOPO_SWITCH ? WEFT_RGT_ROWS : 0,
	};
}

int
weft_node_set_tables(struct weft_tables *tables, const struct weft_node_cfg *n,
	const struct weft_topo *t, char *err, size_t err_len)
{
	uint16_t node[WEFT_TOPO_SWITCH_PORTS];
	const uint16_t edges = tables_edges(n, node);
	int rc = tables_set_routes(tables, n, t, err, err_len);

	for (unsigned int i = 0; i < edges && rc == 0; i++) {
		const struct weft_edge_cfg cfg = tables_edge_cfg(&t->node[node[i]]);
		struct weft_edge *e = weft_tables_edge_rw(tables, i);

		rc = weft_edge_init(e, &cfg);
		if (rc == 0)
			rc = tables_set_edge(e, n, t, node[i]);
		if (rc != 0)
			weft_errorf(err, err_len, rc, "node %s: edge port of %s: %s",
				tables_of(n)->name, t->node[node[i]].name, strerror(-rc));
	}
	return rc;
}

/* Decoders of this node for each host and device: its share of each segment. */
static int
tables_set_decoders(struct weft_gfam *g, const struct weft_node_cfg *n, const struct weft_topo *t)
{
	int rc = 0;

	for (unsigned int s = 0; s < t->map.n_segments; s++) {
		const struct weft_topo_segment *seg = &t->map.segment[s];

		for (unsigned int w = 0; w < 1u << seg->ways_log2; w++) {
			const struct weft_topo_target *target =
				&t->map.target[seg->first_target + w];
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
				if (rc == 0 && tables_is_requester(&t->node[h]))
					rc = weft_gfam_set_gdt(g, WEFT_GFAM_SELF, t->node[h].pid,
						target->decoder, &d, 1);
		}
	}
	return rc;
}

int
weft_node_set_decoders(
	struct weft_gfam *g, const struct weft_node_cfg *n, const struct weft_topo *t)
{
	static const struct weft_gfam_decoder off[WEFT_GFAM_DECODERS];
	int rc = 0;

	for (unsigned int h = 0; h < t->n_nodes && rc == 0; h++)
		if (tables_is_requester(&t->node[h]))
			rc = weft_gfam_set_gdt(
				g, WEFT_GFAM_SELF, t->node[h].pid, 0, off, WEFT_GFAM_DECODERS);
	return rc != 0 ? rc : tables_set_decoders(g, n, t);
}

/* Which groups of this node are open to another: of a host they are its windows. */
static uint64_t
tables_open_groups(const struct weft_node_cfg *n, const struct weft_topo *t, unsigned int other)
{
	uint64_t vec = 0;

	if (tables_of(n)->kind == WEFT_TOPO_GFD)
		return t->node[other].access;
	if (tables_of(n)->kind == WEFT_TOPO_DEVICE)
		return weft_topo_in_lav(t, n->index, other);
	for (unsigned int i = 0; i < tables_of(n)->n_windows; i++) {
		const struct weft_topo_window *w =
			&t->access.window[tables_of(n)->first_window + i];

		for (unsigned int k = 0; k < w->nodes.n; k++)
			if (t->list[w->nodes.first + k] == other)
				vec |= UINT64_C(1) << i;
	}
	return vec;
}

static uint64_t
tables_dmp_len(const struct weft_node_cfg *n)
{
	const struct weft_topo_node *own = tables_of(n);
	const uint64_t memory = own->kind == WEFT_TOPO_HOST ? own->gim : own->memory;

	return (memory + DMP_UNIT - 1) & ~(DMP_UNIT - 1);
}

static int
tables_set_blocks(struct weft_gfam *g, const struct weft_node_cfg *n, const struct weft_topo *t)
{
	int rc = 0;

	if (tables_of(n)->kind == WEFT_TOPO_DEVICE)
		return weft_gfam_set_blocks(g, 0, tables_of(n)->memory, 0);
	for (unsigned int i = 0; i < t->access.n_ranges && rc == 0; i++)
		if (t->access.range[i].gfd == n->index)
			rc = weft_gfam_set_blocks(g, t->access.range[i].base,
				t->access.range[i].size, t->access.range[i].group);
	for (unsigned int i = 0; i < tables_of(n)->n_windows && rc == 0; i++) {
		const struct weft_topo_window *w =
			&t->access.window[tables_of(n)->first_window + i];

		rc = weft_gfam_set_blocks(g, w->base, w->size, (uint8_t)i);
	}
	return rc;
}

/* Of a host or device, whose own they are, and of a GFD with more ranges than lists hold. */
static int
tables_set_rights(struct weft_gfam *g, const struct weft_node_cfg *n, const struct weft_topo *t)
{
	int rc = weft_gfam_set_dmp(g, 0, 0, tables_dmp_len(n), WEFT_TOPO_BLOCK);

	if (rc == 0)
		rc = tables_set_blocks(g, n, t);
	for (unsigned int i = 0; i < t->n_nodes && rc == 0; i++)
		if (tables_is_requester(&t->node[i]))
			rc = weft_gfam_set_sat(g, t->node[i].pid, tables_open_groups(n, t, i));
	return rc;
}

/* Room for the ranges of a GFD; 0: it is none, or has more than lists hold. */
static size_t
tables_lists_size(
	const struct weft_node_cfg *n, const struct weft_topo *t, struct weft_gfam_dc_cfg *cfg)
{
	unsigned int ranges = 1;

	for (unsigned int i = 0; i < t->access.n_ranges; i++)
		ranges += t->access.range[i].gfd == n->index;
	*cfg = (struct weft_gfam_dc_cfg){ .extents = (uint16_t)ranges, .tags = 1 };
	return tables_of(n)->kind != WEFT_TOPO_GFD || ranges > UINT16_MAX ? 0
	                                                                  : weft_gfam_dc_size(cfg);
}

/* Lists that nobody keeps, where none are given: commands need them. */
static int
tables_command_memory(struct weft_gfam *g, struct weft_gfam_dc *dc, const struct weft_node_cfg *n,
	const struct weft_topo *t, char *err, size_t err_len)
{
	struct weft_gfam_dc_cfg cfg;
	const size_t size = tables_lists_size(n, t, &cfg);
	void *mem;
	int rc;

	if (dc != NULL)
		return weft_manager_set_memory(g, dc, n, t, err, err_len);
	if (size == 0)
		return tables_set_rights(g, n, t);
	mem = n->world->alloc(n->world_arg, size);
	if (mem == NULL)
		return -ENOMEM;
	rc = weft_manager_set_memory(g, weft_gfam_dc_init(mem, &cfg), n, t, err, err_len);
	n->world->free(n->world_arg, mem);
	return rc;
}

static uint16_t
tables_count_requesters(const struct weft_topo *t)
{
	uint16_t n = 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		n = (uint16_t)(n + tables_is_requester(&t->node[i]));
	return n;
}

static unsigned int
tables_groups(const struct weft_node_cfg *n, const struct weft_topo *t, bool may_change)
{
	const unsigned int groups = tables_of(n)->kind == WEFT_TOPO_GFD    ? t->access.n_groups
	                            : tables_of(n)->kind == WEFT_TOPO_HOST ? tables_of(n)->n_windows
	                                                                   : 1;
	const unsigned int least = may_change ? WEFT_TOPO_FM_GROUPS : 1;

	return groups > least ? groups : least;
}

int
weft_node_make_access(const struct weft_node_cfg *n, const struct weft_topo *t,
	struct weft_gfam_dc *dc, struct weft_gfam **out, char *err, size_t err_len)
{
	const uint16_t rows = tables_count_requesters(t);
	struct weft_gfam_dc_cfg lists;
	const bool is_commanded = dc != NULL || tables_lists_size(n, t, &lists) != 0;
	const struct weft_gfam_cfg cfg = {
		.rows = rows == 0 ? 1 : rows,
		.groups = (uint8_t)tables_groups(n, t, dc != NULL),
		.dmps = 1,
		.knobs = WEFT_GFAM_UIO,
		.blocks = (uint32_t)(tables_dmp_len(n) >> BLOCK_LOG2),
		.media[0] = { WEFT_TOPO_BLOCK,
			is_commanded ? WEFT_GFAM_DC | WEFT_GFAM_SHARABLE : 0 },
	};
	struct weft_gfam *g;
	void *mem = n->world->alloc(n->world_arg, weft_gfam_size(&cfg));
	int rc = mem == NULL ? -ENOMEM : 0;

	g = rc == 0 ? weft_gfam_init(mem, &cfg) : NULL;
	if (rc == 0)
		rc = g == NULL ? -EINVAL : tables_command_memory(g, dc, n, t, err, err_len);
	if (rc == 0)
		rc = tables_set_decoders(g, n, t);
	if (rc == 0)
		*out = g;
	else if (mem != NULL)
		n->world->free(n->world_arg, mem);
	return rc == 0 || rc == -EPROTO
	               ? rc
	               : weft_errorf(err, err_len, rc, "node %s: tables of rights: %s",
				 tables_of(n)->name, strerror(-rc));
}

/* A host or device offers its memory by UIO, if it has that. */
bool
weft_node_has_access(const struct weft_node_cfg *n)
{
	const struct weft_topo_node *t = tables_of(n);
	const bool has_uio = n->topo->cxl_io.packets != 0 && t->n_translations == 0 &&
	                     !(t->translates && n->load->node[n->index].has_mem);

	return !n->topo->map.is_default && weft_node_offers_memory(t) &&
	       (t->kind == WEFT_TOPO_GFD || has_uio);
}
