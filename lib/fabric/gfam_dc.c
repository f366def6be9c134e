/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lists of dynamic capacity as memory, and how they are read (fabric.md section 4.6). */

#include "gfam_dc_priv.h"

#include <errno.h>

#define LIST_MAX 4096

static bool
dc_cfg_is_good(const struct weft_gfam_dc_cfg *c)
{
	return c->extents != 0 && c->extents <= LIST_MAX && c->tags != 0 && c->tags <= LIST_MAX;
}

size_t
weft_gfam_dc_size(const struct weft_gfam_dc_cfg *cfg)
{
	if (!dc_cfg_is_good(cfg))
		return 0;
	return weft_line_up(sizeof(struct weft_gfam_dc)) +
	       weft_line_up(cfg->extents * sizeof(struct dc_extent)) +
	       weft_line_up(cfg->tags * sizeof(struct dc_tag)) +
	       weft_line_up(cfg->extents * sizeof(struct weft_gfam_extent)) +
	       weft_line_up(cfg->extents * sizeof(struct weft_gfam_range));
}

struct weft_gfam_dc *
weft_gfam_dc_init(void *mem, const struct weft_gfam_dc_cfg *cfg)
{
	struct weft_gfam_dc *dc = mem;
	uint8_t *at = mem;

	if (!dc_cfg_is_good(cfg))
		return NULL;
	memset(mem, 0, weft_gfam_dc_size(cfg));
	dc->cfg = *cfg;
	at += weft_line_up(sizeof(*dc));
	dc->extent = (struct dc_extent *)at;
	at += weft_line_up(cfg->extents * sizeof(*dc->extent));
	dc->tag = (struct dc_tag *)at;
	at += weft_line_up(cfg->tags * sizeof(*dc->tag));
	dc->touched = (struct weft_gfam_extent *)at;
	at += weft_line_up(cfg->extents * sizeof(*dc->touched));
	dc->wipe = (struct weft_gfam_range *)at;
	return dc;
}

void
dc_put_extent(
	const struct weft_gfam_dc *dc, const struct dc_extent *e, struct weft_gfam_extent *out)
{
	*out = (struct weft_gfam_extent){ .dpa = e->dpa, .len = e->len, .seq = e->seq };
	if (e->tag != DC_NO_TAG)
		memcpy(out->tag, dc->tag[e->tag].name, sizeof(out->tag));
}

uint16_t
dc_find_tag(const struct weft_gfam_dc *dc, const uint8_t name[WEFT_GFAM_TAG_LEN])
{
	for (unsigned int i = 0; i < dc->n_tags; i++) {
		if (memcmp(dc->tag[i].name, name, WEFT_GFAM_TAG_LEN) == 0)
			return (uint16_t)i;
	}
	return DC_NO_TAG;
}

bool
dc_has_tag(const struct weft_gfam_dc *dc, uint16_t tag, uint8_t group)
{
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		const struct dc_extent *e = &dc->extent[i];

		if (e->tag == tag && e->group != WEFT_GFAM_NO_GROUP &&
			(group == WEFT_GFAM_NO_GROUP || e->group == group))
			return true;
	}
	return false;
}

int
weft_gfam_dc_extents(const struct weft_gfam_dc *dc, const struct weft_gfam *t, uint16_t group,
	uint32_t start, struct weft_gfam_extent *out, unsigned int max,
	struct weft_gfam_dc_list *list)
{
	struct weft_gfam_dc_list l = { 0 };

	if (group >= t->cfg.groups)
		return -EINVAL;
	l.generation = dc->generation[group];
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		if (dc->extent[i].group != group)
			continue;
		if (l.total++ >= start && l.n < max)
			dc_put_extent(dc, &dc->extent[i], &out[l.n++]);
	}
	if (start > l.total)
		return -EINVAL;
	*list = l;
	return 0;
}

int
weft_gfam_dc_tags(const struct weft_gfam_dc *dc, uint32_t start, struct weft_gfam_tag *out,
	unsigned int max, struct weft_gfam_dc_list *list)
{
	if (start > dc->n_tags)
		return -EINVAL;
	*list = (struct weft_gfam_dc_list){ .total = dc->n_tags, .generation = dc->tag_generation };
	for (; list->n < max && start + list->n < dc->n_tags; list->n++) {
		const struct dc_tag *from = &dc->tag[start + list->n];

		memcpy(out[list->n].tag, from->name, WEFT_GFAM_TAG_LEN);
		out[list->n].is_held = from->is_held;
	}
	return 0;
}

void
weft_gfam_dc_room(const struct weft_gfam_dc *dc, struct weft_gfam_dc_room *room)
{
	*room = (struct weft_gfam_dc_room){
		.extents = dc->cfg.extents,
		.extents_free = dc->cfg.extents - dc->n_extents,
		.tags = dc->cfg.tags,
		.tags_free = dc->cfg.tags - dc->n_tags,
	};
}

bool
weft_gfam_dc_is_active(const struct weft_gfam_dc *dc, const struct weft_gfam *t, uint16_t group)
{
	if (group >= t->cfg.groups)
		return false;
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		if (dc->extent[i].group == group)
			return true;
	}
	for (unsigned int i = 0; i < WEFT_GFAM_RPIDS; i++) {
		if ((t->rpid[i].groups >> group & 1) != 0)
			return true;
	}
	return false;
}

int
weft_gfam_dc_set_region(const struct weft_gfam_dc *dc, struct weft_gfam *t, unsigned int i,
	const struct weft_gfam_region *r)
{
	/* Memory that is held is in no group: the tables do not know of it. */
	for (unsigned int k = 0; k < dc->n_extents && i < WEFT_GFAM_REGIONS; k++) {
		if (gfam_overlap(dc->extent[k].dpa, dc->extent[k].len, t->region[i].base,
			    t->region[i].len))
			return -EBUSY;
	}
	return weft_gfam_set_region(t, i, r->base, r->decode_len, r->len, r->block);
}
