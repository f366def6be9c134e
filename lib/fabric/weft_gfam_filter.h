/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Snoop filter of a GFD's HDM-DB memory: which requester holds which line (fabric.md sections 1.6,
 * 1.12). It never forgets a holder by itself: where a line is needed or room is, it names the
 * holders to snoop, and the caller tries again when they have answered. A filter belongs to one
 * thread.
 */
#ifndef WEFT_GFAM_FILTER_H
#define WEFT_GFAM_FILTER_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

struct weft_gfam;
struct weft_gfam_log;
struct weft_gfam_report;

#define WEFT_GFAM_FILTER_WAYS_MAX 16

/** A filter; set by weft_gfam_filter_init(), to be read only. */
struct weft_gfam_filter {
	uint64_t *entry;
	uint32_t sets;
	uint8_t ways;
	uint8_t hand; /* next way to make room in */
	bool offline;
	uint32_t lost_max;
	uint64_t held, evictions, conflicts, lost;
};

/** A back-invalidate snoop to send: DPID is the holder, SPID the GFD. */
struct weft_gfam_snoop {
	uint64_t dpa; /* of the line */
	uint64_t hpa; /* valid after weft_gfam_filter_path() */
	uint16_t pid; /* the holder */
	bool exclusive; /* as it holds the line */
};

/**
 * Start an empty filter.
 *
 * @param entry     @p sets x @p ways numbers, the caller's for the filter's life
 * @param sets      a power of two, up to 2^24
 * @param ways      1..16: also the most holders of one line
 * @param lost_max  lines that may be lost before the memory goes off-line, 1 or more
 * @return 0, or -EINVAL for a value out of range
 */
int weft_gfam_filter_init(struct weft_gfam_filter *f, uint64_t *entry, uint32_t sets, uint8_t ways,
	uint32_t lost_max);

/**
 * Let @p pid hold the line of @p dpa, alone or with others. One that holds it alone goes on to.
 *
 * @param pid    0..0xFFE
 * @param snoop  room for WEFT_GFAM_FILTER_WAYS_MAX
 * @return 0: done. N > 0: nothing has changed; these N holders must give up their line (each
 *         answer is a weft_gfam_filter_drop()), then ask again. -EINVAL for a PID or an address
 *         out of range (52 bits). -EIO: off-line
 */
int weft_gfam_filter_take(struct weft_gfam_filter *f, uint64_t dpa, uint16_t pid, bool exclusive,
	struct weft_gfam_snoop *snoop);

/** @p pid has given up the line of @p dpa. @return whether it held it */
bool weft_gfam_filter_drop(struct weft_gfam_filter *f, uint64_t dpa, uint16_t pid);

/** @p pid has gone: drop all it holds. @return how many lines that were */
uint64_t weft_gfam_filter_gone(struct weft_gfam_filter *f, uint16_t pid);

/** Holders of the line of @p dpa, at most WEFT_GFAM_FILTER_WAYS_MAX. @return how many */
unsigned int weft_gfam_filter_holders(
	const struct weft_gfam_filter *f, uint64_t dpa, struct weft_gfam_snoop *out);

/**
 * Fill in the address by which the holder knows the line.
 *
 * If there is none the snoop cannot be sent: the holder is dropped, the error counted in @p log,
 * and the line's data is lost (the caller poisons it). After lost_max of these the filter is
 * off-line.
 *
 * @param due     receives a report
 * @param is_due  receives whether it is to be made
 * @return 0, or -ENOENT if the line is lost
 */
int weft_gfam_filter_path(struct weft_gfam_filter *f, const struct weft_gfam *t,
	struct weft_gfam_log *log, uint64_t now_ns, struct weft_gfam_snoop *s,
	struct weft_gfam_report *due, bool *is_due);

WEFT_END_DECLS

#endif /* WEFT_GFAM_FILTER_H */
