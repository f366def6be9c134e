/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * libweft without a daemon, for tests of programs: the memory is the file $WEFT_STUB, of which h0
 * has two regions: g0, all of it, and r0, its first 4 KiB, which may only be read. It takes few
 * operations at a time and ends the last one first, so that a program cannot rely on more.
 *
 *   WEFT_STUB_BAD   offset in the file of a line where operations fail
 *   WEFT_STUB_RC    with this errno (EIO)
 *   WEFT_STUB_AFTER, _TIMES  so many operations are good before any fails, so many fail (all)
 *   WEFT_STUB_LIFE  operations until the daemon is gone
 *   WEFT_STUB_STILL operations until none ends any more
 */

#include "weft.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "words.h"

#define STUB_ROOM 5 /* operations open at a time */
#define STUB_BURST 3 /* of one weft_wait() */
#define STUB_LINE 64

struct weft {
	int fd;
	struct weft_op open[STUB_ROOM];
	int n_open;
	uint64_t life, done, good, bad_times;
	uint64_t last_bad;
	struct weft_region *regions; /* freed with it */
};

struct weft_region {
	struct weft *w;
	struct weft_region_info info;
	uint64_t base;
	int flags;
	struct weft_region *next;
};

static char stub_error[256];

static int __attribute__((format(printf, 2, 3))) stub_fail(int rc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(stub_error, sizeof(stub_error), fmt, ap);
	va_end(ap);
	return rc;
}

static uint64_t
stub_number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text == NULL ? otherwise : strtoull(text, NULL, 0);
}

int
weft_attach(const char *socket, const struct weft_attach_opts *opts, struct weft **w)
{
	static struct weft one;
	const char *path = getenv("WEFT_STUB");

	(void)opts;
	if (socket != NULL && strcmp(socket, "h0") != 0 && strcmp(socket, "./h0.sock") != 0)
		return stub_fail(-ENOENT, "%s: no such host", socket);
	one.fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
	if (one.fd < 0)
		return stub_fail(-ENOENT, "no daemon serves a host there");
	one.life = stub_number("WEFT_STUB_LIFE", UINT64_MAX);
	one.good = stub_number("WEFT_STUB_AFTER", 0);
	one.bad_times = stub_number("WEFT_STUB_TIMES", UINT64_MAX);
	*w = &one;
	return 0;
}

void
weft_detach(struct weft *w)
{
	struct weft_region *r;

	if (w == NULL)
		return;
	while ((r = w->regions) != NULL) {
		w->regions = r->next;
		free(r);
	}
	close(w->fd);
}

const char *
weft_error(const struct weft *w)
{
	(void)w;
	return stub_error;
}

const char *
weft_node(const struct weft *w)
{
	(void)w;
	return "h0";
}

int
weft_regions(struct weft *w, struct weft_region_info *list, int n)
{
	struct stat st;

	if (fstat(w->fd, &st) != 0)
		return stub_fail(-ESHUTDOWN, "the file has gone");
	if (n > 0)
		list[0] = (struct weft_region_info){ "g0", "d0", (uint64_t)st.st_size,
			UINT64_C(0xfedcba9876543210), 0, WEFT_READ | WEFT_WRITE };
	if (n > 1)
		list[1] = (struct weft_region_info){ "r0", "d1", 4096, 0, 256, WEFT_READ };
	return 2;
}

/* Cut a region to OFFSET+SIZE, a part of it. */
static int
stub_cut(struct weft_region *r, char *part)
{
	char *plus = strchr(part, '+');
	uint64_t size;

	if (plus != NULL)
		*plus = '\0';
	if (plus == NULL || !words_bytes(part, &r->base) || !words_bytes(plus + 1, &size))
		return stub_fail(-EINVAL, "%s: expected NAME:OFFSET+SIZE", part);
	if (r->base > r->info.size || size > r->info.size - r->base)
		return stub_fail(-ERANGE, "%s: not within the region", part);
	r->info.size = size;
	return 0;
}

int
weft_open(struct weft *w, const char *region, int flags, struct weft_region **out)
{
	struct weft_region_info list[2];
	struct weft_region *r = calloc(1, sizeof(*r));
	char name[128], *part;
	int i, rc = 0;

	snprintf(name, sizeof(name), "%s", region);
	part = strchr(name, ':');
	if (part != NULL)
		*part++ = '\0';
	weft_regions(w, list, 2);
	for (i = 0; i < 2 && strcmp(list[i].name, name) != 0; i++)
		;
	if (r == NULL || i == 2)
		rc = stub_fail(-ENOENT, "%s: no such region", name);
	else
		*r = (struct weft_region){
			.w = w, .info = list[i], .flags = flags & ~(int)WEFT_UIO
		};
	if (rc == 0 && (list[i].rights & (uint32_t)r->flags) != (uint32_t)r->flags)
		rc = stub_fail(-EACCES, "%s: no right to it", name);
	if (rc == 0 && part != NULL)
		rc = stub_cut(r, part);
	if (rc != 0) {
		free(r);
		return rc;
	}
	r->next = w->regions;
	w->regions = *out = r;
	return 0;
}

