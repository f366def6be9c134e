/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Two retry layers and two one-way channels between them, in simulated time. Flits carry a counter
 * in their payload, so the receiver's side knows what should have come. Syndromes are made here, as
 * an end with a CRC would find them; the CRC bytes are those without number and address.
 */
#ifndef LLR_RIG_H
#define LLR_RIG_H

#include "weft_crc.h"
#include "weft_flit.h"
#include "weft_isn.h"
#include "weft_llr.h"
#include "weft_test.h"

#define RIG_FRAMES 4096 /* on their way at once, in one direction */
#define RIG_FRAME_FLITS 8
#define RIG_SESSION 7
#define RIG_POLL_NS 20000 /* of a receiver on another lcore */

/* What a channel does to a frame or flit, in parts of a million. */
struct rig_faults {
	uint32_t bad; /* a flit */
	uint32_t vanish; /* a flit, out of its frame without a trace */
	uint32_t drop, dup, late; /* a frame */
};

struct rig_frame {
	uint64_t at_ns;
	uint16_t n;
	uint64_t syndrome[RIG_FRAME_FLITS];
	uint8_t flit[RIG_FRAME_FLITS][WEFT_FLIT_LEN];
};

struct rig_end {
	struct weft_llr *llr;
	uint64_t to_send; /* flits still to be committed */
	uint64_t committed;
	uint64_t received; /* delivered so far: also the counter the next must hold */
	uint64_t wrong; /* delivered out of order */
	struct rig_frame *frame; /* on the way to this end */
	uint32_t n_frames;
	struct weft_llr_rx_result in; /* of the last frame */
};

struct rig {
	struct rig_end end[2];
	struct weft_rand rnd;
	struct rig_faults faults;
	uint64_t now_ns;
	uint64_t latency_ns;
	uint64_t flit_ns; /* time that a flit takes on the wire */
	uint64_t free_ns[2]; /* the wire from this end is free again */
	enum weft_isn_form isn;
	bool cxl;
	bool apart; /* halves of an end hear of each other some steps later */
	struct rig_frame made; /* by who sends; the compiler would clear a variable each time */
};

static inline void
rig_init(struct rig *r, const struct weft_llr_cfg *cfg, uint64_t seed)
{
	memset(r, 0, sizeof(*r));
	weft_rand_seed(&r->rnd, seed);
	r->latency_ns = 1000;
	r->flit_ns = 20;
	r->isn = (enum weft_isn_form)cfg->isn;
	r->cxl = cfg->mode == WEFT_MODE_CXL;
	r->apart = cfg->apart;
	for (unsigned int i = 0; i < 2; i++) {
		void *mem = aligned_alloc(WEFT_CACHE_LINE, weft_llr_size(cfg));

		assert_non_null(mem);
		r->end[i].llr = weft_llr_init(mem, cfg, 0);
		assert_non_null(r->end[i].llr);
		if (cfg->apart)
			weft_llr_restart(r->end[i].llr, RIG_SESSION, 0);
		r->end[i].frame = malloc(RIG_FRAMES * sizeof(struct rig_frame));
		assert_non_null(r->end[i].frame);
	}
}

static inline void
rig_free(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++) {
		free(r->end[i].llr);
		free(r->end[i].frame);
	}
}

/* The number that a flit is made with, as the receiver's CRC would see it. */
static inline uint64_t
rig_syndrome(const struct rig *r, unsigned int number)
{
	if (r->cxl)
		return 0;
	return r->isn == WEFT_ISN_XOR ? weft_isn_xor_number(number) : weft_isn_number(number);
}

/* By the best kernel: by the table it is most of the time that these tests take. */
static inline void
rig_crc(uint8_t *flit)
{
	static const struct weft_crc_kernel *kernel;
	uint64_t crc;

	if (kernel == NULL)
		kernel = weft_crc_kernel_find(NULL, weft_cpu_detect());
	weft_crc_run(kernel, flit, 1, &crc);
	weft_crc_store(flit, crc, WEFT_CRC_R0_FIRST);
}

