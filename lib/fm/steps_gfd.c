/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Reading a GFD: its regions, the extents of each group, and its SAT. */

#include <errno.h>
#include <stdlib.h>

#include "fm_priv.h"

#define GFD_EXTENTS_ASKED FM_FITS(24, 40, 24)
#define GFD_ROWS_ASKED FM_FITS(6, 4, 254)
#define GFD_EXTENTS (1u << 20) /* of one group, where its answers contradict each other */

int
fm_got_gfd(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_identify_gfd_rsp rsp;

	(void)fm;
	if (weft_cci_get_identify_gfd_rsp(&rsp, b, len) != 0)
		return -EBADMSG;
	fm_component_free(c);
	c->gfd = calloc(1, sizeof(*c->gfd));
	if (c->gfd == NULL)
		return -EBADMSG;
	c->gfd->n_groups = rsp.ngrp < FM_GROUPS ? rsp.ngrp : FM_GROUPS;
	c->gfd->sat = calloc(WEFT_PIDS, sizeof(*c->gfd->sat));
	return c->gfd->sat == NULL ? -EBADMSG : FM_GOT_ALL;
}

int
fm_put_regions(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const struct weft_cci_get_dc_regions_req req = { .n = FM_REGIONS };

	(void)fm;
	(void)c;
	return weft_cci_put_get_dc_regions_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_regions(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_dc_regions_rsp rsp;

	(void)fm;
	if (weft_cci_get_get_dc_regions_rsp(&rsp, b, len) != 0 || rsp.n > FM_REGIONS)
		return -EBADMSG;
	c->gfd->n_regions = rsp.n;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_cci_region region;

		weft_cci_get_region(rsp.region, i, &region);
		c->gfd->region[i] = (struct fm_region){ region.base, region.len };
	}
	return FM_GOT_ALL;
}

int
fm_add_extent(struct fm_gfd *g, const struct weft_fm_extent *e)
{
	if (g->n_extents == g->room) {
		const uint32_t room = g->room == 0 ? 16 : 2 * g->room;
		struct weft_fm_extent *more = realloc(g->extent, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		g->extent = more;
		g->room = room;
	}
	g->extent[g->n_extents++] = *e;
	return 0;
}

static uint32_t
gfd_extents_of(const struct fm_gfd *g, uint32_t group)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_extents; i++)
		n += g->extent[i].group == group;
	return n;
}

/* The cursor counts groups; what of a group is known says where to go on. */
int
fm_put_extents(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const struct weft_cci_get_extents_req req = { .grp = (uint16_t)c->cursor,
		.n = GFD_EXTENTS_ASKED,
		.start = gfd_extents_of(c->gfd, c->cursor) };

	(void)fm;
	return c->cursor >= c->gfd->n_groups
	               ? -1
	               : weft_cci_put_get_extents_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_extents(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_extents_rsp rsp;
	uint32_t n;

	(void)fm;
	if (weft_cci_get_get_extents_rsp(&rsp, b, len) != 0 || rsp.grp != c->cursor ||
		rsp.start != gfd_extents_of(c->gfd, c->cursor) || rsp.total > GFD_EXTENTS ||
		(rsp.n == 0 && rsp.start < rsp.total))
		return -EBADMSG;
	for (unsigned int i = 0; i < rsp.n; i++) {
		struct weft_fm_extent e = { .path = c->path, .group = rsp.grp };
		struct weft_cci_extent wire;

		weft_cci_get_extent(rsp.extent, i, &wire);
		e.dpa = wire.dpa;
		e.len = wire.len;
		memcpy(e.tag, wire.tag, sizeof(e.tag));
		if (fm_add_extent(c->gfd, &e) != 0)
			return -EBADMSG;
	}
	n = gfd_extents_of(c->gfd, c->cursor);
	if (n > rsp.total)
		return -EBADMSG;
	if (n == rsp.total)
		c->cursor++;
	return FM_GOT_PART;
}

int
fm_put_sat(struct weft_fm *fm, struct fm_component *c, uint8_t *b)
{
	const unsigned int left = WEFT_PID_RESERVED - c->cursor;
	const struct weft_cci_get_sat_req req = { .start_rpid = (uint16_t)c->cursor,
		.n = (uint16_t)(left < GFD_ROWS_ASKED ? left : GFD_ROWS_ASKED) };

	(void)fm;
	return left == 0 ? -1 : weft_cci_put_get_sat_req(b, WEFT_CCI_MAX_PAYLOAD, &req);
}

int
fm_got_sat(struct weft_fm *fm, struct fm_component *c, const uint8_t *b, size_t len)
{
	struct weft_cci_get_sat_rsp rsp;

	(void)fm;
	if (weft_cci_get_get_sat_rsp(&rsp, b, len) != 0 || rsp.start_rpid != c->cursor ||
		rsp.n == 0 || rsp.n > WEFT_PID_RESERVED - c->cursor)
		return -EBADMSG;
	for (unsigned int i = 0; i < rsp.n; i++)
		c->gfd->sat[c->cursor++] = weft_get_le32(rsp.vec + 4u * i) & ~(UINT32_C(1) << 31);
	return FM_GOT_PART;
}
