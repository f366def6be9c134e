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
 * Operations have no time limit of their own. A device that is not to be reached is found out in 10
 * to 25 s, and while the daemon is stopped (SIGSTOP) they wait for it; but weft_open(),
 * weft_close(), weft_regions() and weft_info() ask it by its socket: 5 s without an answer end the
 * attachment (-ESHUTDOWN).
 *
 * A struct weft belongs to one thread at a time, with its regions; threads attach once each. Its
 * maps (weft_map()) are any thread's. After fork() the child must not use its parent's, and has no
 * maps.
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
#define WEFT_UIO 4u /**< of weft_open(): by UIO in place of CXL.mem */

struct weft;
struct weft_region;

/** How to attach; all zeros is a good start. */
struct weft_attach_opts {
	size_t size; /**< of this struct, where any member is set */
	uint32_t entries; /**< operations open at a time: a power of two, 16..4096; 0: 256 */
	/**
	 * bytes of buffers that the daemon shares: 64 for each entry and 4096 at least, up to
	 * 64 MiB; 0: 1 MiB
	 */
	uint64_t buffer;
	int64_t spin_ns; /**< how long weft_wait() spins before it sleeps; 0: 20,000; -1: never */
	/** bytes of pages that all maps together keep, 1 page or more; 0: 64 MiB */
	uint64_t map_cache;
};

