/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATS peers rule by rule (ats.md sections 2, 4 and 5); test_checker.c tries the orders. */

#include "weft_test.h"

#include "weft_ats_atc.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"

#define DEVICE 0x0208
#define AGENT 0x0100
#define RW (WEFT_ATS_R | WEFT_ATS_W)
#define TIMEOUT 1000
#define BACKOFF 100

static struct weft_atc *cache;
static struct weft_ats_atc *atc;
static struct weft_ats_ta *ta;

static void *
take(size_t size)
{
	void *p;

	assert_int_not_equal(size, 0);
	p = aligned_alloc(64, (size + 63) & ~(size_t)63);
	assert_non_null(p);
	memset(p, 0xA5, size); /* init must not rely on zeroed memory */
	return p;
}

static int
drop_rig(void **state)
{
	(void)state;
	free(cache);
	free(atc);
	free(ta);
	cache = NULL;
	atc = NULL;
	ta = NULL;
	return 0;
}

static void
make(uint8_t tcs)
{
	const struct weft_atc_cfg cache_cfg = { { 64, 64, 64, 64 }, 4, NULL };
	struct weft_ats_atc_cfg cfg = { .timeout_ns = TIMEOUT,
		.backoff_ns = BACKOFF,
		.id = DEVICE,
		.rcb = 128,
		.slots = 2,
		.reads = 2,
		.tcs = tcs,
		.retries = 2 };
	const struct weft_ats_ta_cfg ta_cfg = { TIMEOUT, AGENT, 128, 2, 2 };

	drop_rig(NULL);
	cache = weft_atc_init(take(weft_atc_size(&cache_cfg)), &cache_cfg);
	cfg.cache = cache;
	atc = weft_ats_atc_init(take(weft_ats_atc_size(&cfg)), &cfg);
	ta = weft_ats_ta_init(take(weft_ats_ta_size(&ta_cfg)), &ta_cfg);
	assert_true(atc != NULL && ta != NULL);
	assert_int_equal(weft_ats_ta_add(ta, DEVICE, 0, 0), 0);
	weft_ats_atc_reg_set(atc, WEFT_ATS_REG_ATS_CTL, WEFT_ATS_CTL_E);
}

static int
make_rig(void **state)
{
	(void)state;
	make(1);
	return 0;
}

WEFT_TEST_EACH(make_rig, drop_rig)

static enum weft_verdict
to_device(const struct weft_ats_packet *p, uint64_t now_ns)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_ats_encode(p, buf, sizeof(buf));

	assert_int_not_equal(len, 0);
	return weft_ats_atc_receive(atc, buf, len, now_ns);
}

static enum weft_verdict
to_agent(const struct weft_ats_packet *p)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_ats_encode(p, buf, sizeof(buf));

	assert_int_not_equal(len, 0);
	return weft_ats_ta_receive(ta, buf, len);
}

/* Ask and send. @return the tag. */
static uint8_t
ask(uint16_t ctx, uint64_t va, unsigned int n)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const int slot = weft_ats_atc_request(atc, ctx, va, n, false);

	assert_true(slot >= 0);
	assert_int_not_equal(weft_ats_atc_send_request(atc, buf, sizeof(buf), 0), 0);
	return (uint8_t)slot;
}

static enum weft_verdict
answer(uint8_t tag, const struct weft_ats_xlat *x, unsigned int n, unsigned int first,
	enum weft_ats_part part)
{
	struct weft_ats_packet p = { .target = AGENT, .requester = DEVICE, .tag = tag };
	uint8_t data[128];

	assert_int_equal(weft_ats_xlats_put(&p, x, n, first, part, data), 0);
	return to_device(&p, 0);
}

static enum weft_verdict
answer_status(uint8_t tag, uint8_t status, uint64_t now_ns)
{
	return to_device(&(struct weft_ats_packet){ .kind = WEFT_ATS_CPL,
				 .status = status,
				 .target = AGENT,
				 .requester = DEVICE,
				 .tag = tag },
		now_ns);
}

