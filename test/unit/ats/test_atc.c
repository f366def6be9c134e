/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* ATC rules one by one (ats.md sections 6 and 7.1); test_shadow.c tries them all together. */

#include "weft_test.h"

#include "weft_atc.h"
#include "weft_guard.h"
#include "weft_telem.h"

#define K (UINT64_C(1) << 10)
#define M (UINT64_C(1) << 20)
#define G (UINT64_C(1) << 30)
#define RW (WEFT_ATC_R | WEFT_ATC_W)

static const struct weft_atc_cfg cfg_all = { { 64, 64, 64, 64 }, 8, NULL };

static struct weft_atc *
atc_new(const struct weft_atc_cfg *cfg)
{
	const size_t size = weft_atc_size(cfg);
	void *mem;

	assert_true(size > 0 && size % 64 == 0);
	mem = aligned_alloc(64, size);
	assert_non_null(mem);
	memset(mem, 0xA5, size); /* init must not rely on zeroed memory */
	return weft_atc_init(mem, cfg);
}

static void
expect_hit(struct weft_atc *c, uint16_t ctx, uint64_t va, uint64_t pa)
{
	uint64_t got = 0;

	assert_int_equal(weft_atc_lookup(c, ctx, va, WEFT_ATC_R, &got), WEFT_ATC_HIT);
	assert_int_equal(got, pa);
}

static void
expect(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int want, enum weft_atc_result r)
{
	uint64_t pa = 0x5A5A;

	assert_int_equal(weft_atc_lookup(c, ctx, va, want, &pa), r);
	if (r != WEFT_ATC_HIT)
		assert_int_equal(pa, 0x5A5A);
}

WEFT_TEST(config_out_of_range_is_refused)
{
	static const struct weft_atc_cfg bad[] = {
		{ { 64, 0, 0, 0 }, 0, NULL },
		{ { 3, 0, 0, 0 }, 1, NULL },
		{ { 0, 0, 0, 1u << 21 }, 1, NULL },
	};
	static _Alignas(64) uint8_t mem[4096];
	const struct weft_atc_cfg least = { { 1, 0, 0, 0 }, 1, NULL };

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(bad); i++) {
		assert_int_equal(weft_atc_size(&bad[i]), 0);
		assert_null(weft_atc_init(mem, &bad[i]));
	}
	assert_true(weft_atc_size(&least) <= sizeof(mem));
	assert_null(weft_atc_init(mem + 8, &least));
	assert_non_null(weft_atc_init(mem, &least));
}

/* The last context ends the memory: what is asked for must do, and no more be touched. */
WEFT_TEST(memory_asked_for_is_enough)
{
	const struct weft_atc_cfg cfg = { { 1, 2, 0, 4 }, 16, NULL };
	struct weft_guard g;
	struct weft_atc *c;

	weft_guard_open(&g, weft_atc_size(&cfg));
	c = weft_atc_init(weft_guard_last(&g, weft_atc_size(&cfg)), &cfg);
	assert_non_null(c);
	for (uint64_t p = 0; p < 64; p++)
		assert_int_equal(weft_atc_install(c, 15, p * G, p * G, 30, RW), 1);
	expect_hit(c, 15, 63 * G, 63 * G);
	expect(c, 16, 63 * G, WEFT_ATC_R, WEFT_ATC_MISS);
	assert_int_equal(weft_atc_install(c, 16, 0, 0, 30, RW), -EINVAL);
	assert_int_equal(weft_atc_invalidate(c, 16, 0, 30), -EINVAL);
	assert_int_equal(weft_atc_invalidate_context(c, 16), -EINVAL);
	assert_true(weft_atc_invalidate_context(c, 15) > 0);
	weft_guard_close(&g);
}

WEFT_TEST(empty_cache_misses_even_at_zero)
{
	struct weft_atc *c = atc_new(&cfg_all);

	expect(c, 0, 0, WEFT_ATC_R, WEFT_ATC_MISS);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 12, RW), 1);
	expect_hit(c, 0, 0, 0);
	free(c);
}

