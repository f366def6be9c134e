/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The loop of an lcore: rounds, rest, stop, quiescence, and the watch over a CPU that fills up. */

#include "eal_test.h"

#include <pthread.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <sched.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "loop_priv.h"

/* Lcores 0 to 3, the last two on one CPU: see main(). */
static unsigned int n_cpus;
static size_t cpu_of_lcore_1;

/* What a poll function sees and does; on_idle() leaves its line here. */
struct probe {
	atomic_uint work_left;
	atomic_uint calls;
	atomic_uint lines;
	_Atomic(const int *) shared;
	char line[256];
};

static unsigned int
work_while_any(void *arg)
{
	struct probe *p = arg;

	atomic_fetch_add(&p->calls, 1);
	if (atomic_load(&p->work_left) == 0)
		return 0;
	atomic_fetch_sub(&p->work_left, 1);
	return 1;
}

static void
keep_line(void *arg, const char *line)
{
	struct probe *p = arg;

	snprintf(p->line, sizeof(p->line), "%s", line);
	atomic_fetch_add(&p->lines, 1);
	print_message("%s\n", line);
}

static struct weft_loop *
loop_on(unsigned int lcore, enum weft_idle idle, struct probe *p)
{
	const struct weft_poll polls[] = { { work_while_any, p }, { work_while_any, p } };
	const struct weft_loop_cfg cfg = {
		.lcore = lcore,
		.idle = idle,
		.polls = polls,
		.n_polls = 2,
		.on_idle = keep_line,
		.on_idle_arg = p,
	};
	struct weft_loop *loop = weft_loop_create(&cfg);

	assert_non_null(loop);
	return loop;
}

static void
end(struct weft_loop *loop)
{
	weft_loop_stop(loop);
	weft_loop_join(loop);
	weft_loop_free(loop);
}

/* Wait until @counter is at least @n; a test that waits for ever is worse than one that fails. */
static bool
reaches(atomic_uint *counter, unsigned int n, unsigned int ms)
{
	for (unsigned int i = 0; i < ms && atomic_load(counter) < n; i++)
		usleep(1000);
	return atomic_load(counter) >= n;
}

WEFT_TEST(every_poll_runs_and_empty_rounds_are_told_apart)
{
	struct probe p = { .work_left = 100 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_YIELD, &p);
	struct weft_loop_stats s;

	assert_int_equal(weft_loop_idle(loop), WEFT_IDLE_AUTO);
	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&p.calls, 200, 5000));
	assert_int_equal(weft_loop_idle(loop), WEFT_IDLE_YIELD);
	weft_loop_stop(loop);
	weft_loop_join(loop);
	weft_loop_stats(loop, &s);
	assert_int_equal(atomic_load(&p.calls), 2 * s.rounds);
	assert_int_equal(s.rounds - s.empty_rounds, 50);
	assert_int_equal(s.yields + s.naps, s.empty_rounds);
	assert_non_null(strstr(p.line, "lcore 1 on CPU"));
	assert_non_null(strstr(p.line, "yields (as configured)"));
	weft_loop_free(loop);
}

static unsigned int
work_for_a_while(void *arg)
{
	struct probe *p = arg;

	atomic_fetch_add(&p->calls, 1);
	if (atomic_load(&p->work_left) == 0)
		return 0;
	atomic_fetch_sub(&p->work_left, 1);
	rte_delay_us_block(50);
	return 1;
}

WEFT_TEST(cycles_of_each_poll_are_told_apart)
{
	struct probe works = { .work_left = 100 }, rests = { 0 };
	const struct weft_poll polls[] = { { work_for_a_while, &works },
		{ work_while_any, &rests } };
	const struct weft_loop_cfg cfg = {
		.lcore = 1, .idle = WEFT_IDLE_YIELD, .polls = polls, .n_polls = 2
	};
	struct weft_loop *loop = weft_loop_create(&cfg);
	uint64_t busy[2], idle[2];

	assert_non_null(loop);
	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&rests.calls, 300, 5000));
	weft_loop_stop(loop);
	weft_loop_join(loop);
	for (unsigned int i = 0; i < 2; i++)
		weft_loop_poll_cycles(loop, i, &busy[i], &idle[i]);
	assert_true(busy[0] >= 100 * 50 * (rte_get_tsc_hz() / 1000000));
	assert_true(idle[0] > 0 && idle[1] > 0);
	assert_int_equal(busy[1], 0);
	weft_loop_free(loop);
}