static enum weft_verdict
invalidate(uint8_t itag, uint64_t addr, uint8_t log2, int32_t pasid, bool global)
{
	return to_device(&(struct weft_ats_packet){ .kind = WEFT_ATS_INVALIDATE,
				 .requester = AGENT,
				 .target = DEVICE,
				 .itag = itag,
				 .addr = addr,
				 .log2 = log2,
				 .has_pasid = pasid >= 0,
				 .pasid = pasid < 0 ? 0 : (uint32_t)pasid,
				 .global = global },
		0);
}

/* The next completion of a class, or one without ITags. */
static struct weft_ats_packet
completion(unsigned int tc)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_packet p = { 0 };
	const size_t len = weft_ats_atc_send_completion(atc, tc, buf, sizeof(buf));

	if (len != 0)
		assert_int_equal(weft_ats_decode(buf, len, 128, &p), WEFT_OK);
	return p;
}

static void
expect_done(enum weft_ats_result result)
{
	struct weft_ats_done done;

	assert_true(weft_ats_atc_done(atc, &done));
	assert_int_equal(done.result, result);
}

static bool
is_cached(uint16_t ctx, uint64_t va)
{
	uint64_t pa;

	return weft_atc_lookup(cache, ctx, va, WEFT_ATC_R, &pa) == WEFT_ATC_HIT;
}

static void
install(uint16_t ctx, uint64_t va, uint64_t pa, uint8_t log2)
{
	const struct weft_ats_xlat x = { pa, RW, log2 };

	assert_int_equal(answer(ask(ctx, va, 1), &x, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_INSTALLED);
}

WEFT_TEST(answers_in_one_and_two_packets_are_cached)
{
	const struct weft_ats_xlat x[3] = { { 0x8000, RW, 12 }, { 0, 0, 0 },
		{ 0x2000, WEFT_ATS_R, 12 } };
	struct weft_ats_done done;
	uint64_t pa;

	for (unsigned int first = 1; first <= 3; first++) {
		const uint8_t tag = ask(0, 0x10000, 4);

		assert_int_equal(
			answer(tag, x, 3, first, first == 3 ? WEFT_ATS_ONLY : WEFT_ATS_FIRST),
			WEFT_OK);
		if (first < 3) {
			assert_false(weft_ats_atc_done(atc, &done));
			assert_int_equal(answer(tag, x, 3, first, WEFT_ATS_SECOND), WEFT_OK);
		}
		expect_done(WEFT_ATS_INSTALLED);
		assert_int_equal(weft_atc_lookup(cache, 0, 0x10123, WEFT_ATC_W, &pa), WEFT_ATC_HIT);
		assert_int_equal(pa, 0x8123);
		assert_false(is_cached(0, 0x11000)); /* without R and W never */
		assert_int_equal(
			weft_atc_lookup(cache, 0, 0x12000, WEFT_ATC_W, &pa), WEFT_ATC_DENY);
		weft_atc_invalidate_context(cache, 0);
	}
}

/*
 * More than was asked for, other sizes, too small, beyond the request, a packet missing or twice.
 */
WEFT_TEST(answers_that_do_not_fit_fail_whole)
{
	const struct weft_ats_xlat small[2] = { { 0x8000, RW, 12 }, { 0x9000, RW, 12 } };
	const struct weft_ats_xlat mixed[2] = { { 0x8000, RW, 12 }, { 0x100000, RW, 16 } };
	const struct weft_ats_xlat unit[2] = { { 0, 0, 0 }, { 0x100000, RW, 16 } };
	const struct weft_ats_xlat large[2] = { { 0x200000, RW, 21 }, { 0x400000, RW, 21 } };
	const struct {
		const struct weft_ats_xlat *x;
		unsigned int asked, n, first;
		enum weft_ats_part part;
		enum weft_verdict want;
	} rows[] = {
		{ small, 1, 2, 2, WEFT_ATS_ONLY, WEFT_DROP_ATS_SPLIT },
		{ small, 1, 2, 1, WEFT_ATS_FIRST, WEFT_DROP_ATS_SPLIT },
		{ small, 2, 2, 1, WEFT_ATS_SECOND, WEFT_DROP_ATS_SPLIT },
		{ mixed, 2, 2, 2, WEFT_ATS_ONLY, WEFT_DROP_ATS_RANGE },
		{ unit, 2, 2, 2, WEFT_ATS_ONLY, WEFT_DROP_ATS_RANGE },
		{ large, 2, 2, 2, WEFT_ATS_ONLY, WEFT_DROP_ATS_RANGE },
	};
	uint8_t tag;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		tag = ask(0, 0x10000, rows[i].asked);
		assert_int_equal(answer(tag, rows[i].x, rows[i].n, rows[i].first, rows[i].part),
			rows[i].want);
		expect_done(WEFT_ATS_ABORTED);
		assert_false(is_cached(0, 0x10000));
	}
	tag = ask(0, 0x10000, 2);
	assert_int_equal(answer(tag, small, 2, 1, WEFT_ATS_FIRST), WEFT_OK);
	assert_int_equal(answer(tag, small, 2, 1, WEFT_ATS_FIRST), WEFT_DROP_ATS_SPLIT);
	expect_done(WEFT_ATS_ABORTED);
	weft_ats_atc_reg_set(
		atc, WEFT_ATS_REG_ATS_CTL, WEFT_ATS_CTL_E | 4u << WEFT_ATS_CTL_STU_SHIFT);
	tag = ask(0, 0x10000, 1);
	assert_int_equal(answer(tag, small, 1, 1, WEFT_ATS_ONLY), WEFT_DROP_ATS_RANGE);
	assert_int_equal(answer(tag, small, 1, 1, WEFT_ATS_ONLY), WEFT_DROP_NO_TAG);
}

