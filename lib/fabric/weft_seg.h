/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Segment decoder: host physical address to DPID with interleave (fabric.md sections 1.2 to 1.5).
 * FAST and LDST are the same machine with other flags and other access vectors; each has an IDT.
 *
 * A decoder is plain data without pointers: a copy is a decoder. It is changed on the control side
 * by one thread and read by any number while it does not change (weft_tables.h).
 */
#ifndef WEFT_SEG_H
#define WEFT_SEG_H

#include "weft_base.h"
#include "weft_pbr.h"

WEFT_BEGIN_DECLS

#define WEFT_SEG_VALID 0x01 /**< entry flag: the segment leads somewhere */
#define WEFT_SEG_GIM 0x02 /**< FAST entry flag: memory of another host, UIO only */
#define WEFT_SEG_SEGMENT 0x02 /**< LDST entry flag: the TLP carries the requester's PCIe segment */

#define WEFT_INTLV_MAX 8 /**< code of 256 ways */
#define WEFT_GRAN_MAX 6 /**< code of 16 KB */
#define WEFT_SEG_ENTRIES 4096 /**< most segments of a decoder, and most entries of an IDT */

enum weft_seg_kind { WEFT_SEG_FAST, WEFT_SEG_LDST };

/** A set of PIDs: an access vector (fabric.md section 1.8), bit p of the vector = PID p. */
struct weft_pid_set {
	uint64_t word[WEFT_PIDS / 64];
};

/** True if @p pid, 0..0xFFF, is in the set. */
static inline bool
weft_pid_set_has(const struct weft_pid_set *s, uint16_t pid)
{
	return pid < WEFT_PIDS && (s->word[pid / 64] >> pid % 64 & 1) != 0;
}

/** Put @p pid, 0..0xFFF, in or take it out. */
static inline void
weft_pid_set_put(struct weft_pid_set *s, uint16_t pid, bool in)
{
	const uint64_t bit = UINT64_C(1) << pid % 64;

	s->word[pid / 64] = in ? s->word[pid / 64] | bit : s->word[pid / 64] & ~bit;
}

/**
 * Target index of an address (fabric.md section 1.3): bits of the address itself, from 8 + @p gran
 * up.
 *
 * @param intlv  code 0..WEFT_INTLV_MAX: 1, 2, 4 .. 256 ways
 * @param gran   code 0..WEFT_GRAN_MAX: 256 B .. 16 KB
 */
static inline unsigned int
weft_target_index(uint64_t hpa, unsigned int intlv, unsigned int gran)
{
	return (unsigned int)(hpa >> (8 + gran)) & ((1u << intlv) - 1);
}

/*
 * IDT slots: a PID (0xFFF: none) and its rights above it. After the slots of the IDT proper there
 * is one for each PID, so that a segment without interleave is a run of one slot, and a look-up has
 * no branch for it.
 */
#define WEFT_IDT_SLOT_PID 0x0FFF
#define WEFT_IDT_SLOT_DIRECT 0x1000 /* PID is in GMV (FAST), in LAV (LDST) */
#define WEFT_IDT_SLOT_GIM 0x2000 /* PID is in VTV (FAST) */

/** An entry as the look-up reads it: one load. All zero: not valid. */
struct weft_seg_target {
	uint16_t first; /* slot of target index 0 */
	uint8_t mask; /* ways - 1 */
	uint8_t shift; /* 8 + granularity code */
	uint16_t need_mem; /* slot bits of which one must be set for CXL.mem to pass */
	uint16_t need_uio; /* and for UIO */
};

/** Configuration of a decoder; fixed for its life. */
struct weft_seg_cfg {
	enum weft_seg_kind kind;
	uint8_t depth_log2; /**< 0..12: 1..4096 segments */
	/** 1..4096, or 0: there is no such decoder, -ENOTSUP to all commands */
	uint16_t idt_depth;
	bool gim; /**< FAST: entries may have WEFT_SEG_GIM */
};

