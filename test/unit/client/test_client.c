/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The client library against a daemon over flat memory (fake_daemon.h). */

#include "weft_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_daemon.h"
#include "weft.h"
#include "weft_attach_rundir.h"

#define TEST_RW (int)(WEFT_READ | WEFT_WRITE)
#define TEST_S INT64_C(1000000000)

static int
test_setup(void **state)
{
	(void)state;
	fake_folder_begin();
	unsetenv("WEFT_SOCKET");
	return 0;
}

static int
test_teardown(void **state)
{
	(void)state;
	fake_folder_end();
	return 0;
}

WEFT_TEST_EACH(test_setup, test_teardown)

static int
test_count(const char *folder)
{
	DIR *d = opendir(folder);
	int n = 0;

	assert_non_null(d);
	while (readdir(d) != NULL)
		n++;
	closedir(d);
	return n;
}

static int
test_fds(void)
{
	return test_count("/proc/self/fd");
}

static struct weft *
test_attach(struct fake *f, const struct weft_attach_opts *o)
{
	struct weft *w;

	if (weft_attach(f->path, o, &w) != 0)
		fail_msg("%s", weft_error(NULL));
	return w;
}

static struct weft_region *
test_open(struct weft *w, const char *name, int flags)
{
	struct weft_region *r;

	if (weft_open(w, name, flags, &r) != 0)
		fail_msg("%s", weft_error(w));
	return r;
}

/* Wait for all that is open. */
static void
test_drain(struct weft *w, int n)
{
	struct weft_done done[16];
	int got;

	while (n > 0) {
		got = weft_wait(w, done, 16, 20 * TEST_S);
		assert_true(got > 0);
		n -= got;
	}
}

/* --- random operations against a flat copy --- */

struct rope { /* an operation that is open */
	bool is_open;
	struct weft_op op;
	uint8_t *expect; /* READ */
	int status;
	uint64_t bad;
};

struct runner {
	pthread_t thread;
	struct fake *f;
	struct weft_rand rand;
	uint32_t region, turns, max, n_open, n_max, n_behind;
	bool is_poisoned;
	uint8_t *flat;
	struct weft *w;
	struct weft_region *r;
	struct rope *ropes;
	uint32_t *behind; /* those since the last fence */
};

static uint64_t
runner_below(struct runner *k, uint64_t n)
{
	return weft_rand_below(&k->rand, n);
}

static size_t
runner_len(struct runner *k, size_t max)
{
	static const size_t edges[] = { 1, 63, 64, 65, 128, 4095, 4096, 4097, 16384 };
	size_t n;

	switch (runner_below(k, 6)) {
	case 0: n = edges[runner_below(k, WEFT_ARRAY_SIZE(edges))]; break;
	case 1:
	case 2: n = runner_below(k, 64) + 1; break;
	case 3: n = runner_below(k, 4096) + 1; break;
	case 4: n = runner_below(k, 40000) + 1; break;
	default: n = runner_below(k, 64) == 0 ? max : 64; break;
	}
	return n < max ? n : max;
}

static uint64_t
runner_off(struct runner *k, size_t n)
{
	const uint64_t off = runner_below(k, FAKE_SIZE - n + 1);

	return runner_below(k, 3) == 0 ? off & ~UINT64_C(63) : off;
}

/* What a read or write is to give, by the first poisoned line of it. */
static int
runner_status(const struct runner *k, uint64_t off, size_t n, uint64_t *bad)
{
	uint64_t line;

	for (line = off / 64; k->is_poisoned && line <= (off + n - 1) / 64; line++)
		if (fake_is_bad((uint64_t)k->region * FAKE_SIZE / 64 + line)) {
			*bad = line * 64;
			return -EIO;
		}
	return 0;
}

static bool
runner_clashes(const struct runner *k, const struct weft_op *op)
{
	const struct weft_op *o;
	uint32_t i;

	for (i = 0; i < k->n_behind; i++) {
		o = &k->ropes[k->behind[i]].op;
		if (k->ropes[k->behind[i]].is_open &&
			(o->kind == WEFT_OP_WRITE || op->kind == WEFT_OP_WRITE) &&
			o->off < op->off + op->n && op->off < o->off + o->n)
			return true;
	}
	return false;
}

/* Note what an operation that was taken must give. */
static void
runner_expect(struct runner *k, struct rope *p)
{
	const struct weft_op *op = &p->op;

	k->n_open++;
	p->is_open = true;
	p->status = 0;
	if (op->kind == WEFT_OP_FENCE) {
		k->n_behind = 0;
		return;
	}
	k->behind[k->n_behind++] = (uint32_t)op->user;
	p->status = runner_status(k, op->off, op->n, &p->bad);
	if (p->status != 0)
		return;
	if (op->kind == WEFT_OP_WRITE) {
		memcpy(k->flat + op->off, op->buf, op->n);
	} else {
		p->expect = malloc(op->n);
		assert_non_null(p->expect);
		memcpy(p->expect, k->flat + op->off, op->n);
	}
}

static void
runner_draw(struct runner *k, struct rope *p, uint32_t number)
{
	struct weft_op *op = &p->op;

	*op = (struct weft_op){ .region = k->r, .user = number };
	op->kind = runner_below(k, 40) == 0  ? WEFT_OP_FENCE
	           : runner_below(k, 2) == 0 ? WEFT_OP_READ
	                                     : WEFT_OP_WRITE;
	p->expect = NULL;
	if (op->kind == WEFT_OP_FENCE)
		return;
	op->n = runner_len(k, k->max);
	op->off = runner_off(k, op->n);
	if (runner_clashes(k, op)) {
		*op = (struct weft_op){ .region = k->r, .user = number, .kind = WEFT_OP_FENCE };
		return;
	}
	op->buf = malloc(op->n);
	assert_non_null(op->buf);
	weft_rand_fill(&k->rand, op->buf, op->n);
}

/* Submit one that is drawn. @return whether it was taken */
static bool
runner_submit(struct runner *k)
{
	struct rope *p = k->ropes;
	int taken;

	while (p < k->ropes + k->n_max && p->is_open)
		p++;
	assert_true(p < k->ropes + k->n_max);
	runner_draw(k, p, (uint32_t)(p - k->ropes));
	taken = weft_submit(k->w, &p->op, 1);
	assert_true(taken == 0 || taken == 1);
	if (taken == 0) {
		free(p->op.buf);
		return false;
	}
	runner_expect(k, p);
	if (p->op.kind == WEFT_OP_WRITE)
		memset(p->op.buf, 0xee, p->op.n);
	return true;
}

