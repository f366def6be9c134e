/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Layout of the lists of dynamic capacity: this struct, then extents, tags and two lists of what
 * the last command did. Extents and tags stand in the order in which they came.
 */
#ifndef GFAM_DC_PRIV_H
#define GFAM_DC_PRIV_H

#include "weft_gfam_dc.h"

#include "gfam_priv.h"

#define DC_NO_TAG UINT16_MAX

/* An extent of no group is memory of an allocation that is kept for other groups or a reference. */
struct dc_extent {
	uint64_t dpa, len;
	uint64_t home; /* where its memory is; another address: it only shows it */
	uint16_t tag; /* place in the list of tags, or DC_NO_TAG */
	uint16_t seq;
	uint8_t group; /* or WEFT_GFAM_NO_GROUP */
	bool is_marked; /* in a command only: to be released, then to be removed */
	uint8_t spare[2];
};

struct dc_tag {
	uint8_t name[WEFT_GFAM_TAG_LEN];
	bool is_sharable;
	bool is_held; /* by the fabric manager */
};

struct weft_gfam_dc {
	struct weft_gfam_dc_cfg cfg;
	unsigned int n_extents, n_tags;
	uint32_t generation[WEFT_GFAM_GROUPS], tag_generation;
	struct dc_extent *extent;
	struct dc_tag *tag;
	struct weft_gfam_extent *touched;
	struct weft_gfam_range *wipe;
	unsigned int n_touched, n_wipe;
};

/* Forget what the last command did. */
static inline void
dc_begin(struct weft_gfam_dc *dc)
{
	dc->n_touched = 0;
	dc->n_wipe = 0;
}

static inline void
dc_report(const struct weft_gfam_dc *dc, struct weft_gfam_dc_done *done)
{
	*done = (struct weft_gfam_dc_done){ dc->touched, dc->n_touched, dc->wipe, dc->n_wipe };
}

/* True if the extent holds memory, and does not show that of another address. */
static inline bool
dc_is_home(const struct dc_extent *e)
{
	return e->dpa == e->home;
}

static inline bool
dc_is_sharable(const struct weft_gfam_dc *dc, const struct dc_extent *e)
{
	return e->tag != DC_NO_TAG && dc->tag[e->tag].is_sharable;
}

/* An extent as it is listed. */
void dc_put_extent(
	const struct weft_gfam_dc *dc, const struct dc_extent *e, struct weft_gfam_extent *out);

/* Place of a tag in the list, or DC_NO_TAG; that of zeros is none. */
uint16_t dc_find_tag(const struct weft_gfam_dc *dc, const uint8_t name[WEFT_GFAM_TAG_LEN]);

/* Whether a group has extents of a tag; of WEFT_GFAM_NO_GROUP, whether any has. */
bool dc_has_tag(const struct weft_gfam_dc *dc, uint16_t tag, uint8_t group);

#endif /* GFAM_DC_PRIV_H */
