/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * TLB shoot-down: one ring of invalidations, written by one thread and read by all workers, and a
 * line of state a worker.
 *
 * Coming online races with posting. The worker says that it is online and then reads the number
 * posted; the poster makes its invalidation known and then reads which are online (both
 * sequentially consistent). So either the poster sees the worker and waits for it, or the worker
 * sees the invalidation, and what it empties its cache of is older. Until the worker has said up to
 * where it is done, the poster sees a number that is too low, and waits too long at worst.
 */

#include "weft_atc_shootdown.h"

#include "atc_priv.h"

#define INVS_MAX 65536

struct shootdown_worker {
	_Alignas(WEFT_CACHE_LINE) uint64_t done; /* written by the worker */
	bool online;
	uint64_t read; /* the worker's own: how many it applied */
};

struct weft_atc_shootdown {
	_Alignas(WEFT_CACHE_LINE) uint64_t posted; /* written by the poster */
	uint32_t invs; /* power of two */
	uint16_t workers;
	struct weft_atc_inv *inv;
	/* of the poster alone: all are done at least up to here */
	_Alignas(WEFT_CACHE_LINE) uint64_t least_done;
	struct shootdown_worker worker[];
};

static size_t
shootdown_workers_end(unsigned int workers)
{
	return sizeof(struct weft_atc_shootdown) + workers * sizeof(struct shootdown_worker);
}

size_t
weft_atc_shootdown_size(unsigned int workers, unsigned int invs)
{
	size_t size;

	if (workers == 0 || workers > WEFT_ATC_SHOOTDOWN_WORKERS_MAX || invs < 2 ||
		invs > INVS_MAX || (invs & (invs - 1)) != 0)
		return 0;
	size = shootdown_workers_end(workers) + invs * sizeof(struct weft_atc_inv);
	return (size + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
}

struct weft_atc_shootdown *
weft_atc_shootdown_init(void *mem, unsigned int workers, unsigned int invs)
{
	const size_t size = weft_atc_shootdown_size(workers, invs);
	struct weft_atc_shootdown *m = mem;

	if (size == 0 || (uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, size);
	m->invs = invs;
	m->workers = (uint16_t)workers;
	m->inv = (struct weft_atc_inv *)(void *)((uint8_t *)mem + shootdown_workers_end(workers));
	return m;
}

/* Up to where all that are online are done, @p posted at most. */
static uint64_t
shootdown_least_done(const struct weft_atc_shootdown *m, uint64_t posted)
{
	uint64_t least = posted;

	for (unsigned int i = 0; i < m->workers; i++) {
		const struct shootdown_worker *w = &m->worker[i];
		uint64_t done;

		if (!__atomic_load_n(&w->online, __ATOMIC_SEQ_CST))
			continue;
		done = __atomic_load_n(&w->done, __ATOMIC_ACQUIRE);
		least = done < least ? done : least;
	}
	return least;
}

uint64_t
weft_atc_shootdown_post(struct weft_atc_shootdown *m, const struct weft_atc_inv *inv)
{
	const uint64_t posted = m->posted;

	if (posted - m->least_done >= m->invs) {
		m->least_done = shootdown_least_done(m, posted);
		if (posted - m->least_done >= m->invs)
			return 0;
	}
	m->inv[posted & (m->invs - 1)] = *inv;
	__atomic_store_n(&m->posted, posted + 1, __ATOMIC_SEQ_CST);
	return posted + 1;
}

bool
weft_atc_shootdown_is_done(const struct weft_atc_shootdown *m, uint64_t number)
{
	return shootdown_least_done(m, m->posted) >= number;
}

static void
shootdown_apply(struct weft_atc *cache, const struct weft_atc_inv *inv)
{
	if (inv->ctx != WEFT_ATC_ALL_CONTEXTS) {
		weft_atc_invalidate(cache, inv->ctx, inv->va, inv->log2);
		return;
	}
	for (uint16_t ctx = 0; ctx < cache->contexts; ctx++)
		weft_atc_invalidate(cache, ctx, inv->va, inv->log2);
}

uint64_t
weft_atc_shootdown_poll(struct weft_atc_shootdown *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_inv_fn mark, void *arg)
{
	struct shootdown_worker *w = &m->worker[worker];
	const uint64_t posted = __atomic_load_n(&m->posted, __ATOMIC_ACQUIRE);

	for (; w->read != posted; w->read++) {
		const struct weft_atc_inv *inv = &m->inv[w->read & (m->invs - 1)];

		shootdown_apply(cache, inv);
		if (mark != NULL)
			mark(arg, inv);
	}
	return posted;
}

void
weft_atc_shootdown_done(struct weft_atc_shootdown *m, unsigned int worker, uint64_t number)
{
	struct shootdown_worker *w = &m->worker[worker];

	/* Nothing new: the poster's copy of the line stays. */
	if (w->done != number)
		__atomic_store_n(&w->done, number, __ATOMIC_RELEASE);
}

void
weft_atc_shootdown_online(struct weft_atc_shootdown *m, unsigned int worker, struct weft_atc *cache,
	weft_atc_inv_fn mark, void *arg)
{
	static const struct weft_atc_inv everything = { 0, WEFT_ATC_ALL_CONTEXTS, 64 };
	struct shootdown_worker *w = &m->worker[worker];

	__atomic_store_n(&w->online, true, __ATOMIC_SEQ_CST);
	w->read = __atomic_load_n(&m->posted, __ATOMIC_SEQ_CST);
	shootdown_apply(cache, &everything);
	if (mark != NULL)
		mark(arg, &everything);
	weft_atc_shootdown_done(m, worker, w->read);
}

void
weft_atc_shootdown_offline(struct weft_atc_shootdown *m, unsigned int worker)
{
	__atomic_store_n(&m->worker[worker].online, false, __ATOMIC_SEQ_CST);
}
