/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Names of message kinds for reports (wire-formats.md section 4.3). */

#include "slots.h"

const char *const weft_form_words[] = { [WEFT_FORM_HBR] = "hbr", [WEFT_FORM_PBR] = "pbr", NULL };

static const char *const kind_names[WEFT_MSG_KINDS] = {
	[WEFT_MSG_M2S_REQ] = "m2s_req",
	[WEFT_MSG_M2S_RWD] = "m2s_rwd",
	[WEFT_MSG_M2S_BIRSP] = "m2s_birsp",
	[WEFT_MSG_S2M_BISNP] = "s2m_bisnp",
	[WEFT_MSG_S2M_NDR] = "s2m_ndr",
	[WEFT_MSG_S2M_DRS] = "s2m_drs",
	[WEFT_MSG_D2H_REQ] = "d2h_req",
	[WEFT_MSG_D2H_RSP] = "d2h_rsp",
	[WEFT_MSG_D2H_DH] = "d2h_dh",
	[WEFT_MSG_H2D_REQ] = "h2d_req",
	[WEFT_MSG_H2D_RSP] = "h2d_rsp",
	[WEFT_MSG_H2D_DH] = "h2d_dh",
	[WEFT_MSG_LLCTRL] = "llctrl",
};

/* wire-formats.md sections 4.3 and 4.6. */
static const struct {
	uint8_t kind, op;
	const char *name;
} op_names[] = {
	{ WEFT_MSG_M2S_REQ, 0x0, "MemInv" },
	{ WEFT_MSG_M2S_REQ, 0x1, "MemRd" },
	{ WEFT_MSG_M2S_REQ, 0x2, "MemRdData" },
	{ WEFT_MSG_M2S_REQ, 0x3, "MemRdFwd" },
	{ WEFT_MSG_M2S_REQ, 0x4, "MemWrFwd" },
	{ WEFT_MSG_M2S_REQ, 0x5, "MemRdTEE" },
	{ WEFT_MSG_M2S_REQ, 0x6, "MemRdDataTEE" },
	{ WEFT_MSG_M2S_REQ, 0x8, "MemSpecRd" },
	{ WEFT_MSG_M2S_REQ, 0x9, "MemInvNT" },
	{ WEFT_MSG_M2S_REQ, 0xA, "MemClnEvct" },
	{ WEFT_MSG_M2S_REQ, 0xC, "MemSpecRdTEE" },
	{ WEFT_MSG_M2S_REQ, 0xD, "TEUpdate" },
	{ WEFT_MSG_M2S_RWD, 0x1, "MemWr" },
	{ WEFT_MSG_M2S_RWD, 0x2, "MemWrPtl" },
	{ WEFT_MSG_M2S_RWD, 0x4, "BIConflict" },
	{ WEFT_MSG_M2S_RWD, 0x5, "MemRdFill" },
	{ WEFT_MSG_M2S_RWD, 0x9, "MemWrTEE" },
	{ WEFT_MSG_M2S_RWD, 0xA, "MemWrPtlTEE" },
	{ WEFT_MSG_M2S_RWD, 0xD, "MemRdFillTEE" },
	{ WEFT_MSG_M2S_BIRSP, 0x0, "BIRspI" },
	{ WEFT_MSG_M2S_BIRSP, 0x1, "BIRspS" },
	{ WEFT_MSG_M2S_BIRSP, 0x2, "BIRspE" },
	{ WEFT_MSG_M2S_BIRSP, 0x4, "BIRspIBlk" },
	{ WEFT_MSG_M2S_BIRSP, 0x5, "BIRspSBlk" },
	{ WEFT_MSG_M2S_BIRSP, 0x6, "BIRspEBlk" },
	{ WEFT_MSG_S2M_BISNP, 0x0, "BISnpCur" },
	{ WEFT_MSG_S2M_BISNP, 0x1, "BISnpData" },
	{ WEFT_MSG_S2M_BISNP, 0x2, "BISnpInv" },
	{ WEFT_MSG_S2M_BISNP, 0x4, "BISnpCurBlk" },
	{ WEFT_MSG_S2M_BISNP, 0x5, "BISnpDataBlk" },
	{ WEFT_MSG_S2M_BISNP, 0x6, "BISnpInvBlk" },
	{ WEFT_MSG_S2M_NDR, 0x0, "Cmp" },
	{ WEFT_MSG_S2M_NDR, 0x1, "Cmp-S" },
	{ WEFT_MSG_S2M_NDR, 0x2, "Cmp-E" },
	{ WEFT_MSG_S2M_NDR, 0x3, "Cmp-M" },
	{ WEFT_MSG_S2M_NDR, 0x4, "BI-ConflictAck" },
	{ WEFT_MSG_S2M_NDR, 0x5, "CmpTEE" },
	{ WEFT_MSG_S2M_DRS, 0x0, "MemData" },
	{ WEFT_MSG_S2M_DRS, 0x1, "MemData-NXM" },
	{ WEFT_MSG_S2M_DRS, 0x2, "MemDataTEE" },
	{ WEFT_MSG_D2H_REQ, 0x1, "RdCurr" },
	{ WEFT_MSG_D2H_REQ, 0x2, "RdOwn" },
	{ WEFT_MSG_D2H_REQ, 0x3, "RdShared" },
	{ WEFT_MSG_D2H_REQ, 0x4, "RdAny" },
	{ WEFT_MSG_D2H_REQ, 0x5, "RdOwnNoData" },
	{ WEFT_MSG_D2H_REQ, 0x6, "ItoMWr" },
	{ WEFT_MSG_D2H_REQ, 0x7, "WrCur" },
	{ WEFT_MSG_D2H_REQ, 0x8, "CLFlush" },
	{ WEFT_MSG_D2H_REQ, 0x9, "CleanEvict" },
	{ WEFT_MSG_D2H_REQ, 0xA, "DirtyEvict" },
	{ WEFT_MSG_D2H_REQ, 0xB, "CleanEvictNoData" },
	{ WEFT_MSG_D2H_REQ, 0xC, "WOWrInv" },
	{ WEFT_MSG_D2H_REQ, 0xD, "WOWrInvF" },
	{ WEFT_MSG_D2H_REQ, 0xE, "WrInv" },
	{ WEFT_MSG_D2H_REQ, 0x10, "CacheFlushed" },
	{ WEFT_MSG_D2H_RSP, 0x1, "RspSHitSE" },
	{ WEFT_MSG_D2H_RSP, 0x4, "RspIHitI" },
	{ WEFT_MSG_D2H_RSP, 0x5, "RspIHitSE" },
	{ WEFT_MSG_D2H_RSP, 0x6, "RspVHitV" },
	{ WEFT_MSG_D2H_RSP, 0x7, "RspSFwdM" },
	{ WEFT_MSG_D2H_RSP, 0xF, "RspIFwdM" },
	{ WEFT_MSG_D2H_RSP, 0x16, "RspVFwdV" },
	{ WEFT_MSG_H2D_REQ, 0x1, "SnpData" },
	{ WEFT_MSG_H2D_REQ, 0x2, "SnpInv" },
	{ WEFT_MSG_H2D_REQ, 0x3, "SnpCur" },
	{ WEFT_MSG_H2D_RSP, 0x1, "WritePull" },
	{ WEFT_MSG_H2D_RSP, 0x4, "GO" },
	{ WEFT_MSG_H2D_RSP, 0x5, "GO_WritePull" },
	{ WEFT_MSG_H2D_RSP, 0x6, "ExtCmp" },
	{ WEFT_MSG_H2D_RSP, 0x8, "GO_WritePull_Drop" },
	{ WEFT_MSG_H2D_RSP, 0xD, "Fast_GO_WritePull" },
	{ WEFT_MSG_H2D_RSP, 0xF, "GO_ERR_WritePull" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_IDE_IDLE, "IDE.Idle" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_IDE_START, "IDE.Start" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_IDE_TMAC, "IDE.TMAC" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_IDE_MAC, "IDE.MAC" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_IDE_STOP, "IDE.Stop" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_VIRAL, "Viral" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_POISON, "Poison" },
	{ WEFT_MSG_LLCTRL, WEFT_LLCTRL_INIT_PARAM, "INIT.Param" },
};

bool
weft_msg_has_data(const struct weft_msg *m)
{
	return slot_kind_has_data(m->kind);
}

const char *
weft_msg_kind_name(enum weft_msg_kind kind)
{
	return (unsigned int)kind < WEFT_MSG_KINDS ? kind_names[kind] : "unknown";
}

const char *
weft_msg_op_name(enum weft_msg_kind kind, unsigned int op)
{
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(op_names); i++)
		if (op_names[i].kind == kind && op_names[i].op == op)
			return op_names[i].name;
	return NULL;
}
