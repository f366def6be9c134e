/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Messages of a requester of CXL.mem: M2S Req and RwD for its requests, S2M NDR and DRS that answer
 * them (wire-formats.md section 4). A request is one line of 64 bytes.
 */
#ifndef WEFT_MEM_REQUESTER_H
#define WEFT_MEM_REQUESTER_H

#include "weft_base.h"
#include "weft_msg.h"
#include "weft_requester.h"
#include "weft_telem.h"
#include "weft_verdict.h"

WEFT_BEGIN_DECLS

/** Row order of weft_mem_counters and of the values. */
enum weft_mem_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_MEM_N_##id,
#include "weft_mem_requester_counters.def"
#undef WEFT_COUNTER
	WEFT_MEM_N_COUNTERS
};

/** The message of a request that was begun: MemRd without metadata, or MemWr. */
void weft_mem_request(
	const struct weft_requester *r, const struct weft_request *rq, struct weft_msg *msg);

/**
 * Begin a read of one line.
 *
 * @param hpa     fabric address, 64-byte aligned, 52 bits
 * @param cookie  comes back with the completion
 * @param msg     receives the message to send
 * @return as weft_requester_begin(). @p msg is written on 0 only
 */
int weft_mem_read(struct weft_requester *r, uint16_t dpid, uint64_t hpa, uint64_t cookie,
	uint64_t now_ns, struct weft_msg *msg);

/**
 * Begin a write of one whole line. As weft_mem_read().
 *
 * @param data  64 bytes, copied
 */
int weft_mem_write(struct weft_requester *r, uint16_t dpid, uint64_t hpa, const uint8_t *data,
	uint64_t cookie, uint64_t now_ns, struct weft_msg *msg);

/**
 * Begin a write of some bytes of a line: MemWrPtl. As weft_mem_write().
 *
 * @param data     64 bytes, copied; those not written do not matter
 * @param enables  bit k: byte k is written
 */
int weft_mem_write_partial(struct weft_requester *r, uint16_t dpid, uint64_t hpa,
	const uint8_t *data, uint64_t enables, uint64_t cookie, uint64_t now_ns,
	struct weft_msg *msg);

/**
 * Take a response. Whatever the verdict, it is counted.
 *
 * @param c  receives the completion on WEFT_OK; its data points into @p msg
 * @return WEFT_OK; WEFT_DROP_NOT_MINE for another DPID than this requester's; WEFT_DROP_NO_TAG if
 *         no such request is open (late or twice); WEFT_DROP_WRONG_CLASS if it is no S2M response,
 *         or not of the class that answers this request; WEFT_DROP_BAD_OPCODE if its opcode does
 *         not answer it. A dropped response leaves the request open
 */
enum weft_verdict weft_mem_response(struct weft_requester *r, const struct weft_msg *msg,
	uint64_t now_ns, struct weft_completion *c);

/** Counter rows, WEFT_MEM_N_COUNTERS of them. */
extern const struct weft_counter weft_mem_counters[];

WEFT_END_DECLS

#endif /* WEFT_MEM_REQUESTER_H */
