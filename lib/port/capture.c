/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Copies of a port's frames on their way to a file. Slots go round between two rings: the data path
 * takes free ones, fills them and hands them on; the writer empties them and puts them back. The
 * lcore that receives and the one that sends may both be at it, and may lose their CPU meanwhile,
 * hence rings in relaxed-tail-sync mode: a producer cut short does not hold up the other for long.
 */

#include "weft_capture.h"

#include <rte_lcore.h>
#include <rte_ring.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "pcapng_priv.h"
#include "port_priv.h"
#include "weft_file.h"
#include "weft_loop.h"

#define CAPTURE_FRAMES 1024
#define CAPTURE_FRAMES_MAX (1u << 20)
#define CAPTURE_SNAPLEN_MIN 2048
#define CAPTURE_IDLE_NS 500000
#define CAPTURE_STALL_MS 5000

struct capture_slot {
	uint64_t time_ns;
	enum pcapng_direction direction;
	uint32_t len;
	uint32_t wire_len;
	uint8_t bytes[];
};

struct weft_capture {
	/* Set when opened. */
	struct rte_ring *empty; /* slots to fill */
	struct rte_ring *full; /* slots to write */
	uint8_t *slab;
	uint32_t snaplen;
	bool lossless;
	FILE *file;
	int fd; /* its */
	bool is_pipe;
	unsigned int stall_ms;
	uint64_t limit; /* UINT64_MAX: none */
	pthread_t writer;
	/* Written by the lcores of the port. */
	alignas(WEFT_CACHE_LINE) _Atomic uint64_t frames;
	_Atomic uint64_t dropped;
	/* Written by the writer, stop excepted. */
	alignas(WEFT_CACHE_LINE) _Atomic uint64_t written;
	_Atomic uint64_t bytes;
	atomic_bool is_full;
	atomic_int error;
	atomic_bool stop;
};

static uint64_t
capture_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t
capture_now_ns(void)
{
	return capture_clock_ns(CLOCK_REALTIME);
}

/* Take up to @n empty slots; in lossless mode wait for all of them. */
static unsigned int
capture_take(struct weft_capture *c, struct capture_slot **slots, unsigned int n)
{
	unsigned int got = rte_ring_dequeue_burst(c->empty, (void **)slots, n, NULL);

	while (c->lossless && got < n) {
		sched_yield();
		got += rte_ring_dequeue_burst(c->empty, (void **)(slots + got), n - got, NULL);
	}
	return got;
}

static void
capture_copy(const struct weft_capture *c, struct capture_slot *slot, const struct rte_mbuf *m,
	enum pcapng_direction direction, uint64_t now_ns)
{
	const uint8_t *bytes;

	slot->time_ns = now_ns;
	slot->direction = direction;
	slot->wire_len = rte_pktmbuf_pkt_len(m);
	slot->len = slot->wire_len < c->snaplen ? slot->wire_len : c->snaplen;
	/* Copies by itself when the frame is in several buffers; otherwise says where it is. */
	bytes = rte_pktmbuf_read(m, 0, slot->len, slot->bytes);
	if (bytes != slot->bytes)
		memcpy(slot->bytes, bytes, slot->len);
}

/* Both rings have room for every slot there is, so handing one over cannot fail. */
static void
capture_hand(struct rte_ring *ring, struct capture_slot **slots, unsigned int n)
{
	unsigned int done = rte_ring_enqueue_bulk(ring, (void *const *)slots, n, NULL);

	assert(done == n);
	(void)done;
}

/* The first @n of the frames copied are real: count them, drop the other copies. */
static void
capture_commit(struct weft_capture *c, struct capture_slot **slots, unsigned int copies,
	unsigned int n, unsigned int missed)
{
	if (n != 0)
		capture_hand(c->full, slots, n);
	if (copies > n)
		capture_hand(c->empty, slots + n, copies - n);
	atomic_fetch_add_explicit(&c->frames, n, memory_order_relaxed);
	if (missed != 0)
		atomic_fetch_add_explicit(&c->dropped, missed, memory_order_relaxed);
}