WEFT_TEST(each_size_translates_its_first_and_last_byte)
{
	static const unsigned int log2[WEFT_ATC_CLASSES] = { 12, 16, 21, 30 };
	struct weft_atc *c = atc_new(&cfg_all);

	for (unsigned int k = 0; k < WEFT_ATC_CLASSES; k++) {
		const uint64_t size = UINT64_C(1) << log2[k];
		const uint64_t va = (UINT64_C(1) << 40 << k) + 8 * G;
		const uint64_t pa = (UINT64_C(1) << 36 << k) + 4 * G;

		assert_int_equal(weft_atc_class_log2((enum weft_atc_class)k), log2[k]);
		assert_int_equal(weft_atc_install(c, 1, va, pa, log2[k], RW), 1);
		expect_hit(c, 1, va, pa);
		expect_hit(c, 1, va + size - 1, pa + size - 1);
		expect(c, 1, va - 1, WEFT_ATC_R, WEFT_ATC_MISS);
		expect(c, 1, va + size, WEFT_ATC_R, WEFT_ATC_MISS);
	}
	free(c);
}

WEFT_TEST(odd_sizes_become_several_entries)
{
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 0, 64 * M, 128 * M, 15, RW), 8); /* 32 K = 8 x 4 K */
	assert_int_equal(weft_atc_install(c, 0, 4 * M, 8 * M, 20, RW), 16); /* 1 M = 16 x 64 K */
	assert_int_equal(weft_atc_install(c, 0, 64 * G, 0, 36, RW), 64);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 37, RW), 0); /* 128 x 1 G: too many */
	expect_hit(c, 0, 64 * M + 32 * K - 1, 128 * M + 32 * K - 1);
	expect_hit(c, 0, 5 * M - 1, 9 * M - 1);
	expect_hit(c, 0, 128 * G - 1, 64 * G - 1);
	expect(c, 0, 64 * M + 32 * K, WEFT_ATC_R, WEFT_ATC_MISS);
	free(c);
}

WEFT_TEST(class_without_sets_is_left_to_the_smaller_ones)
{
	const struct weft_atc_cfg cfg = { { 0, 64, 0, 0 }, 1, NULL };
	struct weft_atc *c = atc_new(&cfg);

	assert_int_equal(weft_atc_install(c, 0, 0, 0, 12, RW), 0); /* nothing fits 4 K */
	assert_int_equal(weft_atc_install(c, 0, 2 * M, 4 * M, 21, RW), 32);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 30, RW), 0);
	expect_hit(c, 0, 4 * M - 1, 6 * M - 1);
	assert_int_equal(weft_atc_invalidate(c, 0, 0, 64), 32);
	free(c);
}

WEFT_TEST(highest_addresses_work)
{
	const uint64_t va = (UINT64_C(1) << 57) - 4 * K;
	const uint64_t pa = (UINT64_C(1) << 52) - 4 * K;
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 7, va, pa, 12, RW), 1);
	expect_hit(c, 7, va + 4095, pa + 4095);
	/* The next bit must not fold onto a page that is there. */
	expect(c, 7, va + (UINT64_C(1) << 57), WEFT_ATC_R, WEFT_ATC_MISS);
	assert_int_equal(weft_atc_invalidate(c, 7, UINT64_MAX << 57, 57), 0);
	assert_int_equal(weft_atc_invalidate(c, 7, va | UINT64_C(1) << 57, 12), 0);
	expect_hit(c, 7, va, pa);
	assert_int_equal(weft_atc_invalidate(c, 7, 0, 57), 1);
	expect(c, 7, va, WEFT_ATC_R, WEFT_ATC_MISS);
	free(c);
}

