/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Where the fields of a packet are, for the encoder and the decoder (ats.md section 2). */
#ifndef WEFT_ATS_WIRE_PRIV_H
#define WEFT_ATS_WIRE_PRIV_H

/* Byte 0: Fmt 6:5 and Type 4:0. */
#define ATS_FMT_DATA 0x40u
#define ATS_FMT_4DW 0x20u
#define ATS_TYPE_MEM 0x00u
#define ATS_TYPE_CPL 0x0Au
#define ATS_TYPE_MSG_ROOT 0x10u /* message routed to the root */
#define ATS_TYPE_MSG_ID 0x12u /* message routed by ID */
#define ATS_BYTE0_MASK 0x7Fu
#define ATS_BYTE0_PREFIX 0x91u /* PASID prefix; bit 7 tells it from a header */

/* Bytes 2 and 3. */
#define ATS_TD 0x8000u
#define ATS_EP 0x4000u
#define ATS_ATTR_SHIFT 12
#define ATS_AT_SHIFT 10
#define ATS_LENGTH_MASK 0x3FFu

/* PASID prefix, 32 bits. */
#define ATS_PREFIX_PRIV (1u << 21)
#define ATS_PREFIX_EXEC (1u << 20)
#define ATS_PASID_MASK 0xFFFFFu

/* Byte 7 of a message. */
#define ATS_CODE_INVALIDATE 0x01u
#define ATS_CODE_INVALIDATED 0x02u
#define ATS_CODE_PAGE 0x04u
#define ATS_CODE_PAGE_GROUP 0x05u

#define ATS_CPL_HEADER_LEN 12u
#define ATS_HEADER_LEN 16u
#define ATS_FULL_ENABLES 0xFFu
#define ATS_GROUP_MASK 0x1FFu
#define ATS_GROUP_SHIFT 3

#endif /* WEFT_ATS_WIRE_PRIV_H */