static void
runner_check(struct runner *k, const struct weft_done *d)
{
	struct rope *p = &k->ropes[d->user];

	assert_true(d->user < k->n_max && p->is_open);
	if (d->status != p->status || (d->status != 0 && d->bad != p->bad))
		fail_msg("operation %d of %zu bytes at %llu: %d at %llu, expected %d at %llu",
			p->op.kind, p->op.n, (unsigned long long)p->op.off, d->status,
			(unsigned long long)d->bad, p->status, (unsigned long long)p->bad);
	if (p->expect != NULL)
		assert_memory_equal(p->op.buf, p->expect, p->op.n);
	free(p->op.buf);
	free(p->expect);
	p->is_open = false;
	k->n_open--;
}

static void
runner_wait(struct runner *k, bool all)
{
	static const int64_t times[] = { 0, 1, 1000, 100000, 1000000, -1 };
	struct weft_done done[32];
	struct pollfd p = { .events = POLLIN };
	int got, i, n;

	do {
		n = (int)runner_below(k, 32) + 1;
		if (k->n_open > 0 && runner_below(k, 16) == 0) {
			p.fd = weft_fd(k->w);
			got = weft_wait(k->w, done, n, 0);
			if (got == 0) {
				assert_int_equal(poll(&p, 1, 20000), 1);
				got = weft_wait(k->w, done, n, 0);
			}
		} else {
			got = weft_wait(k->w, done, n, times[runner_below(k, 6)]);
		}
		if (got < 0)
			fail_msg("%s", weft_error(k->w));
		for (i = 0; i < got; i++)
			runner_check(k, &done[i]);
	} while (all && k->n_open > 0);
	if (k->n_open == 0)
		k->n_behind = 0;
}

/* What waits: any length, in pieces. */
static void
runner_block(struct runner *k)
{
	const size_t n = runner_below(k, 8) == 0 ? runner_below(k, FAKE_SIZE) : runner_len(k, 5000);
	const uint64_t off = runner_off(k, n);
	uint8_t *buf = malloc(n + 1);
	uint64_t bad = 0;
	int status = n == 0 ? 0 : runner_status(k, off, n, &bad), rc;

	assert_non_null(buf);
	weft_rand_fill(&k->rand, buf, n);
	if (runner_below(k, 8) == 0)
		assert_int_equal(weft_fence(k->r), 0);
	if (runner_below(k, 2) == 0) {
		rc = weft_read(k->r, off, buf, n);
		assert_int_equal(rc, status);
		if (rc == 0)
			assert_memory_equal(buf, k->flat + off, n);
	} else if (status == 0) {
		assert_int_equal(weft_write(k->r, off, buf, n), 0);
		memcpy(k->flat + off, buf, n);
	}
	if (status != 0 && weft_read(k->r, off, buf, n) == status) {
		assert_int_equal(weft_last_bad(k->w), bad);
		fake_is_line(weft_error(k->w));
	}
	free(buf);
}

static void
runner_attach(struct runner *k)
{
	struct weft_attach_opts o = { .size = sizeof(o), .entries = 16u << runner_below(k, 5) };
	char name[16];

	o.spin_ns = runner_below(k, 2) == 0 ? -1 : (int64_t)runner_below(k, 200000);
	o.buffer = o.entries * 64 + 4096 + runner_below(k, 600000);
	k->w = test_attach(k->f, &o);
	assert_string_equal(weft_node(k->w), "fake");
	snprintf(name, sizeof(name), "g%u", k->region);
	k->r = test_open(k->w, name, k->region == FAKE_READ_ONLY ? WEFT_READ : TEST_RW);
	k->max = (uint32_t)((o.buffer + 4095) / 4096 * 4096 - o.entries * 64) / 4096 * 4096;
	k->n_max = o.entries + 4;
	k->ropes = calloc(k->n_max, sizeof(*k->ropes));
	k->behind = calloc(k->turns * 8 + 8, sizeof(*k->behind));
	assert_true(k->ropes != NULL && k->behind != NULL);
	k->n_open = k->n_behind = 0;
}

static void *
runner_run(void *arg)
{
	struct runner *k = arg;
	uint32_t round, turn, n;

	k->flat = calloc(1, FAKE_SIZE);
	assert_non_null(k->flat);
	for (round = 0; round < 4; round++) {
		runner_attach(k);
		for (turn = 0; turn < k->turns; turn++) {
			switch (runner_below(k, 8)) {
			case 0:
				runner_wait(k, true);
				runner_block(k);
				break;
			case 1:
			case 2:
			case 3: runner_wait(k, false); break;
			default:
				for (n = (uint32_t)runner_below(k, 8); n > 0 && runner_submit(k);)
					n--;
				break;
			}
		}
		runner_wait(k, true);
		weft_detach(k->w);
		free(k->ropes);
		free(k->behind);
	}
	free(k->flat);
	return NULL;
}

WEFT_TEST(random_operations_give_what_flat_memory_gives)
{
	static const uint32_t regions[] = { 0, 1, FAKE_POISONED };
	struct runner k[WEFT_ARRAY_SIZE(regions)];
	struct fake f = { .idle_max = 20 };
	struct weft_rand rand;
	size_t i;

	weft_test_seed(&rand, "operations");
	fake_begin(&f, fake_socket, weft_rand_u64(&rand));
	for (i = 0; i < WEFT_ARRAY_SIZE(k); i++) {
		k[i] = (struct runner){ .f = &f,
			.region = regions[i],
			.is_poisoned = regions[i] == FAKE_POISONED,
			.turns = weft_test_cases(1500) };
		weft_rand_seed(&k[i].rand, weft_rand_u64(&rand));
		assert_int_equal(pthread_create(&k[i].thread, NULL, runner_run, &k[i]), 0);
	}
	for (i = 0; i < WEFT_ARRAY_SIZE(k); i++)
		assert_int_equal(pthread_join(k[i].thread, NULL), 0);
	fake_end(&f);
	assert_int_equal(f.n_clashes, 0);
	printf("%u operations, %u signals, %u sleeps\n", f.n_ops, f.n_signals, f.n_sleeps);
}

/* --- waking and sleeping --- */

static void
test_alarm(int sig)
{
	(void)sig;
}

