/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Invalidation while traffic flows, on real lcores: workers translate through caches of their own,
 * the main lcore changes the table, posts an order for each page and waits. Behind the answer no
 * worker may use the old translation (ats.md section 10, A1 and A13). Answers of the table arrive a
 * burst late, so that orders overtake them.
 */

#include "eal_test.h"

#include <rte_launch.h>
#include <rte_lcore.h>
#include <sched.h>
#include <stdatomic.h>

#include "weft_atc.h"
#include "weft_atc_shootdown.h"

#define WORKERS 3
#define CONTEXTS 4
#define PAGES 512 /* of each context */
#define BURST 64
#define ORDERS 16384 /* a worker may be off its CPU for milliseconds */
#define RW (WEFT_ATC_R | WEFT_ATC_W)

/* What a worker does wrong on purpose. */
enum fault { NO_FAULT, ANSWERS_BEFORE_IT_APPLIES, INSTALLS_WHAT_WAS_OVERTAKEN };

/* The table: the version of a page is its translated address. */
static atomic_uint table[CONTEXTS][PAGES];
/* Versions below are gone: their invalidation was answered. */
static atomic_uint least[CONTEXTS][PAGES];

static atomic_bool stop;
static atomic_uint stale[WORKERS];
static atomic_uint_least64_t lookups[WORKERS];
static struct weft_atc_shootdown *mail;
static enum fault fault;
static bool rests; /* workers go offline now and then */

/* Questions of a burst, answered behind the next poll. */
struct asked {
	unsigned int n;
	uint16_t ctx[BURST];
	uint16_t page[BURST];
	uint32_t version[BURST];
	bool marked[BURST];
};

struct worker {
	struct weft_atc *cache;
	struct asked asked;
	struct weft_rand r;
	uint64_t va[BURST], pa[BURST];
	uint16_t ctx[BURST];
	uint8_t want[BURST], result[BURST];
	uint32_t floor[BURST];
};

static void
mark(void *arg, const struct weft_atc_inv *o)
{
	struct asked *a = arg;
	const uint64_t pages = o->log2 >= 57 ? UINT64_MAX : weft_mask64(o->log2) >> 12;

	for (unsigned int i = 0; i < a->n; i++)
		if ((o->ctx == a->ctx[i] || o->ctx == WEFT_ATC_ALL_CONTEXTS) &&
			(a->page[i] & ~pages) == o->va >> 12)
			a->marked[i] = true;
}

static void
take_answers(struct worker *w)
{
	struct asked *a = &w->asked;

	for (unsigned int i = 0; i < a->n; i++)
		if (!a->marked[i] || fault == INSTALLS_WHAT_WAS_OVERTAKEN)
			weft_atc_install(w->cache, a->ctx[i], (uint64_t)a->page[i] << 12,
				(uint64_t)a->version[i] << 12, 12, RW);
	a->n = 0;
}

static void
ask(struct worker *w, unsigned int i)
{
	struct asked *a = &w->asked;
	const uint16_t page = (uint16_t)(w->va[i] >> 12);

	a->ctx[a->n] = w->ctx[i];
	a->page[a->n] = page;
	a->version[a->n] = atomic_load(&table[w->ctx[i]][page]);
	a->marked[a->n] = false;
	a->n++;
}

/* Translations of a burst, held against what was answered before it began. */
static void
burst(struct worker *w, unsigned int self)
{
	const struct weft_atc_run q = { w->ctx, w->va, w->want, w->pa, w->result };
	const uint16_t ctx = (uint16_t)weft_rand_below(&w->r, CONTEXTS);

	for (unsigned int i = 0; i < BURST; i++) {
		const unsigned int page = (unsigned int)weft_rand_below(&w->r, PAGES);

		w->ctx[i] = ctx;
		w->va[i] = (uint64_t)page << 12;
		w->floor[i] = atomic_load(&least[ctx][page]);
	}
	weft_atc_lookup_run(w->cache, &q, BURST);
	for (unsigned int i = 0; i < BURST; i++) {
		if (w->result[i] != WEFT_ATC_HIT)
			ask(w, i);
		else if (w->pa[i] >> 12 < w->floor[i])
			atomic_fetch_add(&stale[self], 1);
	}
	atomic_fetch_add(&lookups[self], BURST);
}

static void
poll_mail(struct worker *w, unsigned int self)
{
	uint64_t number;

	if (fault == ANSWERS_BEFORE_IT_APPLIES) {
		/* The number that will be posted next is never reached. */
		weft_atc_shootdown_done(mail, self, UINT64_MAX);
		return;
	}
	number = weft_atc_shootdown_poll(mail, self, w->cache, mark, &w->asked);
	weft_atc_shootdown_done(mail, self, number);
}

static int
work(void *arg)
{
	const unsigned int self = (unsigned int)(uintptr_t)arg;
	const struct weft_atc_cfg cfg = { .sets = { 256 },
		.contexts = CONTEXTS,
		.kernel = weft_atc_kernel_find(NULL, weft_cpu_detect()) };
	struct worker w = { .asked = { 0 } };

	w.cache = weft_atc_init(aligned_alloc(64, weft_atc_size(&cfg)), &cfg);
	memset(w.want, WEFT_ATC_R, sizeof(w.want));
	weft_rand_seed(&w.r, self + 1);
	weft_atc_shootdown_online(mail, self, w.cache, mark, &w.asked);
	for (unsigned int turn = 1; !atomic_load(&stop); turn++) {
		burst(&w, self);
		poll_mail(&w, self);
		take_answers(&w);
		if (turn % 16 != 0)
			continue;
		sched_yield(); /* lcores share CPUs here */
		if (rests && weft_rand_below(&w.r, 8) == 0) {
			weft_atc_shootdown_offline(mail, self);
			sched_yield();
			weft_atc_shootdown_online(mail, self, w.cache, mark, &w.asked);
		}
	}
	weft_atc_shootdown_offline(mail, self);
	free(w.cache);
	return 0;
}

