/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * DPID routing table (fabric.md section 1.10): DPID to port. Rows are kept as on the wire, so a
 * table read or written by the fabric manager needs no conversion. Only rows of type "port" route
 * here; a row that names a routing group, or type 3, leads nowhere.
 */

#include "weft_pbr.h"

#include <errno.h>

int
weft_drt_set(struct weft_drt *t, uint16_t dpid, int port)
{
	if (dpid >= WEFT_PID_RESERVED || port < -1 || port > UINT8_MAX)
		return -EINVAL;
	t->entry[dpid][0] = port < 0 ? WEFT_DRT_INVALID : WEFT_DRT_PORT;
	t->entry[dpid][1] = port < 0 ? 0 : (uint8_t)port;
	return 0;
}

int
weft_drt_port(const struct weft_drt *t, uint16_t dpid)
{
	/* The upper bits of the type byte are reserved: ignored, not compared. */
	if (dpid >= WEFT_PIDS || (t->entry[dpid][0] & 3) != WEFT_DRT_PORT)
		return -1;
	return t->entry[dpid][1];
}
