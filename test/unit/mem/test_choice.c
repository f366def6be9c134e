/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Choices against their definitions: how often each place comes, and that it is one of those there
 * are.
 */

#include "weft_test.h"

#include <math.h>

#include "weft_choice.h"

#define DRAWS 60000
#define PLACES_MAX 1000
#define SIGMAS 6.5 /* a place in ten thousand million is so far off by chance */

static uint64_t seen[PLACES_MAX];

static void
draw(enum weft_choice_pattern pattern, uint64_t n, double theta, struct weft_rand *r)
{
	struct weft_choice c;

	memset(seen, 0, sizeof(seen));
	weft_choice_init(&c, pattern, n, theta);
	for (unsigned int i = 0; i < DRAWS; i++) {
		const uint64_t place = weft_choice_next(&c, r);

		assert_true(place < n);
		seen[place]++;
	}
}

static void
judge(uint64_t count, double share)
{
	const double mean = DRAWS * share;
	const double spread = sqrt(mean * (1 - share)) + 1;

	assert_true(fabs((double)count - mean) <= SIGMAS * spread);
}

WEFT_TEST(random_places_come_alike)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (uint64_t n = 1; n <= PLACES_MAX; n = n * 7 + 1) {
		draw(WEFT_CHOICE_RANDOM, n, 0, &r);
		for (uint64_t i = 0; i < n; i++)
			judge(seen[i], 1 / (double)n);
	}
}

WEFT_TEST(sequential_places_come_in_their_order_and_again)
{
	struct weft_rand r = { 0 };
	struct weft_choice c;

	for (uint64_t n = 1; n <= 3; n++) {
		weft_choice_init(&c, WEFT_CHOICE_SEQUENTIAL, n, 0);
		for (uint64_t i = 0; i < 3 * n; i++)
			assert_int_equal(weft_choice_next(&c, &r), i % n);
	}
}

WEFT_TEST(zipf_places_come_as_the_law_says)
{
	static const double thetas[] = { 0.01, 0.5, 0.99, 1, 1.000000001, 1.2, 3, 8 };
	static const uint64_t places[] = { 1, 2, 3, 10, PLACES_MAX };
	struct weft_choice c;
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (unsigned int t = 0; t < WEFT_ARRAY_SIZE(thetas); t++)
		for (unsigned int p = 0; p < WEFT_ARRAY_SIZE(places); p++) {
			const uint64_t n = places[p];
			double sum = 0;

			weft_choice_init(&c, WEFT_CHOICE_ZIPF, n, thetas[t]);
			for (uint64_t k = 1; k <= n; k++)
				sum += pow((double)k, -thetas[t]);
			draw(WEFT_CHOICE_ZIPF, n, thetas[t], &r);
			for (uint64_t k = 1; k <= n; k++)
				judge(seen[(k - 1) * c.stride % n],
					pow((double)k, -thetas[t]) / sum);
		}
}

/* So few that each comes: no two ranks have one place. */
WEFT_TEST(zipf_leaves_no_place_out)
{
	struct weft_rand r;

	weft_test_seed(&r, __func__);
	for (uint64_t n = 1; n <= 300; n += 1 + n / 8) {
		uint64_t places = 0;

		draw(WEFT_CHOICE_ZIPF, n, 0.2, &r);
		for (uint64_t i = 0; i < n; i++)
			places += seen[i] != 0;
		assert_int_equal(places, n);
	}
}

/* 2^53 places, for which nobody could keep a table; the first ranks lie apart. */
WEFT_TEST(zipf_of_very_many_places)
{
	const uint64_t n = UINT64_C(1) << 53;
	unsigned int first = 0;
	struct weft_choice c;
	struct weft_rand r;
	double zeta = 0;

	weft_test_seed(&r, __func__);
	weft_choice_init(&c, WEFT_CHOICE_ZIPF, n, 1.5);
	for (unsigned int k = 1; k < 1000000; k++)
		zeta += pow(k, -1.5);
	zeta += 2 / sqrt(1000000.0 - 0.5); /* the integral of the rest */
	for (unsigned int i = 0; i < DRAWS; i++) {
		const uint64_t place = weft_choice_next(&c, &r);

		assert_true(place < n);
		first += place == 0;
		assert_true(place == 0 || place > n / 1000000);
	}
	judge(first, 1 / zeta);
}
