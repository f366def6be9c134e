/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Two ends of a TCP connection of this machine, and the CPU that a thread runs on. */

#include "loopback.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

/* 0, or -1 with errno; what is open then, -1 if nothing, is the caller's. */
static int
loopback_join(int door, int fd[2])
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	const int one = 1;

	if (door < 0 || fd[0] < 0 || bind(door, (struct sockaddr *)&at, sizeof(at)) != 0 ||
		listen(door, 1) != 0 || getsockname(door, (struct sockaddr *)&at, &len) != 0 ||
		connect(fd[0], (struct sockaddr *)&at, len) != 0)
		return -1;
	fd[1] = accept4(door, NULL, NULL, SOCK_CLOEXEC);
	if (fd[1] < 0)
		return -1;
	for (int end = 0; end < 2; end++)
		if (setsockopt(fd[end], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) != 0)
			return -1;
	return 0;
}

int
loopback_tcp(int fd[2])
{
	const int door = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int rc;

	fd[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	fd[1] = -1;
	rc = loopback_join(door, fd) == 0 ? 0 : -errno;
	if (door >= 0)
		close(door);
	for (int end = 0; end < 2 && rc != 0; end++)
		if (fd[end] >= 0)
			close(fd[end]);
	return rc;
}

int
loopback_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0 ? 0 : -errno;
}
