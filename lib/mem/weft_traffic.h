/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A traffic source that checks what it reads (the oracle of reliability.md section 5). Each host
 * owns some lines of each GFD alone. Every 64-byte line written tells its address, writer and
 * version, and all its bytes depend on them, so a wrong, stale or torn line is recognised. After
 * the random reads and writes a sweep reads back every line written. At the start the memory must be
 * zero, or with `run` hold what earlier runs of the same source left. A source belongs to one thread,
 * that of its host.
 */
#ifndef WEFT_TRAFFIC_H
#define WEFT_TRAFFIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_line_state.h"
#include "weft_mem_requester.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a GFD is. */
struct weft_traffic_target {
	uint64_t hpa_base; /**< address of its first byte, 64-byte aligned */
	uint64_t len_bytes; /**< room for the lines of all hosts */
	uint16_t dpid;
};

/** How reads of a line are to be answered. */
enum weft_expect {
	WEFT_EXPECT_DATA, /**< what was written */
	WEFT_EXPECT_ONES, /**< all ones: there is no right to it, and writes change nothing */
	WEFT_EXPECT_NXM, /**< MemData-NXM, all ones: it leads nowhere, as above */
	WEFT_EXPECT_READ_ONLY /**< zeros, as nobody writes it: writes change nothing */
};

/**
 * Says about the line at @p hpa who answers, in @p dpid, and how. Called within
 * weft_traffic_init(), once for each line.
 */
typedef enum weft_expect (*weft_expect_fn)(void *arg, uint64_t hpa, uint16_t *dpid);

struct weft_traffic_cfg {
	uint64_t seed; /**< of the choices and of the data; the same for all hosts is fine */
	uint64_t requests; /**< reads and writes before the sweep */
	/**
	 * How long after its loss a write may still arrive. Its line is only read meanwhile: a
	 * write that arrives after a later one of the same line would undo it. 0: none arrives late
	 */
	uint64_t write_quarantine_ns;
	const struct weft_traffic_target *targets; /**< copied */
	uint32_t n_targets; /**< 1..4095 */
	uint32_t lines; /**< lines owned in each GFD, 1..2^24 */
	uint32_t outstanding; /**< most requests at once, 1 or more */
	uint32_t rate; /**< most begun a second (weft_pace.h, burst: outstanding); 0: no limit */
	uint64_t first_line; /**< of each GFD it owns this line and those behind, `lines` of them */
	uint32_t host_index; /**< who wrote a line: different for every host */
	/**
	 * 1..WEFT_LINE_RUN_MAX, drawn afresh for each life of the host: what an earlier one wrote, with
	 * the same seed and host_index, is no mismatch in a line that this one has not written. 0: the
	 * memory is zero at the start
	 */
	uint32_t run;
	uint8_t write_percent; /**< 0..100 */
	weft_expect_fn expect; /**< NULL: the target's dpid, with data */
	void *expect_arg;
};

/** Row order of weft_traffic_counters() and of the values. */
enum weft_traffic_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_TRAFFIC_N_##id,
#include "weft_traffic_counters.def"
#undef WEFT_COUNTER
	WEFT_TRAFFIC_N_COUNTERS
};

/** What a change of rights makes of a line. */
struct weft_traffic_line_change {
	uint8_t before; /**< enum weft_expect by what is in force until then */
	uint8_t after; /**< and from then on */
	uint16_t dpid; /**< who answers */
};

/** A change of rights while a source is at work. */
struct weft_traffic_change {
	/** As many as the source has; one may move only if all its lines were closed until now. */
	const struct weft_traffic_target *targets;
	const struct weft_traffic_line_change *lines; /**< weft_traffic_lines() of them */
};

/** The first mismatch of a run. */
struct weft_traffic_mismatch {
	uint64_t hpa; /**< line that was read */
	uint64_t version_min, version_max; /**< what it may have held; 0 = never written */
	uint64_t version; /**< what it held; 0 if the line is damaged or zero */
	uint16_t dpid;
	uint8_t why; /**< WEFT_TRAFFIC_N_STALE, _MISPLACED, _DAMAGED or _NOT_REFUSED */
};

struct weft_traffic;
struct weft_counter;

/**
 * Bytes that a source of @p cfg needs (64-byte aligned); 0 if a value is out of range, or if the
 * lines of this host do not fit into one of the targets.
 */
size_t weft_traffic_size(const struct weft_traffic_cfg *cfg);

/**
 * Make a source in @p mem, which stays the caller's and must outlive it.
 *
 * @param host  carries its requests; used by nobody else, and granted credits by the caller
 * @return the source, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_traffic *weft_traffic_init(
	void *mem, const struct weft_traffic_cfg *cfg, struct weft_requester *host);

/**
 * Begin the next request.
 *
 * @param msg  receives the message to send
 * @return 0; -EAGAIN if none can begin now: too many outstanding, none due by `rate`, no
 *         tag, no credit; -ESHUTDOWN if the run is over and nothing is open
 */
int weft_traffic_next(struct weft_traffic *t, uint64_t now_ns, struct weft_msg *msg);

/**
 * Take the completion of one of its requests, from weft_mem_response() or weft_requester_expire().
 * Data of a read is compared with what the line may hold.
 */
void weft_traffic_complete(struct weft_traffic *t, const struct weft_completion *c);

/** Lines of all targets: line i is line i % cfg.lines of target i / cfg.lines. Any thread. */
uint64_t weft_traffic_lines(const struct weft_traffic *t);

/** Its targets, as they are now: they change in weft_traffic_change() only. */
const struct weft_traffic_target *weft_traffic_targets(const struct weft_traffic *t);

/**
 * Take a change of rights that comes into force later. Both answers to a line, and ones where some
 * of the tables have changed, are right until the first read of it that was answered in the new way;
 * what a write did meanwhile is not known.
 *
 * @return 0; -EBUSY while a request is open, and then nothing has changed
 */
int weft_traffic_change(struct weft_traffic *t, const struct weft_traffic_change *c);

/**
 * The memory of @p dpid was replaced by a new one, all zeros: from now on its lines hold zeros, or
 * what is written from now on. An answer to a request that is open says nothing.
 *
 * @return lines that were known to hold data
 */
uint64_t weft_traffic_forget(struct weft_traffic *t, uint16_t dpid, enum weft_line_loss how);

/** End the random requests now and go on to the sweep. */
void weft_traffic_stop(struct weft_traffic *t);

/** Whether everything, the sweep included, was issued and has ended. */
bool weft_traffic_done(const struct weft_traffic *t);

/** The first mismatch, or NULL if there is none. */
const struct weft_traffic_mismatch *weft_traffic_first_mismatch(const struct weft_traffic *t);

/** Counter rows, WEFT_TRAFFIC_N_COUNTERS of them. */
const struct weft_counter *weft_traffic_counters(void);

/** Their values, in row order. */
const uint64_t *weft_traffic_counts(const struct weft_traffic *t);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_TRAFFIC_H */
