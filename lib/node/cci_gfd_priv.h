/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Inside a GFD's responder: rows about capacity, and how rows end. */
#ifndef CCI_GFD_PRIV_H
#define CCI_GFD_PRIV_H

#include "cci_row.h"
#include "weft_cci_gfd.h"

#define CCI_GFD_GROUPS 31 /* bit 31 of a SAT entry is Notify */
#define CCI_GFD_UNIT_LOG2 28 /* capacities are counted in 256 MB */

/* A row; all of them are weft_cci_command_fn. */
#define CCI_GFD_ROW(name)                                                                          \
	uint16_t name(void *arg, const struct weft_cci_caller *who, const uint8_t *req,            \
		size_t len, uint8_t *rsp, size_t *rsp_len)

/* The return code for what a codec or a setter of tables says. */
uint16_t cci_gfd_rc(int rc);

/* End a row whose response has no payload. */
static inline uint16_t
cci_gfd_done(int rc, size_t *rsp_len)
{
	*rsp_len = 0;
	return cci_gfd_rc(rc);
}

/* Groups that commands can name. */
static inline unsigned int
cci_gfd_groups(const struct weft_gfam *t)
{
	const unsigned int n = weft_gfam_cfg(t)->groups;

	return n < CCI_GFD_GROUPS ? n : CCI_GFD_GROUPS;
}

/* cci_gfd_places.c: DMPs and regions */
CCI_GFD_ROW(cci_gfd_get_regions);
CCI_GFD_ROW(cci_gfd_set_region);
CCI_GFD_ROW(cci_gfd_get_dmps);
CCI_GFD_ROW(cci_gfd_set_dmps);

/* cci_gfd_capacity.c: extents, tags, rights */
CCI_GFD_ROW(cci_gfd_get_extents);
CCI_GFD_ROW(cci_gfd_add);
CCI_GFD_ROW(cci_gfd_release);
CCI_GFD_ROW(cci_gfd_hold);
CCI_GFD_ROW(cci_gfd_let_go);
CCI_GFD_ROW(cci_gfd_list_tags);
CCI_GFD_ROW(cci_gfd_get_sat);
CCI_GFD_ROW(cci_gfd_set_sat);

#endif /* CCI_GFD_PRIV_H */
