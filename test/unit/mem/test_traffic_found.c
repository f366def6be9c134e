/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The checking source notices what is wrong, and takes nothing else for wrong. */

#include "traffic_rig.h"

WEFT_TEST_EACH(NULL, teardown)

/* Every line written at least twice, and what memory held before the last write of each. */
static void
rig_written(uint8_t old[LINES][64])
{
	const struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 100);
	uint8_t before[LINES][64];

	rig_new(&cfg);
	for (unsigned int n = 0; n < 100; n++) {
		memcpy(before, line(0), sizeof(before));
		assert_int_equal(step(), 0);
		for (unsigned int i = 0; i < LINES; i++) {
			if (memcmp(before[i], line(i), 64) != 0)
				memcpy(old[i], before[i], 64);
		}
	}
}

static void
expect_found(unsigned int mismatches, enum weft_traffic_counter why, unsigned int first)
{
	const struct weft_traffic_mismatch *m;

	stop_and_sweep();
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), mismatches);
	assert_int_equal(count(why), mismatches);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), LINES - mismatches);
	m = weft_traffic_first_mismatch(rig.traffic);
	assert_non_null(m);
	assert_int_equal(m->why, why);
	assert_int_equal(m->dpid, PID);
	assert_int_equal(m->hpa, BASE + (HOST_INDEX * LINES + first) * 64);
	assert_int_equal(m->version_min, m->version_max);
	assert_true(m->version_max > 1);
}

static enum weft_expect
place_closed(void *arg, uint64_t hpa, uint16_t *dpid)
{
	assert_true(hpa >= BASE + HOST_INDEX * LINES * 64 && hpa < BASE + ROOM * 64);
	*dpid = PID + 1;
	return *(const enum weft_expect *)arg;
}

/* Lines that are closed: whoever answers with anything but what is due is found out. */
WEFT_TEST(closed_lines_hold_ones_of_the_right_kind)
{
	static const struct {
		uint8_t op, poison, fill,
			flip; /* MemData or NXM; bytes, and a change of the last */
		bool right[3]; /* by enum weft_expect */
	} given[] = {
		{ WEFT_S2M_DRS_MEMDATA, 0, 0xFF, 0, { false, true, false } },
		{ WEFT_S2M_DRS_MEMDATA_NXM, 0, 0xFF, 0, { false, false, true } },
		{ WEFT_S2M_DRS_MEMDATA, 1, 0xFF, 0, { false, false, false } },
		{ WEFT_S2M_DRS_MEMDATA, 0, 0xFF, 0x80, { false, false, false } },
		{ WEFT_S2M_DRS_MEMDATA_NXM, 0, 0xFF, 1, { false, false, false } },
		{ WEFT_S2M_DRS_MEMDATA, 0, 0, 0, { true, false, false } },
	};

	for (enum weft_expect due = 0; due <= WEFT_EXPECT_NXM; due++) {
		for (size_t g = 0; g < WEFT_ARRAY_SIZE(given); g++) {
			struct weft_traffic_cfg cfg = cfg_of(1, 0);
			const bool right = given[g].right[due];
			struct weft_msg m, reply = { .kind = WEFT_MSG_S2M_DRS };

			cfg.expect = place_closed;
			cfg.expect_arg = &due;
			rig_new(&cfg);
			assert_int_equal(next_message(0, &m), -EAGAIN);
			assert_int_equal(weft_requester_grant(rig.host, PID + 1, 1, 1), 0);
			assert_int_equal(next_message(0, &m), 0);
			assert_int_equal(m.dpid, PID + 1);
			reply.op = given[g].op;
			reply.poison = given[g].poison;
			reply.dpid = m.spid;
			reply.tag = m.tag;
			memset(reply.data, given[g].fill, sizeof(reply.data));
			reply.data[63] ^= given[g].flip;
			answer(&reply);
			assert_int_equal(count(WEFT_TRAFFIC_N_REFUSED), right && due != 0);
			assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), right && due == 0);
			assert_int_equal(count(WEFT_TRAFFIC_N_NOT_REFUSED), !right && due != 0);
			if (!right && due != 0)
				assert_int_equal(weft_traffic_first_mismatch(rig.traffic)->why,
					WEFT_TRAFFIC_N_NOT_REFUSED);
		}
	}
}

