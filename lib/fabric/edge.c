/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Control side of an edge port: vectors, prefixes, re-router, HDM decoders (fabric.md 1.5, 1.8). */

#include "weft_edge.h"

#include <errno.h>

#define HDM_ALIGN_LOG2 28 /* 256 MB */
#define VP_ALL (WEFT_VP_EGRESS | WEFT_VP_INGRESS)

/* Members only: tables are compared by bytes, and what lies between them is left to chance. */
static void
edge_copy_cfg(struct weft_edge_cfg *to, const struct weft_edge_cfg *from)
{
	to->pid = from->pid;
	to->fast_depth_log2 = from->fast_depth_log2;
	to->fast_idt = from->fast_idt;
	to->ldst_depth_log2 = from->ldst_depth_log2;
	to->ldst_idt = from->ldst_idt;
	to->rerouter_rows = from->rerouter_rows;
	to->gim = from->gim;
	to->vp = from->vp;
	to->pbr_link = from->pbr_link;
}

int
weft_edge_init(struct weft_edge *e, const struct weft_edge_cfg *cfg)
{
	const struct weft_seg_cfg fast = { WEFT_SEG_FAST, cfg->fast_depth_log2, cfg->fast_idt,
		cfg->gim };
	const struct weft_seg_cfg ldst = { WEFT_SEG_LDST, cfg->ldst_depth_log2, cfg->ldst_idt,
		false };

	if (cfg->pid >= WEFT_PID_RESERVED || cfg->rerouter_rows > WEFT_REROUTER_ROWS ||
		(cfg->vp & ~VP_ALL) != 0 || cfg->fast_idt == 0)
		return -EINVAL;
	memset(e, 0, sizeof(*e));
	if (weft_seg_init(&e->fast, &fast) != 0 || weft_seg_init(&e->ldst, &ldst) != 0)
		return -EINVAL;
	edge_copy_cfg(&e->cfg, cfg);
	e->link_up = true;
	e->pcie_pid = WEFT_PID_RESERVED;
	for (unsigned int i = 0; i < WEFT_REROUTER_ROWS; i++)
		e->reroute[i].pid = WEFT_PID_RESERVED;
	return 0;
}

int
weft_edge_allow(struct weft_edge *e, enum weft_edge_vector v, uint16_t pid, bool on)
{
	if (pid >= WEFT_PID_RESERVED)
		return -EINVAL;
	weft_pid_set_put(&e->vector[v], pid, on);
	if (v == WEFT_LAV)
		weft_seg_set_right(&e->ldst, pid, WEFT_IDT_SLOT_DIRECT, on);
	else
		weft_seg_set_right(&e->fast, pid,
			v == WEFT_GMV ? WEFT_IDT_SLOT_DIRECT : WEFT_IDT_SLOT_GIM, on);
	return 0;
}

int
weft_edge_set_vp_vcs(struct weft_edge *e, unsigned int vp)
{
	if ((vp & ~(unsigned int)e->cfg.vp) != 0)
		return -EINVAL;
	e->vp_vcs = (uint8_t)vp;
	e->vp = e->vp_vcs & e->vp_host;
	return 0;
}

int
weft_edge_set_vp_host(struct weft_edge *e, unsigned int vp)
{
	if ((vp & ~(unsigned int)VP_ALL) != 0)
		return -EINVAL;
	e->vp_host = (uint8_t)vp;
	e->vp = e->vp_vcs & e->vp_host;
	return 0;
}

int
weft_edge_set_rerouter(
	struct weft_edge *e, unsigned int start, const struct weft_reroute *r, unsigned int n)
{
	if (n > e->cfg.rerouter_rows || start > e->cfg.rerouter_rows - n)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (r[i].pid > WEFT_PID_RESERVED)
			return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (r[i].pid != WEFT_PID_RESERVED &&
			!weft_pid_set_has(&e->vector[WEFT_LAV], r[i].pid))
			return -EPERM;
	memcpy(&e->reroute[start], r, n * sizeof(*r));
	return 0;
}

static bool
edge_hdm_overlap(const struct weft_hdm *a, const struct weft_hdm *b)
{
	return a->len != 0 && b->len != 0 &&
	       (a->base > b->base ? a->base - b->base < b->len : b->base - a->base < a->len);
}

int
weft_edge_set_hdm(struct weft_edge *e, unsigned int i, const struct weft_hdm *h)
{
	if (i >= WEFT_HDM_DECODERS || h->pid >= WEFT_PID_RESERVED ||
		((h->base | h->len) & weft_mask64(HDM_ALIGN_LOG2)) != 0)
		return -EINVAL;
	/* An end of exactly 2^64 is in order. */
	if (h->len != 0 && h->base + (h->len - 1) < h->base)
		return -EINVAL;
	for (unsigned int k = 0; k < WEFT_HDM_DECODERS; k++)
		if (k != i && edge_hdm_overlap(h, &e->hdm[k]))
			return -EINVAL;
	e->hdm[i] = *h;
	e->n_hdm = 0;
	for (unsigned int k = 0; k < WEFT_HDM_DECODERS; k++)
		if (e->hdm[k].len != 0)
			e->n_hdm = (uint8_t)(k + 1);
	return 0;
}

int
weft_edge_set_pcie(struct weft_edge *e, uint16_t pid)
{
	if (pid > WEFT_PID_RESERVED)
		return -EINVAL;
	e->pcie_pid = pid;
	return 0;
}

const char *
weft_edge_decoder_word(enum weft_edge_decoder d)
{
	static const char *const word[] = {
		[WEFT_EDGE_BY_NONE] = "none",
		[WEFT_EDGE_BY_PREFIX] = "prefix",
		[WEFT_EDGE_BY_FAST] = "fast",
		[WEFT_EDGE_BY_LDST] = "ldst",
		[WEFT_EDGE_BY_HDM] = "hdm",
		[WEFT_EDGE_BY_PCIE] = "pcie",
		[WEFT_EDGE_BY_REROUTER] = "rerouter",
		[WEFT_EDGE_BY_UPSTREAM] = "upstream",
	};

	return word[d];
}

const char *
weft_edge_reason_word(enum weft_edge_reason r)
{
	static const char *const word[] = {
		[WEFT_EDGE_OK] = "ok",
		[WEFT_EDGE_NO_DECODE] = "no-decode",
		[WEFT_EDGE_NOT_ALLOWED] = "not-allowed",
		[WEFT_EDGE_GIM_UIO_ONLY] = "gim-uio-only",
		[WEFT_EDGE_BAD_PREFIX] = "prefix",
		[WEFT_EDGE_UNEXPECTED] = "unexpected",
	};

	return word[r];
}
