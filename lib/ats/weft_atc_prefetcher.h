/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sequential streams among the misses of a translation cache, and how many translations to ask for
 * at once (ats.md section 6.2). A stream that misses where its last question ended is asked for
 * twice as many pages, up to a limit; all else is asked for one page. It sees misses only, so that
 * hits cost nothing. One thread; it neither allocates nor looks at a clock.
 */
#ifndef WEFT_ATC_PREFETCHER_H
#define WEFT_ATC_PREFETCHER_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_ATC_PREFETCH_MAX 15 /**< translations a request, as its Length (section 2.2) */

struct weft_atc_prefetcher;

/** Bytes for @p streams followed at a time, a power of two of 4..65536; 0 for another number. */
size_t weft_atc_prefetcher_size(unsigned int streams);

/**
 * Follow no stream yet.
 *
 * @param mem      weft_atc_prefetcher_size() bytes, 64-byte aligned; the caller's
 * @param streams  as there. Four times as many as are expected lose few
 * @param most     translations to ask for at most, 1..WEFT_ATC_PREFETCH_MAX; 1: nothing ahead
 * @return the object; NULL for an argument out of range or misaligned memory
 */
struct weft_atc_prefetcher *weft_atc_prefetcher_init(
	void *mem, unsigned int streams, unsigned int most);

/**
 * Take note of a miss that will be asked for.
 *
 * @param va    the address missed
 * @param log2  of the page size expected, 12..30
 * @return translations to ask for, from the page of @p va on: 1..most. The first is for the access,
 *         the rest are to be installed with WEFT_ATC_PREFETCHED
 */
unsigned int weft_atc_prefetcher_miss(
	struct weft_atc_prefetcher *s, uint16_t ctx, uint64_t va, unsigned int log2);

WEFT_END_DECLS

#endif /* WEFT_ATC_PREFETCHER_H */