/** A decoder. Fields are read by the inline look-up; written only by the functions below. */
struct weft_seg {
	uint64_t base; /* 0: off */
	uint64_t limit; /* first address past the range */
	uint64_t span; /* limit - base, 0: off */
	uint32_t index_mask; /* depth - 1 */
	uint8_t segment_log2; /* 36..43 */
	uint16_t idt_end; /* no IDT entry from here on was ever assigned */
	struct weft_seg_cfg cfg;
	struct weft_seg_target target[WEFT_SEG_ENTRIES];
	uint16_t idt_slot[WEFT_SEG_ENTRIES + WEFT_PIDS];
	/* as written; what a read command returns */
	struct weft_fast_entry entry[WEFT_SEG_ENTRIES];
};

/**
 * Start a decoder: off, segments of 64 GB, no valid entry, no IDT entry assigned, no rights.
 *
 * @return 0, or -EINVAL for a depth out of range
 */
int weft_seg_init(struct weft_seg *s, const struct weft_seg_cfg *cfg);

/**
 * Set range and segment size (5804h, 570Dh). Another base or size clears every entry, since entry
 * numbers come from the address; another limit alone clears none, and the IDT stays.
 *
 * @param segment_log2  36..43: 64 GB .. 8 TB
 * @param base          multiple of the segment size; 0 = off
 * @param limit         first address past the range, multiple of the segment size; 0 = off
 * @return 0; -EINVAL for any of these, a limit not above the base, or a range above depth x segment
 *         size; -ENOTSUP without a decoder. On error nothing has changed
 */
int weft_seg_set_range(
	struct weft_seg *s, unsigned int segment_log2, uint64_t base, uint64_t limit);

/**
 * Write @p n entries (5806h, 570Fh) from segment @p start on: segment 0 is the one at the base.
 *
 * A valid entry, and each of its targets, must be a PID with the right for it: GMV, VTV for a GIM
 * segment, LAV in an LDST.
 *
 * @param e  in wire layout; DPID, or the first IDT entry if interleaved
 * @return 0; -EINVAL for an index or value out of range, a reserved value or bit, or ways that do
 *         not fit the IDT; -ENOTSUP for a GIM segment where there is none; -EPERM if a right is
 *         missing. On error nothing has changed
 */
int weft_seg_set_entries(
	struct weft_seg *s, unsigned int start, const struct weft_fast_entry *e, unsigned int n);

/** Entry of segment @p i, 0..depth-1, as written (5805h, 570Eh). */
const struct weft_fast_entry *weft_seg_entry(const struct weft_seg *s, unsigned int i);

/**
 * Write @p n IDT entries (5808h, 5711h) from @p start on. Every PID must be in GMV or VTV, or in
 * LAV.
 *
 * @return 0; -EINVAL for an index or PID out of range; -EPERM if a right is missing. On error
 *         nothing has changed
 */
int weft_seg_set_idt(struct weft_seg *s, unsigned int start, const uint16_t *pid, unsigned int n);

/** IDT entry @p i, 0..idt_depth-1; 0xFFF: not assigned. */
uint16_t weft_seg_idt(const struct weft_seg *s, unsigned int i);

/**
 * Give or take the right to be a target: a bit of GMV or LAV (WEFT_IDT_SLOT_DIRECT) or VTV
 * (WEFT_IDT_SLOT_GIM). Entries stay as written; those that lose the right lead nowhere at once.
 *
 * @param pid  0..0xFFE
 */
void weft_seg_set_right(struct weft_seg *s, uint16_t pid, uint16_t right, bool on);

/** Entry that decodes @p hpa, whose need is 0 if not valid; NULL outside the range. Any thread. */
static inline const struct weft_seg_target *
weft_seg_target_of(const struct weft_seg *s, uint64_t hpa)
{
	if (hpa - s->base >= s->span)
		return NULL;
	return &s->target[hpa >> s->segment_log2 & s->index_mask];
}

/** Slot of @p hpa under an entry. */
static inline uint16_t
weft_seg_idt_slot(const struct weft_seg *s, const struct weft_seg_target *t, uint64_t hpa)
{
	return s->idt_slot[t->first + (hpa >> t->shift & t->mask)];
}

/**
 * CXL.mem requests of a run, by this decoder alone.
 *
 * @param hpa   @p n addresses
 * @param dpid  receives a DPID, or -1 for a miss and for what may not pass
 * @return how many have a DPID
 */
unsigned int weft_seg_run(
	const struct weft_seg *s, const uint64_t *hpa, int16_t *dpid, unsigned int n);

WEFT_END_DECLS

#endif /* WEFT_SEG_H */