WEFT_TEST(bad_arguments_change_nothing)
{
	const uint64_t va_end = UINT64_C(1) << 57, pa_end = UINT64_C(1) << 52;
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 8, 0, 0, 12, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 11, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 65, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 12, RW | 16), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 4 * K, 8 * K, 13, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 8 * K, 4 * K, 13, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, va_end, 0, 12, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 0, pa_end, 12, RW), -EINVAL);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 64, RW), 0);
	assert_int_equal(weft_atc_invalidate(c, 8, 0, 12), -EINVAL);
	assert_int_equal(weft_atc_invalidate(c, 0, 0, 11), -EINVAL);
	assert_int_equal(weft_atc_invalidate(c, 0, 0, 65), -EINVAL);
	assert_int_equal(weft_atc_invalidate(c, 0, 4 * K, 13), -EINVAL);
	assert_int_equal(weft_atc_invalidate(c, 0, 4 * K, 64), -EINVAL);
	assert_int_equal(weft_atc_invalidate_context(c, 8), -EINVAL);
	expect(c, 8, 0, WEFT_ATC_R, WEFT_ATC_MISS);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_INSTALLS], 0);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_INVALIDATED], 0);
	free(c);
}

WEFT_TEST(permissions_are_kept)
{
	struct weft_atc *c = atc_new(&cfg_all);

	for (unsigned int flags = 0; flags < 8; flags++) {
		const uint64_t va = flags * 4 * K;
		const bool cached = (flags & RW) != 0;

		assert_int_equal(weft_atc_install(c, 0, va, va, 12, flags), cached);
		for (unsigned int want = WEFT_ATC_R; want <= RW; want++) {
			enum weft_atc_result r = WEFT_ATC_HIT;

			if (!cached)
				r = WEFT_ATC_MISS;
			else if ((flags & want) != want)
				r = WEFT_ATC_DENY;
			else if ((flags & WEFT_ATC_U) != 0)
				r = WEFT_ATC_UNTRANSLATED;
			expect(c, 0, va, want, r);
		}
	}
	free(c);
}

/* Rights may grow without an invalidation, and the new answer may have another page size. */
WEFT_TEST(newer_larger_page_overrules_a_refusal)
{
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 0, 2 * M, 2 * M, 12, WEFT_ATC_R), 1);
	expect(c, 0, 2 * M, WEFT_ATC_W, WEFT_ATC_DENY);
	assert_int_equal(weft_atc_install(c, 0, 2 * M, 2 * M, 21, RW), 1);
	expect(c, 0, 2 * M, WEFT_ATC_W, WEFT_ATC_HIT);
	free(c);
}

WEFT_TEST(second_answer_replaces_the_first)
{
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 0, 0, 4 * K, 12, WEFT_ATC_R), 1);
	assert_int_equal(weft_atc_install(c, 0, 0, 8 * K, 12, RW), 1);
	expect_hit(c, 0, 0, 8 * K);
	assert_int_equal(weft_atc_invalidate(c, 0, 0, 12), 1);
	expect(c, 0, 0, WEFT_ATC_R, WEFT_ATC_MISS);
	free(c);
}

WEFT_TEST(small_invalidation_removes_the_large_page_around_it)
{
	struct weft_atc *c = atc_new(&cfg_all);

	assert_int_equal(weft_atc_install(c, 0, 2 * M, 0, 21, RW), 1);
	assert_int_equal(weft_atc_install(c, 0, 0, 0, 30, RW), 1);
	assert_int_equal(weft_atc_invalidate(c, 0, 3 * M, 12), 2);
	expect(c, 0, 2 * M, WEFT_ATC_R, WEFT_ATC_MISS);
	free(c);
}

WEFT_TEST(contexts_do_not_see_each_other)
{
	struct weft_atc *c = atc_new(&cfg_all);

	for (uint16_t ctx = 0; ctx < 8; ctx++)
		if (ctx != 3)
			assert_int_equal(weft_atc_install(c, ctx, 0, ctx * 4 * K, 12, RW), 1);
	expect(c, 3, 0, WEFT_ATC_R, WEFT_ATC_MISS);
	assert_int_equal(weft_atc_invalidate(c, 1, 0, 12), 1);
	assert_int_equal(weft_atc_invalidate_context(c, 2), 1);
	assert_int_equal(weft_atc_invalidate(c, 4, 0, 64), 1);
	for (uint16_t ctx = 0; ctx < 8; ctx++) {
		if (ctx >= 1 && ctx <= 4)
			expect(c, ctx, 0, WEFT_ATC_R, WEFT_ATC_MISS);
		else
			expect_hit(c, ctx, 0, ctx * 4 * K);
	}
	free(c);
}