static void
start(enum fault f, bool with_rests)
{
	const size_t size = weft_atc_shootdown_size(WORKERS, ORDERS);

	memset(table, 0, sizeof(table));
	memset(least, 0, sizeof(least));
	memset(stale, 0, sizeof(stale));
	memset(lookups, 0, sizeof(lookups));
	fault = f;
	rests = with_rests;
	atomic_store(&stop, false);
	mail = weft_atc_shootdown_init(aligned_alloc(64, size), WORKERS, ORDERS);
	for (uintptr_t i = 0; i < WORKERS; i++)
		assert_int_equal(rte_eal_remote_launch(work, (void *)i, (unsigned int)i + 1), 0);
	for (unsigned int i = 0; i < WORKERS; i++)
		while (atomic_load(&lookups[i]) == 0)
			sched_yield();
}

static void
end(void)
{
	atomic_store(&stop, true);
	rte_eal_mp_wait_lcore();
	free(mail);
}

/* Pages whose orders were posted, by number. */
static struct {
	atomic_uint *least;
	uint32_t version;
} posted[2 * ORDERS];

/* Change a page and order its invalidation. @return the order's number, 0 if there is no room */
static uint64_t
change(struct weft_rand *r)
{
	const uint16_t ctx = (uint16_t)weft_rand_below(r, CONTEXTS);
	const unsigned int page = (unsigned int)weft_rand_below(r, PAGES);
	const struct weft_atc_inv order = { (uint64_t)page << 12, ctx, 12 };
	const uint32_t version = atomic_fetch_add(&table[ctx][page], 1) + 1;
	const uint64_t number = weft_atc_shootdown_post(mail, &order);

	if (number != 0) {
		posted[number % (2 * ORDERS)].least = &least[ctx][page];
		posted[number % (2 * ORDERS)].version = version;
	}
	return number;
}

static unsigned int
all_stale(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < WORKERS; i++)
		n += atomic_load(&stale[i]);
	return n;
}

/*
 * Change pages, @p batch of them at a time, for @p ms and until two batches are answered, or until a
 * fault shows. What is answered may not be used any more. @return orders answered
 */
static uint64_t
invalidate_for(struct weft_rand *r, unsigned int batch, unsigned int ms)
{
	const uint64_t begin = rte_get_timer_cycles(), hz = rte_get_timer_hz();
	const uint64_t until = begin + hz / 1000 * ms, too_long = begin + hz * 30;
	uint64_t done = 0, last = 0, now = begin;

	while ((now < until || done < 2 * batch) && now < too_long && all_stale() == 0) {
		for (unsigned int i = 0; i < batch; i++) {
			const uint64_t number = change(r);

			if (number == 0)
				break;
			last = number;
		}
		while (done < last && weft_atc_shootdown_is_done(mail, done + 1)) {
			done++;
			atomic_store(posted[done % (2 * ORDERS)].least,
				posted[done % (2 * ORDERS)].version);
		}
		if (done < last)
			sched_yield();
		now = rte_get_timer_cycles();
	}
	return done;
}

static uint64_t
all_lookups(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < WORKERS; i++)
		n += atomic_load(&lookups[i]);
	return n;
}

static void
run(const char *what, enum fault f, unsigned int batch, unsigned int ms)
{
	uint64_t n, before, begin;
	struct weft_rand r;
	double us;

	weft_test_seed(&r, what);
	start(f, strcmp(what, "rests") == 0);
	before = all_lookups();
	begin = rte_get_timer_cycles();
	n = invalidate_for(&r, batch, ms);
	us = (double)(rte_get_timer_cycles() - begin) * 1e6 / (double)rte_get_timer_hz();
	before = all_lookups() - before;
	end();
	print_message("%u workers: %.2f M invalidations/s, %.1f M look-ups/s, %u stale\n", WORKERS,
		(double)n / us, (double)before / us, all_stale());
	assert_true(n > 0);
	assert_int_equal(all_stale() != 0, f != NO_FAULT);
}

static void
nothing_is_stale_behind_its_answer(void **state)
{
	(void)state;
	run("load", NO_FAULT, ORDERS, 500);
	run("few at a time", NO_FAULT, 64, 500);
}

static void
nothing_is_stale_though_workers_come_and_go(void **state)
{
	(void)state;
	run("rests", NO_FAULT, 64, 500);
}

static void
answer_before_the_order_is_applied_is_noticed(void **state)
{
	(void)state;
	run("early", ANSWERS_BEFORE_IT_APPLIES, 64, 30000);
}

static void
overtaken_answer_that_is_installed_is_noticed(void **state)
{
	(void)state;
	run("overtaken", INSTALLS_WHAT_WAS_OVERTAKEN, 64, 30000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_stale_behind_its_answer),
		cmocka_unit_test(nothing_is_stale_though_workers_come_and_go),
		cmocka_unit_test(answer_before_the_order_is_applied_is_noticed),
		cmocka_unit_test(overtaken_answer_that_is_installed_is_noticed),
	};
	size_t first, last;
	char lcores[128];
	int failed;

	test_cpus(&first, &last);
	snprintf(lcores, sizeof(lcores), "0@%zu,1@%zu,2@%zu,3@%zu", first, last, first, last);
	test_eal_start(lcores);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	weft_eal_stop();
	return failed;
}
