/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Retry of cxl mode: the rules of wire-formats.md section 3 one by one, by hand-made flits; then
 * two ends on bad channels; then what cxl mode does not notice.
 */

#include "llr_rig.h"

#define EXPLICIT WEFT_REPLAY_EXPLICIT
#define ACK WEFT_REPLAY_ACK
#define STANDARD WEFT_REPLAY_NAK_STANDARD
#define SELECTIVE WEFT_REPLAY_NAK_SELECTIVE
#define LATER 1000000 /* an Ack waits less, a time-out is not so long */

static struct weft_llr_cfg
cxl_cfg(bool selective)
{
	struct weft_llr_cfg c;

	weft_llr_defaults(&c, WEFT_MODE_CXL);
	c.selective = selective;
	c.show_first = false;
	c.rx_flits = selective ? WEFT_LLR_WINDOW_MAX : 0;
	return c;
}

/* One end, the tester in the place of the other. */
struct lone {
	struct weft_llr *l;
	uint64_t now;
	struct weft_llr_rx_result in; /* of the flit given last */
	struct weft_llr_tx_info out; /* of the flit got last */
	uint8_t flit[WEFT_FLIT_LEN];
	bool prior; /* as the tester's next flit shall say */
};

static uint64_t
count(const struct lone *t, enum weft_llr_counter c)
{
	return weft_llr_count(t->l, c);
}

/* Give a flit to the end. */
static void
give(struct lone *t, enum weft_flit_type type, enum weft_replay_cmd cmd, unsigned int seq,
	bool good)
{
	struct weft_flit_hdr h = { .type = (uint8_t)type,
		.prior_payload = t->prior,
		.replay_cmd = (uint8_t)cmd,
		.seq = (uint16_t)seq };
	uint64_t syndrome = good ? 0 : 0xBAD;
	uint8_t flit[WEFT_FLIT_LEN] = { 0 };

	weft_flit_hdr_put(flit, &h);
	flit[16] = (uint8_t)seq;
	weft_llr_rx(t->l, flit, &syndrome, 1, 0, ++t->now, &t->in);
	t->prior = type != WEFT_FLIT_IDLE_NOP;
}

static void
give_payload(struct lone *t, enum weft_replay_cmd cmd, unsigned int seq)
{
	give(t, WEFT_FLIT_CACHEMEM, cmd, seq, true);
}

static void
give_nop(struct lone *t, enum weft_replay_cmd cmd, unsigned int seq)
{
	give(t, WEFT_FLIT_IDLE_NOP, cmd, seq, true);
}

static void
give_bad_payload(struct lone *t)
{
	give(t, WEFT_FLIT_CACHEMEM, EXPLICIT, 77, false);
}

/* The next flit of the end. */
static struct weft_flit_hdr
get(struct lone *t)
{
	assert_int_equal(weft_llr_tx(t->l, t->flit, 1, ++t->now, &t->out), 1);
	return weft_flit_hdr_get(t->flit);
}

static void
get_says(struct lone *t, enum weft_replay_cmd cmd, unsigned int seq)
{
	struct weft_flit_hdr h = get(t);

	assert_int_equal(h.replay_cmd, cmd);
	assert_int_equal(h.seq, seq);
}

static void
get_nothing(struct lone *t)
{
	assert_int_equal(weft_llr_tx(t->l, t->flit, 1, ++t->now, &t->out), 0);
}

static void
commit(struct lone *t, unsigned int n)
{
	while (n-- != 0) {
		uint8_t *slot = weft_llr_reserve(t->l);

		assert_non_null(slot);
		memset(slot, 0, WEFT_FLIT_LEN);
		slot[0] = WEFT_FLIT_CACHEMEM << 6;
		weft_llr_commit(t->l);
	}
}

static void
open_down(struct lone *t, const struct weft_llr_cfg *cfg)
{
	void *mem = aligned_alloc(WEFT_CACHE_LINE, weft_llr_size(cfg));

	assert_non_null(mem);
	*t = (struct lone){ .l = weft_llr_init(mem, cfg, 0) };
	assert_non_null(t->l);
}

/* Up: the handshake is done, and so are the explicit numbers at the start of payload. */
static void
open_up(struct lone *t, const struct weft_llr_cfg *cfg)
{
	open_down(t, cfg);
	give_nop(t, EXPLICIT, 1023);
	for (unsigned int i = 0; i < 6; i++)
		get(t);
	give_nop(t, ACK, 1023);
	assert_int_equal(weft_llr_state(t->l), WEFT_LLR_RUNNING);
}

/* Numbers 1..n are sent. */
static void
open_sent(struct lone *t, const struct weft_llr_cfg *cfg, unsigned int n)
{
	open_up(t, cfg);
	commit(t, n);
	for (unsigned int i = 1; i <= n; i++)
		get_says(t, EXPLICIT, i);
}

static void
close_lone(struct lone *t)
{
	free(t->l);
}

/* --- handshake --- */

/* RETRY-46 */
WEFT_TEST(a_session_starts_with_explicit_numbers_each_way)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_down(&t, &cfg);
	commit(&t, 1);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	for (unsigned int i = 0; i < 3; i++) {
		get_says(&t, EXPLICIT, 1023); /* NEXT_TX - 1 */
		assert_int_equal(t.out.nops, 1);
		assert_int_equal(t.flit[0] >> 6, WEFT_FLIT_IDLE_NOP);
	}
	get_nothing(&t);
	/* Nobody answers: again and again. */
	t.now = weft_llr_deadline(t.l);
	for (unsigned int i = 0; i < 3; i++)
		get_says(&t, EXPLICIT, 1023);
	get_nothing(&t);
	/* An Ack alone, or payload, does not tell where the other end is. */
	give_nop(&t, ACK, 1023);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	get_nothing(&t);
	give_nop(&t, EXPLICIT, 1023);
	for (unsigned int i = 0; i < 3; i++) {
		get_says(&t, EXPLICIT, 1023);
		get_says(&t, ACK, 1023); /* TX_ACKNAK */
	}
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	give_nop(&t, ACK, 1023);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RUNNING);
	get_says(&t, EXPLICIT, 1);
	assert_int_equal(t.out.nops, 0);
	assert_int_equal(count(&t, WEFT_LLR_N_RETRAINS), 0);
	close_lone(&t);
}

WEFT_TEST(the_handshake_sends_its_run_though_it_has_heard_enough)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_down(&t, &cfg);
	give_nop(&t, EXPLICIT, 1023);
	give_nop(&t, ACK, 1023);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	for (unsigned int i = 0; i < 3; i++) {
		get_says(&t, EXPLICIT, 1023);
		get_says(&t, ACK, 1023);
	}
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RUNNING);
	close_lone(&t);
}

/*
 * Two explicit NOPs in a row ask; one is answered by an Ack alone, so that answers come to an end.
 */
