/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Control side of routing: every rule of Set DRT and Set RGT (fabric.md section 1.10). */

#include "weft_route.h"

#include <errno.h>

static_assert(sizeof(struct weft_rgt_entry) == 12, "wire layout of an RGT row");

/* Table 7-86, and its reason: what pushes something else along must follow it. */
const struct weft_route_class_info weft_route_classes[WEFT_CLASSES] = {
	[WEFT_CLASS_D2H_REQ] = { "d2h-req", true },
	[WEFT_CLASS_D2H_RSP] = { "d2h-rsp", true },
	[WEFT_CLASS_D2H_DH] = { "d2h-dh", true },
	[WEFT_CLASS_H2D_REQ] = { "h2d-req", false }, /* a snoop pushes GO */
	[WEFT_CLASS_H2D_RSP] = { "h2d-rsp", false },
	[WEFT_CLASS_H2D_DH] = { "h2d-dh", true },
	[WEFT_CLASS_M2S_REQ_HDM_D] = { "req-hdm-d", false },
	[WEFT_CLASS_M2S_REQ_HDM_H] = { "req-hdm-h", true },
	[WEFT_CLASS_M2S_REQ_HDM_DB] = { "req-hdm-db", true },
	[WEFT_CLASS_M2S_RWD] = { "rwd", true },
	[WEFT_CLASS_M2S_BIRSP] = { "birsp", true },
	[WEFT_CLASS_S2M_NDR] = { "ndr", false }, /* BI-ConflictAck pushes Cmp */
	[WEFT_CLASS_S2M_DRS] = { "drs", true },
	[WEFT_CLASS_S2M_BISNP] = { "bisnp", true },
	[WEFT_CLASS_IO] = { "io", false },
	[WEFT_CLASS_IO_VH] = { "io-vh", false },
	[WEFT_CLASS_UIO_P2P] = { "uio-p2p", true },
};

int
weft_route_init(struct weft_route *r, unsigned int n_rgt)
{
	if (n_rgt > WEFT_RGT_ROWS || (n_rgt & (n_rgt - 1)) != 0)
		return -EINVAL;
	memset(r, 0, sizeof(*r));
	memset(r->first, 0xFF, sizeof(r->first));
	r->n_rgt = (uint16_t)n_rgt;
	return 0;
}

static int16_t
route_first_port(const struct weft_route *r, const uint8_t row[2])
{
	switch (row[0]) {
	case WEFT_DRT_PORT: return row[1];
	case WEFT_DRT_RGT: return r->rgt[row[1]].port[0];
	default: return WEFT_ROUTE_NONE;
	}
}

static bool
route_row_is_good(const struct weft_route *r, const uint8_t row[2])
{
	return row[0] <= WEFT_DRT_PORT || (row[0] == WEFT_DRT_RGT && row[1] < r->n_rgt);
}

int
weft_route_set_drt(
	struct weft_route *r, unsigned int start, const uint8_t (*row)[2], unsigned int n)
{
	if (n > WEFT_PID_RESERVED || start > WEFT_PID_RESERVED - n)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (!route_row_is_good(r, row[i]))
			return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		r->n_groups = (uint16_t)(r->n_groups + (row[i][0] == WEFT_DRT_RGT) -
					 (r->drt.entry[start + i][0] == WEFT_DRT_RGT));
		r->first[start + i] = route_first_port(r, row[i]);
	}
	memcpy(r->drt.entry[start], row, n * sizeof(*row));
	return 0;
}

static int
route_check_rgt(const struct weft_rgt_entry *e)
{
	const unsigned int mode = e->mode & 7;

	if (((e->counts | e->mode) & 0xC0) != 0 || (e->reserved[0] | e->reserved[1]) != 0 ||
		e->counts >> 3 > (e->counts & 7) || (mode >= 3 && mode <= 5))
		return -EINVAL;
	return (WEFT_RGT_MODES >> mode & 1) != 0 ? 0 : -ENOTSUP;
}

int
weft_route_set_rgt(
	struct weft_route *r, unsigned int start, const struct weft_rgt_entry *e, unsigned int n)
{
	if (n > r->n_rgt || start > r->n_rgt - n)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		const int rc = route_check_rgt(&e[i]);

		if (rc != 0)
			return rc;
	}
	memcpy(&r->rgt[start], e, n * sizeof(*e));
	for (unsigned int d = 0; d < WEFT_PID_RESERVED; d++)
		r->first[d] = route_first_port(r, r->drt.entry[d]);
	return 0;
}
