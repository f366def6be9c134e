/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Layout of the ATC's memory, and how an address finds its set (ats.md section 7.1).
 *
 *   key    63:19 page number in units of the class · 18:3 context · 2:0 class + 1; 0 = empty way
 *   value  63:52 generation · 51:12 translated address · 2:0 flags (enum weft_atc_flags)
 *
 * A way is live if its key is not 0 and its generation is its context's. No two ways of a set have
 * the same key, live or not.
 */
#ifndef WEFT_ATC_PRIV_H
#define WEFT_ATC_PRIV_H

#include "weft_atc.h"

#include "weft_base.h"

#define ATC_VA_BITS 57
#define ATC_PA_BITS 52
#define ATC_PAGE_LOG2_MIN 12
#define ATC_GENERATIONS 4096u
#define ATC_GENERATION_SHIFT 52
#define ATC_HASH_1 UINT64_C(0x9E3779B97F4A7C15)
#define ATC_HASH_2 UINT64_C(0xD6E8FEB86659FD93)
#define ATC_FLAGS_MASK ((unsigned int)(WEFT_ATC_R | WEFT_ATC_W | WEFT_ATC_U))

static const uint8_t atc_class_log2[WEFT_ATC_CLASSES] = { 12, 16, 21, 30 };

struct atc_set {
	uint64_t key[WEFT_ATC_WAYS];
	uint64_t value[WEFT_ATC_WAYS];
};

#define ATC_SET_LOG2 7

static_assert(sizeof(struct atc_set) == 2 * WEFT_CACHE_LINE, "a line of keys, a line of values");
static_assert(sizeof(struct atc_set) == 1 << ATC_SET_LOG2, "the log2 of its size");

/* CLOCK of a set, beside it so that a lookup that hits a referenced way stores nothing. */
struct atc_clock {
	uint8_t ref; /* bit per way: used since the hand last passed */
	uint8_t hand; /* way to look at first, 0..7 */
};

#define ATC_CLOCK_LOG2 1
static_assert(sizeof(struct atc_clock) == 1 << ATC_CLOCK_LOG2, "the log2 of its size");

struct atc_array {
	struct atc_set *set;
	struct atc_clock *clock;
	uint32_t sets; /* power of two, 0: the class is not kept */
};

/* A translation that was a hit. None: va is no address. */
struct atc_last {
	uint64_t va; /* of the page */
	uint64_t pa;
	uint64_t mask; /* offset in the page */
	uint64_t flags;
};

struct atc_ctx {
	uint32_t live[WEFT_ATC_CLASSES]; /* exact, so an empty class costs no probe */
	uint16_t generation; /* 0..ATC_GENERATIONS-1 between calls */

	struct atc_last last; /* a sequential stream stays in its page */
};

struct weft_atc {
	const struct weft_atc_kernel *kernel;
	uint64_t count[WEFT_ATC_N_COUNTERS];
	struct atc_array array[WEFT_ATC_CLASSES];
	struct atc_ctx *ctx;
	uint16_t contexts;
};

/* One entry, by where it is. way < 0: not there. */
struct atc_place {
	struct atc_set *set;
	struct atc_clock *clock;
	int way;
};

/* Nothing may be answered from the last hit any more. */
static inline void
atc_forget_last(struct atc_ctx *x)
{
	x->last = (struct atc_last){ .va = UINT64_MAX };
}

static inline uint64_t
atc_key(enum weft_atc_class c, uint16_t ctx, uint64_t va)
{
	return va >> atc_class_log2[c] << 19 | (uint64_t)ctx << 3 | ((uint64_t)c + 1);
}

static inline uint16_t
atc_key_ctx(uint64_t key)
{
	return (uint16_t)(key >> 3);
}

/* Start address of the page that @p key, of class @p c, names. */
static inline uint64_t
atc_key_va(uint64_t key, enum weft_atc_class c)
{
	return key >> 19 << atc_class_log2[c];
}

static inline uint64_t
atc_value(uint64_t pa, unsigned int flags, uint16_t generation)
{
	return (uint64_t)generation << ATC_GENERATION_SHIFT | pa | flags;
}

static inline uint64_t
atc_value_pa(uint64_t value)
{
	return value & (weft_mask64(ATC_PA_BITS) & ~weft_mask64(ATC_PAGE_LOG2_MIN));
}

/*
 * Set number of a key. One multiplication would leave it to the multiplier how pages a large power
 * of two apart fall; folding the upper half down and multiplying again does not (ats.md 7.1: 16
 * streams 2^34 apart must not meet in one set).
 */
static inline uint32_t
atc_hash(uint64_t key, uint32_t sets)
{
	key *= ATC_HASH_1;
	key ^= key >> 32;
	key *= ATC_HASH_2;
	return (uint32_t)((key >> 32) * sets >> 32);
}

/* Bit w set: way w holds @p key. */
static inline unsigned int
atc_match(const struct atc_set *set, uint64_t key)
{
	unsigned int hits = 0;

	/* No early exit: the compiler can make this one vector compare. */
	for (unsigned int w = 0; w < WEFT_ATC_WAYS; w++)
		hits |= (unsigned int)(set->key[w] == key) << w;
	return hits;
}

/* The kernels: weft_atc_run_fn. */
unsigned int weft_atc_run_scalar(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n);
unsigned int weft_atc_run_avx2(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n);
unsigned int weft_atc_run_avx512(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n);

static inline struct atc_place
atc_find(const struct atc_array *a, uint64_t key)
{
	const uint32_t s = atc_hash(key, a->sets);
	struct atc_place p = { &a->set[s], &a->clock[s], -1 };
	unsigned int hits;

	hits = atc_match(p.set, key);
	p.way = hits != 0 ? __builtin_ctz(hits) : -1;
	return p;
}

/* True if a way that is not empty belongs to the present generation of its context. */
static inline bool
atc_is_live(const struct weft_atc *c, const struct atc_set *set, unsigned int way)
{
	return set->value[way] >> ATC_GENERATION_SHIFT ==
	       c->ctx[atc_key_ctx(set->key[way])].generation;
}

#endif /* WEFT_ATC_PRIV_H */