/* 50 writes, to lines that another GFD has and that are as @due says. */
static void
write_closed(enum weft_expect *due)
{
	struct weft_traffic_cfg cfg = cfg_of(50, 100);

	cfg.expect = place_closed;
	cfg.expect_arg = due;
	rig_new(&cfg);
	rig.gfd.pid = PID + 1;
	assert_int_equal(weft_requester_grant(rig.host, PID + 1, 1, 1), 0);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(step(), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_REFUSED), 50);
}

/* Their writes are done and forgotten: the sweep finds ones there, and no version. */
WEFT_TEST(writes_to_closed_lines_are_swept_as_closed)
{
	enum weft_expect due = WEFT_EXPECT_ONES;

	write_closed(&due);
	/* This GFD did what it was told, which the sweep must find. */
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_SWEPT), LINES);
	assert_int_equal(count(WEFT_TRAFFIC_N_NOT_REFUSED), LINES);
}

static bool writes_all; /* the GFD does writes that it should not */

/* One request, answered by tables that say @as of every line. @return whether it was a write */
static bool
step_as(enum weft_expect as)
{
	struct weft_msg m, reply = { .kind = WEFT_MSG_S2M_DRS };

	assert_int_equal(next_message(++rig.now, &m), 0);
	if (as == WEFT_EXPECT_DATA || (writes_all && m.kind == WEFT_MSG_M2S_RWD)) {
		assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	} else if (m.kind == WEFT_MSG_M2S_RWD) {
		reply = (struct weft_msg){ .kind = WEFT_MSG_S2M_NDR, .op = WEFT_S2M_NDR_CMP };
	} else {
		reply.op = as == WEFT_EXPECT_NXM ? WEFT_S2M_DRS_MEMDATA_NXM : WEFT_S2M_DRS_MEMDATA;
		memset(reply.data, 0xFF, sizeof(reply.data));
	}
	reply.dpid = m.spid;
	reply.tag = m.tag;
	answer(&reply);
	return m.kind == WEFT_MSG_M2S_RWD;
}

static bool wipes; /* changes say that memory was wiped */

static int
change_to(enum weft_expect before, enum weft_expect after)
{
	struct weft_traffic_unit_change lines[LINES];
	const struct weft_traffic_change c = { &target, lines };

	assert_int_equal(weft_traffic_units(rig.traffic), LINES);
	for (unsigned int i = 0; i < LINES; i++)
		lines[i] = (struct weft_traffic_unit_change){ .before = (uint8_t)before,
			.after = (uint8_t)after,
			.dpid = PID,
			.is_wiped = wipes };
	return weft_traffic_change(rig.traffic, &c);
}

/* Rights come and go at random, and the tables follow at some time behind each change. */
WEFT_TEST(answers_follow_changes_of_rights)
{
	const struct weft_traffic_cfg cfg = cfg_of(200000, 50);
	struct weft_rand r;
	enum weft_expect now = WEFT_EXPECT_DATA;
	unsigned int late = 0;

	weft_test_seed(&r, "answers_follow_changes_of_rights");
	rig_new(&cfg);
	for (unsigned int i = 0; i < 2000; i++) {
		const enum weft_expect next = (enum weft_expect)weft_rand_below(&r, 3);
		uint64_t n;

		assert_int_equal(change_to(now, next), 0);
		for (n = weft_rand_below(&r, 4) * weft_rand_below(&r, 8); n != 0; n--)
			late += !step_as(now) && now != next;
		for (n = weft_rand_below(&r, 4) * weft_rand_below(&r, 8); n != 0; n--)
			step_as(next);
		now = next;
	}
	assert_int_equal(change_to(now, WEFT_EXPECT_DATA), 0);
	stop_and_sweep();
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES) + count(WEFT_TRAFFIC_N_FAILED), 0);
	assert_true(late > 1000 && count(WEFT_TRAFFIC_N_BEFORE) >= late);
}

