/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD's answers about itself, its quality of service, its CDAT (fabric.md 5.1) and the decoders
 * of hosts; memory and rights are cci_gfd_places.c and cci_gfd_capacity.c.
 */

#include "cci_gfd_priv.h"
#include "cci_link.h"

#include <errno.h>

#include "weft_cci_cdat.h"

#define POLICIES_ALL 0x000F
#define POLICIES_UNSHARED 0x0007
#define RELEASES 0x0003
#define SANITIZE_ALL 0xFF /* of each region */
#define DECODER_ON 0x01
/* The header, and of each DMP one DSMAS and four DSLBIS. */
#define CDAT_SIZE_MAX                                                                              \
	(WEFT_CCI_CDAT_HEADER_LEN + WEFT_GFAM_DMPS * (WEFT_CCI_DSMAS_LEN + 4 * WEFT_CCI_DSLBIS_LEN))

void
weft_cci_gfd_init(struct weft_cci_gfd *g, const struct weft_cci_gfd_world *world, void *world_arg,
	struct weft_gfam_dc *dc)
{
	memset(g, 0, sizeof(*g));
	g->world = world;
	g->world_arg = world_arg;
	g->dc = dc;
}

uint16_t
cci_gfd_rc(int rc)
{
	switch (rc) {
	case 0: return WEFT_CCI_SUCCESS;
	case -EMSGSIZE: return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	case -ENOTSUP: return WEFT_CCI_UNSUPPORTED;
	case -ENOSPC: return WEFT_CCI_RESOURCES_EXHAUSTED;
	case -EBADMSG: return WEFT_CCI_INVALID_EXTENT_LIST;
	default: return WEFT_CCI_INVALID_INPUT;
	}
}

void
weft_cci_gfd_report(
	const struct weft_gfam_report *r, uint16_t pid, uint8_t msg[WEFT_CCI_GFD_REPORT_LEN])
{
	const struct weft_cci_hdr h = { .opcode = WEFT_CCI_ENHANCED_EVENT,
		.len = WEFT_GFAM_REPORT_LEN };

	weft_cci_put_hdr(msg, &h);
	weft_gfam_report_pack(r, pid, msg + WEFT_CCI_HDR);
}

/* Of DMPs, which are what there is of memory: how much, and blocks of what sizes. */
static void
gfd_put_memory(const struct weft_gfam *t, struct weft_cci_identify_gfd_rsp *out)
{
	const struct weft_gfam_cfg *cfg = weft_gfam_cfg(t);
	uint64_t blocks = 0;

	for (unsigned int i = 0; i < cfg->dmps; i++) {
		struct weft_gfam_region d = { 0 };
		uint64_t units;

		(void)weft_gfam_get_dmp(t, i, &d);
		units = d.len >> CCI_GFD_UNIT_LOG2;
		out->total += units;
		if ((d.flags & WEFT_GFAM_NON_VOLATILE) != 0)
			out->persistent += units;
		else
			out->volatile_ += units;
		out->dmp_blk[i] = cfg->media[i].block_sizes;
		if ((d.flags & WEFT_GFAM_DC) != 0)
			blocks |= cfg->media[i].block_sizes;
		if ((d.flags & WEFT_GFAM_SHARABLE) != 0)
			out->add_pol = POLICIES_ALL;
	}
	for (unsigned int i = 0; i < WEFT_GFAM_REGIONS; i++)
		out->region_blk[i] = blocks;
}

static CCI_GFD_ROW(gfd_identify)
{
	const struct weft_cci_gfd *g = arg;
	const struct weft_gfam *t = g->world->now(g->world_arg);
	struct weft_cci_identify_gfd_rsp out = {
		.ndmp = weft_gfam_cfg(t)->dmps,
		.nregion = WEFT_GFAM_REGIONS,
		.ngrp = (uint16_t)cci_gfd_groups(t),
		.add_pol = POLICIES_UNSHARED,
		.rel_pol = RELEASES,
		.san_mask = SANITIZE_ALL,
	};

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	gfd_put_memory(t, &out);
	return cci_row_sent(weft_cci_put_identify_gfd_rsp(rsp, *rsp_len, &out), rsp_len);
}

static CCI_GFD_ROW(gfd_status)
{
	const struct weft_cci_gfd *g = arg;
	struct weft_cci_get_gfd_status_rsp out = {
		.maxw = CCI_LINK_WIDTH, .speeds = CCI_LINK_SPEEDS, .maxs = CCI_LINK_SPEED
	};

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	if (g->world->is_up(g->world_arg)) {
		out.mode = CCI_LINK_MODE_PBR;
		out.negw = CCI_LINK_WIDTH;
		out.curs = CCI_LINK_SPEED;
		out.ltssm = CCI_LINK_LTSSM_L0;
	}
	return cci_row_sent(weft_cci_put_get_gfd_status_rsp(rsp, *rsp_len, &out), rsp_len);
}

