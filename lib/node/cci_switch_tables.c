/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A switch's routing tables by CCI: DRTs and RGTs, of which each ingress port has one (fabric.md
 * 1.10). A row that is written is in force when the answer leaves. Rows may name only ports that
 * the switch has.
 */

#include "cci_switch_priv.h"

#include <errno.h>

#define TABLE_DRT 0
#define TABLE_RGT 1

static const struct weft_tables *
tables_now(const struct weft_cci_switch *s)
{
	return s->world->now(s->world_arg);
}

/* Each DRT has an RGT of the same number, if there are rows of it. */
static unsigned int
tables_n_rgts(const struct weft_tables *t)
{
	return weft_tables_route(t, 0)->n_rgt == 0 ? 0 : t->n_routes;
}

uint16_t
cci_switch_identify_pbr(void *arg, const struct weft_cci_caller *who, const uint8_t *req,
	size_t len, uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	const struct weft_tables *t = tables_now(s);
	const struct weft_cci_identify_pbr_switch_rsp out = {
		.ndrt = (uint8_t)t->n_routes,
		.nrgt = (uint8_t)tables_n_rgts(t),
		.modes = tables_n_rgts(t) == 0 ? 0 : WEFT_RGT_MODES,
	};

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	return cci_row_sent(weft_cci_put_identify_pbr_switch_rsp(rsp, *rsp_len, &out), rsp_len);
}

/* Descriptors: all DRTs, then all RGTs. */
static void
tables_describe(const struct weft_cci_switch *s, const struct weft_tables *t, unsigned int i,
	struct weft_cci_table *e)
{
	const unsigned int route = i % t->n_routes;

	*e = (struct weft_cci_table){
		.type = i < t->n_routes ? TABLE_DRT : TABLE_RGT,
		.index = (uint16_t)route,
	};
	for (unsigned int p = 0; p < s->n_ports; p++)
		if (t->route_of_port[p] == route)
			e->ports[p / 8] |= (uint8_t)(1u << p % 8);
}

uint16_t
cci_switch_tables(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	const struct weft_tables *t = tables_now(s);
	const unsigned int total = t->n_routes + tables_n_rgts(t);
	struct weft_cci_get_table_descriptors_req in;
	struct weft_cci_get_table_descriptors_rsp out = { .n = 0 };
	const uint16_t rc = cci_switch_rc(weft_cci_get_get_table_descriptors_req(&in, req, len));

	(void)who;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (in.start > total) /* there is no total in the answer: one asks until nothing comes */
		return WEFT_CCI_INVALID_INPUT;
	out.start = in.start;
	out.n = (uint16_t)cci_row_fit(total - in.start, in.n, *rsp_len,
		WEFT_CCI_GET_TABLE_DESCRIPTORS_RSP_LEN, WEFT_CCI_TABLE_LEN);
	out.entry = rsp + WEFT_CCI_GET_TABLE_DESCRIPTORS_RSP_LIST;
	for (unsigned int i = 0; i < out.n; i++) {
		struct weft_cci_table e;

		tables_describe(s, t, in.start + i, &e);
		weft_cci_put_table(rsp + WEFT_CCI_GET_TABLE_DESCRIPTORS_RSP_LIST, i, &e);
	}
	return cci_row_sent(weft_cci_put_get_table_descriptors_rsp(rsp, *rsp_len, &out), rsp_len);
}

uint16_t
cci_switch_get_drt(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_tables *t = tables_now(arg);
	struct weft_cci_get_drt_req in;
	struct weft_cci_get_drt_rsp out = { .n = 0 };
	const uint16_t rc = cci_switch_rc(weft_cci_get_get_drt_req(&in, req, len));

	(void)who;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (in.drt >= t->n_routes || in.start > WEFT_PIDS || in.n > WEFT_PIDS - in.start)
		return WEFT_CCI_INVALID_INPUT;
	out.drt = in.drt;
	out.n = in.n;
	out.start = in.start;
	out.rgt = in.drt;
	out.entry = (const uint8_t *)weft_tables_route(t, in.drt)->drt.entry + (size_t)2 * in.start;
	return cci_row_sent(weft_cci_put_get_drt_rsp(rsp, *rsp_len, &out), rsp_len);
}

