/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The daemon's side of a block: sizes, every breach of the rules, and a client that keeps to them,
 * interleaved with the server at random. Two threads are in test_server_threads.c.
 */

#include "attach_rig.h"

#define PAGE UINT64_C(4096)
#define DATA_LEN (4 * PAGE)
#define ENTRIES 16

static const struct weft_attach_sqe good = {
	.op = WEFT_ATTACH_OP_WRITE,
	.handle = 7,
	.offset = 12345,
	.data = 100,
	.len = 64,
	.user = 99,
};

/* --- sizes --- */

static void
check_layout(uint32_t entries, uint64_t data_len, bool is_one)
{
	const struct weft_attach_layout none = { 1, 2, 3, 4 };
	struct weft_attach_layout l = none;

	assert_int_equal(weft_attach_layout(entries, data_len, &l), is_one ? 0 : -EINVAL);
	if (!is_one) {
		assert_memory_equal(&l, &none, sizeof(l));
		return;
	}
	assert_int_equal(l.sq_off, PAGE);
	assert_int_equal(l.cq_off, PAGE + UINT64_C(64) * entries);
	assert_int_equal(l.data_off % PAGE, 0);
	assert_in_range(l.data_off, PAGE + UINT64_C(96) * entries,
		PAGE + UINT64_C(96) * entries + PAGE - 1);
	assert_int_equal(l.len, l.data_off + data_len);
}

WEFT_TEST(entries_are_a_power_of_two_within_limits)
{
	static const uint32_t large[] = { 8192, 65536, UINT32_C(1) << 31, UINT32_MAX };

	for (uint32_t n = 0; n <= 4200; n++)
		check_layout(n, PAGE,
			n == 16 || n == 32 || n == 64 || n == 128 || n == 256 || n == 512 ||
				n == 1024 || n == 2048 || n == 4096);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(large); i++)
		check_layout(large[i], PAGE, false);
}

WEFT_TEST(data_is_pages_within_limits)
{
	static const struct {
		uint64_t len;
		bool is_one;
	} c[] = {
		{ 0, false },
		{ 1, false },
		{ PAGE - 1, false },
		{ PAGE, true },
		{ PAGE + 1, false },
		{ 2 * PAGE, true },
		{ (UINT64_C(64) << 20) - PAGE, true },
		{ (UINT64_C(64) << 20) - 1, false },
		{ UINT64_C(64) << 20, true },
		{ (UINT64_C(64) << 20) + 1, false },
		{ (UINT64_C(64) << 20) + PAGE, false },
		{ UINT64_C(1) << 32, false },
		{ (UINT64_C(1) << 32) + PAGE, false },
		{ UINT64_C(1) << 63, false },
		{ UINT64_MAX - PAGE + 1, false },
		{ UINT64_MAX, false },
	};

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(c); i++)
		for (uint32_t n = 16; n <= 4096; n *= 2)
			check_layout(n, c[i].len, c[i].is_one);
}

WEFT_TEST(the_head_says_how_the_block_is)
{
	struct weft_attach_server s, was;
	struct rig r;

	rig_open(&r, 32, DATA_LEN, 0, 0);
	assert_int_equal(r.head->magic, 0x41464557);
	assert_int_equal(r.head->version, 1);
	assert_int_equal(r.head->entries, 32);
	assert_int_equal(r.head->zero, 0);
	assert_int_equal(r.head->data_off, 2 * PAGE);
	assert_int_equal(r.head->data_len, DATA_LEN);
	assert_int_equal(r.head->is_over, 0);
	assert_ptr_equal(r.server.data, r.block + 2 * PAGE);
	rig_close(&r);

	/* What has no place is not written to. */
	memset(&s, 0xA5, sizeof(s));
	was = s;
	assert_int_equal(weft_attach_server_init(&s, NULL, 24, DATA_LEN), -EINVAL);
	assert_int_equal(weft_attach_server_init(&s, NULL, 32, DATA_LEN + 1), -EINVAL);
	assert_memory_equal(&s, &was, sizeof(s));
}

/* --- breaches --- */

/*
 * The next submission is refused for this reason, and so is all that follows, right or not. The
 * block stays as it was.
 */
