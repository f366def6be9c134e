/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * ATC against a shadow map: random installs, look-ups and invalidations of every size over a small
 * stretch of address space, so that pages of all sizes overlap. The map forgets nothing but what
 * was invalidated. What the cache answers must be in it; a cache that never evicted must also know
 * all of it and drop exactly what overlaps.
 */

#include "weft_test.h"

#include "weft_atc.h"

#define RUN_MAX 40
#define CONTEXTS 3
#define REGION_LOG2 23 /* 8 MB */
#define PAGES (1u << (REGION_LOG2 - 12))
#define REGION_VA (UINT64_C(0x155) << 48) /* a multiple of 1 GB near the top of 57 bits */
#define RW (WEFT_ATC_R | WEFT_ATC_W)

static const unsigned int class_log2[WEFT_ATC_CLASSES] = { 12, 16, 21, 30 };

struct shadow_page {
	uint64_t pa;
	unsigned int flags; /* 0: not there */
};

static struct shadow_page shadow[CONTEXTS][WEFT_ATC_CLASSES][PAGES];

static unsigned int
pages_of(unsigned int k)
{
	return class_log2[k] >= REGION_LOG2 ? 1 : 1u << (REGION_LOG2 - class_log2[k]);
}

static void
shadow_install(unsigned int ctx, uint64_t va, uint64_t pa, unsigned int log2, unsigned int flags)
{
	unsigned int k = WEFT_ATC_CLASSES - 1;

	while (class_log2[k] > log2)
		k--;
	for (uint64_t off = 0; off < UINT64_C(1) << log2; off += UINT64_C(1) << class_log2[k]) {
		struct shadow_page *p = &shadow[ctx][k][(va + off - REGION_VA) >> class_log2[k]];

		p->pa = pa + off;
		p->flags = flags;
	}
}

/* Drop every page that shares a byte with va..last. */
static int
shadow_invalidate(unsigned int ctx, uint64_t va, uint64_t last)
{
	int n = 0;

	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++) {
		for (unsigned int i = 0; i < pages_of(k); i++) {
			const uint64_t start = REGION_VA + ((uint64_t)i << class_log2[k]);
			const uint64_t end = start + (UINT64_C(1) << class_log2[k]) - 1;

			if (shadow[ctx][k][i].flags == 0 || start > last || va > end)
				continue;
			shadow[ctx][k][i].flags = 0;
			n++;
		}
	}
	return n;
}

struct answers {
	bool any, hit, untranslated;
	bool pa_known;
};

/* All that a cache may answer for @p va. */
static struct answers
shadow_lookup(unsigned int ctx, uint64_t va, unsigned int want, uint64_t pa)
{
	struct answers a = { 0 };

	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++) {
		const uint64_t off = va & ((UINT64_C(1) << class_log2[k]) - 1);
		const struct shadow_page *p = &shadow[ctx][k][(va - REGION_VA) >> class_log2[k]];

		if (p->flags == 0)
			continue;
		a.any = true;
		if ((p->flags & want) != want)
			continue;
		if ((p->flags & WEFT_ATC_U) != 0) {
			a.untranslated = true;
			continue;
		}
		a.hit = true;
		a.pa_known |= p->pa + off == pa;
	}
	return a;
}

static void
check_answer(enum weft_atc_result got, uint16_t ctx, uint64_t va, unsigned int want, uint64_t pa,
	bool complete)
{
	const struct answers a = shadow_lookup(ctx, va, want, pa);

	switch (got) {
	case WEFT_ATC_HIT: assert_true(a.hit && a.pa_known); break;
	case WEFT_ATC_UNTRANSLATED: assert_true(a.untranslated); break;
	case WEFT_ATC_DENY:
		assert_true(a.any);
		assert_false(complete && (a.hit || a.untranslated));
		break;
	case WEFT_ATC_MISS: assert_false(complete && a.any); break;
	}
}

/* A run of look-ups, with stretches that stay in one page as a stream does; or a single one. */
static void
check_lookups(struct weft_atc *c, struct weft_rand *r, bool complete)
{
	const unsigned int n = 1 + (unsigned int)weft_rand_below(r, RUN_MAX);
	uint64_t va[RUN_MAX], pa[RUN_MAX] = { 0 };
	uint8_t want[RUN_MAX], result[RUN_MAX];
	uint16_t ctx[RUN_MAX];
	const struct weft_atc_run q = { ctx, va, want, pa, result };

	for (unsigned int i = 0; i < n; i++) {
		if (i == 0 || weft_rand_below(r, 2) == 0) {
			ctx[i] = (uint16_t)weft_rand_below(r, CONTEXTS);
			va[i] = REGION_VA + weft_rand_below(r, 1u << REGION_LOG2);
			want[i] = (uint8_t)(1 + weft_rand_below(r, 3));
		} else {
			ctx[i] = ctx[i - 1];
			va[i] = va[i - 1] ^ weft_rand_below(r, 4096);
			want[i] = weft_rand_below(r, 4) == 0 ? (uint8_t)(1 + weft_rand_below(r, 3))
			                                     : want[i - 1];
		}
	}
	if (n == 1)
		result[0] = (uint8_t)weft_atc_lookup(c, ctx[0], va[0], want[0], &pa[0]);
	else
		weft_atc_lookup_run(c, &q, n);
	for (unsigned int i = 0; i < n; i++)
		check_answer(
			(enum weft_atc_result)result[i], ctx[i], va[i], want[i], pa[i], complete);
}