WEFT_TEST(who_sleeps_is_woken_also_between_signals)
{
	const struct weft_attach_opts o = { .size = sizeof(o), .spin_ns = -1 };
	const struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { 0 };
	struct sigaction act = { .sa_handler = test_alarm }, before;
	const int64_t begin = fake_now_ns();
	struct fake f = { 0 };
	struct weft_region *r;
	uint32_t i, n;
	struct weft *w;

	fake_begin(&f, fake_socket, 1);
	w = test_attach(&f, &o);
	r = test_open(w, "g0", TEST_RW);
	assert_int_equal(sigaction(SIGALRM, &act, &before), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	/* Who finds the other's word at once does not sleep: on a busy machine that is often. */
	for (i = 0; i < 1000 || f.n_sleeps <= 100 || f.n_signals <= 100; i++) {
		const uint64_t at = i % (FAKE_SIZE / 4) * 4;

		assert_int_equal(weft_write(r, at, &i, sizeof(i)), 0);
		assert_int_equal(weft_read(r, at, &n, sizeof(n)), 0);
		assert_int_equal(n, i);
		assert_true(fake_now_ns() - begin < 120 * TEST_S);
	}
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &before, NULL), 0);
	weft_detach(w);
	fake_end(&f);
}

WEFT_TEST(a_wait_ends_in_time)
{
	static const int64_t spins[] = { -1, 1, 3600 * TEST_S };
	struct weft_op op = { .kind = WEFT_OP_FENCE, .user = 7 };
	struct weft_attach_opts o = { .size = sizeof(o) };
	struct fake f = { 0 };
	struct weft_done done;
	struct weft *w;
	int64_t begin;
	size_t i;

	fake_begin(&f, fake_socket, 2);
	for (i = 0; i < WEFT_ARRAY_SIZE(spins); i++) {
		o.spin_ns = spins[i];
		w = test_attach(&f, &o);
		assert_int_equal(weft_wait(w, &done, 1, -1), 0); /* none is open */
		f.is_held = true;
		assert_int_equal(weft_submit(w, &op, 1), 1);
		begin = fake_now_ns();
		assert_int_equal(weft_wait(w, &done, 1, 20000000), 0);
		assert_in_range(fake_now_ns() - begin, 20000000, TEST_S);
		assert_int_equal(weft_wait(w, &done, 1, 0), 0);
		f.is_held = false;
		assert_int_equal(weft_wait(w, &done, 1, 20 * TEST_S), 1);
		assert_int_equal(done.user, 7);
		weft_detach(w);
	}
	fake_end(&f);
}

WEFT_TEST(the_descriptor_is_readable_as_long_as_something_is_there)
{
	struct weft_op op = { .kind = WEFT_OP_FENCE };
	struct pollfd p = { .events = POLLIN };
	struct weft_done done;
	struct fake f = { 0 };
	struct weft *w;

	fake_begin(&f, fake_socket, 3);
	w = test_attach(&f, NULL);
	p.fd = weft_fd(w);
	assert_int_equal(poll(&p, 1, 0), 0);
	f.is_held = true;
	assert_int_equal(weft_submit(w, &op, 1) + weft_submit(w, &op, 1), 2);
	assert_int_equal(poll(&p, 1, 20), 0);
	f.is_held = false;
	while (f.n_done < 2)
		;
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(weft_wait(w, &done, 1, 20 * TEST_S), 1);
	/* The second came before it was armed again. */
	usleep(20000);
	assert_int_equal(weft_fd(w), p.fd);
	assert_int_equal(poll(&p, 1, 20000), 1);
	assert_int_equal(weft_wait(w, &done, 1, 0), 1);
	assert_int_equal(weft_fd(w), p.fd);
	assert_int_equal(poll(&p, 1, 20), 0);
	weft_detach(w);
	fake_end(&f);
}

/* --- a daemon that leaves --- */

static void
test_all_is_over(struct weft *w, struct weft_region *r)
{
	const struct weft_op op = { .kind = WEFT_OP_FENCE };
	struct weft_region_info info;
	struct weft_region *other;
	struct weft_done done;
	uint8_t byte = 0;

	fake_is_line(weft_error(w));
	assert_int_equal(weft_submit(w, &op, 1), -ESHUTDOWN);
	assert_int_equal(weft_wait(w, &done, 1, 0), -ESHUTDOWN);
	assert_int_equal(weft_wait(w, &done, 1, -1), -ESHUTDOWN);
	assert_int_equal(weft_read(r, 0, &byte, 1), -ESHUTDOWN);
	assert_int_equal(weft_write(r, 0, &byte, 1), -ESHUTDOWN);
	assert_int_equal(weft_fence(r), -ESHUTDOWN);
	assert_int_equal(weft_info(r, &info), -ESHUTDOWN);
	assert_int_equal(weft_regions(w, NULL, 0), -ESHUTDOWN);
	assert_int_equal(weft_open(w, "g0", WEFT_READ, &other), -ESHUTDOWN);
	assert_non_null(strstr(weft_error(w), fake_socket));
}

WEFT_TEST(a_daemon_that_leaves_at_any_moment_is_noticed)
{
	static const int64_t spins[] = { -1, 0, 3600 * TEST_S };
	uint32_t i, n = weft_test_cases(60);
	struct weft_attach_opts o = { .size = sizeof(o) };
	struct weft_rand rand;
	struct weft_region *r;
	struct weft *w;
	uint8_t *buf = calloc(1, FAKE_SIZE);
	int64_t begin;
	size_t len;
	int rc;

	assert_non_null(buf);
	weft_test_seed(&rand, "leaving");
	for (i = 0; i < n; i++) {
		struct fake f = { .idle_max = (uint32_t)weft_rand_below(&rand, 30),
			.exit = FAKE_KILLED + i % 3,
			.leave_after = 1 + (uint32_t)weft_rand_below(&rand, 200) };

		o.spin_ns = spins[weft_rand_below(&rand, 3)];
		fake_begin(&f, fake_socket, weft_rand_u64(&rand));
		w = test_attach(&f, &o);
		r = test_open(w, "g0", TEST_RW);
		do {
			begin = fake_now_ns();
			len = weft_rand_below(&rand, 4) == 0 ? FAKE_SIZE : 64;
			rc = weft_rand_below(&rand, 2) == 0 ? weft_read(r, 0, buf, len)
			                                    : weft_write(r, 0, buf, len);
		} while (rc == 0);
		assert_int_equal(rc, -ESHUTDOWN);
		assert_in_range(fake_now_ns() - begin, 0, TEST_S);
		test_all_is_over(w, r);
		weft_close(r);
		weft_detach(w);
		fake_end(&f);
	}
	free(buf);
}

