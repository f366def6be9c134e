/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Many operations open at a time, in a program that waits for other things too: writes BLOCKS of
 * 4 KiB, reads them back and compares, with up to DEPTH open. It sleeps in epoll on the fabric and
 * on a timer, at whose ticks it says how far it is (on stderr).
 *
 *   cc async_queue.c -o async_queue $(pkg-config --cflags --libs weft)
 *   ./async_queue h0 g0 1024 32
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <weft.h>

#define BLOCK 4096u
#define DEPTH_MAX 256u /* as many as opts.entries, which is 256 unless one asks for others */
#define TICK_NS (250 * 1000 * 1000)

struct queue {
	struct weft *w;
	struct weft_region *r;
	int epoll, timer;
	unsigned int depth;
	unsigned int idle[DEPTH_MAX]; /* buffers that no operation has: a stack */
	unsigned int n_idle;
	uint8_t (*buf)[BLOCK];
	uint64_t next, done, blocks; /* to begin, ended, of all */
};

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "async_queue: %s: %s\n", what, why);
	exit(EXIT_FAILURE);
}

/* What stands in a block: each has bytes of its own. */
static void
fill(uint8_t *buf, uint64_t block)
{
	for (uint64_t i = 0; i < BLOCK / sizeof(i); i++) {
		const uint64_t word = (block << 32 | i) * UINT64_C(0x9E3779B97F4A7C15);

		memcpy(buf + i * sizeof(word), &word, sizeof(word));
	}
}

static void
watch(const struct queue *q, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data = { .fd = fd } };

	if (epoll_ctl(q->epoll, EPOLL_CTL_ADD, fd, &e) != 0)
		fail("epoll_ctl", strerror(errno));
}

/* Begin as many as there are buffers for. All of them go to the daemon in one call. */
static void
begin(struct queue *q, int kind)
{
	struct weft_op ops[DEPTH_MAX];
	const uint64_t left = q->blocks - q->next;
	const unsigned int want = left < q->n_idle ? (unsigned int)left : q->n_idle;
	int n;

	for (unsigned int i = 0; i < want; i++) {
		const unsigned int slot = q->idle[q->n_idle - 1 - i];
		const uint64_t block = q->next + i;

		if (kind == WEFT_OP_WRITE)
			fill(q->buf[slot], block);
		/* What comes back with the completion says which block it was, and its buffer. */
		ops[i] = (struct weft_op){ .kind = kind,
			.region = q->r,
			.off = block * BLOCK,
			.buf = q->buf[slot],
			.n = BLOCK,
			.user = block << 8 | slot };
	}
	n = weft_submit(q->w, ops, (int)want);
	if (n < 0)
		fail("submit", weft_error(q->w));
	q->n_idle -= (unsigned int)n;
	q->next += (uint64_t)n;
}

static void
end(struct queue *q, int kind, const struct weft_done *d)
{
	const unsigned int slot = d->user & 0xFF;
	uint8_t expected[BLOCK];

	if (d->status != 0) {
		fprintf(stderr, "async_queue: offset 0x%llx: %s\n", (unsigned long long)d->bad,
			strerror(-d->status));
		exit(EXIT_FAILURE);
	}
	if (kind == WEFT_OP_READ) {
		fill(expected, d->user >> 8);
		if (memcmp(expected, q->buf[slot], BLOCK) != 0)
			fail("compare", "a block is not what was written: does another write?");
	}
	q->idle[q->n_idle++] = slot;
	q->done++;
}

static void
sleep_for_events(const struct queue *q)
{
	struct epoll_event e[2];
	const int n = epoll_wait(q->epoll, e, 2, -1);
	uint64_t ticks;

	if (n < 0 && errno != EINTR)
		fail("epoll_wait", strerror(errno));
	for (int i = 0; i < n; i++)
		if (e[i].data.fd == q->timer && read(q->timer, &ticks, sizeof(ticks)) > 0)
			fprintf(stderr, "%llu of %llu\n", (unsigned long long)q->done,
				(unsigned long long)q->blocks);
}

static void
run(struct queue *q, int kind)
{
	struct weft_done done[DEPTH_MAX];
	int n;

	q->next = q->done = 0;
	while (q->done < q->blocks) {
		begin(q, kind);
		/* In this order nothing is missed: arm the descriptor, look, sleep. */
		weft_fd(q->w);
		n = weft_wait(q->w, done, DEPTH_MAX, 0);
		if (n < 0)
			fail("wait", weft_error(q->w));
		for (int i = 0; i < n; i++)
			end(q, kind, &done[i]);
		if (n == 0)
			sleep_for_events(q);
	}
}

int
main(int argc, char **argv)
{
	const struct itimerspec tick = { .it_interval = { .tv_nsec = TICK_NS },
		.it_value = { .tv_nsec = TICK_NS } };
	/* The buffers of all that can be open, and the 64 bytes that each entry has of its own. */
	const struct weft_attach_opts opts = { .size = sizeof(opts),
		.buffer = DEPTH_MAX * (BLOCK + 64) };
	struct queue q = { .depth = 32, .blocks = 1024 };

	if (argc > 3)
		q.blocks = strtoull(argv[3], NULL, 0);
	if (argc > 4)
		q.depth = (unsigned int)strtoul(argv[4], NULL, 0);
	for (int i = 3; i < argc; i++)
		if (argv[i][strspn(argv[i], "0123456789")] != '\0')
			q.depth = 0; /* no number */
	if (argc < 3 || argc > 5 || q.blocks == 0 || q.depth == 0 || q.depth > DEPTH_MAX) {
		fprintf(stderr, "usage: async_queue HOST REGION [BLOCKS [DEPTH (1 to %u)]]\n",
			DEPTH_MAX);
		return 2;
	}
	if (weft_attach(argv[1], &opts, &q.w) != 0)
		fail("attach", weft_error(NULL));
	if (weft_open(q.w, argv[2], WEFT_READ | WEFT_WRITE, &q.r) != 0)
		fail("open", weft_error(q.w));
	q.buf = calloc(q.depth, sizeof(*q.buf));
	q.epoll = epoll_create1(EPOLL_CLOEXEC);
	q.timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (q.buf == NULL || q.epoll < 0 || q.timer < 0 ||
		timerfd_settime(q.timer, 0, &tick, NULL) != 0)
		fail("start", strerror(errno));
	watch(&q, weft_fd(q.w));
	watch(&q, q.timer);
	while (q.n_idle < q.depth) {
		q.idle[q.n_idle] = q.n_idle;
		q.n_idle++;
	}
	run(&q, WEFT_OP_WRITE);
	run(&q, WEFT_OP_READ);
	printf("%llu blocks written and read back, up to %u open at a time\n",
		(unsigned long long)q.blocks, q.depth);
	weft_detach(q.w);
	close(q.timer);
	close(q.epoll);
	free(q.buf);
	return EXIT_SUCCESS;
}