uint16_t
weft_port_capture_rx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	struct weft_capture *c = __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE);
	struct capture_slot *slots[WEFT_PORT_BURST_MAX];
	uint64_t now_ns = capture_now_ns();
	unsigned int copies;

	/* The capture may have ended since the caller looked. */
	if (c == NULL)
		return n;
	copies = capture_take(c, slots, n);
	for (unsigned int i = 0; i < copies; i++)
		capture_copy(c, slots[i], mbufs[i], PCAPNG_IN, now_ns);
	capture_commit(c, slots, copies, copies, n - copies);
	return n;
}

/* Copies are made first: a frame that was taken may be gone. */
uint16_t
weft_port_capture_tx(struct weft_port *port, struct rte_mbuf **mbufs, uint16_t n)
{
	struct weft_capture *c = __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE);
	struct capture_slot *slots[WEFT_PORT_BURST_MAX];
	uint64_t now_ns = capture_now_ns();
	unsigned int copies, kept;
	uint16_t sent;

	if (c == NULL)
		return weft_port_tx_raw(port, mbufs, n);
	copies = capture_take(c, slots, n);
	for (unsigned int i = 0; i < copies; i++)
		capture_copy(c, slots[i], mbufs[i], PCAPNG_OUT, now_ns);
	sent = weft_port_tx_raw(port, mbufs, n);
	kept = copies < sent ? copies : sent;
	capture_commit(c, slots, copies, kept, sent - kept);
	return sent;
}

/* Until a pipe takes a piece at once; a signal ends this no sooner and no later. 0, or an errno. */
static int
capture_wait(const struct weft_capture *c)
{
	uint64_t now_ns = capture_clock_ns(CLOCK_MONOTONIC);
	const uint64_t end_ns = now_ns + (uint64_t)c->stall_ms * 1000000u;
	struct pollfd p = { .fd = c->fd, .events = POLLOUT };

	while (now_ns < end_ns) {
		const int n = poll(&p, 1, (int)((end_ns - now_ns + 999999) / 1000000));

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return errno;
		now_ns = capture_clock_ns(CLOCK_MONOTONIC);
	}
	return ETIMEDOUT;
}

/* Under the stream: bytes to the file. A pipe is asked first whether it takes a piece at once. */
static ssize_t
capture_write(void *arg, const char *bytes, size_t len)
{
	struct weft_capture *c = arg;
	/*
	 * What the stream still holds after a failure is not tried again: a pipe would wait again.
	 */
	int error = atomic_load(&c->error);
	size_t done = 0;

	while (error == 0 && done < len) {
		size_t piece = len - done;
		ssize_t n;

		if (c->is_pipe) {
			piece = piece < PIPE_BUF ? piece : PIPE_BUF;
			error = capture_wait(c);
			if (error != 0)
				break;
		}
		n = write(c->fd, bytes + done, piece);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			error = errno;
	}
	errno = error;
	return error == 0 ? (ssize_t)len : 0; /* the stream takes 0 for an error */
}

static int
capture_close_fd(void *arg)
{
	return close(((struct weft_capture *)arg)->fd);
}

static bool
capture_writer_has_room(const struct weft_capture *c, uint64_t len)
{
	return atomic_load(&c->bytes) + len + pcapng_end_len() <= c->limit;
}

/*
 * After a failed write, and beyond the limit, the rest is thrown away: neither stops the traffic.
 */
static void
capture_writer_write(struct weft_capture *c, struct capture_slot **slots, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const struct capture_slot *s = slots[i];
		const uint64_t len = pcapng_packet_len(s->len);

		if (atomic_load(&c->error) != 0 || atomic_load(&c->is_full))
			return;
		if (!capture_writer_has_room(c, len)) {
			atomic_store(&c->is_full, true);
		} else if (pcapng_packet(c->file, s->time_ns, s->direction, s->bytes, s->len,
				   s->wire_len)) {
			atomic_fetch_add(&c->written, 1);
			atomic_fetch_add(&c->bytes, len);
		} else {
			atomic_store(&c->error, errno);
		}
	}
}

static void
capture_writer_flush(struct weft_capture *c)
{
	if (atomic_load(&c->error) == 0 && fflush(c->file) != 0)
		atomic_store(&c->error, errno);
}

