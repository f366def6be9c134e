/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the ways into a region cost beside what a machine takes to wake somebody: calls that wait,
 * many operations at a time, pages of a map. Machines differ, ratios of one run less. Reads alone:
 * the region stays as it is.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "cli.h"
#include "ctl.h"
#include "pingpong.h"
#include "reach.h"
#include "weft_latency.h"
#include "weft_rand.h"

#define ROWS 12
#define DEPTH 32
#define MAP_MOST (UINT64_C(64) << 20)
#define BLOCK 4096
/* Of ratios that hold end to end, the fabric's own round trip included. */
#define LIMIT_READ 0.5
#define LIMIT_DEEP 0.2
#define LIMIT_SEQUENTIAL 0.3
#define SHARE (1.0 / 12) /* of --seconds, a row */

struct ways_row {
	const char *what;
	double ns; /* of one, the median; 0: not measured, `why` says why not */
	double rate; /* bytes a second; 0: the row is about a time */
	const char *beside; /* the row that the ratio is to; NULL: none */
	double ratio;
	double limit; /* of the ratio, attach.md section 9 and its issue; 0: none */
	const char *why;
};

struct ways {
	struct ctl *c;
	struct ctl_region r;
	struct weft_rand rand;
	double seconds; /* a row */
	struct ways_row row[ROWS];
	unsigned int n;
};

static const char *const pipe_one = "pipe ping-pong, one CPU";
static const char *const pipe_two = "pipe ping-pong, two CPUs";
static const char *const tcp = "TCP ping-pong of 64 B";

/* A rate is to be so much at least, a time so much at most. */
static bool
ways_is_met(const struct ways_row *r)
{
	return r->rate > 0 ? r->ratio >= r->limit : r->ratio <= r->limit;
}

static void
ways_limit(struct ways *y, double limit)
{
	y->row[y->n - 1].limit = limit;
}

static struct ways_row *
ways_add(struct ways *y, const char *what, const char *beside)
{
	struct ways_row *r = &y->row[y->n++];

	*r = (struct ways_row){ .what = what, .beside = beside };
	return r;
}

static void
ways_settle(struct ways *y)
{
	for (unsigned int i = 0; i < y->n; i++) {
		struct ways_row *r = &y->row[i];

		/* On a busy machine two processes may have no turn together. */
		if (r->ns <= 0 && r->rate <= 0 && r->why == NULL)
			r->why = "none came to its end in that time";
		for (unsigned int k = 0; k < i && r->beside != NULL; k++) {
			const struct ways_row *b = &y->row[k];

			if (strcmp(b->what, r->beside) != 0)
				continue;
			if (b->rate > 0)
				r->ratio = r->rate / b->rate;
			else if (b->ns > 0)
				r->ratio = r->ns / b->ns;
		}
	}
}

static void
ways_pingpong(struct ways *y, const char *what, enum pingpong_way way)
{
	struct ways_row *r = ways_add(y, what, NULL);
	struct weft_latency l = { 0 };
	const int rc = pingpong(way, y->seconds, &l);

	r->ns = (double)weft_latency_quantile(&l, 5000);
	if (rc != 0)
		r->why = strerror(-rc);
	ctl_judge_stop(y->c, &y->r, 0);
}

static uint64_t
ways_place(struct ways *y, uint64_t size)
{
	return weft_rand_below(&y->rand, y->r.size / size) * size;
}

static void
ways_blocking(struct ways *y, const char *what, size_t size, const char *beside)
{
	struct ways_row *r = ways_add(y, what, beside);
	const uint64_t end = reach_now_ns() + (uint64_t)(y->seconds * 1e9);
	struct weft_latency l = { 0 };
	static uint8_t data[BLOCK];
	uint64_t now = reach_now_ns();

	if (y->r.size < size) {
		r->why = "the region is smaller";
		return;
	}
	while (now < end) {
		const uint64_t at = ways_place(y, size);
		const uint64_t begun = reach_now_ns();

		if (weft_read(y->r.r, at, data, size) != 0)
			ctl_fail_call(y->c, &y->r);
		now = reach_now_ns();
		weft_latency_add(&l, now - begun);
		ctl_judge_stop(y->c, &y->r, 0);
	}
	r->ns = (double)weft_latency_quantile(&l, 5000);
}