WEFT_TEST(what_was_done_before_the_end_is_delivered)
{
	struct weft_op ops[5];
	struct weft_done done[2];
	struct weft_region *r;
	struct weft *w;
	size_t i;
	int exit;

	for (exit = FAKE_KILLED; exit < FAKE_EXITS; exit++) {
		struct fake f = { .exit = (enum fake_exit)exit, .leave_after = 5 };

		fake_begin(&f, fake_socket, 4);
		w = test_attach(&f, NULL);
		r = test_open(w, "g0", TEST_RW);
		for (i = 0; i < WEFT_ARRAY_SIZE(ops); i++)
			ops[i] = (struct weft_op){ .kind = WEFT_OP_FENCE, .user = i };
		f.is_held = true;
		assert_int_equal(weft_submit(w, ops, 5), 5);
		f.is_held = false;
		/* A daemon that is killed need not have said all of it. */
		usleep(50000);
		for (i = 0; weft_wait(w, done, 1, exit == FAKE_KILLED ? TEST_S : 0) == 1; i++)
			assert_int_equal(done[0].user, i);
		assert_true(i == 5 || exit == FAKE_KILLED);
		test_all_is_over(w, r);
		weft_detach(w);
		fake_end(&f);
	}
}

/* A program that only ever looks learns it as well, and one that sleeps on the descriptor. */
WEFT_TEST(a_daemon_that_was_killed_is_noticed_by_who_does_not_wait)
{
	const struct weft_op op = { .kind = WEFT_OP_FENCE };
	struct pollfd p = { .events = POLLIN };
	struct weft_done done;
	struct weft *w;
	int64_t begin;
	int i, rc;

	for (i = 0; i < 2; i++) {
		struct fake f = { 0 };

		fake_begin(&f, fake_socket, 5);
		w = test_attach(&f, NULL);
		f.is_held = true;
		assert_int_equal(weft_submit(w, &op, 1), 1);
		p.fd = weft_fd(w);
		fake_end(&f);
		begin = fake_now_ns();
		if (i == 1)
			assert_int_equal(poll(&p, 1, 1000), 1);
		do
			rc = weft_wait(w, &done, 1, 0);
		while (rc == 0 && fake_now_ns() - begin < 2 * TEST_S);
		assert_int_equal(rc, -ESHUTDOWN);
		assert_in_range(fake_now_ns() - begin, 0, TEST_S);
		weft_detach(w);
	}
}

/* --- a daemon that is none --- */

WEFT_TEST(what_is_no_socket_of_a_host_is_no_daemon_that_has_gone)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct weft *w;
	char path[128];
	int fd;

	assert_int_equal(weft_attach("/dev/null", NULL, &w), -EPROTO);
	assert_int_equal(weft_attach(fake_folder, NULL, &w), -EPROTO);
	/* A socket of another kind that somebody serves, and one that nobody does any more. */
	assert_in_range(
		snprintf(path, sizeof(path), "%s/stream", fake_folder), 1, sizeof(at.sun_path) - 1);
	memcpy(at.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(weft_attach(path, NULL, &w), -EPROTO);
	close(fd);
	assert_int_equal(weft_attach(path, NULL, &w), -ECONNREFUSED);
	assert_int_equal(unlink(path), 0);
}

WEFT_TEST(wrong_answers_are_errors_and_leave_nothing)
{
	static const struct {
		enum fake_fault fault;
		int rc;
	} rows[] = {
		{ FAKE_CLOSES, -ECONNREFUSED },
		{ FAKE_REFUSES, -EAGAIN },
		{ FAKE_SHORT, -EPROTO },
		{ FAKE_LONG, -EPROTO },
		{ FAKE_EMPTY, -EPROTO },
		{ FAKE_MAGIC, -EPROTO },
		{ FAKE_VERSION, -EPROTONOSUPPORT },
		{ FAKE_CALL, -EPROTO },
		{ FAKE_STATUS, -EPROTO },
		{ FAKE_NO_FDS, -EPROTO },
		{ FAKE_TWO_FDS, -EPROTO },
		{ FAKE_SEVEN_FDS, -EPROTO },
		{ FAKE_OTHER_FDS, -EPROTO },
		{ FAKE_SMALL_BLOCK, -EPROTO },
		{ FAKE_UNSEALED, -EPROTO },
		{ FAKE_NO_HEAD, -EPROTO },
		{ FAKE_ENTRIES, -EPROTO },
		{ FAKE_ODD_DATA, -EPROTO },
		{ FAKE_TINY_DATA, -EPROTO },
	};
	const int fds = test_fds();
	struct weft *w;
	size_t i;

	static_assert(WEFT_ARRAY_SIZE(rows) == FAKE_FAULTS - 1, "a row for each");
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct fake f = { .fault = rows[i].fault };

		fake_begin(&f, fake_socket, 6);
		if (weft_attach(fake_socket, NULL, &w) != rows[i].rc)
			fail_msg("fault %d: %s", rows[i].fault, weft_error(NULL));
		assert_null(w);
		fake_is_line(weft_error(NULL));
		assert_non_null(strstr(weft_error(NULL), fake_socket));
		fake_end(&f);
		assert_int_equal(test_fds(), fds);
	}
}

/* After attaching, an answer that is none ends the attachment: what follows it can't be told. */
WEFT_TEST(wrong_answers_later_end_the_attachment)
{
	enum fake_fault fault;
	struct weft_region_info info;
	struct weft_region *r;
	struct weft *w;

	for (fault = FAKE_CLOSES; fault <= FAKE_STATUS; fault++) {
		struct fake f = { 0 };

		fake_begin(&f, fake_socket, 7);
		w = test_attach(&f, NULL);
		r = test_open(w, "g0", TEST_RW);
		f.fault = fault;
		if (fault == FAKE_REFUSES) {
			assert_int_equal(weft_info(r, &info), -EAGAIN);
			fake_is_line(weft_error(w));
			f.fault = FAKE_GOOD;
			assert_int_equal(weft_info(r, &info), 0);
		} else {
			assert_int_equal(weft_info(r, &info), -ESHUTDOWN);
			fake_is_line(weft_error(w));
			test_all_is_over(w, r);
		}
		weft_detach(w);
		fake_end(&f);
	}
}

WEFT_TEST(wrong_completions_end_the_attachment)
{
	enum fake_fault fault;
	struct weft_region *r;
	struct weft *w;
	uint64_t n;

	for (fault = FAKE_FAULTS; fault < FAKE_CQ_FAULTS; fault++) {
		struct fake f = { .fault = fault };

		fake_begin(&f, fake_socket, 8);
		w = test_attach(&f, NULL);
		r = test_open(w, "g0", TEST_RW);
		assert_int_equal(weft_read(r, 0, &n, sizeof(n)), -ESHUTDOWN);
		test_all_is_over(w, r);
		weft_detach(w);
		fake_end(&f);
	}
}

