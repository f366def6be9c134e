/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a topology says of the tables of switches and GFDs, as commands to their responders. */

#include "weft_manager.h"

#include <errno.h>

#include "weft_topo_graph.h"

#define MANAGER_REGION 0 /* a GFD has one DMP, and one region of all its memory */
#define MANAGER_DMP_LOG2 28 /* a DMP is a multiple of 256 MB, memory need not be */
#define MANAGER_GROUPS weft_mask64(WEFT_TOPO_FM_GROUPS) /* that commands can name */
#define MANAGER_TABLE 0 /* a node has one DRT, and a switch one RGT */

/* A component that is commanded. */
struct manager {
	const struct weft_cci_command *row;
	unsigned int n_rows;
	void *arg; /* of the rows */
	const char *node;
	char *err;
	size_t err_len;
};

static const struct weft_cci_command *
manager_find(const struct manager *m, uint16_t opcode)
{
	for (unsigned int i = 0; i < m->n_rows; i++)
		if (m->row[i].opcode == opcode)
			return &m->row[i];
	return NULL;
}

/* A command of @p len bytes, as its codec put them. */
static int
manager_send(const struct manager *m, uint16_t opcode, const uint8_t *req, int len)
{
	const struct weft_cci_caller who = { WEFT_CCI_FM, WEFT_CCI_NO_PID };
	const struct weft_cci_command *row = manager_find(m, opcode);
	uint8_t rsp[WEFT_CCI_MAX_PAYLOAD];
	size_t rsp_len = sizeof(rsp);
	uint16_t rc = WEFT_CCI_UNSUPPORTED;

	assert(len >= 0);
	if (row != NULL && (row->who & WEFT_CCI_WHO_FM) != 0)
		rc = row->run(m->arg, &who, req, (size_t)len, rsp, &rsp_len);
	if (rc == WEFT_CCI_SUCCESS)
		return 0;
	return weft_errorf(m->err, m->err_len, -EPROTO, "node %s: %s (%04Xh): %s", m->node,
		weft_cci_opcode_name(opcode), opcode, weft_cci_rc_name(rc));
}

/*
 * The next run of rows of which the first and the last differ, from *@p at on; at most @p max. It
 * receives its first. @return how many, 0: all others are right
 */
static unsigned int
manager_next_rows(const void *want, const void *have, size_t each, unsigned int n, unsigned int max,
	unsigned int *at)
{
	const uint8_t *a = want, *b = have;
	unsigned int len = 0;

	while (*at < n && memcmp(a + *at * each, b + *at * each, each) == 0)
		++*at;
	for (unsigned int i = 0; i < max && *at + i < n; i++)
		if (memcmp(a + (*at + i) * each, b + (*at + i) * each, each) != 0)
			len = i + 1;
	return len;
}

static int
manager_set_drt(const struct manager *m, const struct weft_drt *want, const struct weft_route *r)
{
	uint8_t req[WEFT_CCI_MAX_PAYLOAD];
	unsigned int at = 0, n;
	int rc = 0;

	while (rc == 0 && (n = manager_next_rows(want->entry, r->drt.entry, sizeof(want->entry[0]),
				   WEFT_PID_RESERVED, WEFT_CCI_SET_DRT_REQ_MAX, &at)) != 0) {
		const struct weft_cci_set_drt_req in = { .drt = MANAGER_TABLE,
			.n = (uint16_t)n,
			.start = (uint16_t)at,
			.entry = want->entry[at] };

		rc = manager_send(
			m, WEFT_CCI_SET_DRT, req, weft_cci_put_set_drt_req(req, sizeof(req), &in));
		at += n;
	}
	return rc;
}

static int
manager_set_rgt(
	const struct manager *m, const struct weft_rgt_entry *want, const struct weft_route *r)
{
	uint8_t req[WEFT_CCI_MAX_PAYLOAD];
	unsigned int at = 0, n;
	int rc = 0;

	while (rc == 0 && (n = manager_next_rows(want, r->rgt, sizeof(*want), WEFT_RGT_ROWS,
				   WEFT_CCI_SET_RGT_REQ_MAX, &at)) != 0) {
		const struct weft_cci_set_rgt_req in = { .rgt = MANAGER_TABLE,
			.n = (uint16_t)n,
			.start = (uint16_t)at,
			.entry = want[at].port };

		rc = manager_send(
			m, WEFT_CCI_SET_RGT, req, weft_cci_put_set_rgt_req(req, sizeof(req), &in));
		at += n;
	}
	return rc;
}

/* --- tables that are not in force yet --- */

static const struct weft_tables *
manager_tables_now(void *tables)
{
	return tables;
}

