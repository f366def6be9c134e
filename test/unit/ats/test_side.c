/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What stands beside the cache: streams among misses, shoot-down with one thread. */

#include "weft_test.h"

#include <string.h>

#include "weft_atc_shootdown.h"
#include "weft_atc_prefetcher.h"

#define PAGE UINT64_C(4096)
#define RW (WEFT_ATC_R | WEFT_ATC_W)

static void *
filled(size_t size)
{
	void *mem = aligned_alloc(64, (size + 63) & ~(size_t)63);

	assert_true(size > 0);
	assert_non_null(mem);
	memset(mem, 0xA5, size); /* init must not rely on zeroed memory */
	return mem;
}

static struct weft_atc_prefetcher *
streams_new(unsigned int streams, unsigned int most)
{
	return weft_atc_prefetcher_init(filled(weft_atc_prefetcher_size(streams)), streams, most);
}

static struct weft_atc *
cache_new(uint16_t contexts)
{
	const struct weft_atc_cfg cfg = { { 64, 0, 8, 0 }, contexts, NULL };

	return weft_atc_init(filled(weft_atc_size(&cfg)), &cfg);
}

static enum weft_atc_result
look(struct weft_atc *c, uint16_t ctx, uint64_t va)
{
	uint64_t pa;

	return weft_atc_lookup(c, ctx, va, WEFT_ATC_R, &pa);
}

static void
stream_that_goes_on_is_asked_for_more(void **state)
{
	struct weft_atc_prefetcher *s = streams_new(64, 8);
	const unsigned int expected[] = { 1, 2, 4, 8, 8, 8 };
	uint64_t va = 16 * PAGE + 100;

	(void)state;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(expected); i++) {
		assert_int_equal(weft_atc_prefetcher_miss(s, 1, va, 12), expected[i]);
		va += expected[i] * PAGE;
	}
	/* Not where it ended, another context, backwards: each is a beginning. */
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, va + PAGE, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 2, va, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, 15 * PAGE, 12), 1);
	assert_int_equal(weft_atc_prefetcher_miss(s, 1, va, 12), 8);
	free(s);
}

static void
streams_have_limits(void **state)
{
	struct weft_atc_prefetcher *s;

	(void)state;
	assert_int_equal(weft_atc_prefetcher_size(3), 0);
	assert_int_equal(weft_atc_prefetcher_size(2), 0);
	assert_int_equal(weft_atc_prefetcher_size(131072), 0);
	s = streams_new(64, 1);
	for (unsigned int i = 0; i < 100; i++)
		assert_int_equal(weft_atc_prefetcher_miss(s, 0, i * PAGE, 12), 1);
	assert_null(weft_atc_prefetcher_init(s, 64, 0));
	assert_null(weft_atc_prefetcher_init(s, 64, WEFT_ATC_PREFETCH_MAX + 1));
	assert_null(weft_atc_prefetcher_init((uint8_t *)s + 8, 64, 1));
	free(s);
	s = streams_new(64, WEFT_ATC_PREFETCH_MAX);
	for (unsigned int i = 0, n = 0; i < 1000; i += n) {
		n = weft_atc_prefetcher_miss(s, 0, i * PAGE, 12);
		assert_in_range(n, 1, WEFT_ATC_PREFETCH_MAX);
	}
	free(s);
}

/* 16 streams go on although there are 8 random misses between two of theirs. */
static void
random_misses_do_not_push_streams_out(void **state)
{
	struct weft_atc_prefetcher *s = streams_new(256, 4);
	uint64_t at[16];
	struct weft_rand r;
	unsigned int broken = 0;

	(void)state;
	weft_test_seed(&r, "streams");
	for (unsigned int i = 0; i < 16; i++)
		at[i] = (uint64_t)i << 34;
	for (unsigned int turn = 0; turn < 2000; turn++) {
		const unsigned int i = turn % 16;
		const unsigned int n = weft_atc_prefetcher_miss(s, 0, at[i], 12);

		broken += turn >= 64 && n != 4;
		at[i] += n * PAGE;
		for (unsigned int k = 0; k < 8; k++)
			weft_atc_prefetcher_miss(s, 1, weft_rand_below(&r, 1u << 30) * PAGE, 12);
	}
	assert_true(broken < 200);
	free(s);
}