WEFT_TEST(an_end_that_runs_joins_a_retrain)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 5);
	give_nop(&t, EXPLICIT, 1023);
	get_says(&t, ACK, 1023);
	give_nop(&t, ACK, 2);
	give_nop(&t, EXPLICIT, 1023);
	give(&t, WEFT_FLIT_IDLE_NOP, EXPLICIT, 1023, false);
	give_nop(&t, EXPLICIT, 1023);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RUNNING);
	get_says(&t, ACK, 1023);
	give_nop(&t, EXPLICIT, 1023);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	assert_int_equal(count(&t, WEFT_LLR_N_RETRAINS), 1);
	commit(&t, 1);
	for (unsigned int i = 0; i < 3; i++) {
		get_says(&t, EXPLICIT, 5);
		get_says(&t, ACK, 1023);
	}
	/* The Ack says how far the other end is; the rest goes again, and then what is new. */
	give_nop(&t, ACK, 3);
	for (unsigned int i = 4; i <= 6; i++) {
		get_says(&t, EXPLICIT, i);
		assert_int_equal(t.out.resent, i < 6);
	}
	assert_int_equal(count(&t, WEFT_LLR_N_RESENT), 2);
	close_lone(&t);
}

/* RETRY-47 */
WEFT_TEST(too_many_timeouts_lead_to_a_retrain)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	cfg.replays_max = 3;
	open_sent(&t, &cfg, 2);
	for (unsigned int timeouts = 1; timeouts < 3; timeouts++) {
		/* A NOP for the tail may come before the time-out. */
		do
			t.now = weft_llr_deadline(t.l);
		while (get(&t).type == WEFT_FLIT_IDLE_NOP);
		assert_int_equal(count(&t, WEFT_LLR_N_TIMEOUTS), timeouts);
		assert_int_equal(weft_flit_hdr_get(t.flit).seq, 1);
		get_says(&t, EXPLICIT, 2);
	}
	do
		t.now = weft_llr_deadline(t.l);
	while (get(&t).replay_cmd == ACK);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RETRAINING);
	assert_int_equal(count(&t, WEFT_LLR_N_RETRAINS), 1);
	assert_int_equal(t.out.nops, 1);
	assert_int_equal(weft_flit_hdr_get(t.flit).seq, 2);
	get_says(&t, EXPLICIT, 2);
	get_says(&t, EXPLICIT, 2);
	get_nothing(&t);
	assert_int_equal(weft_llr_unacked(t.l), 2);
	close_lone(&t);
}

/* RETRY-47 */
WEFT_TEST(too_many_replays_of_one_flit_lead_to_a_retrain_and_progress_does_not)
{
	for (unsigned int progress = 0; progress < 2; progress++) {
		struct weft_llr_cfg cfg = cxl_cfg(false);
		struct lone t;

		cfg.replays_max = 3;
		open_sent(&t, &cfg, 9);
		for (unsigned int i = 0; i < 3; i++) {
			t.now += LATER * 4;
			give_nop(&t, STANDARD, progress != 0 ? 1 + i : 1);
			if (weft_llr_state(t.l) == WEFT_LLR_RUNNING)
				while (weft_llr_tx(t.l, t.flit, 1, ++t.now, &t.out) != 0)
					;
		}
		assert_int_equal(count(&t, WEFT_LLR_N_RETRAINS), !progress);
		close_lone(&t);
	}
}

/* --- what a flit shows --- */

/* RETRY-40 */
WEFT_TEST(numbers_run_from_1_to_1023_and_0_is_none)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	open_up(&t, &cfg);
	for (unsigned int i = 0; i < 5000; i++) {
		commit(&t, 1);
		get_says(&t, EXPLICIT, i % 1023 + 1);
		if (i % 100 == 99) {
			give_nop(&t, ACK, i % 1023 + 1);
			assert_int_equal(weft_llr_unacked(t.l), 0);
		}
	}
	assert_int_equal(count(&t, WEFT_LLR_N_OUT_OF_WINDOW), 0);
	close_lone(&t);
}

/* RETRY-41 */
WEFT_TEST(the_field_has_its_priorities)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	cfg.ack_every = 2;
	open_up(&t, &cfg);
	/* An Ack is due from the start: explicit numbers go before it. */
	give_payload(&t, EXPLICIT, 1);
	give_payload(&t, EXPLICIT, 2);
	commit(&t, 9);
	get_says(&t, EXPLICIT, 1);
	get_says(&t, EXPLICIT, 2);
	get_says(&t, EXPLICIT, 3);
	get_says(&t, ACK, 2);
	assert_int_equal(t.out.nops, 0);
	get_says(&t, EXPLICIT, 5); /* none is due */
	give_payload(&t, EXPLICIT, 3);
	give_payload(&t, EXPLICIT, 5);
	get_says(&t, SELECTIVE, 3); /* before the Ack */
	give_bad_payload(&t);
	get_says(&t, STANDARD, 3);
	/* A replay shows three numbers first, whatever is due. */
	t.now += LATER;
	give_payload(&t, STANDARD, 2);
	give_payload(&t, EXPLICIT, 4);
	give_payload(&t, EXPLICIT, 5);
	get_says(&t, EXPLICIT, 3);
	get_says(&t, EXPLICIT, 4);
	get_says(&t, EXPLICIT, 5);
	get_says(&t, ACK, 5);
	assert_int_equal(count(&t, WEFT_LLR_N_RESENT), 4);
	/* So does what follows a flit sent again by itself. */
	get_says(&t, EXPLICIT, 7);
	t.now += LATER;
	give_nop(&t, SELECTIVE, 3);
	get_says(&t, EXPLICIT, 4);
	give_payload(&t, EXPLICIT, 6);
	give_payload(&t, EXPLICIT, 7);
	get_says(&t, EXPLICIT, 8);
	get_says(&t, EXPLICIT, 9);
	close_lone(&t);
}

WEFT_TEST(a_header_says_what_was_before_it)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_up(&t, &cfg);
	commit(&t, 2);
	assert_false(get(&t).prior_payload);
	assert_true(get(&t).prior_payload);
	weft_llr_request_nop(t.l);
	assert_true(get(&t).prior_payload);
	assert_int_equal(t.out.nops, 1);
	weft_llr_request_nop(t.l);
	assert_false(get(&t).prior_payload);
	close_lone(&t);
}

/* --- the receiver --- */

