/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO requests and completions as CXL.io packets (ats.md sections 2.1 to 2.4 for the forms,
 * doc/uio.md for what is decided). A request is of whole DWs, at most 256 bytes, and does not cross
 * 4 KiB. A write is answered like a read. Pure functions, any thread.
 */
#ifndef WEFT_UIO_H
#define WEFT_UIO_H

#include "weft_base.h"
#include "weft_io.h"

WEFT_BEGIN_DECLS

#define WEFT_UIO_BYTES_MAX 256 /**< of a request, and of a packet */
#define WEFT_UIO_PAGE 4096
#define WEFT_UIO_TAGS 1024 /**< a tag has 10 bits */

enum weft_uio_kind {
	WEFT_UIO_READ,
	WEFT_UIO_WRITE,
	WEFT_UIO_CPL, /**< without data: of a write, or of a read that failed */
	WEFT_UIO_CPLD
};

/** Completion Status. */
enum weft_uio_cpl {
	WEFT_UIO_SC = 0, /**< Successful Completion */
	WEFT_UIO_UR = 1, /**< Unsupported Request */
	WEFT_UIO_CA = 4 /**< Completer Abort */
};

/** A packet, without its PTH and prefix. Fields of the other kinds are 0. */
struct weft_uio {
	uint8_t kind; /**< enum weft_uio_kind */
	uint8_t status; /**< completions: enum weft_uio_cpl; CplD: SC */
	bool poison; /**< write, CplD: the data is bad (EP) */
	uint16_t requester; /**< bus << 8 | device << 3 | function */
	uint16_t tag; /**< below WEFT_UIO_TAGS */
	uint16_t len; /**< bytes of data, of a read those wanted: 4..256, a multiple of 4 */
	uint64_t addr; /**< requests: multiple of 4 */
	uint16_t completer; /**< completions: its id; 0 of a GFD and of GIM */
	uint16_t left; /**< completions of reads: bytes still to come, with this packet's: 0..256 */
	uint8_t lower; /**< CplD: address bits 6:0 of the first byte, multiple of 4 */
	const uint8_t *data; /**< write, CplD: len bytes */
};

/**
 * Write a packet. PTH and prefix of @p t are all 0.
 *
 * @return 0, or -EINVAL for a field out of range
 */
int weft_uio_encode(struct weft_io_tlp *t, const struct weft_uio *u);

/**
 * Read a packet; @p u points into @p t.
 *
 * @return 0; -ENOENT: not of UIO; -EINVAL: malformed
 */
int weft_uio_decode(const struct weft_io_tlp *t, struct weft_uio *u);

/**
 * The completion that refuses a request.
 *
 * @param completer  id of who refuses
 * @return 0, or -EINVAL if @p req is no UIO request
 */
int weft_uio_refuse(const struct weft_io_tlp *req, enum weft_uio_cpl status, uint16_t completer,
	struct weft_io_tlp *cpl);

WEFT_END_DECLS

#endif /* WEFT_UIO_H */
