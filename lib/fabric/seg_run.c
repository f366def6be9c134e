/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: runs per burst. A run of addresses through a segment decoder. */

#include "weft_seg.h"

#define GROUP 8 /* addresses that are asked for at once if they have one answer; seg_differing() */

/* The entry of any address, inside the range or not. */
static inline const struct weft_seg_target *
seg_target_at(const struct weft_seg *s, uint64_t hpa)
{
	return &s->target[hpa >> s->segment_log2 & s->index_mask];
}

/* The DPID of an address, by its entry. */
static inline int16_t
seg_dpid_at(const struct weft_seg *s, const struct weft_seg_target *t, uint64_t hpa)
{
	const uint16_t slot = weft_seg_idt_slot(s, t, hpa);
	const bool pass = (hpa - s->base < s->span) & ((slot & t->need_mem) != 0);

	return (int16_t)(pass ? slot & WEFT_IDT_SLOT_PID : -1);
}

/* Without a branch on the data. */
static unsigned int
run_each(const struct weft_seg *s, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		dpid[i] = seg_dpid_at(s, seg_target_at(s, hpa[i]), hpa[i]);
		found += dpid[i] >= 0;
	}
	return found;
}

/* Bits in which eight addresses differ. Written out: compilers leave a loop here. */
static inline uint64_t
seg_differing(const uint64_t *a)
{
	return (a[0] | a[1] | a[2] | a[3] | a[4] | a[5] | a[6] | a[7]) &
	       ~(a[0] & a[1] & a[2] & a[3] & a[4] & a[5] & a[6] & a[7]);
}

/* True if bits in which addresses differ lead them to other segments or targets. */
static inline bool
seg_is_split(const struct weft_seg *s, const struct weft_seg_target *t, uint64_t differ)
{
	return (differ >> s->segment_log2 | (differ >> t->shift & t->mask)) != 0;
}

/*
 * Requests of a frame go to one node, so they mostly are of one segment and one target: then they
 * have one answer. Base and limit are multiples of the segment, so one address tells the range for
 * all.
 */
unsigned int
weft_seg_run(const struct weft_seg *s, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	unsigned int i, found = 0;

	for (i = 0; i + GROUP <= n; i += GROUP) {
		const struct weft_seg_target *t = seg_target_at(s, hpa[i]);
		uint64_t four;
		int16_t one;

		if (__builtin_expect(seg_is_split(s, t, seg_differing(hpa + i)), 0)) {
			found += run_each(s, hpa + i, dpid + i, GROUP);
			continue;
		}
		one = seg_dpid_at(s, t, hpa[i]);
		four = (uint16_t)one * UINT64_C(0x0001000100010001);
		memcpy(dpid + i, &four, sizeof(four));
		memcpy(dpid + i + GROUP / 2, &four, sizeof(four));
		found += one >= 0 ? GROUP : 0;
	}
	return found + run_each(s, hpa + i, dpid + i, n - i);
}