/* RETRY-42 */
WEFT_TEST(flits_without_a_number_are_counted)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 1);
	for (unsigned int i = 1; i <= 3000; i++) {
		bool shown = i % 1023 == 1 || i % 3 == 0;

		give_payload(&t, shown ? EXPLICIT : ACK, shown ? (i - 1) % 1023 + 1 : 1023);
		assert_int_equal(t.in.deliver, 1);
		if (i % 7 == 0)
			give_nop(&t, ACK, 1023); /* uses none */
		if (i % 50 == 0)
			give(&t, WEFT_FLIT_IDLE_NOP, EXPLICIT, 0, true); /* IDLE neither */
	}
	t.now += LATER;
	weft_llr_request_nop(t.l);
	get_says(&t, ACK, 2999 % 1023 + 1);
	assert_int_equal(count(&t, WEFT_LLR_N_GAPS), 0);
	close_lone(&t);
}

/* RETRY-43 */
WEFT_TEST(a_nak_is_withdrawn_if_the_bad_flit_was_no_payload)
{
	for (unsigned int selective = 0; selective < 2; selective++)
		for (unsigned int nop = 0; nop < 2; nop++) {
			struct weft_llr_cfg cfg = cxl_cfg(selective != 0);
			struct lone t;

			open_sent(&t, &cfg, 1);
			give_payload(&t, EXPLICIT, 1);
			give(&t, WEFT_FLIT_IDLE_NOP, ACK, 1023, false);
			assert_int_equal(t.in.bad, 1);
			get_nothing(&t); /* it waits for one flit */
			if (nop)
				give_nop(&t, ACK, 1023);
			give_payload(&t, ACK, 1023); /* number 2, counted */
			assert_int_equal(t.in.deliver, 1);
			give_payload(&t, EXPLICIT, 3);
			assert_int_equal(t.in.deliver, 1);
			get_nothing(&t);
			assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 0);
			close_lone(&t);
		}
}

/* RETRY-43 */
WEFT_TEST(after_a_bad_payload_all_come_again_from_it)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	for (unsigned int behind = 0; behind < 3; behind++) {
		open_sent(&t, &cfg, 1);
		give_payload(&t, EXPLICIT, 1);
		give_bad_payload(&t);
		get_nothing(&t);
		/* A flit that does not show its number, one that does, or a NOP. */
		if (behind == 2)
			give_nop(&t, ACK, 1023);
		else
			give_payload(&t, behind == 0 ? ACK : EXPLICIT, behind == 0 ? 1023 : 3);
		assert_int_equal(t.in.deliver, 0);
		get_says(&t, STANDARD, 1);
		give_payload(&t, ACK, 1023);
		give_payload(&t, EXPLICIT, 5);
		assert_int_equal(t.in.refused, 1);
		get_nothing(&t); /* one Nak is enough */
		give_payload(&t, EXPLICIT, 2);
		assert_int_equal(t.in.deliver, 1);
		give_payload(&t, EXPLICIT, 3);
		assert_int_equal(t.in.deliver, 1);
		give_payload(&t, ACK, 1023);
		assert_int_equal(t.in.deliver, 1);
		give_payload(&t, EXPLICIT, 5);
		assert_int_equal(t.in.deliver, 1);
		assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 1);
		close_lone(&t);
	}
}

WEFT_TEST(a_bad_flit_that_was_expected_to_be_old_does_no_harm)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	open_sent(&t, &cfg, 1);
	for (unsigned int i = 1; i <= 4; i++)
		give_payload(&t, EXPLICIT, i);
	give_payload(&t, EXPLICIT, 2); /* a replay of what came */
	give_bad_payload(&t); /* 3 */
	give_payload(&t, EXPLICIT, 4);
	assert_int_equal(t.in.duplicate, 1);
	give_payload(&t, EXPLICIT, 5);
	assert_int_equal(t.in.deliver, 1);
	assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 0);
	close_lone(&t);
}

/*
 * With two bad flits in a row nobody knows how many numbers they used: no counting from a guess
 * (RETRY-43).
 */
WEFT_TEST(several_bad_flits_make_counting_stop)
{
	for (unsigned int selective = 0; selective < 2; selective++) {
		struct weft_llr_cfg cfg = cxl_cfg(selective != 0);
		struct lone t;

		open_sent(&t, &cfg, 1);
		give_payload(&t, EXPLICIT, 1);
		give(&t, WEFT_FLIT_IDLE_NOP, ACK, 1023, false);
		give(&t, WEFT_FLIT_IDLE_NOP, ACK, 1023, false);
		get_says(&t, STANDARD, 1);
		give_payload(&t, ACK, 1023); /* 2, but it does not say so */
		assert_int_equal(t.in.refused, 1);
		give_payload(&t, EXPLICIT, 2);
		assert_int_equal(t.in.deliver, 1);
		give_payload(&t, ACK, 1023);
		assert_int_equal(t.in.deliver, 1);
		close_lone(&t);
	}
}

/* RETRY-6 */
WEFT_TEST(duplicates_are_dropped_without_a_nak)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 1);
	for (unsigned int i = 1; i <= 600; i++)
		give_payload(&t, EXPLICIT, i);
	t.now += LATER;
	weft_llr_request_nop(t.l);
	get_says(&t, ACK, 600);
	/* The newest one too, which a test by the other subtraction misses; and the oldest. */
	give_payload(&t, EXPLICIT, 600);
	assert_int_equal(t.in.duplicate, 1);
	for (unsigned int i = 600 - 510; i <= 600; i++) {
		bool shown = i % 2 == 0 || i == 600 - 509; /* the first three are */

		give_payload(&t, shown ? EXPLICIT : ACK, shown ? i : 1023);
		assert_int_equal(t.in.duplicate, 1);
	}
	give_payload(&t, ACK, 1023); /* 601, counted on */
	assert_int_equal(t.in.deliver, 1);
	assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 0);
	/* The sender goes back because it has no Ack. */
	give_payload(&t, EXPLICIT, 600);
	t.now += LATER * 4;
	get_says(&t, ACK, 601);
	close_lone(&t);
}

/*
 * Of all explicit numbers, with 1 expected: what becomes of the flit, and what is asked for
 * (RETRY-48).
 */
WEFT_TEST(every_explicit_number_is_in_turn_ahead_or_behind)
{
	for (unsigned int n = 0; n < 1024; n++) {
		struct weft_llr_cfg cfg = cxl_cfg(true);
		struct lone t;

		open_sent(&t, &cfg, 1);
		give_payload(&t, EXPLICIT, n);
		if (n == 1) {
			assert_int_equal(t.in.deliver, 1);
			get_nothing(&t);
		} else if (n == 2) {
			assert_int_equal(t.in.held, 1);
			get_says(&t, SELECTIVE, 1023);
		} else if (n >= 3 && n <= 511) {
			assert_int_equal(t.in.refused, 1);
			assert_int_equal(count(&t, WEFT_LLR_N_LOST), n - 1);
			get_says(&t, STANDARD, 1023);
		} else if (n == 0 || n == 512) {
			assert_int_equal(t.in.refused, 1);
			assert_int_equal(count(&t, WEFT_LLR_N_OUT_OF_WINDOW), 1);
			get_says(&t, STANDARD, 1023);
		} else {
			assert_int_equal(t.in.duplicate, 1);
			assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 0);
		}
		close_lone(&t);
	}
}

