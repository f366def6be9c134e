/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A traffic source that checks what it reads (the oracle of reliability.md section 5), by CXL.mem
 * or UIO. Each requester owns some lines of each target alone. Every 64-byte line written tells its
 * address, writer and version, and all its bytes depend on them, so a wrong, stale or torn line is
 * recognised. Lines are asked for in units, of which one request at most is open: a unit is one
 * line, or four of which a request is of one to four. After the random reads and writes a sweep
 * reads back every unit written. At the start the memory must be zero, or with `run` hold what
 * earlier runs of the same source left. A source belongs to one thread, that of its requester.
 */
#ifndef WEFT_TRAFFIC_H
#define WEFT_TRAFFIC_H

#include "weft_base.h"
#include "weft_line_state.h"
#include "weft_requester.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_TRAFFIC_UNIT_MAX 4 /**< lines */

/** Memory of a GFD, host or device. */
struct weft_traffic_target {
	uint64_t hpa_base; /**< address of its first byte, aligned to units */
	uint64_t len_bytes; /**< room for the lines of all hosts */
	uint16_t dpid;
};

/** How requests for a unit are to be answered. */
enum weft_expect {
	WEFT_EXPECT_DATA, /**< read: what was written; write: done */
	WEFT_EXPECT_ONES, /**< all ones: there is no right to it, and writes change nothing */
	WEFT_EXPECT_NXM, /**< MemData-NXM, all ones: it leads nowhere, as above */
	WEFT_EXPECT_READ_ONLY, /**< zeros, as nobody writes it: writes change nothing */
	WEFT_EXPECT_UR,
	WEFT_EXPECT_CA,
	WEFT_EXPECT_NONE /**< not at all: the request is lost */
};

/**
 * Says about the unit at @p hpa who answers, in @p dpid, and how. Called within
 * weft_traffic_init(), once for each.
 */
typedef enum weft_expect (*weft_expect_fn)(void *arg, uint64_t hpa, uint16_t *dpid);

struct weft_traffic_cfg {
	uint64_t seed; /**< of the choices and of the data; the same for all sources is fine */
	uint64_t requests; /**< reads and writes before the sweep */
	/**
	 * How long after its loss a write may still arrive. Its unit is only read meanwhile: a
	 * write that arrives after a later one of the same line would undo it. 0: none arrives late
	 */
	uint64_t write_quarantine_ns;
	const struct weft_traffic_target *targets; /**< copied */
	uint32_t n_targets; /**< 1..4096 */
	uint32_t lines; /**< lines owned in each target, 1..2^24, whole units */
	uint32_t outstanding; /**< most requests at once, 1 or more */
	uint32_t rate; /**< most begun a second (weft_pace.h, burst: outstanding); 0: no limit */
	/** of each target it owns this line and those behind, `lines` of them */
	uint64_t first_line;
	uint32_t writer; /**< who wrote a line: different for every source of the fabric */
	/**
	 * 1..WEFT_LINE_RUN_MAX, drawn afresh for each life of the host: what an earlier one wrote,
	 * with the same seed and writer, is no mismatch in a line that this one has not written. 0:
	 * the memory is zero at the start
	 */
	uint32_t run;
	uint8_t write_percent; /**< 0..100 */
	uint8_t unit_lines; /**< 1, 2 or 4 */
	uint8_t request_lines; /**< most of a request, 1..unit_lines */
	weft_expect_fn expect; /**< NULL: the target's dpid, with data */
	void *expect_arg;
};

/** Row order of weft_traffic_counters and of the values. */
enum weft_traffic_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_TRAFFIC_N_##id,
#include "weft_traffic_counters.def"
#undef WEFT_COUNTER
	WEFT_TRAFFIC_N_COUNTERS,
	WEFT_TRAFFIC_N_UIO_COUNTERS = WEFT_TRAFFIC_N_FORGOTTEN + 1 /**< the first, of UIO */
};

/** What a change of rights makes of a unit. */
struct weft_traffic_unit_change {
	uint8_t before; /**< enum weft_expect by what is in force until then */
	uint8_t after; /**< and from then on */
	uint16_t dpid; /**< who answers */
	bool is_wiped; /**< since this source had it last, as far as is known */
};

/** A change of rights while a source is at work. */
struct weft_traffic_change {
	/** As many as the source has; one may move only if all its units were closed until now. */
	const struct weft_traffic_target *targets;
	const struct weft_traffic_unit_change *units; /**< weft_traffic_units() of them */
};

/** The first mismatch of a run. */
struct weft_traffic_mismatch {
	uint64_t hpa; /**< line that was read, or the first of a request that was not refused */
	uint64_t version_min, version_max; /**< what it may have held; 0 = never written */
	uint64_t version; /**< what it held; 0 if the line is damaged or zero */
	uint16_t dpid;
	uint8_t why; /**< WEFT_TRAFFIC_N_STALE, _MISPLACED, _DAMAGED or _NOT_REFUSED */
};

struct weft_traffic;

/**
 * Bytes that a source of @p cfg needs (64-byte aligned); 0 if a value is out of range, or if the
 * lines of this host do not fit into one of the targets.
 */
size_t weft_traffic_size(const struct weft_traffic_cfg *cfg);

/**
 * Make a source in @p mem, which stays the caller's and must outlive it.
 *
 * @param r  carries its requests; granted credits by the caller
 * @return the source, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_traffic *weft_traffic_init(
	void *mem, const struct weft_traffic_cfg *cfg, struct weft_requester *r);

/**
 * Begin the next request.
 *
 * @param rq  receives it; its data is valid until the next call
 * @return 0; -EAGAIN if none can begin now: too many outstanding, none due by `rate`, no
 *         tag, no credit; -ESHUTDOWN if the run is over and nothing is open
 */
int weft_traffic_next(struct weft_traffic *t, uint64_t now_ns, struct weft_request *rq);

/**
 * Take the completion of one of its requests; no PART. Data of a read is compared with what the
 * lines may hold.
 */
void weft_traffic_complete(struct weft_traffic *t, const struct weft_completion *c);

/** Units of all targets, those of each target together and in turn. Any thread. */
uint64_t weft_traffic_units(const struct weft_traffic *t);

/** Its targets, as they are now: they change in weft_traffic_change() only. */
const struct weft_traffic_target *weft_traffic_targets(const struct weft_traffic *t);

/**
 * Take a change of rights that comes into force later. Both answers to a unit, and ones where some
 * of the tables have changed, are right until the first read of it that was answered in the new
 * way; what a write did meanwhile is not known.
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

/**
 * Begin at most @p rate requests a second from now on, 1 to WEFT_PACE_RATE_MAX, or fewer if there
 * was less to begin with.
 */
void weft_traffic_rate(struct weft_traffic *t, uint32_t rate);

/** End the random requests now and go on to the sweep. */
void weft_traffic_stop(struct weft_traffic *t);

/** Whether everything, the sweep included, was issued and has ended. */
bool weft_traffic_done(const struct weft_traffic *t);

/** The first mismatch, or NULL if there is none. */
const struct weft_traffic_mismatch *weft_traffic_first_mismatch(const struct weft_traffic *t);

/** Counter rows, WEFT_TRAFFIC_N_COUNTERS of them. */
extern const struct weft_counter weft_traffic_counters[];

/** Rows of a source of UIO, WEFT_TRAFFIC_N_UIO_COUNTERS of them. */
extern const struct weft_counter weft_traffic_uio_counters[];

/** Their values, in row order. */
const uint64_t *weft_traffic_counts(const struct weft_traffic *t);

WEFT_END_DECLS

#endif /* WEFT_TRAFFIC_H */
