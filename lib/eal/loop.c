/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: the rounds of an lcore. The loop reads two words that others write (stop, idle), on a line
 * that changes only when they do; its counters have a line of their own.
 */

#include "loop_priv.h"

#include <rte_cycles.h>
#include <rte_errno.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_malloc.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define LOOP_NAP_SLACK_NS 1000 /* the kernel's default slack, 50 us, is more than a nap */
#define LOOP_QUIESCE_POLL_US 50

static struct rte_rcu_qsbr *qsbr; /* one reader per lcore, its number is the lcore's */

int
eal_loops_init(void)
{
	qsbr = rte_zmalloc(
		"weft_qsbr", rte_rcu_qsbr_get_memsize(RTE_MAX_LCORE), RTE_CACHE_LINE_SIZE);
	if (qsbr == NULL)
		return -ENOMEM;
	return -rte_rcu_qsbr_init(qsbr, RTE_MAX_LCORE);
}

void
eal_loops_fini(void)
{
	loop_monitor_stop();
	rte_free(qsbr);
	qsbr = NULL;
}

struct weft_loop *
weft_loop_create(const struct weft_loop_cfg *cfg)
{
	struct weft_loop *loop;
	size_t size = sizeof(*loop) + cfg->n_polls * sizeof(loop->polls[0]);
	int rc;

	if (cfg->n_polls == 0 || !rte_lcore_is_enabled(cfg->lcore)) {
		rte_errno = EINVAL;
		return NULL;
	}
	size = (size + RTE_CACHE_LINE_SIZE - 1) & ~(size_t)(RTE_CACHE_LINE_SIZE - 1);
	loop = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
	if (loop == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	memset(loop, 0, size);
	loop->cfg = *cfg;
	loop->schedstat_fd = -1;
	for (unsigned int i = 0; i < cfg->n_polls; i++)
		loop->polls[i].poll = cfg->polls[i];
	rc = loop_register(loop);
	if (rc != 0) {
		free(loop);
		rte_errno = -rc;
		return NULL;
	}
	return loop;
}

void
weft_loop_free(struct weft_loop *loop)
{
	if (loop == NULL)
		return;
	loop_unregister(loop);
	free(loop);
}

/* One writer, any readers. */
static inline void
loop_add(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
		memory_order_relaxed);
}

static inline void
loop_count(_Atomic uint64_t *counter)
{
	loop_add(counter, 1);
}

static void
loop_nap(struct weft_loop *loop, const struct timespec *nap)
{
	struct pollfd p = { .fd = loop->cfg.wake_fd, .events = POLLIN };
	uint64_t times;

	loop_count(&loop->naps);
	if (loop->cfg.on_nap == NULL) {
		nanosleep(nap, NULL);
		return;
	}
	if (loop->cfg.on_nap(loop->cfg.on_nap_arg, true) && ppoll(&p, 1, nap, NULL) > 0 &&
		read(p.fd, &times, sizeof(times)) == (ssize_t)sizeof(times))
		loop_count(&loop->wakes);
	loop->cfg.on_nap(loop->cfg.on_nap_arg, false);
}

/* A round found nothing. */
static inline void
loop_rest(struct weft_loop *loop, const struct loop_quiet *quiet)
{
	struct timespec nap = { 0 };

	loop_count(&loop->empty_rounds);
	if (atomic_load_explicit(&loop->idle, memory_order_relaxed) != WEFT_IDLE_YIELD) {
		rte_pause();
		return;
	}
	nap.tv_nsec = (long)loop_quiet_nap_ns(quiet, rte_rdtsc());
	if (nap.tv_nsec == 0) {
		loop_count(&loop->yields);
		sched_yield();
	} else {
		loop_nap(loop, &nap);
	}
}

/* The cycles from @p since on are the call's; @return the TSC behind it */
static inline uint64_t
loop_poll_once(struct loop_poll *p, uint64_t since, unsigned int *work)
{
	const unsigned int found = p->poll.fn(p->poll.arg);
	const uint64_t now = rte_rdtsc();

	loop_add(found != 0 ? &p->busy_cycles : &p->idle_cycles, now - since);
	*work += found;
	return now;
}

