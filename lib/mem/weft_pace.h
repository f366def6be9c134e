/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The pace of a source: at most `rate` requests a second, and what was not begun in time may follow
 * at once, but no more than `burst`. In any t seconds no more than rate * t + burst begin. A
 * request is due a gap behind the one before, or burst - 1 gaps ago if the source has idled for
 * longer. Nothing is divided after init. Pure functions; the caller's thread.
 */
#ifndef WEFT_PACE_H
#define WEFT_PACE_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_PACE_RATE_MAX 1000000000u

struct weft_pace {
	uint64_t due_ns; /* when the next request is due */
	uint64_t gap_ns; /* whole nanoseconds, rounded up; 0: no limit */
	uint64_t behind_ns; /* so long ago it may have been due */
};

/** @p rate: requests a second, to WEFT_PACE_RATE_MAX; 0: no limit. @p burst: 1 or more. */
static inline void
weft_pace_init(struct weft_pace *p, uint32_t rate, uint32_t burst)
{
	p->due_ns = 0;
	p->gap_ns = rate == 0 ? 0 : (WEFT_PACE_RATE_MAX + (uint64_t)rate - 1) / rate;
	p->behind_ns = (burst - 1) * p->gap_ns;
}

/** Whether a request may begin. */
static inline bool
weft_pace_is_due(const struct weft_pace *p, uint64_t now_ns)
{
	return now_ns >= p->due_ns;
}

/** One has begun. */
static inline void
weft_pace_begun(struct weft_pace *p, uint64_t now_ns)
{
	if (p->gap_ns == 0)
		return;
	if (p->due_ns + p->behind_ns < now_ns)
		p->due_ns = now_ns - p->behind_ns;
	p->due_ns += p->gap_ns;
}

WEFT_END_DECLS

#endif /* WEFT_PACE_H */