/* RETRY-44 */
WEFT_TEST(a_single_flit_is_asked_for_and_those_behind_it_wait)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 1);
	give_payload(&t, EXPLICIT, 1);
	give_bad_payload(&t);
	give_payload(&t, ACK, 1023); /* 3, counted */
	assert_int_equal(t.in.held, 1);
	get_says(&t, SELECTIVE, 1);
	give_payload(&t, EXPLICIT, 4);
	give_payload(&t, ACK, 1023);
	assert_int_equal(t.in.held, 1);
	assert_int_equal(weft_llr_held_count(t.l), 3);
	give_payload(&t, EXPLICIT, 2);
	assert_int_equal(t.in.deliver, 1);
	assert_int_equal(weft_llr_ready_count(t.l), 3);
	/* What follows goes behind those that wait to be fetched. */
	give_payload(&t, EXPLICIT, 6);
	assert_int_equal(t.in.held, 1);
	assert_int_equal(weft_llr_rx_next(t.l)[16], 1023 & 0xFF);
	assert_int_equal(weft_llr_rx_next(t.l)[16], 4);
	assert_int_equal(weft_llr_rx_next(t.l)[16], 1023 & 0xFF);
	assert_int_equal(weft_llr_rx_next(t.l)[16], 6);
	assert_null(weft_llr_rx_next(t.l));
	give_payload(&t, EXPLICIT, 7);
	give_payload(&t, ACK, 1023);
	assert_int_equal(t.in.deliver, 1);
	t.now += LATER;
	weft_llr_request_nop(t.l);
	get_says(&t, ACK, 8);
	assert_int_equal(count(&t, WEFT_LLR_N_NAKS_SENT), 1);
	close_lone(&t);
}

/* RETRY-44 */
WEFT_TEST(another_fault_makes_a_selective_nak_a_standard_one)
{
	for (unsigned int fault = 0; fault < 4; fault++) {
		struct weft_llr_cfg cfg = cxl_cfg(true);
		struct lone t;

		if (fault == 3)
			cfg.rx_flits = 2;
		open_sent(&t, &cfg, 1);
		give_payload(&t, EXPLICIT, 1);
		give_payload(&t, EXPLICIT, 3);
		get_says(&t, SELECTIVE, 1);
		give_payload(&t, EXPLICIT, 4);
		assert_int_equal(weft_llr_held_count(t.l), 2);
		switch (fault) {
		case 0: give_bad_payload(&t); break;
		case 1: give_payload(&t, EXPLICIT, 6); break; /* one more hole */
		case 2: give_payload(&t, EXPLICIT, 513); break; /* out of range */
		default: give_payload(&t, EXPLICIT, 5); break; /* overflow */
		}
		assert_int_equal(t.in.held, 0);
		assert_int_equal(weft_llr_held_count(t.l), 0);
		assert_int_equal(count(&t, WEFT_LLR_N_OVERFLOWS), fault == 3);
		get_says(&t, STANDARD, 1);
		for (unsigned int i = 2; i <= 8; i++) {
			give_payload(&t, EXPLICIT, i);
			assert_int_equal(t.in.deliver, 1);
		}
		assert_null(weft_llr_rx_next(t.l));
		close_lone(&t);
	}
}

/* RETRY-7 */
WEFT_TEST(a_nak_is_repeated)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	cfg.nak_repeat = 5;
	open_up(&t, &cfg);
	give_payload(&t, EXPLICIT, 1);
	give_payload(&t, EXPLICIT, 4);
	get_says(&t, STANDARD, 1);
	/* By flits that do not help, good or bad. */
	for (unsigned int i = 5; i < 8; i++)
		give_payload(&t, EXPLICIT, i);
	get_nothing(&t);
	give_bad_payload(&t);
	get_says(&t, STANDARD, 1);
	/* By a replay that does not begin with what was asked for, if it can be the answer. */
	give_payload(&t, EXPLICIT, 10);
	give_payload(&t, EXPLICIT, 3);
	get_nothing(&t);
	t.now += LATER * 4;
	give_payload(&t, EXPLICIT, 10);
	give_payload(&t, EXPLICIT, 3);
	get_says(&t, STANDARD, 1);
	give_payload(&t, EXPLICIT, 4);
	get_nothing(&t);
	/* By time. */
	t.now = weft_llr_deadline(t.l);
	while (get(&t).replay_cmd == ACK)
		t.now = weft_llr_deadline(t.l);
	assert_int_equal(weft_flit_hdr_get(t.flit).replay_cmd, STANDARD);
	assert_true(count(&t, WEFT_LLR_N_NAKS_REPEATED) >= 3);
	close_lone(&t);
}

/* The other end has nothing that was not acknowledged: its number says so. */
WEFT_TEST(a_nak_for_nothing_comes_to_an_end)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 3);
	give_nop(&t, STANDARD, 3);
	assert_int_equal(weft_llr_unacked(t.l), 0);
	get_says(&t, EXPLICIT, 3);
	get_says(&t, ACK, 1023);
	get_nothing(&t);
	/* And the other way round. */
	give(&t, WEFT_FLIT_IDLE_NOP, ACK, 1023, false);
	give(&t, WEFT_FLIT_IDLE_NOP, ACK, 1023, false);
	get_says(&t, STANDARD, 1023);
	give_nop(&t, EXPLICIT, 1023);
	give_nop(&t, ACK, 3);
	get_says(&t, ACK, 1023); /* a lone number wants to be answered */
	get_nothing(&t);
	/* Much later it shows once what it sent last: the Ack of that may have been forged. */
	t.now = weft_llr_deadline(t.l);
	assert_in_range(t.now, cfg.timeout_max_ns, cfg.timeout_max_ns + LATER);
	get_says(&t, EXPLICIT, 3);
	get_says(&t, ACK, 1023);
	get_nothing(&t);
	assert_int_equal(weft_llr_deadline(t.l), WEFT_LLR_NEVER);
	close_lone(&t);
}

WEFT_TEST(a_nop_with_a_number_shows_a_lost_tail)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	for (unsigned int lost = 1; lost <= 2; lost++) {
		open_sent(&t, &cfg, 1);
		give_payload(&t, EXPLICIT, 1);
		give_nop(&t, EXPLICIT, 1 + lost);
		get_says(&t, lost == 1 ? SELECTIVE : STANDARD, 1);
		close_lone(&t);
	}
}

/* --- the sender --- */

/*
 * Ack and Nak of every number, forged: only those of flits that are out change anything, and a Nak
 * for what was acknowledged as long as that is still in the buffer (RETRY-5, RETRY-25).
 */
