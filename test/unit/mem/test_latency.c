/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Histogram against sorted values: at the edges of buckets, and at random over all magnitudes. */

#include "weft_test.h"

#include "weft_latency.h"

static struct weft_latency hist;

WEFT_TEST(empty_histogram_says_zero)
{
	memset(&hist, 0, sizeof(hist));
	assert_int_equal(weft_latency_quantile(&hist, 0), 0);
	assert_int_equal(weft_latency_quantile(&hist, 5000), 0);
	assert_int_equal(weft_latency_quantile(&hist, 10000), 0);
}

/* With a second, larger value the quantile is the bucket's edge and not the maximum. */
static uint64_t
upper_edge(uint64_t v)
{
	memset(&hist, 0, sizeof(hist));
	weft_latency_add(&hist, v);
	weft_latency_add(&hist, UINT64_MAX);
	return weft_latency_quantile(&hist, 5000);
}

WEFT_TEST(buckets_are_exact_to_63_and_then_within_a_32nd)
{
	for (uint64_t v = 0; v < 64; v++)
		assert_int_equal(upper_edge(v), v);
	assert_int_equal(upper_edge(64), 65);
	assert_int_equal(upper_edge(65), 65);
	assert_int_equal(upper_edge(66), 67);
	assert_int_equal(upper_edge(127), 127);
	assert_int_equal(upper_edge(128), 131);
	for (unsigned int k = 6; k < 64; k++) {
		const uint64_t v = UINT64_C(1) << k;

		assert_int_equal(upper_edge(v), v + (v >> 5) - 1);
		assert_int_equal(upper_edge(v - 1), v - 1);
	}
	assert_true(upper_edge(UINT64_MAX) == UINT64_MAX);
}

WEFT_TEST(maximum_is_exact_and_bounds_every_quantile)
{
	memset(&hist, 0, sizeof(hist));
	weft_latency_add(&hist, 1000);
	assert_int_equal(weft_latency_quantile(&hist, 0), 1000);
	assert_int_equal(weft_latency_quantile(&hist, 5000), 1000);
	assert_int_equal(weft_latency_quantile(&hist, 10000), 1000);
	assert_int_equal(hist.max_ns, 1000);
	assert_int_equal(hist.count, 1);
}

WEFT_TEST(quantile_takes_the_rank_rounded_up)
{
	memset(&hist, 0, sizeof(hist));
	for (uint64_t v = 1; v <= 10; v++)
		weft_latency_add(&hist, v);
	assert_int_equal(weft_latency_quantile(&hist, 0), 1);
	assert_int_equal(weft_latency_quantile(&hist, 1000), 1);
	assert_int_equal(weft_latency_quantile(&hist, 1001), 2);
	assert_int_equal(weft_latency_quantile(&hist, 5000), 5);
	assert_int_equal(weft_latency_quantile(&hist, 9000), 9);
	assert_int_equal(weft_latency_quantile(&hist, 9999), 10);
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

WEFT_TEST(quantiles_agree_with_sorted_values)
{
	static uint64_t value[5000];
	static const unsigned int share[] = { 1, 5000, 9900, 9990, 9999, 10000 };
	struct weft_rand r;

	memset(&hist, 0, sizeof(hist));
	weft_test_seed(&r, "latency");
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(value); i++) {
		value[i] = weft_rand_u64(&r) >> weft_rand_below(&r, 64);
		weft_latency_add(&hist, value[i]);
	}
	qsort(value, WEFT_ARRAY_SIZE(value), sizeof(value[0]), by_value);
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(share); i++) {
		const size_t rank = (WEFT_ARRAY_SIZE(value) * share[i] + 9999) / 10000;
		const uint64_t want = value[rank - 1];
		const uint64_t got = weft_latency_quantile(&hist, share[i]);

		assert_true(got >= want && got - want <= want / 32);
	}
}
