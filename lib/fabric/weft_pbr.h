/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Port-based routing tables, the part every switch and edge port needs: DRT (DPID to port,
 * fabric.md section 1.10) and FAST without interleave (host physical address to DPID, section 1.2).
 * A table is filled on the control side and then read only; the reader holds it by pointer.
 */
#ifndef WEFT_PBR_H
#define WEFT_PBR_H

#include <stddef.h>
#include <stdint.h>

#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/**
 * Ports of a run.
 *
 * @param dpid  @p n ids
 * @param port  receives a port or -1 for each
 */
void weft_drt_run(const struct weft_drt *t, const uint16_t *dpid, int16_t *port, unsigned int n);

/** FAST entry as on the wire (8 bytes; fabric.md section 1.2). */
struct weft_fast_entry {
	uint8_t flags; /* [0] valid, [1] GIM segment */
	uint8_t intlv;
	uint8_t gran;
	uint8_t reserved;
	uint16_t dpid; /* little-endian on the wire; host order here */
	uint16_t reserved2;
};

/**
 * FAST of one request port. The entry number comes from the address itself, not from its distance
 * to the base, and wraps.
 */
struct weft_fast {
	uint64_t base; /* first address, multiple of the segment size; 0 = decoder off */
	uint64_t limit; /* first address past the range; 0 = decoder off */
	uint8_t segment_log2; /* 36..43: 64 GB .. 8 TB */
	uint8_t depth_log2; /* 0..12: 1..4096 entries */
	struct weft_fast_entry *entry; /* 1 << depth_log2, memory of the caller */
};

/**
 * Start a FAST with every entry invalid.
 *
 * @param entry  memory for 1 << depth_log2 entries, the caller's for the table's life
 * @return 0; -EINVAL for a base or limit that is not a multiple of the segment size, a limit not
 *         above the base, a range of more than depth x segment size, or sizes out of range. A base
 *         or limit of 0 is no error: the decoder is off
 */
int weft_fast_init(struct weft_fast *t, struct weft_fast_entry *entry, uint64_t base,
	uint64_t limit, uint8_t segment_log2, uint8_t depth_log2);

/**
 * Let the segment that holds @p hpa go to @p dpid, or nowhere (@p dpid = WEFT_PID_RESERVED).
 *
 * @return 0; -EINVAL for a DPID above 0xFFF; -ERANGE if @p hpa is outside base..limit-1
 */
int weft_fast_set(struct weft_fast *t, uint64_t hpa, uint16_t dpid);

/** DPID for @p hpa, or -1 if no valid segment holds it. Any thread. */
int weft_fast_dpid(const struct weft_fast *t, uint64_t hpa);

/** DPIDs of a run of @p n addresses; -1 for a miss. */
void weft_fast_run(const struct weft_fast *t, const uint64_t *hpa, int16_t *dpid, unsigned int n);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_PBR_H */