WEFT_TEST(acks_out_of_the_window_change_nothing)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);

	for (unsigned int from = 0; from <= 1020; from += 340)
		for (unsigned int cmd = ACK; cmd <= SELECTIVE; cmd++)
			for (unsigned int n = 0; n < 1024; n += weft_test_step(7)) {
				/*
				 * Numbers from + 1 to from + 9 are out, from itself is
				 * acknowledged.
				 */
				unsigned int ahead = (n + 1023 - from) % 1023;
				unsigned int back = 1023 - ahead;
				bool revokes = cmd != ACK && n != 0 && ahead > 9 && back <= from &&
				               back + 9 < cfg.window;
				bool valid = n != 0 && (ahead <= 9 || revokes);
				struct lone t;

				open_up(&t, &cfg);
				for (unsigned int i = 0; i < from; i++) {
					commit(&t, 1);
					get(&t);
					give_nop(&t, ACK, i + 1);
				}
				commit(&t, 9);
				for (unsigned int i = 0; i < 9; i++)
					get(&t);
				give_nop(&t, (enum weft_replay_cmd)cmd, n);
				assert_int_equal(weft_llr_unacked(t.l), revokes ? 9 + back
									: valid ? 9 - ahead
										: 9);
				assert_int_equal(count(&t, WEFT_LLR_N_REVOKED), revokes);
				assert_int_equal(
					count(&t, WEFT_LLR_N_OUT_OF_WINDOW), n != 0 && !valid);
				weft_llr_tx(t.l, t.flit, 1, ++t.now, &t.out);
				assert_int_equal(count(&t, WEFT_LLR_N_RESENT),
					valid && cmd != ACK && ahead != 9);
				if (count(&t, WEFT_LLR_N_RESENT) != 0)
					assert_int_equal(
						weft_flit_hdr_get(t.flit).seq, n % 1023 + 1);
				close_lone(&t);
			}
}

/* RETRY-8, RETRY-45 */
WEFT_TEST(a_standard_nak_replays_all_and_a_selective_one_that_flit)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 6);
	commit(&t, 1);
	t.now += LATER; /* the round trip */
	give_nop(&t, SELECTIVE, 2);
	assert_int_equal(weft_llr_unacked(t.l), 5);
	get_says(&t, EXPLICIT, 3);
	get_says(&t, EXPLICIT, 7);
	assert_int_equal(count(&t, WEFT_LLR_N_SINGLES), 1);
	/* Said again at once: the same Nak on more flits, or on its way when the flit went. */
	give_nop(&t, SELECTIVE, 2);
	get_nothing(&t);
	assert_int_equal(count(&t, WEFT_LLR_N_NAKS_IGNORED), 1);
	commit(&t, 1);
	t.now += LATER;
	give_nop(&t, STANDARD, 4);
	/* During a replay no new payload enters. */
	for (unsigned int i = 5; i <= 8; i++)
		get_says(&t, EXPLICIT, i);
	give_nop(&t, STANDARD, 4);
	get_nothing(&t);
	assert_int_equal(count(&t, WEFT_LLR_N_NAKS_IGNORED), 2);
	assert_int_equal(count(&t, WEFT_LLR_N_REPLAYS), 1);
	close_lone(&t);
}

WEFT_TEST(a_standard_nak_upgrades_a_selective_one)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 4);
	give_nop(&t, SELECTIVE, 1);
	give_nop(&t, STANDARD, 1);
	for (unsigned int i = 2; i <= 4; i++)
		get_says(&t, EXPLICIT, i);
	get_nothing(&t);
	close_lone(&t);
}

/* RETRY-2 */
WEFT_TEST(no_more_than_a_window_is_out)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct lone t;

	open_sent(&t, &cfg, 511);
	assert_null(weft_llr_reserve(t.l));
	/* Then NOPs are sent. */
	weft_llr_request_nop(t.l);
	get_says(&t, ACK, 1023);
	assert_int_equal(t.out.nops, 1);
	give_nop(&t, ACK, 1);
	assert_non_null(weft_llr_reserve(t.l));
	close_lone(&t);
}

/* --- late poison --- */

WEFT_TEST(late_poison_comes_before_its_data)
{
	for (unsigned int how = 0; how < 4; how++)
		for (unsigned int max = 1; max <= 4; max++) {
			struct weft_llr_cfg cfg = cxl_cfg(how % 2 != 0);
			uint8_t wire[8][WEFT_FLIT_LEN], frame[4][WEFT_FLIT_LEN];
			unsigned int n = 0, delivered = 0;
			uint64_t bad = 0;
			struct lone a, b;

			cfg.show_first = how >= 2;
			open_up(&a, &cfg);
			open_up(&b, &cfg);
			memset(weft_llr_reserve(a.l), 0, WEFT_FLIT_LEN);
			weft_llr_reserve(a.l)[0] = WEFT_FLIT_CACHEMEM << 6;
			weft_llr_reserve(a.l)[100] = 0xA5;
			assert_int_equal(weft_llr_commit_poisoned(a.l, 3), 0);
			for (unsigned int turn = 0; turn < 3; turn++) {
				while (weft_llr_tx(a.l, frame[0], max, ++a.now, &a.out) != 0)
					for (unsigned int i = 0; i < a.out.n; i++) {
						bool spoilt =
							(a.out.invert_crc & WEFT_BIT64(i)) != 0;
						uint64_t syndrome = spoilt ? UINT64_MAX : 0;

						assert_true(n < 8);
						bad |= (uint64_t)spoilt << n;
						memcpy(wire[n++], frame[i], WEFT_FLIT_LEN);
						weft_llr_rx(b.l, frame[i], &syndrome, 1, 0, ++b.now,
							&b.in);
						assert_int_equal(b.in.held, 0);
						if (b.in.deliver == 0)
							continue;
						assert_int_equal(
							frame[i][100], delivered == 0 ? 0 : 0xA5);
						delivered++;
					}
				while (weft_llr_tx(b.l, frame[0], 1, ++b.now, &b.out) != 0) {
					uint64_t syndrome = 0;

					weft_llr_rx(a.l, frame[0], &syndrome, 1, 0, ++a.now, &a.in);
				}
			}
			assert_int_equal(delivered, 2);
			/* Bad A, bad P, A; after the Nak P and A. */
			assert_int_equal(n, 5);
			assert_int_equal(bad, 3);
			for (unsigned int i = 0; i < 5; i++) {
				bool poison = i == 1 || i == 3;

				assert_int_equal(wire[i][100], poison ? 0 : 0xA5);
				if (poison)
					assert_int_equal(weft_llctrl_get(wire[i] + WEFT_FLIT_H_OFF),
						WEFT_LLCTRL_POISON);
			}
			assert_int_equal(count(&b, WEFT_LLR_N_NAKS_SENT), 1);
			close_lone(&a);
			close_lone(&b);
		}
}