WEFT_TEST(aborts_are_tried_again_and_end)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	uint64_t now = 0;
	uint8_t tag;

	tag = ask(0, 0x10000, 1);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(answer_status(tag, WEFT_ATS_CA, now), WEFT_OK);
		now += (uint64_t)BACKOFF << i;
		weft_ats_atc_time(atc, now - 1);
		assert_int_equal(weft_ats_atc_send_request(atc, buf, sizeof(buf), now), 0);
		weft_ats_atc_time(atc, now);
		assert_int_not_equal(weft_ats_atc_send_request(atc, buf, sizeof(buf), now), 0);
	}
	assert_int_equal(answer_status(tag, WEFT_ATS_CA, now), WEFT_OK);
	expect_done(WEFT_ATS_ABORTED);
	install(0, 0x10000, 0x8000, 12);
	tag = ask(0, 0x20000, 1);
	assert_int_equal(answer_status(tag, WEFT_ATS_SUCCESS, now), WEFT_OK);
	expect_done(WEFT_ATS_NO_PAGE);
	tag = ask(0, 0x20000, 1);
	assert_int_equal(answer_status(tag, WEFT_ATS_UR, now), WEFT_OK);
	expect_done(WEFT_ATS_REFUSED);
	assert_false(is_cached(0, 0x10000));
	assert_int_equal(weft_ats_atc_request(atc, 0, 0, 1, false), -EACCES);
}

/* A14: the tag of a request that timed out rests, and a late completion meets nobody. */
WEFT_TEST(late_completion_meets_no_other_request)
{
	const struct weft_ats_xlat x = { 0x8000, RW, 12 };
	const uint8_t tag = ask(0, 0x10000, 1);

	weft_ats_atc_time(atc, TIMEOUT - 1);
	weft_ats_atc_time(atc, TIMEOUT);
	expect_done(WEFT_ATS_LATE);
	assert_int_not_equal(ask(0, 0x20000, 1), tag);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0x30000, 1, false), -EAGAIN);
	assert_int_equal(answer(tag, &x, 1, 1, WEFT_ATS_ONLY), WEFT_DROP_NO_TAG);
	weft_ats_atc_time(atc, 2 * TIMEOUT);
	/* However late it is: an agent may keep a question for as long as a page moves. */
	assert_int_equal(ask(0, 0x30000, 1), tag);
	assert_int_equal(answer(tag, &x, 1, 1, WEFT_ATS_ONLY), WEFT_DROP_NO_TAG);
	assert_false(is_cached(0, 0x30000));
}

WEFT_TEST(requests_for_the_same_are_merged)
{
	assert_int_equal(ask(0, 0x10000, 4), 0);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0x13FFF, 1, true), 0);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0x13FFF, 2, true), 1);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0x20000, 1, true), -EAGAIN);
	/* Marked, its answer will be thrown away: not the one to wait for. */
	assert_int_equal(invalidate(0, 0x10000, 16, -1, false), WEFT_OK);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0x10000, 1, true), -EAGAIN);
}

