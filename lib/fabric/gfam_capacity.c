/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the fabric manager sets: DMPs, DC regions, the group of each block, the groups of each
 * requester (fabric.md section 1.7).
 */

#include "gfam_priv.h"

#include <errno.h>

#define SAT32_GROUPS 31
#define SAT32_NOTIFY (UINT32_C(1) << SAT32_GROUPS)

static uint8_t *
gfam_mgt_at(struct weft_gfam *t, const struct gfam_dmp *d, uint64_t dpa)
{
	return (uint8_t *)t + t->mgt_off + d->mgt + ((dpa - d->base) >> d->block_log2);
}

/* True if a block of this range, which lies in @p d, is in a group. */
static bool
gfam_any_grouped(const struct weft_gfam *t, const struct gfam_dmp *d, uint64_t base, uint64_t len)
{
	const uint64_t n = len >> d->block_log2;
	const uint8_t *mgt = gfam_mgt(t) + d->mgt + ((base - d->base) >> d->block_log2);

	for (uint64_t i = 0; i < n; i++) {
		if (mgt[i] != WEFT_GFAM_NO_GROUP)
			return true;
	}
	return false;
}

/* True if regions stand in @p d. */
static bool
gfam_any_region(const struct weft_gfam *t, const struct gfam_dmp *d)
{
	for (unsigned int i = 0; i < WEFT_GFAM_REGIONS; i++) {
		if (gfam_overlap(t->region[i].base, t->region[i].decode_len, d->base, d->len))
			return true;
	}
	return false;
}

/* All blocks of @p d have their own memory. */
static void
gfam_all_home(struct weft_gfam *t, struct gfam_dmp *d)
{
	if (d->n_away != 0)
		memset((uint32_t *)((uint8_t *)t + t->home_off) + d->mgt, 0xFF,
			t->cfg.blocks * sizeof(uint32_t));
	d->n_away = 0;
}

static bool
gfam_dmp_range_is_good(const struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t len)
{
	if (((base | len) & (GFAM_STEP - 1)) != 0 || len - 1 > UINT64_MAX - base)
		return false;
	for (unsigned int k = 0; k < t->cfg.dmps; k++) {
		if (k != i && gfam_overlap(base, len, t->dmp[k].base, t->dmp[k].len))
			return false;
	}
	return true;
}

int
weft_gfam_set_dmp(struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t len, uint64_t block)
{
	struct gfam_dmp *d;

	if (i >= t->cfg.dmps)
		return -EINVAL;
	d = &t->dmp[i];
	if (len != 0) {
		if (block == 0 || (block & (block - 1)) != 0 ||
			(block & t->cfg.media[i].block_sizes) == 0)
			return -EINVAL;
		/* A block larger than the steps that DMPs come in may not fit in whole. */
		if (!gfam_dmp_range_is_good(t, i, base, len) || len % block != 0 ||
			base % block != 0)
			return -EINVAL;
		if (len / block > t->cfg.blocks)
			return -ENOSPC;
	}
	if (gfam_any_grouped(t, d, d->base, d->len) || gfam_any_region(t, d))
		return -EBUSY;
	d->base = len != 0 ? base : 0;
	d->len = len;
	d->block_log2 = len != 0 ? (uint8_t)__builtin_ctzll(block) : 0;
	gfam_all_home(t, d);
	return 0;
}

static int
gfam_check_region(
	const struct weft_gfam *t, unsigned int i, const struct gfam_region *r, uint64_t block)
{
	const unsigned int k = gfam_dmp_of(t, r->base);
	const struct gfam_dmp *d = &t->dmp[k % WEFT_GFAM_DMPS];

	if (k == t->cfg.dmps || (d->flags & WEFT_GFAM_DC) == 0 ||
		!gfam_within(r->base, r->decode_len, d->base, d->len))
		return -EINVAL;
	if (block != WEFT_BIT64(d->block_log2) || ((r->base | r->len) & (block - 1)) != 0)
		return -EINVAL;
	if ((r->decode_len & (GFAM_STEP - 1)) != 0 || r->len == 0 || r->len > r->decode_len)
		return -EINVAL;
	for (unsigned int o = 0; o < WEFT_GFAM_REGIONS; o++) {
		if (o != i && gfam_overlap(r->base, r->decode_len, t->region[o].base,
				      t->region[o].decode_len))
			return -EINVAL;
	}
	return 0;
}

int
weft_gfam_set_region(struct weft_gfam *t, unsigned int i, uint64_t base, uint64_t decode_len,
	uint64_t len, uint64_t block)
{
	struct gfam_region r = { base, decode_len, len };
	const struct gfam_region *old;
	int rc;

	if (i >= WEFT_GFAM_REGIONS)
		return -EINVAL;
	old = &t->region[i];
	if (decode_len == 0)
		memset(&r, 0, sizeof(r));
	else if ((rc = gfam_check_region(t, i, &r, block)) != 0)
		return rc;
	if (old->len != 0 &&
		gfam_any_grouped(t, &t->dmp[gfam_dmp_of(t, old->base)], old->base, old->len))
		return -EBUSY;
	t->region[i] = r;
	return 0;
}