/*
 * A replay that begins between the spoiled flit and the Poison flit: all three go again
 * (RETRY-11).
 */
WEFT_TEST(nothing_comes_between_data_and_poison)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	open_sent(&t, &cfg, 2);
	memset(weft_llr_reserve(t.l), 0xA5, WEFT_FLIT_LEN);
	assert_int_equal(weft_llr_commit_poisoned(t.l, 0), 0);
	get(&t);
	assert_int_equal(t.out.invert_crc, 1);
	assert_int_equal(t.flit[100], 0xA5);
	give_nop(&t, STANDARD, 1);
	get_says(&t, EXPLICIT, 2);
	assert_int_equal(t.out.invert_crc, 0);
	for (unsigned int i = 0; i < 3; i++) {
		get(&t);
		assert_int_equal(t.out.invert_crc, i < 2);
		assert_int_equal(t.flit[100], i == 1 ? 0 : 0xA5);
	}
	close_lone(&t);
}

/* --- two ends --- */

WEFT_TEST(a_clean_wire_costs_nothing)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);

	rig_clean_wire_costs_nothing(&cfg);
	cfg.show_first = true;
	rig_clean_wire_costs_nothing(&cfg);
}

/*
 * Run to the end with bursts of corruption and, now and then, nothing but bad flits for a while.
 * Frames may come as any number of flits, never late, twice or not at all: that is another test.
 */
static bool
run_with_outages(struct rig *r, struct weft_rand *pick, uint32_t bad)
{
	uint64_t change_ns = 0;
	unsigned int outages = 0;

	while (!rig_is_done(r) && r->now_ns < UINT64_C(100000000000)) {
		if (r->now_ns >= change_ns) {
			bool outage = weft_rand_below(pick, 8) == 0 && outages < 5;

			outages += outage;
			r->faults.bad = outage                          ? 1000000
			                : weft_rand_below(pick, 3) == 0 ? 500000
			                                                : bad;
			change_ns = r->now_ns + weft_rand_below(pick, outage ? 5000000 : 20000);
		}
		if (!rig_step(r))
			return rig_is_done(r);
	}
	return rig_is_done(r);
}

static struct weft_llr_cfg
draw_cfg(struct weft_rand *pick, unsigned int run)
{
	struct weft_llr_cfg cfg = cxl_cfg(weft_rand_below(pick, 3) != 0);

	cfg.show_first = run % 2 != 0;
	cfg.window = (uint16_t)(1 + weft_rand_below(pick, 511));
	if (run % 16 == 0)
		cfg.window = run % 32 == 0 ? 1 : 511;
	if (cfg.selective)
		cfg.rx_flits = (uint16_t)(1 + weft_rand_below(pick, 511) / (1 + run % 100));
	cfg.ack_every = (uint16_t)(1 + weft_rand_below(pick, 40));
	cfg.nak_repeat = (uint16_t)(1 + weft_rand_below(pick, 200));
	cfg.replays_max = (uint8_t)(1 + weft_rand_below(pick, 10));
	return cfg;
}

/* RETRY-1, RETRY-3 */
WEFT_TEST(everything_arrives_however_many_flits_are_bad)
{
	uint64_t retrains = 0, overflows = 0, held = 0, duplicates = 0;
	const unsigned int runs = weft_test_cases(400);
	struct weft_rand pick;

	weft_test_seed(&pick, "bad flits");
	for (unsigned int run = 0; run < runs; run++) {
		const struct weft_llr_cfg cfg = draw_cfg(&pick, run);
		uint32_t bad = (uint32_t)weft_rand_below(&pick, 100000);
		struct rig r;

		rig_init(&r, &cfg, weft_rand_u64(&pick));
		r.latency_ns = 100 + weft_rand_below(&pick, 3000);
		r.end[0].to_send = weft_rand_below(&pick, 3000);
		r.end[1].to_send = run % 5 == 0 ? 0 : weft_rand_below(&pick, 3000);
		if (!run_with_outages(&r, &pick, bad) || r.end[0].wrong != 0 ||
			r.end[1].wrong != 0) {
			printf("run %u: window %u selective %u rx %u acks %u naks %u replays %u: "
			       "%llu "
			       "of %llu, %llu of %llu, wrong %llu %llu at %llu ns\n",
				run, cfg.window, cfg.selective, cfg.rx_flits, cfg.ack_every,
				cfg.nak_repeat, cfg.replays_max,
				(unsigned long long)r.end[1].received,
				(unsigned long long)r.end[0].committed,
				(unsigned long long)r.end[0].received,
				(unsigned long long)r.end[1].committed,
				(unsigned long long)r.end[0].wrong,
				(unsigned long long)r.end[1].wrong, (unsigned long long)r.now_ns);
			fail();
		}
		for (unsigned int i = 0; i < 2; i++) {
			retrains += rig_count(&r, i, WEFT_LLR_N_RETRAINS);
			overflows += rig_count(&r, i, WEFT_LLR_N_OVERFLOWS);
			held += rig_count(&r, i, WEFT_LLR_N_HELD);
			duplicates += rig_count(&r, i, WEFT_LLR_N_DUPLICATES);
		}
		/*
		 * Then a retry layer falls silent, behind the Naks of an outage that are under way.
		 */
		memset(&r.faults, 0, sizeof(r.faults));
		for (unsigned int steps = 0; rig_step(&r); steps++) {
			assert_true(steps < 2000);
		}
		assert_int_equal(weft_llr_state(r.end[0].llr), WEFT_LLR_RUNNING);
		assert_int_equal(weft_llr_state(r.end[1].llr), WEFT_LLR_RUNNING);
		rig_free(&r);
	}
	printf("%llu retrains, %llu overflows, %llu held, %llu duplicates\n",
		(unsigned long long)retrains, (unsigned long long)overflows,
		(unsigned long long)held, (unsigned long long)duplicates);
	if (weft_test_is_again())
		return; /* too few to say */
	assert_true(retrains > runs / 4 && overflows > runs / 4);
	assert_true(held > runs * 25 && duplicates > runs * 2);
}

/*
 * Where flits and frames vanish or come twice, cxl mode may fail, but it goes on. (Late ones may
 * acknowledge what never came: then it shows that it is stuck.)
 */