/** What a region is. */
struct weft_region_info {
	char name[WEFT_NAME_LEN];
	char target[WEFT_NAME_LEN]; /**< the device whose memory it is, the first of them */
	uint64_t size; /**< bytes */
	uint64_t generation; /**< names the content of the memory; 0: not known, as in cxl mode */
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
 *         has as many clients as it takes; -EPROTO: it is no host's socket, or what answers is no
 *         daemon; -ETIMEDOUT: it does not answer; -ENOMEM, -EMFILE. weft_error(NULL) has the line,
 *         of this thread's last attach
 */
int weft_attach(const char *socket, const struct weft_attach_opts *opts, struct weft **w);

/**
 * Detach; closes its regions. What is open is done or not; maps are unmapped as by weft_unmap(),
 * and what could not be written back is not told. NULL is allowed.
 */
void weft_detach(struct weft *w);

/**
 * What the last call that failed has to say: one line, until the next call. Never NULL. Of calls
 * with the address of a map that is the calling thread's last one. NULL asks for this thread's last
 * weft_attach(), or call with the address of a map.
 */
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
 * @param flags   WEFT_READ, WEFT_WRITE: what it is for; with WEFT_UIO its reads and writes go as
 *                requests of UIO, of up to 256 bytes each: offsets and lengths are then multiples
 *                of 4, and an error is told of the request's first byte
 * @param r       receives it on 0
 * @return 0; -ENOENT: no such region; -EACCES: no right to it; -EINVAL: flags, what follows the
 *         name, or with WEFT_UIO a region that begins at no multiple of 4 of the memory; -ERANGE:
 *         not within the region; -EOPNOTSUPP: the host has no UIO; -EMFILE: 64 are open; -ENOMEM;
 *         -ESHUTDOWN
 */
int weft_open(struct weft *w, const char *region, int flags, struct weft_region **r);

/** Close a region of which no operation is open; maps of it stay. NULL is allowed. */
void weft_close(struct weft_region *r);

/** What a region is now. 0, or -ESHUTDOWN. */
int weft_info(const struct weft_region *r, struct weft_region_info *i);

/**
 * Read or write @p n bytes, at any offset, and wait for it. A write that returned 0 is acknowledged
 * by the device: readers anywhere see it. Must not be called while operations of weft_submit() are
 * open.
 *
 * @return 0; -EINVAL: beyond the end, or by UIO no multiples of 4; -EACCES: not opened for that;
 *         -EBUSY: operations are open; the errors of operations
 */
int weft_read(struct weft_region *r, uint64_t off, void *buf, size_t n);
int weft_write(struct weft_region *r, uint64_t off, const void *buf, size_t n);

/** Wait until every write before it is acknowledged. 0, or as weft_write(). */
int weft_fence(struct weft_region *r);

/** Offset in its region of the first line that failed, of the last blocking call with an error. */
uint64_t weft_last_bad(const struct weft *w);

enum weft_op_kind {
	WEFT_OP_READ = 1,
	WEFT_OP_WRITE,
	WEFT_OP_FENCE,
	/**
	 * Of an agent's host (doc/ats.md), in a region opened for WEFT_WRITE: the page of a
	 * translation that has one of its two places at `off` goes to the other, once it may.
	 * -ENXIO: no page that can move has; -EINVAL: that place is not all in the region;
	 * -ETIMEDOUT: it does not move in time, and may move later
	 */
	WEFT_OP_MOVE
};

/** An operation. */
struct weft_op {
	int kind; /**< enum weft_op_kind */
	struct weft_region *region; /**< FENCE: any of this struct weft */
	uint64_t off;
	/** READ: the library's until it is done; WRITE: until weft_submit() returns */
	void *buf;
	size_t n; /**< bytes, 1 or more; FENCE, MOVE: not looked at */
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
 *         (-EINVAL, -EACCES, -ESHUTDOWN, -EOPNOTSUPP: a MOVE, and the host is no agent). One larger
 *         than the buffers is -EMSGSIZE: opts.buffer, rounded up to pages of 4096 bytes, less 64
 *         bytes of each entry, rounded down to pages
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

/*
 * Maps: a part of a region as memory of this process, by pointers. Pages are fetched when they are
 * first touched and kept in a cache of opts.map_cache bytes; what is stored goes back when a page
 * leaves the cache, by weft_sync() and by weft_unmap(). A thread of the library does that, with an
 * attachment of its own; any thread of the program may load and store.
 *
 * - Coherent by software only: others see what was stored once weft_sync() has returned 0, and a
 *   page that is in the cache shows what others wrote when it was forgotten (WEFT_DROP) and is
 *   touched again. A write-back writes the lines of 64 bytes that have changed, and no other.
 * - What cannot be read (poison, no memory, no right, the daemon has left) is SIGBUS at the load or
 *   store, for the whole page, until the page is forgotten. weft_advise() with WEFT_PREFETCH says
 *   why.
 * - What cannot be written back stays in the map, is tried again, and is what weft_sync() fails of.
 *   Where nothing else is left in the cache, a page that is absent is SIGBUS.
 * - weft_sync(), weft_unmap() and weft_detach() try to write each page once, 32 at a time. Where
 *   the device is not to be reached, each time takes as long as an operation: 256 pages, 120 s.
 * - Without privilege, system calls on a page that is absent, and those that store in one that was
 *   not stored to yet, fail with EFAULT (weft_map_counters.is_user_only): WEFT_PREFETCH and
 *   WEFT_PREFETCH_WRITE bring pages in before.
 * - What was stored and not written back when the process ends is lost.
 * - A map ends by weft_unmap(). Who takes a part of it away by munmap() may touch it no more, and
 *   weft_advise() says -ENOENT of what is gone; stores are written back as ever.
 */

/**
 * Map a part of a region.
 *
 * @param off    a multiple of the page size of this machine
 * @param n      bytes, 1 or more; what is behind them on the last page reads as 0, and what is
 *               stored there is nobody's
 * @param flags  0: as the region was opened, which has to be for WEFT_READ at least. WEFT_READ: a
 *               store is SIGSEGV; WEFT_READ | WEFT_WRITE
 * @param p      receives the address on 0; valid until weft_unmap() or weft_detach()
 * @return 0; -EINVAL: off, n (by UIO a multiple of 4) or flags, beyond the end; -EACCES: not
 *         opened for that, or no right any more; -ESTALE: the memory is another than was opened;
 *         -EPERM: this process may not call userfaultfd; -ENOSYS: the kernel can't (Linux 5.19
 *         can); -EMFILE, -ENOMEM, -ESHUTDOWN; the first time also errors of weft_attach()
 */
int weft_map(struct weft_region *r, uint64_t off, size_t n, int flags, void **p);

/**
 * Write back what was stored, and unmap: also where that fails, so weft_sync() goes before it
 * if nothing may be lost. No other thread may touch the map any more. May be called by any thread,
 * as the next two.
 *
 * @param p  what weft_map() gave
 * @return 0; -EINVAL: p; else what the first page failed of that could not be written back
 */
int weft_unmap(void *p);

#define WEFT_DROP 16

/**
 * Write back what was stored in a part of a map, and wait until the device has it.
 *
 * @param n      bytes from @p p on; pages that they touch count whole
 * @param flags  0, or WEFT_DROP: forget the pages then, but for what was stored meanwhile and for
 *               what could not be written back
 * @return 0; -EINVAL; else an error of operations, and its pages stay as they are
 */
int weft_sync(void *p, size_t n, int flags);

enum weft_advice {
	WEFT_NORMAL, /**< of the whole map: see who reads on, and fetch 8 to 64 pages ahead */
	WEFT_SEQUENTIAL, /**< of the whole map: always fetch 64 ahead */
	WEFT_RANDOM, /**< of the whole map: never */
	/** bring pages in, and wait for it; what was SIGBUS is tried again */
	WEFT_PREFETCH,
	WEFT_PREFETCH_WRITE, /**< likewise, and let them be stored to */
	WEFT_ADVICE_DROP = WEFT_DROP /**< WEFT_DROP: forget pages and all that was stored there */
};

/**
 * Say how a part of a map will be used.
 *
 * @param n     bytes from @p p on; pages that they touch count whole
 * @param what  enum weft_advice, or WEFT_DROP
 * @return 0; -EINVAL; of PREFETCH: -EMSGSIZE: more than opts.map_cache; -EACCES: to write, and it
 *         may only be read; an error of operations: the rest is there nevertheless
 */
int weft_advise(void *p, size_t n, int what);

/** What the maps of an attachment have done. */
struct weft_map_counters {
	uint64_t faults; /**< pages that had to be waited for */
	uint64_t fetched; /**< pages that were asked for, */
	uint64_t fetched_ahead; /**< of which nobody had touched these yet */
	uint64_t first_stores; /**< pages that were read before they were stored to */
	uint64_t written_lines; /**< of 64 bytes */
	uint64_t evicted; /**< pages that left for others */
	uint64_t failed; /**< pages that became SIGBUS */
	uint64_t pages; /**< that are in the cache now */
	uint32_t is_user_only; /**< 1: system calls on absent pages fail with EFAULT */
};

void weft_map_counters(struct weft *w, struct weft_map_counters *c);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_H */