/* Section 4.6, and its larger sister: the invalidation is in the part that was not asked for. */
WEFT_TEST(invalidation_overtakes_an_answer)
{
	const struct weft_ats_xlat page = { 0x8000, RW, 12 }, large = { 0x400000, RW, 21 };
	uint8_t tag;

	tag = ask(0, 0x10000, 1);
	assert_int_equal(invalidate(0, 0x10000, 12, -1, false), WEFT_OK);
	assert_int_equal(answer(tag, &page, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_AGAIN);
	tag = ask(0, 0x10000, 1);
	assert_int_equal(invalidate(1, 0x1FF000, 12, -1, false), WEFT_OK);
	assert_int_equal(answer(tag, &large, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_AGAIN);
	assert_false(is_cached(0, 0x10000));
	tag = ask(0, 0x10000, 1);
	assert_int_equal(invalidate(2, 0x1FF000, 12, -1, false), WEFT_OK);
	assert_int_equal(answer(tag, &page, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_INSTALLED);
}

WEFT_TEST(every_invalidation_since_the_request_counts)
{
	const struct weft_ats_xlat large = { 0x400000, RW, 21 };
	const uint8_t tag = ask(0, 0x210000, 1);

	assert_int_equal(invalidate(0, 0x3FF000, 12, -1, false), WEFT_OK);
	assert_int_equal(invalidate(1, 0x1000, 12, -1, false), WEFT_OK);
	assert_int_equal(answer(tag, &large, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_AGAIN);
}

WEFT_TEST(poisoned_invalidation_takes_everything)
{
	const struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATE,
		.poisoned = true,
		.requester = AGENT,
		.target = DEVICE,
		.log2 = 12 };

	assert_int_equal(weft_ats_atc_bind(atc, 1, 7), 0);
	weft_ats_atc_reg_set(atc, WEFT_ATS_REG_PASID_CTL, WEFT_ATS_PASID_E);
	install(1, 0x5000, 0x1000, 12);
	assert_int_equal(to_device(&p, 0), WEFT_OK);
	assert_false(is_cached(1, 0x5000));
}

WEFT_TEST(halves_of_different_answers_do_not_join)
{
	const struct weft_ats_xlat x[3] = { { 0x8000, RW, 12 }, { 0x9000, RW, 12 },
		{ 0xA000, RW, 12 } };
	uint8_t tag = ask(0, 0x10000, 4);

	assert_int_equal(answer(tag, x, 3, 1, WEFT_ATS_FIRST), WEFT_OK);
	assert_int_equal(answer(tag, x, 2, 1, WEFT_ATS_SECOND), WEFT_DROP_ATS_SPLIT);
	expect_done(WEFT_ATS_ABORTED);
	tag = ask(0, 0x10000, 4);
	assert_int_equal(answer(tag, x, 3, 1, WEFT_ATS_FIRST), WEFT_OK);
	assert_int_equal(answer_status(tag, WEFT_ATS_SUCCESS, 0), WEFT_DROP_ATS_SPLIT);
	expect_done(WEFT_ATS_ABORTED);
}

/* A7. */
WEFT_TEST(small_invalidation_removes_a_large_page)
{
	install(0, 0, UINT64_C(1) << 30, 30);
	assert_true(is_cached(0, 0x12345678));
	assert_int_equal(invalidate(0, 0x7000, 12, -1, false), WEFT_OK);
	assert_false(is_cached(0, 0x12345678));
}

/* A3, A4: 32 requests are accepted with nothing sent, and collapse into one message a class. */
WEFT_TEST(queue_of_32_collapses)
{
	make(0x81);
	for (uint8_t i = 0; i < 32; i++)
		assert_int_equal(invalidate(i, 0x1000u * i, 12, -1, false), WEFT_OK);
	assert_int_equal(invalidate(7, 0, 12, -1, false), WEFT_DROP_ATS_ITAG);
	for (unsigned int tc = 0; tc < 8; tc += 7) {
		const struct weft_ats_packet p = completion(tc);

		assert_int_equal(p.itags, UINT32_MAX);
		assert_int_equal(p.count, 2);
		assert_int_equal(p.tc, tc);
		assert_int_equal(p.target, AGENT);
		assert_int_equal(completion(tc).itags, 0);
	}
	assert_int_equal(completion(3).itags, 0);
	assert_int_equal(invalidate(7, 0, 12, -1, false), WEFT_OK);
}

WEFT_TEST(completion_waits_for_earlier_writes_only)
{
	make(3);
	weft_ats_atc_write_begin(atc, 1);
	weft_ats_atc_write_begin(atc, 1);
	assert_int_equal(invalidate(3, 0, 12, -1, false), WEFT_OK);
	weft_ats_atc_write_begin(atc, 1);
	assert_int_equal(completion(0).itags, 8);
	assert_int_equal(completion(1).itags, 0);
	weft_ats_atc_write_done(atc, 1);
	assert_int_equal(completion(1).itags, 0);
	weft_ats_atc_write_done(atc, 1);
	assert_int_equal(completion(1).itags, 8);
}

WEFT_TEST(reads_under_way_are_discarded)
{
	const int inside = weft_ats_atc_read_begin(atc, 0, 0x1FC0, 64);
	const int outside = weft_ats_atc_read_begin(atc, 0, 0x2000, 64);

	assert_true(inside >= 0 && outside >= 0);
	assert_int_equal(weft_ats_atc_read_begin(atc, 0, 0, 64), -EAGAIN);
	assert_int_equal(invalidate(0, 0x1000, 12, -1, false), WEFT_OK);
	assert_false(weft_ats_atc_read_done(atc, (unsigned int)inside));
	assert_true(weft_ats_atc_read_done(atc, (unsigned int)outside));
}

/* A11. */
WEFT_TEST(spaces_are_kept_apart)
{
	assert_int_equal(weft_ats_atc_bind(atc, 1, 0xABCDE), 0);
	assert_int_equal(weft_ats_atc_bind(atc, 2, 1), 0);
	assert_int_equal(weft_ats_atc_bind(atc, 3, 1), -EEXIST);
	assert_int_equal(weft_ats_atc_request(atc, 1, 0, 1, false), -EACCES);
	weft_ats_atc_reg_set(atc, WEFT_ATS_REG_PASID_CTL, WEFT_ATS_PASID_E);
	for (uint16_t ctx = 0; ctx < 3; ctx++)
		install(ctx, 0x5000, 0x1000u * (ctx + 1u), 12);
	assert_int_equal(invalidate(0, 0x5000, 12, -1, false), WEFT_OK);
	assert_true(!is_cached(0, 0x5000) && is_cached(1, 0x5000) && is_cached(2, 0x5000));
	assert_int_equal(invalidate(1, 0x5000, 12, 1, false), WEFT_OK);
	assert_true(is_cached(1, 0x5000) && !is_cached(2, 0x5000));
	assert_int_equal(invalidate(2, 0x5000, 12, 1, true), WEFT_OK);
	assert_false(is_cached(1, 0x5000));
}

WEFT_TEST(disabling_empties_and_still_answers)
{
	const struct weft_ats_xlat x = { 0x8000, RW, 12 };
	uint8_t tag;

	install(0, 0x5000, 0x1000, 12);
	tag = ask(0, 0x6000, 1);
	weft_ats_atc_reg_set(atc, WEFT_ATS_REG_ATS_CTL, 0);
	assert_false(is_cached(0, 0x5000));
	assert_int_equal(answer(tag, &x, 1, 1, WEFT_ATS_ONLY), WEFT_OK);
	expect_done(WEFT_ATS_AGAIN);
	assert_int_equal(invalidate(9, 0, 64, -1, false), WEFT_OK);
	assert_int_equal(completion(0).itags, 1u << 9);
}

/* A10. */
WEFT_TEST(reset_answers_nothing)
{
	const struct weft_ats_xlat x = { 0x8000, RW, 12 };
	const uint8_t tag = ask(0, 0x6000, 1);
	const int read = weft_ats_atc_read_begin(atc, 0, 0x2000, 64);

	weft_ats_atc_write_begin(atc, 0);
	assert_int_equal(invalidate(9, 0, 12, -1, false), WEFT_OK);
	weft_ats_atc_flr(atc, 0);
	weft_ats_atc_write_done(atc, 0);
	assert_int_equal(completion(0).itags, 0);
	assert_int_equal(answer(tag, &x, 1, 1, WEFT_ATS_ONLY), WEFT_DROP_NO_TAG);
	assert_false(weft_ats_atc_read_done(atc, (unsigned int)read));
	expect_done(WEFT_ATS_CANCELLED);
	assert_int_equal(weft_ats_atc_reg(atc, WEFT_ATS_REG_ATS_CTL) & WEFT_ATS_CTL_E, 0);
	assert_int_equal(invalidate(9, 0, 12, -1, false), WEFT_OK);
}

WEFT_TEST(packets_of_strangers_change_nothing)
{
	struct weft_ats_packet p = {
		.kind = WEFT_ATS_INVALIDATE, .requester = AGENT, .target = DEVICE + 1, .log2 = 12
	};

	assert_int_equal(to_device(&p, 0), WEFT_DROP_ATS_PEER);
	p.target = DEVICE;
	assert_int_equal(to_device(&p, 0), WEFT_OK);
	p.requester = AGENT + 1;
	p.itag = 1;
	assert_int_equal(to_device(&p, 0), WEFT_DROP_ATS_PEER);
	assert_int_equal(completion(0).itags, 1);
	p.kind = WEFT_ATS_PAGE;
	assert_int_equal(to_device(&p, 0), WEFT_DROP_ATS_TYPE);
	assert_int_equal(weft_ats_atc_counts(atc)[WEFT_ATS_ATC_N_REFUSED], 3);
}

/* One invalidation at the agent, sent. @return its ITag. */
static unsigned int
begin_invalidation(void)
{
	const struct weft_ats_inv range = { 0x5000, -1, 12, false };
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const int itag = weft_ats_ta_invalidate(ta, 0, &range);

	assert_true(itag >= 0);
	assert_int_equal(weft_ats_ta_send_invalidate(ta, 0, buf, sizeof(buf), 0), 0);
	weft_ats_ta_flushed(ta, 0, 1u << itag);
	assert_int_not_equal(weft_ats_ta_send_invalidate(ta, 0, buf, sizeof(buf), 0), 0);
	return (unsigned int)itag;
}

/* The deck: ITag 1 on TC 0 and TC 1, CC 2 in both. */
WEFT_TEST(agent_counts_by_traffic_class)
{
	const unsigned int itag = begin_invalidation();
	struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATED,
		.requester = DEVICE,
		.target = AGENT,
		.count = 2,
		.itags = 1u << itag };

	assert_int_equal(to_agent(&p), WEFT_OK);
	assert_int_equal(to_agent(&p), WEFT_OK);
	assert_int_equal(weft_ats_ta_state(ta, 0, itag), WEFT_ATS_INV_SENT);
	assert_int_equal(weft_ats_ta_counts(ta)[WEFT_ATS_TA_N_DUPLICATES], 1);
	assert_int_equal(weft_ats_ta_release(ta, 0, itag), -EBUSY);
	p.tc = 1;
	p.count = 3;
	assert_int_equal(to_agent(&p), WEFT_DROP_ATS_SPLIT);
	p.count = 2;
	p.itags |= 1u << 31; /* idle: nothing of the packet counts */
	assert_int_equal(to_agent(&p), WEFT_DROP_ATS_ITAG);
	p.itags = 1u << itag;
	p.requester++;
	assert_int_equal(to_agent(&p), WEFT_DROP_ATS_PEER);
	p.requester = DEVICE;
	assert_int_equal(weft_ats_ta_state(ta, 0, itag), WEFT_ATS_INV_SENT);
	assert_int_equal(to_agent(&p), WEFT_OK);
	assert_int_equal(weft_ats_ta_state(ta, 0, itag), WEFT_ATS_INV_DONE);
	assert_int_equal(to_agent(&p), WEFT_DROP_ATS_ITAG);
	assert_int_equal(weft_ats_ta_release(ta, 0, itag), 0);
}

WEFT_TEST(agent_keeps_to_the_queue_depth)
{
	const struct weft_ats_inv range = { 0, -1, 64, false };
	const struct weft_ats_inv bad = { 0x1000, -1, 13, false };

	for (int i = 0; i < 32; i++)
		assert_int_equal(weft_ats_ta_invalidate(ta, 0, &range), i);
	assert_int_equal(weft_ats_ta_invalidate(ta, 0, &range), -EAGAIN);
	assert_int_equal(weft_ats_ta_add(ta, 5, 0, 3), 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(weft_ats_ta_invalidate(ta, 1, &range), i);
	assert_int_equal(weft_ats_ta_invalidate(ta, 1, &range), -EAGAIN);
	assert_int_equal(weft_ats_ta_invalidate(ta, 1, &bad), -EINVAL);
	assert_int_equal(weft_ats_ta_invalidate(ta, 2, &range), -EINVAL);
}

WEFT_TEST(agent_isolates_who_does_not_answer)
{
	const struct weft_ats_inv range = { 0, -1, 64, false };
	const unsigned int itag = begin_invalidation();
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_packet p;
	size_t len;

	assert_int_equal(weft_ats_ta_time(ta, TIMEOUT - 1), 0);
	assert_true(weft_ats_ta_allows(ta, DEVICE));
	assert_int_equal(weft_ats_ta_time(ta, TIMEOUT), 1);
	assert_int_equal(weft_ats_ta_state(ta, 0, itag), WEFT_ATS_INV_FAILED);
	assert_false(weft_ats_ta_allows(ta, DEVICE));
	assert_int_equal(weft_ats_ta_invalidate(ta, 0, &range), -EIO);
	assert_int_equal(weft_ats_atc_request(atc, 0, 0, 1, false), 0);
	len = weft_ats_atc_send_request(atc, buf, sizeof(buf), 0);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_OK);
	len = weft_ats_ta_send_completion(ta, buf, sizeof(buf));
	assert_int_equal(weft_ats_decode(buf, len, 128, &p), WEFT_OK);
	assert_int_equal(p.status, WEFT_ATS_UR);
	weft_ats_ta_reset(ta, 0);
	assert_int_equal(weft_ats_ta_release(ta, 0, itag), 0);
	assert_true(weft_ats_ta_allows(ta, DEVICE));
}

/* A completion that comes after all proves what it always proves. */
WEFT_TEST(late_completion_ends_the_isolation)
{
	const unsigned int itag = begin_invalidation();
	const struct weft_ats_packet p = { .kind = WEFT_ATS_INVALIDATED,
		.requester = DEVICE,
		.target = AGENT,
		.itags = 1u << itag,
		.count = 1 };
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	const size_t len = weft_ats_encode(&p, buf, sizeof(buf));

	assert_int_equal(weft_ats_ta_time(ta, TIMEOUT), 1);
	assert_int_equal(weft_ats_ta_release(ta, 0, itag), -EBUSY);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_OK);
	assert_int_equal(weft_ats_ta_state(ta, 0, itag), WEFT_ATS_INV_DONE);
	assert_true(weft_ats_ta_allows(ta, DEVICE));
	assert_int_equal(weft_ats_ta_release(ta, 0, itag), 0);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_DROP_ATS_ITAG);
}

