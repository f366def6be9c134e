/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two processes that wake each other: the measure of what it costs to ask somebody else. */

#include "pingpong.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "loopback.h"
#include "reach.h"

#define TCP_LEN 64
#define WARM_UP 100 /* round trips that do not count */

/* The ends of a way: what one writes the other reads. */
struct pingpong_ends {
	int in[2], out[2]; /* by player: 0 asks, 1 answers */
	size_t len;
};

static int
pingpong_pipes(struct pingpong_ends *e)
{
	int there[2], back[2];

	if (pipe(there) != 0)
		return -errno;
	if (pipe(back) != 0) {
		close(there[0]);
		close(there[1]);
		return -errno;
	}
	*e = (struct pingpong_ends){
		.in = { back[0], there[0] }, .out = { there[1], back[1] }, .len = 1
	};
	return 0;
}

static int
pingpong_tcp(struct pingpong_ends *e)
{
	int fd[2];
	const int rc = loopback_tcp(fd);

	if (rc == 0)
		*e = (struct pingpong_ends){
			.in = { fd[0], fd[1] }, .out = { fd[0], fd[1] }, .len = TCP_LEN
		};
	return rc;
}

/* The CPU with this number of those that the process may use; -1: there are not so many. */
static int
pingpong_cpu(const cpu_set_t *set, int number)
{
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET((size_t)cpu, set) && number-- == 0)
			return cpu;
	return -1;
}

static bool
pingpong_put(const struct pingpong_ends *e, int player)
{
	static const char word[TCP_LEN];

	return write(e->out[player], word, e->len) == (ssize_t)e->len;
}

static bool
pingpong_get(const struct pingpong_ends *e, int player)
{
	char word[TCP_LEN];
	size_t have = 0;

	while (have < e->len) {
		const ssize_t n = read(e->in[player], word, e->len - have);

		if (n <= 0)
			return false;
		have += (size_t)n;
	}
	return true;
}

static void
pingpong_answer(const struct pingpong_ends *e)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(e->out[0]);
	if (e->in[0] != e->out[0])
		close(e->in[0]);
	while (pingpong_get(e, 1) && pingpong_put(e, 1))
		;
	_exit(EXIT_SUCCESS);
}

static void
pingpong_ask(const struct pingpong_ends *e, double seconds, struct weft_latency *l)
{
	const uint64_t end = reach_now_ns() + (uint64_t)(seconds * 1e9);
	uint64_t now = reach_now_ns(), n = 0;

	/* On a busy machine the time may be over before the warm-up is. */
	while ((now < end || n <= WARM_UP) && !cli_is_stopped() && pingpong_put(e, 0) &&
		pingpong_get(e, 0)) {
		const uint64_t then = reach_now_ns();

		if (n++ >= WARM_UP)
			weft_latency_add(l, then - now);
		now = then;
	}
}

static void
pingpong_close(const struct pingpong_ends *e, int player)
{
	close(e->out[player]);
	if (e->in[player] != e->out[player])
		close(e->in[player]);
}

int
pingpong(enum pingpong_way way, double seconds, struct weft_latency *l)
{
	struct pingpong_ends e = { 0 };
	cpu_set_t all;
	int first, second, rc;
	pid_t child;

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return -errno;
	first = pingpong_cpu(&all, 0);
	second = way == PINGPONG_PIPE_CPUS ? pingpong_cpu(&all, 1) : first;
	if (second < 0)
		return -ENODEV;
	rc = way == PINGPONG_TCP ? pingpong_tcp(&e) : pingpong_pipes(&e);
	if (rc != 0)
		return rc;
	child = fork();
	if (child == 0) {
		if (way != PINGPONG_TCP)
			loopback_pin(second);
		pingpong_answer(&e);
	}
	rc = child < 0 ? -errno : 0;
	pingpong_close(&e, 1);
	if (way != PINGPONG_TCP)
		loopback_pin(first);
	if (rc == 0)
		pingpong_ask(&e, seconds, l);
	sched_setaffinity(0, sizeof(all), &all);
	pingpong_close(&e, 0);
	if (child > 0)
		waitpid(child, NULL, 0);
	return rc;
}