static void
check_breach(struct rig *r, enum weft_attach_breach b)
{
	const uint32_t n_open = r->server.n_open;
	uint8_t *was = malloc(r->layout.len);
	struct weft_attach_sqe e;

	assert_non_null(was);
	memcpy(was, r->block, r->layout.len);
	assert_int_equal(weft_attach_server_next(&r->server, &e), -EPROTO);
	assert_int_equal(r->server.breach, b);
	assert_memory_equal(r->block, was, r->layout.len);
	r->sqe[r->server.sq_head & (r->entries - 1)] = good;
	r->head->sq_tail = r->server.sq_head + 1;
	r->head->cq_head = r->server.cq_tail;
	memcpy(was, r->block, r->layout.len);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(weft_attach_server_next(&r->server, &e), -EPROTO);
	assert_int_equal(r->server.breach, b);
	assert_int_equal(r->server.n_open, n_open);
	assert_memory_equal(r->block, was, r->layout.len);
	free(was);
}

static void
check_taken(struct rig *r, const struct weft_attach_sqe *want)
{
	struct weft_attach_sqe e;

	assert_int_equal(weft_attach_server_next(&r->server, &e), 0);
	assert_memory_equal(&e, want, sizeof(e));
}

/* What is submitted alone: taken, or refused for a reason. */
static void
check_one(const struct weft_attach_sqe *e, enum weft_attach_breach b)
{
	struct rig r;

	rig_open(&r, ENTRIES, DATA_LEN, 3, 8);
	rig_submit(&r, e);
	if (b == WEFT_ATTACH_KEEPS)
		check_taken(&r, e);
	else
		check_breach(&r, b);
	rig_close(&r);
}

/* Any number of the ring's entries may be submitted, and not one more. */
WEFT_TEST(a_tail_beyond_the_ring_is_a_breach)
{
	static const uint32_t starts[] = { 0, 5, UINT32_MAX - 15, UINT32_MAX, UINT32_C(1) << 31 };

	for (uint32_t n = 16; n <= 4096; n *= 2) {
		const uint32_t bad[] = { n + 1, 2 * n, UINT32_C(1) << 31, UINT32_MAX - n,
			UINT32_MAX };

		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(starts); i++) {
			struct rig r;

			for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(bad); k++) {
				rig_open(&r, n, PAGE, starts[i], 0);
				r.head->sq_tail = starts[i] + bad[k];
				check_breach(&r, WEFT_ATTACH_BAD_TAIL);
				rig_close(&r);
			}
			rig_open(&r, n, PAGE, starts[i], 0);
			for (uint32_t k = 0; k < n; k++)
				rig_submit(&r, &good);
			for (uint32_t k = 0; k < n; k++)
				check_taken(&r, &good);
			rig_close(&r);
		}
	}
}

/* A ring of completions that are done, told and not taken yet; another submission waits. */
static void
fill_completions(struct rig *r, uint32_t entries, uint32_t at)
{
	const struct weft_attach_cqe c = { .user = good.user };
	struct weft_attach_sqe e;

	rig_open(r, entries, PAGE, 0, at);
	for (uint32_t k = 0; k < entries; k++) {
		rig_submit(r, &good);
		check_taken(r, &good);
	}
	for (uint32_t k = 0; k < entries; k++)
		weft_attach_server_complete(&r->server, &c);
	assert_false(weft_attach_server_tell(&r->server));
	rig_submit(r, &good);
	assert_true(weft_attach_server_has_more(&r->server));
	assert_int_equal(weft_attach_server_next(&r->server, &e), -EAGAIN);
}

WEFT_TEST(a_head_beyond_the_completions_is_a_breach)
{
	static const uint32_t starts[] = { 0, 5, UINT32_MAX - 15, UINT32_MAX };
	static const uint32_t bad[] = { 1, 2, UINT32_C(1) << 31 };

	for (uint32_t n = 16; n <= 4096; n *= 4)
		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(starts); i++) {
			struct weft_attach_sqe e;
			struct rig r;

			for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(bad); k++) {
				fill_completions(&r, n, starts[i]);
				r.head->cq_head = r.server.cq_tail + bad[k];
				check_breach(&r, WEFT_ATTACH_BAD_HEAD);
				rig_close(&r);
			}
			fill_completions(&r, n, starts[i]);
			r.head->cq_head = starts[i] - 1;
			check_breach(&r, WEFT_ATTACH_BAD_HEAD);
			rig_close(&r);

			fill_completions(&r, n, starts[i]);
			r.head->cq_head = starts[i] + 1;
			check_taken(&r, &good);
			rig_submit(&r, &good);
			assert_int_equal(weft_attach_server_next(&r.server, &e), -EAGAIN);
			r.head->cq_head = r.server.cq_tail;
			check_taken(&r, &good);
			rig_close(&r);
		}
}

