/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Components that answer, and the network between them and the manager (fake.h). */

#include "fake.h"

#include "weft_cci_component.h"
#include "weft_cci_payload.h"

#define FAKE_GROUPS 31
#define FAKE_DELAY_NS UINT64_C(100000)
#define FAKE_LATE_NS UINT64_C(30000000) /* more than a time-out */

void
fake_init(struct fake *f, unsigned int n_switches, unsigned int n_gfds, uint64_t seed)
{
	*f = (struct fake){ .n_switches = n_switches, .n_components = n_switches + n_gfds };
	f->component = calloc(f->n_components, sizeof(*f->component));
	assert_non_null(f->component);
	weft_rand_seed(&f->rand, seed);
	for (unsigned int i = 0; i < f->n_components; i++) {
		f->component[i].is_gfd = i >= n_switches;
		f->component[i].serial = 1000 + 7 * i;
		fake_reboot(f, i);
	}
}

void
fake_free(struct fake *f)
{
	free(f->component);
	free(f->message);
}

void
fake_reboot(struct fake *f, unsigned int a)
{
	struct fake_component *c = &f->component[a];

	c->pid = c->fm_pid = c->sec_pid = WEFT_FM_NO_PID;
	memset(c->fm_uuid, 0, sizeof(c->fm_uuid));
	memset(&c->drt, 0, sizeof(c->drt));
	memset(c->rgt, 0, sizeof(c->rgt));
	memset(c->sat, 0, sizeof(c->sat));
	c->n_extents = c->n_told = 0;
	c->taken_ns = 0;
	c->is_told = false;
	for (unsigned int p = 0; p < FAKE_PORTS; p++)
		c->port[p].pid = WEFT_FM_NO_PID;
}

unsigned int
fake_join(struct fake *f, unsigned int a, unsigned int b)
{
	struct fake_component *ca = &f->component[a], *cb = &f->component[b];
	const unsigned int pa = ca->n_ports++, pb = cb->n_ports++;

	assert_true(pa < FAKE_PORTS && pb < FAKE_PORTS);
	ca->port[pa] = (struct fake_port){ FAKE_COMPONENT, true, false, (uint16_t)b, (uint8_t)pb,
		WEFT_FM_NO_PID };
	cb->port[pb] = (struct fake_port){ FAKE_COMPONENT, true, false, (uint16_t)a, (uint8_t)pa,
		WEFT_FM_NO_PID };
	return pa;
}

unsigned int
fake_host(struct fake *f, unsigned int a)
{
	struct fake_component *c = &f->component[a];

	assert_true(c->n_ports < FAKE_PORTS);
	c->port[c->n_ports] =
		(struct fake_port){ .far = FAKE_HOST, .is_up = true, .pid = WEFT_FM_NO_PID };
	return c->n_ports++;
}

void
fake_set_up(struct fake *f, unsigned int a, unsigned int port, bool is_up)
{
	struct fake_port *p = &f->component[a].port[port];

	p->is_up = is_up;
	if (p->far == FAKE_COMPONENT)
		f->component[p->far_component].port[p->far_port].is_up = is_up;
}

/* What a command answers with: payload and its length. */
struct fake_answer {
	uint16_t rc;
	int len;
	uint8_t b[WEFT_CCI_MAX_PAYLOAD];
};

static void
fake_identity(const struct fake_component *c, struct weft_cci_identify_rsp *rsp)
{
	*rsp = (struct weft_cci_identify_rsp){ .vid = 0x1e98,
		.did = 1,
		.serial = c->serial,
		.maxmsg = 10,
		.comp = c->is_host  ? WEFT_CCI_TYPE_HOST
		        : c->is_gfd ? WEFT_CCI_TYPE_GFD
		                    : WEFT_CCI_TYPE_SWITCH };
}

