/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Adding capacity (4907h). New extents are planned beyond the end of the list, where nobody looks;
 * they count, and the tables change, when all of them are right.
 */

#include "gfam_dc_priv.h"

#include <errno.h>

/* One command on its way. */
struct dc_plan {
	struct weft_gfam_dc *dc;
	const struct gfam_region *region;
	const struct gfam_dmp *dmp; /* that of the region */
	unsigned int n; /* extents planned */
	uint16_t tag; /* theirs, in the list or next in it; or DC_NO_TAG */
	bool has_seq;
	uint8_t group;
};

static const uint8_t dc_no_tag[WEFT_GFAM_TAG_LEN];

static int
dc_plan_extent(struct dc_plan *p, uint64_t dpa, uint64_t len, uint64_t home)
{
	struct weft_gfam_dc *dc = p->dc;

	if (dc->n_extents + p->n == dc->cfg.extents)
		return -ENOSPC;
	dc->extent[dc->n_extents + p->n] = (struct dc_extent){
		.dpa = dpa,
		.len = len,
		.home = home,
		.tag = p->tag,
		.seq = (uint16_t)(p->has_seq ? p->n + 1 : 0),
		.group = p->group,
	};
	p->n++;
	return 0;
}

/*
 * Next free run of the region from byte @p at of it on: moves @p at there and returns its length, 0
 * for none. Extents lie in one region; all is counted from its base, for it may end with the last
 * address.
 */
static uint64_t
dc_next_free(const struct dc_plan *p, uint64_t *at)
{
	const struct weft_gfam_dc *dc = p->dc;
	uint64_t end = p->region->len;
	bool is_moved = true;

	while (is_moved) {
		is_moved = false;
		for (unsigned int i = 0; i < dc->n_extents; i++) {
			const uint64_t from = dc->extent[i].dpa - p->region->base;

			if (*at - from < dc->extent[i].len) {
				*at = from + dc->extent[i].len;
				is_moved = true;
			}
		}
	}
	for (unsigned int i = 0; i < dc->n_extents; i++) {
		const uint64_t from = dc->extent[i].dpa - p->region->base;

		if (from > *at && from < end)
			end = from;
	}
	return *at < end ? end - *at : 0;
}

/* @p len bytes from byte @p at of the region on; @p home: their memory, or NULL for their own. */
static int
dc_plan_free(struct dc_plan *p, uint64_t *at, uint64_t len, const uint64_t *home)
{
	uint64_t done = 0;

	while (done < len) {
		const uint64_t run = dc_next_free(p, at);
		const uint64_t take = run < len - done ? run : len - done;
		const uint64_t dpa = p->region->base + *at;
		const int rc =
			run == 0 ? -ENOSPC
				 : dc_plan_extent(p, dpa, take, home != NULL ? *home + done : dpa);

		if (rc != 0)
			return rc;
		done += take;
		*at += take;
	}
	return 0;
}

static int
dc_plan_contiguous(struct dc_plan *p, uint64_t len)
{
	uint64_t at = 0, run;

	while ((run = dc_next_free(p, &at)) != 0) {
		const uint64_t dpa = p->region->base + at;

		if (run >= len)
			return dc_plan_extent(p, dpa, len, dpa);
		at += run;
	}
	return -ENOSPC;
}

/* Whether a prescribed range is whole blocks of the region that nobody has. */
static bool
dc_range_is_free(const struct dc_plan *p, const struct weft_gfam_range *r)
{
	const uint64_t mask = weft_mask64(p->dmp->block_log2);

	if (r->len == 0 || ((r->dpa | r->len) & mask) != 0 ||
		!gfam_within(r->dpa, r->len, p->region->base, p->region->len))
		return false;
	for (unsigned int i = 0; i < p->dc->n_extents; i++) {
		const struct dc_extent *e = &p->dc->extent[i];

		if (gfam_overlap(r->dpa, r->len, e->dpa, e->len))
			return false;
	}
	return true;
}

/* @p left bytes, all of them and no more. */
static int
dc_plan_prescribed(
	struct dc_plan *p, const struct weft_gfam_range *r, unsigned int n, uint64_t left)
{
	int rc = 0;

	if (n == 0)
		return -EBADMSG;
	for (unsigned int i = 0; i < n; i++) {
		if (!dc_range_is_free(p, &r[i]) || r[i].len > left)
			return -EBADMSG;
		left -= r[i].len;
		for (unsigned int k = 0; k < i; k++) {
			if (gfam_overlap(r[i].dpa, r[i].len, r[k].dpa, r[k].len))
				return -EBADMSG;
		}
	}
	if (left != 0)
		return -EBADMSG;
	for (unsigned int i = 0; i < n && rc == 0; i++)
		rc = dc_plan_extent(p, r[i].dpa, r[i].len, r[i].dpa);
	return rc;
}

/* An allocation's memory, and whether it lies in the region and no group has it there. */
static bool
dc_is_at_home(const struct dc_plan *p)
{
	for (unsigned int i = 0; i < p->dc->n_extents; i++) {
		const struct dc_extent *e = &p->dc->extent[i];

		if (e->tag == p->tag && dc_is_home(e) &&
			(e->group != WEFT_GFAM_NO_GROUP ||
				!gfam_within(e->dpa, e->len, p->region->base, p->region->len)))
			return false;
	}
	return true;
}

