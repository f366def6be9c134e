/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Packets of a requester of UIO: reads and writes of up to 256 bytes, and the completions that
 * answer them (doc/uio.md). A read may be answered in several packets, in the order of their
 * addresses.
 */
#ifndef WEFT_UIO_REQUESTER_H
#define WEFT_UIO_REQUESTER_H

#include "weft_base.h"
#include "weft_requester.h"
#include "weft_telem.h"
#include "weft_uio.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

/** Row order of weft_uio_counters and of the values. */
enum weft_uio_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_UIO_N_##id,
#include "weft_uio_counters.def"
#undef WEFT_COUNTER
	WEFT_UIO_N_COUNTERS
};

/** The packet of a request that was begun, without PTH and prefix; nothing answers it before. */
void weft_uio_request(
	struct weft_requester *r, const struct weft_request *rq, struct weft_io_tlp *t);

/**
 * Take a completion packet. Whatever the verdict, it is counted.
 *
 * @param c  receives the completion on WEFT_OK; its status may be WEFT_REQUEST_PART: not over yet
 * @return WEFT_OK; WEFT_DROP_WRONG_CLASS: no UIO completion; WEFT_DROP_BAD_OPCODE: malformed, or it
 *         does not answer this request; WEFT_DROP_NO_TAG: no such request is open (late or twice);
 *         WEFT_DROP_NOT_MINE: another requester's id, or of somebody whom the request did not go to
 *         (SPID of its PTH). A dropped packet leaves the request open
 */
enum weft_verdict weft_uio_response(struct weft_requester *r, const struct weft_io_tlp *t,
	uint64_t now_ns, struct weft_completion *c);

/** Counter rows, WEFT_UIO_N_COUNTERS of them. */
extern const struct weft_counter weft_uio_counters[];

WEFT_END_DECLS

#endif /* WEFT_UIO_REQUESTER_H */
