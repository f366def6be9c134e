/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where operators find the manager that leads: fm.sock in the run folder. A manager of a shared
 * store takes it over from one that does not answer: that one was stopped while it led, stands with
 * the socket open, and connecting to it succeeds. One that answers keeps it.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "manager.h"
#include "weft_socket.h"

#define LISTEN_CONNECT_MS 20
#define LISTEN_SILENT_NS UINT64_C(1000000000) /* one that says nothing for so long stands */
#define LISTEN_AGAIN_NS UINT64_C(2000000000) /* before one that answered is asked again */

static struct {
	int fd; /* -1: none */
	char path[WEFT_SOCKET_PATH_MAX];
	dev_t dev; /* of the socket in the file system, as these two were when it was made */
	ino_t ino;
	bool is_asking; /* the one that serves it whether it is awake */
	int ask; /* -1: it does not even take a connection */
	uint64_t ask_ns; /* since then; or not before */
} listen_at = { .fd = -1, .ask = -1 };

static uint64_t
listen_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static bool
listen_is_ours(void)
{
	struct stat st;

	return stat(listen_at.path, &st) == 0 && st.st_dev == listen_at.dev &&
	       st.st_ino == listen_at.ino;
}

static void
listen_stop_asking(uint64_t again_ns)
{
	if (listen_at.ask >= 0)
		close(listen_at.ask);
	listen_at.ask = -1;
	listen_at.is_asking = false;
	listen_at.ask_ns = again_ns;
}

static void
listen_begin_asking(uint64_t now_ns)
{
	static const char text[] = "{\"cmd\": \"show\", \"what\": \"fabric\"}\n";
	const int fd = weft_socket_connect_stream(listen_at.path, LISTEN_CONNECT_MS);

	/* A queue that is full is of one that takes nothing out of it. */
	if (fd < 0 && fd != -EAGAIN)
		return;
	if (fd >= 0)
		(void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	listen_at.ask = fd;
	listen_at.is_asking = true;
	listen_at.ask_ns = now_ns;
}

/* Whether the one that serves the socket stands; -EAGAIN: it is being asked. */
static int
listen_find_standing(void)
{
	const uint64_t now_ns = listen_now_ns();
	char byte;

	if (!listen_at.is_asking && now_ns < listen_at.ask_ns)
		return -EADDRINUSE;
	if (!listen_at.is_asking) {
		listen_begin_asking(now_ns);
		return -EAGAIN;
	}
	/* An answer, or it has gone. */
	if (listen_at.ask >= 0 &&
		(recv(listen_at.ask, &byte, 1, MSG_DONTWAIT) >= 0 || errno != EAGAIN)) {
		listen_stop_asking(now_ns + LISTEN_AGAIN_NS);
		return -EADDRINUSE;
	}
	if (now_ns - listen_at.ask_ns < LISTEN_SILENT_NS)
		return -EAGAIN;
	listen_stop_asking(0);
	return 0;
}

static int
listen_take_over(void)
{
	int rc = listen_find_standing();

	if (rc != 0)
		return rc;
	rc = weft_socket_replace_stream(listen_at.path);
	if (rc >= 0)
		cli_warn("%s: the weft-fm that serves it does not answer: it is this one's now",
			listen_at.path);
	return rc;
}

int
operate_listen(const char *folder, bool may_take_over)
{
	struct stat st;
	int rc = -ENAMETOOLONG;

	if (snprintf(listen_at.path, sizeof(listen_at.path), "%s/" MANAGER_SOCKET, folder) <
		(int)sizeof(listen_at.path))
		rc = weft_socket_listen_stream(listen_at.path);
	if (rc == -EADDRINUSE && may_take_over)
		rc = listen_take_over();
	else
		listen_stop_asking(0);
	if (rc < 0)
		return rc;
	listen_at.fd = rc;
	if (stat(listen_at.path, &st) != 0)
		return 0; /* it has gone already, which is seen at the next look */
	listen_at.dev = st.st_dev;
	listen_at.ino = st.st_ino;
	return 0;
}

int
operate_listener(void)
{
	return listen_at.fd;
}

bool
operate_is_open(void)
{
	if (listen_at.fd >= 0 && !listen_is_ours()) {
		close(listen_at.fd);
		listen_at.fd = -1;
	}
	return listen_at.fd >= 0;
}

/* Another manager may have taken the place over meanwhile, whose socket stays. */
void
operate_unlisten(void)
{
	listen_stop_asking(0);
	if (listen_at.fd < 0)
		return;
	if (listen_is_ours())
		unlink(listen_at.path);
	close(listen_at.fd);
	listen_at.fd = -1;
}
