/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Attributes of a key: every rule of signature.md sections 2.4 to 2.6 and 6.2, and the copy mask
 * that follows from two domains (section 2.3).
 */

#include "sig_priv.h"

#include <errno.h>

static const uint32_t block_sizes[] = { 512, 520, 4048, 4096, 4160, 0 };

const uint32_t *
weft_sig_block_sizes(void)
{
	return block_sizes;
}

static bool
attr_is_block_size(uint32_t size)
{
	for (const uint32_t *p = block_sizes; *p != 0; p++)
		if (*p == size)
			return true;
	return false;
}

static int
attr_resolve_crc(struct weft_sig_spec *s, const struct weft_sig_crc *crc)
{
	static const struct {
		uint8_t kind, len;
	} types[] = {
		[WEFT_SIG_CRC32] = { WEFT_SIG_SUM_CRC32, 4 },
		[WEFT_SIG_CRC32C] = { WEFT_SIG_SUM_CRC32C, 4 },
		[WEFT_SIG_CRC64_XP10] = { WEFT_SIG_SUM_CRC64, 8 },
	};

	if (crc == NULL || (unsigned int)crc->type >= WEFT_ARRAY_SIZE(types))
		return -EINVAL;
	s->kind = types[crc->type].kind;
	s->sig_len = types[crc->type].len;
	if (crc->seed != 0 && crc->seed != weft_mask64(8u * s->sig_len))
		return -EINVAL;
	s->begin = weft_sig_sum_begin((enum weft_sig_sum_kind)s->kind, crc->seed);
	return 0;
}

static int
attr_resolve_dif(struct weft_sig_spec *s, const struct weft_sig_t10dif *dif)
{
	const unsigned int known =
		WEFT_SIG_REF_REMAP | WEFT_SIG_APP_ESCAPE | WEFT_SIG_APP_REF_ESCAPE;

	if (dif == NULL || (unsigned int)dif->bg_type > WEFT_SIG_BG_CSUM)
		return -EINVAL;
	if ((dif->bg != 0 && dif->bg != UINT16_MAX) || (dif->flags & ~known) != 0)
		return -EINVAL;
	s->kind = dif->bg_type == WEFT_SIG_BG_CRC ? WEFT_SIG_SUM_T10DIF : WEFT_SIG_SUM_CSUM;
	s->sig_len = 8;
	s->is_dif = true;
	s->flags = dif->flags;
	s->app_tag = dif->app_tag;
	s->ref_tag = dif->ref_tag;
	s->begin = weft_sig_sum_begin((enum weft_sig_sum_kind)s->kind, dif->bg);
	return 0;
}

/* NULL leaves @p s without a signature. */
static int
attr_resolve_domain(struct weft_sig_spec *s, const struct weft_sig_domain *d)
{
	*s = (struct weft_sig_spec){ 0 };
	if (d == NULL)
		return 0;
	if (d->comp_mask != 0 || !attr_is_block_size(d->block_size))
		return -EINVAL;
	s->block = d->block_size;
	switch (d->sig_type) {
	case WEFT_SIG_CRC: return attr_resolve_crc(s, d->sig.crc);
	case WEFT_SIG_T10DIF: return attr_resolve_dif(s, d->sig.dif);
	default: return -EINVAL;
	}
}

/* The kind of guard is no part of the structure: it only decides whether the guard is copied. */
static bool
attr_same_structure(const struct weft_sig_spec *a, const struct weft_sig_spec *b)
{
	if (a->sig_len == 0 || b->sig_len == 0 || a->block != b->block || a->is_dif != b->is_dif)
		return false;
	return a->is_dif || a->kind == b->kind;
}

static uint8_t
attr_copy_mask_auto(const struct weft_sig_spec *a, const struct weft_sig_spec *b)
{
	const bool same_guard = a->kind == b->kind && a->begin == b->begin;
	unsigned int mask = 0;

	if (!attr_same_structure(a, b))
		return 0;
	if (!a->is_dif)
		return same_guard ? UINT8_MAX : 0;
	if (same_guard)
		mask |= WEFT_SIG_MASK_GUARD;
	if (a->app_tag == b->app_tag)
		mask |= WEFT_SIG_MASK_APPTAG;
	if (a->ref_tag == b->ref_tag && ((a->flags ^ b->flags) & WEFT_SIG_REF_REMAP) == 0)
		mask |= WEFT_SIG_MASK_REFTAG;
	return (uint8_t)mask;
}

int
sig_attr_resolve(struct weft_sig_config *c, const struct weft_sig_attr *attr)
{
	struct weft_sig_spec mem, wire;

	if (attr == NULL || (attr->mem == NULL && attr->wire == NULL))
		return -EINVAL;
	if (attr->comp_mask != 0 || (attr->flags & ~WEFT_SIG_COPY_MASK) != 0)
		return -EINVAL;
	if (attr_resolve_domain(&mem, attr->mem) != 0 ||
		attr_resolve_domain(&wire, attr->wire) != 0)
		return -EINVAL;
	if ((attr->flags & WEFT_SIG_COPY_MASK) != 0 && !attr_same_structure(&mem, &wire))
		return -EINVAL;
	c->spec[WEFT_SIG_MEM] = mem;
	c->spec[WEFT_SIG_WIRE] = wire;
	c->check_mask = attr->check_mask;
	c->copy_mask = (attr->flags & WEFT_SIG_COPY_MASK) != 0 ? attr->copy_mask
	                                                       : attr_copy_mask_auto(&mem, &wire);
	return 0;
}