/* A client that submits more than it may have open keeps what it has, and gets no more. */
WEFT_TEST(no_more_are_open_than_there_are_entries)
{
	const struct weft_attach_cqe done = { .user = good.user };
	struct weft_attach_sqe e;
	struct weft_attach_cqe c;
	struct rig r;

	rig_open(&r, ENTRIES, PAGE, UINT32_MAX - 20, UINT32_MAX - 3);
	for (unsigned int k = 0; k < ENTRIES; k++) {
		rig_submit(&r, &good);
		check_taken(&r, &good);
	}
	rig_submit(&r, &good);
	assert_int_equal(weft_attach_server_next(&r.server, &e), -EAGAIN);
	weft_attach_server_complete(&r.server, &done);
	assert_int_equal(weft_attach_server_next(&r.server, &e), -EAGAIN);
	assert_false(weft_attach_server_tell(&r.server));
	assert_int_equal(weft_attach_server_next(&r.server, &e), -EAGAIN);
	assert_true(rig_take(&r, &c));
	check_taken(&r, &good);
	rig_submit(&r, &good);
	assert_int_equal(weft_attach_server_next(&r.server, &e), -EAGAIN);
	assert_int_equal(r.server.n_open, ENTRIES);
	assert_int_equal(r.server.breach, WEFT_ATTACH_KEEPS);
	rig_close(&r);
}

WEFT_TEST(what_is_no_operation_is_a_breach)
{
	for (unsigned int op = 0; op <= UINT8_MAX; op++) {
		const bool is_fence = op == WEFT_ATTACH_OP_FENCE;
		const bool has_len = !is_fence && op != WEFT_ATTACH_OP_MOVE;
		const bool is_one = op >= WEFT_ATTACH_OP_READ && op <= WEFT_ATTACH_OP_MOVE;
		struct weft_attach_sqe e = good;

		e.op = (uint8_t)op;
		e.handle = is_fence ? 0 : good.handle;
		e.len = has_len ? good.len : 0;
		check_one(&e, is_one ? WEFT_ATTACH_KEEPS : WEFT_ATTACH_BAD_OP);
		e.len = has_len ? 0 : 1;
		check_one(&e, WEFT_ATTACH_BAD_OP);
	}
}

WEFT_TEST(a_fence_that_names_a_region_is_a_breach)
{
	for (unsigned int bit = 0; bit < 32; bit++) {
		const struct weft_attach_sqe e = { .op = WEFT_ATTACH_OP_FENCE,
			.handle = UINT32_C(1) << bit };

		check_one(&e, WEFT_ATTACH_BAD_OP);
	}
}

/* Each bit of them, with each operation. */
WEFT_TEST(zeros_that_are_none_are_a_breach)
{
	static const struct {
		size_t from, len;
	} zero[] = {
		{ 1, 3 },
		{ 28, 4 },
		{ 40, 24 },
	};

	for (uint8_t op = WEFT_ATTACH_OP_READ; op <= WEFT_ATTACH_OP_MOVE; op++)
		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(zero); i++)
			for (size_t bit = 0; bit < zero[i].len * 8; bit++) {
				const bool is_fence = op == WEFT_ATTACH_OP_FENCE;
				struct weft_attach_sqe e = good;

				e.op = op;
				e.handle = is_fence ? 0 : good.handle;
				e.len = is_fence || op == WEFT_ATTACH_OP_MOVE ? 0 : good.len;
				((uint8_t *)&e)[zero[i].from + bit / 8] = (uint8_t)(1 << bit % 8);
				check_one(&e, WEFT_ATTACH_BAD_OP);
			}
}

