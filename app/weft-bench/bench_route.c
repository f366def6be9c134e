/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The translation cache alone: 64 lookups that hit, over some number of pages in random order, or
 * of 16 sequential streams that take turns.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_atc.h"
#include "weft_rand.h"

#define LOOKUPS 64
#define PAGE_LOG2 12
#define STREAMS 16
#define STREAM_PAGES 8

/* enum of bench.kind; the pages of each. */
enum { ATC_1K, ATC_16K, ATC_256K, ATC_STREAMS };

static const unsigned int pages_of[] = { 1024, 16384, 262144, STREAMS *STREAM_PAGES };

/* Of the larger ones as many entries as pages: some pages find no room, and are left out. */
static const uint32_t sets_of[] = { 512, 2048, 32768, 512 };

/* Lookups of a round: streams pass every flit of their pages. */
static const unsigned int round_of[] = { 1024, 16384, 262144, STREAMS *STREAM_PAGES * 16 };

struct atc {
	void *mem;
	struct weft_atc *cache;
	uint64_t *va;
	unsigned int round;
	uint16_t ctx[LOOKUPS];
	uint8_t want[LOOKUPS];
	uint64_t pa[LOOKUPS];
	uint8_t result[LOOKUPS];
	unsigned int at;
	uint64_t misses; /* of the set-up */
	bool is_wrong; /* since the set-up */
};

/* Where a page is: any rule will do that no accident follows. */
static uint64_t
route_where(uint64_t va)
{
	return (va ^ UINT64_C(0x5A5A5A000)) & ~weft_mask64(PAGE_LOG2);
}

static uint64_t
route_atc_run(void *ctx)
{
	struct atc *c = ctx;

	const struct weft_atc_run q = { c->ctx, c->va + c->at, c->want, c->pa, c->result };

	weft_atc_lookup_run(c->cache, &q, LOOKUPS);
	c->at = (c->at + LOOKUPS) % c->round;
	return LOOKUPS;
}

/* The last run's answers. */
static bool
route_atc_is_right(void *ctx)
{
	const struct atc *c = ctx;
	unsigned int at = (c->at + c->round - LOOKUPS) % c->round;

	for (unsigned int i = 0; i < LOOKUPS; i++)
		if (c->result[i] != WEFT_ATC_HIT ||
			c->pa[i] != route_where(c->va[at + i]) +
					    (c->va[at + i] & weft_mask64(PAGE_LOG2)))
			return false;
	return !c->is_wrong && weft_atc_counts(c->cache)[WEFT_ATC_N_MISSES] == c->misses;
}

static void
route_atc_free(void *ctx)
{
	struct atc *c = ctx;

	free(c->va);
	free(c->mem);
	free(c);
}

/* The round's addresses, and the translation of every page. */
static void
route_atc_fill(struct atc *c, unsigned int kind)
{
	const unsigned int pages = pages_of[kind];
	struct weft_rand r;

	weft_rand_seed(&r, 1);
	for (unsigned int i = 0; i < pages; i++) {
		uint64_t page = (uint64_t)i << PAGE_LOG2;

		weft_atc_install(c->cache, 0, page, route_where(page), PAGE_LOG2, WEFT_ATC_R);
	}
	for (unsigned int i = 0; i < c->round; i++) {
		uint64_t pa;

		c->va[i] = UINT64_MAX; /* no address: no hit */
		if (kind == ATC_STREAMS)
			c->va[i] =
				(uint64_t)(i % STREAMS) * STREAM_PAGES * 4096 + i / STREAMS * 256;
		while (kind != ATC_STREAMS &&
			weft_atc_lookup(c->cache, 0, c->va[i], WEFT_ATC_R, &pa) != WEFT_ATC_HIT)
			c->va[i] = (weft_rand_below(&r, pages) << PAGE_LOG2) +
			           64 * weft_rand_below(&r, 64);
	}
}

static void *
route_atc_setup(const struct bench *b, const struct bench_params *p)
{
	const struct weft_atc_cfg cfg = {
		.sets = { [WEFT_ATC_4K] = sets_of[b->kind] }, .contexts = 1, .kernel = p->atc
	};
	struct atc *c = bench_alloc(sizeof(*c));

	c->round = round_of[b->kind];
	c->va = bench_alloc(c->round * sizeof(*c->va));
	memset(c->want, WEFT_ATC_R, sizeof(c->want));
	c->mem = bench_alloc(weft_atc_size(&cfg));
	c->cache = weft_atc_init(c->mem, &cfg);
	route_atc_fill(c, b->kind);
	c->misses = weft_atc_counts(c->cache)[WEFT_ATC_N_MISSES];
	for (unsigned int i = 0; i < c->round / LOOKUPS; i++) {
		route_atc_run(c);
		c->is_wrong |= !route_atc_is_right(c);
	}
	return c;
}

static const struct bench_ops route_atc = { route_atc_setup, NULL, route_atc_run,
	route_atc_is_right, route_atc_free };

const struct bench bench_route[] = {
	{ "atc", "64 translation cache lookups that hit, 1024 pages", BENCH_ATC, 1 << BENCH_RTC,
		ATC_1K, &route_atc },
	{ "atc-16k", "the same, 16384 pages", BENCH_ATC, 1 << BENCH_RTC, ATC_16K, &route_atc },
	{ "atc-256k", "the same, 262144 pages", BENCH_ATC, 1 << BENCH_RTC, ATC_256K, &route_atc },
	{ "atc-streams", "the same, 16 sequential streams in turn", BENCH_ATC, 1 << BENCH_RTC,
		ATC_STREAMS, &route_atc },
};

const unsigned int bench_n_route = sizeof(bench_route) / sizeof(bench_route[0]);
