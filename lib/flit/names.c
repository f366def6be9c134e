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
