/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * libweft: programs read and write memory of a fabric through a host of a daemon (weftd) on this
 * machine. doc/attach.md is the guide.
 *
 *   struct weft *w;
 *   struct weft_region *r;
 *
 *   weft_attach(NULL, NULL, &w);
 *   weft_open(w, "g0", WEFT_READ | WEFT_WRITE, &r);
 *   weft_write(r, 0, "hello", 5);
 *
 * A program sees regions, which have names, and offsets in them. Lines of 64 bytes are whole: a
 * reader sees of a line that is being written what was there before, or all that was written of it.
 * Nothing is said of the order of two lines, and there are no atomic operations.
 *
 * Calls return 0 or a negative errno, unless they say otherwise; weft_error() has a line for
 * people. Errors of operations:
 *
 *   -EIO        memory is poisoned; weft_last_bad() says where
 *   -ENXIO      no memory is there
 *   -EACCES     the fabric does not let this host do that, or not any more
 *   -ETIMEDOUT  the way to the memory was lost: what was written may or may not be there
 *   -ESTALE     the memory is another than the one that was opened: its content was lost
 *   -ESHUTDOWN  the daemon left, or detached this client: nothing goes any more, attach again
 *
 * A struct weft belongs to one thread at a time, with its regions; threads attach once each. After
 * fork() the child must not use its parent's.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NAME_LEN 64 /**< bytes of a name, with its end */

#define WEFT_READ 1u /**< rights */
#define WEFT_WRITE 2u

struct weft;
struct weft_region;

/** How to attach; all zeros is a good start. */
struct weft_attach_opts {
	size_t size; /**< of this struct, where any member is set */
	uint32_t entries; /**< operations open at a time: a power of two, 16..4096; 0: 256 */
	/** bytes of buffers that the daemon shares, up to 64 MiB, of which 64 a entry; 0: 1 MiB */
	uint64_t buffer;
	int64_t spin_ns; /**< how long weft_wait() spins before it sleeps; 0: 20,000; -1: never */
};

/** What a region is. */
struct weft_region_info {
	char name[WEFT_NAME_LEN];
	char target[WEFT_NAME_LEN]; /**< the device whose memory it is, the first of them */
	uint64_t size; /**< bytes */
	uint64_t generation; /**< names the content of the memory; 0: not known yet */
	uint32_t granule; /**< bytes of each target in turn; 0: there is one target */
	uint32_t rights; /**< WEFT_READ, WEFT_WRITE */
};

/**
 * Attach to a host of the fabric.
 *
 * @param socket  path of the host's socket, or the host's name. NULL: $WEFT_SOCKET, which may be
 *                either; else the only host that a daemon of this user serves
 * @param opts    may be NULL
 * @param w       receives it on 0, the caller's until weft_detach()
 * @return 0; -ENOENT: no such host, or none at all; -ENOTUNIQ: several, and none was named;
 *         -ECONNREFUSED: its daemon has gone; -EACCES: the host does not take this user;
 *         -EPROTONOSUPPORT: the daemon speaks another version; -EINVAL: opts; -EAGAIN: the daemon
 *         has as many clients as it takes; -EPROTO: what answers is no daemon; -ETIMEDOUT: it does
 *         not answer; -ENOMEM, -EMFILE. weft_error(NULL) has the line, of this thread's last attach
 */
int weft_attach(const char *socket, const struct weft_attach_opts *opts, struct weft **w);

/** Detach; closes its regions. What is open is done or not. NULL is allowed. */
void weft_detach(struct weft *w);

/** What the last call that failed has to say: one line, until the next call. Never NULL. */
const char *weft_error(const struct weft *w);

/** Name of the host. */
const char *weft_node(const struct weft *w);

/**
 * What this client may reach.
 *
 * @param list  receives up to @p n rows; may be NULL where n is 0
 * @return how many there are, or a negative errno
 */
int weft_regions(struct weft *w, struct weft_region_info *list, int n);

/**
 * Open a region.
 *
 * @param region  a name of weft_regions(), or "NAME:OFFSET+SIZE", a part of it; the numbers may be
 *                hexadecimal (0x), and end in K, M, G or T
 * @param flags   WEFT_READ, WEFT_WRITE: what it is for
 * @param r       receives it on 0
 * @return 0; -ENOENT: no such region; -EACCES: no right to it; -EINVAL: flags, or what follows the
 *         name; -ERANGE: not within the region; -EMFILE: 64 are open; -ENOMEM; -ESHUTDOWN
 */
int weft_open(struct weft *w, const char *region, int flags, struct weft_region **r);

/** Close a region of which no operation is open. NULL is allowed. */
void weft_close(struct weft_region *r);

/** What a region is now. 0, or -ESHUTDOWN. */
int weft_info(const struct weft_region *r, struct weft_region_info *i);

/**
 * Read or write @p n bytes, at any offset, and wait for it. A write that returned 0 is acknowledged
 * by the device: readers anywhere see it. Must not be called while operations of weft_submit() are
 * open.
 *
 * @return 0; -EINVAL: beyond the end; -EACCES: not opened for that; -EBUSY: operations are open;
 *         the errors of operations
 */
int weft_read(struct weft_region *r, uint64_t off, void *buf, size_t n);
int weft_write(struct weft_region *r, uint64_t off, const void *buf, size_t n);

/** Wait until every write before it is acknowledged. 0, or as weft_write(). */
int weft_fence(struct weft_region *r);

/** Offset in its region of the first line that failed, of the last blocking call with an error. */
uint64_t weft_last_bad(const struct weft *w);

enum weft_op_kind { WEFT_OP_READ = 1, WEFT_OP_WRITE, WEFT_OP_FENCE };

/** An operation. */
struct weft_op {
	int kind; /**< enum weft_op_kind */
	struct weft_region *region; /**< FENCE: any of this struct weft */
	uint64_t off;
	/** READ: the library's until it is done; WRITE: until weft_submit() returns */
	void *buf;
	size_t n; /**< bytes, 1 or more; FENCE: not looked at */
	uint64_t user; /**< comes back */
};

/** One that is done. */
struct weft_done {
	uint64_t user;
	int status; /**< 0, or an error of operations */
	uint64_t bad; /**< if that is not 0: offset of the first line that failed */
};

/**
 * Begin operations. They have no order but by a fence among them: it is done when all before it
 * are, and those behind it begin then.
 *
 * @return how many were taken, from the first on: fewer where no room is left until weft_wait() has
 *         returned some, or where the next can't be: its error is returned if it is the first
 *         (-EINVAL, -EACCES, -ESHUTDOWN). One larger than opts.buffer is -EMSGSIZE
 */
int weft_submit(struct weft *w, const struct weft_op *ops, int n);

/**
 * Take operations that are done.
 *
 * @param timeout_ns  0: look; else wait for the first for so long; -1: as long as it takes
 * @return how many; 0: none in time, or none is open; -ESHUTDOWN: none will come any more
 */
int weft_wait(struct weft *w, struct weft_done *done, int n, int64_t timeout_ns);

/**
 * A descriptor for poll() and epoll: readable when weft_wait() has something to return. Each call
 * arms it for the next time; call it, then weft_wait() with 0, then sleep. @return it; it is the
 * library's
 */
int weft_fd(struct weft *w);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_H */
