/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which of many places a source touches next: one behind the other, each as often as any, or by
 * Zipf's law, where the k-th most wanted is wanted as often as 1/k^theta. The most wanted places
 * lie far from each other. Pure functions, no allocation, no table however many places there are;
 * the caller's thread and random numbers.
 */
#ifndef WEFT_CHOICE_H
#define WEFT_CHOICE_H

#include "weft_base.h"
#include "weft_rand.h"

WEFT_BEGIN_DECLS

#define WEFT_CHOICE_THETA_LEAST 0.01
#define WEFT_CHOICE_THETA_MOST 8.0

enum weft_choice_pattern { WEFT_CHOICE_RANDOM, WEFT_CHOICE_SEQUENTIAL, WEFT_CHOICE_ZIPF };

/** How to choose. */
struct weft_choice {
	struct weft_rand_bound places; /**< how many */
	uint64_t at; /**< SEQUENTIAL: the next */
	enum weft_choice_pattern pattern;
	uint64_t stride; /**< ZIPF: the k-th most wanted place is (k - 1) * stride modulo places */
	double theta, first, last, sure; /* ZIPF: see choice.c */
};

/**
 * Begin.
 *
 * @param n      places, 1..2^53
 * @param theta  of ZIPF: WEFT_CHOICE_THETA_LEAST to _MOST; else not looked at
 */
void weft_choice_init(
	struct weft_choice *c, enum weft_choice_pattern pattern, uint64_t n, double theta);

/** A place by Zipf's law: see weft_choice_next(). */
uint64_t weft_choice_zipf(const struct weft_choice *c, struct weft_rand *r);

/** The next place, 0..n-1. */
static inline uint64_t
weft_choice_next(struct weft_choice *c, struct weft_rand *r)
{
	uint64_t i;

	if (c->pattern == WEFT_CHOICE_RANDOM)
		return weft_rand_below_bound(r, &c->places);
	if (c->pattern == WEFT_CHOICE_ZIPF)
		return weft_choice_zipf(c, r);
	i = c->at;
	c->at = i + 1 == c->places.n ? 0 : i + 1;
	return i;
}

WEFT_END_DECLS

#endif /* WEFT_CHOICE_H */