/* The last block; nobody counts any more. */
static void
capture_writer_end(struct weft_capture *c)
{
	uint64_t frames = atomic_load(&c->frames), dropped = atomic_load(&c->dropped);

	if (atomic_load(&c->error) == 0 && !pcapng_end(c->file, capture_now_ns(), frames + dropped,
						   frames + dropped - atomic_load(&c->written)))
		atomic_store(&c->error, errno);
	atomic_fetch_add(&c->bytes, pcapng_end_len());
	capture_writer_flush(c);
}

static void *
capture_writer_main(void *arg)
{
	static const struct timespec nap = { .tv_nsec = CAPTURE_IDLE_NS };
	struct weft_capture *c = arg;
	struct capture_slot *slots[WEFT_PORT_BURST_MAX];
	bool is_flushed = true, stop;
	sigset_t pipe;

	/* Whoever reads standard output may go: that is an error of ours, not our end. */
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe, NULL);
	for (;;) {
		unsigned int n;

		/* Looked at before the ring: what was handed over before the stop is written. */
		stop = atomic_load(&c->stop);
		n = rte_ring_dequeue_burst(c->full, (void **)slots, WEFT_PORT_BURST_MAX, NULL);
		if (n != 0) {
			capture_writer_write(c, slots, n);
			capture_hand(c->empty, slots, n);
			is_flushed = false;
			continue;
		}
		if (stop)
			break;
		if (!is_flushed)
			capture_writer_flush(c);
		is_flushed = true;
		nanosleep(&nap, NULL);
	}
	capture_writer_end(c);
	return NULL;
}

static struct rte_ring *
capture_ring(unsigned int frames, unsigned int flags)
{
	ssize_t bytes = rte_ring_get_memsize(rte_align32pow2(frames + 1));
	struct rte_ring *ring = bytes < 0 ? NULL : aligned_alloc(WEFT_CACHE_LINE, (size_t)bytes);

	if (ring != NULL && rte_ring_init(ring, "weft_capture", frames, flags) != 0) {
		free(ring);
		ring = NULL;
	}
	return ring;
}

static void
capture_free(struct weft_capture *c)
{
	free(c->empty);
	free(c->full);
	free(c->slab);
	free(c);
}

