/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where every field of every message is, and which messages every slot format holds
 * (wire-formats.md sections 4.1 and 4.2). Places are written as the specification gives them, as
 * slot bits of the first message in a slot, which begins after the 4 bits of SlotFmt.
 */

#include "slots.h"

#define SLOT_FMT_BITS 4
#define FIELD(name, hi, lo)                                                                        \
	{                                                                                          \
		offsetof(struct weft_msg, name), sizeof(((struct weft_msg *)0)->name),             \
			(lo)-SLOT_FMT_BITS, (hi) - (lo) + 1, 0                                     \
	}
#define ADDR(hi, lo)                                                                               \
	{                                                                                          \
		offsetof(struct weft_msg, addr), sizeof(uint64_t), (lo)-SLOT_FMT_BITS,             \
			(hi) - (lo) + 1, 6                                                         \
	}

#define M2S_COMMON                                                                                 \
	FIELD(op, 8, 5), FIELD(snp_type, 11, 9), FIELD(meta_field, 13, 12),                        \
		FIELD(meta_value, 15, 14), FIELD(tag, 31, 16), ADDR(77, 32)
#define S2M_COMMON                                                                                 \
	FIELD(op, 7, 5), FIELD(meta_field, 9, 8), FIELD(meta_value, 11, 10), FIELD(tag, 27, 12)

const struct msg_layout msg_layouts[WEFT_MSG_LLCTRL][2] = {
	[WEFT_MSG_M2S_REQ] = {
		[WEFT_FORM_HBR] = { 100, { M2S_COMMON, FIELD(ld_id, 81, 78), FIELD(ckid, 94, 82),
			FIELD(tc, 103, 102) } },
		[WEFT_FORM_PBR] = { 120, { M2S_COMMON, FIELD(spid, 89, 78), FIELD(dpid, 101, 90),
			FIELD(ckid, 114, 102), FIELD(tc, 123, 122) } },
	},
	[WEFT_MSG_M2S_RWD] = {
		[WEFT_FORM_HBR] = { 104, { M2S_COMMON, FIELD(poison, 78, 78), FIELD(trp, 79, 79),
			FIELD(ld_id, 83, 80), FIELD(ckid, 96, 84), FIELD(tc, 107, 106) } },
		[WEFT_FORM_PBR] = { 124, { M2S_COMMON, FIELD(poison, 78, 78), FIELD(trp, 79, 79),
			FIELD(spid, 91, 80), FIELD(dpid, 103, 92), FIELD(ckid, 116, 104),
			FIELD(tc, 127, 126) } },
	},
	[WEFT_MSG_M2S_BIRSP] = {
		[WEFT_FORM_HBR] = { 40, { FIELD(op, 8, 5), FIELD(bi_id, 20, 9), FIELD(tag, 32, 21),
			FIELD(low_addr, 34, 33) } },
		[WEFT_FORM_PBR] = { 52, { FIELD(op, 8, 5), FIELD(tag, 20, 9),
			FIELD(low_addr, 22, 21), FIELD(spid, 34, 23), FIELD(dpid, 46, 35) } },
	},
	[WEFT_MSG_S2M_BISNP] = {
		[WEFT_FORM_HBR] = { 84, { FIELD(op, 8, 5), FIELD(bi_id, 20, 9), FIELD(tag, 32, 21),
			ADDR(78, 33) } },
		[WEFT_FORM_PBR] = { 96, { FIELD(op, 8, 5), FIELD(tag, 20, 9), ADDR(66, 21),
			FIELD(spid, 78, 67), FIELD(dpid, 90, 79) } },
	},
	[WEFT_MSG_S2M_NDR] = {
		[WEFT_FORM_HBR] = { 40, { S2M_COMMON, FIELD(dev_load, 29, 28),
			FIELD(ld_id, 33, 30) } },
		[WEFT_FORM_PBR] = { 48, { S2M_COMMON, FIELD(dev_load, 29, 28),
			FIELD(dpid, 41, 30) } },
	},
	[WEFT_MSG_S2M_DRS] = {
		[WEFT_FORM_HBR] = { 40, { S2M_COMMON, FIELD(poison, 28, 28),
			FIELD(dev_load, 30, 29), FIELD(ld_id, 34, 31), FIELD(trp, 35, 35) } },
		[WEFT_FORM_PBR] = { 48, { S2M_COMMON, FIELD(poison, 28, 28),
			FIELD(dev_load, 30, 29), FIELD(dpid, 42, 31), FIELD(trp, 43, 43) } },
	},
	[WEFT_MSG_D2H_REQ] = {
		[WEFT_FORM_HBR] = { 76, { FIELD(op, 9, 5), FIELD(tag, 21, 10), FIELD(nt, 22, 22),
			ADDR(68, 23), FIELD(cache_id, 72, 69) } },
		[WEFT_FORM_PBR] = { 96, { FIELD(op, 9, 5), FIELD(tag, 21, 10), FIELD(nt, 22, 22),
			ADDR(68, 23), FIELD(spid, 80, 69), FIELD(dpid, 92, 81) } },
	},
	[WEFT_MSG_D2H_RSP] = {
		[WEFT_FORM_HBR] = { 24, { FIELD(op, 9, 5), FIELD(tag, 21, 10) } },
		[WEFT_FORM_PBR] = { 36, { FIELD(op, 9, 5), FIELD(tag, 21, 10),
			FIELD(dpid, 33, 22) } },
	},
	[WEFT_MSG_D2H_DH] = {
		[WEFT_FORM_HBR] = { 24, { FIELD(tag, 16, 5), FIELD(bogus, 17, 17),
			FIELD(poison, 18, 18), FIELD(trp, 19, 19) } },
		[WEFT_FORM_PBR] = { 36, { FIELD(tag, 16, 5), FIELD(bogus, 17, 17),
			FIELD(poison, 18, 18), FIELD(trp, 19, 19), FIELD(dpid, 31, 20) } },
	},
	[WEFT_MSG_H2D_REQ] = {
		[WEFT_FORM_HBR] = { 72, { FIELD(op, 7, 5), ADDR(53, 8), FIELD(tag, 65, 54),
			FIELD(cache_id, 69, 66) } },
		[WEFT_FORM_PBR] = { 92, { FIELD(op, 7, 5), ADDR(53, 8), FIELD(tag, 65, 54),
			FIELD(spid, 77, 66), FIELD(dpid, 89, 78) } },
	},
	[WEFT_MSG_H2D_RSP] = {
		[WEFT_FORM_HBR] = { 40, { FIELD(op, 8, 5), FIELD(rsp_data, 20, 9),
			FIELD(rsp_pre, 22, 21), FIELD(tag, 34, 23), FIELD(cache_id, 38, 35) } },
		[WEFT_FORM_PBR] = { 48, { FIELD(op, 8, 5), FIELD(rsp_data, 20, 9),
			FIELD(rsp_pre, 22, 21), FIELD(tag, 34, 23), FIELD(dpid, 46, 35) } },
	},
	[WEFT_MSG_H2D_DH] = {
		[WEFT_FORM_HBR] = { 28, { FIELD(tag, 16, 5), FIELD(poison, 17, 17),
			FIELD(go_err, 18, 18), FIELD(cache_id, 22, 19) } },
		[WEFT_FORM_PBR] = { 36, { FIELD(tag, 16, 5), FIELD(poison, 17, 17),
			FIELD(go_err, 18, 18), FIELD(dpid, 30, 19) } },
	},
};

