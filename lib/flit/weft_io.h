/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * CXL.io packets (TLPs), and how flits of type 01 carry them (wire-formats.md sections
 * 1.1 and 6; what is decided: doc/io.md). On the wire a TLP is
 *
 *   VendPrefixL0   1 DW, if there is one
 *   PTH            1 DW: sender, receiver; in PBR form only
 *   TLP            PASID prefix (1 DW, if there is one), header of 3 or 4 DW, payload of 0..64 DW
 *
 * A flit's bytes 2..237 are a piece of an endless row of DWs: TLPs stand in it back to back, or
 * with NOP DWs between, and run over into the next flit. Bytes 238..241 are a DLLP. Pure functions,
 * any thread; objects one thread at a time. This library knows layout, not integrity.
 */
#ifndef WEFT_IO_H
#define WEFT_IO_H

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

#define WEFT_IO_TLP_MAX (16 + 256) /**< header and payload; no VendPrefixL0, no PTH */
#define WEFT_IO_WIRE_MAX (8 + WEFT_IO_TLP_MAX) /**< with both */
#define WEFT_IO_OFF 2 /**< of the TLP bytes in a flit */
#define WEFT_IO_LEN 236 /**< bytes of them */
#define WEFT_IO_DLLP_OFF 238
#define WEFT_IO_DLLP_LEN 4

/** One packet. */
struct weft_io_tlp {
	uint16_t spid, dpid; /**< PTH, 12 bits each; HBR form has none: 0, as the next three */
	bool hie, pif, dsar; /**< PTH */
	bool has_prefix; /**< VendPrefixL0 goes before the PTH, or the TLP */
	uint16_t prefix_pid; /**< 12 bits, with has_prefix */
	uint16_t len; /**< bytes of tlp[], as its header says */
	uint8_t tlp[WEFT_IO_TLP_MAX]; /**< header (or PASID prefix) first */
};

/** Byte 0 of the headers known here: Fmt 6:5, Type 4:0. Memory requests are of the 64-bit form. */
enum weft_io_type {
	WEFT_IO_MRD = 0x20,
	WEFT_IO_MWR = 0x60,
	WEFT_IO_CPL = 0x0A,
	WEFT_IO_CPLD = 0x4A,
	WEFT_IO_MSG_ROOT = 0x30, /**< routed to the root; with data 0x40 more, as those below */
	WEFT_IO_MSG_ID = 0x32, /**< routed by ID */
	WEFT_IO_MSG_LOCAL = 0x34, /**< ends at the receiver; PBR VDMs */
	WEFT_IO_MSG_DATA = 0x40,
	/*
	 * UIO: the forms of MRd, MWr, Cpl and CplD, in codes of this project. A write is answered.
	 */
	WEFT_IO_UIO_MRD = 0x22,
	WEFT_IO_UIO_MWR = 0x62,
	WEFT_IO_UIO_CPL = 0x0F,
	WEFT_IO_UIO_CPLD = 0x4F
};

#define WEFT_IO_PASID_PREFIX 0x91 /**< first byte of a TLP that has one; the header follows */

/** Flow-control class of a packet. UIO writes are requests: they are answered. */
enum weft_io_class { WEFT_IO_POSTED, WEFT_IO_REQUEST, WEFT_IO_COMPLETION, WEFT_IO_CLASSES };

/** Class by the header. @return enum weft_io_class; -EINVAL: a header this project does not know */
int weft_io_class(const struct weft_io_tlp *t);

/**
 * Length of a TLP by its header.
 *
 * @param tlp   its first bytes, a PASID prefix included
 * @param have  bytes there; 4 are enough, with a PASID prefix 8
 * @return bytes, 12..WEFT_IO_TLP_MAX; 0: a header this project does not know, a payload of more
 *         than 256 bytes, a packet that is too long, or too few bytes to say
 */
size_t weft_io_tlp_len(const uint8_t *tlp, size_t have);

/** True if weft_io_pack_tlp() takes it: header known, len as it says, ids of 12 bits. */
bool weft_io_is_valid(const struct weft_io_tlp *t);

