/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From the syndromes of a frame's flits to what becomes of them: what crc_check and crc_first have
 * in common (encapsulation.md section 3). For stages only.
 */
#ifndef CRC_VERDICT_H
#define CRC_VERDICT_H

#include "weft_stage.h"

/** Counts of a burst, and the rows of a stage's table that they go to: the table begins so. */
enum { CRC_GOOD, CRC_BAD, CRC_GAPS, CRC_LOST, CRC_DUPLICATES, CRC_COUNTERS };

#define CRC_COUNTER_ROWS                                                                           \
	[CRC_GOOD] = { "good", "flits",                                                            \
		"intact flits, duplicates and those after a gap included" },                       \
	[CRC_BAD] = { "bad", "flits", "corrupt flits, or made for another receiver" },             \
	[CRC_GAPS] = { "gaps", "events", "places where numbers were skipped" },                    \
	[CRC_LOST] = { "lost_flits", "flits", "numbers skipped" },                                 \
	[CRC_DUPLICATES] = { "duplicates", "flits", "intact flits whose number is in the past" }

struct crc_counts {
	uint64_t row[CRC_COUNTERS];
	uint64_t zeros;
};

static inline unsigned int
crc_popcount(uint64_t mask)
{
	return (unsigned int)__builtin_popcountll(mask);
}

/* All-zero flits of a frame. Their syndrome is 0, and in rxl mode hardly any other's is. */
static inline uint64_t
crc_all_zero(const uint8_t *flits, const uint64_t *syndrome, unsigned int n)
{
	unsigned int suspects = 0;

	for (unsigned int i = 0; i < n; i++)
		suspects += syndrome[i] == 0;
	return suspects == 0 ? 0 : weft_wire_all_zero(flits, n);
}

/* Flits that use no number: NOP, IDLE. */
static inline uint64_t
crc_nops(const uint8_t *flits, unsigned int n)
{
	uint64_t nops = 0;

	for (unsigned int i = 0; i < n; i++)
		nops |= (uint64_t)(flits[i * (size_t)WEFT_FLIT_LEN] >> 6 == WEFT_FLIT_IDLE_NOP)
		        << i;
	return nops;
}

/* cxl mode: the number is in the header or counted along; turn that into the masks of rxl mode. */
static inline void
crc_judge_cxl(struct weft_conn *c, const uint8_t *flits, const uint64_t *syndrome, unsigned int n,
	uint64_t skip, struct weft_isn_result *r)
{
	struct weft_isn_result crc;

	weft_isn_judge(&c->isn, syndrome, n, skip, 0, &crc);
	*r = (struct weft_isn_result){ .bad = crc.bad };
	for (unsigned int i = 0; i < n; i++) {
		uint64_t bit = WEFT_BIT64(i);
		uint16_t lost = 0;
		enum weft_fsn_verdict v;

		if (skip & bit)
			continue;
		v = weft_fsn_account(
			&c->fsn, flits + i * (size_t)WEFT_FLIT_LEN, (crc.bad & bit) == 0, &lost);
		if (crc.bad & bit)
			continue;
		if (v == WEFT_FSN_DUPLICATE)
			r->duplicate |= bit;
		else if (v == WEFT_FSN_AFTER_GAP)
			r->after_gap |= bit;
		else
			r->in_turn |= bit;
		r->lost += lost;
	}
}

/** Judge the flits of a frame by their syndromes, in order, and mark what may not be used. */
static inline void
crc_judge_frame(struct weft_frame *f, const uint8_t *flits, const uint64_t *syndrome, uint64_t zero,
	struct crc_counts *counts)
{
	const unsigned int n = f->hdr.n_flits;
	struct weft_isn_result r;

	if (f->hdr.mode == WEFT_MODE_RXL)
		weft_isn_judge(&f->conn->isn, syndrome, n, zero, crc_nops(flits, n), &r);
	else
		crc_judge_cxl(f->conn, flits, syndrome, n, zero, &r);
	f->hole = r.bad | r.after_gap;
	f->dropped |= zero | r.bad | r.duplicate;
	if (__builtin_expect((zero | f->hole | r.duplicate) == 0, 1)) {
		counts->row[CRC_GOOD] += n;
		return;
	}
	counts->zeros += crc_popcount(zero);
	counts->row[CRC_GOOD] += crc_popcount(r.in_turn | r.after_gap | r.duplicate | r.nop);
	counts->row[CRC_BAD] += crc_popcount(r.bad);
	counts->row[CRC_GAPS] += crc_popcount(r.after_gap);
	counts->row[CRC_DUPLICATES] += crc_popcount(r.duplicate);
	counts->row[CRC_LOST] += r.lost;
}

/** Add a burst's counts to the stage's. */
static inline void
crc_count(struct weft_stage_stats *st, const struct crc_counts *counts)
{
	for (unsigned int i = 0; i < CRC_COUNTERS; i++)
		st->counts[i] += counts->row[i];
	st->drops[WEFT_DROP_CRC] += counts->row[CRC_BAD];
	st->drops[WEFT_DROP_DUPLICATE] += counts->row[CRC_DUPLICATES];
	st->drops[WEFT_DROP_ALL_ZERO] += counts->zeros;
}

#endif /* CRC_VERDICT_H */
