/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Places by Zipf's law, by rejection-inversion (W. Hoermann, G. Derflinger, "Rejection-inversion to
 * generate variates from monotone discrete distributions", 1996): exact for every theta and number
 * of places, and nothing is summed up first. h(x) = x^-theta, H its integral from 1. A point of H
 * between `first` and `last` is drawn evenly; the rank nearest to where H comes to it is taken at
 * once if it is within `sure`, else if the point is under its bar.
 */

#include "weft_choice.h"

#include <math.h>

#define SMALL 1e-8
#define GOLDEN 0.6180339887498949 /* of all places: ranks that follow each other lie so far apart */

/* (e^x - 1) / x and log(1 + x) / x, with their limits at 0. */
static double
choice_expm1_of(double x)
{
	return fabs(x) > SMALL ? expm1(x) / x : 1 + x / 2;
}

static double
choice_log1p_of(double x)
{
	return fabs(x) > SMALL ? log1p(x) / x : 1 - x / 2;
}

static double
choice_bar(double theta, double x)
{
	return exp(-theta * log(x));
}

static double
choice_area(double theta, double x)
{
	const double l = log(x);

	return choice_expm1_of((1 - theta) * l) * l;
}

/* Where the area is @p y. Rounding may lead below where a root is. */
static double
choice_area_ends(double theta, double y)
{
	const double t = y * (1 - theta);

	return exp(choice_log1p_of(t < -1 ? -1 : t) * y);
}

static uint64_t
choice_common_divisor(uint64_t a, uint64_t b)
{
	while (b != 0) {
		const uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* Without a common divisor every rank has a place of its own. */
static uint64_t
choice_stride(uint64_t n)
{
	uint64_t stride = (uint64_t)((double)n * GOLDEN) + 1;

	while (choice_common_divisor(stride, n) != 1)
		stride++;
	return stride;
}

void
weft_choice_init(struct weft_choice *c, enum weft_choice_pattern pattern, uint64_t n, double theta)
{
	*c = (struct weft_choice){ .places = weft_rand_bound(n), .pattern = pattern };
	if (pattern != WEFT_CHOICE_ZIPF)
		return;
	c->theta = theta;
	c->stride = choice_stride(n);
	c->first = choice_area(theta, 1.5) - 1;
	c->last = choice_area(theta, (double)n + 0.5);
	c->sure = 2 - choice_area_ends(theta, choice_area(theta, 2.5) - choice_bar(theta, 2));
}

uint64_t
weft_choice_zipf(const struct weft_choice *c, struct weft_rand *r)
{
	double at, x, rank;

	do {
		at = c->last + weft_rand_unit(r) * (c->first - c->last);
		x = choice_area_ends(c->theta, at);
		rank = floor(x + 0.5);
		rank = rank < 1 ? 1 : rank > (double)c->places.n ? (double)c->places.n : rank;
	} while (rank - x > c->sure &&
		 at < choice_area(c->theta, rank + 0.5) - choice_bar(c->theta, rank));
	return (uint64_t)((unsigned __int128)((uint64_t)rank - 1) * c->stride % c->places.n);
}
