/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Requester and source over a wire that mixes requests, loses packets, sends some twice and sends
 * forged ones: every request ends once, and what is read is what was written. A source must see
 * memory that lies.
 */

#include "uio_rig.h"

#include "weft_line.h"
#include "weft_traffic.h"
#include "weft_uio_memory.h"
#include "weft_uio_requester.h"

#define BASE (UINT64_C(1) << 40)
#define LINES 64
#define BYTES (LINES * 64)
#define TARGETS 3
#define FLYING 512
#define TIMEOUT 1000
#define LATE 300 /* more than any packet takes */

struct world {
	struct weft_rand rand;
	struct weft_requester *r;
	struct weft_traffic *s;
	struct weft_uio_memory m[TARGETS];
	uint8_t mem[TARGETS][BYTES];
	struct flying {
		struct weft_io_tlp t;
		uint64_t due;
	} fly[FLYING];
	unsigned int n_fly;
	unsigned int loss_percent;
	bool is_paused; /* no request begins */
	uint32_t rate; /* of the source */
	uint64_t now;
	unsigned int ended[WEFT_UIO_TAGS];
};

static uint64_t
base_of(unsigned int k)
{
	return BASE + ((uint64_t)k << 36);
}

static void
launch(struct world *w, const struct weft_io_tlp *t, uint64_t due)
{
	if (weft_rand_below(&w->rand, 100) < w->loss_percent || w->n_fly == FLYING)
		return;
	w->fly[w->n_fly++] = (struct flying){ *t, due };
}

static void
lost(void *arg, const struct weft_completion *c)
{
	struct world *w = arg;

	assert_int_equal(c->status, WEFT_REQUEST_LOST);
	weft_traffic_complete(w->s, c);
}

static void
arrive(struct world *w, const struct weft_io_tlp *t)
{
	struct weft_io_tlp cpl[WEFT_UIO_CPLS_MAX];
	struct weft_completion c;
	struct weft_uio u;
	unsigned int n;

	if (weft_io_class(t) == WEFT_IO_COMPLETION) {
		if (weft_uio_response(w->r, t, w->now, &c) == WEFT_OK &&
			c.status != WEFT_REQUEST_PART)
			weft_traffic_complete(w->s, &c);
		return;
	}
	assert_int_equal(weft_uio_decode(t, &u), 0);
	assert_int_equal(weft_uio_serve(&w->m[(u.addr - BASE) >> 36], t, cpl, &n), WEFT_OK);
	/* Packets of one answer keep their order; some come twice, and some are of nobody. */
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t due = w->now + 1 + (w->loss_percent == 0 ? 0 : i * 40);

		cpl[i].spid = (uint16_t)(7 + ((u.addr - BASE) >> 36));
		launch(w, &cpl[i], due + i);
		if (weft_rand_below(&w->rand, 20) == 0)
			launch(w, &cpl[i], due + LATE / 2);
		if (weft_rand_below(&w->rand, 20) == 0) {
			cpl[i].tlp[weft_rand_below(&w->rand, 2) == 0 ? 10 : 9] ^= 1;
			cpl[i].spid = 99;
			launch(w, &cpl[i], w->now);
		}
	}
}

static void
step(struct world *w)
{
	struct weft_request rq;

	w->now++;
	for (unsigned int i = 0; i < w->n_fly;) {
		struct weft_io_tlp due;

		if (w->fly[i].due > w->now) {
			i++;
			continue;
		}
		due = w->fly[i].t;
		w->fly[i] = w->fly[--w->n_fly];
		arrive(w, &due);
	}
	weft_requester_expire(w->r, w->now, lost, w, 8);
	while (!w->is_paused && w->n_fly < FLYING / 4 &&
		weft_traffic_next(w->s, w->now, &rq) == 0) {
		struct weft_io_tlp t;

		weft_uio_request(w->r, &rq, &t);
		weft_requester_sent_to(
			w->r, rq.tag, (uint16_t)(7 + ((rq.addr - BASE) >> 36)), w->now);
		launch(w, &t, w->now + weft_rand_below(&w->rand, 40));
	}
}

static enum weft_expect
place(void *arg, uint64_t addr, uint16_t *dpid)
{
	(void)arg;
	*dpid = (uint16_t)(7 + ((addr - BASE) >> 36));
	return (addr - BASE) >> 36 != 2 ? WEFT_EXPECT_DATA : WEFT_EXPECT_UR;
}