WEFT_TEST(data_outside_of_its_area_is_a_breach)
{
	static const struct {
		uint64_t data;
		uint32_t len;
		bool is_in;
	} c[] = {
		{ 0, 1, true },
		{ 0, DATA_LEN, true },
		{ DATA_LEN - 1, 1, true },
		{ DATA_LEN - 64, 64, true },
		{ 1, DATA_LEN - 1, true },
		{ DATA_LEN, 1, false },
		{ DATA_LEN - 63, 64, false },
		{ 1, DATA_LEN, false },
		{ 0, DATA_LEN + 1, false },
		{ 0, UINT32_MAX, false },
		{ DATA_LEN + 1, 1, false },
		{ UINT64_C(1) << 32, 1, false },
		{ UINT64_MAX, 1, false },
		{ UINT64_MAX, 2, false },
		{ UINT64_MAX - 63, 64, false },
		{ UINT64_MAX - 62, 64, false },
		{ UINT64_MAX - DATA_LEN + 1, DATA_LEN, false },
		{ UINT64_MAX - UINT32_MAX + 2, UINT32_MAX, false },
		{ UINT64_C(1) << 63, UINT32_C(1) << 31, false },
	};

	static const uint8_t ops[] = { WEFT_ATTACH_OP_READ, WEFT_ATTACH_OP_WRITE,
		WEFT_ATTACH_OP_UIO_READ, WEFT_ATTACH_OP_UIO_WRITE };

	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(ops); k++)
		for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(c); i++) {
			struct weft_attach_sqe e = good;

			e.op = ops[k];
			e.data = c[i].data;
			e.len = c[i].len;
			check_one(&e, c[i].is_in ? WEFT_ATTACH_KEEPS : WEFT_ATTACH_BAD_DATA);
		}
}

/* What was taken before a breach ends as it would have, and then the client is told. */
WEFT_TEST(what_was_open_at_a_breach_is_completed)
{
	const struct weft_attach_cqe done = { .user = 5, .status = -EIO };
	struct weft_attach_cqe c;
	struct rig r;

	rig_open(&r, ENTRIES, PAGE, 0, UINT32_MAX);
	rig_submit(&r, &good);
	rig_submit(&r, &good);
	check_taken(&r, &good);
	check_taken(&r, &good);
	r.head->sq_tail = r.sq_tail + ENTRIES + 1;
	check_breach(&r, WEFT_ATTACH_BAD_TAIL);
	weft_attach_server_complete(&r.server, &done);
	weft_attach_server_complete(&r.server, &done);
	assert_int_equal(r.server.n_open, 0);
	r.head->cq_head = r.cq_head;
	assert_false(rig_sees(&r));
	assert_false(weft_attach_server_end(&r.server)); /* nobody sleeps */
	assert_int_equal(r.head->is_over, 1);
	assert_true(rig_take(&r, &c) && rig_take(&r, &c) && !rig_sees(&r));
	assert_memory_equal(&c, &done, sizeof(c));
	rig_close(&r);
}

/* Who sleeps is woken by the end, with completions that he was not told of or without. */
WEFT_TEST(the_end_wakes_who_sleeps)
{
	const struct weft_attach_cqe done = { .user = 5 };

	for (unsigned int k = 0; k < 4; k++) {
		const bool sleeps = (k & 1) != 0, has_ended = (k & 2) != 0;
		struct rig r;

		rig_open(&r, ENTRIES, PAGE, 0, UINT32_MAX);
		if (has_ended) {
			rig_submit(&r, &good);
			check_taken(&r, &good);
			weft_attach_server_complete(&r.server, &done);
		}
		r.head->client_sleeps = sleeps;
		assert_int_equal(weft_attach_server_end(&r.server), sleeps);
		assert_int_equal(r.head->client_sleeps, 0);
		assert_int_equal(r.head->is_over, 1);
		assert_int_equal(rig_sees(&r), has_ended);
		rig_close(&r);
	}
}

WEFT_TEST(each_breach_has_words)
{
	for (unsigned int b = WEFT_ATTACH_KEEPS; b <= WEFT_ATTACH_BAD_DATA; b++) {
		const char *name = weft_attach_breach_name((enum weft_attach_breach)b);

		assert_non_null(name);
		for (unsigned int a = 0; a < b; a++)
			assert_string_not_equal(
				name, weft_attach_breach_name((enum weft_attach_breach)a));
	}
}

/* --- a client and the server, at random --- */

enum client_state { AWAKE, LOOKS_AGAIN, ASLEEP };

