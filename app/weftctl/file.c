/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Files that verbs read and write. */

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "progress.h"
#include "weft_base.h"
#include "weft_file.h"

#define LOOK_MS 200 /* between looks for a signal */

/* The file beside the one that is named, and that one without links; "" where there is none. */
static char file_beside[PATH_MAX], file_path[PATH_MAX];

/*
 * By its other names, too: to open them is to open what stands there once more, from its beginning,
 * or for commands from a pipe the nothing that was put there.
 */
static bool
file_is_stdin(const char *path)
{
	static const char *const names[] = { "-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0" };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(names); i++)
		if (strcmp(path, names[i]) == 0)
			return true;
	return false;
}

/* A FIFO that nobody writes to is not waited for here, where a signal may come before the wait. */
static int
file_open_in(const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	return fd;
}

/* Bytes up to its end; not known of a file that has some and a size of 0, as those of /proc. */
static uint64_t
file_left(int fd, const struct stat *st)
{
	const off_t at = S_ISREG(st->st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;
	char first;

	if (at < 0 || (st->st_size == 0 && pread(fd, &first, 1, at) != 0))
		return UINT64_MAX;
	return st->st_size > at ? (uint64_t)(st->st_size - at) : 0;
}

void
file_open(struct file_in *f, const struct ctl *c, const char *path)
{
	const bool is_stdin = path == NULL || file_is_stdin(path);
	struct stat st;

	*f = (struct file_in){ .c = c, .name = path };
	if (is_stdin)
		f->name = "standard input";
	f->fd = is_stdin ? STDIN_FILENO : file_open_in(path);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		cli_usage("%s %s: %s", c->verb, f->name, strerror(errno));
	if (S_ISDIR(st.st_mode))
		cli_usage("%s %s: expected a file, got a folder", c->verb, f->name);
	f->size = file_left(f->fd, &st);
}

/* Until there is something to read, or the end. A signal ends the wait, whenever it comes. */
static void
file_wait(const struct file_in *f)
{
	struct pollfd in = { .fd = f->fd, .events = POLLIN };

	while (poll(&in, 1, LOOK_MS) <= 0)
		if (cli_is_stopped())
			ctl_fail(f->c, "%s %s: stopped by a signal before its end", f->c->verb,
				f->name);
}

size_t
file_read(struct file_in *f, uint8_t *p, size_t n)
{
	size_t done = 0;
	ssize_t got;

	while (done < n && !f->has_ended) {
		file_wait(f);
		got = read(f->fd, p + done, n - done);
		if (got < 0 && errno != EINTR) {
			progress_clear();
			cli_usage("%s %s: %s", f->c->verb, f->name, strerror(errno));
		}
		f->has_ended = got == 0;
		done += got > 0 ? (size_t)got : 0;
	}
	return done;
}

void
file_judge_end(const struct file_in *f, uint64_t done, const char *became)
{
	if (f->has_ended && f->size != UINT64_MAX && done < f->size)
		cli_usage("%s %s: expected the %" PRIu64 " bytes of its size, got its end after "
			  "%" PRIu64 "; %s",
			f->c->verb, f->name, f->size, done, became);
}

static void
file_discard(void)
{
	if (file_beside[0] != '\0')
		unlink(file_beside);
	file_beside[0] = '\0';
}

/* Mode of the file that is replaced, or of a new one. */
static mode_t
file_mode(const struct stat *old)
{
	const mode_t mask = umask(0);

	umask(mask);
	return old != NULL ? old->st_mode & 0777 : 0666 & ~mask;
}

/* A file beside @p file_path, which may be there: its status is @p old then. -errno. */
static int
file_create_beside(const struct stat *old)
{
	int fd;

	if (snprintf(file_beside, sizeof(file_beside), "%s.XXXXXX", file_path) >=
		(int)sizeof(file_beside)) {
		file_beside[0] = '\0';
		return -ENAMETOOLONG;
	}
	fd = mkostemp(file_beside, O_CLOEXEC);
	if (fd < 0) {
		file_beside[0] = '\0';
		return -errno;
	}
	atexit(file_discard);
	fchmod(fd, file_mode(old));
	return fd;
}

/* A device, a FIFO and a link that leads nowhere yet cannot be replaced: they are written to. */
static int
file_create_at(const char *path)
{
	struct stat st;
	const bool is_there = stat(path, &st) == 0;

	if (is_there && S_ISDIR(st.st_mode))
		return -EISDIR;
	if (is_there && S_ISREG(st.st_mode) && access(path, W_OK) != 0)
		return -errno;
	if (weft_file_is_link(path) || (is_there && !S_ISREG(st.st_mode)) ||
		(!is_there && lstat(path, &st) == 0))
		return weft_file_create(path, 0666);
	if (is_there && realpath(path, file_path) == NULL)
		return -errno;
	if (!is_there &&
		snprintf(file_path, sizeof(file_path), "%s", path) >= (int)sizeof(file_path))
		return -ENAMETOOLONG;
	return file_create_beside(is_there ? &st : NULL);
}

void
file_create(struct file_out *f, const struct ctl *c, const char *path)
{
	int fd;

	*f = (struct file_out){ .c = c, .name = path, .f = stdout };
	if (strcmp(path, "-") == 0)
		return;
	fd = file_create_at(path);
	if (fd < 0)
		ctl_fail(c, "%s %s: %s", c->verb, path, weft_file_error(fd));
	f->f = fdopen(fd, "w");
	if (f->f == NULL)
		ctl_fail(c, "%s %s: %s", c->verb, path, strerror(errno));
}

static void __attribute__((noreturn)) file_fail(const struct file_out *f)
{
	if (f->f == stdout)
		cli_exit(f->c->failure); /* which says why, unless its reader has gone */
	ctl_fail(f->c, "%s %s: could not be written whole: %s%s", f->c->verb, f->name,
		strerror(errno), file_beside[0] != '\0' ? "; it is as it was" : "");
}

void
file_write(struct file_out *f, const uint8_t *p, size_t n)
{
	if (fwrite(p, 1, n, f->f) != n)
		file_fail(f);
}

void
file_commit(struct file_out *f)
{
	const bool is_beside = file_beside[0] != '\0';

	if (fflush(f->f) != 0 || (is_beside && fsync(fileno(f->f)) != 0))
		file_fail(f);
	if (f->f == stdout)
		return;
	if (fclose(f->f) != 0 || (is_beside && rename(file_beside, file_path) != 0))
		file_fail(f);
	file_beside[0] = '\0';
}
