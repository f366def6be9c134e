/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Messages of a fabric manager between neighbours (encapsulation.md section 6): MCTP packets in
 * vendor-defined messages with a PTH, these in flits of type 01 with CRC and FEC, and the flits in
 * a link control frame of session 0. A switch that is not told yet who it is, and has no tables,
 * has a neighbour all the same: so the first message of all takes this way.
 *
 *   1. A frame stands for itself: its flits begin with a PTH, and have no numbers. What is damaged
 *      or lost is not sent again: who asked, asks again.
 *   2. DPID FFFh, or its own PID, is for whoever gets the message (fabric.md 2.3).
 *   3. A packet has at most WEFT_MANAGEMENT_UNIT bytes of a message: one fits each frame that can
 *      have a flit at all, so packets can be sent on by any link.
 *
 * Pure, any thread; a receiver is of one.
 */
#ifndef WEFT_MANAGEMENT_H
#define WEFT_MANAGEMENT_H

#include "weft_base.h"
#include "weft_cci_mctp.h"
#include "weft_codec.h"
#include "weft_flit.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

/** Row order of weft_management_counters. */
enum weft_management_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_MANAGEMENT_N_##id,
#include "weft_management_counters.def"
#undef WEFT_COUNTER
	WEFT_MANAGEMENT_N_COUNTERS
};

extern const struct weft_counter weft_management_counters[];

#define WEFT_MANAGEMENT_UNIT 192 /**< bytes of a message in one packet: six are 1152 (Q26) */
#define WEFT_MANAGEMENT_FLITS 8 /**< most that a frame has */

/** Most packets of a message, its MCTP type included. */
#define WEFT_MANAGEMENT_PACKETS                                                                    \
	((WEFT_CCI_MCTP_MESSAGE_MAX + WEFT_MANAGEMENT_UNIT - 1) / WEFT_MANAGEMENT_UNIT)

/** A packet on its way. */
struct weft_management_packet {
	uint16_t spid, dpid; /**< 12 bits each; FFFh: none, whoever gets it */
	uint16_t len; /**< bytes of mctp[] */
	uint8_t mctp[WEFT_CCI_MCTP_HDR + WEFT_MANAGEMENT_UNIT]; /**< header, and its part */
};

/**
 * Cut a message.
 *
 * @param p    receives the packets: room for WEFT_MANAGEMENT_PACKETS
 * @param h    tag and owner
 * @param msg  MCTP type first, @p len bytes, 1..WEFT_CCI_MCTP_MESSAGE_MAX
 * @return packets
 */
unsigned int weft_management_cut(struct weft_management_packet *p, uint16_t spid, uint16_t dpid,
	const struct weft_cci_mctp_hdr *h, const uint8_t *msg, size_t len);

/**
 * Write as many of @p n packets as fit into the flits of one frame, CRC and FEC included.
 *
 * @param flits    room for @p room flits, 1..WEFT_MANAGEMENT_FLITS
 * @param n_flits  receives how many were written
 * @return packets taken, at least one
 */
unsigned int weft_management_put(uint8_t *flits, unsigned int room,
	const struct weft_management_packet *p, unsigned int n, const struct weft_codec *codec,
	enum weft_crc_order order, unsigned int *n_flits);

typedef void (*weft_management_fn)(void *arg, const struct weft_management_packet *p);

/**
 * Read the flits of a frame, @p n of them, which are corrected in place.
 *
 * @param fn  called for each packet, in order
 * @return WEFT_OK; WEFT_DROP_FEC, _CRC or _IO_STREAM: what stands behind that is not read;
 *         _WRONG_CLASS: something that is no MCTP packet was passed by
 */
enum weft_verdict weft_management_get(uint8_t *flits, unsigned int n,
	const struct weft_codec *codec, enum weft_crc_order order, weft_management_fn fn,
	void *arg);

#define WEFT_MANAGEMENT_OPEN 8 /**< messages at a time that a receiver puts together */

/** A receiver: messages that are not whole yet, by whom they come from. All 0 at first. */
struct weft_management_rx {
	uint64_t turn; /* packets so far */
	struct weft_management_open {
		uint64_t used; /* turn of its last packet; 0: free */
		uint16_t port, spid, dpid;
		struct weft_cci_mctp_rx rx;
	} open[WEFT_MANAGEMENT_OPEN];
};

/**
 * Take a packet that came by @p port.
 *
 * @return the message's receiver if it is whole now, until the next call: message[0..len), its hdr;
 *         NULL: more must come, or it was none
 */
const struct weft_cci_mctp_rx *weft_management_take(
	struct weft_management_rx *r, uint16_t port, const struct weft_management_packet *p);

WEFT_END_DECLS

#endif /* WEFT_MANAGEMENT_H */
