/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Transfers of a host that carry block signatures from memory to memory (signature.md section 8).
 * GFDs hold the wire domain, units dense from any byte address on, and the host the mem domain:
 *
 *   write   host -> TX -> GFD                 MemWr, MemWrPtl where the ends fill no line
 *   read    GFD -> RX -> host                 MemRd
 *   copy    GFD -> RX -> host -> TX -> GFD    as a read, then, if nothing was wrong, as a write
 *
 * Answers come in any order; the engine gets its bytes in the order of their addresses, each once,
 * whatever layers below had to send again. A line without an answer is given to it as lost, one
 * with poison as poisoned: neither is ever a bad guard.
 *
 * Transfers of a run are made one after the other. A run belongs to one thread, that of its host;
 * it neither allocates nor looks at a clock: time comes with each call.
 */
#ifndef WEFT_XFER_H
#define WEFT_XFER_H

#include "weft_base.h"
#include "weft_mem_requester.h"
#include "weft_sig.h"

WEFT_BEGIN_DECLS

#define WEFT_XFER_WINDOW_MAX 4096 /**< lines */

/** Cookies of a run have this bit set, so a host can carry other requests beside. */
#define WEFT_XFER_COOKIE (UINT64_C(1) << 63)

enum weft_xfer_kind { WEFT_XFER_WRITE, WEFT_XFER_READ, WEFT_XFER_COPY };

/** A place in a GFD's memory. */
struct weft_xfer_place {
	uint64_t hpa; /**< fabric address of any byte */
	uint16_t dpid;
};

struct weft_xfer_cfg {
	enum weft_xfer_kind kind;
	/** mem and wire may both be NULL; used by weft_xfer_init() only */
	struct weft_sig_attr sig;
	uint64_t block0; /**< number of the first block */
	uint64_t data_len; /**< bytes without signatures, 1 or more; whole blocks of both domains */
	struct weft_xfer_place from; /**< read, copy */
	struct weft_xfer_place to; /**< write, copy */
	/**
	 * Data in the mem domain, the bytes of weft_xfer_lens(), the caller's for the life of the
	 * transfer: read for a write, written otherwise.
	 */
	uint8_t *mem;
	const uint8_t *want; /**< read: what mem should hold at the end; NULL: anything */
	const struct weft_sig_kernel *kernel; /**< NULL: the best */
};

/** Outcome of a transfer; the first that holds. */
enum weft_xfer_status {
	WEFT_XFER_WAITING, /**< not begun */
	WEFT_XFER_RUNNING,
	WEFT_XFER_MEMORY_LOST, /**< what it had written, or was to read, went with its memory */
	WEFT_XFER_LOST, /**< requests had no answer, or lines do not exist */
	WEFT_XFER_POISONED,
	WEFT_XFER_SIGNATURE_ERROR, /**< a signature did not match: see error */
	WEFT_XFER_MISMATCH, /**< signatures were right, data not that of `want` */
	WEFT_XFER_OK,
	WEFT_XFER_STATUSES
};

/** One transfer. Result fields may be read, the rest is private. */
struct weft_xfer {
	uint8_t status; /**< enum weft_xfer_status */
	bool memory_lost; /**< it is to end so, or has */
	bool writes; /**< now, or at its end: the data is on its way to the GFD */
	struct weft_sig_error error; /**< the first; its type may be LOST or POISONED too */
	uint64_t lost; /**< lines */
	uint64_t poisoned; /**< lines */
	uint64_t differs_at; /**< MISMATCH: first byte of mem that is wrong */
	uint64_t begun_ns; /**< valid from RUNNING on */
	uint64_t ended_ns; /**< valid after RUNNING */
	/* private */
	uint8_t kind;
	struct weft_sig_key key; /* its counters may be read at the end */
	uint64_t block0;
	struct weft_xfer_place from, to;
	uint8_t *mem;
	const uint8_t *want;
	uint64_t mem_len;
	uint64_t wire_len;
	uint64_t data_len;
};

struct weft_xfer_run;

/**
 * Bytes in memory and on the wire, of domains that weft_sig_key_set_sig() would take. 0, or -EINVAL
 * if the data is not whole blocks of both.
 */
int weft_xfer_lens(const struct weft_xfer_cfg *cfg, uint64_t *mem_len, uint64_t *wire_len);

/**
 * Set up a transfer.
 *
 * @return 0; -EINVAL for data that is not whole blocks, a block0 inside an output block, a range
 *         beyond 52 bits, or attributes that weft_sig_key_set_sig() refuses
 */
int weft_xfer_init(struct weft_xfer *x, const struct weft_xfer_cfg *cfg);

/** Bytes a run needs (64-byte aligned); 0 if @p window is not a power of two up to its limit. */
size_t weft_xfer_run_size(uint32_t window);

/**
 * Make a run of @p n transfers in @p mem, which stays the caller's, as @p x does.
 *
 * @param host    carries the requests, granted credits by the caller
 * @param window  most lines on their way at once, and of answers that wait for one before them
 * @return the run, or NULL for a bad window or memory that is not 64-byte aligned
 */
struct weft_xfer_run *weft_xfer_run_init(void *mem, struct weft_requester *host, uint32_t window,
	struct weft_xfer *x, unsigned int n);

/**
 * Begin the next request.
 *
 * @param msg  receives the message to send
 * @return 0; -EAGAIN if none can begin now; -ESHUTDOWN if every transfer has ended
 */
int weft_xfer_next(struct weft_xfer_run *r, uint64_t now_ns, struct weft_msg *msg);

/** Take the completion of a request whose cookie has WEFT_XFER_COOKIE. */
void weft_xfer_complete(struct weft_xfer_run *r, const struct weft_completion *c, uint64_t now_ns);

/**
 * The memory of @p dpid was replaced by a new one, all zeros: what runs and has written to it, or
 * reads it, ends as WEFT_XFER_MEMORY_LOST, and so does what is to read there, unless one before it
 * is to write all that first.
 *
 * @return how many will end so for this reason
 */
unsigned int weft_xfer_replaced(struct weft_xfer_run *r, uint16_t dpid);

/** Name of a status in reports, such as "signature_error"; "unknown" out of range. */
const char *weft_xfer_status_name(unsigned int status);

/** Name of an error in reports, such as "bad_guard"; "ok" for WEFT_SIG_NO_ERROR. */
const char *weft_xfer_error_name(unsigned int type);

/**
 * How an ended transfer is named in one word: ok, mismatch, lost, poisoned, or the name of the
 * signature's error; "unfinished" before.
 */
const char *weft_xfer_outcome(const struct weft_xfer *x);

WEFT_END_DECLS

#endif /* WEFT_XFER_H */