static CCI_GFD_ROW(gfd_get_qos)
{
	const struct weft_cci_gfd *g = arg;

	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	return cci_row_sent(weft_cci_put_get_gfd_qos_control_rsp(rsp, *rsp_len, &g->qos), rsp_len);
}

static CCI_GFD_ROW(gfd_set_qos)
{
	struct weft_cci_gfd *g = arg;
	struct weft_cci_set_gfd_qos_control_req in;
	const int rc = weft_cci_get_set_gfd_qos_control_req(&in, req, len);

	if (rc != 0)
		return cci_gfd_rc(rc);
	g->qos = (struct weft_cci_get_gfd_qos_control_rsp){ .ctl = in.ctl,
		.mod = in.mod,
		.sev = in.sev,
		.bp = in.bp,
		.basis = in.basis,
		.ci = in.ci };
	return gfd_get_qos(arg, who, NULL, 0, rsp, rsp_len);
}

/* Its load is light, always (Q33). */
static CCI_GFD_ROW(gfd_qos_status)
{
	const struct weft_cci_get_gfd_qos_status_rsp out = { .avg = 0 };

	(void)arg;
	(void)who;
	(void)req;
	if (len != 0)
		return WEFT_CCI_INVALID_PAYLOAD_LENGTH;
	return cci_row_sent(weft_cci_put_get_gfd_qos_status_rsp(rsp, *rsp_len, &out), rsp_len);
}

/* As many limits as fit, from that of @p start on. */
static uint16_t
gfd_put_limits(const struct weft_cci_gfd *g, unsigned int start, unsigned int n, uint8_t *rsp,
	size_t *rsp_len)
{
	struct weft_cci_get_gfd_bw_limit_rsp out = { .start_rpid = (uint16_t)start };

	if (start >= WEFT_GFAM_RPIDS || n > WEFT_GFAM_RPIDS - start)
		return WEFT_CCI_INVALID_INPUT;
	out.n = (uint16_t)cci_row_fit(n, n, *rsp_len, WEFT_CCI_GET_GFD_BW_LIMIT_RSP_LEN, 1);
	out.frac = &g->bw_limit[start];
	return cci_row_sent(weft_cci_put_get_gfd_bw_limit_rsp(rsp, *rsp_len, &out), rsp_len);
}

static CCI_GFD_ROW(gfd_get_limits)
{
	struct weft_cci_get_gfd_bw_limit_req in;
	const int rc = weft_cci_get_get_gfd_bw_limit_req(&in, req, len);

	(void)who;
	return rc != 0 ? cci_gfd_rc(rc) : gfd_put_limits(arg, in.start_rpid, in.n, rsp, rsp_len);
}

static CCI_GFD_ROW(gfd_set_limits)
{
	struct weft_cci_gfd *g = arg;
	struct weft_cci_set_gfd_bw_limit_req in;
	const int rc = weft_cci_get_set_gfd_bw_limit_req(&in, req, len);

	(void)who;
	if (rc != 0)
		return cci_gfd_rc(rc);
	if (in.start_rpid >= WEFT_GFAM_RPIDS || in.n > WEFT_GFAM_RPIDS - in.start_rpid)
		return WEFT_CCI_INVALID_INPUT;
	memcpy(&g->bw_limit[in.start_rpid], in.frac, in.n);
	return gfd_put_limits(g, in.start_rpid, in.n, rsp, rsp_len);
}

static struct weft_cci_gdt
gfd_decoder_entry(const struct weft_gfam_decoder *d, unsigned int i)
{
	return (struct weft_cci_gdt){
		.idx = (uint8_t)i,
		.v = d->valid,
		.coh = d->coherent,
		.hpa_base = d->hpa_base,
		.dpa_base = d->dpa_base,
		.dpa_len = d->dpa_len,
		.intlv = d->intlv,
		.gran = d->gran,
		.way = d->way,
	};
}

