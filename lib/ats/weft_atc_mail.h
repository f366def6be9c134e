/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Invalidations for caches that are private to their lcores (ats.md section 7.3, scheme A): one
 * thread posts orders, each worker applies them to its own cache between two bursts and says so when
 * nothing it sent with the old translations can come behind the answer any more. A look-up costs no
 * atomic operation; a poll that finds nothing costs one load of a line that nobody writes then.
 *
 * An order is named by its number, 1, 2, 3 ... Whoever owes an Invalidate Completion for it sends that
 * when weft_atc_mail_is_done().
 */
#ifndef WEFT_ATC_MAIL_H
#define WEFT_ATC_MAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_atc.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ATC_MAIL_WORKERS_MAX 64
#define WEFT_ATC_ALL_CONTEXTS UINT16_MAX /**< order.ctx: the range, in every context */

/** What to forget: as weft_atc_invalidate(). */
struct weft_atc_order {
	uint64_t va; /**< start, aligned to the size */
	uint16_t ctx; /**< or WEFT_ATC_ALL_CONTEXTS */
	uint8_t log2; /**< 12..64; 64: everything */
};

struct weft_atc_mail;

/**
 * Bytes for a mailbox.
 *
 * @param workers  1..WEFT_ATC_MAIL_WORKERS_MAX
 * @param orders   that may wait for the slowest worker, a power of two of 2..65536
 * @return bytes, a multiple of 64; 0 for a number out of range
 */
size_t weft_atc_mail_size(unsigned int workers, unsigned int orders);

/**
 * Make a mailbox without orders; all workers are offline.
 *
 * @param mem  weft_atc_mail_size() bytes, 64-byte aligned; the caller's
 * @return the mailbox, or NULL for a number out of range or misaligned memory
 */
struct weft_atc_mail *weft_atc_mail_init(void *mem, unsigned int workers, unsigned int orders);

/**
 * Post an order. One thread; the table of pages must have been changed before.
 *
 * @return its number, or 0 if a worker that is online is a whole mailbox behind: try later
 */
uint64_t weft_atc_mail_post(struct weft_atc_mail *m, const struct weft_atc_order *order);

/** Whether every worker that is online is done with order @p number. The posting thread. */
bool weft_atc_mail_is_done(const struct weft_atc_mail *m, uint64_t number);

/**
 * Called of a worker for each order, behind its cache: answers under way that overlap the range must
 * not be installed.
 */
typedef void (*weft_atc_order_fn)(void *arg, const struct weft_atc_order *order);

/**
 * Apply what was posted to the worker's cache. Between two bursts, by the worker's thread, online.
 *
 * @param cache  the worker's own; an order for a context that it does not have is nothing to it
 * @param mark   may be NULL: nothing is ever under way between polls
 * @return number of the newest order applied, 0 before the first: for weft_atc_mail_done() as soon
 *         as every write queued until now has entered its ordered channel
 */
uint64_t weft_atc_mail_poll(struct weft_atc_mail *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_order_fn mark, void *arg);

/** Orders up to @p number took effect, and what was sent before is ahead. The worker's thread. */
void weft_atc_mail_done(struct weft_atc_mail *m, unsigned int worker, uint64_t number);

/**
 * Take part from now on; the cache is emptied, since orders were missed. The worker's thread, before
 * its first look-up. With @p mark, everything under way is marked.
 */
void weft_atc_mail_online(struct weft_atc_mail *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_order_fn mark, void *arg);

/**
 * Nobody waits for this worker any more. Its thread; nothing it sent may be short of its ordered
 * channel, and it makes no look-up until it is online again.
 */
void weft_atc_mail_offline(struct weft_atc_mail *m, unsigned int worker);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_ATC_MAIL_H */
