/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Mailbox of invalidations: one ring of orders, written by one thread and read by all workers, and a
 * line of state a worker.
 *
 * Coming online races with posting. The worker says that it is online and then reads the number
 * posted; the poster makes its order known and then reads who is online (both sequentially
 * consistent). So either the poster sees the worker and waits for it, or the worker sees the order,
 * and what it empties its cache of is older. Until the worker has said up to where it is done, the
 * poster sees a number that is too low, and waits too long at worst.
 */

#include "weft_atc_mail.h"

#include "atc_priv.h"

#define ORDERS_MAX 65536

struct mail_worker {
	_Alignas(WEFT_CACHE_LINE) uint64_t done; /* written by the worker */
	bool online;
	uint64_t read; /* the worker's own: orders applied */
};

struct weft_atc_mail {
	_Alignas(WEFT_CACHE_LINE) uint64_t posted; /* written by the poster */
	uint32_t orders; /* power of two */
	uint16_t workers;
	struct weft_atc_order *order;
	/* of the poster alone: all are done at least up to here */
	_Alignas(WEFT_CACHE_LINE) uint64_t least_done;
	struct mail_worker worker[];
};

static size_t
atc_mail_workers_end(unsigned int workers)
{
	return sizeof(struct weft_atc_mail) + workers * sizeof(struct mail_worker);
}

size_t
weft_atc_mail_size(unsigned int workers, unsigned int orders)
{
	size_t size;

	if (workers == 0 || workers > WEFT_ATC_MAIL_WORKERS_MAX || orders < 2 ||
		orders > ORDERS_MAX || (orders & (orders - 1)) != 0)
		return 0;
	size = atc_mail_workers_end(workers) + orders * sizeof(struct weft_atc_order);
	return (size + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
}

struct weft_atc_mail *
weft_atc_mail_init(void *mem, unsigned int workers, unsigned int orders)
{
	const size_t size = weft_atc_mail_size(workers, orders);
	struct weft_atc_mail *m = mem;

	if (size == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, size);
	m->orders = orders;
	m->workers = (uint16_t)workers;
	m->order =
		(struct weft_atc_order *)(void *)((uint8_t *)mem + atc_mail_workers_end(workers));
	return m;
}

/* Up to where all that are online are done, @p posted at most. */
static uint64_t
atc_mail_least_done(const struct weft_atc_mail *m, uint64_t posted)
{
	uint64_t least = posted;

	for (unsigned int i = 0; i < m->workers; i++) {
		const struct mail_worker *w = &m->worker[i];
		uint64_t done;

		if (!__atomic_load_n(&w->online, __ATOMIC_SEQ_CST))
			continue;
		done = __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
		least = done < least ? done : least;
	}
	return least;
}

uint64_t
weft_atc_mail_post(struct weft_atc_mail *m, const struct weft_atc_order *order)
{
	const uint64_t posted = m->posted;

	if (posted - m->least_done >= m->orders) {
		m->least_done = atc_mail_least_done(m, posted);
		if (posted - m->least_done >= m->orders)
			return 0;
	}
	m->order[posted & (m->orders - 1)] = *order;
	__atomic_store_n(&m->posted, posted + 1, __ATOMIC_SEQ_CST);
	return posted + 1;
}

bool
weft_atc_mail_is_done(const struct weft_atc_mail *m, uint64_t number)
{
	return atc_mail_least_done(m, m->posted) >= number;
}

static void
atc_mail_apply(struct weft_atc *cache, const struct weft_atc_order *order)
{
	if (order->ctx != WEFT_ATC_ALL_CONTEXTS) {
		weft_atc_invalidate(cache, order->ctx, order->va, order->log2);
		return;
	}
	for (uint16_t ctx = 0; ctx < cache->contexts; ctx++)
		weft_atc_invalidate(cache, ctx, order->va, order->log2);
}

uint64_t
weft_atc_mail_poll(struct weft_atc_mail *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_order_fn mark, void *arg)
{
	struct mail_worker *w = &m->worker[worker];
	const uint64_t posted = __atomic_load_n(&m->posted, __ATOMIC_ACQUIRE);

	for (; w->read != posted; w->read++) {
		const struct weft_atc_order *order = &m->order[w->read & (m->orders - 1)];

		atc_mail_apply(cache, order);
		if (mark != NULL)
			mark(arg, order);
	}
	return posted;
}

void
weft_atc_mail_done(struct weft_atc_mail *m, unsigned int worker, uint64_t number)
{
	struct mail_worker *w = &m->worker[worker];

	/* Nothing new: the poster's copy of the line stays. */
	if (w->done != number)
		__atomic_store_n(&w->done, number, __ATOMIC_RELEASE);
}

void
weft_atc_mail_online(struct weft_atc_mail *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_order_fn mark, void *arg)
{
	static const struct weft_atc_order everything = { 0, WEFT_ATC_ALL_CONTEXTS, 64 };
	struct mail_worker *w = &m->worker[worker];

	__atomic_store_n(&w->online, true, __ATOMIC_SEQ_CST);
	w->read = __atomic_load_n(&m->posted, __ATOMIC_SEQ_CST);
	atc_mail_apply(cache, &everything);
	if (mark != NULL)
		mark(arg, &everything);
	weft_atc_mail_done(m, worker, w->read);
}

void
weft_atc_mail_offline(struct weft_atc_mail *m, unsigned int worker)
{
	__atomic_store_n(&m->worker[worker].online, false, __ATOMIC_SEQ_CST);
}
