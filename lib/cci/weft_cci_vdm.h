/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Vendor-defined messages between PBR components (fabric.md 2.3): the header of 16 bytes, which
 * ends at its receiver; up to 128 bytes of data follow it.
 * MCTP packets have one of their own. The PTH before it is of lib/flit.
 * Pure, any thread.
 *
 *   0 type 34h, with data 74h  2-3 [9:0] DWORDs  7 code 7Eh  A-B vendor 1E98h
 *   C [2:0] CmdSeq  D SeqLen  E [6:4] SeqNum [3:0] opcode  F VDM code; two bytes: high first
 */
#ifndef WEFT_CCI_VDM_H
#define WEFT_CCI_VDM_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_VDM_HDR 16
#define WEFT_CCI_VDM_DWORDS_MAX 32

enum weft_cci_vdm_code {
	WEFT_CCI_VDM_RESET = 0x80, /**< resets and Link Up, between vDSP and vUSP */
	WEFT_CCI_VDM_LINK_PARTNER = 0x90,
	WEFT_CCI_VDM_TO_GFD = 0xA0,
	WEFT_CCI_VDM_TO_HOST = 0xA1,
};

/** PBR opcodes, by their code. */
enum weft_cci_vdm_opcode {
	WEFT_CCI_VDM_ASSERT_PERST = 0, /* 80h */
	WEFT_CCI_VDM_ASSERT_RESET = 1,
	WEFT_CCI_VDM_DEASSERT_RESET = 3,
	WEFT_CCI_VDM_LINK_UP = 4,
	WEFT_CCI_VDM_LINK_PARTNER_INFO = 0, /* 90h */
	WEFT_CCI_VDM_DP_CMD = 0, /* A0h */
	WEFT_CCI_VDM_DC_REQ = 2,
	WEFT_CCI_VDM_DC_REQ_LAST = 3,
	WEFT_CCI_VDM_DC_REQ_FAIL = 8,
	WEFT_CCI_VDM_UC_PULL = 1, /* A1h */
	WEFT_CCI_VDM_UC_RSP = 4,
	WEFT_CCI_VDM_UC_RSP_LAST = 5,
	WEFT_CCI_VDM_UC_RSP_FAIL = 6,
	WEFT_CCI_VDM_GAM = 7,
	WEFT_CCI_VDM_RT_UPDATE = 0x10,
	WEFT_CCI_VDM_RT_UPDATE_ACK = 0x12,
	WEFT_CCI_VDM_RT_UPDATE_NAK = 0x13,
};

/** A header. */
struct weft_cci_vdm {
	uint8_t dwords; /**< of data behind it, 0..32 */
	uint8_t code; /**< enum weft_cci_vdm_code */
	uint8_t opcode; /**< enum weft_cci_vdm_opcode */
	uint8_t cmd_seq; /**< 0..7: the command that it is part of */
	uint16_t seq_len; /**< DWORDs of all its parts, 1..256; 0 is 256 */
	uint8_t seq_num; /**< 0..7: which part */
};

/**
 * Write a header.
 * @return 0; -EINVAL: the code has no such opcode, or not with so much data (2.3), or a number is
 * out of range
 */
int weft_cci_vdm_put(uint8_t b[WEFT_CCI_VDM_HDR], const struct weft_cci_vdm *v);

/**
 * Read the header of a message of @p len bytes in all. Opcodes 10h, 12h and 13h are told by the low
 * nibble (Q10).
 * @return 0; -EMSGSIZE: no whole header, or other data than it says; -ENOENT: no message of PBR
 * components; -EINVAL: an unknown code or opcode, or one with too much or too little data
 */
int weft_cci_vdm_get(struct weft_cci_vdm *v, const uint8_t *b, size_t len);

/* --- MCTP packets in vendor-defined messages (fabric.md 4.2) --- */

/** Of a VDM's header, where that of the MCTP packet begins: its last four bytes. */
#define WEFT_CCI_VDM_MCTP_HDR 12
#define WEFT_CCI_VDM_MCTP_MAX 256 /**< bytes behind it */

/**
 * Write the first WEFT_CCI_VDM_MCTP_HDR bytes of the header of a packet with @p len bytes,
 * 1..WEFT_CCI_VDM_MCTP_MAX, behind it: to its receiver, vendor 1AB4h, message code 7Fh. Behind the
 * data stand zeros up to a DWORD.
 */
void weft_cci_vdm_put_mctp(uint8_t b[WEFT_CCI_VDM_MCTP_HDR], size_t len);

/**
 * Read the header of a message of @p len bytes in all.
 * @return bytes of the packet behind its header, 1 and more; -EMSGSIZE: no whole header, or other
 * data than it says; -ENOENT: no MCTP packet
 */
int weft_cci_vdm_get_mctp(const uint8_t *b, size_t len);

WEFT_END_DECLS

#endif /* WEFT_CCI_VDM_H */