static struct weft_tables *
manager_tables_begin(void *tables)
{
	return tables;
}

static void
manager_tables_commit(void *tables)
{
	(void)tables; /* is its owner's to do, with those of all nodes */
}

static const struct weft_cci_switch_world manager_tables_world = {
	.now = manager_tables_now,
	.begin = manager_tables_begin,
	.commit = manager_tables_commit,
};

/* The DRT that the topology has for a node, beside what its own frames in rxl mode need. */
static int
manager_want_routes(const struct weft_node_cfg *c, const struct weft_topo *t, struct weft_drt *drt)
{
	const struct weft_topo_node *own = &c->topo->node[c->index];
	int rc = weft_topo_routes(t, c->index, drt);

	if (rc == 0 && own->kind != WEFT_TOPO_SWITCH && c->topo->mode == WEFT_MODE_RXL)
		rc = weft_drt_set(drt, own->pid, 0);
	return rc;
}

int
weft_manager_set_routes(struct weft_tables *tables, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len)
{
	const struct weft_topo_node *own = &c->topo->node[c->index];
	const struct weft_route *r = weft_tables_route(tables, MANAGER_TABLE);
	struct weft_rgt_entry rgt[WEFT_RGT_ROWS];
	struct weft_cci_switch s;
	const struct manager m = { weft_cci_switch_commands, weft_cci_switch_n_commands, &s,
		own->name, err, err_len };
	struct weft_drt drt;
	int rc = weft_cci_switch_init(&s, &manager_tables_world, tables, own->n_ports);

	if (rc == 0)
		rc = manager_want_routes(c, t, &drt);
	if (rc != 0)
		return weft_errorf(
			err, err_len, rc, "node %s: routes: %s", own->name, strerror(-rc));
	/* Rows may name only groups that are there. */
	if (own->kind == WEFT_TOPO_SWITCH) {
		weft_topo_groups(t, c->index, &drt, rgt);
		rc = manager_set_rgt(&m, rgt, r);
	}
	return rc != 0 ? rc : manager_set_drt(&m, &drt, r);
}

int
weft_manager_set_pids(struct weft_cci_switch *s, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len)
{
	const struct weft_topo_node *own = &c->topo->node[c->index];
	const struct manager m = { weft_cci_switch_commands, weft_cci_switch_n_commands, s,
		own->name, err, err_len };
	uint8_t entry[WEFT_TOPO_SWITCH_PORTS * WEFT_CCI_PID_ASSIGN_LEN];
	uint8_t req[WEFT_CCI_MAX_PAYLOAD];
	struct weft_cci_configure_pid_assignment_req in = { .op = 0, .entry = entry };
	int rc = 0;

	for (uint16_t p = 0; p < own->n_ports && rc == 0; p++) {
		const struct weft_topo_node *far = &t->node[t->neighbour[own->first_port + p]];
		const struct weft_cci_pid_assign e = { .pid = far->pid, .target = p };

		if (far->kind != WEFT_TOPO_SWITCH && s->pid[p] != far->pid)
			weft_cci_put_pid_assign(entry, in.n++, &e);
		if (in.n == WEFT_CCI_CONFIGURE_PID_ASSIGNMENT_REQ_MAX ||
			(in.n != 0 && p + 1 == own->n_ports)) {
			rc = manager_send(&m, WEFT_CCI_CONFIGURE_PID_ASSIGNMENT, req,
				weft_cci_put_configure_pid_assignment_req(req, sizeof(req), &in));
			in.n = 0;
		}
	}
	return rc;
}

/* --- memory of GFDs --- */

static const struct weft_gfam *
manager_gfam_now(void *g)
{
	return g;
}

static struct weft_gfam *
manager_gfam_begin(void *g)
{
	return g;
}

static void
manager_gfam_commit(void *g)
{
	(void)g; /* as for switches */
}

static const struct weft_cci_gfd_world manager_gfam_world = {
	.now = manager_gfam_now,
	.begin = manager_gfam_begin,
	.commit = manager_gfam_commit,
};

/* All of it is one DMP and one region. */
static int
manager_set_places(const struct manager *m, uint64_t memory)
{
	const uint64_t units = (memory + weft_mask64(MANAGER_DMP_LOG2)) >> MANAGER_DMP_LOG2;
	const struct weft_cci_region e = {
		.decode_len = units, .len = units << MANAGER_DMP_LOG2, .blk = WEFT_TOPO_BLOCK
	};
	const struct weft_cci_set_dc_region_req region = {
		.id = MANAGER_REGION, .blk = WEFT_TOPO_BLOCK, .decode_len = units, .len = memory
	};
	uint8_t list[WEFT_CCI_REGION_LEN], req[WEFT_CCI_MAX_PAYLOAD];
	const struct weft_cci_set_dmps_req dmp = { .n = 1, .dmp = list };
	int rc;

	weft_cci_put_region(list, 0, &e);
	rc = manager_send(
		m, WEFT_CCI_SET_DMPS, req, weft_cci_put_set_dmps_req(req, sizeof(req), &dmp));
	return rc != 0 ? rc
	               : manager_send(m, WEFT_CCI_SET_DC_REGION, req,
				 weft_cci_put_set_dc_region_req(req, sizeof(req), &region));
}

