/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A desk before DPDK's telemetry socket. DPDK serves ten connections, each for as long as it stays
 * open, and closes all others at once: ten that say nothing keep everybody out. So the socket that
 * tools find is ours. A thread keeps DESK_VISITORS connections, closes those that stay idle, makes
 * room by closing the one idle longest, and asks DPDK itself, a question at a time.
 */

#include "eal_priv.h"

#include <rte_lcore.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "weft_socket.h"

#define DESK_VISITORS 32
#define DESK_ACCEPTS 64 /* in a turn */
#define DESK_ANSWER_MS 5000 /* DPDK has so long */
#define DESK_QUESTION 1024 /* what DPDK reads of one */
#define DESK_ANSWER 65536

struct visitor {
	int fd; /* -1: none */
	bool has_asked;
	uint64_t seen_ms;
};

/* One telemetry a process. After the start only the thread's. */
static struct {
	int listener;
	int hidden;
	char greeting[DESK_QUESTION];
	size_t greeting_len;
	struct visitor visitors[DESK_VISITORS];
	char answer[DESK_ANSWER];
} desk;

static atomic_uint silent_ms = 10000, idle_ms = 600000;

void
eal_telemetry_set_patience(unsigned int silent, unsigned int idle)
{
	atomic_store(&silent_ms, silent);
	atomic_store(&idle_ms, idle);
}

static uint64_t
telemetry_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void
telemetry_visitor_leave(struct visitor *v)
{
	close(v->fd);
	v->fd = -1;
}

static void
telemetry_accept(uint64_t now_ms)
{
	for (unsigned int i = 0; i < DESK_ACCEPTS; i++) {
		struct visitor *v = &desk.visitors[0];
		int fd = accept4(desk.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		for (unsigned int k = 0; k < DESK_VISITORS && v->fd >= 0; k++) {
			struct visitor *other = &desk.visitors[k];

			if (other->fd < 0 || other->seen_ms < v->seen_ms)
				v = other;
		}
		if (v->fd >= 0)
			telemetry_visitor_leave(v);
		*v = (struct visitor){ .fd = fd, .seen_ms = now_ms };
		if (send(fd, desk.greeting, desk.greeting_len, MSG_NOSIGNAL) < 0)
			telemetry_visitor_leave(v);
	}
}

/* Ask DPDK. Bytes of the answer, or <= 0. */
static ssize_t
telemetry_ask(const char *question, size_t len)
{
	int fd = weft_socket_reach(desk.hidden, DESK_ANSWER_MS);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = recv(fd, desk.answer, sizeof(desk.answer), 0);
	if (n > 0 && len != 0) {
		n = send(fd, question, len, MSG_NOSIGNAL);
		if (n > 0)
			n = recv(fd, desk.answer, sizeof(desk.answer), 0);
	}
	close(fd);
	return n;
}

static void
telemetry_serve(struct visitor *v, uint64_t now_ms)
{
	char question[DESK_QUESTION];
	ssize_t n = recv(v->fd, question, sizeof(question) - 1, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		n = telemetry_ask(question, (size_t)n);
	/* One that does not take its answer does not wait for anything. */
	if (n <= 0 || send(v->fd, desk.answer, (size_t)n, MSG_NOSIGNAL) != n) {
		telemetry_visitor_leave(v);
		return;
	}
	v->has_asked = true;
	v->seen_ms = now_ms;
}

static int
telemetry_collect(struct pollfd *p, uint64_t now_ms)
{
	int wait_ms = -1;

	p[0] = (struct pollfd){ .fd = desk.listener, .events = POLLIN };
	for (unsigned int i = 0; i < DESK_VISITORS; i++) {
		struct visitor *v = &desk.visitors[i];
		const uint64_t patience = atomic_load(v->has_asked ? &idle_ms : &silent_ms);

		if (v->fd >= 0 && now_ms - v->seen_ms >= patience)
			telemetry_visitor_leave(v);
		if (v->fd >= 0) {
			const int left = (int)(patience - (now_ms - v->seen_ms));

			wait_ms = wait_ms < 0 || left < wait_ms ? left : wait_ms;
		}
		p[1 + i] = (struct pollfd){ .fd = v->fd, .events = POLLIN };
	}
	return wait_ms;
}

static void *
telemetry_main(void *arg)
{
	struct pollfd p[1 + DESK_VISITORS];

	(void)arg;
	for (;;) {
		int wait_ms = telemetry_collect(p, telemetry_now_ms());

		if (poll(p, 1 + DESK_VISITORS, wait_ms) <= 0)
			continue;
		for (unsigned int i = 0; i < DESK_VISITORS; i++)
			if (p[1 + i].revents != 0)
				telemetry_serve(&desk.visitors[i], telemetry_now_ms());
		if (p[0].revents != 0)
			telemetry_accept(telemetry_now_ms());
	}
	return NULL;
}

/* Listen beside DPDK's socket, and put ours over it: there is one at every moment. */
static int
telemetry_take_over(const char *path)
{
	char own[WEFT_SOCKET_PATH_MAX];
	int rc;

	if (snprintf(own, sizeof(own), "%s.weft", path) >= (int)sizeof(own))
		return -ENAMETOOLONG;
	desk.hidden = open(path, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	if (desk.hidden < 0)
		return -errno;
	desk.listener = weft_socket_listen(own);
	if (desk.listener < 0) {
		rc = desk.listener;
		goto close_hidden;
	}
	desk.greeting_len = 0;
	if (telemetry_ask(NULL, 0) > 0)
		desk.greeting_len = strnlen(desk.answer, sizeof(desk.greeting) - 1);
	memcpy(desk.greeting, desk.answer, desk.greeting_len);
	if (desk.greeting_len != 0 && rename(own, path) == 0)
		return 0;
	rc = desk.greeting_len == 0 ? -EPROTO : -errno;
	unlink(own);
	close(desk.listener);
close_hidden:
	close(desk.hidden);
	return rc;
}

int
eal_telemetry_open(const char *runtime_dir)
{
	char path[WEFT_SOCKET_PATH_MAX];
	pthread_t thread;
	int rc;

	for (unsigned int i = 0; i < DESK_VISITORS; i++)
		desk.visitors[i].fd = -1;
	if (snprintf(path, sizeof(path), "%s/dpdk_telemetry.v2", runtime_dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	rc = telemetry_take_over(path);
	if (rc != 0)
		return rc;
	rc = rte_ctrl_thread_create(&thread, "weft-telemetry", NULL, telemetry_main, NULL);
	if (rc != 0)
		return rc < 0 ? rc : -rc;
	pthread_detach(thread);
	return 0;
}
