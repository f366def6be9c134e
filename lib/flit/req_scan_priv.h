/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The first bytes of a flit that begins with a request. */
#ifndef REQ_SCAN_PRIV_H
#define REQ_SCAN_PRIV_H

#include "weft_flit.h"
#include "weft_req_scan.h"

/* Slot bits 77:32 are Addr[51:6] in M2S Req and RwD, in both forms. */
#define REQ_SCAN_SLOT_ADDR_OFF 4
#define REQ_SCAN_ADDR_OFF (WEFT_FLIT_H_OFF + REQ_SCAN_SLOT_ADDR_OFF)
#define REQ_SCAN_ADDR_BITS 46
#define REQ_SCAN_FMT_REQ 0x4
#define REQ_SCAN_FMT_RWD 0xE
#define REQ_SCAN_FMT_SHIFT (8 * WEFT_FLIT_H_OFF)
#define REQ_SCAN_VAL (UINT32_C(1) << (REQ_SCAN_FMT_SHIFT + 4))

/* The first four bytes of a flit that begins with a request, the format aside. */
#define REQ_SCAN_MASK (UINT32_C(0xC0) | REQ_SCAN_VAL)
#define REQ_SCAN_IS ((uint32_t)WEFT_FLIT_CACHEMEM << 6 | REQ_SCAN_VAL)

uint64_t weft_req_scan_avx512(
	const uint8_t *flits, unsigned int n, uint64_t live, uint64_t *addr, uint8_t *kind);

#endif /* REQ_SCAN_PRIV_H */
