/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD of 4 GiB that answers by CCI, as doc/gfam.md describes it for gfd_capacity_script: two
 * DMPs, three regions, 31 groups, and a manager that owns it.
 */
#ifndef GFD_RIG_H
#define GFD_RIG_H

#include <stdlib.h>

#include "weft_cci_gfd.h"

#define GFD_RIG_PID 0x201
#define GFD_RIG_FM 0x0FA
#define GFD_RIG_HOST 0x011
#define GFD_RIG_ACCELERATOR 0x012
#define GFD_RIG_MB (UINT64_C(1) << 20)
#define GFD_RIG_GB (UINT64_C(1) << 30)
#define GFD_RIG_EXTENTS 64
#define GFD_RIG_TAGS 16

struct gfd_rig {
	struct weft_cci_component component;
	struct weft_cci_gfd gfd;
	struct weft_gfam *live, *spare;
	struct weft_gfam_dc *dc;
	unsigned int n_commits;
	bool no_memory; /* for a copy of the tables */
	unsigned int n_wipes, n_notified;
	struct weft_gfam_range wipe[GFD_RIG_EXTENTS]; /* all that were, the first ones */
	uint16_t notified; /* last */
};

static const struct weft_gfam *
gfd_rig_now(void *arg)
{
	return ((struct gfd_rig *)arg)->live;
}

static struct weft_gfam *
gfd_rig_begin(void *arg)
{
	struct gfd_rig *r = arg;

	return r->no_memory ? NULL : weft_gfam_copy(r->spare, r->live);
}

static void
gfd_rig_commit(void *arg)
{
	struct gfd_rig *r = arg;
	struct weft_gfam *old = r->live;

	r->live = r->spare;
	r->spare = old;
	r->n_commits++;
}

static void
gfd_rig_wipe(void *arg, uint64_t dpa, uint64_t len)
{
	struct gfd_rig *r = arg;

	if (r->n_wipes < GFD_RIG_EXTENTS)
		r->wipe[r->n_wipes] = (struct weft_gfam_range){ dpa, len };
	r->n_wipes++;
}

static void
gfd_rig_notify(void *arg, uint16_t rpid)
{
	struct gfd_rig *r = arg;

	r->notified = rpid;
	r->n_notified++;
}

static bool
gfd_rig_is_up(void *arg)
{
	(void)arg;
	return true;
}

static const struct weft_cci_gfd_world gfd_rig_world = {
	.now = gfd_rig_now,
	.begin = gfd_rig_begin,
	.commit = gfd_rig_commit,
	.wipe = gfd_rig_wipe,
	.notify = gfd_rig_notify,
	.is_up = gfd_rig_is_up,
};

/* DMPs and regions as at first. */
static inline int
gfd_rig_place(struct gfd_rig *r)
{
	static const struct weft_gfam_region region[] = {
		{ 0, GFD_RIG_GB, 64 * GFD_RIG_MB, GFD_RIG_MB, 0 },
		{ GFD_RIG_GB, GFD_RIG_GB / 4, 16 * GFD_RIG_MB, GFD_RIG_MB, 0 },
		{ 2 * GFD_RIG_GB, 2 * GFD_RIG_GB, 2 * GFD_RIG_GB, GFD_RIG_MB, 0 },
	};
	int rc = 0;

	for (unsigned int i = 0; i < 2 && rc == 0; i++)
		rc = weft_gfam_set_dmp(r->live, i, i * 2 * GFD_RIG_GB, 2 * GFD_RIG_GB, GFD_RIG_MB);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(region) && rc == 0; i++)
		rc = weft_gfam_dc_set_region(r->dc, r->live, i, &region[i]);
	return rc != 0 ? rc : weft_gfam_set_owner(r->live, GFD_RIG_ACCELERATOR, GFD_RIG_HOST);
}

/* The manager claims it (0701h). */
static inline bool
gfd_rig_claim(struct gfd_rig *r)
{
	const struct weft_cci_caller fm = { WEFT_CCI_FM, GFD_RIG_FM };
	const struct weft_cci_claim_ownership_req q = {
		.fm_pid = GFD_RIG_FM, .fm_uuid = { 0xFA }, .new_pid = GFD_RIG_PID
	};
	struct weft_cci_hdr h = { .opcode = WEFT_CCI_CLAIM_OWNERSHIP };
	uint8_t msg[WEFT_CCI_MESSAGE_MAX], rsp[WEFT_CCI_MESSAGE_MAX];
	int len = weft_cci_put_claim_ownership_req(msg + WEFT_CCI_HDR, WEFT_CCI_MAX_PAYLOAD, &q);

	h.len = (uint32_t)len;
	weft_cci_put_hdr(msg, &h);
	len = (int)weft_cci_component_run(
		&r->component, &fm, msg, WEFT_CCI_HDR + (size_t)len, rsp, sizeof(rsp), 0);
	return weft_cci_get_hdr(&h, rsp, (size_t)len) == 0 && h.rc == WEFT_CCI_SUCCESS;
}

static inline void
gfd_rig_fini(struct gfd_rig *r)
{
	free(r->live);
	free(r->spare);
	free(r->dc);
}

/** Start a GFD, zero or from gfd_rig_fini() before. @p plain: DMP 1 is for DC and no more. */
static inline bool
gfd_rig_init(struct gfd_rig *r, bool plain)
{
	const struct weft_gfam_cfg cfg = {
		.rows = 8,
		.groups = 31,
		.dmps = 2,
		.blocks = 2048,
		.media = { { GFD_RIG_MB | 64 * GFD_RIG_MB | GFD_RIG_GB / 4,
				   WEFT_GFAM_DC | WEFT_GFAM_SHARABLE },
			{ GFD_RIG_MB | 64 * GFD_RIG_MB,
				plain ? WEFT_GFAM_DC
				      : WEFT_GFAM_DC | WEFT_GFAM_SHARABLE | WEFT_GFAM_READ_ONLY } },
	};
	const struct weft_gfam_dc_cfg lists = { GFD_RIG_EXTENTS, GFD_RIG_TAGS };
	const struct weft_cci_component_cfg component = {
		.type = WEFT_CCI_TYPE_GFD,
		.vid = 0x1AB4,
		.serial = 1,
		.pid = WEFT_CCI_NO_PID,
		.command = weft_cci_gfd_commands,
		.n_commands = weft_cci_gfd_n_commands,
		.arg = &r->gfd,
	};
	const size_t len = weft_gfam_size(&cfg);

	memset(r, 0, sizeof(*r));
	r->live = aligned_alloc(WEFT_CACHE_LINE, len);
	r->spare = aligned_alloc(WEFT_CACHE_LINE, len);
	r->dc = aligned_alloc(WEFT_CACHE_LINE, weft_gfam_dc_size(&lists));
	if (r->live == NULL || r->spare == NULL || r->dc == NULL)
		return false;
	weft_gfam_init(r->live, &cfg);
	weft_gfam_dc_init(r->dc, &lists);
	weft_cci_gfd_init(&r->gfd, &gfd_rig_world, r, r->dc);
	return gfd_rig_place(r) == 0 && weft_cci_component_init(&r->component, &component) == 0 &&
	       gfd_rig_claim(r);
}

#endif /* GFD_RIG_H */