void
weft_close(struct weft_region *r)
{
	(void)r; /* freed with its attachment */
}

int
weft_info(const struct weft_region *r, struct weft_region_info *i)
{
	*i = r->info;
	return 0;
}

/* Whether a line would be in two operations, of which one goes on where the other ends. */
static bool
stub_splits(const struct weft *w, const struct weft_op *op)
{
	for (int i = 0; i < w->n_open; i++)
		if (w->open[i].off + w->open[i].n == op->off && op->off % STUB_LINE != 0)
			return true;
	return false;
}

int
weft_submit(struct weft *w, const struct weft_op *ops, int n)
{
	int i;

	for (i = 0; i < n && w->n_open < STUB_ROOM; i++) {
		const struct weft_op *op = &ops[i];
		const struct weft_region *r = op->region;
		const int right = op->kind == WEFT_OP_READ ? WEFT_READ : WEFT_WRITE;
		const uint64_t size = r->info.size;

		if (op->n == 0 || op->off > size || op->n > size - op->off)
			return i > 0 ? i : stub_fail(-EINVAL, "not within the region");
		if ((r->flags & right) == 0)
			return i > 0 ? i : stub_fail(-EACCES, "not opened for that");
		if (stub_splits(w, op))
			return i > 0 ? i : stub_fail(-EINVAL, "a line is in two operations");
		if (op->kind == WEFT_OP_WRITE &&
			pwrite(w->fd, op->buf, op->n, (off_t)(r->base + op->off)) != (ssize_t)op->n)
			return stub_fail(-EIO, "writing the file failed");
		w->open[w->n_open++] = *op;
	}
	return i;
}

/* Whether this operation, which has a bad line, fails. */
static bool
stub_fails(struct weft *w)
{
	if (w->done < w->good || w->bad_times == 0)
		return false;
	w->bad_times--;
	return true;
}

static int
stub_end(struct weft *w, const struct weft_op *op, struct weft_done *done)
{
	const uint64_t bad = stub_number("WEFT_STUB_BAD", UINT64_MAX) / STUB_LINE * STUB_LINE;
	const uint64_t at = op->region->base + op->off;

	*done = (struct weft_done){ .user = op->user };
	if (bad + STUB_LINE > at && bad < at + op->n && stub_fails(w)) {
		done->status = -(int)stub_number("WEFT_STUB_RC", EIO);
		done->bad = bad - op->region->base;
	} else if (op->kind == WEFT_OP_READ &&
		   pread(w->fd, op->buf, op->n, (off_t)at) != (ssize_t)op->n) {
		return stub_fail(-ESHUTDOWN, "reading the file failed");
	}
	return 0;
}

int
weft_wait(struct weft *w, struct weft_done *done, int n, int64_t timeout_ns)
{
	const struct timespec nap = { .tv_nsec = timeout_ns < 0 ? 0 : timeout_ns % 1000000000 };
	int i, rc = 0;

	if (w->done >= stub_number("WEFT_STUB_STILL", UINT64_MAX)) {
		nanosleep(&nap, NULL);
		return 0;
	}
	for (i = 0; i < n && i < STUB_BURST && w->n_open > 0 && rc == 0; i++) {
		if (w->life-- == 0)
			return stub_fail(-ESHUTDOWN, "the daemon left");
		rc = stub_end(w, &w->open[--w->n_open], &done[i]);
		w->done++;
	}
	return rc != 0 ? rc : i;
}

static int
stub_move(struct weft_region *r, int kind, uint64_t off, void *buf, size_t n)
{
	const struct weft_op op = { .kind = kind, .region = r, .off = off, .buf = buf, .n = n };
	struct weft_done done;
	int rc = weft_submit(r->w, &op, 1);

	if (rc == 1)
		rc = weft_wait(r->w, &done, 1, -1);
	if (rc < 0)
		return rc;
	r->w->last_bad = done.bad;
	return done.status;
}

int
weft_read(struct weft_region *r, uint64_t off, void *buf, size_t n)
{
	return stub_move(r, WEFT_OP_READ, off, buf, n);
}

int
weft_write(struct weft_region *r, uint64_t off, const void *buf, size_t n)
{
	return stub_move(r, WEFT_OP_WRITE, off, (void *)(uintptr_t)buf, n);
}

uint64_t
weft_last_bad(const struct weft *w)
{
	return w->last_bad;
}

/* --- no maps --- */

int
weft_map(struct weft_region *r, uint64_t off, size_t n, int flags, void **p)
{
	(void)r;
	(void)off;
	(void)n;
	(void)flags;
	(void)p;
	return stub_fail(-ENOSYS, "this one has no maps");
}

int
weft_unmap(void *p)
{
	(void)p;
	return -EINVAL;
}

int
weft_advise(void *p, size_t n, int what)
{
	(void)p;
	(void)n;
	(void)what;
	return -EINVAL;
}
