/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: runs per burst. A run of addresses through a segment decoder, without a branch on the data. */

#include "weft_base.h"
#include "weft_seg.h"

/* The entry of any address, inside the range or not. */
static inline const struct weft_seg_way *
way_at(const struct weft_seg *s, uint64_t hpa)
{
	return &s->way[hpa >> s->segment_log2 & s->index_mask];
}

unsigned int
weft_seg_run(const struct weft_seg *s, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct weft_seg_way *w = way_at(s, hpa[i]);
		const uint16_t lane = weft_seg_lane(s, w, hpa[i]);
		const bool pass = (hpa[i] - s->base < s->span) & ((lane & w->need_mem) != 0);

		dpid[i] = (int16_t)(pass ? lane & WEFT_LANE_PID : -1);
		found += pass;
	}
	return found;
}
