/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Link control frames (kind 1): type-length-value records by which two ends of a retry domain
 * tell each other who they are and what they speak before flits flow (encapsulation.md section 2;
 * the layout is ours: doc/wire.md). In rxl mode the domain is a connection, so these frames are
 * routed by DPID like any other.
 *
 *   record: type (1 byte), length of the value (1 byte), value; big-endian numbers
 */
#ifndef WEFT_CONTROL_H
#define WEFT_CONTROL_H

#include <stddef.h>
#include <stdint.h>

#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NODE_ID_LEN 16
#define WEFT_CONTROL_MAX 128 /**< room that weft_control_build() ever needs, in bytes */

enum weft_control_type {
	WEFT_CONTROL_HELLO = 1, /**< I want this session; here are my parameters */
	WEFT_CONTROL_WELCOME = 2, /**< agreed; here are mine */
	WEFT_CONTROL_REFUSE = 3, /**< not agreed: see `differs` */
	WEFT_CONTROL_GOODBYE = 4 /**< the session ends */
};

/** A parameter two ends must agree on, for REFUSE. 0 = none. */
enum weft_control_param {
	WEFT_PARAM_NONE,
	WEFT_PARAM_VERSION,
	WEFT_PARAM_MODE,
	WEFT_PARAM_CRC_ORDER,
	WEFT_PARAM_ISN_FORM,
	WEFT_PARAM_IDE_MODE,
	WEFT_PARAM_COUNT
};

/** One control message with every record decoded. */
struct weft_control {
	uint8_t type; /**< enum weft_control_type */
	uint8_t version; /**< frame version spoken */
	uint8_t mode; /**< enum weft_mode */
	uint8_t max_flits; /**< largest n the sender takes, 1..64 */
	uint8_t crc_order; /**< 0 r0 first, 1 r7 first */
	uint8_t isn_form; /**< 0 pseudo, 1 xor, 2 none */
	uint8_t ide_mode; /**< 0 off, 1 containment, 2 skid */
	uint8_t differs; /**< enum weft_control_param, REFUSE only */
	uint16_t port; /**< sender's port number */
	uint16_t credits; /**< requests the sender will hold for this connection */
	uint8_t node[WEFT_NODE_ID_LEN]; /**< sender's identity, zero-padded text or any bytes */
};

/**
 * Read the records behind a kind 1 frame header.
 *
 * @param rec  first record
 * @param len  bytes there; trailing zero bytes (Ethernet padding) are allowed
 * @param c    receives the message; unset fields are 0
 * @return WEFT_OK; WEFT_DROP_BAD_CONTROL for a record that runs past the end, has a wrong length or
 *         an out-of-range value, for a missing or repeated record. Records of unknown type are
 *         passed over (a later version may add some).
 */
enum weft_verdict weft_control_parse(const uint8_t *rec, size_t len, struct weft_control *c);

/**
 * Write the records of @p c (in range, asserted).
 *
 * @param rec  room for WEFT_CONTROL_MAX bytes
 * @return bytes written
 */
size_t weft_control_build(uint8_t *rec, const struct weft_control *c);

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

#ifdef __cplusplus
}
#endif

#endif /* WEFT_CONTROL_H */
