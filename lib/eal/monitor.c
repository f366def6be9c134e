/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The watch over idle policies: a probe when a loop starts, then, ten times a second and on a
 * thread of its own, a look at how long each spinning loop had to wait for its CPU. A loop that
 * starts to wait (another daemon came) is told to yield. It is never told to spin again: while
 * everyone yields nobody waits, so the figure cannot tell an empty CPU from a polite neighbour.
 */

#include "loop_priv.h"

#include <rte_lcore.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define MONITOR_PERIOD_MS 100
#define PROBE_NS 20000000u

/* One list a process, as there is one EAL. Everything here is under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;
static struct weft_loop *loops[RTE_MAX_LCORE];
static pthread_t monitor;
static bool has_monitor, monitor_stops;

static uint64_t
monitor_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int
loop_register(struct weft_loop *loop)
{
	struct weft_loop **slot = &loops[loop->cfg.lcore];
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (*slot != NULL)
		rc = -EBUSY;
	else
		*slot = loop;
	pthread_mutex_unlock(&lock);
	return rc;
}

void
loop_unregister(struct weft_loop *loop)
{
	pthread_mutex_lock(&lock);
	loops[loop->cfg.lcore] = NULL;
	pthread_mutex_unlock(&lock);
}

static unsigned int
monitor_loops_meeting(const cpu_set_t *cpus)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < RTE_MAX_LCORE; i++) {
		cpu_set_t other, both;

		if (loops[i] == NULL)
			continue;
		other = rte_lcore_cpuset(i);
		CPU_AND(&both, cpus, &other);
		n += CPU_COUNT(&both) != 0;
	}
	return n;
}

/* Share of the time since the last reading that the loop's thread waited for a CPU. */
static int
monitor_wait_permille(struct weft_loop *loop, int schedstat_fd)
{
	uint64_t now = monitor_now_ns(), wait = eal_run_delay_ns(schedstat_fd);
	uint64_t span = now - loop->seen_ns, waited = wait - loop->seen_wait_ns;
	bool known = wait != UINT64_MAX && loop->seen_wait_ns != UINT64_MAX && span != 0;

	loop->seen_ns = now;
	loop->seen_wait_ns = wait;
	return known ? (int)(waited >= span ? 1000 : waited * 1000 / span) : -1;
}

static void
monitor_facts(struct weft_loop *loop, struct weft_idle_facts *facts, int wait_permille)
{
	cpu_set_t cpus = rte_lcore_cpuset(loop->cfg.lcore);

	*facts = (struct weft_idle_facts){
		.wanted = loop->cfg.idle,
		.loops_on_cpu = monitor_loops_meeting(&cpus),
		.cpus = (unsigned int)CPU_COUNT(&cpus),
		.isolated = eal_cpu_isolated(&cpus),
		.wait_permille = wait_permille,
	};
}

static void
monitor_tell(const struct weft_loop *loop, const struct weft_idle_facts *facts, enum weft_idle idle,
	const char *why)
{
	cpu_set_t cpus = rte_lcore_cpuset(loop->cfg.lcore);
	char list[64], waits[48] = "", line[256];

	if (loop->cfg.on_idle == NULL)
		return;
	weft_cpuset_format(&cpus, list, sizeof(list));
	if (facts->wanted == WEFT_IDLE_AUTO && facts->wait_permille > 0)
		snprintf(waits, sizeof(waits), ", waited %d.%d %% of the time",
			facts->wait_permille / 10, facts->wait_permille % 10);
	snprintf(line, sizeof(line), "lcore %u on CPU %s: %s (%s%s)", loop->cfg.lcore, list,
		idle == WEFT_IDLE_SPIN ? "spins" : "yields", why, waits);
	loop->cfg.on_idle(loop->cfg.on_idle_arg, line);
}

