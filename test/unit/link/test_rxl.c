/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Retry of rxl mode: its rules one by one, then everything at once on a bad channel. */

#include "llr_rig.h"
#include "weft_telem.h"

static struct weft_llr_cfg
rxl_cfg(void)
{
	struct weft_llr_cfg c;

	weft_llr_defaults(&c, WEFT_MODE_RXL);
	return c;
}

/* RETRY-3, RETRY-4 */
WEFT_TEST(clean_wire_costs_nothing)
{
	struct weft_llr_cfg cfg = rxl_cfg();

	rig_clean_wire_costs_nothing(&cfg);
}

/* Move every frame under way into the other end at once, losing those of @p lose (bit: order). */
static void
deliver(struct rig *r, unsigned int to, uint64_t lose)
{
	struct rig_end *e = &r->end[to];

	for (uint32_t k = 0; k < e->n_frames; k++)
		if ((lose & WEFT_BIT64(k)) == 0)
			rig_take(r, e, &e->frame[k]);
	e->n_frames = 0;
}

/* One frame with one flit from end @p i. */
static void
send_one(struct rig *r, unsigned int i)
{
	r->end[i].to_send = 1;
	r->now_ns += 1000;
	assert_true(rig_send(r, i));
	r->now_ns += 1000;
}

static struct weft_flit_hdr
header_of_last(const struct rig *r, unsigned int to)
{
	const struct rig_end *e = &r->end[to];

	assert_int_not_equal(e->n_frames, 0);
	return weft_flit_hdr_get(e->frame[e->n_frames - 1].flit[0]);
}

/* RETRY-4 */
WEFT_TEST(an_ack_of_few_flits_waits_longer)
{
	struct weft_llr_cfg cfg = rxl_cfg();

	for (unsigned int flits = 1; flits <= 4; flits++) {
		uint64_t trip_ns;
		struct rig r;

		rig_init(&r, &cfg, 1);
		for (unsigned int i = 0; i < flits; i++)
			send_one(&r, 0);
		deliver(&r, 1, 0);
		trip_ns = weft_rtt_guess(weft_llr_rtt(r.end[1].llr));
		assert_int_equal(
			weft_llr_deadline(r.end[1].llr), r.now_ns + trip_ns / (flits <= 2 ? 2 : 4));
		rig_free(&r);
	}
}

/* ISN-4, ISN-5; RETRY-21, RETRY-22 */
WEFT_TEST(a_lost_flit_is_asked_for_by_itself)
{
	struct weft_llr_cfg cfg = rxl_cfg();
	struct weft_flit_hdr h;
	struct rig r;

	rig_init(&r, &cfg, 1);
	for (unsigned int i = 0; i < 5; i++)
		send_one(&r, 0);
	deliver(&r, 1, WEFT_BIT64(1) | WEFT_BIT64(3)); /* numbers 2 and 4 */
	assert_int_equal(r.end[1].received, 1);
	assert_int_equal(weft_llr_held_count(r.end[1].llr), 2);
	assert_int_equal(rig_count(&r, 1, WEFT_LLR_N_LOST), 2);
	/* Both at once, in one frame of NOPs. */
	assert_true(rig_send(&r, 1));
	assert_int_equal(r.end[0].frame[0].n, 2);
	h = weft_flit_hdr_get(r.end[0].frame[0].flit[0]);
	assert_int_equal(h.type, WEFT_FLIT_IDLE_NOP);
	assert_int_equal(h.replay_cmd, WEFT_REPLAY_NAK_SELECTIVE);
	assert_int_equal(h.seq, 1);
	assert_int_equal(weft_flit_hdr_get(r.end[0].frame[0].flit[1]).seq, 3);
	deliver(&r, 0, 0);
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_SINGLES), 2);
	/* They acknowledge nothing. */
	assert_int_equal(weft_llr_unacked(r.end[0].llr), 5);
	r.now_ns += 1000;
	assert_true(rig_send(&r, 0));
	r.now_ns += 1000;
	assert_true(rig_send(&r, 0));
	assert_false(rig_send(&r, 0));
	deliver(&r, 1, 0);
	assert_int_equal(r.end[1].received, 5);
	assert_int_equal(r.end[1].wrong, 0);
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), 2);
	rig_free(&r);
}