/* A host has to do with its own decoders and with its accelerators' (Q20). */
static CCI_GFD_ROW(gfd_get_gdt)
{
	const struct weft_cci_gfd *g = arg;
	const struct weft_gfam *t = g->world->now(g->world_arg);
	struct weft_cci_get_gdt_req in;
	struct weft_cci_get_gdt_rsp out = { .total = WEFT_GFAM_DECODERS };
	int rc = weft_cci_get_get_gdt_req(&in, req, len);

	if (rc == 0 && (in.start > WEFT_GFAM_DECODERS || in.rpid >= WEFT_GFAM_SELF ||
			       (in.rpid != who->pid && weft_gfam_owner(t, in.rpid) != who->pid)))
		rc = -EINVAL;
	if (rc != 0)
		return cci_gfd_rc(rc);
	out.rpid = in.rpid;
	out.start = in.start;
	out.n = (uint8_t)cci_row_fit(WEFT_GFAM_DECODERS - in.start, in.n, *rsp_len,
		WEFT_CCI_GET_GDT_RSP_LEN, WEFT_CCI_GDT_LEN);
	out.gdt = rsp + WEFT_CCI_GET_GDT_RSP_LIST;
	for (unsigned int i = 0; i < out.n; i++) {
		struct weft_gfam_decoder d;
		struct weft_cci_gdt e;

		weft_gfam_get_gdt(t, in.rpid, in.start + i, &d);
		e = gfd_decoder_entry(&d, in.start + i);
		weft_cci_put_gdt(rsp + WEFT_CCI_GET_GDT_RSP_LIST, i, &e);
	}
	return cci_row_sent(weft_cci_put_get_gdt_rsp(rsp, *rsp_len, &out), rsp_len);
}

static int
gfd_get_decoders(
	const struct weft_cci_set_gdt_req *in, struct weft_gfam_decoder d[WEFT_GFAM_DECODERS])
{
	if (in->n == 0)
		return -EINVAL;
	if (in->n > WEFT_GFAM_DECODERS)
		return -ENOSPC;
	for (unsigned int i = 0; i < in->n; i++) {
		struct weft_cci_gdt e;

		weft_cci_get_gdt(in->gdt, i, &e);
		if (e.idx != in->start + i)
			return -EINVAL;
		d[i] = (struct weft_gfam_decoder){
			.hpa_base = e.hpa_base,
			.dpa_base = e.dpa_base,
			.dpa_len = e.dpa_len,
			.valid = (e.v & DECODER_ON) != 0,
			.coherent = (e.coh & DECODER_ON) != 0,
			.intlv = e.intlv,
			.gran = e.gran,
			.way = e.way,
		};
	}
	return 0;
}

static CCI_GFD_ROW(gfd_set_gdt)
{
	struct weft_cci_gfd *g = arg;
	struct weft_gfam_decoder d[WEFT_GFAM_DECODERS];
	struct weft_cci_set_gdt_req in;
	struct weft_gfam *next;
	int rc = weft_cci_get_set_gdt_req(&in, req, len);

	(void)rsp;
	/* WEFT_GFAM_SELF would be the device itself. */
	if (rc == 0 && who->pid >= WEFT_GFAM_SELF)
		rc = -EINVAL;
	if (rc == 0)
		rc = gfd_get_decoders(&in, d);
	if (rc != 0)
		return cci_gfd_rc(rc);
	next = g->world->begin(g->world_arg);
	if (next == NULL)
		return WEFT_CCI_INTERNAL_ERROR;
	rc = weft_gfam_set_gdt(next, who->pid, in.rpid, in.start, d, in.n);
	if (rc == 0)
		g->world->commit(g->world_arg);
	return cci_gfd_done(rc, rsp_len);
}

/* Latency and bandwidth of reads and writes: one entry each, of the unit that it is. */
static uint8_t *
gfd_cdat_performance(const struct weft_cci_gfd *g, uint8_t *at, unsigned int dmp)
{
	const uint64_t latency_ps = g->latency_ns * 1000;
	const struct {
		uint8_t kind;
		uint64_t value;
	} row[] = {
		{ WEFT_CCI_HMAT_READ_LATENCY, latency_ps },
		{ WEFT_CCI_HMAT_WRITE_LATENCY, latency_ps },
		{ WEFT_CCI_HMAT_READ_BANDWIDTH, g->bandwidth_mbps },
		{ WEFT_CCI_HMAT_WRITE_BANDWIDTH, g->bandwidth_mbps },
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(row); i++) {
		const struct weft_cci_dslbis s = { .type = WEFT_CCI_DSLBIS,
			.length = WEFT_CCI_DSLBIS_LEN,
			.handle = (uint8_t)dmp,
			.kind = row[i].kind,
			.unit = row[i].value,
			.entry0 = 1 };

		if (row[i].value == 0)
			continue;
		weft_cci_put_dslbis(at, 0, &s);
		at += WEFT_CCI_DSLBIS_LEN;
	}
	return at;
}