static size_t
capture_slot_len(uint32_t snaplen)
{
	size_t len = sizeof(struct capture_slot) + snaplen;

	return (len + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
}

static struct weft_capture *
capture_new(const struct weft_port *port, const struct weft_capture_cfg *cfg)
{
	unsigned int frames = cfg->ring_frames != 0 ? cfg->ring_frames : CAPTURE_FRAMES;
	struct weft_capture *c = aligned_alloc(WEFT_CACHE_LINE, sizeof(*c));
	size_t slot_len;

	if (c == NULL)
		return NULL;
	memset(c, 0, sizeof(*c));
	c->lossless = cfg->lossless;
	c->stall_ms = cfg->stall_ms != 0 ? cfg->stall_ms : CAPTURE_STALL_MS;
	c->limit = cfg->limit_bytes != 0 ? cfg->limit_bytes : UINT64_MAX;
	c->snaplen = (uint32_t)WEFT_WIRE_FRAME_LEN(port->ctl->max_flits);
	if (c->snaplen < CAPTURE_SNAPLEN_MIN)
		c->snaplen = CAPTURE_SNAPLEN_MIN;
	if (frames > CAPTURE_FRAMES_MAX)
		goto fail;
	slot_len = capture_slot_len(c->snaplen);
	c->empty = capture_ring(frames, RING_F_MP_RTS_ENQ | RING_F_MC_RTS_DEQ | RING_F_EXACT_SZ);
	c->full = capture_ring(frames, RING_F_MP_RTS_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	c->slab = aligned_alloc(WEFT_CACHE_LINE, frames * slot_len);
	if (c->empty == NULL || c->full == NULL || c->slab == NULL)
		goto fail;
	for (unsigned int i = 0; i < frames; i++) {
		struct capture_slot *slot = (void *)(c->slab + i * slot_len);

		capture_hand(c->empty, &slot, 1);
	}
	return c;

fail:
	capture_free(c);
	return NULL;
}

static int
capture_open_fd(const char *path)
{
	int fd;

	if (strcmp(path, "-") != 0)
		return weft_file_create(path, 0600);
	fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

static int
capture_open_file(struct weft_capture *c, const char *path)
{
	static const cookie_io_functions_t to_file = { .write = capture_write,
		.close = capture_close_fd };
	struct stat st;
	int rc;

	c->fd = capture_open_fd(path);
	if (c->fd < 0)
		return c->fd;
	c->is_pipe = fstat(c->fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
	c->file = fopencookie(c, "w", to_file);
	if (c->file != NULL)
		return 0;
	rc = -errno;
	close(c->fd);
	return rc;
}

static int
capture_start(struct weft_capture *c, const struct weft_port *port, const char *path)
{
	int rc = capture_open_file(c, path);

	if (rc != 0)
		return rc;
	atomic_store(&c->bytes, pcapng_begin_len(port->ctl->name));
	/* The headers go out at once: a reader of a pipe can start, a full disk shows here. */
	if (!pcapng_begin(c->file, port->ctl->name, c->snaplen) || fflush(c->file) != 0) {
		rc = -errno;
		goto close_file;
	}
	rc = -rte_ctrl_thread_create(&c->writer, "weft-capture", NULL, capture_writer_main, c);
	if (rc == 0)
		return 0;
	rc = rc < 0 ? rc : -rc;
close_file:
	fclose(c->file);
	return rc;
}

int
weft_capture_open(
	struct weft_port *port, const struct weft_capture_cfg *cfg, char *err, size_t errlen)
{
	struct weft_capture *c;
	int rc;

	if (cfg->path == NULL || cfg->path[0] == '\0')
		return weft_errorf(err, errlen, -EINVAL, "capture of port %s: no file is named",
			port->ctl->name);
	if (weft_capture_is_open(port))
		return weft_errorf(err, errlen, -EBUSY, "capture of port %s: it is being captured",
			port->ctl->name);
	c = capture_new(port, cfg);
	rc = c == NULL ? -ENOMEM : capture_start(c, port, cfg->path);
	if (rc != 0) {
		snprintf(err, errlen, "capture of port %s to %s: %s", port->ctl->name, cfg->path,
			weft_file_error(rc));
		if (c != NULL)
			capture_free(c);
		return rc;
	}
	__atomic_store_n(&port->capture, c, __ATOMIC_RELEASE);
	return 0;
}

bool
weft_capture_is_open(const struct weft_port *port)
{
	return __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE) != NULL;
}

static void
capture_read_stats(const struct weft_capture *c, struct weft_capture_stats *stats)
{
	stats->frames = atomic_load(&c->frames);
	stats->dropped = atomic_load(&c->dropped);
	stats->written = atomic_load(&c->written);
	stats->bytes = atomic_load(&c->bytes);
	stats->is_full = atomic_load(&c->is_full);
	stats->error = atomic_load(&c->error);
}

int
weft_capture_stats(const struct weft_port *port, struct weft_capture_stats *stats)
{
	const struct weft_capture *c = __atomic_load_n(&port->capture, __ATOMIC_ACQUIRE);

	if (c == NULL)
		return -ENOENT;
	capture_read_stats(c, stats);
	return 0;
}

int
weft_capture_close(struct weft_port *port, struct weft_capture_stats *stats)
{
	struct weft_capture *c = __atomic_exchange_n(&port->capture, NULL, __ATOMIC_ACQ_REL);
	int rc;

	if (c == NULL)
		return -ENOENT;
	weft_loop_quiesce();
	atomic_store(&c->stop, true);
	pthread_join(c->writer, NULL);
	/* What only closing reveals; the first error is the one worth telling. */
	if (fclose(c->file) != 0 && atomic_load(&c->error) == 0)
		atomic_store(&c->error, errno);
	if (stats != NULL)
		capture_read_stats(c, stats);
	rc = -atomic_load(&c->error);
	capture_free(c);
	return rc;
}