/* RETRY-20 */
WEFT_TEST(without_an_rx_buffer_it_goes_back)
{
	struct weft_llr_cfg cfg = rxl_cfg();
	struct rig r;

	cfg.selective = false;
	cfg.rx_flits = 0;
	rig_init(&r, &cfg, 1);
	for (unsigned int i = 0; i < 5; i++)
		send_one(&r, 0);
	deliver(&r, 1, WEFT_BIT64(1));
	assert_int_equal(r.end[1].received, 1);
	assert_true(rig_send(&r, 1));
	assert_int_equal(header_of_last(&r, 0).replay_cmd, WEFT_REPLAY_NAK_STANDARD);
	assert_int_equal(header_of_last(&r, 0).seq, 1);
	deliver(&r, 0, 0);
	assert_int_equal(weft_llr_unacked(r.end[0].llr), 4);
	r.now_ns += 1000;
	assert_true(rig_send(&r, 0));
	deliver(&r, 1, 0);
	assert_int_equal(r.end[1].received, 5);
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), 4);
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_REPLAYS), 1);
	rig_free(&r);
}

/* RETRY-6 */
WEFT_TEST(a_duplicate_is_dropped_without_a_nak)
{
	struct weft_llr_cfg cfg = rxl_cfg();
	struct rig_frame f;
	struct rig r;

	rig_init(&r, &cfg, 1);
	send_one(&r, 0);
	f = r.end[1].frame[0];
	deliver(&r, 1, 0);
	rig_take(&r, &r.end[1], &f);
	assert_int_equal(r.end[1].in.duplicate, 1);
	assert_int_equal(r.end[1].received, 1);
	assert_int_equal(r.end[1].wrong, 0);
	r.now_ns += 100000000;
	assert_true(rig_send(&r, 1));
	assert_int_equal(header_of_last(&r, 0).replay_cmd, WEFT_REPLAY_ACK);
	assert_int_equal(header_of_last(&r, 0).seq, 1);
	rig_free(&r);
}

/*
 * The last flit of a burst is lost: no flit behind it shows the gap, a NOP does
 * (ISN-2; RETRY-23).
 */
WEFT_TEST(a_nop_shows_a_lost_tail)
{
	struct weft_llr_cfg cfg = rxl_cfg();
	struct rig r;

	rig_init(&r, &cfg, 1);
	for (unsigned int i = 0; i < 3; i++)
		send_one(&r, 0);
	deliver(&r, 1, WEFT_BIT64(2));
	weft_llr_request_nop(r.end[0].llr);
	r.now_ns += 1000;
	assert_true(rig_send(&r, 0));
	assert_int_equal(header_of_last(&r, 1).type, WEFT_FLIT_IDLE_NOP);
	deliver(&r, 1, 0);
	assert_int_equal(rig_count(&r, 1, WEFT_LLR_N_LOST), 1);
	r.now_ns += 1000;
	assert_true(rig_send(&r, 1));
	assert_int_equal(header_of_last(&r, 0).replay_cmd, WEFT_REPLAY_NAK_SELECTIVE);
	assert_int_equal(header_of_last(&r, 0).seq, 2);
	rig_free(&r);
}

/*
 * Ack and Nak of every number: only those of flits that are out change anything
 * (ISN-1; RETRY-5, RETRY-20, RETRY-21).
 */
WEFT_TEST(acks_out_of_the_window_change_nothing)
{
	struct weft_llr_cfg cfg = rxl_cfg();

	for (unsigned int cmd = WEFT_REPLAY_ACK; cmd <= WEFT_REPLAY_NAK_SELECTIVE; cmd++) {
		for (unsigned int n = 0; n < WEFT_ISN_NUMBERS; n++) {
			struct weft_flit_hdr h = { .type = WEFT_FLIT_IDLE_NOP,
				.replay_cmd = (uint8_t)cmd,
				.seq = (uint16_t)n };
			uint8_t flit[WEFT_FLIT_LEN] = { 0 };
			uint64_t syndrome = weft_isn_number(WEFT_ISN_FIRST);
			struct weft_llr_rx_result in;
			struct rig r;

			if (n > 20 && n % 41 != 0 && n < 1015)
				continue;
			rig_init(&r, &cfg, 1);
			for (unsigned int i = 0; i < 9; i++)
				send_one(&r, 0);
			weft_flit_hdr_put(flit, &h);
			weft_llr_rx(r.end[0].llr, flit, &syndrome, 1, 0, r.now_ns, &in);
			/* Numbers 1..9 are out; 0 stands before them. */
			if (n <= 9 && cmd != WEFT_REPLAY_NAK_SELECTIVE)
				assert_int_equal(weft_llr_unacked(r.end[0].llr), 9 - n);
			else
				assert_int_equal(weft_llr_unacked(r.end[0].llr), 9);
			assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_OUT_OF_WINDOW), n > 9);
			if (n > 9) {
				r.now_ns += 10;
				assert_false(rig_send(&r, 0));
			}
			rig_free(&r);
		}
	}
}

