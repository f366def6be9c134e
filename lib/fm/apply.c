/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a confirmed command changed, from its request (fabric.md section 4.6). */

#include "fm_priv.h"

static void
apply_claim(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_claim_ownership_req req;

	if (weft_cci_get_claim_ownership_req(&req, b, len) == 0)
		c->pid = req.new_pid;
}

static void
apply_assignment(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_configure_pid_assignment_req req;

	if (weft_cci_get_configure_pid_assignment_req(&req, b, len) != 0)
		return;
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_pid_assign e;

		weft_cci_get_pid_assign(req.entry, i, &e);
		for (unsigned int k = 0; k < c->sw->n_targets; k++)
			if (c->sw->target[k].id == e.target && c->sw->target[k].inst == e.inst)
				c->sw->target[k].pid = req.op == FM_ASSIGN ? e.pid : WEFT_FM_NO_PID;
	}
}

static void
apply_drt(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_drt_req req;

	if (weft_cci_get_set_drt_req(&req, b, len) == 0)
		memcpy(c->sw->drt[req.drt].entry[req.start], req.entry, 2u * req.n);
}

static void
apply_rgt(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_rgt_req req;

	if (weft_cci_get_set_rgt_req(&req, b, len) != 0)
		return;
	for (unsigned int k = 0; k < c->sw->n_drts; k++)
		if (c->sw->rgt_of[k] == req.rgt)
			memcpy(&c->sw->rgt[k][req.start], req.entry,
				req.n * sizeof(c->sw->rgt[k][0]));
}

static void
apply_add(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_dc_add_req req;

	if (weft_cci_get_dc_add_req(&req, b, len) != 0)
		return;
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_fm_extent e = { .path = c->path, .group = req.grp };
		struct weft_cci_extent wire;

		weft_cci_get_extent(req.extent, i, &wire);
		e.dpa = wire.dpa;
		e.len = wire.len;
		memcpy(e.tag, req.tag, sizeof(e.tag));
		/* What does not fit is missed, and added again: refused, it is read again. */
		(void)fm_add_extent(c->gfd, &e);
	}
}

static void
apply_release(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_dc_release_req req;
	struct fm_gfd *g = c->gfd;

	if (weft_cci_get_dc_release_req(&req, b, len) != 0)
		return;
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_extent wire;
		uint32_t kept = 0;

		weft_cci_get_extent(req.extent, i, &wire);
		for (uint32_t k = 0; k < g->n_extents; k++)
			if (g->extent[k].group != req.grp || g->extent[k].dpa != wire.dpa)
				g->extent[kept++] = g->extent[k];
		g->n_extents = kept;
	}
}

static void
apply_sat(struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_set_sat_req req;

	if (weft_cci_get_set_sat_req(&req, b, len) != 0)
		return;
	for (unsigned int i = 0; i < req.n; i++) {
		struct weft_cci_sat_row e;

		weft_cci_get_sat_row(req.rows, i, &e);
		c->gfd->sat[e.rpid] = e.vec & ~(UINT32_C(1) << 31);
	}
}

void
fm_apply(struct weft_fm *fm, struct fm_component *c, uint16_t opcode, const uint8_t *b, size_t len)
{
	c->n_writes++;
	fm_look_again(fm);
	switch (opcode) {
	case WEFT_CCI_CLAIM_OWNERSHIP: apply_claim(c, b, len); break;
	case WEFT_CCI_CONFIGURE_PID_ASSIGNMENT: apply_assignment(c, b, len); break;
	case WEFT_CCI_SET_DRT: apply_drt(c, b, len); break;
	case WEFT_CCI_SET_RGT: apply_rgt(c, b, len); break;
	case WEFT_CCI_DC_ADD: apply_add(c, b, len); break;
	case WEFT_CCI_DC_RELEASE: apply_release(c, b, len); break;
	case WEFT_CCI_SET_SAT: apply_sat(c, b, len); break;
	case WEFT_CCI_SET_HOST_MEMORY: fm_apply_host(c); break;
	default: break;
	}
}
