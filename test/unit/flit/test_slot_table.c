/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The functions that slots go through, which are made of slot_layouts.def, against a table of the
 * same that is gone through field by field: every kind, form and slot, every bit of a message's
 * header and of a slot alone, and random ones, good and bad.
 */

#include "weft_test.h"

#include <errno.h>

#include "slots.h"
#include "weft_msg_gen.h"

#define HEADER offsetof(struct weft_msg, data)
#define ROUNDS 200000

/* One field of a message: where it is in the message, and where in struct weft_msg. */
struct msg_field {
	uint8_t off; /* in struct weft_msg */
	uint8_t size; /* bytes there: 1, 2 or 8 */
	uint8_t lsb; /* bit in the message, whose bit 0 is Val */
	uint8_t width; /* bits */
	uint8_t shift; /* low bits not carried: 6 for addresses */
};

#define MSG_FIELDS_MAX 13 /* RwD in PBR form has 12, and the end needs one */

/* A message kind in one form. */
struct msg_layout {
	uint8_t bits; /* length of the message */
	struct msg_field field[MSG_FIELDS_MAX]; /* ends at width 0 */
};

#define FIELD(name, hi, lo)                                                                        \
	{ offsetof(struct weft_msg, name), sizeof(((struct weft_msg *)0)->name),                   \
		(lo)-SLOT_FMT_BITS, (hi) - (lo) + 1, 0 },
#define ADDR(hi, lo)                                                                               \
	{ offsetof(struct weft_msg, addr), sizeof(uint64_t), (lo)-SLOT_FMT_BITS, (hi) - (lo) + 1,  \
		6 },
#define LAYOUT(kind, form, bits, fields) [WEFT_MSG_##kind][WEFT_FORM_##form] = { bits, { fields } },
static const struct msg_layout msg_layouts[WEFT_MSG_LLCTRL][2] = {
#include "slot_layouts.def"
};
#undef FIELD
#undef ADDR
#undef LAYOUT

static uint64_t
table_bits_get(const struct slot_bits *b, unsigned int lsb, unsigned int width)
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
table_bits_put(struct slot_bits *b, unsigned int lsb, uint64_t v)
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
table_field_load(const struct weft_msg *m, const struct msg_field *f)
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
table_field_store(struct weft_msg *m, const struct msg_field *f, uint64_t v)
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
table_encode_msg(
	struct slot_bits *b, unsigned int at, const struct weft_msg *m, enum weft_form form)
{
	table_bits_put(b, at, 1); /* Val */
	for (const struct msg_field *f = msg_layouts[m->kind][form].field; f->width != 0; f++) {
		uint64_t v = table_field_load(m, f);

		if ((v & weft_mask64(f->shift)) != 0 || v >> f->shift > weft_mask64(f->width))
			return -EINVAL;
		table_bits_put(b, at + f->lsb, v >> f->shift);
	}
	return 0;
}

/* False if the message is not valid (Val = 0). */
static bool
table_decode_msg(const struct slot_bits *b, unsigned int at, unsigned int kind, enum weft_form form,
	struct weft_msg *m)
{
	if (table_bits_get(b, at, 1) == 0)
		return false;
	memset(m, 0, offsetof(struct weft_msg, data));
	m->kind = (uint8_t)kind;
	for (const struct msg_field *f = msg_layouts[kind][form].field; f->width != 0; f++)
		table_field_store(m, f, table_bits_get(b, at + f->lsb, f->width) << f->shift);
	return true;
}

/* SlotFmt whose first messages are of @p kind, or -1. */
static int
table_format_of(unsigned int kind, enum weft_form form, bool is_h)
{
	for (int fmt = 0; fmt < 16; fmt++) {
		const struct slot_format *s = &slot_formats[form][is_h][fmt];

		if (s->n != 0 && s->kind == kind)
			return fmt;
	}
	return -1;
}