/* Fetched ahead goes first: a set of nothing but used pages keeps them all. */
static void
what_is_ahead_makes_room_before_what_was_used(void **state)
{
	const struct weft_atc_cfg cfg = { { 1, 0, 0, 0 }, 1, NULL };
	struct weft_atc *c = weft_atc_init(filled(weft_atc_size(&cfg)), &cfg);

	(void)state;
	for (unsigned int i = 0; i < 7; i++)
		weft_atc_install(c, 0, i * PAGE, 0, 12, RW);
	weft_atc_install(c, 0, 7 * PAGE, 0, 12, RW | WEFT_ATC_PREFETCHED);
	weft_atc_install(c, 0, 8 * PAGE, 0, 12, RW);
	for (unsigned int i = 0; i < 9; i++)
		assert_int_equal(look(c, 0, i * PAGE), i == 7 ? WEFT_ATC_MISS : WEFT_ATC_HIT);
	free(c);
}

static void
count_mark(void *arg, const struct weft_atc_inv *order)
{
	unsigned int *n = arg;

	assert_in_range(order->log2, 12, 64);
	++*n;
}

static void
order_is_done_when_every_worker_online_says_so(void **state)
{
	struct weft_atc_shootdown *m =
		weft_atc_shootdown_init(filled(weft_atc_shootdown_size(3, 4)), 3, 4);
	const struct weft_atc_inv page = { 5 * PAGE, 1, 12 };
	struct weft_atc *c[2] = { cache_new(2), cache_new(2) };
	unsigned int marks = 0;
	uint64_t number, at[2];

	(void)state;
	/* Nobody is online: nothing to wait for. */
	number = weft_atc_shootdown_post(m, &page);
	assert_int_equal(number, 1);
	assert_true(weft_atc_shootdown_is_done(m, number));
	for (unsigned int w = 0; w < 2; w++) {
		weft_atc_shootdown_online(m, w, c[w], NULL, NULL);
		weft_atc_install(c[w], 1, 5 * PAGE, 0, 12, RW);
		weft_atc_install(c[w], 0, 5 * PAGE, 0, 12, RW);
	}
	number = weft_atc_shootdown_post(m, &page);
	for (unsigned int w = 0; w < 2; w++) {
		assert_int_equal(look(c[w], 1, 5 * PAGE), WEFT_ATC_HIT);
		at[w] = weft_atc_shootdown_poll(m, w, c[w], count_mark, &marks);
		assert_int_equal(at[w], number);
		assert_int_equal(look(c[w], 1, 5 * PAGE), WEFT_ATC_MISS);
		assert_int_equal(look(c[w], 0, 5 * PAGE), WEFT_ATC_HIT);
		assert_false(weft_atc_shootdown_is_done(m, number));
	}
	assert_int_equal(marks, 2);
	weft_atc_shootdown_done(m, 0, at[0]);
	assert_false(weft_atc_shootdown_is_done(m, number));
	/* The other one leaves: it is not waited for. Back again it has forgotten all. */
	weft_atc_shootdown_offline(m, 1);
	assert_true(weft_atc_shootdown_is_done(m, number));
	weft_atc_shootdown_online(m, 1, c[1], count_mark, &marks);
	assert_int_equal(marks, 3);
	assert_int_equal(look(c[1], 0, 5 * PAGE), WEFT_ATC_MISS);
	assert_true(weft_atc_shootdown_is_done(m, number));
	free(c[0]);
	free(c[1]);
	free(m);
}

