/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The Standard 256-byte flit: where things are (wire-formats.md section 1). A PBR flit is the same,
 * byte for byte; only the messages in its slots differ. This library knows layout, not integrity.
 *
 *   0..1     flit header
 *   2..15    slot 0, the H-slot (14 bytes)
 *   16..239  slots 1..14, G-slots (16 bytes each)
 *   240..241 CRD, credit return
 *   242..249 CRC
 *   250..255 FEC
 *
 * Words of flits:
 *
 *   1. A flit is 256 bytes and one unit of FEC, CRC and retry. A frame (weft_wire.h) carries 1..64.
 *   2. Flits of types CACHEMEM and IO are payload. Nothing above retry looks at others.
 *   3. A CACHEMEM flit carries messages (weft_msg.h) in slots, an IO flit a stream of packets
 *      (weft_io.h). No flit carries both.
 *   4. Headers of messages stand in slots, one or several in each. Data of 64 bytes takes four
 *      G-slots after its header, in the next flits too; the H-slot never has data.
 *   5. A control flit has an LLCTRL message in slot 0 and carries no other. All other CACHEMEM
 *      flits are protocol flits, those with IDE.MAC in slot 0 too.
 *   6. In HBR form messages name LD-IDs and CacheIDs of one link, in PBR form the SPID and DPID of
 *      two nodes of the fabric. A PBR flit may pass switches, an HBR flit ends at the next port.
 *   7. The number of a flit stands in its header (explicit), or enters its CRC only (implicit, ISN:
 *      encapsulation.md section 3).
 */
#ifndef WEFT_FLIT_H
#define WEFT_FLIT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_FLIT_LEN 256
#define WEFT_FLIT_H_OFF 2
#define WEFT_FLIT_H_LEN 14
#define WEFT_FLIT_SLOT_LEN 16
#define WEFT_FLIT_SLOTS 15 /**< slot 0 (H) and slots 1..14 (G) */
#define WEFT_FLIT_CRD_OFF 240

/** Wire layout of a flit. */
struct weft_flit {
	uint8_t header[2];
	uint8_t h_slot[WEFT_FLIT_H_LEN];
	uint8_t g_slot[WEFT_FLIT_SLOTS - 1][WEFT_FLIT_SLOT_LEN];
	uint8_t crd[2];
	uint8_t crc[8];
	uint8_t fec[6];
};

static_assert(sizeof(struct weft_flit) == WEFT_FLIT_LEN, "a flit is 256 bytes");
static_assert(offsetof(struct weft_flit, h_slot) == 2, "H-slot follows the header");
static_assert(offsetof(struct weft_flit, g_slot) == 16, "G-slots stand on 16-byte lines");
static_assert(offsetof(struct weft_flit, crd) == 240, "CRD follows slot 14");
static_assert(offsetof(struct weft_flit, crc) == 242, "CRC follows CRD");
static_assert(offsetof(struct weft_flit, fec) == 250, "FEC ends the flit");

/** Form of what a flit carries: HBR has LD-IDs and CacheIDs, PBR has SPID and DPID. */
enum weft_form { WEFT_FORM_HBR, WEFT_FORM_PBR };

/** "hbr", "pbr". */
extern const char *const weft_form_words[];

/** Flit Type[1:0], header byte 0 bits 7:6 (wire-formats.md section 1.2). */
enum weft_flit_type {
	WEFT_FLIT_IDLE_NOP = 0, /**< IDLE (header all zero), PHY NOP or CXL.io NOP */
	WEFT_FLIT_IO = 1,
	WEFT_FLIT_CACHEMEM = 2, /**< payload or Empty */
	WEFT_FLIT_ALMP = 3
};

/** Replay Command[1:0], header byte 0 bits 3:2: what the number field holds. */
enum weft_replay_cmd {
	WEFT_REPLAY_EXPLICIT = 0, /**< the flit's own number */
	WEFT_REPLAY_ACK = 1,
	WEFT_REPLAY_NAK_STANDARD = 2,
	WEFT_REPLAY_NAK_SELECTIVE = 3
};

/** The two header bytes, decoded. */
struct weft_flit_hdr {
	uint8_t type; /**< enum weft_flit_type */
	bool prior_payload; /**< previous flit was payload or Empty */
	bool dllp_type; /**< CXL.io only */
	uint8_t replay_cmd; /**< enum weft_replay_cmd */
	uint16_t seq; /**< 0..1023 */
};

