/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Round-trip time of a retry domain, smoothed, and the time-out that follows from it: mean plus
 * four mean deviations, doubled with every time-out in a row (the estimator of RFC 6298). Nothing
 * else in the retry layer is a constant of time.
 */
#ifndef WEFT_RTT_H
#define WEFT_RTT_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** State; set by weft_rtt_init(). One thread at a time. Times in nanoseconds. */
struct weft_rtt {
	uint64_t mean_ns; /* 0: nothing measured yet */
	uint64_t deviation_ns;
	uint64_t min_ns; /* bounds of the time-out */
	uint64_t max_ns;
	uint64_t first_ns; /* time-out before anything is measured */
	uint8_t backoff; /* time-outs in a row */
};

/** Start. @p first_ns holds until the first sample; 1 <= min <= first <= max (asserted). */
void weft_rtt_init(struct weft_rtt *r, uint64_t min_ns, uint64_t first_ns, uint64_t max_ns);

/** A flit sent once was acknowledged @p sample_ns after it left. */
void weft_rtt_sample(struct weft_rtt *r, uint64_t sample_ns);

/** The time-out passed without progress: the next one is twice as long, up to the bound. */
void weft_rtt_timed_out(struct weft_rtt *r);

/** Progress was made: time-outs follow the measured round trip again. */
void weft_rtt_progress(struct weft_rtt *r);

/** Time-out that holds now, min_ns..max_ns. */
uint64_t weft_rtt_timeout(const struct weft_rtt *r);

/** Best guess of one round trip: the mean, or a third of the first time-out before any sample. */
uint64_t weft_rtt_guess(const struct weft_rtt *r);

WEFT_END_DECLS

#endif /* WEFT_RTT_H */
