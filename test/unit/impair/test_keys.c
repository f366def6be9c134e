/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Settings as text: what is taken, and how what is not is refused. */

#include "impair_test.h"

WEFT_TEST(every_key_sets_its_field)
{
	struct weft_impair_cfg c, again;
	char err[160];

	weft_impair_defaults(&c);
	assert_int_equal(weft_impair_parse_list(&c,
				 "seed=0x10,ber=1e-6,bits=4,bits_p=.5,burst=7,burst_p=0.25,"
				 "channel=2e-3,uncorrectable=0.125,drop=1,dup=0,reorder=0.1,"
				 "reorder_us=2.5,replay=0.2,history=1024,delay_us=0.001,"
				 "delay_p=0.3,jitter_us=10000000",
				 err, sizeof(err)),
		0);
	assert_int_equal(c.seed, 16);
	assert_true(c.ber > 0.99e-6 && c.ber < 1.01e-6);
	assert_int_equal(c.bits, 4);
	assert_true(fabs(c.bits_p - 0.5) < 1e-12);
	assert_int_equal(c.burst, 7);
	assert_true(fabs(c.burst_p - 0.25) < 1e-12);
	assert_true(fabs(c.channel - 2e-3) < 1e-12);
	assert_true(fabs(c.uncorrectable - 0.125) < 1e-12);
	assert_true(fabs(c.drop - 1) < 1e-12);
	assert_true(fabs(c.reorder - 0.1) < 1e-12);
	assert_int_equal(c.reorder_ns, 2500);
	assert_true(fabs(c.replay - 0.2) < 1e-12);
	assert_int_equal(c.history, 1024);
	assert_int_equal(c.delay_ns, 1);
	assert_true(fabs(c.delay_p - 0.3) < 1e-12);
	assert_int_equal(c.jitter_ns, WEFT_IMPAIR_DELAY_MAX_NS);
	assert_int_equal(weft_impair_check(&c, err, sizeof(err)), 0);

	/* And what is printed reads as the same. */
	weft_impair_defaults(&again);
	for (unsigned int i = 0; i < weft_impair_n_keys; i++) {
		weft_impair_print(&c, i, err, sizeof(err));
		assert_int_equal(
			weft_impair_parse(&again, weft_impair_keys[i].name, err, NULL, 0), 0);
	}
	assert_memory_equal(&again, &c, sizeof(c));
	assert_int_equal(weft_impair_n_keys, 17);
}

WEFT_TEST(a_number_alone_means_always_unless_a_probability_was_given)
{
	struct weft_impair_cfg c;
	char err[160];

	weft_impair_defaults(&c);
	assert_int_equal(weft_impair_parse_list(&c, "burst=4,bits=2@0.01,delay_us=5", err, 160), 0);
	assert_true(fabs(c.burst_p - 1) < 1e-12);
	assert_int_equal(c.bits, 2);
	assert_true(fabs(c.bits_p - 0.01) < 1e-12);
	assert_true(fabs(c.delay_p - 1) < 1e-12);
	assert_int_equal(
		weft_impair_parse_list(&c, "burst=5@0.5,bits=3,delay_us=0@0", err, 160), 0);
	assert_int_equal(c.burst, 5);
	assert_true(fabs(c.burst_p - 0.5) < 1e-12);
	assert_int_equal(c.bits, 3);
	assert_true(fabs(c.bits_p - 0.01) < 1e-12);
	assert_true(c.delay_p <= 0);
	assert_int_equal(weft_impair_parse(&c, "delay_us", "0", err, 160), 0);
	assert_true(c.delay_p <= 0);
}

#define KEYS                                                                                       \
	", expected seed|ber|bits|bits_p|burst|burst_p|channel|uncorrectable|drop|dup|reorder|"    \
	"reorder_us|replay|history|delay_us|jitter_us|delay_p"

