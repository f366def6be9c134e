/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Capacity of groups, tags and rights of a GFD (4904h, 4907h to 490Dh). */

#include "cci_gfd_priv.h"

#include <errno.h>

#define RELEASE_POLICY 0x0F
#define RELEASE_BY_TAG 0
#define RELEASE_PRESCRIPTIVE 1
#define TAG_HELD 0x01
#define SAT_VECTOR UINT32_C(0x7FFFFFFF)
/* Of the longest response; requests hold no more. */
#define EXTENTS_MAX WEFT_CCI_GET_EXTENTS_RSP_MAX
#define TAGS_MAX WEFT_CCI_DC_LIST_TAGS_RSP_MAX

static_assert(WEFT_CCI_DC_ADD_REQ_MAX <= EXTENTS_MAX, "ranges of a request");

/* What the response to 4904h, 4907h and 4908h lists; the request names a group that is there. */
static uint16_t
capacity_answer(struct weft_cci_get_extents_rsp *out, const struct weft_gfam_extent *e,
	uint8_t *rsp, size_t *rsp_len)
{
	out->extent = rsp + WEFT_CCI_GET_EXTENTS_RSP_LIST;
	for (unsigned int i = 0; i < out->n; i++) {
		struct weft_cci_extent x = { .dpa = e[i].dpa, .len = e[i].len, .seq = e[i].seq };

		memcpy(x.tag, e[i].tag, sizeof(x.tag));
		weft_cci_put_extent(rsp + WEFT_CCI_GET_EXTENTS_RSP_LIST, i, &x);
	}
	return cci_row_sent(weft_cci_put_get_extents_rsp(rsp, *rsp_len, out), rsp_len);
}

/* From a host a group must be open to it. */
static bool
capacity_may_see(const struct weft_gfam *t, const struct weft_cci_caller *who, uint16_t group)
{
	if (group >= cci_gfd_groups(t))
		return false;
	return who->iface != WEFT_CCI_HOST || (weft_gfam_sat(t, who->pid) >> group & 1) != 0;
}

CCI_GFD_ROW(cci_gfd_get_extents)
{
	const struct weft_cci_gfd *g = arg;
	const struct weft_gfam *t = g->world->now(g->world_arg);
	struct weft_gfam_extent e[EXTENTS_MAX];
	struct weft_cci_get_extents_req in;
	struct weft_cci_get_extents_rsp out;
	struct weft_gfam_dc_list list;
	int rc = weft_cci_get_get_extents_req(&in, req, len);

	if (rc == 0 && !capacity_may_see(t, who, in.grp))
		rc = -EINVAL;
	if (rc == 0)
		rc = weft_gfam_dc_extents(g->dc, t, in.grp, in.start, e,
			cci_row_fit(EXTENTS_MAX, in.n, *rsp_len, WEFT_CCI_GET_EXTENTS_RSP_LEN,
				WEFT_CCI_EXTENT_LEN),
			&list);
	if (rc != 0)
		return cci_gfd_rc(rc);
	out = (struct weft_cci_get_extents_rsp){ .grp = in.grp,
		.start = in.start,
		.n = list.n,
		.total = list.total,
		.gen = list.generation };
	return capacity_answer(&out, e, rsp, rsp_len);
}

/* A change is made: tables in force, memory wiped, and the response, which lists what changed. */
static uint16_t
capacity_changed(const struct weft_cci_gfd *g, uint16_t group, uint32_t max,
	const struct weft_gfam_dc_done *done, uint8_t *rsp, size_t *rsp_len)
{
	struct weft_cci_get_extents_rsp out = { .grp = group, .total = done->n_extents };
	struct weft_gfam_dc_list list = { 0 };

	g->world->commit(g->world_arg);
	for (unsigned int i = 0; i < done->n_wipe; i++)
		g->world->wipe(g->world_arg, done->wipe[i].dpa, done->wipe[i].len);
	(void)weft_gfam_dc_extents(g->dc, g->world->now(g->world_arg), group, 0, NULL, 0, &list);
	out.gen = list.generation;
	out.n = cci_row_fit(
		done->n_extents, max, *rsp_len, WEFT_CCI_GET_EXTENTS_RSP_LEN, WEFT_CCI_EXTENT_LEN);
	return capacity_answer(&out, done->extent, rsp, rsp_len);
}