WEFT_TEST(a_wire_that_is_no_link_does_not_stop_it)
{
	struct weft_rand pick;
	uint64_t wrong = 0;

	weft_test_seed(&pick, "no link");
	for (unsigned int run = 0; run < weft_test_cases(100); run++) {
		struct weft_llr_cfg cfg = cxl_cfg(run % 3 != 0);
		struct rig r;

		cfg.show_first = run % 2 != 0;
		cfg.window = (uint16_t)(1 + weft_rand_below(&pick, 511));
		if (cfg.selective)
			cfg.rx_flits = (uint16_t)(1 + weft_rand_below(&pick, 511));
		cfg.replays_max = (uint8_t)(1 + weft_rand_below(&pick, 10));
		rig_init(&r, &cfg, weft_rand_u64(&pick));
		r.faults = (struct rig_faults){
			.bad = 30000, .vanish = 30000, .drop = 30000, .dup = 10000
		};
		r.end[0].to_send = r.end[1].to_send = 2000;
		while (r.end[0].to_send + r.end[1].to_send != 0 && r.now_ns < UINT64_C(60000000000))
			rig_step(&r);
		memset(&r.faults, 0, sizeof(r.faults));
		for (unsigned int steps = 0; rig_step(&r); steps++)
			assert_true(steps < 2000000);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(r.end[i].to_send, 0);
			assert_int_equal(weft_llr_unacked(r.end[i].llr), 0);
			wrong += r.end[i].wrong;
		}
		rig_free(&r);
	}
	printf("%llu wrong\n", (unsigned long long)wrong);
	assert_true(wrong != 0);
}

/* The Ack of a flit that never came was forged: no retrain can help, and the owner sees it. */
WEFT_TEST(an_end_that_no_retrain_helps_says_so)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	cfg.replays_max = 1;
	cfg.window = 3; /* a Nak takes nothing back: another flit may be in its place */
	open_sent(&t, &cfg, 3);
	give_nop(&t, ACK, 2);
	for (unsigned int retrains = 1; retrains <= 2; retrains++) {
		while (weft_llr_state(t.l) != WEFT_LLR_RETRAINING) {
			t.now = weft_llr_deadline(t.l);
			weft_llr_tx(t.l, t.flit, 1, ++t.now, &t.out);
		}
		give_nop(&t, EXPLICIT, 1023);
		give_nop(&t, STANDARD, 1023); /* it wants 1, which is no longer there */
		while (weft_llr_state(t.l) == WEFT_LLR_RETRAINING)
			get(&t);
		assert_int_equal(
			weft_llr_state(t.l), retrains == 1 ? WEFT_LLR_RUNNING : WEFT_LLR_STUCK);
	}
	give_nop(&t, ACK, 3);
	assert_int_equal(weft_llr_state(t.l), WEFT_LLR_RUNNING);
	close_lone(&t);
}

/* --- frames that are lost whole (show_first) --- */

/* Make a frame of the tester's, to be given flit after flit. */
struct whole {
	unsigned int n;
	uint64_t syndrome[4];
	uint8_t flit[4][WEFT_FLIT_LEN];
};

static void
add_flit(struct whole *f, enum weft_flit_type type, enum weft_replay_cmd cmd, unsigned int seq,
	bool good)
{
	const struct weft_flit_hdr h = { .type = (uint8_t)type,
		.prior_payload = f->n != 0,
		.replay_cmd = (uint8_t)cmd,
		.seq = (uint16_t)seq };

	memset(f->flit[f->n], 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(f->flit[f->n], &h);
	f->syndrome[f->n++] = good ? 0 : 0xBAD;
}

static void
give_whole(struct lone *t, struct whole *f)
{
	weft_llr_rx(t->l, f->flit[0], f->syndrome, f->n, 0, ++t->now, &t->in);
	f->n = 0;
}

/* RETRY-52 */
WEFT_TEST(a_flit_is_counted_in_its_frame_alone)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct whole f = { 0 };
	struct lone t;

	cfg.show_first = true;
	open_sent(&t, &cfg, 1);
	add_flit(&f, WEFT_FLIT_CACHEMEM, EXPLICIT, 1, true);
	add_flit(&f, WEFT_FLIT_CACHEMEM, ACK, 1023, true); /* 2 */
	give_whole(&t, &f);
	assert_int_equal(t.in.deliver, 3);
	/* The frame with 3 is lost; 4 does not pass for it. */
	add_flit(&f, WEFT_FLIT_CACHEMEM, ACK, 1023, true);
	give_whole(&t, &f);
	assert_int_equal(t.in.refused, 1);
	get_says(&t, STANDARD, 2);
	add_flit(&f, WEFT_FLIT_CACHEMEM, EXPLICIT, 3, true);
	add_flit(&f, WEFT_FLIT_CACHEMEM, ACK, 1023,
		false); /* 4: in a frame nothing else is missing */
	add_flit(&f, WEFT_FLIT_CACHEMEM, ACK, 1023, true); /* 5 */
	give_whole(&t, &f);
	assert_int_equal(t.in.deliver, 1);
	assert_int_equal(t.in.held, 4);
	get_says(&t, SELECTIVE, 3);
	/*
	 * A bad flit at the end of a frame, and frames lost behind it: the next says nothing of it.
	 */
	add_flit(&f, WEFT_FLIT_CACHEMEM, EXPLICIT, 4, true);
	add_flit(&f, WEFT_FLIT_CACHEMEM, EXPLICIT, 6, false);
	give_whole(&t, &f);
	while (weft_llr_rx_next(t.l) != NULL)
		;
	add_flit(&f, WEFT_FLIT_CACHEMEM, EXPLICIT, 9, true);
	add_flit(&f, WEFT_FLIT_CACHEMEM, ACK, 1023, true);
	give_whole(&t, &f);
	assert_int_equal(t.in.refused, 3);
	get_says(&t, STANDARD, 5);
	close_lone(&t);
}

/* What the end sends now: a frame of @p max flits at most. */
static unsigned int
get_whole(struct lone *t, struct whole *f, unsigned int max)
{
	return f->n = weft_llr_tx(t->l, f->flit[0], max, ++t->now, &t->out);
}

static void
says(const struct whole *f, unsigned int i, enum weft_flit_type type, enum weft_replay_cmd cmd,
	unsigned int seq)
{
	const struct weft_flit_hdr h = weft_flit_hdr_get(f->flit[i]);

	assert_int_equal(h.type, type);
	assert_int_equal(h.replay_cmd, cmd);
	assert_int_equal(h.seq, seq);
}

