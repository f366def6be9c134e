/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Somebody between two retry layers, without keys: forges Acks, Naks and NOPs with any number,
 * sends noise, sends again what he recorded. When he stops, everything goes on within a second:
 * what was sent arrives, or the retry layer says that only a new session helps, and that one works.
 */

#include "llr_rig.h"

#define MS UINT64_C(1000000)
#define RECORDED 64
#define RUNS 8

struct attacker {
	bool forges, noisy, replays;
	struct rig_frame frame[RECORDED];
	unsigned int n_frames;
};

enum kind { RXL, RXL_GO_BACK_N, CXL };

static struct weft_llr_cfg
attacked_cfg(enum kind kind)
{
	struct weft_llr_cfg c;

	weft_llr_defaults(&c, kind == CXL ? WEFT_MODE_CXL : WEFT_MODE_RXL);
	c.window = 256;
	c.rx_flits = 255;
	if (kind == RXL_GO_BACK_N) {
		c.gap_decoding = c.selective = false;
		c.rx_flits = 0;
	}
	c.resend_after_ns = 100 * MS;
	c.timeout_min_ns = 2 * MS;
	return c;
}

/* An intact flit that nobody sent: a NOP, its number and what it says of Acks as given. */
static void
forge(struct rig *r, struct rig_frame *f, unsigned int cmd, unsigned int seq, unsigned int number)
{
	struct weft_flit_hdr h = {
		.type = WEFT_FLIT_IDLE_NOP, .replay_cmd = (uint8_t)cmd, .seq = (uint16_t)seq
	};

	f->n = 1;
	f->at_ns = r->now_ns;
	memset(f->flit[0], 0, WEFT_FLIT_LEN);
	weft_flit_hdr_put(f->flit[0], &h);
	rig_crc(f->flit[0]);
	f->syndrome[0] = rig_syndrome(r, number);
}

static void
attack(struct rig *r, struct attacker *a, unsigned int to)
{
	struct rig_end *e = &r->end[to];
	struct rig_frame f;

	/* Of what is under way, some is recorded. */
	if (e->n_frames != 0 && weft_rand_below(&r->rnd, 4) == 0)
		a->frame[a->n_frames++ % RECORDED] = e->frame[0];
	if (a->forges) {
		forge(r, &f, (unsigned int)weft_rand_below(&r->rnd, 4),
			(unsigned int)weft_rand_below(&r->rnd, WEFT_ISN_NUMBERS),
			(unsigned int)weft_rand_below(&r->rnd, WEFT_ISN_NUMBERS));
		rig_take(r, e, &f);
	}
	if (a->noisy) {
		forge(r, &f, 0, 0, 0);
		f.syndrome[0] = weft_rand_u64(&r->rnd);
		rig_take(r, e, &f);
	}
	if (a->replays && a->n_frames >= RECORDED) {
		f = a->frame[weft_rand_below(&r->rnd, RECORDED)];
		rig_take(r, e, &f);
	}
}

static bool
in_doubt(const struct rig *r)
{
	return weft_llr_doubt(r->end[0].llr) != 0 || weft_llr_doubt(r->end[1].llr) != 0;
}

/* A new session, as lib/link begins it; what was on its way belongs to the old one. */
static void
new_session(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++) {
		weft_llr_restart(r->end[i].llr, 1, r->now_ns);
		r->end[i].n_frames = 0;
	}
	for (unsigned int i = 0; i < 2; i++) {
		r->end[i].received = r->end[1 - i].committed;
		r->end[i].wrong = 0;
	}
}

static void
keep_busy(struct rig *r)
{
	for (unsigned int i = 0; i < 2; i++)
		if (r->end[i].to_send == 0)
			r->end[i].to_send = weft_rand_below(&r->rnd, 20);
}

struct outcome {
	unsigned int sessions; /* begun anew */
	unsigned int lost; /* runs that went on in a new session only after the attack */
};

