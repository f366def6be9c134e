/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Pending misses: where flits wait for a translation while others pass (ats.md sections 6.1 and
 * 6.2). Each waits for one question, named by a small number such as a Translation Request's slot,
 * and leaves when that is answered, in the order in which they came. Bounded: what finds no room is
 * its owner's to refuse. One thread; it neither allocates nor looks at a clock, nor at what waits.
 */
#ifndef WEFT_PENDING_H
#define WEFT_PENDING_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_pending;

struct weft_pending_cfg {
	uint16_t slots; /**< questions, 1..1024 */
	uint16_t entries; /**< that may wait in all, 1..65535 */
	uint16_t contexts; /**< 0..contexts-1, 1..65535 */
	/** Entries of one context, 1..entries: one that misses much leaves room to others. */
	uint16_t per_ctx_max;
};

/** Bytes for a queue of @p cfg; 0 if a number is out of range. */
size_t weft_pending_size(const struct weft_pending_cfg *cfg);

/**
 * Make an empty queue.
 *
 * @param mem  weft_pending_size() bytes, 8-byte aligned; the caller's
 * @return the queue, or NULL for a bad @p cfg or misaligned memory
 */
struct weft_pending *weft_pending_init(void *mem, const struct weft_pending_cfg *cfg);

/**
 * Let @p what wait for the answer in @p slot, after those that wait for it already.
 *
 * @param ctx   the context whose entry it takes
 * @param what  the caller's, not NULL
 * @return 0; -EAGAIN if no entry is free, or the context has per_ctx_max; -EINVAL for a slot or
 *         context out of range, or NULL
 */
int weft_pending_add(struct weft_pending *p, unsigned int slot, uint16_t ctx, void *what);

/** The first that waits in @p slot; it waits no more. NULL if there is none or no such slot. */
void *weft_pending_take(struct weft_pending *p, unsigned int slot);

/** How many wait, and how many did at the most. */
unsigned int weft_pending_used(const struct weft_pending *p);
unsigned int weft_pending_most(const struct weft_pending *p);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_PENDING_H */