static void
fake_identify(struct fake_component *c, struct fake_answer *a)
{
	struct weft_cci_identify_rsp rsp;

	fake_identity(c, &rsp);
	a->len = weft_cci_put_identify_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_owner(struct fake_component *c, struct fake_answer *a)
{
	struct weft_cci_identify_pbr_component_rsp rsp = {
		.pid = c->pid, .prim_fm_pid = c->fm_pid, .sec_fm_pid = c->sec_pid
	};

	memcpy(rsp.prim_uuid, c->fm_uuid, 16);
	memcpy(rsp.sec_uuid, c->sec_uuid, 16);
	a->len = weft_cci_put_identify_pbr_component_rsp(a->b, sizeof(a->b), &rsp);
}

/* Whether it is the primary: @p caller is the connection, or the PID that a message came from. */
static bool
fake_is_primary(const struct fake *f, const struct fake_component *c, unsigned int caller)
{
	return c->fm_pid != WEFT_FM_NO_PID && (f->spid != 0 ? c->fm_pid : c->known) == caller;
}

/* Primary and update, secondary, promotion. */
static bool
fake_may_claim(const struct fake *f, const struct fake_component *c,
	const struct weft_cci_claim_ownership_req *req, unsigned int caller)
{
	const bool is_owned = c->fm_pid != WEFT_FM_NO_PID;

	switch (req->op) {
	case 0: return !is_owned;
	case 1: return fake_is_primary(f, c, caller) && c->sec_pid == WEFT_FM_NO_PID;
	case 2: return is_owned && memcmp(req->fm_uuid, c->fm_uuid, 16) == 0;
	case 3: return c->sec_pid != WEFT_FM_NO_PID && memcmp(req->fm_uuid, c->sec_uuid, 16) == 0;
	default: return false;
	}
}

static void
fake_claim(const struct fake *f, struct fake_component *c, unsigned int caller, const uint8_t *b,
	size_t len, struct fake_answer *a)
{
	struct weft_cci_claim_ownership_rsp rsp = { 0 };
	struct weft_cci_claim_ownership_req req;

	assert_int_equal(weft_cci_get_claim_ownership_req(&req, b, len), 0);
	assert_true(req.new_pid != WEFT_FM_NO_PID && req.fm_pid != WEFT_FM_NO_PID);
	if (!fake_may_claim(f, c, &req, caller)) {
		a->rc = WEFT_CCI_INVALID_INPUT;
		return;
	}
	if (req.op == 1) {
		c->sec_pid = req.fm_pid;
		memcpy(c->sec_uuid, req.fm_uuid, 16);
	} else {
		c->fm_pid = req.op == 3 ? c->sec_pid : req.fm_pid;
		memcpy(c->fm_uuid, req.fm_uuid, 16);
		c->sec_pid = req.op == 3 ? WEFT_FM_NO_PID : c->sec_pid;
		c->pid = req.op == 3 ? c->pid : req.new_pid;
		c->known = caller;
	}
	rsp.prim_fm_pid = c->fm_pid;
	rsp.sec_fm_pid = c->sec_pid;
	memcpy(rsp.prim_uuid, c->fm_uuid, 16);
	memcpy(rsp.sec_uuid, c->sec_uuid, 16);
	a->len = weft_cci_put_claim_ownership_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_ports(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_port_state_req req;
	struct weft_cci_get_port_state_rsp rsp = { 0 };
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];

	assert_int_equal(weft_cci_get_get_port_state_req(&req, b, len), 0);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_port_block e = { .port = req.ports[i] };
		const struct fake_port *p = &c->port[e.port];

		assert_true(e.port < c->n_ports);
		e.state = p->far == FAKE_HOST ? 4 : 5;
		e.mode = p->far == FAKE_HOST ? 4 : 5;
		e.ltssm = p->is_up ? 4 : 0;
		weft_cci_put_port_block(list, i, &e);
	}
	rsp.n = req.n;
	rsp.block = list;
	a->len = weft_cci_put_get_port_state_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_partners(struct fake *f, struct fake_component *c, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	struct weft_cci_get_link_partner_info_req req;
	struct weft_cci_get_link_partner_info_rsp rsp = { 0 };
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];

	assert_int_equal(weft_cci_get_get_link_partner_info_req(&req, b, len), 0);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_lpi_block e = { .port = req.ports[i] };
		const struct fake_port *p = &c->port[e.port];
		const struct fake_component *far = &f->component[p->far_component];
		struct weft_cci_identify_rsp id;
		uint8_t bytes[18];

		assert_true(p->is_up && p->far == FAKE_COMPONENT);
		e.far_port = p->far_port;
		e.pid_type = (uint16_t)(far->pid | far->is_gfd << 12);
		fake_identity(far, &id);
		(void)weft_cci_put_identify_rsp(bytes, sizeof(bytes), &id);
		if (!p->is_silent)
			memcpy(e.id, bytes, 16);
		weft_cci_put_lpi_block(list, i, &e);
	}
	rsp.n = req.n;
	rsp.block = list;
	a->len = weft_cci_put_get_link_partner_info_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_targets(struct fake *f, struct fake_component *c, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	struct weft_cci_get_pid_targets_req req;
	struct weft_cci_get_pid_targets_rsp rsp = { .total = (uint16_t)c->n_ports };
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];

	assert_int_equal(weft_cci_get_get_pid_targets_req(&req, b, len), 0);
	/* Few at a time, so that the manager has to come again. */
	for (unsigned int p = req.start; p < c->n_ports && rsp.n < 5; p++) {
		const struct weft_cci_pid_target e = { .id = (uint16_t)(p + 3),
			.type = c->port[p].far == FAKE_HOST                     ? 1
			        : f->component[c->port[p].far_component].is_gfd ? 2
			                                                        : 0,
			.port = (uint8_t)p,
			.pid = c->port[p].pid };

		weft_cci_put_pid_target(list, rsp.n++, &e);
	}
	rsp.entry = list;
	a->len = weft_cci_put_get_pid_targets_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_assign(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_configure_pid_assignment_req req;

	assert_int_equal(weft_cci_get_configure_pid_assignment_req(&req, b, len), 0);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_pid_assign e;

		weft_cci_get_pid_assign(req.entry, i, &e);
		assert_in_range(e.target, 3, c->n_ports + 2);
		for (unsigned int p = 0; req.op == 0 && p < c->n_ports; p++)
			if (c->port[p].pid == e.pid)
				a->rc = WEFT_CCI_INVALID_INPUT;
		if (c->is_other_file)
			a->rc = WEFT_CCI_INVALID_INPUT;
		if (a->rc == 0)
			c->port[e.target - 3].pid = req.op == 0 ? e.pid : WEFT_FM_NO_PID;
	}
}