static void
one_attack(struct attacker *a, const struct weft_llr_cfg *cfg, uint64_t seed, struct outcome *o)
{
	uint64_t end_ns;
	struct rig r;

	rig_init(&r, cfg, seed);
	a->n_frames = 0;
	/* A flood makes the other end's socket overflow. */
	r.faults.drop = 20000;
	if (cfg->mode == WEFT_MODE_CXL)
		r.faults.bad = 20000;
	while (r.now_ns < 5 * MS) {
		keep_busy(&r);
		if (!rig_step(&r))
			r.now_ns += 1000;
		attack(&r, a, (unsigned int)weft_rand_below(&r.rnd, 2));
		if (in_doubt(&r)) {
			new_session(&r);
			o->sessions++;
			a->n_frames = 0; /* of no use: they name another session */
		}
	}
	end_ns = r.now_ns + 1000 * MS;
	/*
	 * With the flood its losses end: each one costs resend_after_ns and a time-out that has
	 * grown, so a wire that goes on losing has no bound of a second.
	 */
	r.faults.drop = 0;
	/* Some more, so that it shows what each end believes the other one has. */
	r.end[0].to_send += 200;
	r.end[1].to_send += 200;
	while (!rig_is_done(&r) && !in_doubt(&r) && r.now_ns < end_ns && rig_step(&r))
		;
	if (in_doubt(&r)) {
		o->lost++;
		new_session(&r);
		r.end[0].to_send = r.end[1].to_send = 200;
		rig_run(&r, end_ns);
	}
	if (!rig_is_done(&r) || r.end[0].wrong + r.end[1].wrong != 0) {
		printf("seed %llu: not within a second: %llu of %llu, %llu of %llu, wrong %llu "
		       "%llu\n",
			(unsigned long long)seed, (unsigned long long)r.end[1].received,
			(unsigned long long)r.end[0].committed,
			(unsigned long long)r.end[0].received,
			(unsigned long long)r.end[1].committed, (unsigned long long)r.end[0].wrong,
			(unsigned long long)r.end[1].wrong);
		fail();
	}
	rig_free(&r);
}

static void
attacks(const char *what, const struct attacker *like, struct outcome *o)
{
	static const char *const kind[] = { "rxl", "rxl without gap decoding", "cxl" };
	static struct attacker a;
	const unsigned int runs = weft_test_cases(RUNS);
	struct weft_rand pick;

	weft_test_seed(&pick, what);
	*o = (struct outcome){ 0 };
	for (unsigned int run = 0; run < runs * WEFT_ARRAY_SIZE(kind); run++) {
		const unsigned int k = run / runs;
		const struct weft_llr_cfg cfg = attacked_cfg((enum kind)k);
		const struct outcome before = *o;

		a = *like;
		one_attack(&a, &cfg, weft_rand_u64(&pick), o);
		printf("%s, %s: %u new sessions under it, %u behind it\n", what, kind[k],
			o->sessions - before.sessions, o->lost - before.lost);
	}
}

WEFT_TEST(forged_acks_and_naks_stop_nothing)
{
	const struct attacker a = { .forges = true };
	struct outcome o;

	attacks("forged Acks and Naks", &a, &o);
}

/* Nothing of it is intact, so nothing of it may cost a session. */
WEFT_TEST(noise_stops_nothing)
{
	const struct attacker a = { .noisy = true };
	struct outcome o;

	attacks("noise", &a, &o);
	assert_int_equal(o.sessions + o.lost, 0);
}

WEFT_TEST(replays_stop_nothing)
{
	const struct attacker a = { .replays = true };
	struct outcome o;

	attacks("replays", &a, &o);
}

WEFT_TEST(all_of_it_stops_nothing)
{
	const struct attacker a = { .forges = true, .noisy = true, .replays = true };
	struct outcome o;

	attacks("all at once", &a, &o);
}

/* What goes wrong on a channel that nobody attacks is no sign of an attack. */
WEFT_TEST(a_bad_channel_is_not_doubted)
{
	struct weft_rand pick;

	weft_test_seed(&pick, "no doubt");
	for (unsigned int run = 0; run < weft_test_cases(150); run++) {
		const enum kind kind = (enum kind)(run % 3);
		struct weft_llr_cfg cfg = attacked_cfg(kind);
		struct rig r;

		rig_init(&r, &cfg, weft_rand_u64(&pick));
		if (kind == CXL) { /* a link that keeps the order */
			const bool loses = run % 2 != 0;

			r.faults.bad = (uint32_t)weft_rand_below(&pick, loses ? 50000 : 300000);
			if (loses) {
				r.faults.drop = (uint32_t)weft_rand_below(&pick, 150000);
				r.faults.dup = (uint32_t)weft_rand_below(&pick, 50000);
			}
		} else {
			const uint32_t part = kind == RXL ? 1 : 10;

			r.faults.bad = (uint32_t)weft_rand_below(&pick, 100000 / part);
			r.faults.drop = (uint32_t)weft_rand_below(&pick, 150000 / part);
			r.faults.dup = (uint32_t)weft_rand_below(&pick, 50000 / part);
			r.faults.late = (uint32_t)weft_rand_below(&pick, 50000 / part);
		}
		r.end[0].to_send = weft_rand_below(&pick, 3000);
		r.end[1].to_send = weft_rand_below(&pick, 3000);
		assert_true(rig_run(&r, UINT64_C(20000000000)));
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(r.end[i].wrong, 0);
			assert_int_equal(weft_llr_doubt(r.end[i].llr), 0);
			assert_int_equal(rig_count(&r, i, WEFT_LLR_N_CONFLICTS), 0);
		}
		rig_free(&r);
	}
}