static int
manager_add(const struct manager *m, const struct weft_topo_range *r)
{
	const struct weft_cci_extent e = { .dpa = r->base, .len = r->size };
	uint8_t list[WEFT_CCI_EXTENT_LEN], req[WEFT_CCI_MAX_PAYLOAD];
	const struct weft_cci_dc_add_req in = { .grp = r->group,
		.policy = WEFT_GFAM_PRESCRIPTIVE,
		.region = MANAGER_REGION,
		.len = r->size,
		.n = 1,
		.extent = list };

	weft_cci_put_extent(list, 0, &e);
	return manager_send(
		m, WEFT_CCI_DC_ADD, req, weft_cci_put_dc_add_req(req, sizeof(req), &in));
}

/* A group that no command can name: the file may have more than there are in a SAT's row. */
static int
manager_add_beyond(struct weft_gfam *g, struct weft_gfam_dc *dc, const struct weft_topo_range *r)
{
	const struct weft_gfam_range range = { r->base, r->size };
	const struct weft_gfam_add a = { .group = r->group,
		.policy = WEFT_GFAM_PRESCRIPTIVE,
		.region = MANAGER_REGION,
		.len = range.len,
		.range = &range,
		.n = 1 };
	struct weft_gfam_dc_done done;

	return weft_gfam_dc_add(dc, g, &a, &done);
}

/* Who may reach which groups: rows that differ. */
static int
manager_set_sat(const struct manager *m, struct weft_gfam *g, const struct weft_topo *t)
{
	uint8_t list[WEFT_CCI_SET_SAT_REQ_MAX * WEFT_CCI_SAT_ROW_LEN], req[WEFT_CCI_MAX_PAYLOAD];
	struct weft_cci_set_sat_req in = { .rows = list };
	int rc = 0;

	for (unsigned int i = 0; i <= t->n_nodes && rc == 0; i++) {
		const struct weft_topo_node *n = i < t->n_nodes ? &t->node[i] : NULL;
		const bool asks =
			n != NULL && (n->kind == WEFT_TOPO_HOST || n->kind == WEFT_TOPO_DEVICE);

		if (asks && (n->access & ~MANAGER_GROUPS) != 0) {
			rc = weft_gfam_set_sat(g, n->pid, n->access);
		} else if (asks && weft_gfam_sat(g, n->pid) != n->access) {
			const struct weft_cci_sat_row row = { n->pid, (uint32_t)n->access };

			weft_cci_put_sat_row(list, in.n++, &row);
		}
		if (rc == 0 && in.n != 0 && (n == NULL || in.n == WEFT_CCI_SET_SAT_REQ_MAX)) {
			rc = manager_send(m, WEFT_CCI_SET_SAT, req,
				weft_cci_put_set_sat_req(req, sizeof(req), &in));
			in.n = 0;
		}
	}
	return rc;
}

int
weft_manager_set_memory(struct weft_gfam *g, struct weft_gfam_dc *dc, const struct weft_node_cfg *c,
	const struct weft_topo *t, char *err, size_t err_len)
{
	const struct weft_topo_node *own = &c->topo->node[c->index];
	struct weft_cci_gfd s;
	const struct manager m = { weft_cci_gfd_commands, weft_cci_gfd_n_commands, &s, own->name,
		err, err_len };
	int rc;

	weft_cci_gfd_init(&s, &manager_gfam_world, g, dc);
	rc = manager_set_places(&m, own->memory);
	for (unsigned int i = 0; i < t->access.n_ranges && rc == 0; i++) {
		const struct weft_topo_range *r = &t->access.range[i];

		if (r->gfd == c->index)
			rc = r->group < WEFT_TOPO_FM_GROUPS ? manager_add(&m, r)
			                                    : manager_add_beyond(g, dc, r);
	}
	if (rc == 0)
		rc = manager_set_sat(&m, g, t);
	return rc == 0 || rc == -EPROTO
	               ? rc
	               : weft_errorf(err, err_len, rc, "node %s: groups beyond %u: %s", own->name,
				 WEFT_TOPO_FM_GROUPS - 1, strerror(-rc));
}
