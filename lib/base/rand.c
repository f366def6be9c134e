/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* SplitMix64: a counter through a mixing function, so that every seed is as good as any other. */

#include "weft_rand.h"

void
weft_rand_seed(struct weft_rand *r, uint64_t seed)
{
	r->state = seed;
}

uint64_t
weft_rand_u64(struct weft_rand *r)
{
	uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return z ^ z >> 31;
}

uint64_t
weft_rand_below(struct weft_rand *r, uint64_t bound)
{
	/* Refuse the short last round, or low numbers would come up more often. */
	const uint64_t limit = UINT64_MAX - UINT64_MAX % bound;
	uint64_t v;

	do
		v = weft_rand_u64(r);
	while (v >= limit);
	return v % bound;
}

double
weft_rand_unit(struct weft_rand *r)
{
	return (double)(weft_rand_u64(r) >> 11) * 0x1p-53;
}

void
weft_rand_fill(struct weft_rand *r, void *buf, size_t len)
{
	uint8_t *p = buf;
	uint8_t word[8];

	for (; len >= 8; p += 8, len -= 8)
		weft_put_le64(p, weft_rand_u64(r));
	weft_put_le64(word, weft_rand_u64(r));
	memcpy(p, word, len);
}
