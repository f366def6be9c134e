/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Locks that end with their process. */

#include "weft_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOCK_TRIES 16

/* Whether the file that was locked is still the one that others find. */
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