/* The hang of reliability.md 3.6: the Ack was coalesced away, the one Nak is lost (RETRY-7). */
WEFT_TEST(a_lost_nak_is_said_again)
{
	for (unsigned int gap_decoding = 0; gap_decoding < 2; gap_decoding++) {
		struct weft_llr_cfg cfg = rxl_cfg();
		struct rig r;

		cfg.gap_decoding = gap_decoding != 0;
		cfg.selective = false;
		cfg.rx_flits = 0;
		cfg.nak_repeat = 5;
		rig_init(&r, &cfg, 1);
		for (unsigned int i = 0; i < 4; i++)
			send_one(&r, 0);
		deliver(&r, 1, WEFT_BIT64(1));
		assert_true(rig_send(&r, 1));
		assert_int_equal(header_of_last(&r, 0).replay_cmd, WEFT_REPLAY_NAK_STANDARD);
		deliver(&r, 0, WEFT_BIT64(0)); /* lost */
		r.end[0].to_send = 4;
		assert_true(rig_run(&r, r.now_ns + 1000000000));
		assert_int_equal(r.end[1].wrong, 0);
		assert_int_equal(r.end[1].received, 8);
		rig_free(&r);
	}
}

/*
 * The other end does not run for a while: it is asked what it has, and sent nothing twice
 * (RETRY-10).
 */
WEFT_TEST(who_is_slow_gets_nothing_twice)
{
	const uint64_t away_ns = 50000000;

	for (unsigned int lossy = 0; lossy < 2; lossy++) {
		struct weft_llr_cfg cfg = rxl_cfg();
		struct rig r;

		cfg.resend_after_ns = 2 * away_ns;
		rig_init(&r, &cfg, 1);
		r.end[0].to_send = 1;
		assert_true(rig_run(&r, 1000000000)); /* the round trip is known */
		r.end[0].to_send = 5;
		for (const uint64_t end_ns = r.now_ns + away_ns; r.now_ns < end_ns;
			r.now_ns += 100000)
			while (rig_send(&r, 0))
				;
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), 0);
		assert_in_range(rig_count(&r, 0, WEFT_LLR_N_NOPS_SENT), 3, 20);
		/*
		 * Flits and the first NOP were lost: another one shows it, long before the
		 * time-out.
		 */
		if (lossy != 0)
			deliver(&r, 1, 3);
		assert_true(rig_run(&r, r.now_ns + away_ns / 2));
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), lossy == 0 ? 0 : 5);
		assert_int_equal(rig_count(&r, 1, WEFT_LLR_N_DUPLICATES), 0);
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_TIMEOUTS), 0);
		assert_int_equal(r.end[1].wrong, 0);
		rig_free(&r);
	}
}

/* RETRY-11 */
WEFT_TEST(late_poison_goes_out_in_order)
{
	struct weft_llr_cfg cfg = rxl_cfg();
	struct weft_llr_tx_info out;
	uint8_t flits[8 * WEFT_FLIT_LEN];
	uint8_t *slot;
	struct rig r;

	rig_init(&r, &cfg, 1);
	slot = weft_llr_reserve(r.end[0].llr);
	memset(slot, 0, WEFT_FLIT_LEN);
	slot[0] = WEFT_FLIT_CACHEMEM << 6;
	slot[100] = 0x5A;
	assert_int_equal(weft_llr_commit_poisoned(r.end[0].llr, 3), 0);
	assert_int_equal(weft_llr_tx(r.end[0].llr, flits, 8, 1, &out), 3);
	assert_int_equal(out.invert_crc, 1);
	assert_int_equal(out.first, 0); /* the spoiled one; then 1 and 2 */
	assert_int_equal(flits[100], 0x5A);
	assert_int_equal(
		weft_llctrl_get(flits + WEFT_FLIT_LEN + WEFT_FLIT_H_OFF), WEFT_LLCTRL_POISON);
	assert_int_equal(flits[WEFT_FLIT_LEN + WEFT_FLIT_H_OFF + WEFT_LLCTRL_PAYLOAD_OFF], 3);
	assert_int_equal(flits[2 * WEFT_FLIT_LEN + 100], 0x5A);
	/* A frame of one flit: the same three, one after another. */
	slot = weft_llr_reserve(r.end[0].llr);
	memset(slot, 0, WEFT_FLIT_LEN);
	slot[100] = 0xA5;
	assert_int_equal(weft_llr_commit_poisoned(r.end[0].llr, 0), 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(weft_llr_tx(r.end[0].llr, flits, 1, 2, &out), 1);
		assert_int_equal(out.invert_crc, i == 0);
		assert_int_equal(flits[100], i == 1 ? 0 : 0xA5);
	}
	assert_int_equal(weft_llr_unacked(r.end[0].llr), 4);
	rig_free(&r);
}

