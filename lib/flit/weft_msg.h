/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.cachemem messages and the slots that carry them, 256 B mode, HBR and PBR form
 * (wire-formats.md section 4).
 */
#ifndef WEFT_MSG_H
#define WEFT_MSG_H

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

/** Message kinds; names for reports from weft_msg_kind_name(). */
enum weft_msg_kind {
	WEFT_MSG_M2S_REQ,
	WEFT_MSG_M2S_RWD,
	WEFT_MSG_M2S_BIRSP,
	WEFT_MSG_S2M_BISNP,
	WEFT_MSG_S2M_NDR,
	WEFT_MSG_S2M_DRS,
	WEFT_MSG_D2H_REQ,
	WEFT_MSG_D2H_RSP,
	WEFT_MSG_D2H_DH,
	WEFT_MSG_H2D_REQ,
	WEFT_MSG_H2D_RSP,
	WEFT_MSG_H2D_DH,
	WEFT_MSG_LLCTRL, /**< `op` is enum weft_llctrl; nothing else is set */
	WEFT_MSG_KINDS
};

/* Opcodes of CXL.mem that this project sends or serves (wire-formats.md section 4.3). */
enum { WEFT_M2S_REQ_MEMINV = 0, WEFT_M2S_REQ_MEMRD = 1, WEFT_M2S_REQ_MEMRDDATA = 2 };
enum { WEFT_M2S_RWD_MEMWR = 1, WEFT_M2S_RWD_MEMWRPTL = 2 };
enum { WEFT_S2M_NDR_CMP = 0, WEFT_S2M_NDR_CMPS = 1, WEFT_S2M_NDR_CMPE = 2, WEFT_S2M_NDR_CMPM = 3 };
enum { WEFT_S2M_DRS_MEMDATA = 0, WEFT_S2M_DRS_MEMDATA_NXM = 1 };
enum { WEFT_META_FIELD_META0 = 0, WEFT_META_FIELD_NOOP = 3 };
enum { WEFT_META_VALUE_INVALID = 0, WEFT_META_VALUE_NOOP = 1, WEFT_META_VALUE_ANY = 2 };

#define WEFT_MSG_DATA_LEN 64
#define WEFT_MSG_TAIL_SLOTS (WEFT_MSG_DATA_LEN / WEFT_FLIT_SLOT_LEN + 1) /**< data, trailer */
#define WEFT_MSG_PER_SLOT 4 /**< most messages one slot can hold */

/** One message. A field that the kind or form does not have is 0. */
struct weft_msg {
	uint8_t kind; /**< enum weft_msg_kind */
	uint8_t op;
	uint8_t snp_type;
	uint8_t meta_field;
	uint8_t meta_value;
	uint8_t tc;
	uint8_t dev_load;
	uint8_t poison;
	uint8_t trp; /**< RwD, DRS: a trailer slot follows; D2H DH: BEP */
	uint8_t bogus; /**< D2H DH */
	uint8_t nt; /**< D2H Req */
	uint8_t go_err; /**< H2D DH */
	uint8_t low_addr; /**< M2S BIRsp */
	uint8_t rsp_pre; /**< H2D Rsp */
	uint8_t ld_id; /**< HBR */
	uint8_t cache_id; /**< HBR */
	uint16_t spid; /**< PBR requests and snoops */
	uint16_t dpid; /**< PBR */
	uint16_t tag; /**< Tag, BITag, CQID or UQID, by kind */
	uint16_t bi_id; /**< HBR BIRsp and BISnp */
	uint16_t ckid;
	uint16_t rsp_data; /**< H2D Rsp */
	uint64_t addr; /**< byte address, 64-byte aligned, 52 bits */
	uint64_t byte_enables; /**< partial RwD and D2H DH with trailer */
	uint32_t emd; /**< extended metadata: RwD and DRS with trailer */
	uint8_t data[WEFT_MSG_DATA_LEN]; /**< valid when weft_msg_has_data() */
};

/** True if 64 bytes of data follow this message (decided by kind). */
bool weft_msg_has_data(const struct weft_msg *m);

/** Name of a kind in reports, such as "m2s_req"; "unknown" out of range. */
const char *weft_msg_kind_name(enum weft_msg_kind kind);

/** Name of an opcode of a kind, such as "MemRd", LLCTRL included; NULL: it is reserved. */
const char *weft_msg_op_name(enum weft_msg_kind kind, unsigned int op);

/**
 * Encode up to WEFT_MSG_PER_SLOT messages of one kind into a header slot. Data and trailers are
 * not part of it.
 *
 * @param slot  slot bytes: 16 for a G-slot, 14 for the H-slot; all are written
 * @param is_h  the slot is the H-slot
 * @return 0; -EINVAL for a field out of range; -ENOSPC if the slot format holds fewer messages, or
 *         (H-slot, zero-extended formats) if bits that the slot cuts off are not 0
 */
int weft_slot_encode(
	uint8_t *slot, bool is_h, enum weft_form form, const struct weft_msg *msgs, unsigned int n);

/** Most messages of @p kind one slot holds; 0 if no format carries the kind. */
unsigned int weft_slot_capacity(enum weft_msg_kind kind, enum weft_form form, bool is_h);

/**
 * Decode the header slot at @p slot.
 *
 * @param msgs  receives the valid messages in order (at most WEFT_MSG_PER_SLOT); data is not set
 * @param n     receives their number
 * @return WEFT_OK or WEFT_DROP_SLOT_FORMAT for a reserved format
 */
enum weft_verdict weft_slot_decode(const uint8_t *slot, bool is_h, enum weft_form form,
	struct weft_msg *msgs, unsigned int *n);

/** Called for each whole message in order; @p m is valid during the call only. */
typedef void (*weft_msg_fn)(void *arg, const struct weft_msg *m);