/* Once a line was answered in the new way, the old one is a mistake. */
WEFT_TEST(rights_do_not_come_back_by_themselves)
{
	const struct weft_traffic_cfg cfg = cfg_of(1000, 0);

	for (enum weft_expect was = 0; was <= WEFT_EXPECT_NXM; was++) {
		const enum weft_expect is =
			was == WEFT_EXPECT_DATA ? WEFT_EXPECT_ONES : WEFT_EXPECT_DATA;

		rig_new(&cfg);
		assert_int_equal(change_to(WEFT_EXPECT_DATA, was), 0);
		for (unsigned int i = 0; i < 100; i++)
			step_as(was);
		assert_int_equal(change_to(was, is), 0);
		for (unsigned int i = 0; i < 100; i++)
			step_as(is);
		assert_int_equal(
			count(WEFT_TRAFFIC_N_MISMATCHES) + count(WEFT_TRAFFIC_N_FAILED), 0);
		step_as(was);
		assert_int_equal(
			count(WEFT_TRAFFIC_N_MISMATCHES) + count(WEFT_TRAFFIC_N_FAILED), 1);
	}
}

/* Memory that was taken and is given again holds zeros: right if that is said, else stale. */
WEFT_TEST(memory_that_comes_back_may_have_been_wiped)
{
	const struct weft_traffic_cfg cfg = cfg_of(400, 50);

	for (unsigned int i = 0; i < 2; i++) {
		rig_new(&cfg);
		for (unsigned int k = 0; k < 200; k++)
			step_as(WEFT_EXPECT_DATA);
		assert_int_equal(change_to(WEFT_EXPECT_DATA, WEFT_EXPECT_ONES), 0);
		/* The tables follow a little later. */
		for (unsigned int k = 0; k < 20; k++)
			step_as(WEFT_EXPECT_DATA);
		for (unsigned int k = 0; k < 20; k++)
			step_as(WEFT_EXPECT_ONES);
		memset(rig.mem, 0, sizeof(rig.mem));
		wipes = i == 0;
		assert_int_equal(change_to(WEFT_EXPECT_ONES, WEFT_EXPECT_DATA), 0);
		wipes = false;
		run_to_end();
		assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES) != 0, i != 0);
	}
}

/* A write that was done without a right is found when the line may be read again. */
WEFT_TEST(writes_without_rights_are_found_later)
{
	const struct weft_traffic_cfg cfg = cfg_of(1000, 50);

	rig_new(&cfg);
	assert_int_equal(change_to(WEFT_EXPECT_DATA, WEFT_EXPECT_ONES), 0);
	for (unsigned int i = 0; i < 200; i++)
		step_as(WEFT_EXPECT_ONES);
	while (!step_as(WEFT_EXPECT_ONES))
		;
	assert_int_equal(change_to(WEFT_EXPECT_ONES, WEFT_EXPECT_DATA), 0);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);

	rig_new(&cfg);
	assert_int_equal(change_to(WEFT_EXPECT_DATA, WEFT_EXPECT_ONES), 0);
	for (unsigned int i = 0; i < 400; i++) {
		writes_all = i >= 200;
		step_as(WEFT_EXPECT_ONES);
	}
	writes_all = false;
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
	assert_int_equal(change_to(WEFT_EXPECT_ONES, WEFT_EXPECT_DATA), 0);
	stop_and_sweep();
	assert_int_equal(count(WEFT_TRAFFIC_N_STALE), LINES);
}

