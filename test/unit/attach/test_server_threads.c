/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Client and server on two threads. Both go to sleep on eventfds as weft_attach.h says, at moments
 * that are drawn, and none sleeps while there is something for it. A submission that the client
 * changes while it is taken is checked as it was taken.
 */

#include "attach_rig.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>

#define ENTRIES 16
#define SLOT 64 /* bytes of the data area of each entry */
#define ROUNDS 200000
#define ROUNDS_NS (2 * INT64_C(1000000000))
#define SHORT_NS (INT64_C(300000000))
#define LOST_MS 20000 /* who sleeps for so long was not woken */
#define SPIN_LOG2 17 /* up to some 50 us */
#define UNUSED UINT64_MAX

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- wake-ups --- */

struct side {
	struct weft_rand rnd;
	int eventfd;
	uint64_t slept;
	const char *fault; /* what went wrong, and ended it */
};

struct pair {
	struct rig rig;
	struct side client, daemon;
	bool stop;
	uint64_t open
		[ENTRIES]; /* the client's: user word of each slot of the data area, or UNUSED */
	uint32_t n_open;
	uint64_t submitted;
};

/* As long as it takes the other to answer, or to be woken, and all between. */
static void
spin(struct side *s)
{
	for (uint64_t n = WEFT_BIT64(weft_rand_below(&s->rnd, SPIN_LOG2)); n != 0; n--)
		__asm__ volatile("" : : : "memory");
}