#define WEFT_UNPACK_PENDING_MAX 16 /**< messages whose data may be on its way at once */
#define WEFT_PENDING_SLOTS_MAX 36 /**< data slots that may be outstanding (section 4.4) */
#define WEFT_PENDING_SLOTS_H 16 /**< with more, the H-slot may not add a data header */

/** State of one direction's slot stream: data may run over into the next flits. */
struct weft_unpacker {
	uint8_t form; /* enum weft_form */
	uint8_t head; /* pending[] is a ring: the message whose data comes now */
	uint8_t n_pending; /* messages waiting for data */
	uint8_t n_slots; /* data and trailer slots still to come, over all of them */
	uint8_t head_slots; /* slots that the message at `head` has had */
	uint8_t late_poison; /* LLCTRL Poison came for data: bit i for the i-th from the head on */
	uint8_t trailer[WEFT_UNPACK_PENDING_MAX]; /* slots.h: what trailer follows its data */
	uint64_t *seen; /* the owner's; may be NULL */
	struct weft_msg pending[WEFT_UNPACK_PENDING_MAX];
};

/**
 * Start a stream.
 *
 * @param seen  WEFT_MSG_KINDS counts, the caller's: a message is added to that of its kind when its
 *              header comes, whether its data follows or is lost; may be NULL
 */
void weft_unpack_init(struct weft_unpacker *u, enum weft_form form, uint64_t *seen);

/** Start over after a hole in the stream: messages whose data was under way are forgotten. */
void weft_unpack_restart(struct weft_unpacker *u);

/**
 * Walk one cachemem flit and call @p fn (may be NULL) for every message that is complete, LLCTRL
 * included. A message with data is handed on when its last data (and trailer) slot has come; its
 * poison is set if LLCTRL Poison has named it, by counting data from those under way on
 * (wire-formats.md section 4.6). An Empty flit holds nothing. After an LLCTRL other than IDE.MAC
 * the rest of the flit is reserved.
 *
 * @return WEFT_OK; WEFT_DROP_SLOT_FORMAT if the walk ended at a reserved slot format or at more
 *         data than may be pending: the messages before it were handed on, those whose data was
 *         under way are forgotten, and the stream starts over with the next flit
 */
enum weft_verdict weft_unpack_flit(
	struct weft_unpacker *u, const uint8_t *flit, weft_msg_fn fn, void *arg);

/**
 * Call @p fn for the header of every message in one flit, in order, LLCTRL included; data is not
 * set. For who looks on: nothing is kept but a count.
 *
 * @param data_slots  slots of data (and trailers) that flits before it left to come, 0..36;
 *                    receives those that this one leaves. A wrong number makes messages of data
 * @return WEFT_OK; WEFT_DROP_SLOT_FORMAT if the walk ended at a reserved slot format:
 *         *@p data_slots is 0 then
 */
enum weft_verdict weft_flit_walk(const uint8_t *flit, enum weft_form form, unsigned int *data_slots,
	weft_msg_fn fn, void *arg);

/**
 * Builds flits from messages: tight packing, data right after its header slot and on into the
 * next flit, the per-group limits of wire-formats.md section 4.4. Works on one flit at a time in
 * memory of the caller.
 */
struct weft_packer {
	uint8_t *flit; /* being filled; NULL between flits */
	uint8_t form; /* enum weft_form */
	uint8_t slot; /* next free G-slot, 1..15 */
	/* the H-slot may still take a header: nothing stands in a G-slot's header yet */
	bool h_free;
	bool used; /* the flit holds a message or data */
	bool sent_any; /* a flit went before this one */
	uint8_t n_data; /* data and trailer slots that wait for the next flit */
	uint8_t data_head; /* index of the first of them */
	uint8_t n_join; /* messages in the last header slot */
	uint8_t join_room; /* more of their kind that may join them */
	uint8_t join_kind;
	uint8_t join_slot;
	/* Of each kind in the last group of the flit before, then in this one's; a power of two. */
	uint8_t per_group[5][16];
	uint8_t data[WEFT_MSG_TAIL_SLOTS][WEFT_FLIT_SLOT_LEN]; /* of the last data message */
};

void weft_pack_init(struct weft_packer *p, enum weft_form form);

/**
 * Most messages of a kind in two neighbouring slot groups, 128 bytes (section 4.4); 0: no such
 * kind.
 */
unsigned int weft_pack_limit(enum weft_msg_kind kind);

/**
 * Begin a flit: bytes 0..255 are cleared, the header says cachemem payload, pending data slots go
 * in first (after the H-slot).
 *
 * @param flit      256 bytes that stay the caller's
 * @param with_mac  slot 0 is kept for IDE.MAC: an IDE.MAC with an all-zero MAC is put there
 */
void weft_pack_begin(struct weft_packer *p, uint8_t *flit, bool with_mac);

/**
 * Put one message into the flit begun. Its header must fit into this flit; its data may run over
 * into the next.
 *
 * @return 0; -ENOSPC: does not fit any more, end this flit and begin another; -EINVAL: a field is
 *         out of range or the kind has no format (the flit is unchanged)
 */
int weft_pack_msg(struct weft_packer *p, const struct weft_msg *m);

/**
 * End the flit begun. Unused slots stay zero (no valid message).
 *
 * @return true if data slots are left over: begin another flit even without messages
 */
bool weft_pack_end(struct weft_packer *p);

/** True if data slots of the last message had no room in the flit begun. */
bool weft_pack_waits(const struct weft_packer *p);

/** True if the flit begun holds any message or data yet. */
bool weft_pack_used(const struct weft_packer *p);

WEFT_END_DECLS

#endif /* WEFT_MSG_H */