static void
full_ring_takes_no_invalidation_until_the_slowest_is_done(void **state)
{
	struct weft_atc_shootdown *m =
		weft_atc_shootdown_init(filled(weft_atc_shootdown_size(2, 4)), 2, 4);
	const struct weft_atc_inv order = { 0, 0, 12 };
	struct weft_atc *c = cache_new(1);
	uint64_t newest = 0;

	(void)state;
	for (unsigned int w = 0; w < 2; w++)
		weft_atc_shootdown_online(m, w, c, NULL, NULL);
	for (uint64_t round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < 4; i++) {
			newest++;
			assert_int_equal(weft_atc_shootdown_post(m, &order), newest);
		}
		assert_int_equal(weft_atc_shootdown_post(m, &order), 0);
		weft_atc_shootdown_done(m, 0, weft_atc_shootdown_poll(m, 0, c, NULL, NULL));
		assert_int_equal(weft_atc_shootdown_post(m, &order), 0);
		weft_atc_shootdown_done(m, 1, weft_atc_shootdown_poll(m, 1, c, NULL, NULL));
		assert_true(weft_atc_shootdown_is_done(m, newest));
	}
	free(c);
	free(m);
}

static void
order_for_all_contexts_reaches_all(void **state)
{
	struct weft_atc_shootdown *m =
		weft_atc_shootdown_init(filled(weft_atc_shootdown_size(1, 4)), 1, 4);
	const struct weft_atc_inv page = { 3 * PAGE, WEFT_ATC_ALL_CONTEXTS, 12 };
	const struct weft_atc_inv foreign = { 4 * PAGE, 9, 12 };
	struct weft_atc *c = cache_new(3);

	(void)state;
	weft_atc_shootdown_online(m, 0, c, NULL, NULL);
	for (uint16_t ctx = 0; ctx < 3; ctx++) {
		weft_atc_install(c, ctx, 3 * PAGE, 0, 12, RW);
		weft_atc_install(c, ctx, 4 * PAGE, 0, 12, RW);
	}
	weft_atc_shootdown_post(m, &page);
	weft_atc_shootdown_post(m, &foreign);
	weft_atc_shootdown_poll(m, 0, c, NULL, NULL);
	for (uint16_t ctx = 0; ctx < 3; ctx++) {
		assert_int_equal(look(c, ctx, 3 * PAGE), WEFT_ATC_MISS);
		assert_int_equal(look(c, ctx, 4 * PAGE), WEFT_ATC_HIT);
	}
	free(c);
	free(m);
}

static void
shootdown_of_bad_numbers_is_refused(void **state)
{
	static _Alignas(64) uint8_t mem[1024];

	(void)state;
	assert_int_equal(weft_atc_shootdown_size(0, 4), 0);
	assert_int_equal(weft_atc_shootdown_size(WEFT_ATC_SHOOTDOWN_WORKERS_MAX + 1, 4), 0);
	assert_int_equal(weft_atc_shootdown_size(1, 1), 0);
	assert_int_equal(weft_atc_shootdown_size(1, 6), 0);
	assert_int_equal(weft_atc_shootdown_size(1, 131072), 0);
	assert_in_range(weft_atc_shootdown_size(1, 2), 1, sizeof(mem));
	assert_null(weft_atc_shootdown_init(mem + 8, 1, 2));
	assert_null(weft_atc_shootdown_init(mem, 1, 3));
	assert_non_null(weft_atc_shootdown_init(mem, 1, 2));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stream_that_goes_on_is_asked_for_more),
		cmocka_unit_test(streams_have_limits),
		cmocka_unit_test(random_misses_do_not_push_streams_out),
		cmocka_unit_test(what_is_ahead_makes_room_before_what_was_used),
		cmocka_unit_test(order_is_done_when_every_worker_online_says_so),
		cmocka_unit_test(full_ring_takes_no_invalidation_until_the_slowest_is_done),
		cmocka_unit_test(order_for_all_contexts_reaches_all),
		cmocka_unit_test(shootdown_of_bad_numbers_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
