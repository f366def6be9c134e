/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The fate of frames: rates, times, history. */

#include "impair_test.h"

#define FRAMES 1000000

static uint64_t seed;

WEFT_TEST(clean_wire_passes_everything)
{
	struct weft_impair_cfg cfg;
	struct weft_impair_fate fate;
	struct weft_impair w;

	weft_impair_defaults(&cfg);
	test_wire(&w, &cfg);
	for (int i = 0; i < 1000; i++) {
		weft_impair_frame(&w, &fate);
		assert_false(fate.drop);
		assert_int_equal(fate.copies, 1);
		assert_int_equal(fate.delay_ns[0], 0);
		assert_int_equal(fate.replay_back, 0);
	}
	assert_int_equal(w.count[WEFT_IMPAIR_N_FRAMES], 1000);
}

WEFT_TEST(frames_meet_their_fates_at_the_rates_asked_for)
{
	const struct weft_impair_cfg cfg = { .seed = seed,
		.drop = 0.1,
		.dup = 0.05,
		.reorder = 0.02,
		.reorder_ns = 1000000,
		.replay = 0.01,
		.history = 10,
		.delay_p = 0.2,
		.delay_ns = 5000,
		.jitter_ns = 3000 };
	uint64_t dropped = 0, duplicated = 0, reordered = 0, delayed = 0, replayed = 0;
	uint64_t back[11] = { 0 };
	struct weft_impair w;

	test_wire(&w, &cfg);
	for (unsigned int i = 0; i < FRAMES; i++) {
		struct weft_impair_fate f;

		weft_impair_frame(&w, &f);
		assert_int_equal(f.copies, f.drop ? 0 : 1 + (f.copies == 2));
		dropped += f.drop;
		duplicated += f.copies == 2;
		reordered += f.delay_ns[0] >= cfg.reorder_ns;
		delayed += f.delay_ns[0] % cfg.reorder_ns != 0;
		replayed += f.replay_back != 0;
		assert_in_range(f.replay_back, 0, 10);
		back[f.replay_back]++;
		for (unsigned int c = 0; c < f.copies; c++) {
			const uint64_t late = f.delay_ns[c] % cfg.reorder_ns;

			assert_true(late == 0 || (late >= 5000 && late <= 8000));
		}
	}
	test_rate("dropped", dropped, FRAMES, 0.1);
	test_rate("duplicated", duplicated, FRAMES, 0.05 * 0.9);
	test_rate("reordered", reordered, FRAMES, 0.02 * 0.9);
	test_rate("delayed", delayed, FRAMES, 0.2 * 0.9);
	test_rate("replayed", replayed, FRAMES, 0.01);
	for (unsigned int b = 1; b <= 10; b++)
		test_rate("replayed from so far back", back[b], replayed, 0.1);
	assert_int_equal(w.count[WEFT_IMPAIR_N_FRAMES], FRAMES);
	assert_int_equal(w.count[WEFT_IMPAIR_N_DROPPED], dropped);
	assert_int_equal(w.count[WEFT_IMPAIR_N_DUPLICATED], duplicated);
	assert_int_equal(w.count[WEFT_IMPAIR_N_REORDERED], reordered);
	assert_int_equal(w.count[WEFT_IMPAIR_N_DELAYED], delayed);
	assert_int_equal(w.count[WEFT_IMPAIR_N_REPLAYED], replayed);
}

WEFT_TEST(replay_reaches_back_to_frames_that_were_sent)
{
	const struct weft_impair_cfg cfg = {
		.seed = seed, .replay = 1, .history = 1024, .drop = 0.5
	};
	struct weft_impair_fate f;
	struct weft_impair w;
	unsigned int sent = 0, furthest = 0;

	test_wire(&w, &cfg);
	for (unsigned int i = 0; i < 100000; i++) {
		weft_impair_frame(&w, &f);
		assert_true(f.replay_back <= (sent < 1024 ? sent : 1024));
		assert_true((f.replay_back == 0) == (sent == 0));
		furthest = f.replay_back > furthest ? f.replay_back : furthest;
		sent += !f.drop;
	}
	assert_int_equal(furthest, 1024);
}

WEFT_TEST(one_injector_does_not_move_another)
{
	struct weft_impair_cfg few = { .seed = seed, .drop = 0.1 }, many = few;
	struct weft_impair w, v;

	many.dup = 0.3;
	many.delay_p = 0.5;
	many.jitter_ns = 1000;
	many.ber = 1e-3;
	test_wire(&w, &few);
	test_wire(&v, &many);
	test_same_drops(&w, &v, 10000);
}

int
main(void)
{
	struct weft_rand r;

	weft_test_seed(&r, "frames");
	seed = weft_rand_u64(&r);
	return weft_test_run();
}