struct run {
	struct rig rig;
	struct weft_rand *rnd;
	bool is_greedy; /* submits where the ring has room, and not only what it may have open */
	uint32_t total; /* submissions, in their order 0.. */
	uint32_t submitted, taken, completed, told, seen;
	struct weft_attach_sqe *sent;
	uint32_t *open; /* taken - completed of them */
	uint32_t *order; /* of completion */
	uint8_t *n_done;
	enum client_state client;
	bool is_signalled;
};

static struct weft_attach_sqe
draw_submission(struct run *u)
{
	const uint64_t data_len = u->rig.server.data_len;
	struct weft_attach_sqe e = {
		.op = (uint8_t)(1 + weft_rand_below(u->rnd, 3)),
		.offset = weft_rand_u64(u->rnd),
		.user = u->submitted,
	};

	if (e.op == WEFT_ATTACH_OP_FENCE)
		return e;
	e.handle = (uint32_t)weft_rand_u64(u->rnd);
	e.len = (uint32_t)(1 + weft_rand_below(u->rnd, data_len));
	e.data = weft_rand_below(u->rnd, 4) == 0 ? data_len - e.len
	                                         : weft_rand_below(u->rnd, data_len - e.len + 1);
	return e;
}

static struct weft_attach_cqe
completion_of(uint32_t user)
{
	return (struct weft_attach_cqe){
		.user = user,
		.bad = user * UINT64_C(0x9E3779B97F4A7C15),
		.status = -(int32_t)(user % 200),
		.bad_lines = user ^ 0x5A5A,
	};
}

static void
client_submits(struct run *u, uint32_t n)
{
	for (; n != 0 && u->submitted < u->total; n--) {
		const uint32_t used = u->submitted - (u->is_greedy ? u->taken : u->seen);
		const struct weft_attach_sqe e = draw_submission(u);

		if (used == u->rig.entries)
			return;
		u->sent[u->submitted++] = e;
		rig_submit(&u->rig, &e);
	}
}

static void
client_takes(struct run *u, uint32_t n)
{
	struct weft_attach_cqe c;

	for (; n != 0 && rig_take(&u->rig, &c); n--) {
		const struct weft_attach_cqe want = completion_of(u->order[u->seen]);

		assert_true(u->seen < u->told);
		assert_memory_equal(&c, &want, sizeof(c));
		u->n_done[c.user]++;
		u->seen++;
	}
}

static void
server_takes(struct run *u, uint32_t n)
{
	for (; n != 0; n--) {
		const bool has_room = u->taken - u->seen < u->rig.entries;
		struct weft_attach_sqe e;
		int rc;

		assert_int_equal(
			weft_attach_server_has_more(&u->rig.server), u->taken != u->submitted);
		rc = weft_attach_server_next(&u->rig.server, &e);
		if (u->taken == u->submitted || !has_room) {
			assert_int_equal(rc, -EAGAIN);
			return;
		}
		assert_int_equal(rc, 0);
		assert_memory_equal(&e, &u->sent[u->taken], sizeof(e));
		u->open[u->taken++ - u->completed] = (uint32_t)e.user;
	}
}

static void
server_completes(struct run *u, uint32_t n)
{
	for (; n != 0 && u->taken != u->completed; n--) {
		const uint32_t n_open = u->taken - u->completed;
		const uint32_t k = (uint32_t)weft_rand_below(u->rnd, n_open);
		const struct weft_attach_cqe c = completion_of(u->open[k]);

		u->order[u->completed++] = u->open[k];
		u->open[k] = u->open[n_open - 1];
		weft_attach_server_complete(&u->rig.server, &c);
	}
}

static void
server_tells(struct run *u)
{
	const uint32_t flag = u->rig.head->client_sleeps;
	const bool wakes = u->told != u->completed && flag != 0;

	assert_int_equal(weft_attach_server_tell(&u->rig.server), wakes);
	assert_int_equal(u->rig.head->client_sleeps, wakes ? 0 : flag);
	u->told = u->completed;
	u->is_signalled |= wakes;
}

