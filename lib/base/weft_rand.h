/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A seeded random number generator for traces, faults and tests: the same seed gives the same run
 * on every machine. Not for keys, sessions or anything an attacker may not guess.
 */
#ifndef WEFT_RAND_H
#define WEFT_RAND_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** State of one generator; set by weft_rand_seed(). One thread at a time. */
struct weft_rand {
	uint64_t state;
};

/** Start a generator; every seed, 0 included, is a good one. */
static inline void
weft_rand_seed(struct weft_rand *r, uint64_t seed)
{
	r->state = seed;
}

/**
 * 64 random bits, by SplitMix64: a counter through a mixing function, so that every seed is as good
 * as any other.
 */
static inline uint64_t
weft_rand_u64(struct weft_rand *r)
{
	uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

/**
 * Bits of which as many go to each number below @p bound, modulo it: the short last round is
 * refused, or low numbers would come up more often. It is divided for it only if it can be that.
 */
static inline uint64_t
weft_rand_even(struct weft_rand *r, uint64_t bound)
{
	uint64_t v;

	do
		v = weft_rand_u64(r);
	while (v > UINT64_MAX - bound && v >= UINT64_MAX - UINT64_MAX % bound);
	return v;
}

/** A number in 0..bound-1, without bias; @p bound is 1 or more. */
static inline uint64_t
weft_rand_below(struct weft_rand *r, uint64_t bound)
{
	return weft_rand_even(r, bound) % bound;
}

/** A bound that many numbers are drawn below, by a product in the place of each division. */
struct weft_rand_bound {
	uint64_t n, inverse;
};

/** The bound @p n, 1 or more. */
static inline struct weft_rand_bound
weft_rand_bound(uint64_t n)
{
	return (struct weft_rand_bound){ .n = n, .inverse = UINT64_MAX / n };
}

/** @p v modulo the bound. The inverse is short by at most one, so the quotient is too. */
static inline uint64_t
weft_rand_modulo(uint64_t v, const struct weft_rand_bound *b)
{
	const uint64_t quotient = (uint64_t)((unsigned __int128)v * b->inverse >> 64);
	const uint64_t left = v - quotient * b->n;

	return left < b->n ? left : left - b->n;
}

/** What weft_rand_below() gives. */
static inline uint64_t
weft_rand_below_bound(struct weft_rand *r, const struct weft_rand_bound *b)
{
	return weft_rand_modulo(weft_rand_even(r, b->n), b);
}

/** A number in [0, 1). */
double weft_rand_unit(struct weft_rand *r);

/** Fill @p len bytes at @p buf. */
void weft_rand_fill(struct weft_rand *r, void *buf, size_t len);

WEFT_END_DECLS

#endif /* WEFT_RAND_H */