static void
capacity_ranges(const uint8_t *list, unsigned int n, struct weft_gfam_range *r)
{
	for (unsigned int i = 0; i < n; i++) {
		struct weft_cci_extent e;

		weft_cci_get_extent(list, i, &e);
		r[i] = (struct weft_gfam_range){ e.dpa, e.len };
	}
}

CCI_GFD_ROW(cci_gfd_add)
{
	struct weft_cci_gfd *g = arg;
	struct weft_gfam_range range[EXTENTS_MAX];
	struct weft_cci_dc_add_req in;
	struct weft_gfam_add a;
	struct weft_gfam_dc_done done;
	struct weft_gfam *next;
	int rc = weft_cci_get_dc_add_req(&in, req, len);

	(void)who;
	if (rc != 0)
		return cci_gfd_rc(rc);
	if (in.grp >= cci_gfd_groups(g->world->now(g->world_arg)))
		return WEFT_CCI_INVALID_INPUT;
	capacity_ranges(in.extent, in.n, range);
	a = (struct weft_gfam_add){ .group = in.grp,
		.policy = in.policy,
		.region = in.region,
		.len = in.len,
		.range = range,
		.n = in.n };
	memcpy(a.tag, in.tag, sizeof(a.tag));
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	rc = weft_gfam_dc_add(g->dc, next, &a, &done);
	return rc != 0 ? cci_gfd_rc(rc)
	               : capacity_changed(g, in.grp, in.max_rsp, &done, rsp, rsp_len);
}

CCI_GFD_ROW(cci_gfd_release)
{
	struct weft_cci_gfd *g = arg;
	struct weft_gfam_range range[EXTENTS_MAX];
	struct weft_cci_dc_release_req in;
	struct weft_gfam_release r;
	struct weft_gfam_dc_done done;
	struct weft_gfam *next;
	int rc = weft_cci_get_dc_release_req(&in, req, len);

	(void)who;
	if (rc != 0)
		return cci_gfd_rc(rc);
	if (in.grp >= cci_gfd_groups(g->world->now(g->world_arg)) ||
		(in.flags & RELEASE_POLICY) > RELEASE_PRESCRIPTIVE)
		return WEFT_CCI_INVALID_INPUT;
	capacity_ranges(in.extent, in.n, range);
	r = (struct weft_gfam_release){ .group = in.grp,
		.by_tag = (in.flags & RELEASE_POLICY) == RELEASE_BY_TAG,
		.range = range,
		.n = in.n };
	memcpy(r.tag, in.tag, sizeof(r.tag));
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	rc = weft_gfam_dc_release(g->dc, next, &r, &done);
	return rc != 0 ? cci_gfd_rc(rc)
	               : capacity_changed(g, in.grp, in.max_rsp, &done, rsp, rsp_len);
}

/* What is freed by that is in no group: the tables stay as they are. */
static uint16_t
capacity_refer(struct weft_cci_gfd *g, const uint8_t *tag, bool hold, size_t *rsp_len)
{
	struct weft_gfam_dc_done done;
	const int rc = weft_gfam_dc_refer(g->dc, tag, hold, &done);

	for (unsigned int i = 0; rc == 0 && i < done.n_wipe; i++)
		g->world->wipe(g->world_arg, done.wipe[i].dpa, done.wipe[i].len);
	return cci_gfd_done(rc, rsp_len);
}

CCI_GFD_ROW(cci_gfd_hold)
{
	struct weft_cci_dc_add_reference_req in;
	const int rc = weft_cci_get_dc_add_reference_req(&in, req, len);

	(void)who;
	(void)rsp;
	return rc != 0 ? cci_gfd_rc(rc) : capacity_refer(arg, in.tag, true, rsp_len);
}

CCI_GFD_ROW(cci_gfd_let_go)
{
	struct weft_cci_dc_remove_reference_req in;
	const int rc = weft_cci_get_dc_remove_reference_req(&in, req, len);

	(void)who;
	(void)rsp;
	return rc != 0 ? cci_gfd_rc(rc) : capacity_refer(arg, in.tag, false, rsp_len);
}