WEFT_TEST(attaching_again_and_again_grows_nothing)
{
	struct fake f = { .idle_max = 3 };
	struct weft_region *r;
	int i, fds = 0, maps = 0;
	size_t heap = 0;
	uint64_t n = 0;

	fake_begin(&f, fake_socket, 9);
	for (i = 0; i < 1000; i++) {
		struct weft *w = test_attach(&f, NULL);

		r = test_open(w, "g0", TEST_RW);
		assert_int_equal(weft_write(r, 0, &n, sizeof(n)), 0);
		if (i % 2 == 0)
			weft_close(r);
		/* The daemon's side of those before may be there still. */
		if (i >= 10 && i < 20) {
			fds = test_fds() > fds ? test_fds() : fds;
			maps = fake_mappings() > maps ? fake_mappings() : maps;
			heap = mallinfo2().uordblks > heap ? mallinfo2().uordblks : heap;
		}
		weft_detach(w);
	}
	fake_end(&f);
	assert_true(test_fds() < fds);
	assert_true(fake_mappings() <= maps);
	assert_true(mallinfo2().uordblks <= heap + 65536);
}

/* In a process of its own: the daemon's descriptors do not count there. */
static int
test_attach_with_few(void)
{
	struct rlimit few = { .rlim_max = 1024 };
	int used = test_fds() - 3, n, rc = -1, fds = test_fds();
	struct weft *w;

	for (n = 0; n < 10 && rc != 0; n++) {
		few.rlim_cur = (rlim_t)(used + n);
		if (setrlimit(RLIMIT_NOFILE, &few) != 0)
			return 1;
		rc = weft_attach(fake_socket, NULL, &w);
		few.rlim_cur = 1024;
		setrlimit(RLIMIT_NOFILE, &few);
		if (rc == 0)
			weft_detach(w);
		else if (rc != -EMFILE || strlen(weft_error(NULL)) < 10)
			return 2;
		if (test_fds() != fds)
			return 3;
	}
	/* A number that is free below others serves as well: how many it took says nothing. */
	return n > 1 && rc == 0 ? 0 : 4;
}

WEFT_TEST(too_few_descriptors_are_an_error_that_leaves_nothing)
{
	struct fake f = { .idle_max = 3 };
	int status;
	pid_t pid;

	fake_begin(&f, fake_socket, 10);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(test_attach_with_few());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	fake_end(&f);
}

/* --- rules of operations --- */

WEFT_TEST(operations_that_can_not_be_are_refused)
{
	static uint8_t buf[8192];
	static const struct {
		int kind;
		uint64_t off;
		size_t n;
		int rc;
	} rows[] = {
		{ WEFT_OP_READ, 0, 0, -EINVAL },
		{ WEFT_OP_READ, FAKE_SIZE, 1, -EINVAL },
		{ WEFT_OP_READ, FAKE_SIZE - 1, 2, -EINVAL },
		{ WEFT_OP_READ, UINT64_MAX, 2, -EINVAL },
		{ WEFT_OP_READ, 1, SIZE_MAX, -EINVAL },
		{ WEFT_OP_WRITE, 0, 1, -EACCES },
		{ WEFT_OP_READ, 0, 4097, -EMSGSIZE },
		{ WEFT_OP_READ, 0, FAKE_SIZE, -EMSGSIZE },
		{ 0, 0, 1, -EINVAL },
		{ WEFT_OP_MOVE, 0, 1, -EOPNOTSUPP },
		{ WEFT_OP_MOVE + 1, 0, 1, -EINVAL },
		{ WEFT_OP_READ, 0, 4096, 1 },
	};
	const struct weft_attach_opts o = { .size = sizeof(o), .entries = 16, .buffer = 5120 };
	struct weft_region *r, *foreign;
	struct weft *w, *other;
	struct fake f = { 0 };
	struct weft_op op;
	size_t i;

	fake_begin(&f, fake_socket, 11);
	w = test_attach(&f, &o);
	other = test_attach(&f, NULL);
	r = test_open(w, "g0", WEFT_READ);
	foreign = test_open(other, "g0", WEFT_READ);
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		op = (struct weft_op){ rows[i].kind, r, rows[i].off, buf, rows[i].n, 0 };
		if (weft_submit(w, &op, 1) != rows[i].rc)
			fail_msg("row %zu: %s", i, weft_error(w));
		if (rows[i].rc < 0)
			fake_is_line(weft_error(w));
	}
	test_drain(w, 1);
	op = (struct weft_op){ WEFT_OP_READ, foreign, 0, buf, 1, 0 };
	assert_int_equal(weft_submit(w, &op, 1), -EINVAL);
	op.region = NULL;
	assert_int_equal(weft_submit(w, &op, 1), -EINVAL);
	assert_int_equal(weft_submit(w, &op, 0), 0);
	assert_int_equal(weft_read(r, FAKE_SIZE - 1, buf, 2), -EINVAL);
	fake_is_line(weft_error(w));
	assert_int_equal(weft_read(r, FAKE_SIZE, buf, 0), 0);
	assert_int_equal(weft_write(r, 0, buf, 1), -EACCES);
	assert_non_null(strstr(weft_error(w), "WEFT_WRITE"));
	weft_detach(other);
	weft_detach(w);
	fake_end(&f);
}

/* A region is by UIO or not; both of one attachment may be open. */
WEFT_TEST(uio_is_of_the_region_that_was_opened_for_it)
{
	struct fake f = { .has_uio = true };
	uint8_t out[20000], in[sizeof(out)];
	struct weft_region *uio, *mem;
	struct weft_op op;
	struct weft *w;

	memset(out, 0xC3, sizeof(out));
	fake_begin(&f, fake_socket, 12);
	w = test_attach(&f, NULL);
	uio = test_open(w, "g0", TEST_RW | (int)WEFT_UIO);
	mem = test_open(w, "g0", TEST_RW);
	assert_int_equal(weft_write(uio, 4, out, sizeof(out)), 0);
	assert_int_equal(weft_read(mem, 3, in, sizeof(in)), 0);
	assert_true(in[0] == 0 && in[1] == 0xC3);
	assert_int_equal(weft_read(uio, 8, in, 4), 0);
	assert_int_equal(weft_fence(uio), 0);
	assert_int_equal(weft_write(uio, 6, out, 4), -EINVAL);
	assert_non_null(strstr(weft_error(w), "multiples of 4"));
	op = (struct weft_op){ WEFT_OP_READ, uio, 4, in, 6, 0 };
	assert_int_equal(weft_submit(w, &op, 1), -EINVAL);
	fake_is_line(weft_error(w));
	assert_int_equal(weft_open(w, "g0", (int)WEFT_UIO, &uio), -EINVAL);
	fake_is_line(weft_error(w));
	weft_detach(w);
	fake_end(&f);
	assert_int_equal(f.n_uio[0], 1);
	assert_int_equal(f.n_uio[1], 2); /* pieces of a long one */
}