/* ISN-8; RETRY-2 */
WEFT_TEST(a_window_of_flits_and_no_more)
{
	struct weft_llr_cfg cfg = rxl_cfg();

	for (unsigned int w = 1; w <= WEFT_LLR_WINDOW_MAX; w += 17) {
		struct weft_llr *l;
		unsigned int n = 0;
		void *mem;

		cfg.window = (uint16_t)w;
		mem = aligned_alloc(WEFT_CACHE_LINE, weft_llr_size(&cfg));
		l = weft_llr_init(mem, &cfg, 0);
		while (weft_llr_reserve(l) != NULL) {
			weft_llr_commit(l);
			n++;
		}
		assert_int_equal(n, w);
		free(mem);
	}
}

WEFT_TEST(impossible_options_are_refused)
{
	struct weft_llr_cfg good = rxl_cfg(), c;
	_Alignas(WEFT_CACHE_LINE) static uint8_t mem[2 * WEFT_CACHE_LINE];

	assert_int_not_equal(weft_llr_size(&good), 0);
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		c = good;                                                                          \
		change;                                                                            \
		assert_int_equal(weft_llr_size(&c), 0);                                            \
		assert_null(weft_llr_init(mem, &c, 0));                                            \
	} while (0)
	REFUSED(c.mode = 2);
	REFUSED(c.window = 0);
	REFUSED(c.window = 512);
	REFUSED(c.isn = WEFT_ISN_NONE);
	REFUSED(c.isn = WEFT_ISN_XOR); /* has no gap decoding */
	REFUSED(c.gap_decoding = false); /* needed for single flits */
	REFUSED(c.rx_flits = 0);
	REFUSED(c.rx_flits = 512);
	REFUSED(c.selective = false); /* then no Rx buffer */
	REFUSED(c.ack_every = 0);
	REFUSED(c.ack_every = 256);
	REFUSED(c.nak_repeat = 0);
	REFUSED(c.nak_repeat = 1024);
	REFUSED(c.timeout_min_ns = 0);
	REFUSED(c.resend_after_ns = UINT64_MAX);
	REFUSED(c.timeout_first_ns = c.timeout_max_ns + 1);
	REFUSED(c.replays_max = 0);
	assert_null(weft_llr_init(mem + 1, &good, 0));
}

/*
 * Every option, every fault, both ways: all arrives, once, in order, and never too much is out
 * (RETRY-1, RETRY-3, RETRY-29).
 */