WEFT_TEST(naps_come_after_a_millisecond_without_work)
{
	struct probe p = { 0 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_YIELD, &p);
	struct weft_loop_stats s = { 0 };

	assert_int_equal(weft_loop_launch(loop), 0);
	for (int i = 0; i < 5000 && s.naps == 0; i++) {
		usleep(1000);
		weft_loop_stats(loop, &s);
	}
	assert_true(s.naps > 0);
	assert_true(s.yields > 0);
	end(loop);
}

/*
 * A nap never ends before its time, so there are at most so many, however slow the machine is: 163
 * make the 25-fold of a millisecond by a 50th at a time.
 */
WEFT_TEST(naps_grow_with_the_time_without_work)
{
	struct probe p = { 0 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_YIELD, &p);
	struct weft_loop_stats s;
	struct timespec began, now;
	int64_t us;

	clock_gettime(CLOCK_MONOTONIC, &began);
	assert_int_equal(weft_loop_launch(loop), 0);
	usleep(100000);
	weft_loop_stop(loop);
	weft_loop_join(loop);
	clock_gettime(CLOCK_MONOTONIC, &now);
	weft_loop_stats(loop, &s);
	us = (now.tv_sec - began.tv_sec) * 1000000 + (now.tv_nsec - began.tv_nsec) / 1000;
	assert_true((int64_t)s.naps <= 163 + 1 + us / 500 + 1);
	weft_loop_free(loop);
}

/* By a clock of one tick a microsecond. */
WEFT_TEST(a_quiet_time_goes_on_behind_what_comes_alone)
{
	struct loop_quiet q = loop_quiet_from(1000000, 1);
	uint64_t now = 2000000;

	assert_int_equal(loop_quiet_nap_ns(&q, 1000999), 0);
	assert_int_equal(loop_quiet_nap_ns(&q, 1001000), 20000);
	assert_int_equal(loop_quiet_nap_ns(&q, 1010000), 200000);
	assert_int_equal(loop_quiet_nap_ns(&q, now), 500000);
	/* A keep-alive, in three rounds, each 25 ms: naps are soon as long as before. */
	for (int k = 0; k < 10; k++, now += 25000) {
		for (unsigned int round = 0; round < 3; round++)
			loop_quiet_work(&q, now + round * 20);
		assert_int_equal(loop_quiet_nap_ns(&q, now + 40 + 99), 0);
		assert_int_equal(loop_quiet_nap_ns(&q, now + 40 + 100), 500000);
	}
}

WEFT_TEST(work_that_goes_on_ends_a_quiet_time)
{
	struct loop_quiet q = loop_quiet_from(0, 1);
	uint64_t now = 1000000;

	/* A second event within 4 ms: naps begin anew, a millisecond behind it. */
	loop_quiet_work(&q, now);
	loop_quiet_work(&q, now += 3999);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 999), 0);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 1000), 20000);
	/* One that lasts, with no pause of 100 us. */
	loop_quiet_work(&q, now += 1000000);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 100), 500000);
	for (int k = 0; k < 11; k++)
		loop_quiet_work(&q, now += 99);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 999), 0);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 1000), 20000);
	/* And that is over when it has been quiet again. */
	loop_quiet_work(&q, now += 1000000);
	assert_int_equal(loop_quiet_nap_ns(&q, now + 100), 500000);
}

WEFT_TEST(spinning_never_enters_the_kernel)
{
	struct probe p = { 0 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_SPIN, &p);
	struct weft_loop_stats s;

	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&p.calls, 10000, 5000));
	weft_loop_stats(loop, &s);
	assert_int_equal(s.yields + s.naps, 0);
	assert_true(s.empty_rounds > 0);
	end(loop);
}