static void
fake_get_drt(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_drt_req req;
	struct weft_cci_get_drt_rsp rsp;

	assert_int_equal(weft_cci_get_get_drt_req(&req, b, len), 0);
	assert_true(req.drt == 0 && req.start + req.n <= WEFT_PIDS);
	rsp = (struct weft_cci_get_drt_rsp){
		.n = req.n, .start = req.start, .entry = c->drt.entry[req.start]
	};
	a->len = weft_cci_put_get_drt_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_get_rgt(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_rgt_req req;
	struct weft_cci_get_rgt_rsp rsp;

	assert_int_equal(weft_cci_get_get_rgt_req(&req, b, len), 0);
	if (req.rgt != 0 || req.start + req.n > FAKE_GROUP_ROWS) {
		a->rc = WEFT_CCI_INVALID_INPUT;
		return;
	}
	rsp = (struct weft_cci_get_rgt_rsp){
		.n = req.n, .start = req.start, .entry = c->rgt[req.start].port
	};
	a->len = weft_cci_put_get_rgt_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_set_rgt(struct fake_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_rgt_req req;

	assert_int_equal(weft_cci_get_set_rgt_req(&req, b, len), 0);
	assert_true(req.rgt == 0 && req.n != 0 && req.start + req.n <= FAKE_GROUP_ROWS);
	memcpy(&c->rgt[req.start], req.entry, req.n * sizeof(c->rgt[0]));
}

static void
fake_set_drt(struct fake_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_drt_req req;

	assert_int_equal(weft_cci_get_set_drt_req(&req, b, len), 0);
	assert_true(req.drt == 0 && req.start + req.n <= WEFT_PIDS);
	memcpy(c->drt.entry[req.start], req.entry, 2u * req.n);
	c->n_drt_writes++;
}

static void
fake_regions(struct fake_answer *a)
{
	const struct weft_cci_region e = { .len = UINT64_C(1) << 32, .blk = FAKE_BLOCK };
	uint8_t list[40];
	const struct weft_cci_get_dc_regions_rsp rsp = { .avail = 1, .n = 1, .region = list };

	weft_cci_put_region(list, 0, &e);
	a->len = weft_cci_put_get_dc_regions_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_extents(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_extents_req req;
	struct weft_cci_get_extents_rsp rsp = { 0 };
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];

	assert_int_equal(weft_cci_get_get_extents_req(&req, b, len), 0);
	for (unsigned int i = 0; i < c->n_extents; i++) {
		struct weft_cci_extent e = { .dpa = c->extent[i].dpa, .len = c->extent[i].len };

		memcpy(e.tag, c->extent[i].tag, 16);
		if (c->extent[i].group != req.grp)
			continue;
		if (rsp.total++ >= req.start && rsp.n < 3)
			weft_cci_put_extent(list, rsp.n++, &e);
	}
	rsp.grp = req.grp;
	rsp.start = req.start;
	rsp.extent = list;
	a->len = weft_cci_put_get_extents_rsp(a->b, sizeof(a->b), &rsp);
}

/* Whether the intent lets a group of a GFD have memory. */
static bool
fake_may_have(const struct fake *f, uint32_t path, const struct weft_fm_extent *x)
{
	uint64_t n = 0;

	/* What is desired does not overlap. */
	for (uint32_t i = 0; i < f->intent->n_extents; i++) {
		const struct weft_fm_extent *e = &f->intent->extent[i];

		for (uint64_t b = e->dpa; b < e->dpa + e->len; b += FAKE_BLOCK)
			n += e->path == path && e->group == x->group && b >= x->dpa &&
			     b < x->dpa + x->len;
	}
	return n * FAKE_BLOCK == x->len;
}

static uint32_t
fake_may_reach(const struct fake *f, uint32_t path, uint16_t pid)
{
	uint32_t groups = 0;

	for (uint32_t i = 0; i < f->intent->n_rights; i++)
		if (f->intent->right[i].path == path && f->intent->right[i].pid == pid)
			groups |= f->intent->right[i].groups;
	return groups;
}

static void
fake_add(struct fake *f, uint32_t path, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct fake_component *c = &f->component[path];
	struct weft_cci_get_extents_rsp rsp = { 0 };
	struct weft_cci_dc_add_req req;
	uint64_t sum = 0;

	assert_int_equal(weft_cci_get_dc_add_req(&req, b, len), 0);
	assert_true(req.policy == 2 && req.region == 0 && req.n != 0);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_fm_extent x = { .path = path, .group = req.grp };
		struct weft_cci_extent e;

		weft_cci_get_extent(req.extent, i, &e);
		x.dpa = e.dpa;
		x.len = e.len;
		memcpy(x.tag, req.tag, 16);
		sum += e.len;
		for (unsigned int k = 0; k < c->n_extents; k++)
			assert_true(c->extent[k].dpa >= x.dpa + x.len ||
				    c->extent[k].dpa + c->extent[k].len <= x.dpa);
		assert_true(fake_may_have(f, path, &x));
		assert_true(c->n_extents < FAKE_EXTENTS);
		c->extent[c->n_extents++] = x;
	}
	assert_int_equal(sum, req.len);
	for (unsigned int p = 0; p < WEFT_PIDS; p++)
		assert_int_equal(c->sat[p] & ~fake_may_reach(f, path, (uint16_t)p), 0);
	rsp.grp = req.grp;
	a->len = weft_cci_put_get_extents_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_release(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_extents_rsp rsp = { 0 };
	struct weft_cci_dc_release_req req;

	assert_int_equal(weft_cci_get_dc_release_req(&req, b, len), 0);
	assert_int_equal(req.flags, 0x21);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_extent e;
		unsigned int k = 0;

		weft_cci_get_extent(req.extent, i, &e);
		while (k < c->n_extents &&
			(c->extent[k].dpa != e.dpa || c->extent[k].group != req.grp))
			k++;
		assert_true(k < c->n_extents && c->extent[k].len == e.len);
		c->extent[k] = c->extent[--c->n_extents];
	}
	rsp.grp = req.grp;
	a->len = weft_cci_put_get_extents_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_get_sat(struct fake_component *c, const uint8_t *b, size_t len, struct fake_answer *a)
{
	struct weft_cci_get_sat_req req;
	struct weft_cci_get_sat_rsp rsp = { 0 };
	uint8_t list[WEFT_CCI_MAX_PAYLOAD];

	assert_int_equal(weft_cci_get_get_sat_req(&req, b, len), 0);
	assert_in_range(req.start_rpid + req.n, 1, WEFT_PIDS);
	for (unsigned int i = 0; i < req.n; i++)
		weft_put_le32(list + 4 * i, c->sat[req.start_rpid + i]);
	rsp.n = req.n;
	rsp.start_rpid = req.start_rpid;
	rsp.vec = list;
	a->len = weft_cci_put_get_sat_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_set_sat(struct fake *f, uint32_t path, const uint8_t *b, size_t len)
{
	struct fake_component *c = &f->component[path];
	struct weft_cci_set_sat_req req;

	assert_int_equal(weft_cci_get_set_sat_req(&req, b, len), 0);
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_sat_row e;

		weft_cci_get_sat_row(req.rows, i, &e);
		assert_int_equal(e.vec & ~c->sat[e.rpid] & ~fake_may_reach(f, path, e.rpid), 0);
		/* What is opened holds no memory that it should not. */
		for (unsigned int k = 0; (e.vec & ~c->sat[e.rpid]) != 0 && k < c->n_extents; k++)
			assert_true(fake_may_have(f, path, &c->extent[k]));
		c->sat[e.rpid] = e.vec;
	}
}

static void
fake_tables(struct fake_component *c, struct fake_answer *a)
{
	const struct weft_cci_identify_pbr_switch_rsp rsp = { .ndrt = 1, .nrgt = 1, .modes = 1 };

	(void)c;
	a->len = weft_cci_put_identify_pbr_switch_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_switch(struct fake_component *c, struct fake_answer *a)
{
	struct weft_cci_identify_switch_rsp rsp = { .nports = (uint8_t)c->n_ports };

	for (unsigned int p = 0; p < c->n_ports; p++)
		rsp.ports[p / 8] |= (uint8_t)(1u << p % 8);
	a->len = weft_cci_put_identify_switch_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_gfd(struct fake_answer *a)
{
	const struct weft_cci_identify_gfd_rsp rsp = {
		.ndmp = 1, .nregion = 1, .ngrp = FAKE_GROUPS, .total = 16
	};

	a->len = weft_cci_put_identify_gfd_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_get_memory(const struct fake_component *c, struct fake_answer *a)
{
	const struct weft_cci_get_host_memory_rsp rsp = {
		.flags = c->is_told, .n = (uint16_t)c->n_told, .extent = c->told
	};

	a->len = weft_cci_put_get_host_memory_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_set_memory(struct fake_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_host_memory_req req;

	assert_int_equal(weft_cci_get_set_host_memory_req(&req, b, len), 0);
	assert_in_range(req.n, 0, WEFT_FM_HOST_EXTENTS);
	if ((req.flags & 1) != 0)
		return;
	c->is_told = true;
	c->n_told = req.n;
	memcpy(c->told, req.extent, req.n * sizeof(c->told) / WEFT_FM_HOST_EXTENTS);
}

/* Slow hosts have the new memory once that time is over. */
static void
fake_take(struct fake *f, struct fake_component *c, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	if (c->taken_ns != 0) {
		a->rc = WEFT_CCI_BUSY;
	} else if (c->slow_ns == 0) {
		fake_set_memory(c, b, len);
	} else {
		c->taken_ns = f->now_ns + c->slow_ns;
		c->n_taking = len;
		memcpy(c->taking, b, len);
		a->rc = WEFT_CCI_BACKGROUND_STARTED;
	}
}

static void
fake_background(struct fake_component *c, struct fake_answer *a)
{
	const struct weft_cci_background_status_rsp rsp = { .st = c->taken_ns != 0 ? 1 : 200,
		.op = WEFT_CCI_SET_HOST_MEMORY };

	a->len = weft_cci_put_background_status_rsp(a->b, sizeof(a->b), &rsp);
}

static void
fake_limit(struct fake_answer *a)
{
	const struct weft_cci_set_response_limit_rsp rsp = { 10 };

	a->len = weft_cci_put_set_response_limit_rsp(a->b, sizeof(a->b), &rsp);
}

static bool
fake_execute_switch(struct fake *f, uint32_t path, uint16_t opcode, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	struct fake_component *c = &f->component[path];

	switch (opcode) {
	case WEFT_CCI_IDENTIFY_SWITCH: fake_switch(c, a); return true;
	case WEFT_CCI_IDENTIFY_PBR_SWITCH: fake_tables(c, a); return true;
	case WEFT_CCI_GET_PORT_STATE: fake_ports(c, b, len, a); return true;
	case WEFT_CCI_GET_LINK_PARTNER_INFO: fake_partners(f, c, b, len, a); return true;
	case WEFT_CCI_GET_PID_TARGETS: fake_targets(f, c, b, len, a); return true;
	case WEFT_CCI_CONFIGURE_PID_ASSIGNMENT:
		fake_assign(c, b, len, a);
		c->n_writes++;
		return true;
	case WEFT_CCI_GET_DRT: fake_get_drt(c, b, len, a); return true;
	case WEFT_CCI_GET_RGT: fake_get_rgt(c, b, len, a); return true;
	case WEFT_CCI_SET_RGT:
		fake_set_rgt(c, b, len);
		c->n_writes++;
		return true;
	case WEFT_CCI_SET_DRT:
		fake_set_drt(c, b, len);
		c->n_writes++;
		return true;
	default: return false;
	}
}

static bool
fake_execute_gfd(struct fake *f, uint32_t path, uint16_t opcode, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	struct fake_component *c = &f->component[path];

	if (c->is_fixed) {
		a->rc = WEFT_CCI_UNSUPPORTED;
		return true;
	}
	switch (opcode) {
	case WEFT_CCI_IDENTIFY_GFD: fake_gfd(a); return true;
	case WEFT_CCI_GET_DC_REGIONS: fake_regions(a); return true;
	case WEFT_CCI_GET_EXTENTS: fake_extents(c, b, len, a); return true;
	case WEFT_CCI_DC_ADD:
		fake_add(f, path, b, len, a);
		c->n_writes++;
		return true;
	case WEFT_CCI_DC_RELEASE:
		fake_release(c, b, len, a);
		c->n_writes++;
		return true;
	case WEFT_CCI_GET_SAT: fake_get_sat(c, b, len, a); return true;
	case WEFT_CCI_SET_SAT:
		fake_set_sat(f, path, b, len);
		c->n_writes++;
		return true;
	default: return false;
	}
}

static bool
fake_execute_host(struct fake *f, uint32_t path, uint16_t opcode, const uint8_t *b, size_t len,
	struct fake_answer *a)
{
	struct fake_component *c = &f->component[path];

	switch (opcode) {
	case WEFT_CCI_GET_HOST_MEMORY: fake_get_memory(c, a); return true;
	case WEFT_CCI_SET_HOST_MEMORY: fake_take(f, c, b, len, a); return true;
	case WEFT_CCI_BACKGROUND_STATUS: fake_background(c, a); return true;
	default: return false;
	}
}

static void
fake_execute(struct fake *f, uint32_t path, unsigned int caller, uint16_t opcode, const uint8_t *b,
	size_t len, struct fake_answer *a)
{
	struct fake_component *c = &f->component[path];

	if (c->taken_ns != 0 && f->now_ns >= c->taken_ns) {
		c->taken_ns = 0;
		fake_set_memory(c, c->taking, c->n_taking);
	}
	if (c->n_busy != 0) {
		a->rc = c->n_busy-- % 2 == 0 ? WEFT_CCI_BUSY : WEFT_CCI_RETRY_REQUIRED;
	} else if (opcode == WEFT_CCI_IDENTIFY) {
		fake_identify(c, a);
	} else if (opcode == WEFT_CCI_IDENTIFY_PBR_COMPONENT) {
		fake_owner(c, a);
	} else if (opcode == WEFT_CCI_CLAIM_OWNERSHIP) {
		fake_claim(f, c, caller, b, len, a);
	} else if (!fake_is_primary(f, c, caller)) {
		a->rc = WEFT_CCI_UNSUPPORTED;
	} else if (opcode == WEFT_CCI_SET_RESPONSE_LIMIT) {
		fake_limit(a);
	} else if (!(c->is_host        ? fake_execute_host
			   : c->is_gfd ? fake_execute_gfd
				       : fake_execute_switch)(f, path, opcode, b, len, a)) {
		fail_msg("component %u was sent %04Xh", path, opcode);
	}
	assert_true(a->len >= 0);
}

static void
fake_queue(struct fake *f, uint32_t path, unsigned int manager, bool is_answer, const uint8_t *msg,
	size_t len)
{
	struct fake_message *m;

	if (weft_rand_below(&f->rand, 1000) < f->lost)
		return;
	if (f->n_messages == f->room) {
		f->room = f->room == 0 ? 64 : 2 * f->room;
		f->message = realloc(f->message, f->room * sizeof(*f->message));
		assert_non_null(f->message);
	}
	m = &f->message[f->n_messages++];
	*m = (struct fake_message){ .at_ns = f->now_ns + FAKE_DELAY_NS,
		.path = path,
		.is_answer = is_answer,
		.manager = manager,
		.spid = f->spid,
		.len = len };
	memcpy(m->bytes, msg, len);
	/* Requests keep their order, as on a socket; answers may come when nobody waits any more.
	 */
	if (is_answer && weft_rand_below(&f->rand, 1000) < f->late)
		m->at_ns += FAKE_LATE_NS;
}

int
fake_send(void *arg, uint32_t path, const uint8_t *msg, size_t len)
{
	struct fake *f = arg;

	f->n_sent++;
	fake_queue(f, path, f->manager, false, msg, len);
	return 0;
}

size_t
fake_serve(struct fake *f, uint32_t path, unsigned int caller, const uint8_t *msg, size_t len,
	uint8_t rsp[FAKE_MESSAGE])
{
	struct fake_answer a = { 0 };
	struct weft_cci_hdr h;

	assert_int_equal(weft_cci_get_hdr(&h, msg, len), 0);
	fake_execute(f, path, caller, h.opcode, msg + WEFT_CCI_HDR, h.len, &a);
	h.is_response = true;
	h.rc = a.rc;
	h.len = a.rc == 0 ? (uint32_t)a.len : 0;
	/* Length and header agree, but the structure is not whole. */
	if (f->component[path].is_mad && h.len != 0)
		h.len--;
	weft_cci_put_hdr(rsp, &h);
	memcpy(rsp + WEFT_CCI_HDR, a.b, h.len);
	return WEFT_CCI_HDR + h.len;
}

static void
fake_arrive(struct fake *f, const struct fake_message *m)
{
	uint8_t rsp[FAKE_MESSAGE];
	size_t len;

	if (f->component[m->path].is_dead)
		return;
	len = fake_serve(f, m->path, f->spid != 0 ? m->spid : m->manager, m->bytes, m->len, rsp);
	fake_queue(f, m->path, m->manager, true, rsp, len);
	if (weft_rand_below(&f->rand, 1000) < f->repeated)
		fake_queue(f, m->path, m->manager, true, rsp, len);
}

/* The oldest message, if it is due. */
static bool
fake_deliver(struct fake *f, struct weft_fm *fm)
{
	struct fake_message m;
	unsigned int first = 0;

	for (unsigned int i = 1; i < f->n_messages; i++)
		if (f->message[i].at_ns < f->message[first].at_ns)
			first = i;
	if (f->n_messages == 0 || f->message[first].at_ns > f->now_ns)
		return false;
	m = f->message[first];
	memmove(&f->message[first], &f->message[first + 1],
		(--f->n_messages - first) * sizeof(*f->message));
	if (!m.is_answer)
		fake_arrive(f, &m);
	else if (m.manager == f->manager)
		weft_fm_answer(fm, m.path, m.bytes, m.len, f->now_ns);
	return true;
}

static void
fake_turn(struct fake *f, struct weft_fm *fm, uint64_t until_ns)
{
	uint64_t next = weft_fm_poll(fm, f->now_ns);

	for (unsigned int i = 0; i < f->n_messages; i++)
		if (f->message[i].at_ns < next)
			next = f->message[i].at_ns;
	f->now_ns = next > until_ns ? until_ns : next > f->now_ns ? next : f->now_ns + 1000;
	while (fake_deliver(f, fm))
		;
}

bool
fake_run(struct fake *f, struct weft_fm *fm, uint64_t until_ns)
{
	(void)weft_fm_poll(fm, f->now_ns);
	while (!weft_fm_is_converged(fm) && f->now_ns < until_ns)
		fake_turn(f, fm, until_ns);
	return weft_fm_is_converged(fm);
}

bool
fake_run_sends(struct fake *f, struct weft_fm *fm, uint64_t n)
{
	const uint64_t end = f->n_sent + n;

	(void)weft_fm_poll(fm, f->now_ns);
	while (!weft_fm_is_converged(fm) && f->n_sent < end)
		fake_turn(f, fm, UINT64_MAX);
	return weft_fm_is_converged(fm);
}

void
fake_pass(struct fake *f, struct weft_fm *fm, uint64_t ns)
{
	const uint64_t until_ns = f->now_ns + ns;

	while (f->now_ns < until_ns)
		fake_turn(f, fm, until_ns);
}