static void
bad_channels(const char *what, unsigned int runs, bool apart)
{
	struct weft_rand pick;

	weft_test_seed(&pick, what);
	for (unsigned int run = 0; run < weft_test_cases(runs); run++) {
		struct weft_llr_cfg cfg = rxl_cfg();
		uint64_t seed = weft_rand_u64(&pick);
		uint64_t flits[2];
		struct rig r;

		cfg.window = (uint16_t)(1 + weft_rand_below(&pick, 4) * 170);
		cfg.apart = apart;
		if (weft_rand_below(&pick, 4) == 0)
			cfg.isn = WEFT_ISN_XOR;
		cfg.gap_decoding = cfg.isn == WEFT_ISN_PSEUDO && weft_rand_below(&pick, 4) != 0;
		cfg.selective = cfg.gap_decoding && weft_rand_below(&pick, 3) != 0;
		cfg.rx_flits = cfg.selective ? (uint16_t)(1 + weft_rand_below(&pick, 511)) : 0;
		cfg.ack_every = (uint16_t)(1 + weft_rand_below(&pick, 40));
		cfg.nak_repeat = (uint16_t)(1 + weft_rand_below(&pick, 200));
		rig_init(&r, &cfg, seed);
		r.latency_ns = 100 + weft_rand_below(&pick, 3000);
		r.faults.bad = (uint32_t)weft_rand_below(&pick, 100000);
		r.faults.drop = (uint32_t)weft_rand_below(&pick, 100000);
		r.faults.dup = (uint32_t)weft_rand_below(&pick, 50000);
		r.faults.late = cfg.window < 400 ? (uint32_t)weft_rand_below(&pick, 50000) : 0;
		r.end[0].to_send = flits[0] = weft_rand_below(&pick, 3000);
		r.end[1].to_send = flits[1] = weft_rand_below(&pick, 3000);
		if (!rig_run(&r, UINT64_C(20000000000)) || r.end[0].wrong != 0 ||
			r.end[1].wrong != 0) {
			printf("run %u: window %u isn %u gap %u selective %u rx %u acks %u naks "
			       "%u: "
			       "%llu of %llu, %llu of %llu, wrong %llu %llu at %llu ns\n",
				run, cfg.window, cfg.isn, cfg.gap_decoding, cfg.selective,
				cfg.rx_flits, cfg.ack_every, cfg.nak_repeat,
				(unsigned long long)r.end[1].received, (unsigned long long)flits[0],
				(unsigned long long)r.end[0].received, (unsigned long long)flits[1],
				(unsigned long long)r.end[0].wrong,
				(unsigned long long)r.end[1].wrong, (unsigned long long)r.now_ns);
			fail();
		}
		rig_free(&r);
	}
}

WEFT_TEST(everything_arrives_on_a_bad_channel)
{
	bad_channels("bad channel", 400, false);
}

/* The same where halves hear of each other by queues, now or some steps later. */
WEFT_TEST(everything_arrives_at_halves_that_are_apart)
{
	bad_channels("halves apart", 200, true);
}

/* After the faults end, a retry layer says nothing more: no Ack of an Ack, no Nak for ever. */
WEFT_TEST(it_falls_silent)
{
	struct weft_rand pick;

	weft_test_seed(&pick, "silence");
	for (unsigned int run = 0; run < weft_test_cases(100); run++) {
		struct weft_llr_cfg cfg = rxl_cfg();
		struct rig r;
		unsigned int steps = 0;

		if (run % 3 == 1) {
			cfg.gap_decoding = cfg.selective = false;
			cfg.rx_flits = 0;
		}
		rig_init(&r, &cfg, weft_rand_u64(&pick));
		r.faults.bad = 50000;
		r.faults.drop = 50000;
		r.end[0].to_send = 300;
		r.end[1].to_send = run % 2 == 0 ? 0 : 300;
		assert_true(rig_run(&r, UINT64_C(20000000000)));
		memset(&r.faults, 0, sizeof(r.faults));
		while (rig_step(&r))
			assert_true(steps++ < 200);
		rig_free(&r);
	}
}

/* Single-flit retry sends less again than go-back-N, and Nak storms have a bound. */
WEFT_TEST(single_flits_cost_less_than_going_back)
{
	uint64_t resent[2], naks[2];

	for (unsigned int selective = 0; selective < 2; selective++) {
		struct weft_llr_cfg cfg = rxl_cfg();
		struct rig r;

		cfg.selective = selective != 0;
		cfg.rx_flits = selective ? 511 : 0;
		rig_init(&r, &cfg, 7);
		r.faults.bad = 2000;
		r.end[0].to_send = 100000;
		assert_true(rig_run(&r, UINT64_C(60000000000)));
		resent[selective] = rig_count(&r, 0, WEFT_LLR_N_RESENT);
		naks[selective] = rig_count(&r, 1, WEFT_LLR_N_NAKS_SENT);
		rig_free(&r);
	}
	printf("resent %llu going back, %llu single; naks %llu, %llu\n",
		(unsigned long long)resent[0], (unsigned long long)resent[1],
		(unsigned long long)naks[0], (unsigned long long)naks[1]);
	assert_true(resent[1] * 10 < resent[0]);
	assert_in_range(resent[1], 150, 400);
	assert_true(naks[0] < 1000 && naks[1] < 1000);
}

WEFT_TEST(each_counter_has_its_row)
{
	for (unsigned int i = 0; i < WEFT_LLR_N_COUNTERS; i++)
		assert_int_equal(weft_counter_find(weft_llr_counters, WEFT_LLR_N_COUNTERS,
					 weft_llr_counters[i].name),
			i);
}