WEFT_TEST(main_lcore_runs_its_loop_in_place)
{
	struct probe p = { .work_left = 10 };
	struct weft_loop *loop = loop_on(0, WEFT_IDLE_AUTO, &p);
	struct weft_loop_stats s;

	assert_int_equal(weft_loop_launch(loop), -EINVAL);
	/* A loop stopped before it runs does not run: a signal may come early. */
	weft_loop_stop(loop);
	weft_loop_run(loop);
	weft_loop_stats(loop, &s);
	assert_int_equal(s.rounds, 0);
	if (n_cpus > 1)
		assert_non_null(strstr(p.line, "yields (not pinned to one CPU)"));
	weft_loop_free(loop);
}

WEFT_TEST(lcores_on_one_cpu_yield)
{
	struct probe a = { 0 }, b = { 0 };
	struct weft_loop *first = loop_on(2, WEFT_IDLE_AUTO, &a);
	struct weft_loop *second = loop_on(3, WEFT_IDLE_AUTO, &b);

	assert_int_equal(weft_loop_launch(first), 0);
	assert_int_equal(weft_loop_launch(second), 0);
	assert_true(reaches(&a.calls, 1, 5000));
	assert_true(reaches(&b.calls, 1, 5000));
	assert_int_equal(weft_loop_idle(first), WEFT_IDLE_YIELD);
	assert_int_equal(weft_loop_idle(second), WEFT_IDLE_YIELD);
	assert_non_null(strstr(a.line, "with another lcore of this process"));
	end(first);
	end(second);
}

WEFT_TEST(bad_configurations_are_refused)
{
	struct probe p = { 0 };
	const struct weft_poll poll = { work_while_any, &p };
	struct weft_loop_cfg cfg = { .lcore = 1, .polls = &poll, .n_polls = 0 };
	struct weft_loop *loop;

	assert_null(weft_loop_create(&cfg));
	assert_int_equal(rte_errno, EINVAL);
	cfg.n_polls = 1;
	cfg.lcore = RTE_MAX_LCORE;
	assert_null(weft_loop_create(&cfg));
	assert_int_equal(rte_errno, EINVAL);
	cfg.lcore = 1;
	loop = weft_loop_create(&cfg);
	assert_non_null(loop);
	assert_null(weft_loop_create(&cfg));
	assert_int_equal(rte_errno, EBUSY);
	weft_loop_free(loop);
	weft_loop_free(NULL);
}

/* Reads what it was given, a moment after having taken the pointer. */
static unsigned int
read_shared(void *arg)
{
	struct probe *p = arg;
	const int *shared = atomic_load(&p->shared);

	atomic_fetch_add(&p->calls, 1);
	usleep(200);
	return shared != NULL && *shared != 7 ? 1 : 0;
}

WEFT_TEST(quiesce_outlasts_every_reader)
{
	struct probe p = { 0 };
	const struct weft_poll poll = { read_shared, &p };
	const struct weft_loop_cfg cfg = {
		.lcore = 1, .idle = WEFT_IDLE_YIELD, .polls = &poll, .n_polls = 1
	};
	struct weft_loop *loop = weft_loop_create(&cfg);
	struct weft_loop_stats s;

	assert_non_null(loop);
	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&p.calls, 1, 5000));
	for (int i = 0; i < 100; i++) {
		int *value = malloc(sizeof(*value));

		*value = 7;
		atomic_store(&p.shared, value);
		usleep(100);
		atomic_store(&p.shared, NULL);
		weft_loop_quiesce();
		/* A reader still at it would now see another number and call that work. */
		*value = 8;
		usleep(300);
		free(value);
	}
	weft_loop_stop(loop);
	weft_loop_join(loop);
	weft_loop_stats(loop, &s);
	assert_int_equal(s.rounds, s.empty_rounds);
	weft_loop_free(loop);
	/* Nobody runs: nobody to wait for. */
	weft_loop_quiesce();
}

static atomic_bool neighbour_stops;

static void *
neighbour(void *arg)
{
	cpu_set_t cpu;

	(void)arg;
	CPU_ZERO(&cpu);
	CPU_SET(cpu_of_lcore_1, &cpu);
	pthread_setaffinity_np(pthread_self(), sizeof(cpu), &cpu);
	while (!atomic_load(&neighbour_stops))
		;
	return NULL;
}