/* One end's flits 1..n, made by hand. */
static void
payload(struct rig *r, struct rig_frame *f, unsigned int number, unsigned int ack, uint8_t content)
{
	forge(r, f, ack == 0 ? WEFT_REPLAY_EXPLICIT : WEFT_REPLAY_ACK, ack, number);
	f->flit[0][0] |= WEFT_FLIT_ALMP << 6; /* of any type but NOP, with any one bit turned */
	f->flit[0][100] = content;
	rig_crc(f->flit[0]);
}

/* RETRY-26 */
WEFT_TEST(two_contents_of_a_number_are_told_from_two_headers)
{
	for (unsigned int way = 0; way < 3; way++) {
		const unsigned int number = way == 1 ? 2 : 1; /* way 1: held, number 1 is missing */
		struct weft_llr_cfg cfg = attacked_cfg(way == 2 ? RXL_GO_BACK_N : RXL);
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		payload(&r, &f, number, 0, 5);
		rig_take(&r, &r.end[1], &f);
		for (unsigned int bit = 0; bit < 16; bit++) {
			payload(&r, &f, number, 0, 5);
			f.flit[0][bit < 8 ? 1 : 0] ^= (uint8_t)(1u << bit % 8);
			rig_crc(f.flit[0]);
			rig_take(&r, &r.end[1], &f);
			assert_int_equal(way == 2 ? r.end[1].in.bad : r.end[1].in.duplicate, 1);
			assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		}
		payload(&r, &f, number, 0, 6);
		rig_take(&r, &r.end[1], &f);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), WEFT_LLR_DOUBT_CONFLICT);
		assert_int_equal(rig_count(&r, 1, WEFT_LLR_N_CONFLICTS), 1);
		weft_llr_restart(r.end[1].llr, 1, r.now_ns);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		/* Numbers before the first of a session are known to nobody. */
		payload(&r, &f, 1020, 0, 7);
		rig_take(&r, &r.end[1], &f);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		rig_free(&r);
	}
}

/* What a forged Ack freed and the other end asks for is sent (RETRY-13, RETRY-25). */
WEFT_TEST(a_forged_ack_frees_nothing_for_good)
{
	struct weft_llr_cfg cfg = attacked_cfg(RXL);
	struct rig_frame f;
	struct rig r;

	rig_init(&r, &cfg, 1);
	r.end[0].to_send = 40;
	for (unsigned int i = 0; i < 5; i++, r.now_ns += 1000)
		assert_true(rig_send(&r, 0));
	r.end[1].n_frames = 0; /* all are lost */
	forge(&r, &f, WEFT_REPLAY_ACK, 40, 1);
	rig_take(&r, &r.end[0], &f);
	assert_int_equal(weft_llr_unacked(r.end[0].llr), 0);
	assert_true(rig_run(&r, r.now_ns + 1000 * MS));
	assert_int_equal(r.end[1].wrong, 0);
	assert_int_equal(r.end[1].received, 40);
	assert_in_range(rig_count(&r, 0, WEFT_LLR_N_REVOKED), 1, 40);
	assert_int_equal(weft_llr_doubt(r.end[0].llr), 0);
	rig_free(&r);
}

/*
 * The two ends disagree on what was received, and the flit is not there any more: the other end can
 * but ask for it for ever. Late Acks, and forged ones of any number, are no such sign (RETRY-27).
 */
