/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where the DMPs and DC regions of a GFD lie (4902h, 4903h, 4905h, 4906h). Decode lengths count
 * 256 MB, all else bytes (fabric.md section 1.7).
 */

#include "cci_gfd_priv.h"

#include <errno.h>

#define PLACES_UNITS_MAX (UINT64_MAX >> CCI_GFD_UNIT_LOG2)

static struct weft_cci_region
places_entry(const struct weft_gfam_region *r, unsigned int idx, uint8_t san)
{
	return (struct weft_cci_region){
		.base = r->base,
		.decode_len = r->decode_len >> CCI_GFD_UNIT_LOG2,
		.len = r->len,
		.blk = r->block,
		.flags = r->flags,
		.idx = (uint8_t)idx,
		.san = san,
	};
}

CCI_GFD_ROW(cci_gfd_get_regions)
{
	const struct weft_cci_gfd *g = arg;
	struct weft_cci_get_dc_regions_req in;
	struct weft_cci_get_dc_regions_rsp out = { .avail = WEFT_GFAM_REGIONS };
	struct weft_gfam_dc_room room;
	int rc = weft_cci_get_get_dc_regions_req(&in, req, len);

	(void)who;
	if (rc == 0 && in.start > WEFT_GFAM_REGIONS)
		rc = -EINVAL;
	if (rc != 0)
		return cci_gfd_rc(rc);
	out.n = (uint8_t)cci_row_fit(WEFT_GFAM_REGIONS - in.start, in.n, *rsp_len,
		WEFT_CCI_GET_DC_REGIONS_RSP_LEN, WEFT_CCI_REGION_LEN);
	out.region = rsp + WEFT_CCI_GET_DC_REGIONS_RSP_LIST;
	for (unsigned int i = 0; i < out.n; i++) {
		struct weft_gfam_region r = { 0 };
		struct weft_cci_region e;

		(void)weft_gfam_get_region(g->world->now(g->world_arg), in.start + i, &r);
		e = places_entry(&r, 0, g->region_san[in.start + i]);
		weft_cci_put_region(rsp + WEFT_CCI_GET_DC_REGIONS_RSP_LIST, i, &e);
	}
	weft_gfam_dc_room(g->dc, &room);
	out.ext_total = room.extents;
	out.ext_avail = room.extents_free;
	out.tag_total = room.tags;
	out.tag_avail = room.tags_free;
	return cci_row_sent(weft_cci_put_get_dc_regions_rsp(rsp, *rsp_len, &out), rsp_len);
}

CCI_GFD_ROW(cci_gfd_set_region)
{
	struct weft_cci_gfd *g = arg;
	struct weft_cci_set_dc_region_req in;
	struct weft_gfam *next;
	int rc = weft_cci_get_set_dc_region_req(&in, req, len);
	struct weft_gfam_region r;

	(void)who;
	(void)rsp;
	if (rc == 0 && in.decode_len > PLACES_UNITS_MAX)
		rc = -EINVAL;
	if (rc != 0)
		return cci_gfd_rc(rc);
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	r = (struct weft_gfam_region){ .base = in.base,
		.decode_len = in.decode_len << CCI_GFD_UNIT_LOG2,
		.len = in.len,
		.block = in.blk };
	rc = weft_gfam_dc_set_region(g->dc, next, in.id, &r);
	if (rc == 0) {
		g->region_san[in.id] = in.decode_len == 0 ? 0 : in.san;
		g->world->commit(g->world_arg);
	}
	return cci_gfd_done(rc, rsp_len);
}

CCI_GFD_ROW(cci_gfd_get_dmps)
{
	const struct weft_cci_gfd *g = arg;
	const struct weft_gfam *t = g->world->now(g->world_arg);
	const unsigned int n = weft_gfam_cfg(t)->dmps;
	struct weft_cci_get_dmps_req in;
	struct weft_cci_get_dmps_rsp out = { .avail = (uint8_t)n };
	int rc = weft_cci_get_get_dmps_req(&in, req, len);

	(void)who;
	if (rc == 0 && in.start > n)
		rc = -EINVAL;
	if (rc != 0)
		return cci_gfd_rc(rc);
	out.n = (uint8_t)cci_row_fit(
		n - in.start, in.n, *rsp_len, WEFT_CCI_GET_DMPS_RSP_LEN, WEFT_CCI_REGION_LEN);
	out.dmp = rsp + WEFT_CCI_GET_DMPS_RSP_LIST;
	for (unsigned int i = 0; i < out.n; i++) {
		struct weft_gfam_region r = { 0 };
		struct weft_cci_region e;

		(void)weft_gfam_get_dmp(t, in.start + i, &r);
		e = places_entry(&r, in.start + i, g->dmp_san[in.start + i]);
		weft_cci_put_region(rsp + WEFT_CCI_GET_DMPS_RSP_LIST, i, &e);
	}
	return cci_row_sent(weft_cci_put_get_dmps_rsp(rsp, *rsp_len, &out), rsp_len);
}

/* All that are named leave their places first: they may take each other's. */
static int
places_set_dmps(struct weft_gfam *next, const struct weft_cci_set_dmps_req *in)
{
	struct weft_cci_region e;
	int rc = 0;

	if (in->n > weft_gfam_cfg(next)->dmps || in->start > weft_gfam_cfg(next)->dmps - in->n)
		return -EINVAL;
	for (unsigned int i = 0; i < in->n && rc == 0; i++)
		rc = weft_gfam_set_dmp(next, in->start + i, 0, 0, 0);
	for (unsigned int i = 0; i < in->n && rc == 0; i++) {
		weft_cci_get_region(in->dmp, i, &e);
		rc = e.decode_len > PLACES_UNITS_MAX || e.len != e.decode_len << CCI_GFD_UNIT_LOG2
		             ? -EINVAL
		             : weft_gfam_set_dmp(next, in->start + i, e.base, e.len, e.blk);
	}
	return rc;
}

CCI_GFD_ROW(cci_gfd_set_dmps)
{
	struct weft_cci_gfd *g = arg;
	struct weft_cci_set_dmps_req in;
	struct weft_cci_region e;
	struct weft_gfam *next;
	int rc = weft_cci_get_set_dmps_req(&in, req, len);

	(void)who;
	(void)rsp;
	if (rc != 0)
		return cci_gfd_rc(rc);
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	rc = places_set_dmps(next, &in);
	if (rc != 0)
		return cci_gfd_rc(rc);
	for (unsigned int i = 0; i < in.n; i++) {
		weft_cci_get_region(in.dmp, i, &e);
		g->dmp_san[in.start + i] = e.decode_len == 0 ? 0 : e.san;
	}
	g->cdat_sequence++;
	g->world->commit(g->world_arg);
	return cci_gfd_done(0, rsp_len);
}