/* Sizes: every one, the small ones more often, so that pages live long enough to be hit. */
static unsigned int
random_log2(struct weft_rand *r, unsigned int top)
{
	const unsigned int a = (unsigned int)weft_rand_below(r, top - 11);
	const unsigned int b = (unsigned int)weft_rand_below(r, top - 11);

	return 12 + (a < b ? a : b);
}

static void
random_install(struct weft_atc *c, struct weft_rand *r)
{
	unsigned int log2 = random_log2(r, 22);
	const unsigned int flags = (unsigned int)weft_rand_below(r, 8);
	const uint16_t ctx = (uint16_t)weft_rand_below(r, CONTEXTS);
	uint64_t va, pa;
	int n;

	if (weft_rand_below(r, 64) == 0)
		log2 = 30;
	va = REGION_VA + (weft_rand_below(r, 1u << REGION_LOG2) >> log2 << log2);
	pa = weft_rand_below(r, UINT64_C(1) << 52) >> log2 << log2;
	n = weft_atc_install(c, ctx, va, pa, log2, flags);
	if ((flags & RW) == 0) {
		assert_int_equal(n, 0);
		return;
	}
	assert_true(n > 0);
	shadow_install(ctx, va, pa, log2, flags);
}

static void
random_invalidate(struct weft_atc *c, struct weft_rand *r, bool complete)
{
	const unsigned int log2 = random_log2(r, 64);
	const uint16_t ctx = (uint16_t)weft_rand_below(r, CONTEXTS);
	uint64_t va = log2 >= 57 ? 0 : REGION_VA >> log2 << log2;
	int n, overlapped;

	if (log2 < REGION_LOG2)
		va = REGION_VA + (weft_rand_below(r, 1u << REGION_LOG2) >> log2 << log2);
	n = weft_atc_invalidate(c, ctx, va, log2);
	overlapped = shadow_invalidate(ctx, va, va + weft_mask64(log2));
	assert_true(n >= 0 && n <= overlapped);
	if (complete)
		assert_int_equal(n, overlapped);
}

static void
run(const struct weft_atc_cfg *cfg, const char *what, unsigned int steps, bool roomy)
{
	struct weft_atc *c = weft_atc_init(aligned_alloc(64, weft_atc_size(cfg)), cfg);
	const uint64_t *n = weft_atc_counts(c);
	struct weft_rand r;

	memset(shadow, 0, sizeof(shadow));
	weft_test_seed(&r, what);
	for (unsigned int i = 0; i < steps; i++) {
		const uint64_t op = weft_rand_below(&r, 100);
		bool complete;

		if (op < 40)
			random_install(c, &r);
		complete = n[WEFT_ATC_N_EVICTIONS] == 0;
		if (op >= 40 && op < 45)
			random_invalidate(c, &r, complete);
		check_lookups(c, &r, complete);
	}
	assert_int_equal(n[WEFT_ATC_N_EVICTIONS] < 4, roomy);
	assert_true(n[WEFT_ATC_N_HITS] > 0 && n[WEFT_ATC_N_MISSES] > 0);
	assert_true(n[WEFT_ATC_N_DENIALS] > 0 && n[WEFT_ATC_N_UNTRANSLATED] > 0);
	assert_true(n[WEFT_ATC_N_INVALIDATED] > 0);
	free(c);
}

/* Through every kernel that this CPU has. */
static void
run_all(struct weft_atc_cfg cfg, const char *what, unsigned int steps, bool roomy)
{
	for (unsigned int i = 0; i < weft_atc_n_kernels; i++) {
		cfg.kernel = &weft_atc_kernels[i];
		if (weft_kernel_usable(&cfg.kernel->k, weft_cpu_detect()))
			run(&cfg, what, steps, roomy);
		else
			print_message(
				"  left out: this CPU lacks what %s needs\n", cfg.kernel->k.name);
	}
}

WEFT_TEST(cache_with_room_equals_the_map)
{
	/* At most 6144 pages of 4 K in 16384 sets: one that overflows is one run in 10^5. */
	const struct weft_atc_cfg cfg = { { 16384, 2048, 512, 64 }, CONTEXTS, NULL };

	run_all(cfg, "roomy", 20000, true);
}

WEFT_TEST(cache_that_evicts_is_never_stale)
{
	const struct weft_atc_cfg cfg = { { 4, 2, 1, 1 }, CONTEXTS, NULL };

	run_all(cfg, "tight", 50000, false);
}

WEFT_TEST(kernels_are_found_by_name_or_not_at_all)
{
	const uint32_t features = weft_cpu_detect();

	for (unsigned int i = 0; i < weft_atc_n_kernels; i++) {
		const struct weft_atc_kernel *row = &weft_atc_kernels[i];

		if (weft_kernel_usable(&row->k, features))
			assert_ptr_equal(weft_atc_kernel_find(row->k.name, features), row);
		if (row->k.needs != 0)
			assert_null(weft_atc_kernel_find(row->k.name, 0));
	}
	assert_string_equal(weft_atc_kernel_find(NULL, 0)->k.name, "scalar");
	assert_null(weft_atc_kernel_find("nonesuch", features));
}