WEFT_TEST(acks_that_never_fit_are_a_sign)
{
	struct weft_llr_cfg cfg = attacked_cfg(RXL);

	for (unsigned int how = 0; how < 3; how++) {
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		r.end[0].to_send = 600;
		for (unsigned int acked = 0; r.end[0].committed < 600; acked += 8, r.now_ns += 1000)
			if (!rig_send(&r, 0)) {
				forge(&r, &f, WEFT_REPLAY_ACK, acked, 1);
				rig_take(&r, &r.end[0], &f);
				r.end[1].n_frames = 0;
			}
		assert_int_not_equal(weft_llr_unacked(r.end[0].llr), 0);
		for (unsigned int i = 0; i < 40; i++, r.now_ns += 10 * MS) {
			const unsigned int any = 900 + (unsigned int)weft_rand_below(&r.rnd, 100);

			forge(&r, &f, WEFT_REPLAY_NAK_SELECTIVE, how == 1 ? any : 3, 1);
			rig_take(&r, &r.end[0], &f);
			if (how == 2 && i % 3 == 0) { /* one that fits, too */
				forge(&r, &f, WEFT_REPLAY_ACK, 600, 1);
				f.flit[0][1] = (uint8_t)(r.end[0].committed - 1);
				f.flit[0][0] = (uint8_t)((f.flit[0][0] & ~3u) |
							 (r.end[0].committed - 1) >> 8);
				rig_take(&r, &r.end[0], &f);
			}
		}
		assert_int_equal(weft_llr_doubt(r.end[0].llr), how == 0 ? WEFT_LLR_DOUBT_ACKS : 0);
		rig_free(&r);
	}
}

/*
 * The same with a window full of what came behind it: the receiver has no room for the newest
 * flits. Naks for those would fit, time and again (RETRY-22, RETRY-27).
 */
WEFT_TEST(naks_that_fit_do_not_hide_what_is_missing_for_good)
{
	const unsigned int before = 100;

	for (unsigned int lost = 1; lost <= RIG_FRAME_FLITS; lost++) {
		struct weft_llr_cfg cfg = attacked_cfg(RXL);
		uint64_t end_ns;
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		r.end[0].to_send = r.end[1].to_send = before;
		assert_true(rig_run(&r, 1000 * MS));
		r.end[0].to_send = lost;
		assert_true(rig_send(&r, 0));
		r.end[1].n_frames = 0;
		forge(&r, &f, WEFT_REPLAY_ACK, before + lost, before + 1);
		rig_take(&r, &r.end[0], &f);
		assert_int_equal(weft_llr_unacked(r.end[0].llr), 0);
		r.end[0].to_send = 2 * cfg.window;
		end_ns = r.now_ns + cfg.timeout_max_ns;
		while (!in_doubt(&r) && r.now_ns < end_ns && rig_step(&r))
			;
		assert_int_equal(weft_llr_doubt(r.end[0].llr), WEFT_LLR_DOUBT_ACKS);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		assert_int_equal(r.end[1].received, before);
		new_session(&r);
		r.end[0].to_send = 200;
		assert_true(rig_run(&r, r.now_ns + 1000 * MS));
		assert_int_equal(r.end[1].wrong, 0);
		rig_free(&r);
	}
}

/* One end of cxl mode's flits, made by hand; ack 0: it shows its number. */
static void
give_cxl(struct rig *r, unsigned int number, unsigned int ack, uint8_t content)
{
	struct rig_frame f;

	forge(r, &f, ack == 0 ? WEFT_REPLAY_EXPLICIT : WEFT_REPLAY_ACK, ack == 0 ? number : ack, 0);
	f.flit[0][0] |= WEFT_FLIT_CACHEMEM << 6;
	f.flit[0][100] = content;
	rig_crc(f.flit[0]);
	r->now_ns += 1000;
	rig_take(r, &r->end[1], &f);
}

/*
 * Recorded 1,023 numbers ago it is valid, and most flits do not show theirs: then the true one
 * comes (RETRY-26).
 */