WEFT_TEST(bad_text_is_refused_with_a_line)
{
	static const struct {
		const char *list;
		int rc;
		const char *line;
	} rows[] = {
		{ "bre=1", -ENOENT, "unknown key \"bre\"" KEYS },
		{ "ber=1e-5,drop=0.1,ber=1e-6", -EINVAL, "ber: expected it once, got it again" },
		{ "ber=0.1,", -EINVAL, "expected key=value; got \"\"" },
		{ "ber", -EINVAL, "expected key=value; got \"ber\"" },
		{ "b\nr=1", -ENOENT, "unknown key \"b?r\"" KEYS },
		{ "ber=\n\033[2J", -EINVAL,
			"ber: expected P: of each bit to be wrong; got \"??[2J\"" },
		{ "\n", -EINVAL, "expected key=value; got \"?\"" },
		{ "ber=2", -EINVAL, "ber: expected P: of each bit to be wrong; got \"2\"" },
		{ "ber=", -EINVAL, "ber: expected P: of each bit to be wrong; got \"\"" },
		{ "drop=-0.1", -EINVAL, "drop: expected P: of a frame to be lost; got \"-0.1\"" },
		{ "drop=nan", -EINVAL, "drop: expected P: of a frame to be lost; got \"nan\"" },
		{ "drop= 0.1", -EINVAL, "drop: expected P: of a frame to be lost; got \" 0.1\"" },
		{ "drop=0.1x", -EINVAL, "drop: expected P: of a frame to be lost; got \"0.1x\"" },
		{ "drop=0.1@1", -EINVAL, "drop: expected P: of a frame to be lost; got \"0.1@1\"" },
		{ "seed=-1", -EINVAL, "seed: expected N: of the random numbers; got \"-1\"" },
		{ "seed=010", -EINVAL, "seed: expected N: of the random numbers; got \"010\"" },
		{ "seed=18446744073709551616", -EINVAL,
			"seed: expected N: of the random numbers; got \"18446744073709551616\"" },
		{ "burst=4@", -EINVAL,
			"burst: expected K or K@P: K wrong symbols in a row in a flit, 1..256; "
			"got \"4@\"" },
		{ "burst=4.5", -EINVAL,
			"burst: expected K or K@P: K wrong symbols in a row in a flit, 1..256; "
			"got \"4.5\"" },
		{ "delay_us=10000001", -EINVAL,
			"delay_us: expected T or T@P: a frame comes late by T, up to 10 s; got "
			"\"10000001\"" },
	};
	struct weft_impair_cfg c, before;
	char err[256], list[64];

	weft_impair_defaults(&c);
	before = c;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		snprintf(list, sizeof(list), "dup=0.5,%s", rows[i].list);
		assert_int_equal(weft_impair_parse_list(&c, list, err, sizeof(err)), rows[i].rc);
		assert_string_equal(err, rows[i].line);
		assert_int_equal(weft_impair_parse_list(&c, list, NULL, 0), rows[i].rc);
		/* All or nothing. */
		assert_memory_equal(&c, &before, sizeof(c));
	}
}

/* Every subset of settings, each of them off, always and now and then. */
WEFT_TEST(what_is_written_reads_as_the_same)
{
	static const double p[] = { 0, 1, 0.25 };
	struct weft_rand r;

	weft_test_seed(&r, "written");
	for (int i = 0; i < 20000; i++) {
		struct weft_impair_cfg c, again;
		char text[512], err[160];

		weft_impair_defaults(&c);
		c.seed = weft_rand_u64(&r);
		c.ber = p[weft_rand_below(&r, 3)];
		c.bits_p = p[weft_rand_below(&r, 3)];
		c.bits = (unsigned int)(weft_rand_below(&r, 65));
		c.burst_p = p[weft_rand_below(&r, 3)];
		c.burst = (unsigned int)(weft_rand_below(&r, 257));
		c.drop = p[weft_rand_below(&r, 3)];
		c.reorder_ns = weft_rand_below(&r, 100000);
		c.delay_p = p[weft_rand_below(&r, 3)];
		c.delay_ns = weft_rand_below(&r, 3) * 1500;
		c.jitter_ns = weft_rand_below(&r, 3) * 2500;
		weft_impair_write(&c, text, sizeof(text));
		weft_impair_defaults(&again);
		if (weft_impair_parse_list(&again, text, err, sizeof(err)) != 0)
			fail_msg("%s: %s", text, err);
		assert_memory_equal(&again, &c, sizeof(c));
	}
}

WEFT_TEST(ranges_are_checked)
{
	static const struct {
		struct weft_impair_cfg cfg;
		const char *line;
	} rows[] = {
		{ { .ber = -0.1 }, "ber must be 0 to 1" },
		{ { .ber = NAN }, "ber must be 0 to 1" },
		{ { .bits_p = 0.1 }, "bits must be 1 to 64" },
		{ { .bits = 65 }, "bits must be 1 to 64" },
		{ { .burst_p = 1.01 }, "burst_p must be 0 to 1" },
		{ { .burst_p = 1 }, "burst must be 1 to 256" },
		{ { .burst = 257 }, "burst must be 1 to 256" },
		{ { .channel = 2 }, "channel must be 0 to 1" },
		{ { .uncorrectable = INFINITY }, "uncorrectable must be 0 to 1" },
		{ { .reorder = 0.1 }, "reorder_us must be more than 0 and at most 10000000" },
		{ { .replay = 0.1 }, "history must be 1 to 1024" },
		{ { .history = 1025 }, "history must be 1 to 1024" },
		{ { .delay_ns = WEFT_IMPAIR_DELAY_MAX_NS + 1 },
			"delay_us must be at most 10000000" },
		{ { .jitter_ns = UINT64_MAX }, "jitter_us must be at most 10000000" },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct weft_impair w;
		char err[160];

		assert_int_equal(weft_impair_check(&rows[i].cfg, err, sizeof(err)), -EINVAL);
		assert_string_equal(err, rows[i].line);
		assert_int_equal(weft_impair_init(&w, &rows[i].cfg), -EINVAL);
	}
}

WEFT_TEST(every_counter_has_a_row)
{
	const struct weft_counter *rows = weft_impair_counters;

	for (int i = 0; i < WEFT_IMPAIR_N_COUNTERS; i++) {
		assert_non_null(rows[i].name);
		assert_non_null(rows[i].unit);
		assert_non_null(rows[i].help);
		assert_int_equal(weft_counter_find(rows, WEFT_IMPAIR_N_COUNTERS, rows[i].name), i);
	}
}