WEFT_TEST(agent_gives_no_answer_that_breaks_the_rules)
{
	const struct weft_ats_xlat small[3] = { { 0x8000, RW, 12 }, { 0x9000, RW, 12 },
		{ 0xA000, RW, 12 } };
	const struct weft_ats_xlat mixed[2] = { { 0x8000, RW, 12 }, { 0x100000, RW, 16 } };
	const struct weft_ats_xlat large[2] = { { 0x200000, RW, 21 }, { 0x400000, RW, 21 } };
	const struct weft_ats_xlat askew = { 0x8000, RW, 16 };
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	struct weft_ats_walk w;
	size_t len;
	int h;

	assert_int_equal(weft_ats_atc_request(atc, 0, 0x10123, 2, false), 0);
	len = weft_ats_atc_send_request(atc, buf, sizeof(buf), 0);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_OK);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_OK);
	assert_int_equal(weft_ats_ta_receive(ta, buf, len), WEFT_DROP_TX_FULL);
	h = weft_ats_ta_walk(ta, &w);
	assert_true(h >= 0);
	assert_int_equal(w.va, 0x10000);
	assert_int_equal(w.n, 2);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, small, 3, 3), -EINVAL);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, mixed, 2, 2), -EINVAL);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, large, 2, 2), -EINVAL);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, &askew, 1, 1), -EINVAL);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_CA, small, 1, 1), -EINVAL);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, small, 2, 1), 0);
	assert_int_equal(weft_ats_ta_answer(ta, h, WEFT_ATS_SUCCESS, small, 2, 1), -EINVAL);
	for (unsigned int i = 0; i < 2; i++) {
		len = weft_ats_ta_send_completion(ta, buf, sizeof(buf));
		assert_int_equal(weft_ats_atc_receive(atc, buf, len, 0), WEFT_OK);
	}
	assert_int_equal(weft_ats_ta_send_completion(ta, buf, sizeof(buf)), 0);
	expect_done(WEFT_ATS_INSTALLED);
	assert_true(is_cached(0, 0x10000) && is_cached(0, 0x11000));
}

