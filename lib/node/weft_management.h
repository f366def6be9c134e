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
 *   3. Who may send what is a rule of each port (MGMT-5): a host asks nobody, unless the topology
 *      calls it a manager's.
 *   4. A packet has at most WEFT_MANAGEMENT_UNIT bytes of a message: one fits each frame that can
 *      have a flit at all, so packets can be sent on by any link.
 *
 * Pure, any thread; a receiver is of one.
 */
#ifndef WEFT_MANAGEMENT_H
#define WEFT_MANAGEMENT_H

#include "weft_base.h"
#include "weft_cci_component.h"
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
#define WEFT_MANAGEMENT_HOPS 64 /**< a packet circles that so many switches have sent on */

/** Most packets of a message, its MCTP type included. */
#define WEFT_MANAGEMENT_PACKETS                                                                    \
	((WEFT_CCI_MCTP_MESSAGE_MAX + WEFT_MANAGEMENT_UNIT - 1) / WEFT_MANAGEMENT_UNIT)

/** A packet on its way. */
struct weft_management_packet {
	uint16_t spid, dpid; /**< 12 bits each; FFFh: none, whoever gets it */
	uint16_t len; /**< bytes of mctp[] */
	uint8_t hops; /**< switches that have sent it on */
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

/** Whether it is part of a request: the owner of its tag sent it. */
bool weft_management_is_request(const struct weft_management_packet *p);

/* --- who may send what --- */

/** Who is at the other end of a port. */
enum weft_management_from {
	WEFT_MANAGEMENT_FROM_NOBODY, /**< who has nothing to do with managers */
	WEFT_MANAGEMENT_FROM_SWITCH, /**< has checked what it sends on */
	WEFT_MANAGEMENT_FROM_GFD,
	WEFT_MANAGEMENT_FROM_MANAGER, /**< a host that the topology calls a manager's */
	WEFT_MANAGEMENT_FROM_HOST /**< any other: answers managers, and nothing else */
};

/** PIDs of hosts that the topology calls a manager's, a bit each. */
struct weft_management_managers {
	uint64_t pid[(WEFT_CCI_NO_PID + 1) / 64];
};

void weft_management_add_manager(struct weft_management_managers *m, uint16_t pid);

/**
 * Whether a packet may come in by a port.
 *
 * @param from  enum weft_management_from of the port
 * @param pid   that who is there has by the topology
 */
bool weft_management_may_enter(const struct weft_management_managers *m, uint8_t from, uint16_t pid,
	const struct weft_management_packet *p);

/** Whether a switch may send a packet on by a port: to a host requests of managers alone. */
bool weft_management_may_leave(const struct weft_management_managers *m, uint8_t from,
	const struct weft_management_packet *p);

/** Whether it is a request of a manager to the host with PID @p own. */
bool weft_management_is_asked(const struct weft_management_managers *m, uint16_t own,
	const struct weft_management_packet *p);

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
		bool is_request;
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