/* One step on the way to sleep, or out of it. */
static void
client_sleeps(struct run *u)
{
	switch (u->client) {
	case AWAKE:
		if (u->submitted == u->seen)
			return;
		u->rig.head->client_sleeps = 1 + (uint32_t)weft_rand_below(u->rnd, UINT32_MAX);
		u->client = LOOKS_AGAIN;
		break;
	case LOOKS_AGAIN:
		u->client = rig_sees(&u->rig) ? AWAKE : ASLEEP;
		if (u->client == AWAKE && weft_rand_below(u->rnd, 2) == 0)
			u->rig.head->client_sleeps = 0;
		break;
	case ASLEEP:
		if (!u->is_signalled)
			return;
		u->is_signalled = false;
		u->client = AWAKE;
		break;
	}
}

static void
check_state(const struct run *u, uint32_t cq_at)
{
	const struct rig *r = &u->rig;

	assert_int_equal(r->server.breach, WEFT_ATTACH_KEEPS);
	assert_int_equal(r->server.n_open, u->taken - u->completed);
	assert_in_range(u->taken - u->seen, 0, r->entries);
	assert_int_equal(r->head->sq_tail, r->sq_tail);
	assert_int_equal(r->head->cq_head, r->cq_head);
	assert_int_equal(r->head->cq_tail, cq_at + u->told);
	/* Who sleeps has been told of nothing, or is signalled. */
	assert_true(u->client != ASLEEP || !rig_sees(r) || u->is_signalled);
}

static void
run_steps(struct run *u, uint32_t most, uint32_t cq_at)
{
	uint64_t steps = 0;

	while (u->seen < u->total) {
		const uint32_t n = 1 + (uint32_t)weft_rand_below(u->rnd, most);

		switch (weft_rand_below(u->rnd, 6)) {
		case 0:
			if (u->client == AWAKE)
				client_submits(u, n);
			break;
		case 1:
			if (u->client == AWAKE)
				client_takes(u, n);
			break;
		case 2: server_takes(u, n); break;
		case 3: server_completes(u, n); break;
		case 4: server_tells(u); break;
		default: client_sleeps(u); break;
		}
		check_state(u, cq_at);
		assert_true(steps++ < UINT64_C(1000) * u->total);
	}
}

/* Where the positions of a ring begin: at zero, before they wrap, anywhere. */
static uint32_t
draw_start(struct weft_rand *rnd, uint32_t entries)
{
	switch (weft_rand_below(rnd, 3)) {
	case 0: return 0;
	case 1: return UINT32_MAX - (uint32_t)weft_rand_below(rnd, UINT64_C(3) * entries);
	default: return (uint32_t)weft_rand_u64(rnd);
	}
}

static void
run_one(struct weft_rand *rnd, uint32_t entries)
{
	const uint64_t data_len = PAGE * (1 + weft_rand_below(rnd, 8));
	const uint32_t sq_at = draw_start(rnd, entries), cq_at = draw_start(rnd, entries);
	struct run u = { .rnd = rnd, .is_greedy = weft_rand_below(rnd, 3) == 0 };

	u.total = 4 * entries + (uint32_t)weft_rand_below(rnd, 200);
	u.sent = calloc(u.total, sizeof(*u.sent));
	u.open = calloc(u.total, sizeof(*u.open));
	u.order = calloc(u.total, sizeof(*u.order));
	u.n_done = calloc(u.total, 1);
	assert_true(u.sent != NULL && u.open != NULL && u.order != NULL && u.n_done != NULL);
	rig_open(&u.rig, entries, data_len, sq_at, cq_at);
	run_steps(&u, 1 + (uint32_t)weft_rand_below(rnd, 2 * entries), cq_at);
	for (uint32_t i = 0; i < u.total; i++)
		assert_int_equal(u.n_done[i], 1);
	assert_int_equal(u.rig.server.sq_head, sq_at + u.total);
	for (uint64_t i = 0; i < data_len; i++)
		assert_int_equal(u.rig.data[i], 0);
	rig_close(&u.rig);
	free(u.sent);
	free(u.open);
	free(u.order);
	free(u.n_done);
}

WEFT_TEST(each_submission_has_one_completion)
{
	const unsigned int runs = weft_test_cases(40);
	struct weft_rand rnd;

	weft_test_seed(&rnd, __func__);
	for (unsigned int i = 0; i < runs; i++)
		for (uint32_t n = WEFT_ATTACH_ENTRIES_MIN; n <= WEFT_ATTACH_ENTRIES_MAX; n *= 2)
			run_one(&rnd, n);
}