WEFT_TEST(change_waits_for_open_requests)
{
	const struct weft_traffic_cfg cfg = cfg_of(10, 0);
	struct weft_msg m, reply;

	rig_new(&cfg);
	assert_int_equal(next_message(++rig.now, &m), 0);
	assert_int_equal(change_to(WEFT_EXPECT_DATA, WEFT_EXPECT_ONES), -EBUSY);
	assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	answer(&reply);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 1);
	assert_int_equal(change_to(WEFT_EXPECT_DATA, WEFT_EXPECT_ONES), 0);
}

/* What may only be read stays zero: a write that was done all the same is found. */
WEFT_TEST(writes_to_read_only_lines_are_found)
{
	enum weft_expect due = WEFT_EXPECT_READ_ONLY;

	for (unsigned int obeys = 0; obeys < 2; obeys++) {
		write_closed(&due);
		for (unsigned int i = 0; i < LINES && !obeys; i++)
			memset(line(i), 0, 64);
		run_to_end();
		assert_int_equal(count(WEFT_TRAFFIC_N_SWEPT), LINES);
		assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), obeys ? 0 : LINES);
		assert_int_equal(count(WEFT_TRAFFIC_N_STALE), obeys ? LINES : 0);
	}
}

WEFT_TEST(every_flipped_bit_is_found)
{
	uint8_t old[LINES][64];

	for (unsigned int bit = 0; bit < 512; bit++) {
		rig_written(old);
		line(1)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		expect_found(1, WEFT_TRAFFIC_N_DAMAGED, 1);
	}
}

WEFT_TEST(swapped_lines_are_found)
{
	uint8_t old[LINES][64], keep[64];

	rig_written(old);
	memcpy(keep, line(1), 64);
	memcpy(line(1), line(3), 64);
	memcpy(line(3), keep, 64);
	expect_found(2, WEFT_TRAFFIC_N_MISPLACED, 1);
}

WEFT_TEST(line_of_another_writer_is_found)
{
	struct weft_traffic_cfg cfg = cfg_of(100, 100);
	uint8_t old[LINES][64], other[64];

	/* A whole line for the very address of line 0, by host 0: its range moved onto ours. */
	cfg.lines = 1 + HOST_INDEX * LINES;
	cfg.writer = 0;
	cfg.first_line = 0;
	rig_new(&cfg);
	run_to_end();
	memcpy(other, line(0), 64);
	assert_int_not_equal(other[8], 0); /* version: it was written */
	rig_written(old);
	memcpy(line(0), other, 64);
	expect_found(1, WEFT_TRAFFIC_N_MISPLACED, 0);
}

WEFT_TEST(old_version_is_found)
{
	uint8_t old[LINES][64];

	rig_written(old);
	memcpy(line(2), old[2], 64);
	expect_found(1, WEFT_TRAFFIC_N_STALE, 2);
}

WEFT_TEST(line_gone_to_zero_is_found)
{
	uint8_t old[LINES][64];

	rig_written(old);
	memset(line(0), 0, 64);
	expect_found(1, WEFT_TRAFFIC_N_STALE, 0);
}

WEFT_TEST(torn_line_is_found_wherever_it_tore)
{
	uint8_t old[LINES][64];

	for (unsigned int at = 16; at < 64; at += 8) {
		rig_written(old);
		memcpy(line(2), old[2], at);
		expect_found(1, WEFT_TRAFFIC_N_DAMAGED, 2);
	}
}

WEFT_TEST(data_of_a_run_with_another_seed_is_found)
{
	struct weft_traffic_cfg cfg = cfg_of(100, 100);
	uint8_t old[LINES][64], other[64];

	cfg.seed++;
	rig_new(&cfg);
	run_to_end();
	memcpy(other, line(0), 64);
	rig_written(old);
	memcpy(line(0), other, 64);
	expect_found(1, WEFT_TRAFFIC_N_DAMAGED, 0);
}

