/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Files that a user names for output. */

#include "weft_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In /dev and /proc only the system puts links. */
static bool
file_follows(const char *path)
{
	return geteuid() != 0 || strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

bool
weft_file_is_link(const char *path)
{
	struct stat st;

	return !file_follows(path) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

int
weft_file_create(const char *path, mode_t mode)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open(path, flags | (file_follows(path) ? 0 : O_NOFOLLOW), mode), status;

	if (fd < 0)
		return -errno;
	/* Not to wait was for the opening of a FIFO: a full pipe is waited for. */
	status = fcntl(fd, F_GETFL);
	if (status < 0 || fcntl(fd, F_SETFL, status & ~O_NONBLOCK) != 0) {
		const int rc = -errno;

		close(fd);
		return rc;
	}
	return fd;
}

FILE *
weft_file_stream(const char *path)
{
	int fd = weft_file_create(path, 0666);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (fd < 0)
		errno = -fd;
	else if (f == NULL)
		close(fd);
	return f;
}

int
weft_file_close(FILE *f, const char *path, int rc)
{
	struct stat open_one = { 0 }, st;

	if (rc == 0 && ferror(f))
		rc = -EIO;
	if (fflush(f) != 0 && rc == 0)
		rc = -errno;
	if (fstat(fileno(f), &open_one) != 0)
		open_one.st_mode = 0;
	if (fclose(f) != 0 && rc == 0)
		rc = -errno;
	/* Not what the path names by now, nor what a link leads to. */
	if (rc != 0 && S_ISREG(open_one.st_mode) && lstat(path, &st) == 0 &&
		st.st_dev == open_one.st_dev && st.st_ino == open_one.st_ino)
		unlink(path);
	return rc;
}

const char *
weft_file_error(int rc)
{
	switch (rc) {
	case -ENXIO: return "a FIFO or socket that nobody reads: start the reader first";
	case -ELOOP: return "a symbolic link, which root does not follow: name the file itself";
	default: return strerror(-rc);
	}
}

bool
weft_file_is_private_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 077) == 0;
}

bool
weft_file_is_passed_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & 066) == 0;
}
