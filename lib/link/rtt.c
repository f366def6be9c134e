/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Smoothed round trip and the time-out from it, in integers: gains 1/8 and 1/4. */

#include "weft_rtt.h"

#include "weft_base.h"

#define BACKOFF_MAX 16

void
weft_rtt_init(struct weft_rtt *r, uint64_t min_ns, uint64_t first_ns, uint64_t max_ns)
{
	assert(min_ns >= 1 && min_ns <= first_ns && first_ns <= max_ns);
	*r = (struct weft_rtt){ .min_ns = min_ns, .max_ns = max_ns, .first_ns = first_ns };
}

void
weft_rtt_sample(struct weft_rtt *r, uint64_t sample_ns)
{
	uint64_t off;

	if (sample_ns == 0)
		sample_ns = 1;
	if (r->mean_ns == 0) {
		r->mean_ns = sample_ns;
		r->deviation_ns = sample_ns / 2;
		return;
	}
	off = sample_ns > r->mean_ns ? sample_ns - r->mean_ns : r->mean_ns - sample_ns;
	r->deviation_ns = r->deviation_ns - r->deviation_ns / 4 + off / 4;
	r->mean_ns = r->mean_ns - r->mean_ns / 8 + sample_ns / 8;
	if (r->mean_ns == 0)
		r->mean_ns = 1;
}

void
weft_rtt_timed_out(struct weft_rtt *r)
{
	if (r->backoff < BACKOFF_MAX)
		r->backoff++;
}

void
weft_rtt_progress(struct weft_rtt *r)
{
	r->backoff = 0;
}

/* RETRY-9 */
uint64_t
weft_rtt_timeout(const struct weft_rtt *r)
{
	uint64_t t = r->mean_ns == 0 ? r->first_ns : r->mean_ns + 4 * r->deviation_ns;

	if (t < r->min_ns)
		t = r->min_ns;
	for (unsigned int i = 0; i < r->backoff && t < r->max_ns; i++)
		t *= 2;
	return t < r->max_ns ? t : r->max_ns;
}

uint64_t
weft_rtt_guess(const struct weft_rtt *r)
{
	return r->mean_ns != 0 ? r->mean_ns : r->first_ns / 3 + 1;
}
