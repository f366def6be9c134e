/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Headers of vendor-defined messages between PBR components (fabric.md 2.3). */

#include "weft_cci_vdm.h"

#include <errno.h>

#define VDM_TYPE 0x34
#define VDM_TYPE_DATA 0x74
#define VDM_MESSAGE 0x7E /* vendor-defined, type 0 */
#define VDM_VENDOR 0x1E98
#define VDM_MCTP_MESSAGE 0x7F /* vendor-defined, type 1 */
#define VDM_MCTP_VENDOR 0x1AB4
#define VDM_HIGH 0x80 /* of byte 14: bit 4 of the opcode, which its field has no room for */

/* What there is, and how many DWORDs of data it may have. */
static const struct vdm_row {
	uint8_t code, opcode, least, most;
} vdm_rows[] = {
	{ WEFT_CCI_VDM_RESET, WEFT_CCI_VDM_ASSERT_PERST, 0, 0 },
	{ WEFT_CCI_VDM_RESET, WEFT_CCI_VDM_ASSERT_RESET, 0, 0 },
	{ WEFT_CCI_VDM_RESET, WEFT_CCI_VDM_DEASSERT_RESET, 0, 0 },
	{ WEFT_CCI_VDM_RESET, WEFT_CCI_VDM_LINK_UP, 0, 0 },
	{ WEFT_CCI_VDM_LINK_PARTNER, WEFT_CCI_VDM_LINK_PARTNER_INFO, 16, 16 },
	{ WEFT_CCI_VDM_TO_GFD, WEFT_CCI_VDM_DP_CMD, 0, 0 },
	{ WEFT_CCI_VDM_TO_GFD, WEFT_CCI_VDM_DC_REQ, 32, 32 },
	{ WEFT_CCI_VDM_TO_GFD, WEFT_CCI_VDM_DC_REQ_LAST, 1, 32 },
	{ WEFT_CCI_VDM_TO_GFD, WEFT_CCI_VDM_DC_REQ_FAIL, 0, 0 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_UC_PULL, 0, 0 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_UC_RSP, 32, 32 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_UC_RSP_LAST, 1, 32 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_UC_RSP_FAIL, 0, 0 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_GAM, 8, 8 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_RT_UPDATE, 1, 8 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_RT_UPDATE_ACK, 0, 0 },
	{ WEFT_CCI_VDM_TO_HOST, WEFT_CCI_VDM_RT_UPDATE_NAK, 0, 0 },
};

/* The row of a code and these bits of its opcode, NULL if there is none. */
static const struct vdm_row *
vdm_find(uint8_t code, uint8_t opcode, uint8_t mask)
{
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(vdm_rows); i++)
		if (vdm_rows[i].code == code && (vdm_rows[i].opcode & mask) == (opcode & mask))
			return &vdm_rows[i];
	return NULL;
}

int
weft_cci_vdm_put(uint8_t b[WEFT_CCI_VDM_HDR], const struct weft_cci_vdm *v)
{
	const struct vdm_row *row = vdm_find(v->code, v->opcode, UINT8_MAX);

	if (row == NULL || v->dwords < row->least || v->dwords > row->most || v->cmd_seq > 7 ||
		v->seq_num > 7 || v->seq_len > 256)
		return -EINVAL;
	memset(b, 0, WEFT_CCI_VDM_HDR);
	b[0] = v->dwords == 0 ? VDM_TYPE : VDM_TYPE_DATA;
	weft_put_be16(b + 2, v->dwords);
	b[7] = VDM_MESSAGE;
	weft_put_be16(b + 10, VDM_VENDOR);
	b[12] = v->cmd_seq;
	b[13] = (uint8_t)v->seq_len;
	b[14] = (uint8_t)(v->seq_num << 4 | (v->opcode & 0x0F) |
			  ((v->opcode & 0x10) != 0 ? VDM_HIGH : 0));
	b[15] = v->code;
	return 0;
}

int
weft_cci_vdm_get(struct weft_cci_vdm *v, const uint8_t *b, size_t len)
{
	const struct vdm_row *row;
	unsigned int dwords;

	if (len < WEFT_CCI_VDM_HDR)
		return -EMSGSIZE;
	if ((b[0] != VDM_TYPE && b[0] != VDM_TYPE_DATA) || b[7] != VDM_MESSAGE ||
		weft_get_be16(b + 10) != VDM_VENDOR)
		return -ENOENT;
	dwords = b[0] == VDM_TYPE ? 0 : weft_get_be16(b + 2) & 0x3FF;
	if (len != WEFT_CCI_VDM_HDR + dwords * 4)
		return -EMSGSIZE;
	row = vdm_find(b[15], b[14], 0x0F);
	if (row == NULL || dwords < row->least || dwords > row->most ||
		(dwords == 0) != (b[0] == VDM_TYPE))
		return -EINVAL;
	*v = (struct weft_cci_vdm){ .dwords = (uint8_t)dwords,
		.code = b[15],
		.opcode = row->opcode,
		.cmd_seq = b[12] & 7,
		.seq_len = b[13] == 0 ? 256 : b[13],
		.seq_num = b[14] >> 4 & 7 };
	return 0;
}

void
weft_cci_vdm_put_mctp(uint8_t b[WEFT_CCI_VDM_MCTP_HDR], size_t len)
{
	assert(len != 0 && len <= WEFT_CCI_VDM_MCTP_MAX);
	memset(b, 0, WEFT_CCI_VDM_MCTP_HDR);
	b[0] = VDM_TYPE_DATA;
	weft_put_be16(b + 2, (uint16_t)((len + 3) / 4));
	b[6] = (uint8_t)((4 - len % 4) % 4 << 4);
	b[7] = VDM_MCTP_MESSAGE;
	weft_put_be16(b + 10, VDM_MCTP_VENDOR);
}

int
weft_cci_vdm_get_mctp(const uint8_t *b, size_t len)
{
	size_t data;

	if (len < WEFT_CCI_VDM_HDR)
		return -EMSGSIZE;
	if (b[0] != VDM_TYPE_DATA || b[7] != VDM_MCTP_MESSAGE || (b[6] & 0xF) != 0 ||
		weft_get_be16(b + 10) != VDM_MCTP_VENDOR)
		return -ENOENT;
	data = (weft_get_be16(b + 2) & 0x3FFu) * 4;
	if (data == 0 || data > WEFT_CCI_VDM_MCTP_MAX || len != WEFT_CCI_VDM_HDR + data)
		return -EMSGSIZE;
	return (int)(data - (b[6] >> 4 & 3));
}
