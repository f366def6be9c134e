/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where flits wait for a translation while others pass (ats.md sections 6.1 and 6.2). Each waits for
 * one question, named by a small number such as a Translation Request's slot, and leaves when that is
 * answered, in the order in which they came. Bounded: what finds no room is its owner's to refuse.
 * One thread; it neither allocates nor looks at a clock, nor at what waits.
 */
#ifndef WEFT_ATC_PARK_H
#define WEFT_ATC_PARK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_atc_park;

struct weft_atc_park_cfg {
	uint16_t slots; /**< questions, 1..1024 */
	uint16_t places; /**< that may wait in all, 1..65535 */
	uint16_t contexts; /**< 0..contexts-1, 1..65535 */
	/** Places that one context may take, 1..places: one that misses much leaves room to others. */
	uint16_t share;
};

/** Bytes for a park of @p cfg; 0 if a number is out of range. */
size_t weft_atc_park_size(const struct weft_atc_park_cfg *cfg);

/**
 * Make an empty park.
 *
 * @param mem  weft_atc_park_size() bytes, 8-byte aligned; the caller's
 * @return the park, or NULL for a bad @p cfg or misaligned memory
 */
struct weft_atc_park *weft_atc_park_init(void *mem, const struct weft_atc_park_cfg *cfg);

/**
 * Let @p what wait for the answer in @p slot, behind those that wait for it already.
 *
 * @param ctx   whose share it takes a place of
 * @param what  the caller's, not NULL
 * @return 0; -EAGAIN if no place is free, or the context has its share; -EINVAL for a slot or context
 *         out of range, or NULL
 */
int weft_atc_park_add(struct weft_atc_park *p, unsigned int slot, uint16_t ctx, void *what);

/** The first that waits in @p slot; it waits no more. NULL if there is none or no such slot. */
void *weft_atc_park_take(struct weft_atc_park *p, unsigned int slot);

/** How many wait, and how many did at the most. */
unsigned int weft_atc_park_used(const struct weft_atc_park *p);
unsigned int weft_atc_park_most(const struct weft_atc_park *p);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_ATC_PARK_H */
