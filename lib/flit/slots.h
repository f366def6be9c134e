/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside flit: the tables of slot.c and what pack and unpack share. */
#ifndef SLOTS_H
#define SLOTS_H

#include "weft_msg.h"

#define SLOT_FMT_BITS 4
#define SLOT_ADDR_SHIFT 6 /* low bits of an address that are not carried */

/* A slot, or a message at bit 0, which is its Val. */
struct slot_bits {
	uint64_t lo;
	uint64_t hi;
};

/* A message kind in one form. */
struct slot_codec {
	struct slot_bits (*encode)(const struct weft_msg *m); /* Val 0: a field is out of range */
	void (*decode)(struct weft_msg *m, struct slot_bits b); /* all but data */
	uint8_t bits;
};

extern const struct slot_codec slot_codecs[WEFT_MSG_LLCTRL][2]; /* by kind and form */
extern const uint8_t slot_fmts[WEFT_MSG_LLCTRL];

/* Up to two kinds follow each other in a slot; n = 0: none. */
struct slot_format {
	uint8_t n;
	uint8_t kind;
	uint8_t n2;
	uint8_t kind2;
};

extern const struct slot_format slot_formats[2][2][16]; /* by form, is_h, SlotFmt */

/* Trailer after the 64 bytes of a message with data. */
enum {
	TRAILER_NONE = 0,
	/* 1..3: DRS, one trailer slot for this message and the next n - 1 of its header slot */
	TRAILER_OWN = 0x80,
};

static inline struct slot_bits
slot_load(const uint8_t *slot, bool is_h)
{
	struct slot_bits b;

	b.lo = weft_get_le64(slot);
	/* The last 8 bytes of an H-slot, less the 2 that overlap with `lo`. */
	b.hi = is_h ? weft_get_le64(slot + WEFT_FLIT_H_LEN - 8) >> 16 : weft_get_le64(slot + 8);
	return b;
}

/* False: the H-slot would cut bits off. */
static inline bool
slot_store(uint8_t *slot, bool is_h, const struct slot_bits *b)
{
	if (!is_h)
		weft_put_le64(slot + 8, b->hi);
	else if (b->hi >> 48 != 0)
		return false;
	else
		weft_put_le64(slot + WEFT_FLIT_H_LEN - 8, b->hi << 16 | b->lo >> 48);
	weft_put_le64(slot, b->lo);
	return true;
}

/* Add message @p i of a slot to those before it. False: a field is out of range. */
static inline bool
slot_add(struct slot_bits *b, const struct slot_codec *c, const struct weft_msg *m, unsigned int i)
{
	const unsigned int at = SLOT_FMT_BITS + i * c->bits;
	const struct slot_bits v = c->encode(m);

	if ((v.lo & 1) == 0)
		return false;
	if (at >= 64) {
		b->hi |= v.lo << (at - 64);
		return true;
	}
	b->lo |= v.lo << at;
	b->hi |= v.hi << at | v.lo >> (64 - at);
	return true;
}

static inline void
slot_skip(struct slot_bits *b, unsigned int bits)
{
	if (bits >= 64)
		*b = (struct slot_bits){ b->hi >> (bits - 64), 0 };
	else
		*b = (struct slot_bits){ b->lo >> bits | b->hi << (64 - bits), b->hi >> bits };
}

/* The messages of a slot, to be read by slot_next(). */
static inline struct slot_bits
slot_messages(const uint8_t *slot, bool is_h)
{
	struct slot_bits b = slot_load(slot, is_h);

	slot_skip(&b, SLOT_FMT_BITS);
	return b;
}

/* The next message; false if there is none in its place (Val = 0). */
static inline bool
slot_next(struct slot_bits *b, const struct slot_codec *c, struct weft_msg *m)
{
	const bool is_valid = (b->lo & 1) != 0;

	if (is_valid)
		c->decode(m, *b);
	slot_skip(b, c->bits);
	return is_valid;
}

#define DATA_SLOTS (WEFT_MSG_DATA_LEN / WEFT_FLIT_SLOT_LEN)

static inline bool
slot_kind_has_data(unsigned int kind)
{
	return kind < WEFT_MSG_KINDS && ((1u << WEFT_MSG_M2S_RWD | 1u << WEFT_MSG_S2M_DRS |
						 1u << WEFT_MSG_D2H_DH | 1u << WEFT_MSG_H2D_DH) >>
							kind &
						1) != 0;
}

/*
 * True if the trailer begins with byte enables; else it holds EMD alone, if anything. A write of a
 * part of a line (MemWrPtl, MemWrPtlTEE) has them, and so has D2H data.
 */
static inline bool
slot_trailer_has_enables(const struct weft_msg *m)
{
	return m->kind == WEFT_MSG_D2H_DH ||
	       (m->kind == WEFT_MSG_M2S_RWD && (m->op == 0x2 || m->op == 0xA));
}

/* Slot group of a slot: 0..3 for slots 0-3, 4-7, 8-11, 12-14. */
static inline unsigned int
slot_group(unsigned int slot)
{
	return slot / 4;
}

#endif /* SLOTS_H */