/*
 * Any bytes at all: both peers stay in bounds, and every invalidation that was taken is answered.
 */
WEFT_TEST(damaged_packets_do_no_harm)
{
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	unsigned int answered = 0;
	struct weft_rand r;

	weft_test_seed(&r, "damage");
	/*
	 * The first request names the agent: a damaged one would make every good one a stranger's.
	 */
	assert_int_equal(invalidate(0, 0, 12, -1, false), WEFT_OK);
	for (unsigned int i = 0; i < 300000; i++) {
		const uint8_t n = (uint8_t)(1 + weft_rand_below(&r, 3));
		struct weft_ats_xlat x[3];
		struct weft_ats_packet p = { .requester = DEVICE, .target = AGENT };
		struct weft_ats_done done;
		uint8_t data[128];
		size_t len;

		weft_ats_atc_request(
			atc, 0, weft_rand_below(&r, 16) << 12, n, weft_rand_below(&r, 2) != 0);
		while ((len = weft_ats_atc_send_request(atc, buf, sizeof(buf), i)) != 0)
			continue;
		for (unsigned int k = 0; k < 3; k++)
			x[k] = (struct weft_ats_xlat){ weft_rand_below(&r, 64) << 12, RW, 12 };
		if (weft_rand_below(&r, 2) == 0) {
			p = (struct weft_ats_packet){ .kind = WEFT_ATS_INVALIDATE,
				.requester = AGENT,
				.target = DEVICE,
				.itag = (uint8_t)weft_rand_below(&r, 32),
				.addr = weft_rand_below(&r, 16) << 12,
				.log2 = 12 };
		} else {
			p.tag = (uint8_t)weft_rand_below(&r, 3);
			weft_ats_xlats_put(&p, x, n, n, WEFT_ATS_ONLY, data);
		}
		len = weft_ats_encode(&p, buf, sizeof(buf));
		for (uint64_t flips = weft_rand_below(&r, 4); flips != 0; flips--)
			buf[weft_rand_below(&r, len)] ^= (uint8_t)(1u << weft_rand_below(&r, 8));
		len = weft_rand_below(&r, 8) == 0 ? weft_rand_below(&r, len + 1) : len;
		weft_ats_atc_receive(atc, buf, len, i);
		weft_ats_ta_receive(ta, buf, len);
		weft_ats_atc_time(atc, i);
		while (weft_ats_atc_done(atc, &done))
			assert_true(done.slot < 2);
		if (i % 64 == 0)
			answered += (unsigned int)__builtin_popcount(completion(0).itags);
		if (!(weft_ats_atc_reg(atc, WEFT_ATS_REG_ATS_CTL) & WEFT_ATS_CTL_E))
			weft_ats_atc_reg_set(atc, WEFT_ATS_REG_ATS_CTL, WEFT_ATS_CTL_E);
	}
	answered += (unsigned int)__builtin_popcount(completion(0).itags);
	assert_int_equal(answered, weft_ats_atc_counts(atc)[WEFT_ATS_ATC_N_INVALIDATIONS]);
	assert_true(answered > 10000);
}