/* How many a second: the mean of one, as the others are hidden by it. */
static void
ways_deep(struct ways *y, const char *what, const char *beside)
{
	struct ways_row *r = ways_add(y, what, beside);
	const uint64_t begun = reach_now_ns(), end = begun + (uint64_t)(y->seconds * 1e9);
	static uint8_t data[DEPTH][64];
	struct weft_done done[DEPTH];
	uint64_t n_done = 0, now;
	unsigned int n_open = 0;

	do {
		now = reach_now_ns();
		while (n_open < DEPTH && now < end) {
			const struct weft_op op = { .kind = WEFT_OP_READ,
				.region = y->r.r,
				.off = ways_place(y, 64),
				.buf = data[n_open],
				.n = 64 };

			const int taken = weft_submit(y->c->w, &op, 1);

			if (taken < 0)
				ctl_fail_call(y->c, &y->r);
			if (taken == 0)
				break;
			n_open++;
		}
		const int n = weft_wait(y->c->w, done, DEPTH, -1);

		if (n < 0)
			ctl_fail_call(y->c, &y->r);
		for (int i = 0; i < n; i++)
			if (done[i].status != 0)
				ctl_fail_at(y->c, &y->r, done[i].bad, done[i].status);
		n_open -= (unsigned int)n;
		n_done += (uint64_t)n;
		ctl_judge_stop(y->c, &y->r, 0);
	} while (n_open > 0);
	r->ns = (double)(reach_now_ns() - begun) / (double)n_done;
}

static void
ways_fault(struct ways *y, volatile uint8_t *map, uint64_t size)
{
	struct ways_row *r = ways_add(y, "map: a page that is absent", pipe_one);
	const uint64_t end = reach_now_ns() + (uint64_t)(y->seconds * 1e9);
	struct weft_latency l = { 0 };
	uint64_t now = reach_now_ns();

	weft_advise((void *)(uintptr_t)map, size, WEFT_RANDOM);
	while (now < end) {
		for (uint64_t at = 0; at < size && now < end; at += BLOCK) {
			const uint64_t begun = reach_now_ns();

			(void)map[at];
			now = reach_now_ns();
			weft_latency_add(&l, now - begun);
			ctl_judge_stop(y->c, &y->r, at);
		}
		weft_advise((void *)(uintptr_t)map, size, WEFT_DROP);
	}
	r->ns = (double)weft_latency_quantile(&l, 5000);
}

/* Copy by blocks; @return bytes a second. */
static double
ways_copy(const struct ways *y, const uint8_t *from, uint64_t size)
{
	static uint8_t to[BLOCK];
	const uint64_t begun = reach_now_ns();

	for (uint64_t at = 0; at + BLOCK <= size; at += BLOCK) {
		memcpy(to, from + at, BLOCK);
		__asm__ volatile("" ::"r"(to) : "memory");
		ctl_judge_stop(y->c, &y->r, at);
	}
	return (double)size * 1e9 / (double)(reach_now_ns() - begun);
}

static void
ways_sequential(struct ways *y, const uint8_t *map, uint64_t size)
{
	struct ways_row *plain = ways_add(y, "memcpy of 4 KiB blocks", NULL), *r;
	uint8_t *memory = malloc(size);

	if (memory == NULL)
		ctl_fail(y->c, "%s: out of memory", y->c->verb);
	memset(memory, 1, size);
	plain->rate = ways_copy(y, memory, size);
	free(memory);
	r = ways_add(y, "map: reading on", plain->what);
	weft_advise((void *)(uintptr_t)map, size, WEFT_DROP);
	weft_advise((void *)(uintptr_t)map, size, WEFT_SEQUENTIAL);
	ways_limit(y, LIMIT_SEQUENTIAL);
	r->rate = ways_copy(y, map, size);
}