/* The third target has no memory: UR. */
static void
world_make(struct world *w, unsigned int loss_percent, uint16_t bytes)
{
	static const uint16_t split[TARGETS] = { 64, 128, 256 };
	const struct weft_requester_cfg rc = { .protocol = WEFT_REQUESTER_UIO,
		.timeout_ns = TIMEOUT,
		.quarantine_ns = TIMEOUT,
		.tags = 32,
		.id = 0x123 };
	struct weft_traffic_target target[TARGETS];
	struct weft_traffic_cfg tc = { .seed = 3,
		.requests = 20000,
		.write_quarantine_ns = TIMEOUT,
		.targets = target,
		.n_targets = TARGETS,
		.lines = LINES,
		.outstanding = 24,
		.writer = 5,
		.unit_lines = 4,
		.request_lines = (uint8_t)(bytes / 64),
		.write_percent = 50,
		.expect = place };
	struct weft_rand rand = w->rand;
	const uint32_t rate = w->rate;

	memset(w, 0, sizeof(*w));
	w->rand = rand;
	w->rate = tc.rate = rate;
	w->loss_percent = loss_percent;
	for (unsigned int k = 0; k < TARGETS; k++) {
		const struct weft_uio_memory_cfg mc = { .mem = w->mem[k],
			.len = k == 2 ? 0 : BYTES,
			.hpa_base = base_of(k),
			.split = split[k] };

		target[k] = (struct weft_traffic_target){ base_of(k), BYTES, (uint16_t)(7 + k) };
		assert_int_equal(weft_uio_memory_init(&w->m[k], &mc), 0);
	}
	w->r = weft_requester_init(uio_rig_mem(weft_requester_size(&rc)), &rc);
	w->s = weft_traffic_init(uio_rig_mem(weft_traffic_size(&tc)), &tc, w->r);
	assert_non_null(w->s);
}

static void
world_free(struct world *w)
{
	free(w->r);
	free(w->s);
}

WEFT_TEST(every_request_ends_once_and_is_true)
{
	static struct world w;

	weft_test_seed(&w.rand, __func__);
	for (unsigned int i = 0; i < 8; i++) {
		const uint64_t *c, *e;

		world_make(&w, i % 2 == 0 ? 0 : 3, (uint16_t)(64 << (i / 2 < 3 ? i / 2 : 1)));
		while (!weft_traffic_done(w.s))
			step(&w);
		c = weft_traffic_counts(w.s);
		e = weft_requester_counts(w.r);
		assert_int_equal(weft_requester_outstanding(w.r), 0);
		assert_int_equal(c[WEFT_TRAFFIC_N_MISMATCHES], 0);
		assert_int_equal(c[WEFT_TRAFFIC_N_FAILED], 0);
		assert_true(c[WEFT_TRAFFIC_N_REFUSED] > 1000);
		assert_true(c[WEFT_TRAFFIC_N_VERIFIED] > 4000);
		assert_int_equal(c[WEFT_TRAFFIC_N_LOST] != 0, i % 2 == 1);
		assert_int_equal(e[WEFT_UIO_N_READS] + e[WEFT_UIO_N_WRITES],
			e[WEFT_UIO_N_READS_DONE] + e[WEFT_UIO_N_WRITES_DONE] + e[WEFT_UIO_N_UR] +
				e[WEFT_UIO_N_LOST]);
		assert_int_equal(c[WEFT_TRAFFIC_N_READS] + c[WEFT_TRAFFIC_N_WRITES],
			e[WEFT_UIO_N_READS] + e[WEFT_UIO_N_WRITES]);
		assert_true(e[WEFT_UIO_N_NOT_MINE] > 100);
		assert_true(e[WEFT_UIO_N_UNMATCHED] > 100);
		world_free(&w);
	}
}

WEFT_TEST(no_more_requests_begin_than_the_rate)
{
	static struct world w;
	const uint64_t *c;
	uint64_t begun;

	weft_test_seed(&w.rand, __func__);
	w.rate = 100000000; /* one in 10 ns; without a limit it would be one in 2 or 3 */
	world_make(&w, 0, 256);
	c = weft_traffic_counts(w.s);
	do {
		step(&w);
		begun = c[WEFT_TRAFFIC_N_READS] + c[WEFT_TRAFFIC_N_WRITES];
		assert_true(begun <= 24 + w.now / 10);
	} while (!weft_traffic_done(w.s));
	assert_int_equal(c[WEFT_TRAFFIC_N_MISMATCHES], 0);
	assert_true(begun > 20000 && begun >= w.now / 20);
	world_free(&w);
}

