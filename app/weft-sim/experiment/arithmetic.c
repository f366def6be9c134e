/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Numbers of the paper that follow from others: each is made from rows that were measured, or
 * counted where there is something to count.
 */

#include <math.h>

#include "exp.h"
#include "weft_flit.h"
#include "weft_msg.h"

#define SKEW_SLOTS 500000 /* 1 ms, the paper's section 5 */
#define FLIT_BYTES 256

static void
arithmetic_derive(struct exp_row *r, const struct exp_row *from, double by)
{
	r->exact = from->exact * by;
	r->measured = from->measured * by;
	r->shown = (struct stats_range){ from->shown.low * by, from->shown.high * by };
	r->far = (struct stats_range){ from->far.low * by, from->far.high * by };
	r->events = from->events;
	r->sample = from->sample;
}

/* Equation 3 in both channels. */
static void
arithmetic_corrected(struct exp *x)
{
	const struct exp_row *iid = exp_row_find(x, "fer_uc_iid");
	const struct exp_row *fer = exp_row_find(x, "fer");
	struct exp_row *r = exp_row(x, "erroneous flits that FEC corrects (eq. 3)", "p_correct");

	r->paper = 0.985;
	r->paper_half = 0.0005;
	r->exact = 1 - x->channel_uc;
	r->note = "of the channel of bursts, whose FER_UC is the paper's";
	exp_row_share(r, x->channel_flits - x->channel_uncorrectable, x->channel_flits, 1);
	r = exp_row(x, "erroneous flits that FEC cannot correct", "p_uncorrectable");
	r->paper = 0.015;
	r->paper_half = 0.0005;
	r->exact = x->channel_uc;
	exp_row_share(r, x->channel_uncorrectable, x->channel_flits, 1);
	r = exp_row(x, "the same, independent bits", "p_uncorrectable_iid");
	arithmetic_derive(r, iid, 1 / fer->exact);
	r->paper = 0.015;
	r->paper_half = 0.0005;
	r->note = "the paper divides a FER_UC of bursts by a FER of independent bits: of these FEC "
		  "corrects all but 3 in 10,000";
}

/* Equation 6, and what a switch really drops of it. */
static void
arithmetic_dropped(struct exp *x)
{
	struct exp_row *r = exp_row(x, "flits lost on the way to a switch (eq. 6)", "fer_drop");

	arithmetic_derive(r, x->fer_uc_burst, 1);
	r->paper = PAPER_FER_UC;
	r->paper_half = 0.05e-5;
	r->note = "all that FEC cannot put right; the switch drops those that it notices "
		  "(fec_detect_channel), the others fail the CRC at the end";
}

static void
arithmetic_by_the_second(struct exp *x)
{
	struct exp_row *r = exp_row(x, "erroneous flits a second, of 5e8", "erroneous_per_s");

	arithmetic_derive(r, exp_row_find(x, "fer"), FLITS_PER_S);
	r->paper = 1e6;
	r->paper_half = 0.05e6;
}

/* The powers of ten of the paper's sections 7.1.3 and 7.1.4. */
static void
arithmetic_powers_of_ten(struct exp *x)
{
	const struct exp_row *cxl = exp_row_find(x, "fit_cxl_l1");
	static const struct {
		const char *id, *than, *what, *note;
	} rows[] = {
		{ "log10_cxl_to_rxl", "fit_rxl_l1", "log10 of FIT of CXL by that of RXL (7.1.3)",
			"the paper says more than 18; with what its eq. 10 leaves out 18.1" },
		{ "log10_cxl_to_direct", "fit_rxl_l0",
			"log10 of FIT of CXL, one switch by direct (7.1.4)",
			"the paper says about 18" },
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		const struct exp_row *other = exp_row_find(x, rows[i].than);
		struct exp_row *r = exp_row(x, rows[i].what, "%s", rows[i].id);

		r->paper = 18;
		r->paper_half = 0.5;
		r->exact = log10(cxl->exact / other->exact);
		r->measured = log10(cxl->measured / other->measured);
		r->shown = (struct stats_range){ log10(cxl->shown.low / other->shown.high),
			log10(cxl->shown.high / other->shown.low) };
		r->far = (struct stats_range){ log10(cxl->far.low / other->far.high),
			log10(cxl->far.high / other->far.low) };
		r->events = cxl->events;
		r->sample = cxl->sample;
		r->note = rows[i].note;
	}
}

