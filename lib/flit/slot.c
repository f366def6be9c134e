/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Header slots to messages and back, by the tables. A slot is handled as 128 bits; the H-slot is
 * the same with its last 16 bits missing, which read as 0 (wire-formats.md section 4.1).
 */

#include <errno.h>

#include "slots.h"

struct slot_bits {
	uint64_t lo;
	uint64_t hi;
};

#define SLOT_FMT_BITS 4

static uint64_t
slot_bits_get(const struct slot_bits *b, unsigned int lsb, unsigned int width)
{
	uint64_t v;

	if (lsb >= 64)
		v = b->hi >> (lsb - 64);
	else if (lsb == 0)
		v = b->lo;
	else
		v = b->lo >> lsb | b->hi << (64 - lsb);
	return v & weft_mask64(width);
}

static void
slot_bits_put(struct slot_bits *b, unsigned int lsb, uint64_t v)
{
	if (lsb >= 64) {
		b->hi |= v << (lsb - 64);
		return;
	}
	b->lo |= v << lsb;
	if (lsb != 0)
		b->hi |= v >> (64 - lsb);
}

static uint64_t
slot_field_load(const struct weft_msg *m, const struct msg_field *f)
{
	const uint8_t *p = (const uint8_t *)m + f->off;
	uint16_t v16;
	uint64_t v64;

	switch (f->size) {
	case 1: return *p;
	case 2: memcpy(&v16, p, sizeof(v16)); return v16;
	default: memcpy(&v64, p, sizeof(v64)); return v64;
	}
}

static void
slot_field_store(struct weft_msg *m, const struct msg_field *f, uint64_t v)
{
	uint8_t *p = (uint8_t *)m + f->off;
	uint16_t v16 = (uint16_t)v;

	switch (f->size) {
	case 1: *p = (uint8_t)v; break;
	case 2: memcpy(p, &v16, sizeof(v16)); break;
	default: memcpy(p, &v, sizeof(v)); break;
	}
}

static int
slot_encode_msg(struct slot_bits *b, unsigned int at, const struct weft_msg *m, enum weft_form form)
{
	slot_bits_put(b, at, 1); /* Val */
	for (const struct msg_field *f = msg_layouts[m->kind][form].field; f->width != 0; f++) {
		uint64_t v = slot_field_load(m, f);

		if ((v & weft_mask64(f->shift)) != 0 || v >> f->shift > weft_mask64(f->width))
			return -EINVAL;
		slot_bits_put(b, at + f->lsb, v >> f->shift);
	}
	return 0;
}

/* False if the message is not valid (Val = 0). */
static bool
slot_decode_msg(const struct slot_bits *b, unsigned int at, unsigned int kind, enum weft_form form,
	struct weft_msg *m)
{
	if (slot_bits_get(b, at, 1) == 0)
		return false;
	memset(m, 0, offsetof(struct weft_msg, data));
	m->kind = (uint8_t)kind;
	for (const struct msg_field *f = msg_layouts[kind][form].field; f->width != 0; f++)
		slot_field_store(m, f, slot_bits_get(b, at + f->lsb, f->width) << f->shift);
	return true;
}

/* SlotFmt whose first messages are of @p kind, or -1. */
static int
slot_format_of(unsigned int kind, enum weft_form form, bool is_h)
{
	for (int fmt = 0; fmt < 16; fmt++) {
		const struct slot_format *s = &slot_formats[form][is_h][fmt];

		if (s->n != 0 && s->kind == kind)
			return fmt;
	}
	return -1;
}

unsigned int
weft_slot_capacity(enum weft_msg_kind kind, enum weft_form form, bool is_h)
{
	int fmt = kind < WEFT_MSG_LLCTRL ? slot_format_of(kind, form, is_h) : -1;

	return fmt < 0 ? 0 : slot_formats[form][is_h][fmt].n;
}

int
weft_slot_encode(
	uint8_t *slot, bool is_h, enum weft_form form, const struct weft_msg *msgs, unsigned int n)
{
	struct slot_bits b = { 0, 0 };
	unsigned int at = SLOT_FMT_BITS;
	int fmt;

	if (n == 0 || msgs[0].kind >= WEFT_MSG_LLCTRL)
		return -EINVAL;
	fmt = slot_format_of(msgs[0].kind, form, is_h);
	if (fmt < 0)
		return -EINVAL;
	if (n > slot_formats[form][is_h][fmt].n)
		return -ENOSPC;
	b.lo = (uint64_t)fmt;
	for (unsigned int i = 0; i < n; i++) {
		int rc;

		if (msgs[i].kind != msgs[0].kind)
			return -EINVAL;
		rc = slot_encode_msg(&b, at, &msgs[i], form);
		if (rc != 0)
			return rc;
		at += msg_layouts[msgs[i].kind][form].bits;
	}
	if (is_h && b.hi >> 48 != 0)
		return -ENOSPC;
	weft_put_le64(slot, b.lo);
	for (unsigned int i = 8; i < (is_h ? WEFT_FLIT_H_LEN : WEFT_FLIT_SLOT_LEN); i++)
		slot[i] = (uint8_t)(b.hi >> (8 * (i - 8)));
	return 0;
}

static struct slot_bits
slot_load(const uint8_t *slot, bool is_h)
{
	struct slot_bits b;

	b.lo = weft_get_le64(slot);
	/* The last 8 bytes of an H-slot, less the 2 that overlap with `lo`. */
	b.hi = is_h ? weft_get_le64(slot + WEFT_FLIT_H_LEN - 8) >> 16 : weft_get_le64(slot + 8);
	return b;
}

enum weft_verdict
weft_slot_decode(
	const uint8_t *slot, bool is_h, enum weft_form form, struct weft_msg *msgs, unsigned int *n)
{
	const struct slot_format *s = &slot_formats[form][is_h][weft_slot_fmt(slot)];
	struct slot_bits b;
	unsigned int at = SLOT_FMT_BITS;

	*n = 0;
	if (s->n == 0)
		return WEFT_DROP_SLOT_FORMAT;
	b = slot_load(slot, is_h);
	for (unsigned int i = 0; i < (unsigned int)s->n + s->n2; i++) {
		unsigned int kind = i < s->n ? s->kind : s->kind2;

		if (slot_decode_msg(&b, at, kind, form, &msgs[*n]))
			(*n)++;
		at += msg_layouts[kind][form].bits;
	}
	return WEFT_OK;
}