static void
gfam_put_dmp(const struct gfam_dmp *d, struct weft_gfam_region *r)
{
	*r = (struct weft_gfam_region){ .base = d->base,
		.decode_len = d->len,
		.len = d->len,
		.block = d->len != 0 ? WEFT_BIT64(d->block_log2) : 0,
		.flags = d->flags };
}

int
weft_gfam_get_dmp(const struct weft_gfam *t, unsigned int i, struct weft_gfam_region *r)
{
	if (i >= t->cfg.dmps)
		return -EINVAL;
	gfam_put_dmp(&t->dmp[i], r);
	return 0;
}

int
weft_gfam_get_region(const struct weft_gfam *t, unsigned int i, struct weft_gfam_region *r)
{
	if (i >= WEFT_GFAM_REGIONS)
		return -EINVAL;
	memset(r, 0, sizeof(*r));
	if (t->region[i].decode_len == 0)
		return 0;
	gfam_put_dmp(&t->dmp[gfam_dmp_of(t, t->region[i].base)], r);
	r->base = t->region[i].base;
	r->decode_len = t->region[i].decode_len;
	r->len = t->region[i].len;
	return 0;
}

static bool
gfam_in_one_region(const struct weft_gfam *t, uint64_t dpa, uint64_t len)
{
	for (unsigned int i = 0; i < WEFT_GFAM_REGIONS; i++) {
		if (gfam_within(dpa, len, t->region[i].base, t->region[i].len))
			return true;
	}
	return false;
}

int
weft_gfam_set_blocks(struct weft_gfam *t, uint64_t dpa, uint64_t len, uint8_t group)
{
	const unsigned int i = gfam_dmp_of(t, dpa);
	const struct gfam_dmp *d;

	if (i == t->cfg.dmps || len == 0 || (group >= t->cfg.groups && group != WEFT_GFAM_NO_GROUP))
		return -EINVAL;
	d = &t->dmp[i];
	if (((dpa | len) & weft_mask64(d->block_log2)) != 0 ||
		!gfam_within(dpa, len, d->base, d->len))
		return -EINVAL;
	if ((d->flags & WEFT_GFAM_DC) != 0 && !gfam_in_one_region(t, dpa, len))
		return -EINVAL;
	memset(gfam_mgt_at(t, d, dpa), group, (size_t)(len >> d->block_log2));
	return 0;
}

int
weft_gfam_set_home(struct weft_gfam *t, uint64_t dpa, uint64_t len, uint64_t home)
{
	const unsigned int i = gfam_dmp_of(t, dpa), k = gfam_dmp_of(t, home);
	struct gfam_dmp *d;
	uint32_t *at;

	if (i == t->cfg.dmps || k == t->cfg.dmps || len == 0)
		return -EINVAL;
	d = &t->dmp[i];
	if (((dpa | len | home) & weft_mask64(d->block_log2)) != 0 ||
		!gfam_within(dpa, len, d->base, d->len) ||
		!gfam_within(home, len, t->dmp[k].base, t->dmp[k].len) ||
		(home + (len - 1)) >> d->block_log2 >= GFAM_AT_HOME)
		return -EINVAL;
	if (dpa != home && ((d->flags & t->dmp[k].flags & WEFT_GFAM_SHARABLE) == 0 ||
				   ((d->flags | t->dmp[k].flags) & WEFT_GFAM_COHERENT) != 0))
		return -ENOTSUP;
	if (t->home_off == 0)
		return 0;
	at = (uint32_t *)((uint8_t *)t + t->home_off) + d->mgt + ((dpa - d->base) >> d->block_log2);
	for (uint64_t b = 0; b < len >> d->block_log2; b++) {
		d->n_away -= at[b] != GFAM_AT_HOME;
		at[b] = dpa == home ? GFAM_AT_HOME : (uint32_t)((home >> d->block_log2) + b);
		d->n_away += at[b] != GFAM_AT_HOME;
	}
	return 0;
}

uint8_t
weft_gfam_group(const struct weft_gfam *t, uint64_t dpa)
{
	const unsigned int i = gfam_dmp_of(t, dpa);

	return i == t->cfg.dmps ? WEFT_GFAM_NO_GROUP : gfam_group_at(t, &t->dmp[i], dpa);
}

int
weft_gfam_set_sat(struct weft_gfam *t, uint16_t rpid, uint64_t vec)
{
	if (rpid >= GFAM_PID_NONE || (vec & ~weft_mask64(t->cfg.groups)) != 0)
		return -EINVAL;
	t->rpid[rpid].groups = vec;
	return 0;
}

int
weft_gfam_set_sat32(struct weft_gfam *t, uint16_t rpid, uint32_t vec, bool *notify)
{
	*notify = (vec & SAT32_NOTIFY) != 0;
	return weft_gfam_set_sat(t, rpid, vec & ~SAT32_NOTIFY);
}

uint64_t
weft_gfam_sat(const struct weft_gfam *t, uint16_t rpid)
{
	return rpid < WEFT_GFAM_RPIDS ? t->rpid[rpid].groups : 0;
}