/*
 * What the kernel says of the time that a loop waited for its CPU: the truth, nothing, all of it,
 * no word.
 */
static enum { WAITS_TRULY, WAITS_NEVER, WAITS_ALWAYS, WAITS_UNTOLD } waits;
uint64_t __real_eal_run_delay_ns(int schedstat_fd);
uint64_t __wrap_eal_run_delay_ns(int schedstat_fd);

uint64_t
__wrap_eal_run_delay_ns(int schedstat_fd)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	switch (__atomic_load_n(&waits, __ATOMIC_RELAXED)) {
	case WAITS_NEVER: return 5;
	case WAITS_ALWAYS: return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	case WAITS_UNTOLD: return UINT64_MAX;
	default: return __real_eal_run_delay_ns(schedstat_fd);
	}
}

WEFT_TEST(a_spinning_loop_yields_once_it_has_to_wait)
{
	struct probe p = { 0 }, q = { 0 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_AUTO, &p), *other;
	const cpu_set_t cpus = rte_lcore_cpuset(1);

	__atomic_store_n(&waits, WAITS_NEVER, __ATOMIC_RELAXED);
	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&p.calls, 1, 5000));
	assert_int_equal(weft_loop_idle(loop), WEFT_IDLE_SPIN);
	assert_non_null(strstr(p.line, "lcore 1 on CPU "));
	assert_non_null(strstr(p.line, ": spins (owns its CPU"));
	/* As long as it does not wait it goes on so: some looks of the monitor. */
	assert_false(reaches(&p.lines, 2, 350));
	__atomic_store_n(&waits, WAITS_ALWAYS, __ATOMIC_RELAXED);
	assert_true(reaches(&p.lines, 2, 5000));
	assert_int_equal(weft_loop_idle(loop), WEFT_IDLE_YIELD);
	assert_non_null(strstr(p.line, "yields (shares its CPU, waited 100.0 % of the time)"));
	/* And never back. */
	__atomic_store_n(&waits, WAITS_NEVER, __ATOMIC_RELAXED);
	assert_false(reaches(&p.lines, 3, 350));
	end(loop);
	/* Where nobody knows, it does not dare. */
	__atomic_store_n(&waits, WAITS_UNTOLD, __ATOMIC_RELAXED);
	other = loop_on(1, WEFT_IDLE_AUTO, &q);
	assert_int_equal(weft_loop_launch(other), 0);
	assert_true(reaches(&q.calls, 1, 5000));
	assert_int_equal(
		weft_loop_idle(other), eal_cpu_isolated(&cpus) ? WEFT_IDLE_SPIN : WEFT_IDLE_YIELD);
	end(other);
	__atomic_store_n(&waits, WAITS_TRULY, __ATOMIC_RELAXED);
}

WEFT_TEST(late_neighbour_makes_a_spinning_loop_yield)
{
	struct probe p = { 0 };
	struct weft_loop *loop = loop_on(1, WEFT_IDLE_AUTO, &p);
	pthread_t thread;

	assert_int_equal(weft_loop_launch(loop), 0);
	assert_true(reaches(&p.calls, 1, 5000));
	if (weft_loop_idle(loop) != WEFT_IDLE_SPIN) {
		end(loop);
		print_message("skipped: the CPU is not free to begin with (%s)\n", p.line);
		skip();
	}
	assert_int_equal(pthread_create(&thread, NULL, neighbour, NULL), 0);
	assert_true(reaches(&p.lines, 2, 5000));
	atomic_store(&neighbour_stops, true);
	pthread_join(thread, NULL);
	assert_int_equal(weft_loop_idle(loop), WEFT_IDLE_YIELD);
	assert_non_null(strstr(p.line, "yields (shares its CPU, waited"));
	end(loop);
}

int
main(void)
{
	size_t first, last;
	char lcores[128];
	int failed;

	n_cpus = test_cpus(&first, &last);
	cpu_of_lcore_1 = last;
	snprintf(lcores, sizeof(lcores), "0@(%zu,%zu),1@%zu,2@%zu,3@%zu", first, last, last, first,
		first);
	test_eal_start(lcores);
	failed = weft_test_run();
	weft_eal_stop();
	return failed;
}