/* What is refused for a while fails, and was not done: lines hold what they held before. */
WEFT_TEST(a_refused_write_is_not_done)
{
	static struct world w;

	weft_test_seed(&w.rand, __func__);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t *c;

		world_make(&w, i % 2 == 0 ? 0 : 3, (uint16_t)(i < 2 ? 64 : 256));
		for (unsigned int k = 0; k < 3000; k++) {
			w.m[0].cfg.len = k / 500 % 2 == 0 ? BYTES : 0;
			step(&w);
		}
		w.m[0].cfg.len = BYTES;
		while (!weft_traffic_done(w.s))
			step(&w);
		c = weft_traffic_counts(w.s);
		assert_true(c[WEFT_TRAFFIC_N_FAILED] > 20);
		assert_int_equal(c[WEFT_TRAFFIC_N_MISMATCHES], 0);
		world_free(&w);
	}
}

/*
 * Memory that comes and goes, and is new now and then: lines hold zeros, or what is written since.
 */
WEFT_TEST(new_memory_is_no_lie)
{
	static struct world w;

	weft_test_seed(&w.rand, __func__);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t *c;

		world_make(&w, i % 2 == 0 ? 0 : 3, (uint16_t)(i < 2 ? 64 : 256));
		while (!weft_traffic_done(w.s)) {
			const unsigned int k = (unsigned int)weft_rand_below(&w.rand, 2);

			w.m[0].cfg.len = w.now / 500 % 2 == 0 ? BYTES : 0;
			if (weft_rand_below(&w.rand, 400) == 0) {
				memset(w.mem[k], 0, BYTES);
				weft_traffic_forget(w.s, (uint16_t)(7 + k), WEFT_LINE_LOST_LATE);
			}
			step(&w);
		}
		c = weft_traffic_counts(w.s);
		assert_true(c[WEFT_TRAFFIC_N_FORGOTTEN] > LINES);
		assert_true(c[WEFT_TRAFFIC_N_FAILED] > 20);
		assert_int_equal(c[WEFT_TRAFFIC_N_MISMATCHES], 0);
		world_free(&w);
	}
}

static void
change_to(struct world *w, unsigned int target, enum weft_expect before, enum weft_expect after)
{
	struct weft_traffic_unit_change units[TARGETS * LINES / 4];
	const struct weft_traffic_change c = { weft_traffic_targets(w->s), units };

	assert_int_equal(weft_traffic_units(w->s), WEFT_ARRAY_SIZE(units));
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(units); i++) {
		const unsigned int k = i / (LINES / 4);
		const enum weft_expect as_is = k == 2 ? WEFT_EXPECT_UR : WEFT_EXPECT_DATA;

		units[i] = (struct weft_traffic_unit_change){
			.before = (uint8_t)(k == target ? before : as_is),
			.after = (uint8_t)(k == target ? after : as_is),
			.dpid = (uint16_t)(7 + k),
		};
	}
	w->is_paused = true;
	while (weft_requester_outstanding(w->r) != 0)
		step(w);
	w->is_paused = false;
	assert_int_equal(weft_traffic_change(w->s, &c), 0);
}

/*
 * A target closes and opens a while after the source was told: until then both answers are right.
 */
WEFT_TEST(a_change_may_be_late)
{
	static struct world w;

	weft_test_seed(&w.rand, __func__);
	for (unsigned int i = 0; i < 4; i++) {
		const uint64_t *c;
		bool is_open = true;

		world_make(&w, i % 2 == 0 ? 0 : 3, (uint16_t)(i < 2 ? 64 : 256));
		for (unsigned int k = 0; k < 8; k++, is_open = !is_open) {
			const uint64_t late = 100 + weft_rand_below(&w.rand, 200);
			const uint64_t from = w.now;

			change_to(&w, 0, is_open ? WEFT_EXPECT_DATA : WEFT_EXPECT_UR,
				is_open ? WEFT_EXPECT_UR : WEFT_EXPECT_DATA);
			while (w.now < from + late + 600) {
				if (w.now > from + late)
					w.m[0].cfg.len = is_open ? 0 : BYTES;
				step(&w);
			}
		}
		while (!weft_traffic_done(w.s))
			step(&w);
		c = weft_traffic_counts(w.s);
		assert_true(c[WEFT_TRAFFIC_N_BEFORE] > 0);
		assert_int_equal(c[WEFT_TRAFFIC_N_FAILED], 0);
		assert_int_equal(c[WEFT_TRAFFIC_N_MISMATCHES], 0);
		world_free(&w);
	}
}

static bool
has_zero_line(const uint8_t *mem)
{
	bool has = false;

	for (unsigned int i = 0; i < LINES; i++)
		has |= weft_line_is_zero(mem + (size_t)i * WEFT_LINE_LEN);
	return has;
}

