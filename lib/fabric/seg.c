/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Control side of a segment decoder: every rule of the set-up commands (fabric.md sections 1.2 to
 * 1.5 and questions Q1 to Q3, Q13, Q21), and the arrays that the look-up reads.
 */

#include "weft_seg.h"

#include <errno.h>

static_assert(sizeof(struct weft_seg_target) == 8, "an entry is read in one load");

#define SEGMENT_LOG2_MIN 36
#define SEGMENT_LOG2_MAX 43
#define DEPTH_LOG2_MAX 12
#define GRAN_LOG2_MIN 8
#define SLOT_OF_PID(pid) (WEFT_SEG_ENTRIES + (pid))

/* No PID has it: a request that needs it never passes, but its segment is valid. */
#define SLOT_NEVER 0x8000

int
weft_seg_init(struct weft_seg *s, const struct weft_seg_cfg *cfg)
{
	if (cfg->depth_log2 > DEPTH_LOG2_MAX || cfg->idt_depth > WEFT_SEG_ENTRIES)
		return -EINVAL;
	memset(s, 0, sizeof(*s));
	/*
	 * Members only: tables are compared by bytes, and what lies between them is left to chance.
	 */
	s->cfg.kind = cfg->kind;
	s->cfg.depth_log2 = cfg->depth_log2;
	s->cfg.idt_depth = cfg->idt_depth;
	s->cfg.gim = cfg->gim;
	s->index_mask = (1u << cfg->depth_log2) - 1;
	s->segment_log2 = SEGMENT_LOG2_MIN;
	for (unsigned int i = 0; i < WEFT_SEG_ENTRIES; i++)
		s->idt_slot[i] = WEFT_PID_RESERVED;
	for (unsigned int p = 0; p < WEFT_PIDS; p++)
		s->idt_slot[SLOT_OF_PID(p)] = (uint16_t)p;
	return 0;
}

int
weft_seg_set_range(struct weft_seg *s, unsigned int segment_log2, uint64_t base, uint64_t limit)
{
	const bool on = base != 0 && limit != 0;

	if (s->cfg.idt_depth == 0)
		return -ENOTSUP;
	if (segment_log2 < SEGMENT_LOG2_MIN || segment_log2 > SEGMENT_LOG2_MAX)
		return -EINVAL;
	if (((base | limit) & weft_mask64(segment_log2)) != 0)
		return -EINVAL;
	if (on && (limit <= base || limit - base > WEFT_BIT64(segment_log2 + s->cfg.depth_log2)))
		return -EINVAL;
	if (base != s->base || segment_log2 != s->segment_log2) {
		memset(s->target, 0, sizeof(s->target));
		memset(s->entry, 0, sizeof(s->entry));
	}
	s->base = base;
	s->limit = limit;
	s->span = on ? limit - base : 0;
	s->segment_log2 = (uint8_t)segment_log2;
	return 0;
}

/* Command index 0 is the segment at the base (Q1). */
static unsigned int
seg_entry_number(const struct weft_seg *s, unsigned int i)
{
	return (unsigned int)((s->base >> s->segment_log2) + i) & s->index_mask;
}

static unsigned int
seg_first_slot(const struct weft_fast_entry *e)
{
	return e->intlv == 0 ? SLOT_OF_PID(e->dpid) : e->dpid;
}

static uint16_t
seg_right_needed(const struct weft_seg *s, const struct weft_fast_entry *e)
{
	return s->cfg.kind == WEFT_SEG_FAST && (e->flags & WEFT_SEG_GIM) != 0
	               ? WEFT_IDT_SLOT_GIM
	               : WEFT_IDT_SLOT_DIRECT;
}

static bool
seg_entry_is_well_formed(const struct weft_seg *s, const struct weft_fast_entry *e)
{
	if ((e->flags & ~(WEFT_SEG_VALID | WEFT_SEG_GIM)) != 0 || e->reserved != 0 ||
		e->reserved2 != 0)
		return false;
	if (e->intlv > WEFT_INTLV_MAX || e->gran > WEFT_GRAN_MAX || e->dpid >= WEFT_PIDS)
		return false;
	return e->intlv == 0 || e->dpid + (1u << e->intlv) <= s->cfg.idt_depth;
}

