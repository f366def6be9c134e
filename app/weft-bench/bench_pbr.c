/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Routing tables alone, all of them full and asked in random order: 4096 DPIDs, of which a quarter
 * by groups; 4096 segments, half of them interleaved over 2 to 256 ways. One look-up counts as a
 * flit. Answers are compared with the one-at-a-time look-up, which knows nothing of runs.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_rand.h"
#include "weft_tables.h"

#define LOOKUPS 64
#define INPUTS 16384 /* 128 KiB of addresses: half the private cache is left for tables */
#define SEGMENTS 4096
#define SEGMENT_LOG2 36
#define BASE (UINT64_C(1) << (SEGMENT_LOG2 + 12))

enum pbr_kind { PBR_DRT, PBR_HPA_PORT };

struct pbr {
	enum pbr_kind kind;
	struct weft_tables *tables;
	const struct weft_edge *edge;
	const struct weft_route *route;
	uint64_t hpa[INPUTS];
	uint16_t dpid[INPUTS];
	int16_t port[LOOKUPS];
	unsigned int at;
	bool is_wrong; /* since the set-up */
};

static uint64_t
pbr_run(void *ctx)
{
	struct pbr *c = ctx;

	if (c->kind == PBR_DRT)
		weft_route_run(c->route, c->dpid + c->at, c->port, LOOKUPS);
	else
		weft_hpa_port_run(c->edge, c->route, c->hpa + c->at, c->port, LOOKUPS);
	c->at = (c->at + LOOKUPS) % INPUTS;
	return LOOKUPS;
}

/* The last run's answers. */
static bool
pbr_is_right(void *ctx)
{
	const struct pbr *c = ctx;
	const unsigned int at = (c->at + INPUTS - LOOKUPS) % INPUTS;

	for (unsigned int i = 0; i < LOOKUPS; i++) {
		uint16_t dpid = c->dpid[at + i];
		struct weft_edge_decision d;

		if (c->kind == PBR_HPA_PORT) {
			weft_edge_request(
				c->edge, WEFT_EDGE_MEM, c->hpa[at + i], WEFT_EDGE_ABSENT, &d);
			if (d.reason != WEFT_EDGE_OK)
				return false;
			dpid = d.dpid;
		}
		if (c->port[i] < 0 ||
			c->port[i] != weft_route_port(c->route, NULL, dpid, WEFT_CLASS_IO, 0))
			return false;
	}
	return !c->is_wrong;
}

static void
pbr_fill_route(struct weft_route *r, struct weft_rand *rnd)
{
	for (unsigned int i = 0; i < WEFT_RGT_ROWS; i++) {
		struct weft_rgt_entry e = { .counts = 7 };

		weft_rand_fill(rnd, e.port, sizeof(e.port));
		weft_route_set_rgt(r, i, &e, 1);
	}
	for (unsigned int d = 0; d < WEFT_PID_RESERVED; d++) {
		const uint8_t row[1][2] = { { weft_rand_below(rnd, 4) == 0 ? WEFT_DRT_RGT
									   : WEFT_DRT_PORT,
			(uint8_t)weft_rand_u64(rnd) } };

		weft_route_set_drt(r, d, row, 1);
	}
}

static void
pbr_fill_edge(struct weft_edge *e, struct weft_rand *rnd)
{
	for (uint16_t p = 0; p < WEFT_PID_RESERVED; p++)
		weft_edge_allow(e, WEFT_GMV, p, true);
	for (unsigned int i = 0; i < WEFT_SEG_ENTRIES; i++) {
		const uint16_t pid = (uint16_t)weft_rand_below(rnd, WEFT_PID_RESERVED);

		weft_seg_set_idt(&e->fast, i, &pid, 1);
	}
	weft_seg_set_range(&e->fast, SEGMENT_LOG2, BASE, 2 * BASE);
	for (unsigned int i = 0; i < SEGMENTS; i++) {
		const uint64_t x = weft_rand_u64(rnd);
		const struct weft_fast_entry entry = { .flags = WEFT_SEG_VALID,
			.intlv = (uint8_t)(x & 1 ? 1 + (x >> 8) % WEFT_INTLV_MAX : 0),
			.gran = (uint8_t)((x >> 16) % (WEFT_GRAN_MAX + 1)),
			.dpid = (uint16_t)((x >> 32) % (WEFT_SEG_ENTRIES - 256)) };

		weft_seg_set_entries(&e->fast, i, &entry, 1);
	}
}

static void
pbr_free(void *ctx)
{
	struct pbr *c = ctx;

	free(c->tables);
	free(c);
}

static void *
pbr_setup(const struct bench *b, const struct bench_params *p)
{
	static const struct weft_edge_cfg edge = {
		.pid = 0x100, .fast_depth_log2 = 12, .fast_idt = WEFT_SEG_ENTRIES
	};
	static const struct weft_tables_cfg cfg = {
		.n_edges = 1, .edge = &edge, .n_routes = 1, .n_rgt = WEFT_RGT_ROWS
	};
	struct pbr *c = bench_alloc(sizeof(*c));
	struct weft_rand rnd;

	(void)p;
	c->kind = (enum pbr_kind)b->kind;
	c->tables = bench_alloc(weft_tables_size(&cfg));
	weft_tables_init(c->tables, &cfg);
	weft_rand_seed(&rnd, 1);
	pbr_fill_route(weft_tables_route_rw(c->tables, 0), &rnd);
	pbr_fill_edge(weft_tables_edge_rw(c->tables, 0), &rnd);
	c->edge = weft_tables_edge(c->tables, 0);
	c->route = weft_tables_route(c->tables, 0);
	for (unsigned int i = 0; i < INPUTS; i++) {
		c->hpa[i] = BASE + weft_rand_below(&rnd, BASE);
		c->dpid[i] = (uint16_t)weft_rand_below(&rnd, WEFT_PID_RESERVED);
	}
	for (unsigned int i = 0; i < INPUTS / LOOKUPS; i++) {
		pbr_run(c);
		c->is_wrong |= !pbr_is_right(c);
	}
	return c;
}

static const struct bench_ops pbr = { pbr_setup, NULL, pbr_run, pbr_is_right, pbr_free };

const struct bench bench_pbr[] = {
	{ "drt", "64 DPID to port look-ups, 4096 DPIDs", BENCH_PLAIN, 1 << BENCH_RTC, PBR_DRT,
		&pbr },
	{ "hpa-port", "64 address to port look-ups: FAST, IDT and DRT of 4096 entries", BENCH_PLAIN,
		1 << BENCH_RTC, PBR_HPA_PORT, &pbr },
};

const unsigned int bench_n_pbr = sizeof(bench_pbr) / sizeof(bench_pbr[0]);