CCI_GFD_ROW(cci_gfd_list_tags)
{
	const struct weft_cci_gfd *g = arg;
	struct weft_gfam_tag tag[TAGS_MAX];
	struct weft_cci_dc_list_tags_req in;
	struct weft_cci_dc_list_tags_rsp out;
	struct weft_gfam_dc_list list;
	int rc = weft_cci_get_dc_list_tags_req(&in, req, len);

	(void)who;
	if (rc == 0)
		rc = weft_gfam_dc_tags(g->dc, in.start, tag,
			cci_row_fit(TAGS_MAX, in.max, *rsp_len, WEFT_CCI_DC_LIST_TAGS_RSP_LEN,
				WEFT_CCI_TAG_LEN),
			&list);
	if (rc != 0)
		return cci_gfd_rc(rc);
	out = (struct weft_cci_dc_list_tags_rsp){ .gen = list.generation,
		.total = list.total,
		.tags = rsp + WEFT_CCI_DC_LIST_TAGS_RSP_LIST,
		.n_tags = list.n };
	for (unsigned int i = 0; i < list.n; i++) {
		struct weft_cci_tag e = { .flags = tag[i].is_held ? TAG_HELD : 0 };

		memcpy(e.tag, tag[i].tag, sizeof(e.tag));
		weft_cci_put_tag(rsp + WEFT_CCI_DC_LIST_TAGS_RSP_LIST, i, &e);
	}
	return cci_row_sent(weft_cci_put_dc_list_tags_rsp(rsp, *rsp_len, &out), rsp_len);
}

CCI_GFD_ROW(cci_gfd_get_sat)
{
	const struct weft_cci_gfd *g = arg;
	const struct weft_gfam *t = g->world->now(g->world_arg);
	struct weft_cci_get_sat_req in;
	struct weft_cci_get_sat_rsp out;
	int rc = weft_cci_get_get_sat_req(&in, req, len);

	(void)who;
	if (rc == 0 && (in.start_rpid >= WEFT_GFAM_RPIDS || in.n > WEFT_GFAM_RPIDS - in.start_rpid))
		rc = -EINVAL;
	if (rc != 0)
		return cci_gfd_rc(rc);
	out = (struct weft_cci_get_sat_rsp){
		.n = (uint16_t)cci_row_fit(
			in.n, in.n, *rsp_len, WEFT_CCI_GET_SAT_RSP_LEN, sizeof(uint32_t)),
		.start_rpid = in.start_rpid,
		.vec = rsp + WEFT_CCI_GET_SAT_RSP_LIST,
	};
	for (unsigned int i = 0; i < out.n; i++)
		weft_put_le32(rsp + WEFT_CCI_GET_SAT_RSP_LIST + i * sizeof(uint32_t),
			(uint32_t)weft_gfam_sat(t, (uint16_t)(in.start_rpid + i)) & SAT_VECTOR);
	return cci_row_sent(weft_cci_put_get_sat_rsp(rsp, *rsp_len, &out), rsp_len);
}

CCI_GFD_ROW(cci_gfd_set_sat)
{
	struct weft_cci_gfd *g = arg;
	struct weft_cci_set_sat_req in;
	struct weft_cci_sat_row row;
	struct weft_gfam *next;
	bool notify;
	int rc = weft_cci_get_set_sat_req(&in, req, len);

	(void)who;
	(void)rsp;
	if (rc != 0)
		return cci_gfd_rc(rc);
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	for (unsigned int i = 0; i < in.n && rc == 0; i++) {
		weft_cci_get_sat_row(in.rows, i, &row);
		rc = weft_gfam_set_sat32(next, row.rpid, row.vec, &notify);
	}
	if (rc != 0)
		return cci_gfd_rc(rc);
	g->world->commit(g->world_arg);
	for (unsigned int i = 0; i < in.n && g->world->notify != NULL; i++) {
		weft_cci_get_sat_row(in.rows, i, &row);
		if ((row.vec & ~SAT_VECTOR) != 0)
			g->world->notify(g->world_arg, row.rpid);
	}
	return cci_gfd_done(0, rsp_len);
}
