/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * MCTP: CCI messages in packets between endpoints, and packets on a serial line (fabric.md 4.2).
 * A message is cut into packets of at most the MTU; its first byte, before the CCI header, is the
 * type.
 *
 *   packet  01  destination  source  flags (80h first, 40h last, [5:4] sequence, [3] owner,
 *           [2:0] tag)
 *   serial  7E  01  LEN  packet with 7E and 7D escaped  FCS (high, low)  7E
 *
 * Senders need no state; a receiver is one struct. Pure functions; a receiver is of one thread.
 */
#ifndef WEFT_CCI_MCTP_H
#define WEFT_CCI_MCTP_H

#include "weft_base.h"
#include "weft_cci.h"

WEFT_BEGIN_DECLS

#define WEFT_CCI_MCTP_HDR 4 /**< bytes of a packet's header */
#define WEFT_CCI_MCTP_MTU 64 /**< bytes behind it that every link takes */
#define WEFT_CCI_MCTP_MTU_FABRIC 1152 /**< in the fabric, in one VDM or several (Q26) */

/** Longest message: type, header, payload. */
#define WEFT_CCI_MCTP_MESSAGE_MAX (1 + WEFT_CCI_HDR + WEFT_CCI_MAX_PAYLOAD)

enum weft_cci_mctp_type {
	WEFT_CCI_MCTP_CONTROL = 0,
	WEFT_CCI_MCTP_FM_API = 7, /**< sets 51h to 59h */
	WEFT_CCI_MCTP_CCI = 8, /**< all others */
};

/** Header of a packet, and what all packets of a message share. */
struct weft_cci_mctp_hdr {
	uint8_t dest, src; /**< endpoint ids */
	bool is_first, is_last; /**< of the message */
	uint8_t seq; /**< 0..3, one more in each packet */
	bool is_owner; /**< the tag is the sender's: of requests */
	uint8_t tag; /**< 0..7 */
};

/** A receiver: one message at a time. All 0 at first. */
struct weft_cci_mctp_rx {
	bool is_open; /**< the last packet is missing */
	struct weft_cci_mctp_hdr hdr; /**< of the last packet that was taken */
	size_t unit; /**< bytes behind the header of the first packet */
	size_t len; /**< bytes of message[] */
	uint8_t message[WEFT_CCI_MCTP_MESSAGE_MAX]; /**< type first */
};

/** Type of the messages of a command: enum weft_cci_mctp_type. */
uint8_t weft_cci_mctp_type(uint16_t opcode);

/** Whether messages of a type are commands, their answers and notifications (CCI). */
static inline bool
weft_cci_mctp_is_cci(uint8_t type)
{
	return type == WEFT_CCI_MCTP_FM_API || type == WEFT_CCI_MCTP_CCI;
}

/** Header of the answer to @p h: ids changed, tag not the sender's. */
struct weft_cci_mctp_hdr weft_cci_mctp_answer(const struct weft_cci_mctp_hdr *h);

void weft_cci_mctp_put_hdr(uint8_t b[WEFT_CCI_MCTP_HDR], const struct weft_cci_mctp_hdr *h);

/** @return 0; -EMSGSIZE: @p len is less than a header; -EINVAL: another version than 1 */
int weft_cci_mctp_get_hdr(struct weft_cci_mctp_hdr *h, const uint8_t *b, size_t len);

/** Packets of a message of @p len bytes, type included. @p mtu is at least 1. */
unsigned int weft_cci_mctp_packets(size_t len, size_t mtu);

/**
 * Write packet @p i, 0 and up, of a message.
 *
 * @param b      receives it
 * @param room   bytes there: WEFT_CCI_MCTP_HDR + @p mtu are enough
 * @param h      ids, owner and tag; the sequence number of the first packet
 * @param msg    the message, type first, of @p len bytes
 * @return bytes; -ERANGE: it has no such packet; -ENOBUFS: no room
 */
int weft_cci_mctp_put_packet(uint8_t *b, size_t room, const struct weft_cci_mctp_hdr *h,
	const uint8_t *msg, size_t len, size_t mtu, unsigned int i);

/**
 * Take a packet. A first packet ends what was open; what does not follow the last one ends it too.
 *
 * @return 1: message[0..len) is whole, until the next call; 0: more must come; -EMSGSIZE: no
 *         header, nothing behind it, a packet that is no whole unit and not the last, or a
 *         message that is too long; -EINVAL: another version, or a message with an integrity
 *         check; -EPROTO: it does not follow the last one. After an error nothing is open, but a
 *         packet that belongs to another message (ids, tag) leaves what is open as it is
 */
int weft_cci_mctp_rx(struct weft_cci_mctp_rx *rx, const uint8_t *b, size_t len);

/* --- serial line --- */

#define WEFT_CCI_SERIAL_PACKET_MAX (WEFT_CCI_MCTP_HDR + WEFT_CCI_MCTP_MTU) /**< as Linux has it */
/** Longest frame: every byte of the packet escaped. */
#define WEFT_CCI_SERIAL_FRAME_MAX (3 + 2 * WEFT_CCI_SERIAL_PACKET_MAX + 3)

/** Check sequence of @p len bytes, continuing @p fcs, which is FFFFh at first. */
uint16_t weft_cci_serial_fcs(uint16_t fcs, const uint8_t *b, size_t len);

/**
 * Write the frame of a packet.
 * @return bytes; -EMSGSIZE: @p len is 0 or above the most; -ENOBUFS: no room
 */
int weft_cci_serial_put(uint8_t *b, size_t room, const uint8_t *packet, size_t len);

/** A receiver of bytes. All 0 at first. */
struct weft_cci_serial_rx {
	uint8_t state; /**< enum in the code */
	bool is_escaped; /**< the byte before was 7D */
	uint8_t want, len; /**< bytes of packet[]: as the frame says, and there */
	uint16_t fcs; /**< as received */
	uint8_t packet[WEFT_CCI_SERIAL_PACKET_MAX];
};

/**
 * Take a byte. Bytes between frames are skipped.
 * @return 0; above 0: packet[] has that many bytes, until the next call; -EBADMSG: a frame that was
 * begun is none (revision, length, escape, check sequence); the next one begins with the next 7E
 */
int weft_cci_serial_rx(struct weft_cci_serial_rx *rx, uint8_t byte);

WEFT_END_DECLS

#endif /* WEFT_CCI_MCTP_H */
