/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address translation cache (ATC): 8-way set-associative, one array a page-size class, CLOCK
 * replacement, one cache line of keys and one of values a set (ats.md sections 6 and 7). Private to
 * one thread; it neither allocates nor looks at a clock. It remembers; asking the Translation Agent
 * is another layer's work.
 */
#ifndef WEFT_ATC_H
#define WEFT_ATC_H

#include "weft_base.h"
#include "weft_cpu.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

#define WEFT_ATC_WAYS 8

/** Page-size classes. A larger or odd translation is stored as several entries of a class. */
enum weft_atc_class { WEFT_ATC_4K, WEFT_ATC_64K, WEFT_ATC_2M, WEFT_ATC_1G, WEFT_ATC_CLASSES };

/** "4K", "64K", "2M", "1G". */
extern const char *const weft_atc_class_words[];

/** log2 of a class's page size: 12, 16, 21, 30. */
unsigned int weft_atc_class_log2(enum weft_atc_class c);

/** Permissions and kinds of a translation (ats.md section 2.4). */
enum weft_atc_flags {
	WEFT_ATC_R = 1 << 0,
	WEFT_ATC_W = 1 << 1,
	WEFT_ATC_U = 1 << 2, /**< untranslated access only: "do not ask again" */
	WEFT_ATC_PREFETCHED = 1 << 3 /**< weft_atc_install() only: prefetched, not used yet */
};

struct weft_atc_kernel;

struct weft_atc_cfg {
	uint32_t sets[WEFT_ATC_CLASSES]; /**< sets a class, a power of two up to 2^20, or 0: none */
	uint16_t contexts; /**< contexts 0..contexts-1, 1..65535 */
	const struct weft_atc_kernel *kernel; /**< for runs of look-ups; NULL: the scalar one */
};

enum weft_atc_result {
	WEFT_ATC_HIT,
	WEFT_ATC_MISS,
	WEFT_ATC_DENY, /**< cached, and the access wanted is not permitted */
	WEFT_ATC_UNTRANSLATED /**< cached: use the address as it is */
};

/** Row order of weft_atc_counters and of the values. */
enum weft_atc_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_ATC_N_##id,
#include "weft_atc_counters.def"
#undef WEFT_COUNTER
	WEFT_ATC_N_COUNTERS
};

struct weft_atc;

/** Bytes that a cache of @p cfg needs (64-byte aligned); 0 if @p cfg is out of range. */
size_t weft_atc_size(const struct weft_atc_cfg *cfg);

/**
 * Make an empty cache in @p mem.
 *
 * @return the cache, or NULL for a bad @p cfg or memory that is not 64-byte aligned
 */
struct weft_atc *weft_atc_init(void *mem, const struct weft_atc_cfg *cfg);

/**
 * Translate an address. Where pages of several sizes hold it, one that permits the access is taken;
 * DENY only if none does.
 *
 * @param ctx   context, below cfg.contexts; any other is a miss
 * @param va    untranslated address, 57 bits; any other is a miss
 * @param want  WEFT_ATC_R, WEFT_ATC_W or both
 * @param pa    receives the translated address on a hit
 */
enum weft_atc_result weft_atc_lookup(
	struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int want, uint64_t *pa);

/** A run of look-ups: arrays of one element each, of the caller. */
struct weft_atc_run {
	const uint16_t *ctx;
	const uint64_t *va;
	const uint8_t *want;
	uint64_t *pa; /**< written on a hit only */
	uint8_t *result; /**< receives enum weft_atc_result */
};

/**
 * Translate a run of @p n addresses: as weft_atc_lookup() for each, in order.
 *
 * @return how many are hits
 */
unsigned int weft_atc_lookup_run(struct weft_atc *c, const struct weft_atc_run *q, unsigned int n);

typedef unsigned int (*weft_atc_run_fn)(
	struct weft_atc *c, const struct weft_atc_run *q, unsigned int n);

/** One row a kernel, best first, scalar last. */
struct weft_atc_kernel {
	struct weft_kernel k;
	weft_atc_run_fn run;
};

WEFT_KERNELS_DECLARE(atc);

/**
 * Remember a translation of 1 << @p log2 bytes.
 *
 * @param va     start, aligned to the size, 57 bits
 * @param pa     start, aligned to the size, 52 bits
 * @param log2   12 or more; stored in the largest class not above it, as several entries if needed
 * @param flags  R, W, U; without R and W it is not cached. With PREFETCHED it makes room for others
 *               before anything that was used, until it is used itself
 * @return entries written, 0 if not cacheable (no permission, or no class fits, or it would take
 *         more than 64 entries); -EINVAL for a context, size, address or flag out of range, or a
 *         misaligned start
 */
int weft_atc_install(struct weft_atc *c, uint16_t ctx, uint64_t va, uint64_t pa, unsigned int log2,
	unsigned int flags);

/**
 * Forget everything that overlaps a range, larger pages that merely contain it too.
 *
 * @param log2  12..64; 64 = everything of the context
 * @return entries dropped; -EINVAL for a context or size out of range, or a misaligned start
 */
int weft_atc_invalidate(struct weft_atc *c, uint16_t ctx, uint64_t va, unsigned int log2);

/**
 * Forget everything of a context, in constant time (its generation moves on; every 4096th call
 * sweeps the arrays).
 *
 * @return entries dropped; -EINVAL for a context out of range
 */
int weft_atc_invalidate_context(struct weft_atc *c, uint16_t ctx);

/** Counter rows, WEFT_ATC_N_COUNTERS of them. */
extern const struct weft_counter weft_atc_counters[];

/** Their values, in row order. Written by the cache's thread only. */
const uint64_t *weft_atc_counts(const struct weft_atc *c);

WEFT_END_DECLS

#endif /* WEFT_ATC_H */
