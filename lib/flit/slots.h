/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside flit: the tables of msg_table.c and what pack and unpack share. */
#ifndef SLOTS_H
#define SLOTS_H

#include "weft_msg.h"

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

extern const struct msg_layout msg_layouts[WEFT_MSG_LLCTRL][2]; /* by kind and form */

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

#define DATA_SLOTS (WEFT_MSG_DATA_LEN / WEFT_FLIT_SLOT_LEN)

static inline bool
slot_kind_has_data(unsigned int kind)
{
	return kind == WEFT_MSG_M2S_RWD || kind == WEFT_MSG_S2M_DRS || kind == WEFT_MSG_D2H_DH ||
	       kind == WEFT_MSG_H2D_DH;
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
