/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Locks that end with their process. */

#include "weft_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define LOCK_TRIES 16
#define LOCK_NAP_NS 1000000
#define LOCK_CALLERS 64

/* True if the file that was locked is still the one that others find. */
static bool
lock_is_file_of(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

static pid_t
lock_holder(int fd)
{
	char text[16];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return 0;
	text[n] = '\0';
	return (pid_t)strtol(text, NULL, 10);
}

int
weft_lock_take(const char *path, pid_t *holder)
{
	*holder = 0;
	for (unsigned int i = 0; i < LOCK_TRIES; i++) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600), rc;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
			rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
			*holder = rc == -EBUSY ? lock_holder(fd) : 0;
			close(fd);
			return rc;
		}
		if (lock_is_file_of(fd, path)) {
			if (ftruncate(fd, 0) != 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
				*holder = 0; /* the number is for people: the lock holds without */
			return fd;
		}
		/* Its holder removed it between our opening and locking it: theirs, not a lock. */
		close(fd);
	}
	return -EAGAIN;
}

void
weft_lock_release(int fd, const char *path)
{
	if (lock_is_file_of(fd, path))
		unlink(path);
	close(fd);
}

/* True if the process at the other end is one to be believed. */
static bool
lock_is_trusted(int fd, pid_t *pid)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);

	*pid = 0;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0 ||
		(who.uid != 0 && who.uid != geteuid()))
		return false;
	*pid = who.pid;
	return true;
}

/* Once: 0, -EADDRINUSE with *@p is_trusted, or -errno. */
static int
lock_bind(int fd, const struct sockaddr_un *at, socklen_t len, bool *is_trusted, pid_t *holder)
{
	const struct sockaddr *to = (const struct sockaddr *)(const void *)at;

	if (bind(fd, to, len) == 0)
		return listen(fd, LOCK_CALLERS) == 0 ? 0 : -errno;
	if (errno != EADDRINUSE)
		return -errno;
	*is_trusted = connect(fd, to, len) == 0 && lock_is_trusted(fd, holder);
	return -EADDRINUSE;
}

int
weft_lock_take_net(const char *name, pid_t *holder)
{
	const struct timespec nap = { .tv_nsec = LOCK_NAP_NS };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	const size_t name_len = strlen(name);
	const socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + name_len);

	*holder = 0;
	if (name_len == 0 || name_len >= sizeof(at.sun_path))
		return -ENAMETOOLONG;
	memcpy(at.sun_path + 1, name, name_len); /* a zero before it: abstract */
	/* Its holder may be about to listen, or to end. */
	for (unsigned int i = 0; i < LOCK_TRIES; i++) {
		const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		bool is_trusted = false;
		int rc;

		if (fd < 0)
			return -errno;
		rc = lock_bind(fd, &at, len, &is_trusted, holder);
		if (rc == 0)
			return fd;
		close(fd);
		if (rc != -EADDRINUSE || is_trusted)
			return is_trusted ? -EBUSY : rc;
		nanosleep(&nap, NULL);
	}
	return -EPERM;
}

bool
weft_lock_next_caller(int fd, pid_t *caller)
{
	for (unsigned int i = 0; i < LOCK_CALLERS; i++) {
		const int one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		bool is_trusted;

		if (one < 0)
			return false;
		is_trusted = lock_is_trusted(one, caller);
		close(one);
		if (is_trusted)
			return true;
	}
	return false;
}
