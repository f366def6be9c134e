/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Waiting for completions: spin, then sleep, as weft_attach.h says. A daemon that was killed cannot
 * say so in the block: whoever waits looks at the socket as well. Hot up to where it sleeps.
 */

#include "client_priv.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#define WAIT_LOOKS 64 /* between two reads of the clock */
#define WAIT_SOCKET_NS (100 * 1000 * 1000) /* between two looks at the socket */

int64_t
client_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * CLIENT_NS_PER_S + t.tv_nsec;
}

static inline void
wait_pause(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

__attribute__((cold)) static void
wait_break(struct weft *w)
{
	w->is_over = w->is_broken = true;
}

/* Take one completion, which is copied before it is looked at. */
static bool
wait_take(struct weft *w, struct weft_done *done)
{
	const struct weft_attach_cqe *c = &w->cqe[w->cq_head & (w->entries - 1)];
	const uint64_t slot = __atomic_load_n(&c->user, __ATOMIC_RELAXED);
	const int status = __atomic_load_n(&c->status, __ATOMIC_RELAXED);

	if (slot >= w->entries || w->ops[slot].kind == 0 || status > 0)
		return false;
	*done = (struct weft_done){ .user = w->ops[slot].user, .status = status };
	if (status != 0)
		done->bad = c->bad;
	client_op_end(w, (uint32_t)slot, status);
	w->cq_head++;
	return true;
}

static int
wait_reap(struct weft *w, struct weft_done *done, int n)
{
	const uint32_t there = __atomic_load_n(&w->head->cq_tail, __ATOMIC_ACQUIRE) - w->cq_head;
	int i;

	if (there == 0 || w->is_broken || w->is_cut)
		return 0;
	if (there > w->n_open) {
		wait_break(w);
		return 0;
	}
	for (i = 0; i < n && (uint32_t)i < there; i++)
		if (!wait_take(w, &done[i])) {
			wait_break(w);
			break;
		}
	__atomic_store_n(&w->head->cq_head, w->cq_head, __ATOMIC_RELEASE);
	return i;
}

/* Something is there, or nothing will be. Sequential: after a flag was set, it is not missed. */
static bool
wait_is_ready(const struct weft *w)
{
	return __atomic_load_n(&w->head->cq_tail, __ATOMIC_SEQ_CST) != w->cq_head || w->is_over ||
	       __atomic_load_n(&w->head->is_over, __ATOMIC_SEQ_CST) != 0;
}

static void
wait_look_at_socket(struct weft *w, int64_t now)
{
	struct pollfd p = { .fd = w->socket, .events = POLLRDHUP };

	if (now - w->looked_ns < WAIT_SOCKET_NS)
		return;
	w->looked_ns = now;
	if (poll(&p, 1, 0) > 0)
		w->is_over = true;
}

static void
wait_spin(struct weft *w, int64_t start, int64_t for_ns)
{
	int64_t now = start;
	int i;

	while (now - start < for_ns) {
		for (i = 0; i < WAIT_LOOKS; i++) {
			if (wait_is_ready(w))
				return;
			wait_pause();
		}
		now = client_clock(CLOCK_MONOTONIC);
		wait_look_at_socket(w, now);
	}
}

/* Take the signal back, if there is one. */
static void
wait_drain(struct weft *w)
{
	uint64_t n;

	while (read(w->to_client, &n, sizeof(n)) < 0 && errno == EINTR)
		;
}

static void
wait_sleep(struct weft *w, int64_t for_ns)
{
	const struct timespec t = { .tv_sec = for_ns / CLIENT_NS_PER_S,
		.tv_nsec = for_ns % CLIENT_NS_PER_S };
	struct pollfd p[] = { { .fd = w->to_client, .events = POLLIN },
		{ .fd = w->socket, .events = POLLRDHUP } };

	__atomic_store_n(&w->head->client_sleeps, 1, __ATOMIC_SEQ_CST);
	if (!wait_is_ready(w) && ppoll(p, WEFT_ARRAY_SIZE(p), for_ns < 0 ? NULL : &t, NULL) > 0) {
		if (p[0].revents != 0)
			wait_drain(w);
		if (p[1].revents != 0)
			w->is_over = true;
	}
	__atomic_store_n(&w->head->client_sleeps, 0, __ATOMIC_RELAXED);
}

/* Until something is there, or nothing will be, or for so long; below 0: without end. */
static void
wait_until(struct weft *w, int64_t timeout_ns)
{
	const int64_t start = client_clock(CLOCK_MONOTONIC);
	int64_t left = timeout_ns;

	wait_spin(w, start, left >= 0 && left < w->spin_ns ? left : w->spin_ns);
	while (!wait_is_ready(w)) {
		if (timeout_ns >= 0) {
			left = timeout_ns - (client_clock(CLOCK_MONOTONIC) - start);
			if (left <= 0)
				return;
		}
		wait_sleep(w, left);
	}
}

int
weft_wait(struct weft *w, struct weft_done *done, int n, int64_t timeout_ns)
{
	bool is_over;
	int got;

	if (n <= 0)
		return 0;
	got = wait_reap(w, done, n);
	if (got > 0)
		return got;
	if (timeout_ns != 0 && w->n_open > 0)
		wait_until(w, timeout_ns);
	else
		wait_look_at_socket(w, client_clock(CLOCK_MONOTONIC_COARSE));
	/* Asked first: what came before the end is delivered before it. */
	is_over = client_is_over(w);
	got = wait_reap(w, done, n);
	return got == 0 && (is_over || w->is_broken) ? client_say_over(w) : got;
}

int
weft_fd(struct weft *w)
{
	const uint64_t one = 1;

	wait_drain(w);
	__atomic_store_n(&w->head->client_sleeps, 1, __ATOMIC_SEQ_CST);
	/* It can only fail where it is readable anyway. */
	if (wait_is_ready(w) && write(w->to_client, &one, sizeof(one)) < 0)
		return w->epoll;
	return w->epoll;
}