WEFT_TEST(a_lie_is_seen)
{
	static struct world w;

	weft_test_seed(&w.rand, __func__);
	for (unsigned int lie = 0; lie < 4; lie++) {
		static const uint8_t why[] = { WEFT_TRAFFIC_N_STALE, WEFT_TRAFFIC_N_MISPLACED,
			WEFT_TRAFFIC_N_DAMAGED, WEFT_TRAFFIC_N_NOT_REFUSED };

		world_make(&w, 0, 256);
		/* Until every line is written: one of zeros does not tell that it was moved. */
		for (unsigned int i = 0; i < 400 || has_zero_line(w.mem[1]); i++) {
			assert_false(weft_traffic_done(w.s));
			step(&w);
		}
		assert_null(weft_traffic_first_mismatch(w.s));
		if (lie == 0)
			memset(w.mem[0], 0, BYTES);
		else if (lie == 1)
			memmove(w.mem[1] + 64, w.mem[1], BYTES - 64);
		else if (lie == 2)
			w.mem[0][64 * 9 + 40] ^= 4;
		else
			w.m[2].cfg.len = BYTES;
		for (unsigned int i = 0; i < 100000 && !weft_traffic_done(w.s) &&
					 weft_traffic_first_mismatch(w.s) == NULL;
			i++)
			step(&w);
		/* A damaged line may be healed by a write before it is read. */
		if (lie == 2 && weft_traffic_first_mismatch(w.s) == NULL) {
			world_free(&w);
			continue;
		}
		assert_non_null(weft_traffic_first_mismatch(w.s));
		assert_int_equal(weft_traffic_first_mismatch(w.s)->why, why[lie]);
		world_free(&w);
	}
}

static int
begin(struct weft_requester *r, struct weft_request rq, uint64_t now, struct weft_io_tlp *t)
{
	const int rc = weft_requester_begin(r, &rq, now);

	if (rc == 0)
		weft_uio_request(r, &rq, t);
	return rc;
}

static struct weft_request
read_of(uint64_t addr, uint16_t len)
{
	return (struct weft_request){ .addr = addr, .len = len, .dpid = WEFT_REQUESTER_ANYBODY };
}

static struct weft_request
write_of(uint64_t addr, const uint8_t *data, uint16_t len)
{
	struct weft_request rq = read_of(addr, len);

	rq.kind = WEFT_REQUEST_WRITE;
	rq.data = data;
	return rq;
}

static uint16_t
tag_of(const struct weft_io_tlp *t)
{
	struct weft_uio u;

	assert_int_equal(weft_uio_decode(t, &u), 0);
	return u.tag;
}

static void
take_cpl(struct weft_requester *r, const struct weft_uio *u, enum weft_verdict want, uint8_t status)
{
	struct weft_completion c;
	struct weft_io_tlp t;

	assert_int_equal(weft_uio_encode(&t, u), 0);
	assert_int_equal(weft_uio_response(r, &t, 50, &c), want);
	if (want == WEFT_OK)
		assert_int_equal(c.status, status);
}

WEFT_TEST(a_range_or_config_that_cannot_be_is_refused)
{
	static const struct weft_request bad[] = {
		{ .len = 0 },
		{ .len = 6 },
		{ .len = 260 },
		{ .len = 64, .addr = 2 },
		{ .len = 128, .addr = 4096 - 64 },
		{ .len = 64, .dpid = WEFT_REQUESTER_ANYBODY + 1 },
	};
	static const struct weft_request good[] = {
		{ .len = 4, .addr = 4096 - 4, .dpid = 0xFFE },
		{ .len = 256, .addr = UINT64_MAX - 255, .dpid = WEFT_REQUESTER_ANYBODY },
	};
	struct weft_requester_cfg cfg = {
		.protocol = WEFT_REQUESTER_UIO, .timeout_ns = 100, .tags = 2048, .id = 0xFFFF
	};
	struct weft_requester *r;
	struct weft_io_tlp t;

	assert_int_equal(weft_requester_size(&cfg), 0);
	cfg.tags = 4;
	cfg.protocol++;
	assert_int_equal(weft_requester_size(&cfg), 0);
	cfg.protocol--;
	r = weft_requester_init(uio_rig_mem(weft_requester_size(&cfg)), &cfg);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++)
		assert_int_equal(begin(r, bad[i], 0, &t), -EINVAL);
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(good); i++)
		assert_int_equal(begin(r, good[i], 0, &t), 0);
	assert_int_equal(weft_requester_outstanding(r), WEFT_ARRAY_SIZE(good));
	free(r);
}