static inline bool
rig_chance(struct rig *r, uint32_t ppm)
{
	return ppm != 0 && weft_rand_below(&r->rnd, 1000000) < ppm;
}

static inline void
rig_put(struct rig *r, struct rig_end *to, const struct rig_frame *f)
{
	assert_true(to->n_frames < RIG_FRAMES);
	to->frame[to->n_frames] = *f;
	if (rig_chance(r, r->faults.late))
		to->frame[to->n_frames].at_ns += weft_rand_below(&r->rnd, 3000);
	to->n_frames++;
}

/* Have end @p i send a frame, if it has one. */
static inline bool
rig_send(struct rig *r, unsigned int i)
{
	struct rig_end *e = &r->end[i];
	struct weft_llr_tx_info out;
	struct rig_frame *f = &r->made;
	uint8_t *slot;

	if (r->free_ns[i] > r->now_ns)
		return false;
	while (e->to_send != 0 && (slot = weft_llr_reserve(e->llr)) != NULL) {
		struct weft_flit_hdr h = { .type = WEFT_FLIT_CACHEMEM };

		memset(slot, 0, WEFT_FLIT_LEN);
		weft_flit_hdr_put(slot, &h);
		weft_put_be64(slot + 16, e->committed++);
		weft_llr_commit(e->llr);
		e->to_send--;
	}
	if (weft_llr_tx(e->llr, f->flit[0], RIG_FRAME_FLITS, r->now_ns, &out) == 0)
		return false;
	r->free_ns[i] = r->now_ns + out.n * r->flit_ns;
	f->n = 0;
	for (unsigned int k = 0; k < out.n; k++) {
		unsigned int numbered = out.n - out.nops;
		unsigned int number = (out.first + (k < numbered ? k : numbered)) % 1024;

		if (rig_chance(r, r->faults.vanish))
			continue;
		memmove(f->flit[f->n], f->flit[k], WEFT_FLIT_LEN);
		rig_crc(f->flit[f->n]);
		f->syndrome[f->n] = rig_syndrome(r, number);
		if ((out.invert_crc & WEFT_BIT64(k)) != 0)
			f->syndrome[f->n] ^= UINT64_MAX;
		if (rig_chance(r, r->faults.bad))
			f->syndrome[f->n] ^= weft_rand_u64(&r->rnd) | 1;
		f->n++;
	}
	f->at_ns = r->free_ns[i] + r->latency_ns;
	if (f->n != 0 && !rig_chance(r, r->faults.drop))
		rig_put(r, &r->end[1 - i], f);
	if (rig_chance(r, r->faults.dup))
		rig_put(r, &r->end[1 - i], f);
	return true;
}

static inline void
rig_hand_on(struct rig_end *e, const uint8_t *flit)
{
	if (weft_get_be64(flit + 16) != e->received)
		e->wrong++;
	e->received = weft_get_be64(flit + 16) + 1;
}

static inline void
rig_take(struct rig *r, struct rig_end *e, const struct rig_frame *f)
{
	const uint8_t *flit;

	if (r->apart)
		assert_true(weft_llr_rx_session(e->llr, RIG_SESSION, r->now_ns));
	weft_llr_rx(e->llr, f->flit[0], f->syndrome, f->n, 0, r->now_ns, &e->in);
	for (unsigned int k = 0; k < f->n; k++)
		if ((e->in.deliver & WEFT_BIT64(k)) != 0)
			rig_hand_on(e, f->flit[k]);
	while ((flit = weft_llr_rx_next(e->llr)) != NULL)
		rig_hand_on(e, flit);
}

/* The frame to end @p i that comes first, or NULL. */
static inline struct rig_frame *
rig_first(struct rig_end *e)
{
	struct rig_frame *first = NULL;

	for (uint32_t k = 0; k < e->n_frames; k++)
		if (first == NULL || e->frame[k].at_ns < first->at_ns)
			first = &e->frame[k];
	return first;
}