/** Decode bytes 0..1 of a flit. Every pair of bytes decodes. */
static inline struct weft_flit_hdr
weft_flit_hdr_get(const uint8_t *flit)
{
	struct weft_flit_hdr h;

	h.type = (uint8_t)(flit[0] >> 6);
	h.prior_payload = (flit[0] >> 5 & 1) != 0;
	h.dllp_type = (flit[0] >> 4 & 1) != 0;
	h.replay_cmd = flit[0] >> 2 & 3;
	h.seq = (uint16_t)((flit[0] & 3) << 8 | flit[1]);
	return h;
}

/** Encode bytes 0..1 of a flit; the fields must be in range. */
static inline void
weft_flit_hdr_put(uint8_t *flit, const struct weft_flit_hdr *h)
{
	flit[0] = (uint8_t)(h->type << 6 | (h->prior_payload ? 1 << 5 : 0) |
			    (h->dllp_type ? 1 << 4 : 0) | h->replay_cmd << 2 | h->seq >> 8);
	flit[1] = (uint8_t)h->seq;
}

/** Slot @p s (0..14): 14 bytes for slot 0, 16 for the others. */
static inline uint8_t *
weft_flit_slot(uint8_t *flit, unsigned int s)
{
	return flit + (s == 0 ? WEFT_FLIT_H_OFF : s * WEFT_FLIT_SLOT_LEN);
}

static inline const uint8_t *
weft_flit_slot_const(const uint8_t *flit, unsigned int s)
{
	return flit + (s == 0 ? WEFT_FLIT_H_OFF : s * WEFT_FLIT_SLOT_LEN);
}

/** SlotFmt of a header slot: slot bits 3:0. */
static inline uint8_t
weft_slot_fmt(const uint8_t *slot)
{
	return slot[0] & 0xF;
}

/** CRD, credit return: 16 bits, CRD[7:0] at byte 240. */
static inline uint16_t
weft_flit_crd(const uint8_t *flit)
{
	return weft_get_le16(flit + WEFT_FLIT_CRD_OFF);
}

/** An Empty flit: cachemem with CRD[4:0] = 01h. */
static inline bool
weft_flit_is_empty(const uint8_t *flit)
{
	return flit[0] >> 6 == WEFT_FLIT_CACHEMEM && (weft_flit_crd(flit) & 0x1F) == 1;
}

/*
 * Link-layer control, SlotFmt 8 in the H-slot (wire-formats.md section 4.6): byte 0 of the slot is
 * LLCTRL << 4 | 8, byte 1 holds SubType in bits 3:0, payload bit 0 is slot byte 2 bit 0.
 */
#define WEFT_SLOT_FMT_LLCTRL 8
#define WEFT_LLCTRL_PAYLOAD_OFF 2 /**< in the slot */
#define WEFT_LLCTRL_PAYLOAD_LEN 12

/** LLCTRL << 4 | SubType. */
enum weft_llctrl {
	WEFT_LLCTRL_IDE_IDLE = 0x20,
	WEFT_LLCTRL_IDE_START = 0x21,
	WEFT_LLCTRL_IDE_TMAC = 0x22,
	WEFT_LLCTRL_IDE_MAC = 0x23,
	WEFT_LLCTRL_IDE_STOP = 0x24,
	WEFT_LLCTRL_VIRAL = 0x30,
	WEFT_LLCTRL_POISON = 0x31,
	WEFT_LLCTRL_INIT_PARAM = 0xC8
};

/** LLCTRL << 4 | SubType of a slot, or -1 if its format is not 8. */
static inline int
weft_llctrl_get(const uint8_t *slot)
{
	if (weft_slot_fmt(slot) != WEFT_SLOT_FMT_LLCTRL)
		return -1;
	return (slot[0] & 0xF0) | (slot[1] & 0xF);
}

/** Clear the H-slot of @p flit and make it control message @p c with 12 bytes of @p payload. */
static inline void
weft_llctrl_put(uint8_t *flit, enum weft_llctrl c, const uint8_t *payload)
{
	uint8_t *slot = flit + WEFT_FLIT_H_OFF;

	slot[0] = (uint8_t)(((unsigned int)c & 0xF0) | WEFT_SLOT_FMT_LLCTRL);
	slot[1] = (uint8_t)((unsigned int)c & 0xF);
	memcpy(slot + WEFT_LLCTRL_PAYLOAD_OFF, payload, WEFT_LLCTRL_PAYLOAD_LEN);
}

/**
 * A flit that IDE protects: cachemem, and slot 0 is a protocol header or IDE.MAC. Every other
 * control flit is in the clear and in no MAC epoch (wire-formats.md section 5).
 */
static inline bool
weft_flit_is_protocol(const uint8_t *flit)
{
	int c = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	return flit[0] >> 6 == WEFT_FLIT_CACHEMEM && (c < 0 || c == WEFT_LLCTRL_IDE_MAC);
}

WEFT_END_DECLS

#endif /* WEFT_FLIT_H */