/* @return its length */
static size_t
gfd_cdat(const struct weft_cci_gfd *g, uint8_t cdat[CDAT_SIZE_MAX])
{
	const struct weft_gfam *t = g->world->now(g->world_arg);
	uint8_t *at = cdat + WEFT_CCI_CDAT_HEADER_LEN;

	for (unsigned int i = 0; i < weft_gfam_cfg(t)->dmps; i++) {
		struct weft_gfam_region d = { 0 };
		struct weft_cci_dsmas s;

		(void)weft_gfam_get_dmp(t, i, &d);
		if (d.len == 0)
			continue;
		s = (struct weft_cci_dsmas){ .type = WEFT_CCI_DSMAS,
			.length = WEFT_CCI_DSMAS_LEN,
			.handle = (uint8_t)i,
			.flags = d.flags,
			.base = d.base,
			.len = d.len };
		weft_cci_put_dsmas(at, 0, &s);
		at = gfd_cdat_performance(g, at + WEFT_CCI_DSMAS_LEN, i);
	}
	weft_cci_cdat_finish(cdat, (uint32_t)(at - cdat), g->cdat_sequence);
	return (size_t)(at - cdat);
}

static CCI_GFD_ROW(gfd_read_cdat)
{
	const struct weft_cci_gfd *g = arg;
	uint8_t cdat[CDAT_SIZE_MAX];
	struct weft_cci_read_cdat_req in;
	const int rc = weft_cci_get_read_cdat_req(&in, req, len);

	(void)who;
	return rc != 0 ? cci_gfd_rc(rc)
	               : cci_row_send_cdat(&in, cdat, gfd_cdat(g, cdat), rsp, rsp_len);
}

#define CONFIG WEFT_CCI_EFFECT_CONFIG
#define FREES (WEFT_CCI_EFFECT_CONFIG | WEFT_CCI_EFFECT_DATA)
#define POLICY WEFT_CCI_EFFECT_POLICY
#define FM WEFT_CCI_WHO_FM
#define HOST WEFT_CCI_WHO_HOST
#define BOTH WEFT_CCI_WHO_BOTH

const struct weft_cci_command weft_cci_gfd_commands[] = {
	{ WEFT_CCI_READ_CDAT, 0, BOTH, false, gfd_read_cdat },
	{ WEFT_CCI_IDENTIFY_GFD, 0, BOTH, false, gfd_identify },
	{ WEFT_CCI_GET_GFD_STATUS, 0, BOTH, false, gfd_status },
	{ WEFT_CCI_GET_DC_REGIONS, 0, BOTH, false, cci_gfd_get_regions },
	{ WEFT_CCI_SET_DC_REGION, CONFIG, FM, true, cci_gfd_set_region },
	{ WEFT_CCI_GET_EXTENTS, 0, BOTH, false, cci_gfd_get_extents },
	{ WEFT_CCI_GET_DMPS, 0, FM, false, cci_gfd_get_dmps },
	{ WEFT_CCI_SET_DMPS, CONFIG, FM, true, cci_gfd_set_dmps },
	{ WEFT_CCI_DC_ADD, CONFIG, FM, true, cci_gfd_add },
	{ WEFT_CCI_DC_RELEASE, FREES, FM, true, cci_gfd_release },
	{ WEFT_CCI_DC_ADD_REFERENCE, CONFIG, FM, true, cci_gfd_hold },
	{ WEFT_CCI_DC_REMOVE_REFERENCE, FREES, FM, true, cci_gfd_let_go },
	{ WEFT_CCI_DC_LIST_TAGS, 0, FM, false, cci_gfd_list_tags },
	{ WEFT_CCI_GET_SAT, 0, FM, false, cci_gfd_get_sat },
	{ WEFT_CCI_SET_SAT, CONFIG, FM, true, cci_gfd_set_sat },
	{ WEFT_CCI_GET_GFD_QOS_CONTROL, 0, BOTH, false, gfd_get_qos },
	{ WEFT_CCI_SET_GFD_QOS_CONTROL, POLICY, FM, true, gfd_set_qos },
	{ WEFT_CCI_GET_GFD_QOS_STATUS, 0, BOTH, false, gfd_qos_status },
	{ WEFT_CCI_GET_GFD_BW_LIMIT, 0, BOTH, false, gfd_get_limits },
	{ WEFT_CCI_SET_GFD_BW_LIMIT, POLICY, FM, true, gfd_set_limits },
	{ WEFT_CCI_GET_GDT, 0, HOST, false, gfd_get_gdt },
	{ WEFT_CCI_SET_GDT, CONFIG, HOST, true, gfd_set_gdt },
};
const unsigned int weft_cci_gfd_n_commands = WEFT_ARRAY_SIZE(weft_cci_gfd_commands);