/* RETRY-52 */
WEFT_TEST(a_frame_shows_the_number_of_its_first_flit)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct whole f = { 0 };
	struct lone t;

	cfg.show_first = true;
	cfg.ack_every = 1;
	open_sent(&t, &cfg, 3);
	/* An Ack stands in a flit behind the first; with none there, in a NOP. */
	give_payload(&t, EXPLICIT, 1);
	commit(&t, 3);
	assert_int_equal(get_whole(&t, &f, 4), 3);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 4);
	says(&f, 1, WEFT_FLIT_CACHEMEM, ACK, 1);
	says(&f, 2, WEFT_FLIT_CACHEMEM, EXPLICIT, 6);
	give_payload(&t, EXPLICIT, 2);
	commit(&t, 1);
	assert_int_equal(get_whole(&t, &f, 4), 2);
	assert_int_equal(t.out.nops, 1);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 7);
	says(&f, 1, WEFT_FLIT_IDLE_NOP, ACK, 2);
	assert_true(weft_flit_hdr_get(f.flit[1]).prior_payload);
	/* A Nak likewise. */
	give_payload(&t, EXPLICIT, 4);
	commit(&t, 2);
	assert_int_equal(get_whole(&t, &f, 2), 2);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 8);
	says(&f, 1, WEFT_FLIT_CACHEMEM, SELECTIVE, 2);
	give_payload(&t, EXPLICIT, 6);
	commit(&t, 1);
	assert_int_equal(get_whole(&t, &f, 2), 2);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 10);
	says(&f, 1, WEFT_FLIT_IDLE_NOP, STANDARD, 2);
	/* Frames of one flit: in turns, however much is to be sent. */
	give_payload(&t, EXPLICIT, 3);
	commit(&t, 2);
	assert_int_equal(get_whole(&t, &f, 1), 1);
	says(&f, 0, WEFT_FLIT_IDLE_NOP, ACK, 3);
	assert_int_equal(get_whole(&t, &f, 1), 1);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 11);
	assert_int_equal(get_whole(&t, &f, 1), 1);
	says(&f, 0, WEFT_FLIT_CACHEMEM, EXPLICIT, 12);
	close_lone(&t);
}

/*
 * The last frame is lost, and the other end only seems slow: long before anything is sent again
 * unasked, a NOP shows what was sent (RETRY-10).
 */
WEFT_TEST(a_tail_that_is_lost_is_shown)
{
	struct weft_llr_cfg cfg = cxl_cfg(true);
	struct rig r;

	cfg.show_first = true;
	cfg.resend_after_ns = 100 * LATER;
	rig_init(&r, &cfg, 1);
	r.end[0].to_send = 20;
	assert_true(rig_run(&r, LATER));
	r.end[0].to_send = 1;
	assert_true(rig_send(&r, 0));
	r.end[1].n_frames = 0;
	assert_true(rig_run(&r, r.now_ns + 10 * LATER));
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_TIMEOUTS), 0);
	assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), 1);
	rig_free(&r);
}

/* RETRY-3, RETRY-52 */
WEFT_TEST(everything_arrives_however_many_frames_are_lost)
{
	const unsigned int runs = weft_test_cases(200);
	uint64_t gaps = 0;
	struct weft_rand pick;

	weft_test_seed(&pick, "lost frames");
	for (unsigned int run = 0; run < runs; run++) {
		struct weft_llr_cfg cfg = cxl_cfg(weft_rand_below(&pick, 3) != 0);
		struct rig r;

		cfg.show_first = true;
		cfg.window = (uint16_t)(1 + weft_rand_below(&pick, 511));
		if (cfg.selective)
			cfg.rx_flits = (uint16_t)(1 + weft_rand_below(&pick, 511));
		cfg.ack_every = (uint16_t)(1 + weft_rand_below(&pick, 40));
		cfg.nak_repeat = (uint16_t)(1 + weft_rand_below(&pick, 200));
		cfg.replays_max = (uint8_t)(1 + weft_rand_below(&pick, 10));
		rig_init(&r, &cfg, weft_rand_u64(&pick));
		r.faults.bad = (uint32_t)weft_rand_below(&pick, 50000);
		r.faults.drop = (uint32_t)weft_rand_below(&pick, 150000);
		r.faults.dup = (uint32_t)weft_rand_below(&pick, 50000);
		r.end[0].to_send = weft_rand_below(&pick, 3000);
		r.end[1].to_send = run % 5 == 0 ? 0 : weft_rand_below(&pick, 3000);
		assert_true(rig_run(&r, UINT64_C(100000000000)));
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(r.end[i].wrong, 0);
			assert_int_equal(weft_llr_doubt(r.end[i].llr), 0);
			gaps += rig_count(&r, i, WEFT_LLR_N_GAPS);
		}
		rig_free(&r);
	}
	printf("%llu gaps\n", (unsigned long long)gaps);
	assert_true(gaps > runs || weft_test_is_again());
}

/* --- what cxl mode does not notice --- */

WEFT_TEST(a_flit_lost_before_an_ack_is_taken_for_it)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	struct lone t;

	open_sent(&t, &cfg, 1);
	give_payload(&t, EXPLICIT, 1);
	/* 2 vanishes; 3 carries an Ack and passes for 2; 4 shows that something is missing. */
	give_payload(&t, ACK, 1023);
	assert_int_equal(t.in.deliver, 1);
	give_payload(&t, EXPLICIT, 4);
	assert_int_equal(t.in.refused, 1);
	get_says(&t, STANDARD, 2);
	give_payload(&t, EXPLICIT, 3); /* comes twice; 2 never comes */
	assert_int_equal(t.in.deliver, 1);
	close_lone(&t);
}

#define FLITS 1000000 /* each way */

/*
 * Parts of the flits lost on the way, by L levels of switches that drop a part q each. Receives the
 * part of flits with an Ack.
 */
static uint64_t
order_failures(double lost, bool acks, double *p)
{
	struct weft_llr_cfg cfg = cxl_cfg(false);
	uint64_t wrong;
	struct rig r;

	rig_init(&r, &cfg, 12345);
	r.latency_ns = 300;
	r.faults.vanish = (uint32_t)(lost * 1e6);
	r.end[0].to_send = FLITS;
	r.end[1].to_send = acks ? FLITS : 0;
	assert_true(rig_run(&r, UINT64_C(3600000000000)));
	wrong = r.end[1].wrong + r.end[0].wrong;
	*p = (double)rig_count(&r, 0, WEFT_LLR_N_ACKS_SENT) /
	     (double)(rig_count(&r, 0, WEFT_LLR_N_SENT) + rig_count(&r, 0, WEFT_LLR_N_RESENT));
	rig_free(&r);
	return wrong;
}

/*
 * The order breaks L q p times a flit (reliability.md section 3.4). Two jumps are seen for each:
 * one over what never comes, one back to what comes twice.
 */
WEFT_TEST(order_breaks_as_the_paper_says_and_only_where_acks_ride)
{
	const double q = 1e-3;
	double p;

	if (weft_test_is_again())
		return; /* a rate, which is the same in each build */
	for (unsigned int levels = 1; levels <= 2; levels++) {
		uint64_t wrong = order_failures(levels * q, true, &p);
		double events = (double)wrong / 2 / (2.0 * FLITS);

		printf("%u levels, p = %.3f: %.3g order failures a flit, L q p = %.3g\n", levels, p,
			events, levels * q * p);
		assert_true(events > 0.75 * levels * q * p && events < 1.25 * levels * q * p);
		assert_int_equal(order_failures(levels * q, false, &p), 0);
	}
}