static void
loop_rounds(struct weft_loop *loop)
{
	const unsigned int n_polls = loop->cfg.n_polls;
	uint64_t since = rte_rdtsc();
	struct loop_quiet quiet = loop_quiet_from(since, rte_get_tsc_hz() / 1000000);

	while (!atomic_load_explicit(&loop->stop, memory_order_relaxed)) {
		unsigned int work = 0;

		for (unsigned int i = 0; i < n_polls; i++)
			since = loop_poll_once(&loop->polls[i], since, &work);
		rte_rcu_qsbr_quiescent(qsbr, loop->cfg.lcore);
		loop_count(&loop->rounds);
		if (work == 0) {
			const uint64_t before = since;

			loop_rest(loop, &quiet);
			since = rte_rdtsc();
			loop_add(&loop->rest_cycles, since - before);
		} else {
			loop_quiet_work(&quiet, since);
		}
	}
}

void
weft_loop_run(struct weft_loop *loop)
{
	prctl(PR_SET_TIMERSLACK, LOOP_NAP_SLACK_NS, 0, 0, 0);
	loop_choose_idle(loop);
	rte_rcu_qsbr_thread_register(qsbr, loop->cfg.lcore);
	rte_rcu_qsbr_thread_online(qsbr, loop->cfg.lcore);
	loop_rounds(loop);
	rte_rcu_qsbr_thread_offline(qsbr, loop->cfg.lcore);
	rte_rcu_qsbr_thread_unregister(qsbr, loop->cfg.lcore);
	loop_forget_idle(loop);
}

static int
loop_main(void *arg)
{
	struct weft_loop *loop = arg;

	weft_loop_run(loop);
	atomic_store_explicit(&loop->has_ended, true, memory_order_release);
	return 0;
}

int
weft_loop_launch(struct weft_loop *loop)
{
	if (loop->cfg.lcore == rte_get_main_lcore())
		return -EINVAL;
	return rte_eal_remote_launch(loop_main, loop, loop->cfg.lcore);
}

void
weft_loop_stop(struct weft_loop *loop)
{
	atomic_store_explicit(&loop->stop, true, memory_order_relaxed);
}

void
weft_loop_join(struct weft_loop *loop)
{
	rte_eal_wait_lcore(loop->cfg.lcore);
	/*
	 * What the lcore wrote is the caller's now: said here, where compilers and sanitizers see
	 * it.
	 */
	atomic_load_explicit(&loop->has_ended, memory_order_acquire);
}

void
weft_loop_stats(const struct weft_loop *loop, struct weft_loop_stats *stats)
{
	stats->rounds = atomic_load_explicit(&loop->rounds, memory_order_relaxed);
	stats->empty_rounds = atomic_load_explicit(&loop->empty_rounds, memory_order_relaxed);
	stats->yields = atomic_load_explicit(&loop->yields, memory_order_relaxed);
	stats->naps = atomic_load_explicit(&loop->naps, memory_order_relaxed);
	stats->wakes = atomic_load_explicit(&loop->wakes, memory_order_relaxed);
}

void
weft_loop_poll_cycles(
	const struct weft_loop *loop, unsigned int poll, uint64_t *busy, uint64_t *idle)
{
	const struct loop_poll *p = &loop->polls[poll];

	assert(poll < loop->cfg.n_polls);
	*busy = atomic_load_explicit(&p->busy_cycles, memory_order_relaxed);
	*idle = atomic_load_explicit(&p->idle_cycles, memory_order_relaxed) +
	        atomic_load_explicit(&loop->rest_cycles, memory_order_relaxed);
}

enum weft_idle
weft_loop_idle(const struct weft_loop *loop)
{
	return (enum weft_idle)atomic_load_explicit(&loop->idle, memory_order_relaxed);
}

void
weft_loop_quiesce(void)
{
	uint64_t token = rte_rcu_qsbr_start(qsbr);

	/* Sleeping, not spinning: the loop waited for may need this CPU. */
	while (rte_rcu_qsbr_check(qsbr, token, false) == 0)
		usleep(LOOP_QUIESCE_POLL_US);
}
