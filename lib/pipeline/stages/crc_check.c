/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage crc_check: CRC and sequence of every flit (encapsulation.md section 3). Corrupt flits,
 * duplicates and all-zero flits are marked as dropped; the frame goes on, with what is left in it.
 * A decoded gap is taken as loss, and the receiver goes on from the number it decoded. Hot: runs
 * per burst.
 */

#include "weft_stage.h"

enum { COUNT_GOOD, COUNT_BAD, COUNT_GAPS, COUNT_LOST, COUNT_DUPLICATES };

static const struct weft_counter crc_check_counters[] = {
	[COUNT_GOOD] = { "good", "flits",
		"intact flits, duplicates and those after a gap included" },
	[COUNT_BAD] = { "bad", "flits", "corrupt flits, or made for another receiver" },
	[COUNT_GAPS] = { "gaps", "events", "places where numbers were skipped" },
	[COUNT_LOST] = { "lost_flits", "flits", "numbers skipped" },
	[COUNT_DUPLICATES] = { "duplicates", "flits", "intact flits whose number is in the past" },
};

static const char *
crc_check_check(const struct weft_env *env)
{
	if (env->crc == NULL)
		return "a CRC kernel";
	return env->conns == NULL ? "connections" : NULL;
}

/* cxl mode: the number is in the header or counted along; turn that into the masks of rxl mode. */
static void
crc_check_cxl(const struct weft_crc_kernel *kernel, struct weft_conn *c, const uint8_t *flits,
	unsigned int n, uint64_t skip, struct weft_isn_result *r)
{
	struct weft_isn_result crc;

	weft_isn_check(&c->isn, kernel, flits, n, skip, &crc);
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

static void
crc_check_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint64_t bad = 0, good = 0, gaps = 0, lost = 0, duplicates = 0, zeros = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct weft_frame *f = weft_frame(b->pkt[i]);
		const uint8_t *flits = weft_frame_flits(b->pkt[i]);
		unsigned int n = f->hdr.n_flits;
		struct weft_isn_result r;
		uint64_t zero;

		if (f->conn == NULL)
			continue; /* link control */
		zero = weft_wire_all_zero(flits, n);
		if (f->hdr.mode == WEFT_MODE_RXL)
			weft_isn_check(&f->conn->isn, env->crc, flits, n, zero, &r);
		else
			crc_check_cxl(env->crc, f->conn, flits, n, zero, &r);
		f->hole = r.bad | r.after_gap;
		f->dropped |= zero | r.bad | r.duplicate;
		zeros += (unsigned int)__builtin_popcountll(zero);
		good += (unsigned int)__builtin_popcountll(r.in_turn | r.after_gap | r.duplicate);
		bad += (unsigned int)__builtin_popcountll(r.bad);
		gaps += (unsigned int)__builtin_popcountll(r.after_gap);
		duplicates += (unsigned int)__builtin_popcountll(r.duplicate);
		lost += r.lost;
	}
	st->counts[COUNT_GOOD] += good;
	st->counts[COUNT_BAD] += bad;
	st->counts[COUNT_GAPS] += gaps;
	st->counts[COUNT_LOST] += lost;
	st->counts[COUNT_DUPLICATES] += duplicates;
	st->drops[WEFT_DROP_CRC] += bad;
	st->drops[WEFT_DROP_DUPLICATE] += duplicates;
	st->drops[WEFT_DROP_ALL_ZERO] += zeros;
}

static const struct weft_stage crc_check = {
	.name = "crc_check",
	.help = "CRC and sequence number of every flit",
	.check = crc_check_check,
	.run = crc_check_run,
	.counters = crc_check_counters,
	.n_counters = WEFT_ARRAY_SIZE(crc_check_counters),
};

WEFT_STAGE(crc_check)
