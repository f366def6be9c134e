/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The translation cache alone: 64 lookups that hit, over 1024 pages in random order. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "weft_atc.h"
#include "weft_base.h"
#include "weft_rand.h"

#define PAGES 1024
#define LOOKUPS 64
#define PAGE_LOG2 12

struct atc {
	void *mem;
	struct weft_atc *cache;
	uint64_t va[PAGES];
	uint16_t ctx[LOOKUPS];
	uint8_t want[LOOKUPS];
	uint64_t pa[LOOKUPS];
	uint8_t result[LOOKUPS];
	unsigned int at;
	uint64_t misses;
};

/* Where a page is: any rule will do that no accident follows. */
static uint64_t
where(uint64_t va)
{
	return (va ^ UINT64_C(0x5A5A5A000)) & ~weft_mask64(PAGE_LOG2);
}

static uint64_t
atc_run(void *ctx)
{
	struct atc *c = ctx;

	const struct weft_atc_run q = { c->ctx, c->va + c->at, c->want, c->pa, c->result };

	weft_atc_lookup_run(c->cache, &q, LOOKUPS);
	c->at = (c->at + LOOKUPS) % PAGES;
	return LOOKUPS;
}

/* The last run's answers. */
static bool
atc_is_right(const struct atc *c)
{
	unsigned int at = (c->at + PAGES - LOOKUPS) % PAGES;

	for (unsigned int i = 0; i < LOOKUPS; i++)
		if (c->result[i] != WEFT_ATC_HIT ||
			c->pa[i] != where(c->va[at + i]) + (c->va[at + i] & weft_mask64(PAGE_LOG2)))
			return false;
	return weft_atc_counts(c->cache)[WEFT_ATC_N_MISSES] == 0;
}

static bool
atc_teardown(void *ctx)
{
	struct atc *c = ctx;
	bool good = atc_is_right(c);

	free(c->mem);
	free(c);
	return good;
}

static void *
atc_setup(const struct bench *b, const struct bench_params *p, char *err, size_t err_len)
{
	const struct weft_atc_cfg cfg = {
		.sets = { [WEFT_ATC_4K] = 512 }, .contexts = 1, .kernel = p->atc
	};
	struct atc *c = bench_alloc(sizeof(*c));
	struct weft_rand r;
	bool good = true;

	memset(c->want, WEFT_ATC_R, sizeof(c->want));
	c->mem = bench_alloc(weft_atc_size(&cfg));
	c->cache = weft_atc_init(c->mem, &cfg);
	weft_rand_seed(&r, 1);
	for (unsigned int i = 0; i < PAGES; i++) {
		uint64_t page = (uint64_t)i << PAGE_LOG2;

		weft_atc_install(c->cache, 0, page, where(page), PAGE_LOG2, WEFT_ATC_R);
		c->va[i] = (weft_rand_below(&r, PAGES) << PAGE_LOG2) + 64 * weft_rand_below(&r, 64);
	}
	for (unsigned int i = 0; i < PAGES / LOOKUPS; i++) {
		atc_run(c);
		good &= atc_is_right(c);
	}
	if (good)
		return c;
	snprintf(err, err_len, "%s: wrong answer", b->name);
	free(c->mem);
	free(c);
	return NULL;
}

const struct bench bench_route[] = {
	{ "atc", "64 translation cache lookups that hit, 1024 pages", BENCH_ATC, 1 << BENCH_RTC, 0,
		atc_setup, NULL, atc_run, atc_teardown },
};

const unsigned int bench_n_route = sizeof(bench_route) / sizeof(bench_route[0]);