WEFT_TEST(a_recorded_flit_of_cxl_mode_is_told_by_the_true_one)
{
	struct weft_llr_cfg cfg = attacked_cfg(CXL);

	for (unsigned int shown = 0; shown < 2; shown++) {
		struct rig r;

		cfg.show_first = shown != 0;
		rig_init(&r, &cfg, 1);
		for (unsigned int i = 1; i <= 5; i++)
			give_cxl(&r, i, 0, (uint8_t)i);
		/* The same again, with another header, is no sign. */
		give_cxl(&r, 4, 0, 4);
		give_cxl(&r, 5, 0, 5);
		assert_int_equal(r.end[1].in.duplicate, 1);
		give_cxl(&r, 6, shown == 0 ? 1023 : 0, 200); /* recorded */
		assert_int_equal(r.end[1].in.deliver, 1);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		give_cxl(&r, 6, 0, 6);
		assert_int_equal(r.end[1].in.duplicate, 1);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), WEFT_LLR_DOUBT_CONFLICT);
		assert_int_equal(rig_count(&r, 1, WEFT_LLR_N_CONFLICTS), 1);
		rig_free(&r);
	}
}

/*
 * A handshake shows how far the other end is: not by one flit that anybody may have sent
 * (RETRY-51).
 */
WEFT_TEST(what_was_taken_is_given_up_for_no_single_flit)
{
	struct weft_llr_cfg cfg = attacked_cfg(CXL);

	for (unsigned int twice = 0; twice < 2; twice++) {
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		for (unsigned int i = 1; i <= 5; i++)
			give_cxl(&r, i, 0, (uint8_t)i);
		for (unsigned int i = 0; i <= twice; i++) {
			forge(&r, &f, WEFT_REPLAY_EXPLICIT, 3, 0);
			rig_take(&r, &r.end[1], &f);
		}
		assert_int_equal(
			weft_llr_doubt(r.end[1].llr), twice != 0 ? WEFT_LLR_DOUBT_CONFLICT : 0);
		give_cxl(&r, 6, 0, 6);
		assert_int_equal(r.end[1].in.deliver, twice == 0);
		rig_free(&r);
	}
}

/*
 * By a forged number nobody counts on: a flit that does not show its own is asked for instead
 * (RETRY-49).
 */
WEFT_TEST(a_forged_number_of_cxl_mode_does_not_mislead)
{
	struct weft_llr_cfg cfg = attacked_cfg(CXL);

	cfg.show_first = false;
	for (unsigned int forged = 1; forged < WEFT_ISN_NUMBERS; forged += weft_test_step(7)) {
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		r.end[0].to_send = 20;
		assert_true(rig_run(&r, 1000 * MS));
		forge(&r, &f, WEFT_REPLAY_EXPLICIT, forged, 0);
		rig_take(&r, &r.end[1], &f);
		/* Acks are due at the end that sends, so it shows few numbers. */
		r.end[1].to_send = 40;
		r.end[0].to_send = 40;
		assert_true(rig_run(&r, r.now_ns + 1000 * MS));
		assert_int_equal(r.end[0].wrong + r.end[1].wrong, 0);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		rig_free(&r);
	}
}

/*
 * A bad flit that somebody else put there is taken for a lost one; what is held for it is not
 * believed (RETRY-50).
 */
WEFT_TEST(noise_between_flits_of_cxl_mode_moves_none)
{
	struct weft_llr_cfg cfg = attacked_cfg(CXL);

	cfg.show_first = false;
	for (unsigned int shown = 0; shown < 2; shown++) {
		struct rig_frame f;
		struct rig r;

		rig_init(&r, &cfg, 1);
		for (unsigned int i = 1; i <= 5; i++)
			give_cxl(&r, i, 0, (uint8_t)i);
		forge(&r, &f, 0, 0, 0);
		f.syndrome[0] = 0xBAD;
		rig_take(&r, &r.end[1], &f);
		forge(&r, &f, WEFT_REPLAY_ACK, 1023, 0); /* 6: what was before it used a number */
		f.flit[0][0] |= WEFT_FLIT_CACHEMEM << 6 | 1 << 5;
		f.flit[0][100] = 6;
		rig_crc(f.flit[0]);
		rig_take(&r, &r.end[1], &f);
		assert_int_equal(r.end[1].in.held, 1);
		if (shown != 0) {
			give_cxl(&r, 7, 0, 7);
			assert_int_equal(r.end[1].in.refused, 1);
		}
		give_cxl(&r, 6, 0, 6); /* asked for */
		assert_int_equal(r.end[1].in.deliver, 1);
		assert_int_equal(weft_llr_held_count(r.end[1].llr), 0);
		give_cxl(&r, 7, 0, 7);
		assert_int_equal(r.end[1].in.deliver, 1);
		assert_int_equal(weft_llr_doubt(r.end[1].llr), 0);
		rig_free(&r);
	}
}