WEFT_TEST(memory_that_was_not_zero_is_found)
{
	const struct weft_traffic_cfg cfg = cfg_of(20, 0);

	rig_new(&cfg);
	memset(rig.mem, 1, sizeof(rig.mem));
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_DAMAGED), 20);
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 20);
}

/* One line, so that the write lost and the reads after it are of the same line. */
static void
rig_with_lost_write(unsigned int writes_before, bool executed)
{
	struct weft_traffic_cfg cfg = cfg_of(writes_before + 1, 100);

	rig_new_of_a_line(&cfg);
	for (unsigned int i = 0; i < writes_before; i++)
		assert_int_equal(step(), 0);
	lose(executed);
	assert_int_equal(count(WEFT_TRAFFIC_N_LOST), 1);
	assert_int_equal(count(WEFT_TRAFFIC_N_UNCERTAIN), 1);
}

WEFT_TEST(after_a_lost_write_either_version_is_good)
{
	for (unsigned int before = 0; before < 3; before++) {
		for (unsigned int executed = 0; executed < 2; executed++) {
			rig_with_lost_write(before, executed != 0);
			run_to_end();
			assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 1);
			assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
		}
	}
}

WEFT_TEST(after_a_lost_write_an_older_version_is_still_stale)
{
	const struct weft_traffic_mismatch *m;

	rig_with_lost_write(2, true);
	memset(line(0), 0, 64); /* version 0, where 2 or 3 may stand */
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_STALE), 1);
	m = weft_traffic_first_mismatch(rig.traffic);
	assert_int_equal(m->version, 0);
	assert_int_equal(m->version_min, 2);
	assert_int_equal(m->version_max, 3);
}

WEFT_TEST(write_that_is_answered_settles_the_version)
{
	struct weft_traffic_cfg cfg = cfg_of(3, 100);
	uint8_t old[64];

	rig_new_of_a_line(&cfg);
	assert_int_equal(step(), 0);
	lose(true);
	memcpy(old, line(0), sizeof(old));
	assert_int_equal(step(), 0);
	memcpy(line(0), old, sizeof(old)); /* would have been good before the last write */
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_STALE), 1);
}

/* Only writes are asked for, so a read shows that the line rests. */
WEFT_TEST(line_of_a_lost_write_is_only_read_until_its_rest_is_over)
{
	struct weft_traffic_cfg cfg = cfg_of(4, 100);
	uint64_t lost_at;

	cfg.lines = 1;
	cfg.first_line = HOST_INDEX * LINES;
	cfg.write_quarantine_ns = 50;
	rig_new(&cfg);
	lose(true);
	lost_at = rig.now;
	assert_int_equal(step(), 0);
	rig.now = lost_at + 48; /* step() lets 1 pass */
	assert_int_equal(step(), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_WRITES), 1);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 2);
	assert_int_equal(rig.now, lost_at + 49);
	assert_int_equal(step(), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_WRITES), 2);
}

/* What a write would leave that was put off for want of credit, and yet went out. */
WEFT_TEST(version_from_the_future_is_stale_too)
{
	struct weft_traffic_cfg cfg = cfg_of(3, 100);
	uint8_t future[64];

	rig_new_of_a_line(&cfg);
	run_to_end();
	memcpy(future, line(0), sizeof(future));
	cfg.requests = 2;
	rig_new(&cfg);
	assert_int_equal(step(), 0);
	lose(true);
	memcpy(line(0), future, sizeof(future));
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_STALE), 1);
	assert_int_equal(weft_traffic_first_mismatch(rig.traffic)->version, 3);
}

/* Half writes, half reads on one line: seen new once, the old one must not come back. */
WEFT_TEST(version_once_seen_does_not_go_back)
{
	struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 50);
	unsigned int caught = 0;

	cfg.lines = 1;
	cfg.first_line = HOST_INDEX * LINES;
	for (cfg.seed = 0; cfg.seed < 64; cfg.seed++) {
		uint8_t old[64];

		rig_new(&cfg);
		lose(true);
		memset(old, 0, sizeof(old));
		if (count(WEFT_TRAFFIC_N_UNCERTAIN) == 1 && step() == 0 &&
			count(WEFT_TRAFFIC_N_VERIFIED) == 1) {
			memcpy(line(0), old, sizeof(old));
			stop_and_sweep();
			assert_int_equal(count(WEFT_TRAFFIC_N_STALE), 1);
			caught++;
		}
	}
	assert_true(caught > 4);
}

