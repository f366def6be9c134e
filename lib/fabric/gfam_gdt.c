/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * GDT: setting a requester's decoders, and the way back from a device address to a host address
 * (fabric.md section 1.6).
 */

#include "gfam_priv.h"

#include <errno.h>

#define INTLV_MAX 8
#define GRAN_MAX 6

/* Last address of the set; its length may be 2^64. */
static uint64_t
gdt_hpa_last(const struct weft_gfam_decoder *d)
{
	return d->hpa_base + ((d->dpa_len << d->intlv) - 1);
}

/* Rules that need no other decoder. */
static int
gdt_check_decoder(const struct weft_gfam *t, const struct weft_gfam_decoder *d)
{
	const unsigned int i = gfam_dmp_of(t, d->dpa_base);
	uint64_t block;

	if (d->intlv > INTLV_MAX || d->gran > GRAN_MAX || d->way >> d->intlv != 0)
		return -EINVAL;
	if (i == t->cfg.dmps || d->dpa_len == 0 ||
		!gfam_within(d->dpa_base, d->dpa_len, t->dmp[i].base, t->dmp[i].len))
		return -EINVAL;
	block = WEFT_BIT64(t->dmp[i].block_log2);
	if (((d->hpa_base | d->dpa_base | d->dpa_len) & (block - 1)) != 0)
		return -EINVAL;
	/* FAST takes the way from the address, the GDT cuts it out of a distance. */
	if ((d->hpa_base & weft_mask64(8u + d->gran + d->intlv)) != 0)
		return -EINVAL;
	/* The set may end with the last address, but not beyond. */
	if (d->dpa_len - 1 > UINT64_MAX >> d->intlv || gdt_hpa_last(d) < d->hpa_base)
		return -EINVAL;
	return d->coherent && (t->dmp[i].flags & WEFT_GFAM_COHERENT) == 0 ? -ENOTSUP : 0;
}

static bool
gdt_decoders_clash(const struct weft_gfam *t, const struct weft_gfam_decoder *a,
	const struct weft_gfam_decoder *b)
{
	if (!a->valid || !b->valid)
		return false;
	if (gfam_overlap(a->dpa_base, a->dpa_len, b->dpa_base, b->dpa_len))
		return true;
	return (t->cfg.knobs & WEFT_GFAM_HPA_OVERLAP) == 0 && a->hpa_base <= gdt_hpa_last(b) &&
	       b->hpa_base <= gdt_hpa_last(a);
}

/* The new ones by themselves, then each with all the others. */
static int
gdt_check_decoders(const struct weft_gfam *t,
	const struct weft_gfam_decoder all[WEFT_GFAM_DECODERS], unsigned int start, unsigned int n)
{
	for (unsigned int i = start; i < start + n; i++) {
		int rc = all[i].valid ? gdt_check_decoder(t, &all[i]) : 0;

		if (rc != 0)
			return rc;
	}
	for (unsigned int i = start; i < start + n; i++) {
		for (unsigned int k = 0; k < WEFT_GFAM_DECODERS; k++) {
			if (k != i && gdt_decoders_clash(t, &all[i], &all[k]))
				return -EINVAL;
		}
	}
	return 0;
}

static struct gfam_decoder
gdt_derive_decoder(const struct weft_gfam *t, const struct weft_gfam_decoder *d)
{
	struct gfam_decoder out = { 0 };

	if (!d->valid)
		return out;
	out.hpa_base = d->hpa_base;
	out.dpa_base = d->dpa_base;
	out.dpa_len = d->dpa_len;
	out.low = (uint8_t)(8 + d->gran);
	out.high = (uint8_t)(out.low + d->intlv);
	out.way = d->way;
	out.coherent = d->coherent;
	if ((t->cfg.knobs & WEFT_GFAM_ANY_WAY) == 0) {
		out.check_mask = (uint8_t)weft_mask64(d->intlv);
		out.check_way = d->way;
	}
	return out;
}

