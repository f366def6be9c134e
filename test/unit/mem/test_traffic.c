/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the checking source does when all is well. That it notices what is not:
 * test_traffic_found.c.
 */

#include "traffic_rig.h"

WEFT_TEST_EACH(NULL, teardown)

WEFT_TEST(config_out_of_range_is_refused)
{
	struct weft_traffic_target t = target;
	struct weft_traffic_cfg good = cfg_of(1, 50), c;
	static _Alignas(64) uint8_t mem[64];

	good.targets = &t;
	good.first_line = ROOM - LINES;
	assert_true(weft_traffic_size(&good) > 0);
	assert_null(weft_traffic_init(mem + 8, &good, NULL));
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		c = good;                                                                          \
		t = target;                                                                        \
		change;                                                                            \
		assert_int_equal(weft_traffic_size(&c), 0);                                        \
		assert_null(weft_traffic_init(mem, &c, NULL));                                     \
	} while (0)
	REFUSED(c.n_targets = 0);
	REFUSED(c.n_targets = 4097);
	REFUSED(c.run = WEFT_LINE_RUN_MAX + 1);
	REFUSED(c.unit_lines = 0);
	REFUSED(c.unit_lines = 3);
	REFUSED(c.unit_lines = 8);
	REFUSED(c.request_lines = 0);
	REFUSED(c.request_lines = 2);
	REFUSED(c.unit_lines = 4; c.lines = LINES - 1);
	REFUSED(c.unit_lines = 4; c.first_line -= 2);
	REFUSED(c.lines = 0);
	REFUSED(c.lines = (1u << 24) + 1);
	REFUSED(c.lines = LINES + 1);
	REFUSED(c.outstanding = 0);
	REFUSED(c.rate = WEFT_PACE_RATE_MAX + 1);
	REFUSED(c.write_percent = 101);
	REFUSED(c.first_line++);
	REFUSED(c.first_line = UINT64_MAX);
	REFUSED(t.dpid = 0xFFF);
	REFUSED(t.hpa_base += 32);
	REFUSED(t.hpa_base = (UINT64_C(1) << 52) - 64);
	REFUSED(t.len_bytes--);
#undef REFUSED
}

WEFT_TEST(good_memory_is_verified_throughout)
{
	const struct weft_traffic_cfg cfg = cfg_of(1000, 50);

	rig_new(&cfg);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_SWEPT), LINES);
	assert_int_equal(count(WEFT_TRAFFIC_N_READS) + count(WEFT_TRAFFIC_N_WRITES), 1000 + LINES);
	assert_true(count(WEFT_TRAFFIC_N_WRITES) > 400 && count(WEFT_TRAFFIC_N_WRITES) < 600);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), count(WEFT_TRAFFIC_N_READS));
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
	assert_null(weft_traffic_first_mismatch(rig.traffic));
}

WEFT_TEST(reads_alone_find_zeros_and_leave_nothing_to_sweep)
{
	const struct weft_traffic_cfg cfg = cfg_of(100, 0);

	rig_new(&cfg);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_READS), 100);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 100);
	assert_int_equal(count(WEFT_TRAFFIC_N_SWEPT), 0);
}

WEFT_TEST(writes_alone_are_read_in_the_sweep)
{
	const struct weft_traffic_cfg cfg = cfg_of(100, 100);

	rig_new(&cfg);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_WRITES), 100);
	assert_int_equal(count(WEFT_TRAFFIC_N_READS), LINES);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), LINES);
}

WEFT_TEST(no_requests_end_at_once)
{
	const struct weft_traffic_cfg cfg = cfg_of(0, 50);

	rig_new(&cfg);
	assert_int_equal(step(), -ESHUTDOWN);
	assert_true(weft_traffic_done(rig.traffic));
}

WEFT_TEST(stop_goes_on_to_the_sweep)
{
	const struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 100);

	rig_new(&cfg);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(step(), 0);
	stop_and_sweep();
	assert_int_equal(count(WEFT_TRAFFIC_N_WRITES), 50);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), LINES);
}

WEFT_TEST(open_requests_keep_to_the_limit_and_to_one_a_line)
{
	static const uint32_t limits[] = { 1, LINES - 1, LINES, LINES + 1 };

	for (size_t k = 0; k < WEFT_ARRAY_SIZE(limits); k++) {
		struct weft_traffic_cfg cfg = cfg_of(1000, 50);
		const unsigned int most = limits[k] < LINES ? limits[k] : LINES;
		struct weft_msg m[LINES], one, reply;

		cfg.outstanding = limits[k];
		rig_new(&cfg);
		for (unsigned int i = 0; i < most; i++) {
			assert_int_equal(next_message(0, &m[i]), 0);
			for (unsigned int j = 0; j < i; j++)
				assert_true(m[i].addr != m[j].addr);
		}
		assert_int_equal(next_message(0, &one), -EAGAIN);
		assert_int_equal(weft_gfd_request(&rig.gfd, &m[0], &reply), WEFT_OK);
		answer(&reply);
		assert_int_equal(next_message(0, &one), 0);
		if (most == LINES) /* the line just freed is the only one idle */
			assert_true(one.addr == m[0].addr);
	}
}

/* All that may begin now, answered at once. @return how many; when each began is put into @p at. */
static unsigned int
begin_all(uint64_t *at, unsigned int room)
{
	struct weft_msg m, reply;
	unsigned int n = 0;

	while (next_message(rig.now, &m) == 0) {
		assert_true(n < room);
		at[n++] = rig.now;
		assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
		answer(&reply);
	}
	return n;
}