/* Every way in which a packet can be no answer to a read of 128 bytes at 40h. */
WEFT_TEST(only_what_fits_is_taken)
{
	static const uint8_t data[256];
	const struct weft_requester_cfg cfg = {
		.protocol = WEFT_REQUESTER_UIO, .timeout_ns = 100, .tags = 4, .id = 1
	};
	const struct weft_uio good = { .kind = WEFT_UIO_CPLD,
		.requester = 1,
		.len = 64,
		.left = 128,
		.lower = 0x40,
		.data = data };
	struct weft_requester *r =
		weft_requester_init(uio_rig_mem(weft_requester_size(&cfg)), &cfg);
	struct weft_completion c;
	struct weft_io_tlp t;
	struct weft_uio u;

	assert_int_equal(begin(r, read_of(0x1040, 128), 0, &t), 0);
	u = good;
	u.tag = 1;
	take_cpl(r, &u, WEFT_DROP_NO_TAG, 0);
	u.tag = 4; /* the slot, but an earlier use of it */
	take_cpl(r, &u, WEFT_DROP_NO_TAG, 0);
	u = good;
	u.requester = 2;
	take_cpl(r, &u, WEFT_DROP_NOT_MINE, 0);
	u = good;
	u.left = 64;
	take_cpl(r, &u, WEFT_DROP_BAD_OPCODE, 0);
	u = good;
	u.lower = 0;
	take_cpl(r, &u, WEFT_DROP_BAD_OPCODE, 0);
	u = (struct weft_uio){ .kind = WEFT_UIO_CPL, .requester = 1 };
	take_cpl(r, &u, WEFT_DROP_BAD_OPCODE, 0); /* success without data */
	assert_int_equal(weft_uio_response(r, &t, 50, &c), WEFT_DROP_WRONG_CLASS);
	take_cpl(r, &good, WEFT_OK, WEFT_REQUEST_PART);
	take_cpl(r, &good, WEFT_DROP_BAD_OPCODE, 0); /* twice */
	u = good;
	u.left = 64;
	u.lower = 0;
	take_cpl(r, &u, WEFT_OK, WEFT_REQUEST_DONE);
	take_cpl(r, &u, WEFT_DROP_NO_TAG, 0);
	assert_int_equal(weft_requester_outstanding(r), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(begin(r, write_of(0, data, 64), 0, &t), 0);
	assert_int_equal(begin(r, write_of(0, data, 64), 0, &t), -EAGAIN);
	free(r);
}

static void
note_lost(void *arg, const struct weft_completion *c)
{
	assert_int_equal(c->status, WEFT_REQUEST_LOST);
	++*(unsigned int *)arg;
}

/* What is open to a destination ends with its session, and its tags are free; others' are not. */
WEFT_TEST(the_end_of_a_session_ends_what_went_by_it)
{
	static struct weft_request_clock clock;
	const struct weft_requester_cfg rc = { .protocol = WEFT_REQUESTER_UIO,
		.timeout_ns = TIMEOUT,
		.quarantine_ns = TIMEOUT,
		.tags = 4,
		.id = 1,
		.clock = &clock };
	struct weft_requester *r = weft_requester_init(uio_rig_mem(weft_requester_size(&rc)), &rc);
	struct weft_io_tlp t[4], more;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(begin(r, read_of(BASE, 64), 0, &t[i]), 0);
		weft_requester_sent_to(r, tag_of(&t[i]), (uint16_t)(7 + i / 2), 0);
	}
	weft_request_clock_forgive(&clock, 1 << 20);
	assert_int_equal(weft_requester_expire(r, TIMEOUT, note_lost, &n, 9), 0);
	assert_int_equal(weft_requester_abort(r, 7, false, TIMEOUT, note_lost, &n), 2);
	assert_int_equal(n, 2);
	assert_false(weft_requester_is_open(r, tag_of(&t[0])));
	assert_true(weft_requester_is_open(r, tag_of(&t[2])));
	assert_int_equal(begin(r, read_of(BASE, 64), TIMEOUT, &more), -EAGAIN);
	assert_int_equal(weft_requester_abort(r, 7, true, TIMEOUT, note_lost, &n), 0);
	assert_int_equal(weft_requester_abort(r, 9, true, TIMEOUT, note_lost, &n), 0);
	assert_int_equal(weft_requester_outstanding(r), 2);
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(begin(r, read_of(BASE, 64), TIMEOUT, &more), 0);
	assert_int_equal(begin(r, read_of(BASE, 64), TIMEOUT, &more), -EAGAIN);
	assert_int_equal(
		weft_requester_expire(r, TIMEOUT + (1 << 20) + (1 << 17), note_lost, &n, 9), 4);
	free(r);
}