/** Copy what there is of a packet, whose length is in range: of a read that is a tenth. */
static inline void
weft_io_copy(struct weft_io_tlp *to, const struct weft_io_tlp *t)
{
	assert(t->len <= WEFT_IO_TLP_MAX);
	memcpy(to, t, offsetof(struct weft_io_tlp, tlp) + t->len);
}

/** Write the PTH of @p t: 4 bytes. The ids must be in range. */
void weft_io_pth_put(uint8_t *dw, const struct weft_io_tlp *t);

/** Read a PTH into the fields of @p t; false if it is none (bits 7:6 of byte 0 are not 11). */
bool weft_io_pth_get(const uint8_t *dw, struct weft_io_tlp *t);

/** Write a VendPrefixL0 of the form without LDs: 4 bytes. @p pid of 12 bits. */
void weft_io_prefix_put(uint8_t *dw, uint16_t pid);

/** PID of a VendPrefixL0, or -EINVAL if it is none. */
int weft_io_prefix_get(const uint8_t *dw);

/* --- DLLPs: credits --- */

/**
 * Write an UpdateFC: 4 bytes.
 *
 * @param total  packets of class @p c granted since the session began, modulo 256
 */
void weft_io_update_put(uint8_t *dllp, enum weft_io_class c, uint8_t total);

/** Write a DLLP that says nothing: 4 bytes. */
void weft_io_dllp_nop(uint8_t *dllp);

/**
 * Read a DLLP.
 *
 * @param total  receives the count of an UpdateFC
 * @return enum weft_io_class of an UpdateFC of VC 0; -ENOENT: any other DLLP
 */
int weft_io_update_get(const uint8_t *dllp, uint8_t *total);

/* --- flits --- */

/** TLPs into flits. */
struct weft_io_packer {
	uint8_t *flit; /* being filled, or NULL */
	uint8_t form; /* enum weft_form */
	uint16_t pos; /* next free byte of it */
	uint16_t at, n; /* wire[at..n): of a TLP that waits for the next flit */
	uint8_t wire[WEFT_IO_WIRE_MAX];
};

void weft_io_pack_init(struct weft_io_packer *p, enum weft_form form);

/**
 * Begin a flit in 256 bytes at @p flit: header, and what waits of a TLP. The rest is garbage until
 * it ends.
 */
void weft_io_pack_begin(struct weft_io_packer *p, uint8_t *flit);

/**
 * Put a TLP into the flit that was begun; what does not fit waits for the next.
 *
 * @return 0; -ENOSPC: the flit is full; -EINVAL: see weft_io_is_valid()
 */
int weft_io_pack_tlp(struct weft_io_packer *p, const struct weft_io_tlp *t);

/**
 * Fill the flit up with NOPs: it is complete, but for its DLLP, which is zero.
 *
 * @return true: part of a TLP waits for the next one
 */
bool weft_io_pack_end(struct weft_io_packer *p);

/** True if part of a TLP waits for the next flit. */
bool weft_io_pack_waits(const struct weft_io_packer *p);

/** TLPs out of flits. */
struct weft_io_unpacker {
	uint8_t form; /* enum weft_form */
	bool in_tlp; /* a PTH came */
	bool prefixed; /* a local prefix came */
	bool is_broken;
	uint16_t need; /* bytes of the TLP; 0: its header has not said yet */
	struct weft_io_tlp t; /* what came of it so far */
};

typedef void (*weft_io_fn)(void *arg, const struct weft_io_tlp *t);

/** Start at the beginning of a stream. */
void weft_io_unpack_init(struct weft_io_unpacker *u, enum weft_form form);

/**
 * Take the next flit of the stream. Nothing outside its bytes 2..237 is read.
 *
 * @param flit  of type WEFT_FLIT_IO
 * @param fn    called for each TLP that is whole, valid during the call; may be NULL
 * @return WEFT_OK; WEFT_DROP_IO_STREAM: the stream is malformed, and from there on nothing can be
 *         told of it: every later call says so too
 */
enum weft_verdict weft_io_unpack_flit(
	struct weft_io_unpacker *u, const uint8_t *flit, weft_io_fn fn, void *arg);

WEFT_END_DECLS

#endif /* WEFT_IO_H */