/* Of what the receiver said some, and it looks at time. */
static inline void
rig_hear(struct rig *r, struct rig_end *e)
{
	uint32_t session;

	weft_llr_rx_poll(e->llr, r->now_ns);
	while (!rig_chance(r, 100000) && weft_llr_hear(e->llr, r->now_ns, &session))
		assert_true(session == 0 || session == RIG_SESSION);
}

/* One step: whatever is due now, then time moves on. False: nothing will ever happen again. */
static inline bool
rig_step(struct rig *r)
{
	uint64_t next = UINT64_MAX;

	for (unsigned int i = 0; i < 2; i++) {
		struct rig_end *e = &r->end[i];
		struct rig_frame *f;

		while ((f = rig_first(e)) != NULL && f->at_ns <= r->now_ns) {
			rig_take(r, e, f);
			*f = e->frame[--e->n_frames];
		}
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (r->apart)
			rig_hear(r, &r->end[i]);
		while (rig_send(r, i))
			;
	}
	for (unsigned int i = 0; i < 2; i++) {
		struct rig_frame *f = rig_first(&r->end[i]);
		uint64_t at = weft_llr_deadline(r->end[i].llr);

		if (f != NULL && f->at_ns < next)
			next = f->at_ns;
		if (r->end[i].to_send != 0 && weft_llr_room(r->end[i].llr) != 0)
			at = 0;
		if (at < r->free_ns[i])
			at = r->free_ns[i];
		if (at < next)
			next = at;
	}
	if (next == UINT64_MAX)
		return false;
	if (r->apart && next > r->now_ns + RIG_POLL_NS)
		next = r->now_ns + RIG_POLL_NS;
	r->now_ns = next > r->now_ns ? next : r->now_ns + 1;
	return true;
}

static inline bool
rig_is_done(const struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++)
		if (r->end[i].received != r->end[1 - i].committed || r->end[i].to_send != 0 ||
			weft_llr_unacked(r->end[i].llr) != 0)
			return false;
	return true;
}

/* Run until both have everything, or @p limit_ns. True: they have. */
static inline bool
rig_run(struct rig *r, uint64_t limit_ns)
{
	while (!rig_is_done(r) && r->now_ns < limit_ns && rig_step(r))
		;
	return rig_is_done(r);
}

static inline uint64_t
rig_count(const struct rig *r, unsigned int end, enum weft_llr_counter c)
{
	return weft_llr_count(r->end[end].llr, c);
}

/* A test: over a clean wire nothing is sent again, and there is about one Ack for ten flits. */
static inline void
rig_clean_wire_costs_nothing(const struct weft_llr_cfg *cfg)
{
	struct rig r;

	rig_init(&r, cfg, 1);
	r.end[0].to_send = 5000;
	r.end[1].to_send = 3000;
	assert_true(rig_run(&r, 1000000000));
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(r.end[i].wrong, 0);
		assert_int_equal(rig_count(&r, i, WEFT_LLR_N_RESENT), 0);
		assert_int_equal(rig_count(&r, i, WEFT_LLR_N_NAKS_SENT), 0);
		assert_int_equal(rig_count(&r, i, WEFT_LLR_N_OUT_OF_WINDOW), 0);
		assert_int_equal(rig_count(&r, i, WEFT_LLR_N_TIMEOUTS), 0);
		assert_int_equal(rig_count(&r, i, WEFT_LLR_N_RETRAINS), 0);
		/* A few Acks more when idle. */
		assert_in_range(rig_count(&r, i, WEFT_LLR_N_ACKS_SENT), r.end[1 - i].committed / 20,
			r.end[1 - i].committed / 8 + 64);
	}
	rig_free(&r);
}

#endif /* LLR_RIG_H */
