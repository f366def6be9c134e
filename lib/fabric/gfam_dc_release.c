/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Releasing capacity and dropping references (4908h to 490Ah): what no group has and no reference
 * holds is freed, and named for its owner to wipe.
 */

#include "gfam_dc_priv.h"

#include <errno.h>

static void
dc_free(struct weft_gfam_dc *dc, struct dc_extent *e)
{
	if (dc_is_home(e))
		dc->wipe[dc->n_wipe++] = (struct weft_gfam_range){ e->dpa, e->len };
	e->is_marked = true;
}

/* Take out the extents that are marked. */
static void
dc_remove_marked(struct weft_gfam_dc *dc)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < dc->n_extents; i++) {
		if (!dc->extent[i].is_marked)
			dc->extent[n++] = dc->extent[i];
	}
	dc->n_extents = n;
}

static void
dc_remove_tag(struct weft_gfam_dc *dc, uint16_t tag)
{
	memmove(&dc->tag[tag], &dc->tag[tag + 1], (dc->n_tags - 1 - tag) * sizeof(dc->tag[0]));
	dc->n_tags--;
	dc->tag_generation++;
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		if (dc->extent[i].tag != DC_NO_TAG && dc->extent[i].tag > tag)
			dc->extent[i].tag--;
	}
}

/* End the allocation of a tag if nobody has it any more. */
static void
dc_end_tag(struct weft_gfam_dc *dc, uint16_t tag)
{
	if (tag == DC_NO_TAG || dc->tag[tag].is_held || dc_has_tag(dc, tag, WEFT_GFAM_NO_GROUP))
		return;
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		if (dc->extent[i].tag == tag)
			dc_free(dc, &dc->extent[i]);
	}
	dc_remove_marked(dc);
	dc_remove_tag(dc, tag);
}

/* The extent of a group that is this range, or NULL. */
static struct dc_extent *
dc_find_extent(struct weft_gfam_dc *dc, uint16_t group, const struct weft_gfam_range *r)
{
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		struct dc_extent *e = &dc->extent[i];

		if (e->group == group && e->dpa == r->dpa && e->len == r->len)
			return e;
	}
	return NULL;
}

static void
dc_unmark(struct weft_gfam_dc *dc)
{
	for (unsigned int i = 0; i < dc->n_extents; i++)
		dc->extent[i].is_marked = false;
}

static int
dc_mark_tag(struct weft_gfam_dc *dc, uint16_t group, const uint8_t tag[WEFT_GFAM_TAG_LEN])
{
	const uint16_t k = dc_find_tag(dc, tag);

	if (k == DC_NO_TAG || !dc_has_tag(dc, k, (uint8_t)group))
		return -EINVAL;
	for (unsigned int i = 0; i < dc->n_extents; i++)
		dc->extent[i].is_marked = dc->extent[i].tag == k && dc->extent[i].group == group;
	return 0;
}

static int
dc_mark_ranges(
	struct weft_gfam_dc *dc, uint16_t group, const struct weft_gfam_range *r, unsigned int n)
{
	int rc = n == 0 ? -EBADMSG : 0;

	for (unsigned int i = 0; i < n; i++) {
		struct dc_extent *e = dc_find_extent(dc, group, &r[i]);

		if (e != NULL && dc_is_sharable(dc, e)) {
			rc = -EINVAL;
			break;
		}
		if (e == NULL || e->is_marked)
			rc = -EBADMSG;
		else
			e->is_marked = true;
	}
	if (rc != 0)
		dc_unmark(dc);
	return rc;
}

/*
 * The extents that are marked leave their group. What only shows memory is gone with it, and memory
 * too unless it is sharable: that stays for dc_end_tag(), in no group.
 */
static void
dc_leave_group(struct weft_gfam_dc *dc, struct weft_gfam *t)
{
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		struct dc_extent *e = &dc->extent[i];

		if (!e->is_marked)
			continue;
		dc_put_extent(dc, e, &dc->touched[dc->n_touched++]);
		/* They were set by the same addresses. */
		(void)weft_gfam_set_blocks(t, e->dpa, e->len, WEFT_GFAM_NO_GROUP);
		(void)weft_gfam_set_home(t, e->dpa, e->len, e->dpa);
		e->group = WEFT_GFAM_NO_GROUP;
		e->is_marked = false;
		if (!dc_is_home(e) || !dc_is_sharable(dc, e))
			dc_free(dc, e);
	}
	dc_remove_marked(dc);
}

int
weft_gfam_dc_release(struct weft_gfam_dc *dc, struct weft_gfam *t,
	const struct weft_gfam_release *r, struct weft_gfam_dc_done *done)
{
	int rc;

	if (r->group >= t->cfg.groups)
		return -EINVAL;
	rc = r->by_tag ? dc_mark_tag(dc, r->group, r->tag)
	               : dc_mark_ranges(dc, r->group, r->range, r->n);
	if (rc != 0)
		return rc;
	dc_begin(dc);
	dc_leave_group(dc, t);
	/* Several can end where extents were named. */
	for (unsigned int i = dc->n_tags; i > 0; i--)
		dc_end_tag(dc, (uint16_t)(i - 1));
	dc->generation[r->group]++;
	dc_report(dc, done);
	return 0;
}

int
weft_gfam_dc_refer(struct weft_gfam_dc *dc, const uint8_t tag[WEFT_GFAM_TAG_LEN], bool hold,
	struct weft_gfam_dc_done *done)
{
	const uint16_t k = dc_find_tag(dc, tag);

	if (k == DC_NO_TAG || !dc->tag[k].is_sharable || (!hold && !dc->tag[k].is_held))
		return -EINVAL;
	dc_begin(dc);
	if (dc->tag[k].is_held != hold) {
		dc->tag[k].is_held = hold;
		dc->tag_generation++;
		dc_end_tag(dc, k);
	}
	dc_report(dc, done);
	return 0;
}
