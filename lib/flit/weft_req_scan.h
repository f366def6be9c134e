/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which flits of a frame begin with a request, and for what address: all that routing needs to know
 * of a flit. Only H-slots are read: a G-slot may hold data.
 */
#ifndef WEFT_REQ_SCAN_H
#define WEFT_REQ_SCAN_H

#include "weft_base.h"
#include "weft_cpu.h"

WEFT_BEGIN_DECLS

#define WEFT_REQ_SCAN_MAX 64 /**< flits a call */
#define WEFT_REQ_SCAN_STEP 8 /**< arrays have room for @p n, rounded up to a multiple of this */

/** Kind of access of a request. */
enum weft_req_kind { WEFT_REQ_READ = 1, WEFT_REQ_WRITE = 2 };

/**
 * Requests that flits begin with: M2S Req and M2S RwD, valid, in a cachemem flit's H-slot, of any
 * form (wire-formats.md section 4.2).
 *
 * @param flits  @p n flits back to back, up to WEFT_REQ_SCAN_MAX
 * @param live   bit per flit: look at it
 * @param addr   receives Addr[51:6] << 6 of each request, in order; what is after the last is
 *               garbage
 * @param kind   receives enum weft_req_kind of each, likewise
 * @return bit per flit: it begins with a request
 */
typedef uint64_t (*weft_req_scan_fn)(
	const uint8_t *flits, unsigned int n, uint64_t live, uint64_t *addr, uint8_t *kind);

/** One row a kernel, best first, scalar last. */
struct weft_req_scan_kernel {
	struct weft_kernel k;
	weft_req_scan_fn run;
};

WEFT_KERNELS_DECLARE(req_scan);

/** The scalar row, which every CPU has. */
uint64_t weft_req_scan_scalar(
	const uint8_t *flits, unsigned int n, uint64_t live, uint64_t *addr, uint8_t *kind);

WEFT_END_DECLS

#endif /* WEFT_REQ_SCAN_H */