static void
wake(const struct side *s)
{
	const uint64_t one = 1;

	if (write(s->eventfd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static void
sleep_until_woken(struct side *s)
{
	struct pollfd p = { .fd = s->eventfd, .events = POLLIN };
	uint64_t n;

	s->slept++;
	if (poll(&p, 1, LOST_MS) != 1)
		s->fault = "was not woken";
	else if (read(s->eventfd, &n, sizeof(n)) != sizeof(n))
		s->fault = "was woken by nothing";
}

static uint64_t *
word_at(const struct rig *r, uint64_t data)
{
	return (uint64_t *)(void *)(r->data + data);
}

/* Take what there is, and complete it from the last to the first. @return how many */
static unsigned int
daemon_serves(struct pair *p)
{
	struct weft_attach_server *s = &p->rig.server;
	struct weft_attach_sqe e[ENTRIES];
	unsigned int n = 0;
	int rc = 0;

	while (n < ENTRIES && (rc = weft_attach_server_next(s, &e[n])) == 0)
		n++;
	if (rc != 0 && rc != -EAGAIN)
		p->daemon.fault = "found a breach";
	for (unsigned int i = n; i-- > 0;) {
		const struct weft_attach_cqe c = { .user = e[i].user };

		if (*word_at(&p->rig, e[i].data) != e[i].user)
			p->daemon.fault = "found other data";
		*word_at(&p->rig, e[i].data) = ~e[i].user;
		weft_attach_server_complete(s, &c);
		if (weft_rand_below(&p->daemon.rnd, 4) == 0 && weft_attach_server_tell(s))
			wake(&p->client);
	}
	if (weft_attach_server_tell(s))
		wake(&p->client);
	return n;
}

static void *
daemon_runs(void *arg)
{
	struct pair *p = arg;
	struct weft_attach_head *head = p->rig.head;

	while (p->daemon.fault == NULL && !__atomic_load_n(&p->stop, __ATOMIC_SEQ_CST)) {
		if (daemon_serves(p) != 0)
			continue;
		spin(&p->daemon);
		__atomic_store_n(&head->daemon_sleeps, 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (!weft_attach_server_has_more(&p->rig.server) &&
			!__atomic_load_n(&p->stop, __ATOMIC_SEQ_CST))
			sleep_until_woken(&p->daemon);
		__atomic_store_n(&head->daemon_sleeps, 0, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
client_submits(struct pair *p)
{
	uint64_t slot = weft_rand_below(&p->client.rnd, ENTRIES);
	struct weft_attach_sqe e = { .op = WEFT_ATTACH_OP_WRITE, .len = SLOT };

	while (p->open[slot] != UNUSED)
		slot = (slot + 1) % ENTRIES;
	e.user = p->submitted++ * ENTRIES + slot;
	e.data = slot * SLOT;
	p->open[slot] = e.user;
	p->n_open++;
	*word_at(&p->rig, e.data) = e.user;
	rig_submit(&p->rig, &e);
}

static void
client_takes(struct pair *p)
{
	struct weft_attach_cqe c;

	while (rig_take(&p->rig, &c)) {
		const uint64_t slot = c.user % ENTRIES;

		if (p->open[slot] != c.user)
			p->client.fault = "has a completion of nothing that is open";
		else if (*word_at(&p->rig, slot * SLOT) != ~c.user)
			p->client.fault = "has other data";
		p->open[slot] = UNUSED;
		p->n_open--;
	}
}

static void
client_waits(struct pair *p)
{
	struct weft_attach_head *head = p->rig.head;

	spin(&p->client);
	if (rig_sees(&p->rig))
		return;
	__atomic_store_n(&head->client_sleeps, 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!rig_sees(&p->rig))
		sleep_until_woken(&p->client);
	__atomic_store_n(&head->client_sleeps, 0, __ATOMIC_RELAXED);
}

/* @return rounds */
static unsigned int
client_runs(struct pair *p)
{
	const int64_t end = now_ns() + ROUNDS_NS;
	struct weft_attach_head *head = p->rig.head;
	unsigned int round;

	for (round = 0; round < ROUNDS && p->client.fault == NULL; round++) {
		const uint64_t want = weft_rand_below(&p->client.rnd, 4) != 0
		                              ? 1
		                              : 1 + weft_rand_below(&p->client.rnd, ENTRIES);

		while (p->n_open < want)
			client_submits(p);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&head->daemon_sleeps, __ATOMIC_RELAXED) != 0) {
			__atomic_store_n(&head->daemon_sleeps, 0, __ATOMIC_RELAXED);
			wake(&p->daemon);
		}
		client_waits(p);
		client_takes(p);
		if (round % 64 == 0 && now_ns() > end)
			break;
	}
	while (p->n_open != 0 && p->client.fault == NULL) {
		client_waits(p);
		client_takes(p);
	}
	return round;
}

WEFT_TEST(nobody_sleeps_on_what_is_there)
{
	struct pair p = { .n_open = 0 };
	struct weft_rand pick;
	unsigned int rounds;
	pthread_t thread;

	weft_test_seed(&pick, __func__);
	weft_rand_seed(&p.client.rnd, weft_rand_u64(&pick));
	weft_rand_seed(&p.daemon.rnd, weft_rand_u64(&pick));
	p.client.eventfd = eventfd(0, EFD_CLOEXEC);
	p.daemon.eventfd = eventfd(0, EFD_CLOEXEC);
	assert_true(p.client.eventfd >= 0 && p.daemon.eventfd >= 0);
	memset(p.open, 0xFF, sizeof(p.open));
	rig_open(&p.rig, ENTRIES, WEFT_ATTACH_PAGE, UINT32_MAX - 500, UINT32_MAX - 900);
	assert_int_equal(pthread_create(&thread, NULL, daemon_runs, &p), 0);
	rounds = client_runs(&p);
	__atomic_store_n(&p.stop, true, __ATOMIC_SEQ_CST);
	wake(&p.daemon);
	assert_int_equal(pthread_join(thread, NULL), 0);
	printf("%u rounds, the client slept %llu times, the daemon %llu\n", rounds,
		(unsigned long long)p.client.slept, (unsigned long long)p.daemon.slept);
	if (p.client.fault != NULL || p.daemon.fault != NULL)
		fail_msg("the client %s, the daemon %s",
			p.client.fault ? p.client.fault : "is well",
			p.daemon.fault ? p.daemon.fault : "is well");
	assert_int_equal(p.n_open, 0);
	assert_true(p.client.slept > 0 && p.daemon.slept > 0);
	rig_close(&p.rig);
	close(p.client.eventfd);
	close(p.daemon.eventfd);
}

/* --- the flag, more often than anybody can sleep --- */

struct meeting {
	struct rig rig;
	struct weft_rand rnd[2];
	unsigned int at[2]; /* how often each has come */
	bool stop, is_told;
};

/* Wait for the other, who may have no CPU, and then a moment more. */
static void
meet(struct meeting *m, unsigned int who, bool is_exact)
{
	const unsigned int n = m->at[who] + 1;
	unsigned int looks = 0;

	__atomic_store_n(&m->at[who], n, __ATOMIC_SEQ_CST);
	while ((int)(__atomic_load_n(&m->at[!who], __ATOMIC_SEQ_CST) - n) < 0)
		if (++looks % 1024 == 0)
			sched_yield();
	for (uint64_t k = is_exact ? weft_rand_below(&m->rnd[who], 128) : 0; k != 0; k--)
		__asm__ volatile("" : : : "memory");
}

static void *
meeting_tells(void *arg)
{
	const struct weft_attach_cqe c = { .user = 0 };
	struct meeting *m = arg;

	for (;;) {
		struct weft_attach_sqe e;

		meet(m, 1, false);
		if (m->stop)
			return NULL;
		if (weft_attach_server_next(&m->rig.server, &e) == 0)
			weft_attach_server_complete(&m->rig.server, &c);
		meet(m, 1, true);
		m->is_told = weft_attach_server_tell(&m->rig.server);
		meet(m, 1, false);
	}
}

WEFT_TEST(who_sees_nothing_after_the_flag_is_told)
{
	const struct weft_attach_sqe e = { .op = WEFT_ATTACH_OP_FENCE };
	const int64_t end = now_ns() + SHORT_NS;
	uint64_t rounds = 0, n_seen = 0, n_told = 0, n_lost = 0;
	struct meeting m = { .stop = false };
	struct weft_attach_cqe c;
	struct weft_rand pick;
	pthread_t thread;

	weft_test_seed(&pick, __func__);
	weft_rand_seed(&m.rnd[0], weft_rand_u64(&pick));
	weft_rand_seed(&m.rnd[1], weft_rand_u64(&pick));
	rig_open(&m.rig, ENTRIES, WEFT_ATTACH_PAGE, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, meeting_tells, &m), 0);
	while (rounds++ % 64 != 0 || now_ns() < end) {
		bool sees;

		rig_submit(&m.rig, &e);
		meet(&m, 0, false);
		meet(&m, 0, true);
		__atomic_store_n(&m.rig.head->client_sleeps, 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		sees = rig_sees(&m.rig);
		meet(&m, 0, false);
		n_seen += sees;
		n_told += m.is_told;
		n_lost += !sees && !m.is_told;
		m.rig.head->client_sleeps = 0;
		if (!rig_take(&m.rig, &c))
			break;
	}
	m.stop = true;
	meet(&m, 0, false);
	assert_int_equal(pthread_join(thread, NULL), 0);
	printf("%llu rounds, seen in %llu, told in %llu\n", (unsigned long long)rounds,
		(unsigned long long)n_seen, (unsigned long long)n_told);
	assert_int_equal(n_lost, 0);
	rig_close(&m.rig);
}

/* --- a submission that changes --- */

struct torn {
	struct rig rig;
	bool stop;
};

static void *
torn_changes(void *arg)
{
	struct torn *t = arg;
	struct weft_attach_sqe *const e = t->rig.sqe;

	while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED))
		for (unsigned int i = 0; i < ENTRIES; i++) {
			__atomic_store_n(&e[i].len, SLOT, __ATOMIC_RELAXED);
			__atomic_store_n(&e[i].data, UINT64_MAX, __ATOMIC_RELAXED);
			__atomic_store_n(&e[i].data, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&e[i].len, UINT32_MAX, __ATOMIC_RELAXED);
		}
	return NULL;
}

WEFT_TEST(a_submission_that_changes_is_checked_as_it_was_taken)
{
	const int64_t end = now_ns() + SHORT_NS;
	const struct weft_attach_sqe e0 = { .op = WEFT_ATTACH_OP_READ, .len = SLOT };
	const struct weft_attach_cqe c = { .user = 0 };
	uint64_t n_good = 0, n_bad = 0, n_torn = 0;
	struct torn t = { .stop = false };
	struct weft_attach_server *s = &t.rig.server;
	pthread_t thread;

	rig_open(&t.rig, ENTRIES, WEFT_ATTACH_PAGE, 0, 0);
	for (unsigned int i = 0; i < ENTRIES; i++)
		t.rig.sqe[i] = e0;
	assert_int_equal(pthread_create(&thread, NULL, torn_changes, &t), 0);
	while (n_torn == 0 && (n_good == 0 || n_bad == 0 || now_ns() < end)) {
		struct weft_attach_sqe e;

		t.rig.head->sq_tail = s->sq_head + 1;
		t.rig.head->cq_head = s->cq_tail;
		if (weft_attach_server_next(s, &e) != 0) {
			n_bad++;
			s->breach = WEFT_ATTACH_KEEPS;
			s->sq_head++;
			continue;
		}
		n_good++;
		n_torn += e.data != 0 || e.len != SLOT;
		weft_attach_server_complete(s, &c);
	}
	__atomic_store_n(&t.stop, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(thread, NULL), 0);
	printf("%llu taken, %llu refused\n", (unsigned long long)n_good, (unsigned long long)n_bad);
	assert_int_equal(n_torn, 0);
	rig_close(&t.rig);
}