#define ONE(kind)                                                                                  \
	{                                                                                          \
		1, WEFT_MSG_##kind, 0, 0                                                           \
	}
#define SOME(n, kind)                                                                              \
	{                                                                                          \
		n, WEFT_MSG_##kind, 0, 0                                                           \
	}
#define MIXED(kind, n2, kind2)                                                                     \
	{                                                                                          \
		1, WEFT_MSG_##kind, n2, WEFT_MSG_##kind2                                           \
	}

const struct slot_format slot_formats[2][2][16] = {
	[WEFT_FORM_HBR] = {
		{ /* G */
			[0x0] = MIXED(H2D_REQ, 1, H2D_RSP), [0x1] = SOME(3, H2D_RSP),
			[0x2] = MIXED(D2H_REQ, 2, D2H_RSP), [0x3] = SOME(4, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(3, M2S_BIRSP),
			[0x6] = MIXED(S2M_BISNP, 1, S2M_NDR), [0x7] = SOME(3, S2M_NDR),
			[0xC] = SOME(4, H2D_DH), [0xD] = SOME(4, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(3, S2M_DRS),
		},
		{ /* H */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = MIXED(D2H_REQ, 1, D2H_RSP), [0x3] = SOME(4, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(4, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
	},
	[WEFT_FORM_PBR] = {
		{ /* G */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = ONE(D2H_REQ), [0x3] = SOME(3, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(3, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
		{ /* H */
			[0x0] = ONE(H2D_REQ), [0x1] = SOME(2, H2D_RSP),
			[0x2] = ONE(D2H_REQ), [0x3] = SOME(3, D2H_RSP),
			[0x4] = ONE(M2S_REQ), [0x5] = SOME(2, M2S_BIRSP),
			[0x6] = ONE(S2M_BISNP), [0x7] = SOME(2, S2M_NDR),
			[0xC] = SOME(3, H2D_DH), [0xD] = SOME(3, D2H_DH),
			[0xE] = ONE(M2S_RWD), [0xF] = SOME(2, S2M_DRS),
		},
	},
};
