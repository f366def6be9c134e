/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The DWs around a TLP, its length and class by its header, and the DLLP with credits. */

#include "weft_io.h"

#include <errno.h>

#define FMT_DATA 0x40u
#define FMT_4DW 0x20u
#define HEADER_3DW 12u
#define HEADER_4DW 16u
#define DW 4u
#define LENGTH_MASK 0x3FFu /* of bytes 2 and 3 */
#define TD 0x8000u
#define PAYLOAD_DWS 64u

#define PTH 0xC0
#define PTH_HIE 0x04
#define PTH_DSAR 0x02
#define PTH_PIF 0x01
#define VEND_PREFIX_L0 0x8E

#define DLLP_NOP 0x31
#define UPDATE_FC 0x80 /* P; NP and Cpl are 10h and 20h more; bits 2:0 the VC */
#define UPDATE_CLASS_SHIFT 4
#define HDR_FC_SHIFT 14

/* Class and one, by byte 0 of the header. */
static const uint8_t classes[128] = {
	[WEFT_IO_MRD] = 1 + WEFT_IO_REQUEST,
	[WEFT_IO_MWR] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_CPL] = 1 + WEFT_IO_COMPLETION,
	[WEFT_IO_CPLD] = 1 + WEFT_IO_COMPLETION,
	[WEFT_IO_MSG_ROOT] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_MSG_ID] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_MSG_LOCAL] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_MSG_ROOT | WEFT_IO_MSG_DATA] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_MSG_ID | WEFT_IO_MSG_DATA] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_MSG_LOCAL | WEFT_IO_MSG_DATA] = 1 + WEFT_IO_POSTED,
	[WEFT_IO_UIO_MRD] = 1 + WEFT_IO_REQUEST,
	[WEFT_IO_UIO_MWR] = 1 + WEFT_IO_REQUEST,
	[WEFT_IO_UIO_CPL] = 1 + WEFT_IO_COMPLETION,
	[WEFT_IO_UIO_CPLD] = 1 + WEFT_IO_COMPLETION,
};

static int
tlp_class(uint8_t byte0)
{
	return byte0 < WEFT_ARRAY_SIZE(classes) && classes[byte0] != 0 ? classes[byte0] - 1
	                                                               : -EINVAL;
}

static size_t
tlp_prefix_len(const uint8_t *tlp, size_t have)
{
	return have != 0 && tlp[0] == WEFT_IO_PASID_PREFIX ? DW : 0;
}

int
weft_io_class(const struct weft_io_tlp *t)
{
	const size_t at = tlp_prefix_len(t->tlp, t->len);

	return t->len <= at ? -EINVAL : tlp_class(t->tlp[at]);
}

size_t
weft_io_tlp_len(const uint8_t *tlp, size_t have)
{
	const size_t at = tlp_prefix_len(tlp, have);
	const uint8_t *h = tlp + at;
	unsigned int flags;
	size_t len;

	if (have < at + DW || tlp_class(h[0]) < 0)
		return 0;
	flags = weft_get_be16(h + 2);
	len = at + ((h[0] & FMT_4DW) != 0 ? HEADER_4DW : HEADER_3DW);
	if ((h[0] & FMT_DATA) != 0) {
		/* 0 stands for 1024 DWs. */
		if ((flags & LENGTH_MASK) == 0 || (flags & LENGTH_MASK) > PAYLOAD_DWS)
			return 0;
		len += (size_t)(flags & LENGTH_MASK) * DW;
	}
	len += (flags & TD) != 0 ? DW : 0;
	return len <= WEFT_IO_TLP_MAX ? len : 0;
}

bool
weft_io_is_valid(const struct weft_io_tlp *t)
{
	return t->spid <= 0xFFF && t->dpid <= 0xFFF && (!t->has_prefix || t->prefix_pid <= 0xFFF) &&
	       t->len >= HEADER_3DW && t->len <= WEFT_IO_TLP_MAX &&
	       weft_io_tlp_len(t->tlp, t->len) == t->len;
}

void
weft_io_pth_put(uint8_t *dw, const struct weft_io_tlp *t)
{
	dw[0] = (uint8_t)(PTH | (t->hie ? PTH_HIE : 0) | (t->dsar ? PTH_DSAR : 0) |
			  (t->pif ? PTH_PIF : 0));
	dw[1] = (uint8_t)(t->spid >> 4);
	dw[2] = (uint8_t)(t->spid << 4 | t->dpid >> 8);
	dw[3] = (uint8_t)t->dpid;
}

bool
weft_io_pth_get(const uint8_t *dw, struct weft_io_tlp *t)
{
	if ((dw[0] & PTH) != PTH)
		return false;
	t->hie = (dw[0] & PTH_HIE) != 0;
	t->dsar = (dw[0] & PTH_DSAR) != 0;
	t->pif = (dw[0] & PTH_PIF) != 0;
	t->spid = (uint16_t)(dw[1] << 4 | dw[2] >> 4);
	t->dpid = (uint16_t)((dw[2] & 0xF) << 8 | dw[3]);
	return true;
}

void
weft_io_prefix_put(uint8_t *dw, uint16_t pid)
{
	dw[0] = VEND_PREFIX_L0;
	dw[1] = (uint8_t)(pid >> 4);
	dw[2] = (uint8_t)(pid << 4);
	dw[3] = 0;
}

int
weft_io_prefix_get(const uint8_t *dw)
{
	return dw[0] == VEND_PREFIX_L0 ? dw[1] << 4 | dw[2] >> 4 : -EINVAL;
}

void
weft_io_update_put(uint8_t *dllp, enum weft_io_class c, uint8_t total)
{
	weft_put_be32(dllp, (uint32_t)(UPDATE_FC | (unsigned int)c << UPDATE_CLASS_SHIFT) << 24 |
				    (uint32_t)total << HDR_FC_SHIFT);
}

void
weft_io_dllp_nop(uint8_t *dllp)
{
	weft_put_be32(dllp, (uint32_t)DLLP_NOP << 24);
}

int
weft_io_update_get(const uint8_t *dllp, uint8_t *total)
{
	const int c = (dllp[0] - UPDATE_FC) >> UPDATE_CLASS_SHIFT;

	if (dllp[0] < UPDATE_FC || c >= WEFT_IO_CLASSES || (dllp[0] & 0xF) != 0)
		return -ENOENT;
	*total = (uint8_t)(weft_get_be32(dllp) >> HDR_FC_SHIFT);
	return c;
}