WEFT_TEST(a_host_without_uio_says_so_when_a_region_is_opened)
{
	struct fake f = { 0 };
	struct weft_region *r;
	struct weft *w;

	fake_begin(&f, fake_socket, 13);
	w = test_attach(&f, NULL);
	assert_int_equal(weft_open(w, "g0", TEST_RW | (int)WEFT_UIO, &r), -EOPNOTSUPP);
	fake_is_line(weft_error(w));
	assert_non_null(strstr(weft_error(w), "cxl_io"));
	weft_detach(w);
	fake_end(&f);
}

WEFT_TEST(operations_are_taken_up_to_what_has_room)
{
	const struct weft_attach_opts o = { .size = sizeof(o), .entries = 16, .buffer = 10 * 4096 };
	static uint8_t buf[40 * 1024];
	struct weft_op ops[20];
	struct weft_region *r;
	struct fake f = { 0 };
	struct weft *w;
	int i;

	fake_begin(&f, fake_socket, 12);
	w = test_attach(&f, &o);
	r = test_open(w, "g0", TEST_RW);
	for (i = 0; i < 20; i++)
		ops[i] = (struct weft_op){ WEFT_OP_READ, r, 0, buf, 64, 0 };
	f.is_held = true;
	assert_int_equal(weft_submit(w, ops, 20), 16);
	assert_int_equal(weft_submit(w, ops, 20), 0);
	assert_int_equal(weft_read(r, 0, buf, 1), -EBUSY);
	assert_int_equal(weft_write(r, 0, buf, 1), -EBUSY);
	assert_int_equal(weft_fence(r), -EBUSY);
	fake_is_line(weft_error(w));
	f.is_held = false;
	test_drain(w, 16);
	/* Nine pages: four and five have room, and another is not tried before what does not. */
	f.is_held = true;
	ops[0].n = 4 * 4096;
	ops[1].n = 4 * 4096 + 1;
	ops[2].n = 65;
	assert_int_equal(weft_submit(w, ops, 20), 2);
	f.is_held = false;
	test_drain(w, 2);
	/* What can't be ends those that are taken, and is told of when it is the first. */
	ops[2].off = FAKE_SIZE;
	assert_int_equal(weft_submit(w, ops, 20), 2);
	test_drain(w, 2);
	assert_int_equal(weft_submit(w, ops + 2, 18), -EINVAL);
	weft_detach(w);
	fake_end(&f);
	assert_int_equal(f.n_clashes, 0);
}

/* Pages that are given back in any order are one piece again. */
WEFT_TEST(buffers_do_not_stay_in_pieces)
{
	const struct weft_attach_opts o = { .size = sizeof(o), .buffer = 150 * 4096 };
	const size_t all = (150 - 4) * 4096;
	struct weft_op op;
	struct weft_rand rand;
	struct weft_region *r;
	struct fake f = { .idle_max = 20 };
	uint8_t *buf = malloc(all);
	struct weft *w;
	int i, n;

	assert_non_null(buf);
	weft_test_seed(&rand, "pieces");
	fake_begin(&f, fake_socket, weft_rand_u64(&rand));
	w = test_attach(&f, &o);
	r = test_open(w, "g0", WEFT_READ);
	for (i = 0; i < 100; i++) {
		for (n = 0;; n++) {
			op = (struct weft_op){ WEFT_OP_READ, r, 0, buf,
				weft_rand_below(&rand, 30000) + 1, 0 };
			if (weft_submit(w, &op, 1) != 1)
				break;
		}
		assert_true(n > 0);
		test_drain(w, n);
		op.n = all + 1;
		assert_int_equal(weft_submit(w, &op, 1), -EMSGSIZE);
		op.n = all;
		assert_int_equal(weft_submit(w, &op, 1), 1);
		test_drain(w, 1);
	}
	weft_detach(w);
	fake_end(&f);
	free(buf);
	assert_int_equal(f.n_clashes, 0);
}

/* A line that is torn would be one that two operations write. */
WEFT_TEST(long_writes_are_cut_where_lines_end)
{
	static const struct {
		uint64_t buffer, off;
		size_t n;
	} rows[] = {
		{ 0, 33, 200000 },
		{ 20480, 33, 200000 },
		{ 24576, 16383, 16386 },
		{ 0, 16384 - 1, FAKE_SIZE - 16384 },
		{ 0, 1, FAKE_SIZE - 1 },
	};
	struct weft_attach_opts o = { .size = sizeof(o) };
	uint8_t *buf = malloc(FAKE_SIZE);
	struct weft_region *r;
	struct weft *w;
	size_t i;

	assert_non_null(buf);
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		struct fake f = { .idle_max = 20 };

		o.buffer = rows[i].buffer;
		fake_begin(&f, fake_socket, 13);
		w = test_attach(&f, &o);
		r = test_open(w, "g0", TEST_RW);
		assert_int_equal(weft_write(r, rows[i].off, buf, rows[i].n), 0);
		weft_detach(w);
		fake_end(&f);
		assert_true(f.n_ops > 1);
		assert_int_equal(f.n_cuts, 0);
		assert_int_equal(f.n_clashes, 0);
	}
	free(buf);
}

/* --- regions --- */