WEFT_TEST(lost_read_makes_nothing_uncertain)
{
	const struct weft_traffic_cfg cfg = cfg_of(2, 0);

	rig_new(&cfg);
	lose(true);
	run_to_end();
	assert_int_equal(count(WEFT_TRAFFIC_N_LOST), 1);
	assert_int_equal(count(WEFT_TRAFFIC_N_UNCERTAIN), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 1);
}

WEFT_TEST(poison_and_nxm_fail_without_being_compared)
{
	const struct weft_traffic_cfg cfg = cfg_of(2, 0);

	rig_new(&cfg);
	rig.poison[0] = UINT64_MAX;
	assert_int_equal(step(), 0);
	rig.gfd.len_bytes = 64;
	assert_int_equal(step(), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_FAILED), 2);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
}

WEFT_TEST(lines_of_an_earlier_run_are_no_mismatch)
{
	struct weft_traffic_cfg cfg = cfg_of(300, 30);
	uint64_t former = 0;

	for (cfg.seed = 0; cfg.seed < 20; cfg.seed++) {
		cfg.run = 1;
		rig_new(&cfg);
		run_to_end();
		assert_int_equal(count(WEFT_TRAFFIC_N_FORMER), 0);
		for (cfg.run = 2; cfg.run < 5; cfg.run++) {
			rig_again(&cfg);
			run_to_end();
			assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
			former += count(WEFT_TRAFFIC_N_FORMER);
			assert_int_equal(
				count(WEFT_TRAFFIC_N_VERIFIED), count(WEFT_TRAFFIC_N_READS));
		}
	}
	assert_true(former > 100);
}

/* One line, written by an earlier run; this run reads it, writes it, or both. */
static void
rig_former(uint8_t write_percent, uint8_t former[64])
{
	struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 100);

	cfg.lines = 1;
	cfg.first_line = HOST_INDEX * LINES;
	cfg.run = WEFT_LINE_RUN_MAX;
	rig_new(&cfg);
	assert_int_equal(step(), 0);
	memcpy(former, line(0), 64);
	assert_int_equal(step(), 0);
	cfg.run = 5;
	cfg.write_percent = write_percent;
	rig_again(&cfg);
}

/* Once it was read, or written, only that is right: neither another version of before nor zeros. */
WEFT_TEST(an_earlier_run_excuses_only_what_this_one_has_not_seen)
{
	uint8_t older[64];

	for (unsigned int writes = 0; writes < 2; writes++) {
		for (unsigned int lie = 0; lie < 2; lie++) {
			rig_former(writes ? 100 : 0, older);
			assert_int_equal(step(), 0);
			assert_int_equal(count(WEFT_TRAFFIC_N_FORMER), !writes);
			if (lie)
				memset(line(0), 0, 64);
			else
				memcpy(line(0), older, 64);
			if (writes) {
				stop_and_sweep();
			} else {
				assert_int_equal(step(), 0);
			}
			assert_int_equal(count(WEFT_TRAFFIC_N_STALE), 1);
		}
	}
}

/* A write over a former line was lost: both are right until one was seen; damage never is. */
WEFT_TEST(a_lost_write_over_an_earlier_run_leaves_both)
{
	uint8_t older[64];

	for (unsigned int k = 0; k < 3; k++) {
		rig_former(100, older);
		lose(k == 1);
		line(0)[40] ^= (uint8_t)(k == 2);
		stop_and_sweep();
		assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), k != 2);
		assert_int_equal(count(WEFT_TRAFFIC_N_DAMAGED), k == 2);
		assert_int_equal(count(WEFT_TRAFFIC_N_FORMER), k == 0);
	}
}

