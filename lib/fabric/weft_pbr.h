/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Rows of port-based routing as on the wire, and the plain table of them: DRT (DPID to port,
 * fabric.md section 1.10) and FAST (host physical address to DPID, section 1.2).
 */
#ifndef WEFT_PBR_H
#define WEFT_PBR_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_PIDS 4096
#define WEFT_PID_RESERVED 0xFFF /**< "handle here" as a DPID, "not assigned" as a value */

/** DRT entry type, byte 0 bits 1:0. */
enum weft_drt_type { WEFT_DRT_INVALID = 0, WEFT_DRT_PORT = 1, WEFT_DRT_RGT = 2 };

/** DPID routing table. All zero = every DPID invalid. */
struct weft_drt {
	uint8_t entry[WEFT_PIDS][2]; /* wire layout: type, port */
};

/**
 * Set or clear one row.
 *
 * @param port  0..255, or -1 to make the row invalid
 * @return 0, or -EINVAL for a DPID of 0xFFF or above, or a port out of range
 */
int weft_drt_set(struct weft_drt *t, uint16_t dpid, int port);

/** Port of @p dpid, 0..255, or -1 if the row is invalid, or @p dpid above 0xFFF. Any thread. */
int weft_drt_port(const struct weft_drt *t, uint16_t dpid);

/** FAST entry as on the wire (8 bytes; fabric.md section 1.2). */
struct weft_fast_entry {
	uint8_t flags; /* [0] valid, [1] GIM segment */
	uint8_t intlv;
	uint8_t gran;
	uint8_t reserved;
	uint16_t dpid; /* little-endian on the wire; host order here */
	uint16_t reserved2;
};

WEFT_END_DECLS

#endif /* WEFT_PBR_H */