WEFT_TEST(regions_are_listed_opened_and_closed)
{
	char name[200];
	struct weft_region_info list[FAKE_REGIONS + 1] = { 0 };
	struct weft_region *r, *part, *many[64];
	struct fake f = { .idle_max = 5 };
	struct weft *w;
	uint64_t n = 77;
	int i;

	fake_begin(&f, fake_socket, 14);
	w = test_attach(&f, NULL);
	assert_string_equal(weft_error(w), "");
	assert_int_equal(weft_regions(w, NULL, 0), FAKE_REGIONS);
	assert_int_equal(weft_regions(w, list, 2), FAKE_REGIONS);
	assert_string_equal(list[1].name, "g1");
	assert_string_equal(list[2].name, "");
	assert_int_equal(weft_regions(w, list, FAKE_REGIONS + 1), FAKE_REGIONS);
	assert_string_equal(list[FAKE_REGIONS - 1].target, "gfd5");
	assert_int_equal(list[2].generation, 3);
	assert_int_equal(list[2].granule, 256);
	assert_int_equal(list[2].size, FAKE_SIZE);
	assert_int_equal(list[2].rights, TEST_RW);

	assert_int_equal(weft_open(w, "g0", 0, &r), -EINVAL);
	assert_int_equal(weft_open(w, "g0", 4, &r), -EINVAL);
	assert_int_equal(weft_open(w, "none", WEFT_READ, &r), -ENOENT);
	assert_non_null(strstr(weft_error(w), "no region \"none\""));
	assert_int_equal(weft_open(w, "g0:0+2000000", WEFT_READ, &r), -ERANGE);
	fake_is_line(weft_error(w));
	assert_int_equal(weft_open(w, "g4", TEST_RW, &r), -EACCES);
	memset(name, 'g', sizeof(name));
	for (i = 126; i < 130; i++) {
		name[i] = '\0';
		assert_int_equal(weft_open(w, name, WEFT_READ, &r), -ENOENT);
		assert_null(r);
		fake_is_line(weft_error(w));
		name[i] = 'g';
	}
	r = test_open(w, "g0", TEST_RW);
	part = test_open(w, "g0:4096+8", WEFT_READ);
	assert_int_equal(weft_write(r, 4096, &n, 8), 0);
	n = 0;
	assert_int_equal(weft_read(part, 0, &n, 8), 0);
	assert_int_equal(n, 77);
	assert_int_equal(weft_read(part, 1, &n, 8), -EINVAL);
	assert_int_equal(weft_info(part, list), 0);
	assert_int_equal(list[0].size, 8);
	for (i = 0; i < 62; i++)
		many[i] = test_open(w, "g1", WEFT_READ);
	assert_int_equal(weft_open(w, "g1", WEFT_READ, &r), -EMFILE);
	for (i = 0; i < 62; i += 2)
		weft_close(many[i]);
	weft_close(part);
	weft_close(NULL);
	weft_detach(w);
	weft_detach(NULL);
	fake_end(&f);
}

/* --- attaching --- */

WEFT_TEST(options_are_judged)
{
	static const struct {
		struct weft_attach_opts o;
		int rc;
	} rows[] = {
		{ { 0 }, 0 },
		{ { .entries = 16 }, -EINVAL },
		{ { .spin_ns = -1 }, -EINVAL },
		{ { .size = 12, .entries = 16, .buffer = 1 }, 0 },
		{ { .size = sizeof(rows[0].o) }, 0 },
		{ { .size = sizeof(rows[0].o), .entries = 8 }, -EINVAL },
		{ { .size = sizeof(rows[0].o), .entries = 24 }, -EINVAL },
		{ { .size = sizeof(rows[0].o), .entries = 4096 }, 0 },
		{ { .size = sizeof(rows[0].o), .entries = 8192 }, -EINVAL },
		{ { .size = sizeof(rows[0].o), .buffer = 64 << 20 }, 0 },
		{ { .size = sizeof(rows[0].o), .buffer = (64 << 20) + 1 }, -EINVAL },
		{ { .size = sizeof(rows[0].o), .buffer = 256 * 64 + 4096 }, 0 },
		{ { .size = sizeof(rows[0].o), .buffer = 256 * 64 + 4095 }, -EINVAL },
		{ { .size = sizeof(rows[0].o), .spin_ns = -2 }, -EINVAL },
	};
	struct {
		struct weft_attach_opts o;
		uint64_t later;
	} newer = { .o.size = sizeof(newer) };
	struct fake f = { 0 };
	struct weft *w;
	size_t i;

	fake_begin(&f, fake_socket, 15);
	for (i = 0; i < WEFT_ARRAY_SIZE(rows); i++) {
		if (weft_attach(fake_socket, &rows[i].o, &w) != rows[i].rc)
			fail_msg("row %zu: %s", i, weft_error(NULL));
		if (rows[i].rc != 0)
			assert_non_null(strstr(weft_error(NULL), "opts."));
		weft_detach(w);
	}
	assert_int_equal(weft_attach(fake_socket, &newer.o, &w), 0);
	weft_detach(w);
	newer.later = 1;
	assert_int_equal(weft_attach(fake_socket, &newer.o, &w), -EINVAL);
	fake_end(&f);
}

/* Listen at a name of the run directory, and do not answer: to be found is all. */
static int
test_listen(const char *dir, const char *name)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(fd, 1), 0);
	return fd;
}

static void
test_fails(const char *socket, int rc, const char *says)
{
	struct weft *w;

	if (weft_attach(socket, NULL, &w) != rc)
		fail_msg("%s: %s", socket, weft_error(NULL));
	assert_null(w);
	fake_is_line(weft_error(NULL));
	if (strstr(weft_error(NULL), says) == NULL)
		fail_msg("%s does not say %s", weft_error(NULL), says);
}

static void
test_reaches(const char *socket)
{
	struct weft *w;

	if (weft_attach(socket, NULL, &w) != 0)
		fail_msg("%s: %s", socket, weft_error(NULL));
	weft_detach(w);
}

/* With a run directory of its own, as a user whom rights bind. */
static bool
test_begin_user(void)
{
	setenv("XDG_RUNTIME_DIR", fake_folder, 1);
	if (geteuid() != 0)
		return false;
	assert_int_equal(chown(fake_folder, 54321, (gid_t)-1), 0);
	assert_int_equal(seteuid(54321), 0);
	return true;
}

static void
test_end_user(bool was_root)
{
	if (was_root)
		assert_int_equal(seteuid(0), 0);
	unsetenv("XDG_RUNTIME_DIR");
}

WEFT_TEST(what_is_said_of_a_name_is_one_line)
{
	test_fails("/nonesuch/h1\nx\x7f", -ENOENT, "/nonesuch/h1?x?: ");
}