static void
ways_map(struct ways *y)
{
	const uint64_t size = y->r.size < MAP_MOST ? y->r.size : MAP_MOST;
	void *map;

	if (weft_map(y->r.r, 0, size, WEFT_READ, &map) != 0) {
		ways_add(y, "map: a page that is absent", NULL)->why = weft_error(y->c->w);
		return;
	}
	ways_fault(y, map, size);
	ways_sequential(y, map, size);
	weft_unmap(map);
}

static json_t *
ways_json(const struct ways *y)
{
	json_t *rows = json_array();

	for (unsigned int i = 0; i < y->n; i++) {
		const struct ways_row *r = &y->row[i];
		json_t *o = json_pack("{s:s}", "what", r->what);

		if (r->why != NULL)
			json_object_set_new(o, "not_measured", json_string(r->why));
		else if (r->rate > 0)
			json_object_set_new(o, "bytes_per_s", json_real(r->rate));
		else
			json_object_set_new(o, "ns", json_real(r->ns));
		if (r->beside != NULL && r->why == NULL) {
			json_object_set_new(o, "beside", json_string(r->beside));
			json_object_set_new(o, "ratio", json_real(r->ratio));
		}
		if (r->limit > 0 && r->why == NULL && r->ratio > 0) {
			json_object_set_new(o, "limit", json_real(r->limit));
			json_object_set_new(o, "met", json_boolean(ways_is_met(r)));
		}
		json_array_append_new(rows, o);
	}
	return json_pack("{s:s, s:s, s:b, s:o}", "node", weft_node(y->c->w), "region", y->r.name,
		"uio", y->c->opt.bench.is_uio, "ways", rows);
}

static void
ways_text(const struct ways *y)
{
	for (unsigned int i = 0; i < y->n; i++) {
		const struct ways_row *r = &y->row[i];

		printf("%-32s", r->what);
		if (r->why != NULL)
			printf(" not measured: %s", r->why);
		else if (r->rate > 0)
			printf(" %8.2f GB/s", r->rate / 1e9);
		else
			printf(" %8.2f us  ", r->ns / 1e3);
		if (r->beside != NULL && r->why == NULL && r->ratio > 0)
			printf("  %6.2f of %s", r->ratio, r->beside);
		if (r->limit > 0 && r->why == NULL && r->ratio > 0)
			printf(", %s %.2f: %s", r->rate > 0 ? "at least" : "at most", r->limit,
				ways_is_met(r) ? "met" : "not met");
		putchar('\n');
	}
}

int
mem_ways(struct ctl *c)
{
	static struct ways y;

	y.c = c;
	y.seconds = ctl_bench_seconds(c) * SHARE;
	ctl_attach(c, NULL);
	ctl_open(c, c->operand[0], (int)(WEFT_READ | (c->opt.bench.is_uio ? WEFT_UIO : 0)), &y.r);
	ctl_judge_range(c, &y.r, 0, BLOCK);
	weft_rand_seed(&y.rand, reach_now_ns());
	ways_pingpong(&y, pipe_one, PINGPONG_PIPE);
	ways_pingpong(&y, pipe_two, PINGPONG_PIPE_CPUS);
	ways_pingpong(&y, tcp, PINGPONG_TCP);
	ways_blocking(&y, "read of 64 B", 64, tcp);
	ways_limit(&y, LIMIT_READ);
	ways_blocking(&y, "read of 4 KiB", BLOCK, tcp);
	ways_deep(&y, "read of 64 B, 32 at a time", "read of 64 B");
	ways_limit(&y, LIMIT_DEEP);
	ways_map(&y);
	ways_settle(&y);
	if (c->opt.is_json)
		ctl_print_json(c, ways_json(&y));
	else
		ways_text(&y);
	return EXIT_SUCCESS;
}
