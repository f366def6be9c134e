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

WEFT_TEST(a_walk_gives_every_bucket_once_and_its_edges)
{
	static const uint64_t value[] = { 0, 31, 66, 67, 1000, UINT64_MAX };
	static const struct weft_latency_row want[] = { { 0, 0, 1 }, { 31, 31, 1 }, { 66, 67, 2 },
		{ 992, 1007, 1 }, { UINT64_MAX - (UINT64_MAX >> 6), UINT64_MAX, 1 } };
	struct weft_latency_row row;
	unsigned int at = 0;

	memset(&hist, 0, sizeof(hist));
	assert_false(weft_latency_walk(&hist, &at, &row));
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(value); i++)
		weft_latency_add(&hist, value[i]);
	at = 0;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(want); i++) {
		assert_true(weft_latency_walk(&hist, &at, &row));
		assert_true(row.least_ns == want[i].least_ns && row.most_ns == want[i].most_ns);
		assert_int_equal(row.n, want[i].n);
	}
	assert_false(weft_latency_walk(&hist, &at, &row));
}

WEFT_TEST(no_row_ends_above_the_maximum)
{
	struct weft_latency_row row;
	unsigned int at = 0;

	memset(&hist, 0, sizeof(hist));
	weft_latency_add(&hist, 1000);
	assert_true(weft_latency_walk(&hist, &at, &row));
	assert_int_equal(row.most_ns, 1000);
}

WEFT_TEST(merged_histograms_are_one_of_all_values)
{
	static struct weft_latency a, b;
	struct weft_rand r;
	double sum = 0;

	memset(&hist, 0, sizeof(hist));
	assert_true(weft_latency_mean(&hist) == 0);
	weft_test_seed(&r, __func__);
	for (unsigned int i = 0; i < 1000; i++) {
		const uint64_t v = weft_rand_u64(&r) >> (20 + weft_rand_below(&r, 40));

		weft_latency_add(i % 3 == 0 ? &a : &b, v);
		weft_latency_add(&hist, v);
		sum += (double)v;
	}
	weft_latency_merge(&a, &b);
	assert_memory_equal(&a, &hist, sizeof(a));
	assert_true(weft_latency_mean(&a) > sum / 1000 * 63 / 64 &&
		    weft_latency_mean(&a) < sum / 1000 * 65 / 64);
}
