/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * TLB shoot-down for caches that are private to their lcores (ats.md section 7.3, scheme A): one
 * thread posts invalidations, each worker applies them to its own cache between two bursts and says
 * so when nothing it sent with the old translations can come after the answer any more. A look-up
 * costs no atomic operation; a poll that finds nothing costs one load of a line that is not written
 * then.
 *
 * An invalidation is named by its number, 1, 2, 3 ... Its Invalidate Completion may be sent
 * when weft_atc_shootdown_is_done().
 */
#ifndef WEFT_ATC_SHOOTDOWN_H
#define WEFT_ATC_SHOOTDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_atc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ATC_SHOOTDOWN_WORKERS_MAX 64
#define WEFT_ATC_ALL_CONTEXTS UINT16_MAX /**< inv.ctx: the range, in every context */

/** One invalidation: as weft_atc_invalidate(). */
struct weft_atc_inv {
	uint64_t va; /**< start, aligned to the size */
	uint16_t ctx; /**< or WEFT_ATC_ALL_CONTEXTS */
	uint8_t log2; /**< 12..64; 64: everything */
};

struct weft_atc_shootdown;

/**
 * Bytes for a shoot-down object.
 *
 * @param workers  1..WEFT_ATC_SHOOTDOWN_WORKERS_MAX
 * @param invs     that may wait for the slowest worker, a power of two of 2..65536
 * @return bytes, a multiple of 64; 0 for a number out of range
 */
size_t weft_atc_shootdown_size(unsigned int workers, unsigned int invs);

/**
 * Make one without invalidations; all workers are offline.
 *
 * @param mem  weft_atc_shootdown_size() bytes, 64-byte aligned; the caller's
 * @return the object, or NULL for a number out of range or misaligned memory
 */
struct weft_atc_shootdown *weft_atc_shootdown_init(
	void *mem, unsigned int workers, unsigned int invs);

/**
 * Post an invalidation. One thread; the table of pages must have been changed before.
 *
 * @return its number, or 0 if a worker that is online is a whole ring behind: try later
 */
uint64_t weft_atc_shootdown_post(struct weft_atc_shootdown *m, const struct weft_atc_inv *inv);

/** True if every worker that is online is done with invalidation @p number. The posting thread. */
bool weft_atc_shootdown_is_done(const struct weft_atc_shootdown *m, uint64_t number);

/**
 * Called of a worker for each invalidation, after its cache: answers under way that overlap the
 * range must not be installed.
 */
typedef void (*weft_atc_inv_fn)(void *arg, const struct weft_atc_inv *inv);

/**
 * Apply what was posted to the worker's cache. Between two bursts, by the worker's thread, online.
 *
 * @param cache  the worker's own; an invalidation for a context that it does not have is nothing to
 *               it
 * @param mark   may be NULL: nothing is ever under way between polls
 * @return number of the newest invalidation applied, 0 before the first: for
 *         weft_atc_shootdown_done() as soon as every write queued until now has entered its ordered
 *         channel
 */
uint64_t weft_atc_shootdown_poll(struct weft_atc_shootdown *m, unsigned int worker,
	struct weft_atc *cache, weft_atc_inv_fn mark, void *arg);

/** Those up to @p number took effect, and what was sent before is ahead. The worker's thread. */
void weft_atc_shootdown_done(struct weft_atc_shootdown *m, unsigned int worker, uint64_t number);

/**
 * Take part from now on; the cache is emptied, since invalidations were missed. The worker's
 * thread, before its first look-up. With @p mark, everything under way is marked.
 */
void weft_atc_shootdown_online(struct weft_atc_shootdown *m, unsigned int worker,
	struct weft_atc *cache, weft_atc_inv_fn mark, void *arg);

/**
 * Invalidations do not wait for this worker any more. Its thread; all it sent must be in its
 * ordered channel, and it makes no look-up until it is online again.
 */
void weft_atc_shootdown_offline(struct weft_atc_shootdown *m, unsigned int worker);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_ATC_SHOOTDOWN_H */
