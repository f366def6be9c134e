/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The checking source over a GFD without a fabric in between, one request at a time unless a case
 * says otherwise. First what it does when all is well, then that it notices when it is not.
 */

#include "weft_test.h"

#include "weft_gfd.h"
#include "weft_mem_requester.h"
#include "weft_pace.h"
#include "weft_rand.h"
#include "weft_telem.h"
#include "weft_traffic.h"

#define PID 0x20
#define BASE (UINT64_C(1) << 36)
#define HOST_INDEX 2
#define LINES 4
#define ROOM 16 /* lines of memory: hosts 0..3 */
#define TIMEOUT 100

struct rig {
	struct weft_requester *host;
	struct weft_traffic *traffic;
	struct weft_gfd gfd;
	uint64_t poison[1];
	uint64_t now;
	uint8_t mem[ROOM * 64];
};

static struct rig rig;

static const struct weft_traffic_target target = { BASE, ROOM * 64, PID };

static struct weft_traffic_cfg
cfg_of(uint64_t requests, uint8_t write_percent)
{
	const struct weft_traffic_cfg cfg = {
		.seed = 42,
		.requests = requests,
		.targets = &target,
		.n_targets = 1,
		.lines = LINES,
		.outstanding = 1,
		.writer = HOST_INDEX,
		.unit_lines = 1,
		.request_lines = 1,
		.first_line = HOST_INDEX * LINES,
		.write_percent = write_percent,
	};

	return cfg;
}

static void *
dirty_memory(size_t size)
{
	void *mem = aligned_alloc(64, size);

	assert_true(size > 0);
	assert_non_null(mem);
	memset(mem, 0xA5, size);
	return mem;
}

static void
rig_free(void)
{
	free(rig.traffic);
	free(rig.host);
}

static int
teardown(void **state)
{
	(void)state;
	rig_free();
	memset(&rig, 0, sizeof(rig));
	return 0;
}

WEFT_TEST_EACH(NULL, teardown)

/* Another life of the same host at the same memory, with what both have counted. */
static void
rig_again(const struct weft_traffic_cfg *cfg)
{
	const struct weft_requester_cfg host_cfg = { TIMEOUT, 10, 64, 1, NULL, 0, 0 };

	rig_free();
	rig.host = weft_requester_init(dirty_memory(weft_requester_size(&host_cfg)), &host_cfg);
	assert_int_equal(weft_requester_grant(rig.host, PID, 64, 64), 0);
	rig.traffic = weft_traffic_init(dirty_memory(weft_traffic_size(cfg)), cfg, rig.host);
	assert_non_null(rig.traffic);
}

/* In the place of the rig before, if there was one. */
static void
rig_new(const struct weft_traffic_cfg *cfg)
{
	rig_free();
	memset(&rig, 0, sizeof(rig));
	rig_again(cfg);
	assert_int_equal(
		weft_gfd_init(&rig.gfd, PID, BASE, rig.mem, sizeof(rig.mem), rig.poison), 0);
}

/* The same of one line, so that all requests are of it. */
static void
rig_new_of_a_line(struct weft_traffic_cfg *cfg)
{
	cfg->lines = 1;
	cfg->first_line = HOST_INDEX * LINES;
	rig_new(cfg);
}

static int
next_message(uint64_t now, struct weft_msg *m)
{
	struct weft_request rq;
	const int rc = weft_traffic_next(rig.traffic, now, &rq);

	if (rc == 0)
		weft_mem_request(rig.host, &rq, m);
	return rc;
}

static uint64_t
count(enum weft_traffic_counter i)
{
	return weft_traffic_counts(rig.traffic)[i];
}

static uint8_t *
line(unsigned int i)
{
	return rig.mem + (HOST_INDEX * LINES + i) * 64;
}

static void
answer(const struct weft_msg *reply)
{
	struct weft_completion c;

	assert_int_equal(weft_mem_response(rig.host, reply, rig.now, &c), WEFT_OK);
	weft_traffic_complete(rig.traffic, &c);
}

/* One request and its answer. @return what weft_traffic_next() said */
static int
step(void)
{
	struct weft_msg m, reply;
	const int rc = next_message(++rig.now, &m);

	if (rc != 0)
		return rc;
	assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	answer(&reply);
	return 0;
}

static void
run_to_end(void)
{
	for (unsigned int i = 0; !weft_traffic_done(rig.traffic); i++) {
		const int rc = step();

		assert_true(rc == 0 || rc == -EAGAIN || rc == -ESHUTDOWN);
		assert_true(i < 100000);
	}
	assert_int_equal(step(), -ESHUTDOWN);
}

static void
stop_and_sweep(void)
{
	weft_traffic_stop(rig.traffic);
	run_to_end();
}

static void
on_lost(void *arg, const struct weft_completion *c)
{
	(void)arg;
	weft_traffic_complete(rig.traffic, c);
}

/* A request whose response never comes; the GFD sees it or not. */
static void
lose(bool executed)
{
	struct weft_msg m, reply;

	assert_int_equal(next_message(++rig.now, &m), 0);
	if (executed)
		assert_int_equal(weft_gfd_request(&rig.gfd, &m, &reply), WEFT_OK);
	rig.now += TIMEOUT;
	assert_int_equal(weft_requester_expire(rig.host, rig.now, on_lost, NULL, 8), 1);
}

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

/* Their writes are done and forgotten: the sweep finds ones there, and no version. */
WEFT_TEST(writes_to_closed_lines_are_swept_as_closed)
{
	enum weft_expect due = WEFT_EXPECT_ONES;
	struct weft_traffic_cfg cfg = cfg_of(50, 100);

	cfg.expect = place_closed;
	cfg.expect_arg = &due;
	rig_new(&cfg);
	rig.gfd.pid = PID + 1;
	assert_int_equal(weft_requester_grant(rig.host, PID + 1, 1, 1), 0);
	for (unsigned int i = 0; i < 50; i++)
		assert_int_equal(step(), 0);
	assert_int_equal(count(WEFT_TRAFFIC_N_REFUSED), 50);
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

static int
change_to(enum weft_expect before, enum weft_expect after)
{
	struct weft_traffic_unit_change lines[LINES];
	const struct weft_traffic_change c = { &target, lines };

	assert_int_equal(weft_traffic_units(rig.traffic), LINES);
	for (unsigned int i = 0; i < LINES; i++)
		lines[i] =
			(struct weft_traffic_unit_change){ (uint8_t)before, (uint8_t)after, PID };
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
	struct weft_traffic_cfg cfg = cfg_of(50, 100);

	for (unsigned int obeys = 0; obeys < 2; obeys++) {
		cfg.expect = place_closed;
		cfg.expect_arg = &due;
		rig_new(&cfg);
		rig.gfd.pid = PID + 1;
		assert_int_equal(weft_requester_grant(rig.host, PID + 1, 1, 1), 0);
		for (unsigned int i = 0; i < 50; i++)
			assert_int_equal(step(), 0);
		assert_int_equal(count(WEFT_TRAFFIC_N_REFUSED), 50);
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

WEFT_TEST(every_counter_has_a_name_of_its_own)
{
	const struct weft_counter *rows = weft_traffic_counters;

	for (int i = 0; i < WEFT_TRAFFIC_N_COUNTERS; i++) {
		assert_true(rows[i].unit[0] != '\0' && rows[i].help[0] != '\0');
		assert_int_equal(weft_counter_find(rows, WEFT_TRAFFIC_N_COUNTERS, rows[i].name), i);
	}
}
