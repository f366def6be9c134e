/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE_KM: the messages by which a key manager programs the streams of a port, and their responder
 * (wire-formats.md section 5.5). They ride in SPDM vendor-defined messages; whatever protects those
 * is not here. Pure. One thread a responder.
 *
 *   0  standards id 3, length of the vendor id 2, vendor id 1E98h, payload length; little-endian
 *   7  protocol id 0, then the object: its id and body
 */
#ifndef WEFT_IDE_KM_H
#define WEFT_IDE_KM_H

#include "weft_base.h"
#include "weft_ide.h"

WEFT_BEGIN_DECLS

#define WEFT_IDE_KM_MAX 64 /**< most bytes of a message */
#define WEFT_IDE_KM_REGS_LEN 32 /**< IDE capability registers, version 1 */
#define WEFT_IDE_KM_PORTS 16 /**< ports of a responder at most */

enum weft_ide_km_object {
	WEFT_IDE_KM_QUERY,
	WEFT_IDE_KM_QUERY_RESP,
	WEFT_IDE_KM_KEY_PROG,
	WEFT_IDE_KM_KP_ACK,
	WEFT_IDE_KM_K_SET_GO,
	WEFT_IDE_KM_K_SET_STOP,
	WEFT_IDE_KM_GOSTOP_ACK,
	WEFT_IDE_KM_GETKEY,
	WEFT_IDE_KM_GETKEY_ACK,
	WEFT_IDE_KM_OBJECTS
};

/** In `caps`, with the version in bits 3:0. */
#define WEFT_IDE_KM_CAP_VERSION 0x01
#define WEFT_IDE_KM_CAP_IV 0x10 /**< an IV other than the default may be programmed */
#define WEFT_IDE_KM_CAP_KEYGEN 0x20 /**< GETKEY */
#define WEFT_IDE_KM_CAP_STOP 0x40 /**< K_SET_STOP */

/** Of KP_ACK, as of PCIe's IDE_KM. */
enum weft_ide_km_status {
	WEFT_IDE_KM_OK,
	WEFT_IDE_KM_BAD_LENGTH,
	WEFT_IDE_KM_BAD_PORT,
	WEFT_IDE_KM_BAD_VALUE,
	WEFT_IDE_KM_FAILED
};

/** One object, decoded. Fields that it does not have are 0. */
struct weft_ide_km {
	uint8_t object; /**< enum weft_ide_km_object */
	uint8_t port;
	/* QUERY_RESP */
	uint8_t dev_func, bus, segment, max_port, caps;
	uint8_t regs[WEFT_IDE_KM_REGS_LEN];
	uint8_t status; /**< KP_ACK: enum weft_ide_km_status */
	/* all but QUERY and QUERY_RESP: the sub-stream byte; its bits 7:4 are 8 */
	bool is_tx;
	bool bit3; /**< KEY_PROG: default IV; K_SET_GO: containment, else skid */
	/* KEY_PROG, GETKEY_ACK */
	uint8_t key[WEFT_IDE_KEY_LEN];
	uint32_t iv[3]; /**< [95:64], [63:32], [31:0] */
};

/**
 * Write a message.
 *
 * @param out  room for WEFT_IDE_KM_MAX bytes
 * @return bytes written; 0 for an object that does not exist
 */
size_t weft_ide_km_put(uint8_t *out, const struct weft_ide_km *m);

/**
 * Read a message.
 *
 * @param m  receives it; after -EINVAL and -EMSGSIZE of a KEY_PROG, its port and sub-stream if they
 *           were there, for the answer
 * @return 0; -EPROTO: not an IDE_KM message, or its lengths disagree; -EBADRQC: an object that does
 *         not exist; -EMSGSIZE: an object of another length; -EINVAL: a stream other than 0, or a
 *         reserved sub-stream
 */
int weft_ide_km_get(const uint8_t *in, size_t len, struct weft_ide_km *m);

/** Operations of a responder. Each returns 0, or a negative error: then it was not done. */
struct weft_ide_km_ops {
	/**
	 * The key that the next go() takes. @p counter of its IV, 1 or more. Read during the call.
	 */
	int (*program)(void *arg, uint8_t port, bool is_tx, const uint8_t *key, uint64_t counter);
	/** Start, or change keys if it runs: a sender by IDE.Start. */
	int (*go)(void *arg, uint8_t port, bool is_tx, enum weft_ide_mode mode);
	int (*stop)(void *arg, uint8_t port, bool is_tx);
	/** Make a key for KEY_PROG at the other end: WEFT_IDE_KEY_LEN bytes, and the counter. */
	int (*make_key)(void *arg, uint8_t port, bool is_tx, uint8_t *key, uint64_t *counter);
	void *arg;
};

enum weft_ide_km_counter {
	WEFT_IDE_KM_N_ANSWERED,
	WEFT_IDE_KM_N_MALFORMED, /**< refused for their form */
	WEFT_IDE_KM_N_REFUSED, /**< well-formed, and not possible now or here */
	WEFT_IDE_KM_N_COUNTERS
};

/** A responder. To be read only. */
struct weft_ide_km_responder {
	struct weft_ide_km self; /* QUERY_RESP */
	struct weft_ide_km_ops ops;
	uint8_t state[WEFT_IDE_KM_PORTS][2]; /* by port and direction, Rx first */
	uint8_t mode[WEFT_IDE_KM_PORTS][2]; /* enum weft_ide_mode of one that runs */
	uint64_t count[WEFT_IDE_KM_N_COUNTERS];
};

/**
 * @param self  what QUERY is answered with; max_port below WEFT_IDE_KM_PORTS
 * @return 0 or -EINVAL
 */
int weft_ide_km_init(struct weft_ide_km_responder *r, const struct weft_ide_km *self,
	const struct weft_ide_km_ops *ops);

/**
 * Answer a message. KEY_PROG is always answered, with a status; another that is malformed or not
 * possible is not answered. The message may hold a key: wiping it is the caller's.
 *
 * @param out  room for WEFT_IDE_KM_MAX bytes
 * @return bytes of the answer; 0: none
 */
size_t weft_ide_km_respond(
	struct weft_ide_km_responder *r, const uint8_t *in, size_t len, uint8_t *out);

WEFT_END_DECLS

#endif /* WEFT_IDE_KM_H */
