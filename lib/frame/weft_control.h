/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Link control frames (kind 1): type-length-value records by which two ends of a retry domain come
 * up, exchange identity and capabilities, and stay in touch (encapsulation.md section
 * 2; the layout is ours: doc/wire.md; what they do: doc/session.md). In rxl mode the domain is a
 * connection, so these frames are routed by DPID like any other.
 *
 *   record: type (1 byte), length of the value (1 byte), value; big-endian numbers
 */
#ifndef WEFT_CONTROL_H
#define WEFT_CONTROL_H

#include "weft_base.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_NODE_ID_LEN 16
#define WEFT_CONTROL_NAME_LEN 32 /**< of a fabric or node, zero-padded */
#define WEFT_CONTROL_MAX 160 /**< most bytes of records in a message, padding aside */
#define WEFT_RANDOM_LEN 32
#define WEFT_PROOF_LEN 16
#define WEFT_CONTROL_MAC_LEN 16

/** Messages. X and S: the session ids of weft_session.h; where not said, the header carries S. */
enum weft_control_type {
	WEFT_CONTROL_HELLO = 1, /**< X in the header: I want a session; here are my parameters */
	WEFT_CONTROL_WELCOME = 2, /**< X in the header: agreed; here are mine, and S */
	WEFT_CONTROL_REFUSE = 3, /**< X in the header: not agreed: see `differs` */
	WEFT_CONTROL_GOODBYE = 4, /**< the session is over here */
	WEFT_CONTROL_READY = 5, /**< I take S */
	WEFT_CONTROL_KEEPALIVE = 6, /**< I live: see `flags` */
	WEFT_CONTROL_RESET = 7, /**< the session in the header is unknown here */
	WEFT_CONTROL_LOSS = 8, /**< a switch had to drop `count` flits of yours in this session */
	WEFT_CONTROL_CHALLENGE = 9, /**< is it true that the session is over? Say `challenge` */
	WEFT_CONTROL_GONE = 10, /**< it is: to a CHALLENGE, with its number */
	/**
	 * Session 0, never forwarded: this process runs `name`; is there another one?
	 * (weft_duplicate.h)
	 */
	WEFT_CONTROL_ANNOUNCE = 11,
	/**
	 * Session 0, likewise: flits with messages of management stand behind the first 256 bytes
	 * (weft_management.h)
	 */
	WEFT_CONTROL_MANAGEMENT = 12,
	WEFT_CONTROL_TYPES
};

/** A parameter two ends must agree on, for REFUSE. 0 = none. */
enum weft_control_param {
	WEFT_PARAM_NONE,
	WEFT_PARAM_VERSION,
	WEFT_PARAM_MODE,
	WEFT_PARAM_CRC_ORDER,
	WEFT_PARAM_ISN_FORM,
	WEFT_PARAM_IDE_MODE,
	WEFT_PARAM_FRAME_SIZE, /**< frames of the size that is wanted do not pass */
	WEFT_PARAM_IDE_PCRC,
	WEFT_PARAM_IDE_STOP,
	WEFT_PARAM_IDE_POISON,
	WEFT_PARAM_IDE_KEY, /**< the proof shows another pre-shared key */
	WEFT_PARAM_PID, /**< no such PID here; the value is that of the node that got the HELLO */
	WEFT_PARAM_FORM, /**< what flits of cxl mode carry */
	WEFT_PARAM_COUNT
};

#define WEFT_CONTROL_RDI 0x01 /**< in `flags`: I hear nothing from you */

/* In `ide_bits`: as in the CXL IDE Control register, and what the sender could do, 8 bits above. */
#define WEFT_CONTROL_IDE_NO_PCRC 0x0001
#define WEFT_CONTROL_IDE_STOP 0x0002
#define WEFT_CONTROL_IDE_POISON 0x0004
#define WEFT_CONTROL_IDE_CAN(bit) ((bit) << 8)

