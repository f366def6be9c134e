/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabric address segment table without interleave (fabric.md section 1.2): host physical address
 * to DPID. With Y = log2 of the segment size and d = log2 of the depth, the entry number is address
 * bits Y+d-1..Y: of the address, not of its distance to the base. Two addresses of the range never
 * share an entry because the range is at most depth x segment size.
 */

#include "weft_pbr.h"

#include <errno.h>

#include "weft_base.h"

#define FAST_VALID 0x01
#define FAST_SEGMENT_LOG2_MIN 36
#define FAST_SEGMENT_LOG2_MAX 43
#define FAST_DEPTH_LOG2_MAX 12

static inline bool
fast_in_range(const struct weft_fast *t, uint64_t hpa)
{
	return hpa >= t->base && hpa < t->limit;
}

static inline struct weft_fast_entry *
fast_entry(const struct weft_fast *t, uint64_t hpa)
{
	return &t->entry[hpa >> t->segment_log2 & weft_mask64(t->depth_log2)];
}

/* True if a decoder that is on may cover base..limit-1. */
static bool
fast_range_ok(uint64_t base, uint64_t limit, unsigned int segment_log2, unsigned int depth_log2)
{
	return limit > base && limit - base <= WEFT_BIT64(segment_log2 + depth_log2);
}

int
weft_fast_init(struct weft_fast *t, struct weft_fast_entry *entry, uint64_t base, uint64_t limit,
	uint8_t segment_log2, uint8_t depth_log2)
{
	const bool on = base != 0 && limit != 0;

	if (segment_log2 < FAST_SEGMENT_LOG2_MIN || segment_log2 > FAST_SEGMENT_LOG2_MAX ||
		depth_log2 > FAST_DEPTH_LOG2_MAX)
		return -EINVAL;
	if (((base | limit) & weft_mask64(segment_log2)) != 0)
		return -EINVAL;
	if (on && !fast_range_ok(base, limit, segment_log2, depth_log2))
		return -EINVAL;

	/* Off is an empty range: the lookup then needs no test of its own for it. */
	t->base = on ? base : 0;
	t->limit = on ? limit : 0;
	t->segment_log2 = segment_log2;
	t->depth_log2 = depth_log2;
	t->entry = entry;
	memset(entry, 0, sizeof(*entry) << depth_log2);
	return 0;
}

int
weft_fast_set(struct weft_fast *t, uint64_t hpa, uint16_t dpid)
{
	struct weft_fast_entry *e;

	if (dpid >= WEFT_PIDS)
		return -EINVAL;
	if (!fast_in_range(t, hpa))
		return -ERANGE;
	e = fast_entry(t, hpa);
	memset(e, 0, sizeof(*e));
	if (dpid != WEFT_PID_RESERVED) {
		e->flags = FAST_VALID;
		e->dpid = dpid;
	}
	return 0;
}

static inline int
fast_dpid(const struct weft_fast *t, uint64_t hpa)
{
	const struct weft_fast_entry *e;

	if (!fast_in_range(t, hpa))
		return -1;
	e = fast_entry(t, hpa);
	return (e->flags & FAST_VALID) != 0 ? e->dpid : -1;
}

int
weft_fast_dpid(const struct weft_fast *t, uint64_t hpa)
{
	return fast_dpid(t, hpa);
}

void
weft_fast_run(const struct weft_fast *t, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		dpid[i] = (int16_t)fast_dpid(t, hpa[i]);
}