static void
monitor_look(struct weft_loop *loop)
{
	struct weft_idle_facts facts;
	const char *why;

	/* Of a loop that started a moment ago, one unlucky wait would be a large share. */
	if (monitor_now_ns() - loop->seen_ns < MONITOR_PERIOD_MS * 500000u)
		return;
	monitor_facts(loop, &facts, monitor_wait_permille(loop, loop->schedstat_fd));
	if (weft_idle_decide(&facts, &why) != WEFT_IDLE_YIELD)
		return;
	atomic_store_explicit(&loop->idle, WEFT_IDLE_YIELD, memory_order_relaxed);
	monitor_tell(loop, &facts, WEFT_IDLE_YIELD, why);
}

static void
monitor_wait(void)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += MONITOR_PERIOD_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_nsec -= 1000000000L;
		until.tv_sec++;
	}
	pthread_cond_timedwait(&wake, &lock, &until);
}

static void *
monitor_main(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	while (!monitor_stops) {
		for (unsigned int i = 0; i < RTE_MAX_LCORE; i++)
			if (loops[i] != NULL && loops[i]->schedstat_fd >= 0 &&
				atomic_load(&loops[i]->idle) == WEFT_IDLE_SPIN)
				monitor_look(loops[i]);
		monitor_wait();
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Without a monitor the choice made at start stays: not a reason to fail. */
static void
monitor_start(void)
{
	pthread_condattr_t attr;

	if (has_monitor)
		return;
	monitor_stops = false;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &attr);
	pthread_condattr_destroy(&attr);
	has_monitor = rte_ctrl_thread_create(&monitor, "weft-idle", NULL, monitor_main, NULL) == 0;
	if (!has_monitor)
		pthread_cond_destroy(&wake);
}

void
loop_monitor_stop(void)
{
	pthread_mutex_lock(&lock);
	if (!has_monitor) {
		pthread_mutex_unlock(&lock);
		return;
	}
	has_monitor = false;
	monitor_stops = true;
	pthread_cond_signal(&wake);
	pthread_mutex_unlock(&lock);
	pthread_join(monitor, NULL);
	pthread_cond_destroy(&wake);
}

static int
monitor_open_schedstat(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", gettid());
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Keep the CPU busy for a moment: someone else who wants it shows as time spent waiting. */
static int
monitor_probe(struct weft_loop *loop, int schedstat_fd)
{
	uint64_t until;

	monitor_wait_permille(loop, schedstat_fd);
	until = loop->seen_ns + PROBE_NS;
	while (monitor_now_ns() < until)
		;
	return monitor_wait_permille(loop, schedstat_fd);
}

void
loop_choose_idle(struct weft_loop *loop)
{
	struct weft_idle_facts facts;
	enum weft_idle idle;
	const char *why;
	int fd = monitor_open_schedstat();

	pthread_mutex_lock(&lock);
	monitor_facts(loop, &facts, 0);
	pthread_mutex_unlock(&lock);
	if (weft_idle_decide(&facts, NULL) == WEFT_IDLE_SPIN && facts.wanted == WEFT_IDLE_AUTO)
		facts.wait_permille = fd >= 0 ? monitor_probe(loop, fd) : -1;
	idle = weft_idle_decide(&facts, &why);
	atomic_store_explicit(&loop->idle, idle, memory_order_relaxed);
	monitor_tell(loop, &facts, idle, why);
	if (idle != WEFT_IDLE_SPIN || facts.wanted != WEFT_IDLE_AUTO || fd < 0) {
		if (fd >= 0)
			close(fd);
		return;
	}
	pthread_mutex_lock(&lock);
	loop->schedstat_fd = fd; /* from here on the monitor looks */
	monitor_start();
	pthread_mutex_unlock(&lock);
}

void
loop_forget_idle(struct weft_loop *loop)
{
	pthread_mutex_lock(&lock);
	if (loop->schedstat_fd >= 0)
		close(loop->schedstat_fd);
	loop->schedstat_fd = -1;
	pthread_mutex_unlock(&lock);
}
