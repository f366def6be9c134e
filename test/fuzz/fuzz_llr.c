/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two retry layers with a wire between them that loses, repeats, holds back and damages frames, by
 * a script. A link in cxl mode only damages them: it keeps their order, and numbers are not in all
 * flits. Each end hands on what the other sent, all of it, in order and once; what waits stays in
 * its bounds; and when the wire is good again, everything arrives.
 *
 * byte 0  bit 0: cxl; bit 1: gap decoding; bit 2: selective; bit 3: cxl, not show_first; 7:4: half
 * the window then    steps (step())
 */

#include "weft_fuzz.h"

#include "weft_flit.h"
#include "weft_llr.h"

#define FRAME_MAX 8
#define FRAMES 8
#define OLD 256 /* a frame older than so many flits never comes: half the numbers, and less */
#define BAD UINT64_C(0x0123456789ABCDEF) /* no number's syndrome */
#define ROUNDS 4000
#define MS 1000000u

struct frame {
	unsigned int n;
	uint64_t stamp; /* flits that its sender had committed */
	uint8_t flit[FRAME_MAX][WEFT_FLIT_LEN];
	uint64_t syndrome[FRAME_MAX];
};

struct end {
	struct weft_llr *llr;
	uint64_t committed, handed_on;
	struct frame frame[FRAMES]; /* on their way from here */
	unsigned int n_frames;
};

static struct end ends[2];
static struct weft_llr_cfg cfg;
static uint64_t now;

static void
check_bounds(const struct end *e)
{
	FUZZ_CHECK(weft_llr_unacked(e->llr) <= cfg.window);
	FUZZ_CHECK(weft_llr_held_count(e->llr) <= cfg.rx_flits);
	FUZZ_CHECK(weft_llr_ready_count(e->llr) <= weft_llr_held_count(e->llr));
	FUZZ_CHECK(weft_llr_state(e->llr) <= WEFT_LLR_STUCK);
}

static void
commit(struct end *e, unsigned int n)
{
	const struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

	for (; n > 0; n--) {
		const bool room = weft_llr_room(e->llr) > 0;
		uint8_t *flit = weft_llr_reserve(e->llr);

		FUZZ_CHECK((flit != NULL) == room);
		if (flit == NULL)
			return;
		memset(flit, 0, WEFT_FLIT_LEN);
		weft_flit_hdr_put(flit, &h);
		weft_put_be64(flit + 16, ++e->committed);
		weft_llr_commit(e->llr);
	}
}

static void
lose(struct end *e, unsigned int i)
{
	e->n_frames--;
	memmove(&e->frame[i], &e->frame[i + 1], (e->n_frames - i) * sizeof(e->frame[0]));
}

/* What @p e has to send, as a frame on its way. @return flits */
static unsigned int
fill(struct end *e, unsigned int max)
{
	uint8_t *room;
	struct weft_llr_tx_info out;
	struct frame *f;
	unsigned int n;

	if (e->n_frames == FRAMES)
		return 0;
	room = fuzz_alloc((size_t)max * WEFT_FLIT_LEN);
	n = weft_llr_tx(e->llr, room, max, now, &out);
	FUZZ_CHECK(n == out.n && n <= max && out.nops <= n);
	if (n > 0) {
		f = &e->frame[e->n_frames++];
		f->n = n;
		f->stamp = e->committed;
		memcpy(f->flit, room, (size_t)n * WEFT_FLIT_LEN);
		for (unsigned int i = 0; i < n; i++) {
			const unsigned int k = i < n - out.nops ? i : n - out.nops;

			f->syndrome[i] = cfg.mode == WEFT_MODE_CXL
			                         ? 0
			                         : weft_isn_number((out.first + k) % 1024);
			/* The CRC as it stands is looked at too, where a number comes again. */
			weft_crc_store(f->flit[i],
				weft_crc_update(0, f->flit[i], WEFT_CRC_COVERED) ^ f->syndrome[i],
				WEFT_CRC_R0_FIRST);
			if (out.invert_crc >> i & 1)
				f->syndrome[i] ^= BAD;
		}
	}
	free(room);
	return n;
}

static void
hand_on(struct end *to, const struct end *from, const uint8_t *flit)
{
	FUZZ_CHECK(weft_get_be64(flit + 16) == ++to->handed_on);
	FUZZ_CHECK(to->handed_on <= from->committed);
}

static void
check_masks(const struct weft_llr_rx_result *in, unsigned int n)
{
	const uint64_t masks[] = { in->deliver, in->held, in->duplicate, in->bad, in->nop,
		in->refused };
	uint64_t all = 0;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(masks); i++) {
		FUZZ_CHECK((all & masks[i]) == 0);
		all |= masks[i];
	}
	FUZZ_CHECK((all & ~weft_mask64(n)) == 0);
}

