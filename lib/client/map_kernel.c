/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * userfaultfd: opening one, and what it is asked for. The headers of the oldest systems that this
 * is built on know less than the kernels that it runs on, so some of it is defined here.
 *
 * A page that cannot be loaded becomes poison where the kernel has that (6.6), else a page of a
 * file behind its end: SIGBUS either way.
 */

#include "map_priv.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define KERNEL_FEATURE_POISON (UINT64_C(1) << 14)
#define KERNEL_FEATURES                                                                            \
	((uint64_t)UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_MISSING_SHMEM |                   \
		UFFD_FEATURE_WP_HUGETLBFS_SHMEM | UFFD_FEATURE_THREAD_ID)
#define KERNEL_NEW _IO(0xAA, 0x00) /* USERFAULTFD_IOC_NEW of /dev/userfaultfd, 6.1 */

struct kernel_poison { /* struct uffdio_poison, 6.6 */
	struct uffdio_range range;
	uint64_t mode;
	int64_t updated;
};
#define KERNEL_POISON _IOWR(UFFDIO, 0x08, struct kernel_poison)

/* One that serves faults of the kernel as well, if this process may have that. */
static int
kernel_open(struct mapper *k)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK), dev;

	k->is_user_only = false;
	if (fd >= 0 || errno == ENOSYS)
		return fd;
	dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
	if (dev >= 0) {
		fd = ioctl(dev, KERNEL_NEW, O_CLOEXEC | O_NONBLOCK);
		close(dev);
		if (fd >= 0)
			return fd;
	}
	k->is_user_only = true;
	return (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
}

int
client_map_uffd_open(struct mapper *k, char *err)
{
	struct uffdio_api api = { .api = UFFD_API,
		.features = KERNEL_FEATURES | KERNEL_FEATURE_POISON };
	int rc;

	k->uffd = kernel_open(k);
	if (k->uffd < 0) {
		rc = -errno;
		return weft_errorf(err, CLIENT_TEXT, rc, "map: userfaultfd: %s%s", strerror(-rc),
			rc == -EPERM ? ": allow this process to call it (containers often do not), "
				       "or use weft_read() and weft_write()"
				     : "");
	}
	k->has_poison = ioctl(k->uffd, UFFDIO_API, &api) == 0;
	if (k->has_poison)
		return 0;
	api = (struct uffdio_api){ .api = UFFD_API, .features = KERNEL_FEATURES };
	if (ioctl(k->uffd, UFFDIO_API, &api) == 0)
		return 0;
	return weft_errorf(err, CLIENT_TEXT, -ENOSYS,
		"map: this kernel's userfaultfd does not protect shared memory from stores: Linux "
		"5.19 or later does");
}

int
client_map_register(const struct mapper *k, const void *at, uint64_t len)
{
	struct uffdio_register r = { .range = { (uintptr_t)at, len },
		.mode = UFFDIO_REGISTER_MODE_MISSING | UFFDIO_REGISTER_MODE_WP };

	return ioctl(k->uffd, UFFDIO_REGISTER, &r) == 0 ? 0 : -errno;
}

bool
client_map_is_registered(const struct mapper *k, uint64_t at)
{
	struct uffdio_writeprotect p = { .range = { at, k->page },
		.mode = UFFDIO_WRITEPROTECT_MODE_WP };

	return ioctl(k->uffd, UFFDIO_WRITEPROTECT, &p) == 0;
}

int
client_map_install(
	const struct mapper *k, uint64_t at, const void *buf, uint32_t n, bool is_protected)
{
	struct uffdio_copy c = { .dst = at,
		.src = (uintptr_t)buf,
		.len = n * k->page,
		.mode = is_protected ? UFFDIO_COPY_MODE_WP : 0 };

	while (ioctl(k->uffd, UFFDIO_COPY, &c) != 0) {
		if (errno != EAGAIN)
			return -errno;
		if (c.copy > 0) {
			c.dst += (uint64_t)c.copy;
			c.src += (uint64_t)c.copy;
			c.len -= (uint64_t)c.copy;
		}
		c.copy = 0;
	}
	return 0;
}

static void
kernel_protect(const struct mapper *k, uint64_t at, uint64_t len, uint64_t mode)
{
	struct uffdio_writeprotect p = { .range = { at, len }, .mode = mode };

	/* It is short of memory for tables where it fails, and has some sooner or later. */
	while (ioctl(k->uffd, UFFDIO_WRITEPROTECT, &p) != 0 && (errno == EAGAIN || errno == ENOMEM))
		;
}

void
client_map_protect(const struct mapper *k, uint64_t at, uint64_t n)
{
	kernel_protect(k, at, n * k->page, UFFDIO_WRITEPROTECT_MODE_WP);
}

void
client_map_unprotect(const struct mapper *k, uint64_t at)
{
	kernel_protect(k, at, k->page, 0);
}

void
client_map_wake(const struct mapper *k, uint64_t at, uint64_t len)
{
	struct uffdio_range r = { at, len };

	/* There is nothing that it could fail of. */
	if (ioctl(k->uffd, UFFDIO_WAKE, &r) != 0)
		return;
}

static int
kernel_prot(const struct map *m)
{
	return m->can_write ? PROT_READ | PROT_WRITE : PROT_READ;
}

int
client_map_poison(struct mapper *k, const struct map *m, uint64_t at)
{
	const uint64_t off = at - (uintptr_t)m->at;
	uint8_t *page = m->at + off;
	const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
	struct kernel_poison p = { .range = { at, k->page } };

	if (k->has_poison) {
		/* What is left of a protection is in its way. */
		kernel_protect(k, at, k->page, UFFDIO_WRITEPROTECT_MODE_DONTWAKE);
		return ioctl(k->uffd, KERNEL_POISON, &p) == 0 ? 0 : -errno;
	}
	if (mmap(page, k->page, kernel_prot(m), flags, k->space.hole, (off_t)off) != page)
		return -errno;
	client_map_wake(k, at, k->page);
	return 0;
}

void
client_map_mend(struct mapper *k, const struct map *m, uint64_t at)
{
	void *page = m->at + (at - (uintptr_t)m->at);
	const int flags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
	const off_t off = (off_t)(m->file_off + (at - (uintptr_t)m->at));

	if (k->has_poison) {
		madvise(page, k->page, MADV_DONTNEED);
		return;
	}
	/*
	 * Without rights until it is registered, or a load would find zeros. Where this fails it
	 * stays without: a signal as before.
	 */
	if (mmap(page, k->page, PROT_NONE, flags, k->space.file, off) == page &&
		madvise(page, k->page, MADV_DONTFORK) == 0 &&
		madvise(page, k->page, MADV_DONTDUMP) == 0 &&
		client_map_register(k, page, k->page) == 0)
		mprotect(page, k->page, kernel_prot(m));
}