/* Memory that was replaced holds zeros, and they are right only from the event on. */
WEFT_TEST(new_memory_holds_zeros_and_no_old_data)
{
	for (unsigned int k = 0; k < 3; k++) {
		uint8_t old[LINES][64];

		rig_written(old);
		memcpy(old, line(0), sizeof(old));
		memset(rig.mem, 0, sizeof(rig.mem));
		if (k == 0) { /* nobody was told */
			stop_and_sweep();
			assert_int_equal(count(WEFT_TRAFFIC_N_STALE), LINES);
			continue;
		}
		assert_int_equal(weft_traffic_forget(rig.traffic, PID + 1, WEFT_LINE_LOST_ALL), 0);
		assert_int_equal(weft_traffic_forget(rig.traffic, PID, WEFT_LINE_LOST_ALL), LINES);
		assert_int_equal(weft_traffic_forget(rig.traffic, PID, WEFT_LINE_LOST_ALL), 0);
		assert_int_equal(count(WEFT_TRAFFIC_N_FORGOTTEN), LINES);
		if (k == 2)
			memcpy(line(1), old[1], 64); /* whose memory is this? */
		stop_and_sweep();
		assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), k == 2 ? LINES - 1 : LINES);
		assert_int_equal(count(WEFT_TRAFFIC_N_STALE), k == 2);
	}
}

/* Written again, a line of new memory is as any other: zeros are stale. */
WEFT_TEST(new_memory_keeps_what_is_written)
{
	uint8_t old[LINES][64];

	rig_written(old);
	memset(rig.mem, 0, sizeof(rig.mem));
	weft_traffic_forget(rig.traffic, PID, WEFT_LINE_LOST_ALL);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(step(), 0);
	memset(line(2), 0, 64);
	expect_found(1, WEFT_TRAFFIC_N_STALE, 2);
}

/* An answer to a request that was open says nothing: not a read's, not a write's. */
WEFT_TEST(answers_across_a_replacement_say_nothing)
{
	for (unsigned int k = 0; k < 4; k++) {
		const bool writes = (k & 1) != 0, by_new = (k & 2) != 0;
		struct weft_traffic_cfg cfg = cfg_of(UINT64_MAX, 100);
		struct weft_msg m, reply;

		rig_new_of_a_line(&cfg);
		assert_int_equal(step(), 0);
		if (!writes)
			weft_traffic_stop(rig.traffic);
		assert_int_equal(next_message(++rig.now, &m), 0);
		assert_int_equal(m.kind == WEFT_MSG_M2S_RWD, writes);
		if (by_new)
			memset(rig.mem, 0, sizeof(rig.mem));
		assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
		if (!by_new)
			memset(rig.mem, 0, sizeof(rig.mem));
		weft_traffic_forget(rig.traffic, PID, WEFT_LINE_LOST_LATE);
		answer(&reply);
		assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), 0);
		stop_and_sweep();
		assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), writes);
		assert_int_equal(count(WEFT_TRAFFIC_N_MISMATCHES), 0);
	}
}

/* Only some of what stands behind the addresses was replaced: zeros and every version are right. */
WEFT_TEST(memory_that_was_replaced_in_parts_may_hold_any_version)
{
	uint8_t old[LINES][64];

	rig_written(old);
	memset(line(0), 0, 64);
	memcpy(line(2), old[2], 64);
	assert_int_equal(weft_traffic_forget(rig.traffic, PID, WEFT_LINE_LOST_PARTLY), LINES);
	line(3)[9] ^= 1;
	stop_and_sweep();
	assert_int_equal(count(WEFT_TRAFFIC_N_DAMAGED), 1);
	assert_int_equal(count(WEFT_TRAFFIC_N_VERIFIED), LINES - 1);
}