void
weft_gfam_get_gdt(
	const struct weft_gfam *t, uint16_t rpid, unsigned int i, struct weft_gfam_decoder *d)
{
	const struct gfam_decoder *from;

	memset(d, 0, sizeof(*d));
	if (rpid >= GFAM_PID_NONE || i >= WEFT_GFAM_DECODERS || t->rpid[rpid].row == GFAM_NO_ROW)
		return;
	from = &gfam_row(t, t->rpid[rpid].row)[i];
	if (from->dpa_len == 0)
		return;
	d->hpa_base = from->hpa_base;
	d->dpa_base = from->dpa_base;
	d->dpa_len = from->dpa_len;
	d->valid = true;
	d->coherent = from->coherent != 0;
	d->intlv = (uint8_t)(from->high - from->low);
	d->gran = (uint8_t)(from->low - 8);
	d->way = from->way;
}

/* Give @p r a row or take it back, as it now has @p used decoders. */
static int
gdt_hold_row(struct weft_gfam *t, struct gfam_rpid *r, unsigned int used)
{
	uint16_t *free_row = (uint16_t *)((uint8_t *)t + t->free_off);

	if (used != 0 && r->row == GFAM_NO_ROW) {
		if (t->n_free == 0)
			return -ENOSPC;
		r->row = free_row[--t->n_free];
	}
	if (used == 0 && r->row != GFAM_NO_ROW) {
		free_row[t->n_free++] = r->row;
		r->row = GFAM_NO_ROW;
	}
	r->used = (uint8_t)used;
	return 0;
}

int
weft_gfam_set_gdt(struct weft_gfam *t, uint16_t caller, uint16_t rpid, unsigned int start,
	const struct weft_gfam_decoder *d, unsigned int n)
{
	struct weft_gfam_decoder all[WEFT_GFAM_DECODERS];
	struct gfam_decoder *row;
	unsigned int used = 0;
	int rc;

	if (rpid >= GFAM_PID_NONE || caller > WEFT_GFAM_SELF || n == 0)
		return -EINVAL;
	if (caller != WEFT_GFAM_SELF && caller != rpid && caller != t->rpid[rpid].owner)
		return -EPERM;
	if (start >= WEFT_GFAM_DECODERS || n > WEFT_GFAM_DECODERS - start)
		return -ENOSPC;
	for (unsigned int i = 0; i < WEFT_GFAM_DECODERS; i++) {
		weft_gfam_get_gdt(t, rpid, i, &all[i]);
		if (i >= start && i < start + n)
			all[i] = d[i - start];
		if (all[i].valid)
			used = i + 1;
	}
	rc = gdt_check_decoders(t, all, start, n);
	if (rc == 0)
		rc = gdt_hold_row(t, &t->rpid[rpid], used);
	if (rc != 0 || used == 0)
		return rc;
	row = (struct gfam_decoder *)((uint8_t *)t + t->row_off) +
	      (size_t)t->rpid[rpid].row * WEFT_GFAM_DECODERS;
	for (unsigned int i = 0; i < WEFT_GFAM_DECODERS; i++)
		row[i] = gdt_derive_decoder(t, &all[i]);
	return 0;
}

int
weft_gfam_set_owner(struct weft_gfam *t, uint16_t rpid, uint16_t owner)
{
	if (rpid >= GFAM_PID_NONE || owner >= GFAM_PID_NONE)
		return -EINVAL;
	t->rpid[rpid].owner = owner;
	return 0;
}

uint16_t
weft_gfam_owner(const struct weft_gfam *t, uint16_t rpid)
{
	return rpid >= GFAM_PID_NONE ? WEFT_GFAM_SELF : t->rpid[rpid].owner;
}

int
weft_gfam_reverse(const struct weft_gfam *t, uint16_t rpid, uint64_t dpa, uint64_t *hpa)
{
	unsigned int hits = 0;
	const struct gfam_rpid *r;
	const struct gfam_decoder *d;

	if (t == NULL || rpid >= GFAM_PID_NONE || t->rpid[rpid].row == GFAM_NO_ROW)
		return -ENOENT;
	r = &t->rpid[rpid];
	d = gfam_row(t, r->row);
	for (unsigned int i = 0; i < r->used; i++, d++) {
		const uint64_t o = dpa - d->dpa_base;

		if (o >= d->dpa_len)
			continue;
		hits++;
		*hpa = d->hpa_base + (o >> d->low << d->high | (uint64_t)d->way << d->low |
					     (o & weft_mask64(d->low)));
	}
	return hits == 1 ? 0 : -ENOENT;
}
