/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A source of UIO that checks what it reads, as weft_traffic.h does for CXL.mem: each requester owns
 * some lines of each target alone; a request is of one to four of them, within 256 bytes. Every line
 * written tells its address, writer and version. After the random requests a sweep reads back every
 * line written. At the start the memory must be zero, or with `run` hold what earlier runs of the same
 * source left. A source belongs to one thread.
 */
#ifndef WEFT_UIO_TRAFFIC_H
#define WEFT_UIO_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_line_state.h"
#include "weft_requester.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_UIO_UNIT_LINES 4

/** How requests are to be answered. */
enum weft_uio_answer {
	WEFT_UIO_ANSWER_DATA, /**< read: what was written; write: done */
	WEFT_UIO_ANSWER_UR,
	WEFT_UIO_ANSWER_CA,
	WEFT_UIO_ANSWER_NONE /**< not at all: the request is lost */
};

/**
 * Says how requests for the 256 bytes at @p addr are answered, and by whom in @p dpid. Called within
 * init, once for each.
 */
typedef enum weft_uio_answer (*weft_uio_place_fn)(void *arg, uint64_t addr, uint16_t *dpid);

struct weft_uio_traffic_cfg {
	uint64_t seed; /**< of the choices and of the data; the same for all sources is fine */
	uint64_t requests; /**< reads and writes before the sweep */
	/** How long after its loss a write may still arrive: its lines are only read meanwhile. */
	uint64_t write_quarantine_ns;
	const uint64_t
		*base; /**< address of each target's first own line; multiple of 256; copied */
	uint32_t n_targets; /**< 1..4096 */
	uint32_t lines; /**< lines owned in each target: 4..2^24, a multiple of 4 */
	uint32_t outstanding; /**< most requests at once, 1 or more */
	uint32_t rate; /**< as that of weft_traffic_cfg */
	uint32_t writer; /**< who wrote a line: different for every source of the fabric */
	uint32_t run; /**< as that of weft_traffic_cfg */
	uint16_t bytes; /**< most of a request: 64, 128, 192 or 256 */
	uint8_t write_percent; /**< 0..100 */
	weft_uio_place_fn expect; /**< NULL: data everywhere, of DPID 0 */
	void *expect_arg;
};

/** Row order of weft_uio_traffic_counters() and of the values. */
enum weft_uio_traffic_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_UIO_TRAFFIC_N_##id,
#include "weft_uio_traffic_counters.def"
#undef WEFT_COUNTER
	WEFT_UIO_TRAFFIC_N_COUNTERS
};

/** The first mismatch of a run. */
struct weft_uio_mismatch {
	uint64_t
		addr; /**< line that was read, or first line of a request answered in another way */
	uint8_t why; /**< enum weft_uio_traffic_counter */
	uint8_t status; /**< enum weft_request_status of the request */
};

struct weft_uio_traffic;
struct weft_counter;

/** Bytes that a source of @p cfg needs (64-byte aligned); 0 if a value is out of range. */
size_t weft_uio_traffic_size(const struct weft_uio_traffic_cfg *cfg);

/**
 * Make a source in @p mem, which stays the caller's and must outlive it.
 *
 * @param requester  carries its requests; used by nobody else
 * @return the source, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_uio_traffic *weft_uio_traffic_init(
	void *mem, const struct weft_uio_traffic_cfg *cfg, struct weft_requester *requester);

/**
 * Begin the next request.
 *
 * @param rq  receives it; its data is valid until the next call
 * @return 0; -EAGAIN if none can begin now; -ESHUTDOWN if the run is over and nothing is open
 */
int weft_uio_traffic_next(struct weft_uio_traffic *s, uint64_t now_ns, struct weft_request *rq);

/** Take the end of one of its requests. No PART. */
void weft_uio_traffic_complete(struct weft_uio_traffic *s, const struct weft_completion *d);

/**
 * The memory of @p dpid was replaced by a new one, all zeros: as weft_traffic_forget().
 *
 * @return lines that were known to hold data
 */
uint64_t weft_uio_traffic_forget(
	struct weft_uio_traffic *s, uint16_t dpid, enum weft_line_loss how);

/** Whether everything, the sweep included, was issued and has ended. */
bool weft_uio_traffic_done(const struct weft_uio_traffic *s);

/** The first mismatch, or NULL if there is none. */
const struct weft_uio_mismatch *weft_uio_traffic_first_mismatch(const struct weft_uio_traffic *s);

/** Counter rows, WEFT_UIO_TRAFFIC_N_COUNTERS of them. */
const struct weft_counter *weft_uio_traffic_counters(void);

/** Their values, in row order. */
const uint64_t *weft_uio_traffic_counts(const struct weft_uio_traffic *s);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_UIO_TRAFFIC_H */