WEFT_TEST(largest_context_number_fits_the_key)
{
	const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, UINT16_MAX, NULL };
	struct weft_atc *c = atc_new(&cfg);

	assert_int_equal(weft_atc_install(c, UINT16_MAX - 1, 4 * K, 0, 12, RW), 1);
	expect_hit(c, UINT16_MAX - 1, 4 * K, 0);
	expect(c, UINT16_MAX, 4 * K, WEFT_ATC_R, WEFT_ATC_MISS);
	free(c);
}

WEFT_TEST(every_bit_of_the_context_counts)
{
	const struct weft_atc_cfg cfg = { { 64, 0, 0, 0 }, UINT16_MAX, NULL };
	struct weft_atc *c = atc_new(&cfg);

	assert_int_equal(weft_atc_install(c, 0, 4 * K, 0, 12, RW), 1);
	for (unsigned int bit = 0; bit < 16; bit++)
		assert_int_equal(weft_atc_install(c, (uint16_t)(1u << bit), 4 * K,
					 (bit + 1) * 4 * K, 12, RW),
			1);
	for (unsigned int bit = 0; bit < 16; bit++) {
		expect_hit(c, (uint16_t)(1u << bit), 4 * K, (bit + 1) * 4 * K);
		assert_int_equal(weft_atc_invalidate(c, (uint16_t)(1u << bit), 4 * K, 12), 1);
		expect_hit(c, 0, 4 * K, 0);
	}
	free(c);
}

/* More whole-context invalidations than a generation field can tell apart. */
WEFT_TEST(generation_wrap_brings_nothing_back)
{
	struct weft_atc *c = atc_new(&cfg_all);

	for (unsigned int i = 0; i < 1u << 17; i++) {
		/* A page of its own at powers of two and one before: wraps of 1 to 17 bits. */
		if ((i & (i - 1)) == 0 || (i & (i + 1)) == 0)
			assert_int_equal(weft_atc_install(c, 0, i * 4 * K, 0, 12, RW), 1);
		assert_int_equal(weft_atc_install(c, 1, 0, 8 * K, 12, RW), 1);
		weft_atc_invalidate_context(c, 0);
		/* A live entry, or the cache need not look at the dead ones at all. */
		assert_int_equal(weft_atc_install(c, 0, UINT64_C(1) << 56, 0, 12, RW), 1);
		for (unsigned int bit = 0; bit < 17; bit++) {
			expect(c, 0, (UINT64_C(1) << bit) * 4 * K, WEFT_ATC_R, WEFT_ATC_MISS);
			expect(c, 0, ((UINT64_C(1) << bit) - 1) * 4 * K, WEFT_ATC_R, WEFT_ATC_MISS);
		}
		expect_hit(c, 0, UINT64_C(1) << 56, 0); /* no generation is a dead one */
		expect_hit(c, 1, 0, 8 * K);
	}
	assert_int_equal(weft_atc_invalidate(c, 0, 0, 64), 1);
	assert_int_equal(weft_atc_invalidate(c, 1, 0, 64), 1);
	free(c);
}

WEFT_TEST(set_keeps_eight_and_gives_up_the_unused)
{
	const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, 1, NULL };
	struct weft_atc *c = atc_new(&cfg);
	uint64_t pa;
	unsigned int kept = 0;

	for (uint64_t p = 0; p < 8; p++)
		weft_atc_install(c, 0, p * 4 * K, 0, 12, RW);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_EVICTIONS], 0);
	/* All are marked; this one makes the hand go round once and take page 0. */
	weft_atc_install(c, 0, 8 * 4 * K, 0, 12, RW);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_EVICTIONS], 1);
	expect(c, 0, 0, WEFT_ATC_R, WEFT_ATC_MISS);
	/* Use all of the older ones but page 5: it must be the next to go. */
	for (uint64_t p = 1; p < 8; p++)
		if (p != 5)
			expect_hit(c, 0, p * 4 * K, 0);
	weft_atc_install(c, 0, 9 * 4 * K, 0, 12, RW);
	expect(c, 0, 5 * 4 * K, WEFT_ATC_R, WEFT_ATC_MISS);
	/* Pages 6 and 7 are in use and 8 is new: the hand passes them and takes page 1. */
	weft_atc_install(c, 0, 10 * 4 * K, 0, 12, RW);
	expect(c, 0, 1 * 4 * K, WEFT_ATC_R, WEFT_ATC_MISS);
	expect_hit(c, 0, 8 * 4 * K, 0);
	for (uint64_t p = 11; p < 1000; p++)
		weft_atc_install(c, 0, p * 4 * K, 0, 12, RW);
	for (uint64_t p = 0; p < 1000; p++)
		kept += weft_atc_lookup(c, 0, p * 4 * K, WEFT_ATC_R, &pa) == WEFT_ATC_HIT;
	assert_int_equal(kept, 8);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_EVICTIONS], 992);
	free(c);
}

