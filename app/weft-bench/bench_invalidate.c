/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Single-page invalidations of a cache of 16384 pages while look-ups flow: a run of 64 look-ups
 * stands between every four, some of whose pages are gone and are installed again, and all of that
 * is timed with the invalidations.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_rand.h"

#define PAGES 16384
#define PAGE_LOG2 12
#define INVALIDATIONS 64
#define LOOKUPS 64
#define INVALIDATIONS_A_RUN 4

struct invalidate {
	void *mem;
	struct weft_atc *cache;
	struct weft_rand r;
	uint64_t gone[INVALIDATIONS];
	uint64_t done; /* invalidations so far */
	bool good;
	uint16_t ctx[LOOKUPS];
	uint8_t want[LOOKUPS], result[LOOKUPS];
	uint64_t va[LOOKUPS], pa[LOOKUPS];
};

/* Other pages than before, which are all there; half of what is looked up is among them. */
static void
invalidate_prepare(void *ctx)
{
	struct invalidate *c = ctx;
	const uint64_t first = weft_rand_below(&c->r, PAGES);

	for (unsigned int i = 0; i < INVALIDATIONS; i++) {
		c->gone[i] = (first + i * UINT64_C(9973)) % PAGES << PAGE_LOG2;
		weft_atc_install(c->cache, 0, c->gone[i], c->gone[i], PAGE_LOG2, WEFT_ATC_R);
	}
	for (unsigned int i = 0; i < LOOKUPS; i++)
		c->va[i] = i % 2 == 0 ? c->gone[i] : weft_rand_below(&c->r, PAGES) << PAGE_LOG2;
}

static void
invalidate_look_up(struct invalidate *c)
{
	const struct weft_atc_run q = { c->ctx, c->va, c->want, c->pa, c->result };

	if (weft_atc_lookup_run(c->cache, &q, LOOKUPS) == LOOKUPS)
		return;
	for (unsigned int i = 0; i < LOOKUPS; i++)
		if (c->result[i] == WEFT_ATC_MISS) {
			weft_atc_install(c->cache, 0, c->va[i], c->va[i], PAGE_LOG2, WEFT_ATC_R);
			c->pa[i] = c->va[i];
		}
}

static uint64_t
invalidate_run(void *ctx)
{
	struct invalidate *c = ctx;

	for (unsigned int i = 0; i < INVALIDATIONS; i += INVALIDATIONS_A_RUN) {
		for (unsigned int k = 0; k < INVALIDATIONS_A_RUN; k++)
			weft_atc_invalidate(c->cache, 0, c->gone[i + k], PAGE_LOG2);
		invalidate_look_up(c);
	}
	c->done += INVALIDATIONS;
	for (unsigned int i = 0; i < LOOKUPS; i++)
		c->good &= c->pa[i] == c->va[i];
	return INVALIDATIONS;
}

/* Look-ups were right all along, and invalidations dropped what was there. */
static bool
invalidate_is_right(void *ctx)
{
	struct invalidate *c = ctx;
	uint64_t pa;

	weft_atc_invalidate(c->cache, 0, c->gone[0], PAGE_LOG2);
	return c->good && weft_atc_counts(c->cache)[WEFT_ATC_N_INVALIDATED] > c->done / 2 &&
	       weft_atc_lookup(c->cache, 0, c->gone[0], WEFT_ATC_R, &pa) == WEFT_ATC_MISS;
}

static void
invalidate_free(void *ctx)
{
	struct invalidate *c = ctx;

	free(c->mem);
	free(c);
}

static void *
invalidate_setup(const struct bench *b, const struct bench_params *p)
{
	const struct weft_atc_cfg cfg = {
		.sets = { [WEFT_ATC_4K] = PAGES / 2 }, .contexts = 1, .kernel = p->atc
	};
	struct invalidate *c = bench_alloc(sizeof(*c));

	(void)b;
	c->good = true;
	c->mem = bench_alloc(weft_atc_size(&cfg));
	c->cache = weft_atc_init(c->mem, &cfg);
	weft_rand_seed(&c->r, 1);
	for (uint64_t va = 0; va < (uint64_t)PAGES << PAGE_LOG2; va += 1u << PAGE_LOG2)
		weft_atc_install(c->cache, 0, va, va, PAGE_LOG2, WEFT_ATC_R);
	memset(c->want, WEFT_ATC_R, sizeof(c->want));
	invalidate_prepare(c);
	invalidate_run(c);
	return c;
}

static const struct bench_ops invalidate = { invalidate_setup, invalidate_prepare, invalidate_run,
	invalidate_is_right, invalidate_free };

const struct bench bench_invalidate[] = {
	{ "atc-invalidate", "64 single-page invalidations, with 16 look-ups for each", BENCH_ATC,
		1 << BENCH_RTC, 0, &invalidate },
};

const unsigned int bench_n_invalidate = sizeof(bench_invalidate) / sizeof(bench_invalidate[0]);
