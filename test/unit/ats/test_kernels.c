/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Every kernel says what a plain map says, run after run: contexts with pages of one size, where
 * kernels take look-ups together, each answer at each place of a group. Contexts use the same
 * addresses, so that one that sees into another is noticed.
 */

#include "weft_test.h"

#include "weft_atc.h"
#include "weft_guard.h"

#define CONTEXTS 5
#define PAGES 64
#define RUN_MAX 80
#define RW (WEFT_ATC_R | WEFT_ATC_W)

/* Pages of context i are of class i % 4, so each has one size. */
static const unsigned int log2_of[CONTEXTS] = { 12, 16, 21, 30, 12 };

struct page {
	uint64_t pa;
	unsigned int flags; /* 0: not there */
};

struct world {
	struct weft_atc *c;
	struct weft_rand r;
	struct page page[CONTEXTS][PAGES];
};

static void
install(struct world *w, uint16_t ctx, unsigned int i, unsigned int flags)
{
	struct page *p = &w->page[ctx][i];

	p->pa = weft_rand_below(&w->r, UINT64_C(1) << (52 - log2_of[ctx])) << log2_of[ctx];
	p->flags = flags;
	assert_int_equal(weft_atc_install(w->c, ctx, (uint64_t)i << log2_of[ctx], p->pa,
				 log2_of[ctx], flags),
		1);
}

static enum weft_atc_result
expected(const struct world *w, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa)
{
	const struct page *p;

	if (ctx >= CONTEXTS || va >> log2_of[ctx] >= PAGES)
		return WEFT_ATC_MISS;
	p = &w->page[ctx][va >> log2_of[ctx]];
	if (p->flags == 0)
		return WEFT_ATC_MISS;
	if ((p->flags & want) != want)
		return WEFT_ATC_DENY;
	if ((p->flags & WEFT_ATC_U) != 0)
		return WEFT_ATC_UNTRANSLATED;
	*pa = p->pa + (va & weft_mask64(log2_of[ctx]));
	return WEFT_ATC_HIT;
}

/* Most look-ups hit; one in @p odd may be anything. */
static void
one_run(struct world *w, unsigned int odd)
{
	const unsigned int n = 1 + (unsigned int)weft_rand_below(&w->r, RUN_MAX);
	uint64_t va[RUN_MAX], count[4] = { 0 }, before[4];
	struct weft_guard g[3];
	struct weft_atc_run q = { .va = va };
	uint16_t ctx[RUN_MAX];
	unsigned int hits;

	for (unsigned int k = 0; k < 3; k++)
		weft_guard_open(&g[k], RUN_MAX * 8);
	/* A kernel that reads or writes behind a run of any length falls over the edge. */
	q.want = memset(weft_guard_last(&g[0], n), WEFT_ATC_R, n);
	q.pa = memset(weft_guard_last(&g[1], n * 8), 0x5A, n * 8);
	q.result = weft_guard_last(&g[2], n);
	q.ctx = ctx;
	for (unsigned int i = 0; i < n; i++) {
		ctx[i] = (uint16_t)weft_rand_below(&w->r, CONTEXTS + (odd != 0));
		if (i != 0 && weft_rand_below(&w->r, 24) != 0)
			ctx[i] = ctx[i - 1];
		va[i] = weft_rand_below(&w->r, (uint64_t)PAGES << log2_of[ctx[i] % CONTEXTS]);
		if (odd != 0 && weft_rand_below(&w->r, odd) == 0)
			va[i] |= UINT64_C(1) << (36 + weft_rand_below(&w->r, 28));
		if (odd != 0 && weft_rand_below(&w->r, odd) == 0)
			((uint8_t *)(uintptr_t)q.want)[i] = (uint8_t)weft_rand_u64(&w->r);
	}
	memcpy(before, weft_atc_counts(w->c), sizeof(before));
	hits = weft_atc_lookup_run(w->c, &q, n);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t pa = UINT64_C(0x5A5A5A5A5A5A5A5A);
		const enum weft_atc_result r = expected(w, ctx[i], va[i], q.want[i] & RW, &pa);

		assert_int_equal(q.result[i], r);
		assert_int_equal(q.pa[i], pa);
		count[r]++;
	}
	assert_int_equal(hits, count[WEFT_ATC_HIT]);
	assert_int_equal(weft_atc_counts(w->c)[WEFT_ATC_N_HITS] - before[WEFT_ATC_N_HITS],
		count[WEFT_ATC_HIT]);
	assert_int_equal(weft_atc_counts(w->c)[WEFT_ATC_N_MISSES] - before[WEFT_ATC_N_MISSES],
		count[WEFT_ATC_MISS]);
	assert_int_equal(weft_atc_counts(w->c)[WEFT_ATC_N_DENIALS] - before[WEFT_ATC_N_DENIALS],
		count[WEFT_ATC_DENY]);
	for (unsigned int k = 0; k < 3; k++)
		weft_guard_close(&g[k]);
}

