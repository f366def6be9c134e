/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Header slots to messages and back: a function for each kind and form, made of slot_layouts.def. A
 * slot is handled as 128 bits; the H-slot is the same with its last 16 bits missing, which read as
 * 0 (wire-formats.md section 4.1). Hot.
 */

#include <errno.h>

#include "slots.h"

/* @p over: not 0 if any value so far is wider than its field. All but @p v are constants. */
static inline __attribute__((always_inline)) void
slot_put(struct slot_bits *b, uint64_t *over, unsigned int lsb, unsigned int width, uint64_t v)
{
	*over |= v >> width;
	if (lsb >= 64) {
		b->hi |= v << (lsb - 64);
		return;
	}
	b->lo |= v << lsb;
	if (lsb + width > 64)
		b->hi |= v >> (64 - lsb);
}

static inline __attribute__((always_inline)) uint64_t
slot_get(const struct slot_bits *b, unsigned int lsb, unsigned int width)
{
	uint64_t v = lsb >= 64 ? b->hi >> (lsb - 64) : b->lo >> lsb;

	if (lsb < 64 && lsb + width > 64)
		v |= b->hi << (64 - lsb);
	return v & weft_mask64(width);
}

#define FIELD(name, hi, lo) slot_put(&b, &over, (lo)-SLOT_FMT_BITS, (hi) - (lo) + 1, m->name);
#define ADDR(hi, lo)                                                                               \
	slot_put(&b, &over, (lo)-SLOT_FMT_BITS, (hi) - (lo) + 1, m->addr >> SLOT_ADDR_SHIFT);      \
	over |= m->addr & weft_mask64(SLOT_ADDR_SHIFT);
#define LAYOUT(kind, form, n_bits, fields)                                                         \
	static struct slot_bits slot_encode_##kind##_##form(const struct weft_msg *m)              \
	{                                                                                          \
		struct slot_bits b = { 0, 0 };                                                     \
		uint64_t over = 0;                                                                 \
                                                                                                   \
		fields b.lo |= over == 0; /* Val */                                                \
		return b;                                                                          \
	}
#include "slot_layouts.def"
#undef FIELD
#undef ADDR
#undef LAYOUT

#define FIELD(name, hi, lo)                                                                        \
	m->name = (__typeof__(m->name))slot_get(&b, (lo)-SLOT_FMT_BITS, (hi) - (lo) + 1);
#define ADDR(hi, lo) m->addr = slot_get(&b, (lo)-SLOT_FMT_BITS, (hi) - (lo) + 1) << SLOT_ADDR_SHIFT;
#define LAYOUT(name, form, n_bits, fields)                                                         \
	static void slot_decode_##name##_##form(struct weft_msg *m, struct slot_bits b)            \
	{                                                                                          \
		memset(m, 0, offsetof(struct weft_msg, data));                                     \
		m->kind = WEFT_MSG_##name;                                                         \
		fields                                                                             \
	}
#include "slot_layouts.def"
#undef FIELD
#undef ADDR
#undef LAYOUT

#define LAYOUT(kind, form, n_bits, fields)                                                         \
	[WEFT_MSG_##kind][WEFT_FORM_##form] = { slot_encode_##kind##_##form,                       \
		slot_decode_##kind##_##form, n_bits },
const struct slot_codec slot_codecs[WEFT_MSG_LLCTRL][2] = {
#include "slot_layouts.def"
};
#undef LAYOUT

/* SlotFmt whose first messages are of a kind, in any form and slot. */
const uint8_t slot_fmts[WEFT_MSG_LLCTRL] = {
	[WEFT_MSG_M2S_REQ] = 0x4,
	[WEFT_MSG_M2S_RWD] = 0xE,
	[WEFT_MSG_M2S_BIRSP] = 0x5,
	[WEFT_MSG_S2M_BISNP] = 0x6,
	[WEFT_MSG_S2M_NDR] = 0x7,
	[WEFT_MSG_S2M_DRS] = 0xF,
	[WEFT_MSG_D2H_REQ] = 0x2,
	[WEFT_MSG_D2H_RSP] = 0x3,
	[WEFT_MSG_D2H_DH] = 0xD,
	[WEFT_MSG_H2D_REQ] = 0x0,
	[WEFT_MSG_H2D_RSP] = 0x1,
	[WEFT_MSG_H2D_DH] = 0xC,
};

#define ONE(kind)                                                                                  \
	{                                                                                          \
		1, WEFT_MSG_##kind, 0, 0                                                           \
	}
#define SOME(n, kind)                                                                              \
	{                                                                                          \
		n, WEFT_MSG_##kind, 0, 0                                                           \
	}
#define MIXED(kind, n2, kind2)                                                                     \
	{                                                                                          \
		1, WEFT_MSG_##kind, n2, WEFT_MSG_##kind2                                           \
	}

const struct slot_format slot_formats[2][2][16] = {
	[WEFT_FORM_HBR] = {
		{ /* G */
			[0x0] = MIXED(H2D_REQ, 1, H2D_RSP), [0x1] = SOME(3, H2D_RSP),
			[0x2] = MIXED(D2H_REQ, 2, D2H_RSP), [0x3] = SOME(4, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(3, M2S_BIRSP),
			[0x6] = MIXED(S2M_BISNP, 1, S2M_NDR), [0x7] = SOME(3, S2M_NDR),
			[0xC] = SOME(4, H2D_DH), [0xD] = SOME(4, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(3, S2M_DRS),
		},
		{ /* H */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = MIXED(D2H_REQ, 1, D2H_RSP), [0x3] = SOME(4, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(4, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
	},
	[WEFT_FORM_PBR] = {
		{ /* G */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = ONE(D2H_REQ), [0x3] = SOME(3, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(3, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
		{ /* H */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = ONE(D2H_REQ), [0x3] = SOME(3, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(3, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
	},
};

unsigned int
weft_slot_capacity(enum weft_msg_kind kind, enum weft_form form, bool is_h)
{
	return kind < WEFT_MSG_LLCTRL ? slot_formats[form][is_h][slot_fmts[kind]].n : 0;
}

int
weft_slot_encode(
	uint8_t *slot, bool is_h, enum weft_form form, const struct weft_msg *msgs, unsigned int n)
{
	struct slot_bits b;

	if (n == 0 || msgs[0].kind >= WEFT_MSG_LLCTRL)
		return -EINVAL;
	if (n > weft_slot_capacity((enum weft_msg_kind)msgs[0].kind, form, is_h))
		return -ENOSPC;
	b = (struct slot_bits){ slot_fmts[msgs[0].kind], 0 };
	for (unsigned int i = 0; i < n; i++)
		if (msgs[i].kind != msgs[0].kind ||
			!slot_add(&b, &slot_codecs[msgs[0].kind][form], &msgs[i], i))
			return -EINVAL;
	return slot_store(slot, is_h, &b) ? 0 : -ENOSPC;
}

enum weft_verdict
weft_slot_decode(
	const uint8_t *slot, bool is_h, enum weft_form form, struct weft_msg *msgs, unsigned int *n)
{
	const struct slot_format *s = &slot_formats[form][is_h][weft_slot_fmt(slot)];
	struct slot_bits b = slot_messages(slot, is_h);

	*n = 0;
	if (s->n == 0)
		return WEFT_DROP_SLOT_FORMAT;
	for (unsigned int i = 0; i < (unsigned int)s->n + s->n2; i++)
		*n += slot_next(&b, &slot_codecs[i < s->n ? s->kind : s->kind2][form], &msgs[*n]);
	return WEFT_OK;
}