/* Reserved bits go: setters take them for a mistake of ours. */
static int
tables_read_drt_rows(const struct weft_cci_switch *s, const struct weft_cci_set_drt_req *in,
	uint8_t row[WEFT_CCI_SET_DRT_REQ_MAX][2])
{
	for (unsigned int i = 0; i < in->n; i++) {
		row[i][0] = in->entry[(size_t)2 * i] & 3;
		row[i][1] = in->entry[(size_t)2 * i + 1];
		if (row[i][0] == WEFT_DRT_PORT && row[i][1] >= s->n_ports)
			return -EINVAL;
	}
	return 0;
}

uint16_t
cci_switch_set_drt(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	uint8_t row[WEFT_CCI_SET_DRT_REQ_MAX][2];
	struct weft_cci_set_drt_req in;
	int rc = weft_cci_get_set_drt_req(&in, req, len);

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc == 0 && in.drt >= tables_now(s)->n_routes)
		rc = -EINVAL;
	if (rc == 0)
		rc = tables_read_drt_rows(s, &in, row);
	if (rc != 0)
		return cci_switch_rc(rc);
	rc = weft_route_set_drt(weft_tables_route_rw(s->world->begin(s->world_arg), in.drt),
		in.start, (const uint8_t(*)[2])row, in.n);
	if (rc == 0)
		s->world->commit(s->world_arg);
	return cci_switch_rc(rc);
}

uint16_t
cci_switch_get_rgt(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_tables *t = tables_now(arg);
	struct weft_cci_get_rgt_req in;
	struct weft_cci_get_rgt_rsp out = { .n = 0 };
	const uint16_t rc = cci_switch_rc(weft_cci_get_get_rgt_req(&in, req, len));
	unsigned int rows;

	(void)who;
	if (rc != WEFT_CCI_SUCCESS)
		return rc;
	if (in.rgt >= tables_n_rgts(t))
		return WEFT_CCI_INVALID_INPUT;
	rows = weft_tables_route(t, in.rgt)->n_rgt;
	if (in.start > rows || in.n > rows - in.start)
		return WEFT_CCI_INVALID_INPUT;
	static_assert(sizeof(struct weft_rgt_entry) == WEFT_CCI_RGT_ENTRY_LEN, "as on the wire");
	out.rgt = in.rgt;
	out.n = in.n;
	out.start = in.start;
	out.entry = weft_tables_route(t, in.rgt)->rgt[in.start].port;
	return cci_row_sent(weft_cci_put_get_rgt_rsp(rsp, *rsp_len, &out), rsp_len);
}

static int
tables_read_rgt_rows(const struct weft_cci_switch *s, const struct weft_cci_set_rgt_req *in,
	struct weft_rgt_entry row[WEFT_CCI_SET_RGT_REQ_MAX])
{
	for (unsigned int i = 0; i < in->n; i++) {
		memcpy(&row[i], in->entry + i * sizeof(row[i]), sizeof(row[i]));
		row[i].counts &= 0x3F;
		row[i].mode &= 0x3F;
		memset(row[i].reserved, 0, sizeof(row[i].reserved));
		for (unsigned int k = 0; k <= (row[i].counts & 7u); k++)
			if (row[i].port[k] >= s->n_ports)
				return -EINVAL;
	}
	return 0;
}

uint16_t
cci_switch_set_rgt(void *arg, const struct weft_cci_caller *who, const uint8_t *req, size_t len,
	uint8_t *rsp, size_t *rsp_len)
{
	const struct weft_cci_switch *s = arg;
	struct weft_rgt_entry row[WEFT_CCI_SET_RGT_REQ_MAX];
	struct weft_cci_set_rgt_req in;
	int rc = weft_cci_get_set_rgt_req(&in, req, len);

	(void)who;
	(void)rsp;
	*rsp_len = 0;
	if (rc == 0 && in.rgt >= tables_n_rgts(tables_now(s)))
		rc = -EINVAL;
	if (rc == 0)
		rc = tables_read_rgt_rows(s, &in, row);
	if (rc != 0)
		return cci_switch_rc(rc);
	rc = weft_route_set_rgt(
		weft_tables_route_rw(s->world->begin(s->world_arg), in.rgt), in.start, row, in.n);
	if (rc == 0)
		s->world->commit(s->world_arg);
	return cci_switch_rc(rc);
}
