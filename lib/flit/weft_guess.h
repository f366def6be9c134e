/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a flit may be about, by a look at each slot or DW alone. Data may look like a header, so
 * this is good for prefetching and for nothing else: weft_unpack_flit() and weft_io_unpack_flit()
 * say what is there.
 */
#ifndef WEFT_GUESS_H
#define WEFT_GUESS_H

#include "weft_base.h"
#include "weft_flit.h"
#include "weft_io.h"

WEFT_BEGIN_DECLS

#define WEFT_GUESS_REQUESTS WEFT_FLIT_SLOTS /**< most of a flit */

/**
 * Addresses of what looks like M2S Req or RwD, of any form.
 *
 * @param flit  256 bytes
 * @param addr  receives Addr[51:6] << 6 of each, in order of their slots; what is behind is garbage
 * @return how many
 */
unsigned int weft_guess_requests(const uint8_t *flit, uint64_t addr[WEFT_GUESS_REQUESTS]);

#define WEFT_GUESS_UIO 14 /**< most of a flit: in HBR form a request takes 16 bytes of 236 */

/** A read that a flit may hold. */
struct weft_guess_uio {
	uint64_t addr; /**< multiple of 4 */
	uint16_t len; /**< bytes, 0 to 4092 */
};

/**
 * Reads by UIO at the beginning of a flit of CXL.io: up to where something else than packets of UIO
 * requests begins, and those that are whole.
 *
 * @param flit  256 bytes
 * @param read  room for WEFT_GUESS_UIO; what is behind those is garbage
 * @return how many
 */
unsigned int weft_guess_uio_reads(const uint8_t *flit, struct weft_guess_uio *read);

WEFT_END_DECLS

#endif /* WEFT_GUESS_H */