/* Something changes, in one context; the others must not notice. */
static void
change(struct world *w)
{
	static const unsigned int flags[] = { WEFT_ATC_R, RW, RW, RW, WEFT_ATC_W, RW | WEFT_ATC_U };
	const uint16_t ctx = (uint16_t)weft_rand_below(&w->r, CONTEXTS);
	const unsigned int i = (unsigned int)weft_rand_below(&w->r, PAGES);

	switch (weft_rand_below(&w->r, 40)) {
	case 0:
		weft_atc_invalidate_context(w->c, ctx);
		memset(w->page[ctx], 0, sizeof(w->page[ctx]));
		break;
	case 1:
	case 2:
	case 3:
	case 4:
		weft_atc_invalidate(w->c, ctx, (uint64_t)i << log2_of[ctx], log2_of[ctx]);
		w->page[ctx][i].flags = 0;
		break;
	default: install(w, ctx, i, flags[weft_rand_below(&w->r, 6)]); break;
	}
}

static void
run_kernel(const struct weft_atc_kernel *kernel)
{
	/* Roomy: with 64 pages to a class of 512 sets no set overflows in a lifetime. */
	const struct weft_atc_cfg cfg = { { 512, 512, 512, 512 }, CONTEXTS, kernel };
	struct world *w = calloc(1, sizeof(*w));
	void *mem = aligned_alloc(64, weft_atc_size(&cfg));

	w->c = weft_atc_init(mem, &cfg);
	weft_test_seed(&w->r, kernel->k.name);
	for (uint16_t ctx = 0; ctx < CONTEXTS; ctx++)
		for (unsigned int i = 0; i < PAGES; i++)
			install(w, ctx, i, WEFT_ATC_R);
	for (unsigned int i = 0; i < 500; i++)
		one_run(w, 0);
	assert_int_equal(weft_atc_counts(w->c)[WEFT_ATC_N_MISSES], 0);
	/* Generations begin at 0, as does a value that is not there. */
	for (uint16_t ctx = 0; ctx < CONTEXTS; ctx++) {
		weft_atc_invalidate(w->c, ctx, 0, log2_of[ctx]);
		w->page[ctx][0].flags = 0;
	}
	for (unsigned int i = 0; i < 1000; i++)
		one_run(w, 10);
	for (unsigned int i = 0; i < 5000; i++) {
		change(w);
		one_run(w, 4 + i % 60);
	}
	assert_int_equal(weft_atc_counts(w->c)[WEFT_ATC_N_EVICTIONS], 0);
	free(mem);
	free(w);
}

WEFT_TEST(kernels_say_what_the_map_says)
{
	for (unsigned int i = 0; i < weft_atc_n_kernels; i++) {
		if (weft_kernel_usable(&weft_atc_kernels[i].k, weft_cpu_detect()))
			run_kernel(&weft_atc_kernels[i]);
		else
			print_message("  left out: this CPU lacks what %s needs\n",
				weft_atc_kernels[i].k.name);
	}
}

/* The mark of use that CLOCK goes by: a page that a run hit outlives one that none did. */
WEFT_TEST(kernels_mark_what_they_hit)
{
	for (unsigned int k = 0; k < weft_atc_n_kernels; k++) {
		const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, 1, &weft_atc_kernels[k] };
		struct weft_atc *c;
		const uint64_t kept = 3 << 12;
		uint64_t va[8], pa[8];
		uint16_t ctx[8] = { 0 };
		uint8_t want[8], result[8];
		const struct weft_atc_run q = { ctx, va, want, pa, result };

		if (!weft_kernel_usable(&weft_atc_kernels[k].k, weft_cpu_detect()))
			continue;
		c = weft_atc_init(aligned_alloc(64, weft_atc_size(&cfg)), &cfg);
		memset(want, WEFT_ATC_R, sizeof(want));
		for (unsigned int i = 0; i < 8; i++) {
			va[i] = kept;
			weft_atc_install(
				c, 0, (uint64_t)i << 12, 0, 12, WEFT_ATC_R | WEFT_ATC_PREFETCHED);
		}
		weft_atc_lookup_run(c, &q, 8);
		for (uint64_t i = 8; i < 15; i++)
			weft_atc_install(c, 0, i << 12, 0, 12, WEFT_ATC_R | WEFT_ATC_PREFETCHED);
		assert_int_equal(weft_atc_lookup(c, 0, kept, WEFT_ATC_R, pa), WEFT_ATC_HIT);
		free(c);
	}
}