/** One control message with every record decoded. Fields that its type does not carry are 0. */
struct weft_control {
	uint8_t type; /**< enum weft_control_type */
	/* HELLO, WELCOME, REFUSE: */
	uint8_t version; /**< frame version spoken */
	uint8_t mode; /**< enum weft_mode */
	uint8_t max_flits; /**< largest n the sender takes, 1..64 */
	uint8_t crc_order; /**< 0 r0 first, 1 r7 first */
	uint8_t isn_form; /**< 0 pseudo, 1 xor, 2 none */
	uint8_t ide_mode; /**< 0 off, 1 containment, 2 skid */
	uint8_t form; /**< of the frame's header, no record says it: enum weft_form; rxl: 0 */
	uint16_t ide_bits; /**< WEFT_CONTROL_IDE_*; 0 unless ide_mode is on */
	uint8_t differs; /**< REFUSE only: enum weft_control_param, never NONE */
	uint16_t credits; /**< requests the sender will hold for this connection */
	/* These and LOSS: */
	uint16_t port; /**< sender's port number */
	uint8_t node[WEFT_NODE_ID_LEN]; /**< sender's identity, zero-padded text or any bytes */
	/* Some: */
	uint8_t flags; /**< KEEPALIVE: WEFT_CONTROL_RDI or 0 */
	/** HELLO, WELCOME, MANAGEMENT: as long as a frame of so many flits, 1..64; 0: not */
	uint8_t padded;
	uint32_t session; /**< WELCOME: S, not 0 */
	uint32_t count; /**< LOSS: flits dropped, 1 or more */
	uint64_t challenge; /**< CHALLENGE, GONE: a random number, not 0 */
	/**
	 * HELLO, WELCOME: generation of the memory that the sender offers, drawn at random; 0:
	 * none.
	 */
	uint64_t memory;
	/** HELLO, WELCOME: that of the other end as met last, for others; 0: none */
	uint64_t known;
	/* With IDE on, else 0: */
	uint8_t random[WEFT_RANDOM_LEN]; /**< HELLO, WELCOME: the sender's share in the keys */
	/** WELCOME, READY, GONE, ANNOUNCE: the sender has the pre-shared key */
	uint8_t proof[WEFT_PROOF_LEN];
	uint64_t number; /**< KEEPALIVE, GOODBYE: counts from 1 in a session; 0: there is no MAC */
	uint8_t mac[WEFT_CONTROL_MAC_LEN]; /**< with a number: of weft_control_image() */
	/* ANNOUNCE: */
	uint8_t fabric[WEFT_CONTROL_NAME_LEN];
	uint8_t name[WEFT_CONTROL_NAME_LEN]; /**< of the node */
	uint64_t instance; /**< the sender's process: a random number, not 0 */
	uint64_t heard; /**< the instance that this answers; 0: a question */
	uint32_t runs_ms; /**< since the node takes part; 0: it does not */
};

/**
 * Read the records after a kind 1 frame header.
 *
 * @param rec  first record
 * @param len  bytes there; what lies after the last record is padding: zero bytes, or any bytes
 *             if the message says that it is padded (their errors say nothing of the records)
 * @param c    receives the message; meaningless unless WEFT_OK comes back
 * @return WEFT_OK; WEFT_DROP_BAD_CONTROL for a record that runs past the end, has a wrong length or
 *         an out-of-range value, for a missing or repeated record or one that does not belong to
 *         the message, for a wrong check, or for a frame shorter than the message says. Records of
 *         unknown type are passed over (a later version may add some).
 */
enum weft_verdict weft_control_parse(const uint8_t *rec, size_t len, struct weft_control *c);

/**
 * Write the records that a message of its type carries (in range, asserted), and zeros after them
 * if it is padded.
 *
 * @param rec  room for WEFT_CONTROL_MAX bytes, and for `padded` flits
 * @return bytes written: those of the records, or `padded` x 256
 */
size_t weft_control_build(uint8_t *rec, const struct weft_control *c);

/**
 * The bytes that the MAC of a message covers: its records as weft_control_build() writes them, but
 * MAC, check and padding. What is not in there has no meaning to the receiver.
 *
 * @param rec  room for WEFT_CONTROL_MAX bytes
 * @return bytes written
 */
size_t weft_control_image(uint8_t *rec, const struct weft_control *c);

/** True if two proofs, or MACs, are equal, in a time that does not tell how much of them is. */
bool weft_control_is_equal(const uint8_t *a, const uint8_t *b, size_t len);

/**
 * First parameter on which @p ours and @p theirs cannot work together.
 *
 * @return WEFT_PARAM_NONE if they agree
 */
enum weft_control_param weft_control_compare(
	const struct weft_control *ours, const struct weft_control *theirs);

/** Name of a parameter for messages to people, such as "CRC order". */
const char *weft_control_param_name(enum weft_control_param p);

/** Value of a parameter in @p c as a word or number, such as "r7 first". Constant string. */
const char *weft_control_param_value(const struct weft_control *c, enum weft_control_param p);

WEFT_END_DECLS

#endif /* WEFT_CONTROL_H */
