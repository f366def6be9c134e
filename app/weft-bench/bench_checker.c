/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a host's load costs without a fabric: requests are drawn, begun, answered by memory at once
 * and checked, by the source and the requester of a live host. The share of a live request that is
 * not the fabric's. A request is counted as a flit.
 */

#include "bench.h"

#include <stdlib.h>

#include "cli.h"
#include "weft_line.h"
#include "weft_mem_requester.h"
#include "weft_traffic.h"

#define REQUESTS 512 /* a run; all are open at once */
#define LINES 4096
#define DPID 0x200
#define BASE (UINT64_C(1) << 40)
#define STEP_NS 100000

struct checker {
	struct weft_requester *requester;
	struct weft_traffic *traffic;
	uint64_t now_ns, done;
	unsigned int lost;
	struct weft_msg answer[REQUESTS];
	uint8_t memory[LINES][WEFT_LINE_LEN];
};

/* A GFD's part; a read that comes after a write of its line is begun after that was answered. */
static void
checker_serve(struct checker *c, const struct weft_request *rq, struct weft_msg *m)
{
	uint8_t *line = c->memory[(rq->addr - BASE) / WEFT_LINE_LEN];

	m->tag = rq->tag;
	if (rq->kind == WEFT_REQUEST_WRITE) {
		m->kind = WEFT_MSG_S2M_NDR;
		memcpy(line, rq->data, WEFT_LINE_LEN);
	} else {
		m->kind = WEFT_MSG_S2M_DRS;
		memcpy(m->data, line, WEFT_LINE_LEN);
	}
}

static uint64_t
checker_run(void *ctx)
{
	struct checker *c = ctx;
	struct weft_completion done;
	struct weft_request rq;

	c->now_ns += STEP_NS;
	for (unsigned int i = 0; i < REQUESTS; i++) {
		if (weft_traffic_next(c->traffic, c->now_ns, &rq) == 0)
			checker_serve(c, &rq, &c->answer[i]);
		else
			c->lost++;
	}
	for (unsigned int i = 0; i < REQUESTS; i++) {
		if (weft_mem_response(c->requester, &c->answer[i], c->now_ns, &done) == WEFT_OK)
			weft_traffic_complete(c->traffic, &done);
		else
			c->lost++;
	}
	c->done += REQUESTS;
	return REQUESTS;
}

static bool
checker_is_right(void *ctx)
{
	const struct checker *c = ctx;
	const uint64_t *n = weft_traffic_counts(c->traffic);

	return c->lost == 0 && n[WEFT_TRAFFIC_N_MISMATCHES] == 0 && n[WEFT_TRAFFIC_N_FAILED] == 0 &&
	       n[WEFT_TRAFFIC_N_LOST] == 0 &&
	       n[WEFT_TRAFFIC_N_VERIFIED] == n[WEFT_TRAFFIC_N_READS] &&
	       n[WEFT_TRAFFIC_N_READS] + n[WEFT_TRAFFIC_N_WRITES] == c->done;
}

static void
checker_free(void *ctx)
{
	struct checker *c = ctx;

	free(c->traffic);
	free(c->requester);
	free(c);
}

static void *
checker_setup(const struct bench *b, const struct bench_params *p)
{
	static const struct weft_traffic_target target = { BASE, LINES * WEFT_LINE_LEN, DPID };
	const struct weft_requester_cfg rc = { .tags = REQUESTS, .timeout_ns = UINT64_MAX };
	const struct weft_traffic_cfg tc = { .seed = 1,
		.requests = UINT64_MAX,
		.targets = &target,
		.n_targets = 1,
		.lines = LINES,
		.outstanding = REQUESTS,
		.write_percent = 50,
		.unit_lines = 1,
		.request_lines = 1 };
	struct checker *c = bench_alloc(sizeof(*c));

	(void)b;
	(void)p;
	c->requester = weft_requester_init(bench_alloc(weft_requester_size(&rc)), &rc);
	weft_requester_grant(c->requester, DPID, REQUESTS, REQUESTS);
	c->traffic = weft_traffic_init(bench_alloc(weft_traffic_size(&tc)), &tc, c->requester);
	/* Until most lines have been written. */
	for (unsigned int i = 0; i < 64; i++)
		checker_run(c);
	return c;
}

static const struct bench_ops ops = { checker_setup, NULL, checker_run, checker_is_right,
	checker_free };

const struct bench bench_checker[] = {
	{ "checker", "reads and writes drawn, answered at once and checked, each counted as a flit",
		BENCH_PLAIN, 1 << BENCH_RTC, 0, &ops },
};

const unsigned int bench_n_checker = sizeof(bench_checker) / sizeof(bench_checker[0]);