/* A frame arrives at @p to, with damage to the flits of @p bad. */
static void
take(struct end *to, const struct end *from, const struct frame *f, uint8_t bad, uint64_t skip)
{
	uint8_t *flits = fuzz_copy(f->flit, (size_t)f->n * WEFT_FLIT_LEN);
	uint64_t syndrome[FRAME_MAX];
	struct weft_llr_rx_result in;
	const uint8_t *held;

	for (unsigned int i = 0; i < f->n; i++)
		syndrome[i] = f->syndrome[i] ^ (bad >> i & 1 ? BAD * (i + 1) : 0);
	weft_llr_rx(to->llr, flits, syndrome, f->n, skip, now, &in);
	check_masks(&in, f->n);
	FUZZ_CHECK((in.deliver & (bad | skip)) == 0 && (in.held & (bad | skip)) == 0);
	for (unsigned int i = 0; i < f->n; i++)
		if (in.deliver >> i & 1)
			hand_on(to, from, flits + (size_t)i * WEFT_FLIT_LEN);
	while ((held = weft_llr_rx_next(to->llr)) != NULL)
		hand_on(to, from, held);
	free(flits);
	check_bounds(to);
}

static void
arrive(struct end *from, unsigned int i, bool again, uint8_t bad, uint64_t skip)
{
	struct end *to = &ends[from == ends];

	if (cfg.mode == WEFT_MODE_CXL || from->frame[i].stamp + OLD >= from->committed)
		take(to, from, &from->frame[i], bad, skip);
	else
		again = false;
	if (!again)
		lose(from, i);
}

static void
step(struct fuzz_in *in)
{
	static const uint64_t ahead[] = { 1, 1000, 100000, 5000000, 50000000, 1000000000,
		UINT64_C(20000000000), 0 };
	const uint8_t how = fuzz_u8(in);
	struct end *e = &ends[how & 1];
	const unsigned int k = how >> 4, i = e->n_frames > 0 ? k % e->n_frames : 0;

	switch (how >> 1 & 7) {
	case 0: commit(e, k + 1); break;
	case 1: (void)fill(e, 1 + k % FRAME_MAX); break;
	case 2: /* cxl: a link keeps the order */
		if (e->n_frames > 0)
			arrive(e, cfg.mode == WEFT_MODE_CXL ? 0 : i, false, 0, 0);
		break;
	case 3:
		if (e->n_frames > 0)
			arrive(e, cfg.mode == WEFT_MODE_CXL ? 0 : i, false, fuzz_u8(in), 0);
		break;
	case 4:
		if (e->n_frames > 0 && cfg.mode == WEFT_MODE_RXL)
			arrive(e, i, true, 0, fuzz_u8(in) & weft_mask64(e->frame[i].n));
		break;
	case 5:
		if (e->n_frames > 0 && cfg.mode == WEFT_MODE_RXL)
			lose(e, i);
		break;
	case 6: now += ahead[k % WEFT_ARRAY_SIZE(ahead)]; break;
	default: weft_llr_request_nop(e->llr); break;
	}
	check_bounds(e);
}

/* A good wire again: each end sends, all of it arrives, and time goes on to what is due next. */
static bool
settle(void)
{
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t due = UINT64_MAX;

		for (unsigned int e = 0; e < 2; e++) {
			(void)fill(&ends[e], FRAME_MAX);
			while (ends[e].n_frames > 0)
				arrive(&ends[e], 0, false, 0, 0);
		}
		if (ends[0].handed_on == ends[1].committed &&
			ends[1].handed_on == ends[0].committed)
			return true;
		for (unsigned int e = 0; e < 2; e++)
			if (weft_llr_deadline(ends[e].llr) < due)
				due = weft_llr_deadline(ends[e].llr);
		FUZZ_CHECK(due != UINT64_MAX);
		/*
		 * An end that thinks the way short may not keep one that thinks it long from its
		 * turn.
		 */
		now = due > now + MS ? due : now + MS;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct fuzz_in in = { data, len };
	const uint8_t how = fuzz_u8(&in);

	weft_llr_defaults(&cfg, how & 1 ? WEFT_MODE_CXL : WEFT_MODE_RXL);
	if (cfg.mode == WEFT_MODE_RXL)
		cfg.gap_decoding = (how & 6) != 0;
	else
		cfg.show_first = (how & 8) == 0;
	cfg.selective = (how & 4) != 0;
	cfg.window = (uint16_t)(1 + (how >> 4) * 2);
	cfg.rx_flits = cfg.selective ? cfg.window : 0;
	now = 1000000000;
	for (unsigned int e = 0; e < 2; e++) {
		void *mem = aligned_alloc(64, (weft_llr_size(&cfg) + 63) / 64 * 64);

		ends[e].llr = weft_llr_init(mem, &cfg, now);
		FUZZ_CHECK(ends[e].llr != NULL);
		ends[e].committed = ends[e].handed_on = 0;
		ends[e].n_frames = 0;
	}
	while (in.n > 0)
		step(&in);
	FUZZ_CHECK(settle());
	for (unsigned int e = 0; e < 2; e++)
		free(ends[e].llr);
	return 0;
}