WEFT_TEST(no_interval_has_more_requests_than_the_rate)
{
	static uint64_t at[4096];
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int k = 0; k < 200; k++) {
		struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 50);
		unsigned int n = 0;
		uint64_t gap;

		cfg.rate = 1u << weft_rand_below(&r, 30);
		cfg.rate +=
			(uint32_t)weft_rand_below(&r, WEFT_PACE_RATE_MAX + 1 - cfg.rate) % cfg.rate;
		cfg.outstanding = 1 + (uint32_t)weft_rand_below(&r, 64);
		gap = 1000000000u / cfg.rate;
		rig_new(&cfg);
		rig.now = weft_rand_below(&r, 2) * 1000000000000;
		while (n < 500) {
			/* Now and then it is away for longer than what it may make up for. */
			const uint64_t most =
				weft_rand_below(&r, 10) == 0 ? gap * 2 * cfg.outstanding : gap / 2;

			n += begin_all(at + n, 4096 - n);
			rig.now += 1 + weft_rand_below(&r, most + 1);
		}
		for (unsigned int i = 0; i < n; i++)
			for (unsigned int j = i; j < n; j++)
				assert_true(
					j - i + 1 <=
					cfg.outstanding + (at[j] - at[i]) * cfg.rate / 1000000000);
	}
}

WEFT_TEST(the_rate_is_reached_and_a_wait_made_up_for)
{
	struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 50);
	uint64_t at[128];
	unsigned int n = 0;

	cfg.rate = 1000000;
	cfg.outstanding = 8;
	rig_new(&cfg);
	rig.now = 1000000000;
	assert_int_equal(begin_all(at, 128), 8);
	assert_int_equal(begin_all(at, 128), 0);
	for (unsigned int i = 0; i < 10; i++) {
		rig.now += 7000; /* 7 gaps */
		n += begin_all(at, 128);
	}
	assert_int_equal(n, 70);
	rig.now += 1000000;
	assert_int_equal(begin_all(at, 128), 8);
}

/* Not a second later. */
WEFT_TEST(the_end_of_a_run_waits_for_no_rate)
{
	struct weft_traffic_cfg cfg = cfg_of(1, 0);

	cfg.rate = 1;
	rig_new(&cfg);
	assert_int_equal(step(), 0);
	assert_int_equal(step(), -ESHUTDOWN);
}

WEFT_TEST(sweep_waits_for_the_last_answer)
{
	struct weft_traffic_cfg cfg = cfg_of(2, 100);
	struct weft_msg m[2], one, reply;

	cfg.outstanding = 8;
	rig_new(&cfg);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(next_message(0, &m[i]), 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(next_message(0, &one), -EAGAIN);
		assert_int_equal(weft_gfd_request(&rig.gfd, &m[i], &reply), WEFT_OK);
		answer(&reply);
	}
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 2);
}

WEFT_TEST(without_credit_nothing_is_begun_or_counted)
{
	const struct weft_traffic_cfg cfg = cfg_of(10, 50);
	struct weft_msg m;

	rig_new(&cfg);
	assert_int_equal(weft_requester_grant(rig.host, PID, 0, 0), 0);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(next_message(0, &m), -EAGAIN);
	assert_int_equal(count(WEFT_TRAFFIC_N_READS) + count(WEFT_TRAFFIC_N_WRITES), 0);
	assert_int_equal(weft_requester_grant(rig.host, PID, 1, 1), 0);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
}

WEFT_TEST(hosts_stay_on_their_own_lines)
{
	for (uint32_t host = 0; host < ROOM / LINES; host++) {
		struct weft_traffic_cfg cfg = cfg_of(200, 100);
		uint8_t zero[64] = { 0 };

		cfg.writer = host;
		cfg.first_line = host * LINES;
		rig_new(&cfg);
		run_to_end();
		for (unsigned int i = 0; i < ROOM; i++)
			assert_int_equal(
				memcmp(rig.mem + i * 64, zero, 64) != 0, i / LINES == host);
	}
}

WEFT_TEST(same_seed_same_requests)
{
	struct weft_traffic_cfg cfg = cfg_of(100, 50);
	uint8_t first[sizeof(rig.mem)];
	uint64_t writes;

	rig_new(&cfg);
	run_to_end();
	memcpy(first, rig.mem, sizeof(first));
	writes = count(WEFT_TRAFFIC_N_WRITES);
	rig_new(&cfg);
	run_to_end();
	assert_memory_equal(first, rig.mem, sizeof(first));
	assert_int_equal(writes, count(WEFT_TRAFFIC_N_WRITES));
	cfg.seed++;
	rig_new(&cfg);
	run_to_end();
	assert_memory_not_equal(first, rig.mem, sizeof(first));
}

WEFT_TEST(every_counter_has_a_name_of_its_own)
{
	const struct weft_counter *rows = weft_traffic_counters;

	for (int i = 0; i < WEFT_TRAFFIC_N_COUNTERS; i++) {
		assert_true(rows[i].unit[0] != '\0' && rows[i].help[0] != '\0');
		assert_int_equal(weft_counter_find(rows, WEFT_TRAFFIC_N_COUNTERS, rows[i].name), i);
	}
}