static int
table_encode(
	uint8_t *slot, bool is_h, enum weft_form form, const struct weft_msg *msgs, unsigned int n)
{
	struct slot_bits b = { 0, 0 };
	unsigned int at = SLOT_FMT_BITS;
	int fmt;

	if (n == 0 || msgs[0].kind >= WEFT_MSG_LLCTRL)
		return -EINVAL;
	fmt = table_format_of(msgs[0].kind, form, is_h);
	if (fmt < 0)
		return -EINVAL;
	if (n > slot_formats[form][is_h][fmt].n)
		return -ENOSPC;
	b.lo = (uint64_t)fmt;
	for (unsigned int i = 0; i < n; i++) {
		int rc;

		if (msgs[i].kind != msgs[0].kind)
			return -EINVAL;
		rc = table_encode_msg(&b, at, &msgs[i], form);
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

static enum weft_verdict
table_decode(
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

		if (table_decode_msg(&b, at, kind, form, &msgs[*n]))
			(*n)++;
		at += msg_layouts[kind][form].bits;
	}
	return WEFT_OK;
}

static void
same_encoded(const struct weft_msg *m, unsigned int n, enum weft_form form, bool is_h)
{
	uint8_t want[WEFT_FLIT_SLOT_LEN], got[WEFT_FLIT_SLOT_LEN];

	memset(want, 0xEE, sizeof(want));
	memset(got, 0xEE, sizeof(got));
	assert_int_equal(
		weft_slot_encode(got, is_h, form, m, n), table_encode(want, is_h, form, m, n));
	assert_memory_equal(got, want, sizeof(got));
}

/* With all that is behind the messages: a byte that is not to be written is not. */
static void
same_decoded(const uint8_t *slot, enum weft_form form, bool is_h)
{
	struct weft_msg want[WEFT_MSG_PER_SLOT], got[WEFT_MSG_PER_SLOT];
	unsigned int n_want, n_got;

	memset(want, 0xEE, sizeof(want));
	memset(got, 0xEE, sizeof(got));
	assert_int_equal(weft_slot_decode(slot, is_h, form, got, &n_got),
		table_decode(slot, is_h, form, want, &n_want));
	assert_int_equal(n_got, n_want);
	for (unsigned int i = 0; i < n_got; i++)
		assert_memory_equal(&got[i], &want[i], sizeof(got[i]));
}

/* Every bit of a message but Val belongs to one field at most, and widths are those of 4.2. */
WEFT_TEST(fields_do_not_overlap)
{
	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++) {
		for (int form = 0; form < 2; form++) {
			const struct msg_layout *l = &msg_layouts[kind][form];
			unsigned int widths = 0, want = 0;
			uint8_t used[128] = { 1 };

			for (const struct msg_field *f = l->field; f->width != 0; f++) {
				widths += f->width;
				assert_in_range(f->lsb + f->width, 2, l->bits);
				for (unsigned int b = f->lsb; b < f->lsb + f->width; b++)
					assert_int_equal(used[b]++, 0);
			}
			for (unsigned int i = 0; i < WEFT_GEN_FIELDS; i++)
				want += weft_gen_fields[kind][i].width[form];
			assert_int_equal(widths, want);
		}
	}
}

/* Every kind in every form and slot, with each bit of its header set alone. */
WEFT_TEST(each_bit_of_a_message_goes_where_the_table_says)
{
	for (unsigned int kind = 0; kind < WEFT_MSG_LLCTRL; kind++)
		for (unsigned int bit = 8; bit < 8 * HEADER; bit++)
			for (unsigned int where = 0; where < 4; where++) {
				struct weft_msg m = { .kind = (uint8_t)kind };

				((uint8_t *)&m)[bit / 8] = (uint8_t)(1u << bit % 8);
				same_encoded(&m, 1, (enum weft_form)(where / 2), where % 2 != 0);
			}
}

/* Each bit of a slot alone, beside Val of every message that may be there. */
WEFT_TEST(each_bit_of_a_slot_is_read_as_the_table_says)
{
	for (unsigned int fmt = 0; fmt < 16; fmt++)
		for (unsigned int bit = SLOT_FMT_BITS; bit < 128; bit++)
			for (unsigned int where = 0; where < 4; where++) {
				const enum weft_form form = (enum weft_form)(where / 2);
				const struct slot_format *s = &slot_formats[form][where % 2][fmt];
				uint8_t slot[WEFT_FLIT_SLOT_LEN] = { (uint8_t)fmt };
				unsigned int at = SLOT_FMT_BITS;

				for (int i = 0; i < s->n + s->n2; i++) {
					slot[at / 8] |= (uint8_t)(1u << at % 8);
					at += msg_layouts[i < s->n ? s->kind : s->kind2][form].bits;
				}
				slot[bit / 8] ^= (uint8_t)(1u << bit % 8);
				same_decoded(slot, form, where % 2 != 0);
			}
}

/* Good ones, and about as many with a value that is none, or of another kind. */
WEFT_TEST(random_messages_are_encoded_as_by_the_table)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		const enum weft_form form = weft_rand_below(&r, 2) ? WEFT_FORM_PBR : WEFT_FORM_HBR;
		const unsigned int n = (unsigned int)weft_rand_below(&r, WEFT_MSG_PER_SLOT + 2);
		const unsigned int kind = (unsigned int)weft_rand_below(&r, WEFT_MSG_LLCTRL);
		struct weft_msg m[WEFT_MSG_PER_SLOT + 1];

		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(m); i++)
			m[i] = weft_gen_header(&r, kind, form);
		if (weft_rand_below(&r, 2) != 0 && n != 0)
			((uint8_t *)&m[weft_rand_below(&r, n)])[weft_rand_below(&r, HEADER)] ^=
				(uint8_t)(1u << weft_rand_below(&r, 8));
		same_encoded(m, n, form, weft_rand_below(&r, 2) != 0);
	}
}

WEFT_TEST(random_slots_are_decoded_as_by_the_table)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint8_t slot[WEFT_FLIT_SLOT_LEN];

		weft_put_le64(slot, weft_rand_u64(&r));
		weft_put_le64(slot + 8, weft_rand_u64(&r));
		for (unsigned int where = 0; where < 4; where++)
			same_decoded(slot, (enum weft_form)(where / 2), where % 2 != 0);
	}
}
