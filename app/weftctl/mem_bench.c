/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * How many operations a second a region takes, and how long each lasts: from before it is submitted
 * until it was taken back. As many as --depth are under way, at random places; whenever one is done
 * another begins.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "cli.h"
#include "ctl.h"
#include "reach.h"
#include "weft_latency.h"
#include "weft_rand.h"

#define MEM_BENCH_SIZE 64 /* bytes of an operation */
#define MEM_BENCH_MOST (UINT64_C(1) << 20)

#define DEPTH_MAX 4096
#define LOOK_NS (200 * INT64_C(1000000)) /* between looks for a signal */

struct bench {
	struct ctl *c;
	struct ctl_region r;
	struct weft_rand rand;
	struct weft_latency latency;
	struct weft_op op[DEPTH_MAX]; /* the first `n_op` wait for room */
	uint64_t begun_ns[DEPTH_MAX], offset[DEPTH_MAX]; /* by slot */
	uint32_t free[DEPTH_MAX]; /* slots that are not in use */
	uint32_t n_op, n_free, n_open;
	uint8_t *data; /* of the slots */
	uint64_t done;
	double seconds;
};

static void
bench_prepare(struct bench *b)
{
	const struct ctl_options *o = &b->c->opt;

	while (b->n_free > 0) {
		const uint32_t slot = b->free[--b->n_free];

		b->offset[slot] = weft_rand_below(&b->rand, b->r.size / o->size) * o->size;
		b->op[b->n_op++] = (struct weft_op){
			.kind = o->bench.op == CTL_BENCH_READ ? WEFT_OP_READ : WEFT_OP_WRITE,
			.region = b->r.r,
			.off = b->offset[slot],
			.buf = b->data + slot * o->size,
			.n = o->size,
			.user = slot,
		};
	}
}

static void
bench_submit(struct bench *b)
{
	const uint64_t now = reach_now_ns();
	const int n = b->n_op == 0 ? 0 : weft_submit(b->c->w, b->op, (int)b->n_op);

	if (n < 0)
		ctl_fail_call(b->c, &b->r);
	for (int i = 0; i < n; i++)
		b->begun_ns[b->op[i].user] = now;
	b->n_open += (uint32_t)n;
	b->n_op -= (uint32_t)n;
	memmove(b->op, b->op + n, b->n_op * sizeof(b->op[0]));
}

static void
bench_wait(struct bench *b)
{
	struct weft_done done[64];
	const int n = weft_wait(b->c->w, done, WEFT_ARRAY_SIZE(done), LOOK_NS);
	const uint64_t now = reach_now_ns();

	if (n < 0)
		ctl_fail_call(b->c, &b->r);
	for (int i = 0; i < n; i++) {
		const uint32_t slot = (uint32_t)done[i].user;

		if (done[i].status != 0)
			ctl_fail_at(b->c, &b->r, done[i].bad, done[i].status);
		weft_latency_add(&b->latency, now - b->begun_ns[slot]);
		b->free[b->n_free++] = slot;
	}
	b->n_open -= (uint32_t)n;
	b->done += (uint64_t)n;
}

static void
bench_run(struct bench *b)
{
	const uint64_t begun = reach_now_ns();
	const uint64_t end = begun + (uint64_t)(ctl_bench_seconds(b->c) * 1e9);

	do {
		bench_prepare(b);
		bench_submit(b);
		bench_wait(b);
		ctl_judge_stop(b->c, &b->r, 0);
	} while (reach_now_ns() < end);
	while (b->n_open > 0) {
		bench_wait(b);
		ctl_judge_stop(b->c, &b->r, 0);
	}
	b->seconds = (double)(reach_now_ns() - begun) / 1e9;
}

static json_t *
bench_json(const struct bench *b, const char *op)
{
	const struct ctl_options *o = &b->c->opt;
	const struct weft_latency *l = &b->latency;
	const double rate = (double)b->done / b->seconds;

	return json_pack(
		"{s:s, s:s, s:s, s:b, s:I, s:I, s:f, s:I, s:f, s:f, s:{s:I, s:I, s:I, s:I}}",
		"node", weft_node(b->c->w), "region", b->r.name, "op", op, "uio", o->bench.is_uio,
		"size", (json_int_t)o->size, "depth", (json_int_t)o->bench.depth, "seconds",
		b->seconds, "ops", (json_int_t)b->done, "ops_per_s", rate, "bytes_per_s",
		rate * (double)o->size, "latency_ns", "p50",
		(json_int_t)weft_latency_quantile(l, 5000), "p99",
		(json_int_t)weft_latency_quantile(l, 9900), "p99_9",
		(json_int_t)weft_latency_quantile(l, 9990), "max", (json_int_t)l->max_ns);
}

static void
bench_text(const struct bench *b, const char *op)
{
	const struct ctl_options *o = &b->c->opt;
	const struct weft_latency *l = &b->latency;
	const double rate = (double)b->done / b->seconds;

	printf("%s %s: %" PRIu64 " bytes, depth %" PRIu32 ", %.2f s\n", op, b->r.name, o->size,
		o->bench.depth, b->seconds);
	printf("  rate     %.0f ops/s, %.1f MiB/s\n", rate, rate * (double)o->size / 1048576.0);
	printf("  latency  p50 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us\n",
		(double)weft_latency_quantile(l, 5000) / 1e3,
		(double)weft_latency_quantile(l, 9900) / 1e3,
		(double)weft_latency_quantile(l, 9990) / 1e3, (double)l->max_ns / 1e3);
}

int
mem_bench(struct ctl *c)
{
	static struct bench b;
	const bool writes = c->opt.bench.op == CTL_BENCH_WRITE;
	const char *op = writes ? "write" : "read";
	struct weft_attach_opts room;

	b.c = c;
	if (c->opt.bench.is_ways)
		return mem_ways(c);
	if (c->opt.size_text == NULL)
		c->opt.size = MEM_BENCH_SIZE;
	if (c->opt.size < 1 || c->opt.size > MEM_BENCH_MOST)
		cli_usage("--size: expected 1 to 1M, got \"%s\"", c->opt.size_text);
	if (c->opt.bench.is_uio && c->opt.size % 4 != 0)
		cli_usage("--size: expected a multiple of 4 with --uio, got \"%s\"",
			c->opt.size_text);
	if (writes && !c->opt.is_forced)
		cli_usage("%s --op write overwrites %s: give --force if it may", c->verb,
			c->operand[0]);
	room = reach_room(c->opt.bench.depth, c->opt.size);
	ctl_attach(c, &room);
	ctl_open(c, c->operand[0],
		(int)((writes ? WEFT_WRITE : WEFT_READ) | (c->opt.bench.is_uio ? WEFT_UIO : 0)),
		&b.r);
	ctl_judge_range(c, &b.r, 0, c->opt.size);
	b.data = calloc(c->opt.bench.depth, c->opt.size);
	if (b.data == NULL)
		ctl_fail(
			c, "%s: no memory for %" PRIu32 " operations", c->verb, c->opt.bench.depth);
	weft_rand_seed(&b.rand, reach_now_ns());
	for (uint32_t slot = 0; slot < c->opt.bench.depth; slot++)
		b.free[b.n_free++] = slot;
	weft_rand_fill(&b.rand, b.data, c->opt.bench.depth * c->opt.size);
	bench_run(&b);
	if (c->opt.is_json)
		ctl_print_json(c, bench_json(&b, op));
	else
		bench_text(&b, op);
	free(b.data);
	return EXIT_SUCCESS;
}