/* Blocks of the region must be able to show this memory. */
static int
dc_check_shared(const struct dc_plan *p, const struct weft_gfam *t)
{
	const uint64_t mask = weft_mask64(p->dmp->block_log2);
	uint8_t flags = p->dmp->flags;

	for (unsigned int i = 0; i < p->dc->n_extents; i++) {
		const struct dc_extent *e = &p->dc->extent[i];

		if (e->tag != p->tag || !dc_is_home(e))
			continue;
		if (((e->dpa | e->len) & mask) != 0 ||
			(e->dpa + (e->len - 1)) >> p->dmp->block_log2 >= GFAM_AT_HOME)
			return -EINVAL;
		flags |= t->dmp[gfam_dmp_of(t, e->dpa)].flags;
	}
	return (flags & WEFT_GFAM_COHERENT) != 0 ? -ENOTSUP : 0;
}

/* Show the memory at new addresses. */
static int
dc_plan_shared(struct dc_plan *p, const struct weft_gfam *t)
{
	uint64_t at = 0;
	int rc = dc_check_shared(p, t);

	for (unsigned int i = 0; i < p->dc->n_extents && rc == 0; i++) {
		const struct dc_extent *e = &p->dc->extent[i];

		if (e->tag == p->tag && dc_is_home(e))
			rc = dc_plan_free(p, &at, e->len, &e->home);
	}
	return rc;
}

/* Memory that no group had, to a group: its extents go to the end of the list as if new. */
static void
dc_take_home(struct dc_plan *p)
{
	struct weft_gfam_dc *dc = p->dc;
	unsigned int at = 0;

	for (unsigned int i = 0; i < dc->n_extents; i++) {
		struct dc_extent e = dc->extent[at];

		if (e.tag != p->tag || !dc_is_home(&e) || e.group != WEFT_GFAM_NO_GROUP) {
			at++;
			continue;
		}
		e.group = p->group;
		memmove(&dc->extent[at], &dc->extent[at + 1], (dc->n_extents - 1 - at) * sizeof(e));
		dc->extent[dc->n_extents - 1] = e;
		p->n++;
	}
	/* They are there already; dc_commit() is to find them beyond the end. */
	dc->n_extents -= p->n;
}

/* The tables as they must be; every reason for a setter to refuse was looked at. */
static void
dc_commit(struct dc_plan *p, struct weft_gfam *t)
{
	struct weft_gfam_dc *dc = p->dc;

	for (unsigned int i = 0; i < p->n; i++) {
		const struct dc_extent *e = &dc->extent[dc->n_extents++];

		(void)weft_gfam_set_blocks(t, e->dpa, e->len, e->group);
		(void)weft_gfam_set_home(t, e->dpa, e->len, e->home);
		dc_put_extent(dc, e, &dc->touched[dc->n_touched++]);
	}
	dc->generation[p->group]++;
}

static int
dc_add_shared(struct dc_plan *p, struct weft_gfam *t)
{
	int rc;

	if (p->tag == DC_NO_TAG || !p->dc->tag[p->tag].is_sharable ||
		(p->dmp->flags & WEFT_GFAM_SHARABLE) == 0 || dc_has_tag(p->dc, p->tag, p->group))
		return -EINVAL;
	p->has_seq = true;
	if (dc_is_at_home(p)) {
		dc_take_home(p);
	} else {
		rc = dc_plan_shared(p, t);
		if (rc != 0)
			return rc;
	}
	dc_commit(p, t);
	return 0;
}

static int
dc_plan_new(struct dc_plan *p, const struct weft_gfam_add *a)
{
	uint64_t at = 0;

	switch (a->policy) {
	case WEFT_GFAM_FREE: return dc_plan_free(p, &at, a->len, NULL);
	case WEFT_GFAM_CONTIGUOUS: return dc_plan_contiguous(p, a->len);
	default: return dc_plan_prescribed(p, a->range, a->n, a->len);
	}
}

static int
dc_add_new(struct dc_plan *p, struct weft_gfam *t, const struct weft_gfam_add *a)
{
	struct weft_gfam_dc *dc = p->dc;
	const bool has_tag = memcmp(a->tag, dc_no_tag, sizeof(dc_no_tag)) != 0;
	const bool is_sharable = (p->dmp->flags & WEFT_GFAM_SHARABLE) != 0;
	int rc;

	if (p->tag != DC_NO_TAG)
		return -EINVAL;
	if (a->policy != WEFT_GFAM_PRESCRIPTIVE && a->len == 0)
		return -EINVAL;
	p->tag = has_tag ? (uint16_t)dc->n_tags : DC_NO_TAG;
	p->has_seq = is_sharable;
	rc = dc_plan_new(p, a);
	if (rc == 0 && has_tag && dc->n_tags == dc->cfg.tags)
		rc = -ENOSPC;
	if (rc != 0)
		return rc;
	if (has_tag) {
		dc->tag[dc->n_tags] = (struct dc_tag){ .is_sharable = is_sharable };
		memcpy(dc->tag[dc->n_tags++].name, a->tag, sizeof(a->tag));
		dc->tag_generation++;
	}
	dc_commit(p, t);
	return 0;
}

int
weft_gfam_dc_add(struct weft_gfam_dc *dc, struct weft_gfam *t, const struct weft_gfam_add *a,
	struct weft_gfam_dc_done *done)
{
	struct dc_plan p = { .dc = dc, .group = (uint8_t)a->group };
	int rc;

	if (a->group >= t->cfg.groups || a->policy > WEFT_GFAM_SHARED ||
		a->region >= WEFT_GFAM_REGIONS || t->region[a->region].decode_len == 0)
		return -EINVAL;
	dc_begin(dc);
	p.region = &t->region[a->region];
	p.dmp = &t->dmp[gfam_dmp_of(t, p.region->base)];
	if ((a->len & weft_mask64(p.dmp->block_log2)) != 0)
		return -EINVAL;
	p.tag = dc_find_tag(dc, a->tag);
	rc = a->policy == WEFT_GFAM_SHARED ? dc_add_shared(&p, t) : dc_add_new(&p, t, a);
	if (rc == 0)
		dc_report(dc, done);
	return rc;
}
