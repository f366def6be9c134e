/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The frame: 14 bytes of Ethernet, 18 of header with its own check, then 1..64 flits back to back,
 * so that flits begin at byte 32 (encapsulation.md section 2). Lengths from the wire are checked
 * here, once; what weft_wire_parse() accepts needs no second look.
 *
 * Words of frames, with the rules that keep them (doc/spec/encapsulation.md section 2):
 *
 *   1. A frame has a version, a kind (flits or link control), a mode and a header check. It is
 *      taken whole or dropped whole, and the first fault names the counter (FRAME-7, FRAME-10).
 *   2. In rxl mode SPID, DPID and VC name the connection of all flits in it. In cxl mode a frame
 *      belongs to the link that it came by, and both ids are 0xFFF (FRAME-6).
 *   3. The session id is of one retry domain; flits of another session are dropped (FRAME-9).
 *   4. Switches of rxl mode forward a frame by its DPID. They take uncorrectable flits out of it
 *      and change nothing else (FRAME-11).
 *   5. A link control frame has records of type, length and value (weft_control.h), and no flits.
 *   6. The sender's clock is for measuring latency alone.
 */
#ifndef WEFT_WIRE_H
#define WEFT_WIRE_H

#include "weft_base.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_ETHERTYPE 0x88B5 /**< IEEE local experimental */
#define WEFT_WIRE_VERSION 1
#define WEFT_ETH_LEN 14
#define WEFT_WIRE_HDR_LEN 18
#define WEFT_WIRE_FLITS_OFF (WEFT_ETH_LEN + WEFT_WIRE_HDR_LEN)
#define WEFT_WIRE_FLITS_MAX 64
#define WEFT_WIRE_FLIT_LEN 256
#define WEFT_PID_NONE 0xFFF /**< SPID and DPID in cxl mode; "not assigned" elsewhere */

/** Bytes of a frame with @p n flits, Ethernet header included. */
#define WEFT_WIRE_FRAME_LEN(n) (WEFT_WIRE_FLITS_OFF + WEFT_WIRE_FLIT_LEN * (size_t)(n))

/** Most flits that fit an MTU (payload of an Ethernet frame), 0..64: 5 for 1500, 35 for 9000. */
#define WEFT_WIRE_FLITS_FOR_MTU(mtu)                                                               \
	((mtu) < WEFT_WIRE_HDR_LEN ? 0                                                             \
		: ((mtu)-WEFT_WIRE_HDR_LEN) / WEFT_WIRE_FLIT_LEN > WEFT_WIRE_FLITS_MAX             \
			? WEFT_WIRE_FLITS_MAX                                                      \
			: ((mtu)-WEFT_WIRE_HDR_LEN) / WEFT_WIRE_FLIT_LEN)

enum weft_wire_kind { WEFT_WIRE_FLITS = 0, WEFT_WIRE_CONTROL = 1 };
enum weft_mode { WEFT_MODE_CXL = 0, WEFT_MODE_RXL = 1 };

/** "cxl", "rxl". */
extern const char *const weft_mode_words[];

/** A frame header in host order. */
struct weft_wire_hdr {
	uint8_t kind; /**< enum weft_wire_kind */
	uint8_t mode; /**< enum weft_mode */
	uint8_t form; /**< cxl: enum weft_form of what flits carry; rxl, where it is PBR: 0 */
	uint8_t n_flits; /**< 1..64; 0 for link control */
	uint8_t vc; /**< 0..7 */
	uint16_t spid; /**< 0..0xFFF; WEFT_PID_NONE in cxl mode */
	uint16_t dpid; /**< likewise */
	uint32_t session; /**< of the retry domain */
	uint32_t clock; /**< sender's clock, low 32 bits of nanoseconds; 0 = none */
};

/**
 * Check a whole frame and read its header. Nothing of @p h is meaningful unless WEFT_OK comes back.
 *
 * @param frame  first byte of the Ethernet header
 * @param len    bytes there; must be exactly what the header says
 * @param h      receives the header; may not be NULL
 * @return WEFT_OK, or the first of WEFT_DROP_RUNT, _ETHERTYPE, _VERSION, _KIND, _FLAGS,
 *         _HEADER_CHECK, _COUNT, _VC, _ID, _LENGTH that holds. A packet too short for the header
 *         but with another EtherType is _ETHERTYPE. A kind 1 frame may have any length from
 *         WEFT_WIRE_FLITS_OFF up: its records are checked by their own parser.
 */
enum weft_verdict weft_wire_parse(const uint8_t *frame, size_t len, struct weft_wire_hdr *h);

/**
 * Write bytes 12..31 of a frame: EtherType and header with its check. The MAC addresses and the
 * flits are the caller's. @p h must be in range (asserted).
 */
void weft_wire_build(uint8_t *frame, const struct weft_wire_hdr *h);

/**
 * Remove the flits of @p gone (bit i: flit i) from a frame: later flits move up, count and check
 * follow.
 *
 * @param h  the frame's header as parsed; n_flits is updated
 * @return the new frame length in bytes; 0 if no flit is left (such a frame is not sent)
 */
size_t weft_wire_remove(uint8_t *frame, struct weft_wire_hdr *h, uint64_t gone);

/** Bit i is set if flit i of @p n (0..64) is 256 zero bytes. @p flits any alignment. */
uint64_t weft_wire_all_zero(const uint8_t *flits, unsigned int n);

WEFT_END_DECLS

#endif /* WEFT_WIRE_H */