/* Naks go out for them once in half a round trip, and one for many flits (RETRY-8). */
WEFT_TEST(forged_numbers_of_cxl_mode_do_not_choose_how_many_naks_go_out)
{
	struct weft_llr_cfg cfg = attacked_cfg(CXL);
	uint64_t before, most;
	struct rig r;

	rig_init(&r, &cfg, 1);
	r.end[0].to_send = 20;
	assert_true(rig_run(&r, 1000 * MS));
	before = r.now_ns;
	for (unsigned int i = 0; i < 100000; i++) {
		/* 21 is in turn. */
		give_cxl(&r, 22 + (unsigned int)weft_rand_below(&r.rnd, 400), 0, (uint8_t)i);
		rig_send(&r, 1);
		r.end[0].n_frames = 0;
	}
	most = (r.now_ns - before) / (weft_rtt_guess(weft_llr_rtt(r.end[1].llr)) / 2);
	assert_in_range(
		rig_count(&r, 1, WEFT_LLR_N_NAKS_SENT), 1, most + 100000u / cfg.nak_repeat + 2);
	rig_free(&r);
}

/* However many numbers are forged: what goes out for it has a bound (RETRY-28). */
WEFT_TEST(a_forged_number_does_not_choose_how_much_is_asked_for)
{
	struct weft_llr_cfg cfg = attacked_cfg(RXL);
	struct rig r;

	rig_init(&r, &cfg, 1);
	for (unsigned int i = 0; i < 100000; i++) {
		struct rig_frame f;

		r.now_ns += 1000;
		payload(&r, &f, 1 + (unsigned int)weft_rand_below(&r.rnd, 500), 0, (uint8_t)i);
		if (rig_syndrome(&r, 1) == f.syndrome[0])
			continue; /* in turn: it would be taken */
		rig_take(&r, &r.end[1], &f);
		rig_send(&r, 1);
		r.end[0].n_frames = 0;
	}
	/* 100 ms: a window at most in each of the time-outs, 10 ms before anything is measured. */
	assert_in_range(rig_count(&r, 1, WEFT_LLR_N_NAKS_SENT), 1, 512 * 11);
	rig_free(&r);
}

/*
 * A gap that one forged NOP made up closes by itself, and what goes out for it until then does not
 * depend on how short the round trip is: some dozens of numbers, a dozen times or two (RETRY-28).
 */
WEFT_TEST(a_gap_that_was_made_up_is_asked_for_less_and_less)
{
	const unsigned int missing = 60, times = 20;

	for (uint64_t min_ns = 1000; min_ns <= 10 * MS; min_ns *= 10) {
		struct weft_llr_cfg cfg = attacked_cfg(RXL);
		struct rig_frame f;
		uint64_t end_ns;
		struct rig r;

		cfg.timeout_min_ns = min_ns;
		rig_init(&r, &cfg, 1);
		r.end[0].to_send = r.end[1].to_send = 100;
		assert_true(rig_run(&r, 1000 * MS));
		for (unsigned int i = 0; i < 2; i++) {
			forge(&r, &f, WEFT_REPLAY_EXPLICIT, 0, 101 + missing);
			rig_take(&r, &r.end[i], &f);
		}
		end_ns = r.now_ns + 1000 * MS;
		while (r.now_ns < end_ns && rig_step(&r))
			;
		for (unsigned int i = 0; i < 2; i++) {
			assert_in_range(
				rig_count(&r, i, WEFT_LLR_N_NAKS_SENT), missing, missing * times);
			assert_int_equal(rig_count(&r, i, WEFT_LLR_N_GIVEN_UP), 1);
			assert_int_equal(rig_count(&r, i, WEFT_LLR_N_LOST), missing);
			assert_int_equal(weft_llr_doubt(r.end[i].llr), 0);
		}
		r.end[0].to_send = r.end[1].to_send = 100;
		assert_true(rig_run(&r, r.now_ns + MS));
		assert_int_equal(r.end[0].wrong + r.end[1].wrong, 0);
		assert_int_equal(rig_count(&r, 0, WEFT_LLR_N_RESENT), 0);
		rig_free(&r);
	}
}