static bool
seg_entry_is_allowed(const struct weft_seg *s, const struct weft_fast_entry *e)
{
	const uint16_t *slot = &s->idt_slot[seg_first_slot(e)];

	if ((e->flags & WEFT_SEG_VALID) == 0)
		return true;
	for (unsigned int i = 0; i < 1u << e->intlv; i++)
		if ((slot[i] & seg_right_needed(s, e)) == 0)
			return false;
	return true;
}

static int
seg_check_entries(const struct weft_seg *s, const struct weft_fast_entry *e, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!seg_entry_is_well_formed(s, &e[i]))
			return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (seg_right_needed(s, &e[i]) == WEFT_IDT_SLOT_GIM && !s->cfg.gim)
			return -ENOTSUP;
	for (unsigned int i = 0; i < n; i++)
		if (!seg_entry_is_allowed(s, &e[i]))
			return -EPERM;
	return 0;
}

static struct weft_seg_target
seg_derive_target(const struct weft_seg *s, const struct weft_fast_entry *e)
{
	const uint16_t need = seg_right_needed(s, e);

	if ((e->flags & WEFT_SEG_VALID) == 0)
		return (struct weft_seg_target){ 0 };
	return (struct weft_seg_target){
		.first = (uint16_t)seg_first_slot(e),
		.mask = (uint8_t)((1u << e->intlv) - 1),
		.shift = (uint8_t)(GRAN_LOG2_MIN + e->gran),
		.need_mem = need == WEFT_IDT_SLOT_GIM ? SLOT_NEVER : need,
		.need_uio = need,
	};
}

int
weft_seg_set_entries(
	struct weft_seg *s, unsigned int start, const struct weft_fast_entry *e, unsigned int n)
{
	int rc;

	if (s->cfg.idt_depth == 0)
		return -ENOTSUP;
	if (n > s->index_mask + 1 || start > s->index_mask + 1 - n)
		return -EINVAL;
	rc = seg_check_entries(s, e, n);
	if (rc != 0)
		return rc;
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int at = seg_entry_number(s, start + i);

		s->entry[at] = e[i];
		s->target[at] = seg_derive_target(s, &e[i]);
	}
	return 0;
}

const struct weft_fast_entry *
weft_seg_entry(const struct weft_seg *s, unsigned int i)
{
	return &s->entry[seg_entry_number(s, i)];
}

int
weft_seg_set_idt(struct weft_seg *s, unsigned int start, const uint16_t *pid, unsigned int n)
{
	if (s->cfg.idt_depth == 0)
		return -ENOTSUP;
	if (n > s->cfg.idt_depth || start > s->cfg.idt_depth - n)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++)
		if (pid[i] >= WEFT_PIDS)
			return -EINVAL;
	/* The slot of a PID has its rights. */
	for (unsigned int i = 0; i < n; i++)
		if (s->idt_slot[SLOT_OF_PID(pid[i])] == pid[i])
			return -EPERM;
	for (unsigned int i = 0; i < n; i++)
		s->idt_slot[start + i] = s->idt_slot[SLOT_OF_PID(pid[i])];
	if (start + n > s->idt_end)
		s->idt_end = (uint16_t)(start + n);
	return 0;
}

uint16_t
weft_seg_idt(const struct weft_seg *s, unsigned int i)
{
	return s->idt_slot[i] & WEFT_IDT_SLOT_PID;
}

void
weft_seg_set_right(struct weft_seg *s, uint16_t pid, uint16_t right, bool on)
{
	uint16_t *of_pid = &s->idt_slot[SLOT_OF_PID(pid)];
	const uint16_t slot = on ? *of_pid | right : (uint16_t)(*of_pid & ~right);

	if (slot == *of_pid)
		return;
	*of_pid = slot;
	for (unsigned int i = 0; i < s->idt_end; i++)
		if ((s->idt_slot[i] & WEFT_IDT_SLOT_PID) == pid)
			s->idt_slot[i] = slot;
}