/* A row of something that was counted, and is so. */
static void
arithmetic_counted(struct exp_row *r, double measured, uint64_t events, uint64_t sample)
{
	r->measured = measured;
	r->shown = r->far = (struct stats_range){ measured, measured };
	r->events = events;
	r->sample = sample;
}

/* One flit takes the slow way, 1 ms late; those behind it take the fast one and wait for it. */
static void
arithmetic_multipath_buffer(struct exp *x)
{
	struct exp_row *r =
		exp_row(x, "bytes of reassembly buffer, 1 ms between ways", "buffer_multipath");
	const uint64_t late = 100, slots = 2 * SKEW_SLOTS;
	uint64_t waiting = 0, most = 0;

	for (uint64_t slot = 0; slot < slots; slot++) {
		if (slot > late && slot < late + SKEW_SLOTS)
			waiting++; /* the flit of this slot */
		if (slot == late + SKEW_SLOTS) {
			waiting++;
			most = waiting;
			waiting = 0;
		}
	}
	r->paper = 128e6;
	r->paper_half = 0.5e6;
	r->exact = 1e-3 * FLITS_PER_S * FLIT_BYTES;
	r->note = "a flit each 2 ns; the paper's 1 Gb";
	arithmetic_counted(r, (double)most * FLIT_BYTES, most, slots);
}

/* Messages of one kind in any 128 bytes of what the packer makes. */
static unsigned int
arithmetic_packed_of_kind(enum weft_msg_kind kind)
{
	struct weft_packer p;
	uint8_t flit[FLIT_BYTES];
	unsigned int most = 0;

	weft_pack_init(&p, WEFT_FORM_HBR);
	for (unsigned int f = 0; f < 4; f++) {
		const struct weft_msg m = { .kind = (uint8_t)kind };

		weft_pack_begin(&p, flit, false);
		while (weft_pack_msg(&p, &m) == 0)
			;
		for (unsigned int g = 1; g < WEFT_ARRAY_SIZE(p.per_group); g++) {
			const unsigned int n = p.per_group[g - 1][kind] + p.per_group[g][kind];

			most = n > most ? n : most;
		}
		weft_pack_end(&p);
	}
	return most;
}

static void
arithmetic_messages_in_128_bytes(struct exp *x)
{
	struct exp_row *r =
		exp_row(x, "messages a 128 B group, limits of all kinds", "messages_limit");
	unsigned int limits = 0, packed = 0;

	for (unsigned int k = 0; k < WEFT_MSG_LLCTRL; k++) {
		limits += weft_pack_limit((enum weft_msg_kind)k);
		packed += arithmetic_packed_of_kind((enum weft_msg_kind)k);
	}
	r->paper = r->exact = 44;
	r->note = "the sum of what a receiver must take of each kind at most (wire-formats.md "
		  "section "
		  "4.4); a group of 8 slots never holds all of them at once";
	arithmetic_counted(r, limits, limits, WEFT_MSG_LLCTRL);
	r = exp_row(x, "messages a 128 B group, as packed here", "messages_packed");
	r->note =
		"kind by kind, summed up: the packer gives each data header a slot of its own, so "
		"that its data can follow at once";
	arithmetic_counted(r, packed, packed, WEFT_MSG_LLCTRL);
}

void
exp_arithmetic(struct exp *x)
{
	arithmetic_corrected(x);
	arithmetic_dropped(x);
	arithmetic_by_the_second(x);
	arithmetic_powers_of_ten(x);
	arithmetic_multipath_buffer(x);
	arithmetic_messages_in_128_bytes(x);
}