WEFT_TEST(dead_entries_make_room_before_live_ones)
{
	const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, 2, NULL };
	struct weft_atc *c = atc_new(&cfg);

	for (uint64_t p = 0; p < 8; p++)
		weft_atc_install(c, p % 2, p * 4 * K, 0, 12, RW);
	assert_int_equal(weft_atc_invalidate_context(c, 1), 4);
	for (uint64_t p = 8; p < 12; p++)
		weft_atc_install(c, 0, p * 4 * K, 0, 12, RW);
	assert_int_equal(weft_atc_counts(c)[WEFT_ATC_N_EVICTIONS], 0);
	for (uint64_t p = 0; p < 8; p += 2)
		expect_hit(c, 0, p * 4 * K, 0);
	free(c);
}

/* ats.md section 7.1: streams a power of two apart must not all meet in one set. */
WEFT_TEST(strided_streams_share_the_sets)
{
	const struct weft_atc_cfg cfg = { { 8, 0, 8, 0 }, 1, NULL };
	uint64_t pa;

	for (unsigned int k = 12; k <= 21; k += 9) {
		for (unsigned int stride = k; stride <= 52; stride++) {
			struct weft_atc *c = atc_new(&cfg);
			unsigned int kept = 0;

			for (uint64_t s = 0; s < 16; s++)
				assert_int_equal(weft_atc_install(c, 0, s << stride, 0, k, RW), 1);
			for (uint64_t s = 0; s < 16; s++)
				kept += weft_atc_lookup(c, 0, s << stride, WEFT_ATC_R, &pa) ==
				        WEFT_ATC_HIT;
			assert_int_equal(kept, 16);
			free(c);
		}
	}
}

WEFT_TEST(every_event_has_its_counter)
{
	struct weft_atc *c = atc_new(&cfg_all);
	const uint64_t *n = weft_atc_counts(c);
	const uint64_t va[4] = { 0, 4 * K, 8 * K, 12 * K };
	const uint8_t want[4] = { WEFT_ATC_W, WEFT_ATC_W, WEFT_ATC_W, WEFT_ATC_W };
	const uint16_t ctx[4] = { 0 };
	uint64_t pa[4];
	uint8_t r[4];
	const struct weft_atc_run q = { ctx, va, want, pa, r };

	weft_atc_install(c, 0, 0, 16 * K, 12, RW);
	weft_atc_install(c, 0, 4 * K, 0, 12, WEFT_ATC_R);
	weft_atc_install(c, 0, 8 * K, 0, 12, RW | WEFT_ATC_U);
	weft_atc_lookup_run(c, &q, 4);
	assert_int_equal(r[0], WEFT_ATC_HIT);
	assert_int_equal(pa[0], 16 * K);
	assert_int_equal(r[1], WEFT_ATC_DENY);
	assert_int_equal(r[2], WEFT_ATC_UNTRANSLATED);
	assert_int_equal(r[3], WEFT_ATC_MISS);
	weft_atc_invalidate(c, 0, 0, 13);
	for (unsigned int i = 0; i < WEFT_ATC_N_COUNTERS; i++) {
		static const uint64_t expected[] = { 1, 1, 1, 1, 3, 0, 2 };
		const struct weft_counter *row = &weft_atc_counters[i];

		assert_int_equal(n[i], expected[i]);
		assert_true(row->name != NULL && row->unit != NULL && row->help != NULL);
	}
	free(c);
}