WEFT_TEST(a_host_is_found_by_the_rules_of_names)
{
	const bool was_root = test_begin_user();
	char dir[96], path[160], name[160] = "";
	const int fds = test_fds();
	struct fake f = { .idle_max = 3 };
	int other;

	snprintf(dir, sizeof(dir), "%s/weft", fake_folder);
	test_fails(NULL, -ENOENT, dir);
	test_fails("h1", -ENOENT, dir);
	assert_int_equal(mkdir(dir, 0700), 0);
	test_fails(NULL, -ENOENT, dir);
	snprintf(path, sizeof(path), "%s/h1.sock", dir);
	test_fails("h1", -ENOENT, path);
	test_fails(path, -ENOENT, path);
	/* A dead one, files that are none, and names that are no hosts'. */
	close(test_listen(dir, "dead.sock"));
	close(test_listen(dir, "h3.socket"));
	close(open(path, O_CREAT | O_CLOEXEC, 0600));
	close(test_listen(dir, ".sock"));
	test_fails(NULL, -ENOENT, dir);
	test_fails("dead", -ECONNREFUSED, "dead.sock");
	test_fails("h1", -EPROTO, "h1.sock");
	assert_int_equal(unlink(path), 0);

	fake_begin(&f, path, 16);
	other = test_listen(dir, "h3.sockets");
	test_reaches(NULL);
	test_reaches("h1");
	test_reaches(path);
	close(other);
	other = test_listen(dir, "fm.sock");
	test_reaches(NULL);
	close(other);
	other = test_listen(dir, "h2.sock");
	test_fails(NULL, -ENOTUNIQ, "WEFT_SOCKET");
	test_reaches("h1");
	setenv("WEFT_SOCKET", "h1", 1);
	test_reaches(NULL);
	setenv("WEFT_SOCKET", path, 1);
	test_reaches(NULL);
	setenv("WEFT_SOCKET", "h4", 1);
	test_fails(NULL, -ENOENT, "h4.sock");
	test_reaches("h1");
	setenv("WEFT_SOCKET", "", 1);
	test_fails(NULL, -ENOTUNIQ, "h2.sock");
	close(other);
	test_reaches(NULL);
	memset(name, 'n', sizeof(name) - 1);
	test_fails(name, -ENOENT, "longer");
	name[0] = '/';
	test_fails(name, -ENOENT, "longer");
	test_fails("", -ECONNREFUSED, "/.sock");
	/* Others may put a socket of theirs there. */
	assert_int_equal(chmod(dir, 0770), 0);
	test_fails("h1", -EACCES, dir);
	test_fails(NULL, -EACCES, dir);
	test_reaches(path);
	fake_end(&f);
	assert_int_equal(test_fds(), fds);
	test_end_user(was_root);
}

static int test_turner = -1; /* a listener; -1: the library's requests are sent */

/*
 * In place of libc's, for the library: a daemon that does not take whoever connects answers before
 * it is asked, and closes; then the request is sent.
 */
ssize_t
send(int fd, const void *buf, size_t len, int flags)
{
	const struct weft_attach_answer a = { .magic = WEFT_ATTACH_MAGIC,
		.version = WEFT_ATTACH_VERSION,
		.call = WEFT_ATTACH_HELLO,
		.status = -EACCES,
		.text = "not you" };

	if (test_turner >= 0) {
		const int other = accept4(test_turner, NULL, NULL, SOCK_CLOEXEC);

		assert_true(other >= 0);
		shutdown(other, SHUT_RD);
		assert_int_equal(sendto(other, &a, sizeof(a), 0, NULL, 0), sizeof(a));
		close(other);
	}
	return sendto(fd, buf, len, flags, NULL, 0);
}

WEFT_TEST(who_is_turned_away_at_once_hears_why)
{
	struct weft *w;

	test_turner = test_listen(fake_folder, "h0.sock");
	assert_int_equal(weft_attach(fake_socket, NULL, &w), -EACCES);
	assert_non_null(strstr(weft_error(NULL), "not you"));
	close(test_turner);
	test_turner = -1;
}

WEFT_TEST(the_run_directory_is_made_private)
{
	const bool was_root = test_begin_user();
	char path[160], dir[96], other[96];
	struct stat st;

	snprintf(dir, sizeof(dir), "%s/weft", fake_folder);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), false), -ENOENT);
	assert_string_equal(path, dir);
	assert_int_equal(weft_attach_rundir(path, strlen(dir), true), -ENAMETOOLONG);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), true), 0);
	assert_string_equal(path, dir);
	assert_int_equal(stat(dir, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);
	assert_int_equal(weft_attach_rundir(path, strlen(dir) + 1, false), 0);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), true), 0);
	assert_int_equal(chmod(dir, 0720), 0);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), true), -EACCES);
	assert_int_equal(chmod(dir, 0702), 0);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), false), -EACCES);
	/* A link leads to what another may have chosen; a file is no folder. */
	snprintf(other, sizeof(other), "%s/other", fake_folder);
	assert_int_equal(rename(dir, other), 0);
	assert_int_equal(chmod(other, 0700), 0);
	assert_int_equal(symlink(other, dir), 0);
	assert_int_equal(weft_attach_rundir(path, sizeof(path), true), -EACCES);
	assert_int_equal(unlink(dir), 0);
	close(open(dir, O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(weft_attach_rundir(path, sizeof(path), true), -EACCES);
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	weft_attach_rundir(path, sizeof(path), false);
	assert_null(strstr(path, "relative"));
	if (was_root) {
		assert_int_equal(unlink(dir), 0);
		assert_int_equal(seteuid(0), 0);
		weft_attach_rundir(path, sizeof(path), false);
		assert_string_equal(path, "/run/weft");
		/* Another user's is not taken either. */
		assert_int_equal(mkdir(dir, 0700), 0);
		assert_int_equal(chmod(fake_folder, 0755), 0);
		assert_int_equal(seteuid(54321), 0);
		setenv("XDG_RUNTIME_DIR", fake_folder, 1);
		assert_int_equal(weft_attach_rundir(path, sizeof(path), true), -EACCES);
		assert_string_equal(path, dir);
	}
	test_end_user(was_root);
}

/* Signals are not to begin the time anew in which an answer has to come. */
WEFT_TEST(a_daemon_that_does_not_answer_is_given_up_by_programs_with_a_timer)
{
	const struct itimerval often = { .it_interval = { .tv_usec = 100000 },
		.it_value = { .tv_usec = 100000 } },
			       never = { 0 };
	const struct sigaction sa = { .sa_handler = test_alarm };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const int door = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sigaction was;
	struct weft *w;
	int64_t begin;

	memcpy(at.sun_path, fake_socket, strlen(fake_socket));
	assert_int_equal(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	assert_int_equal(listen(door, 1), 0);
	assert_int_equal(sigaction(SIGALRM, &sa, &was), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	begin = fake_now_ns();
	assert_int_equal(weft_attach(fake_socket, NULL, &w), -ETIMEDOUT);
	assert_in_range(fake_now_ns() - begin, 4 * TEST_S, 20 * TEST_S);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &was, NULL), 0);
	fake_is_line(weft_error(NULL));
	close(door);
}
