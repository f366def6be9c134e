/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Single-page invalidations through a mailbox: posted, applied to a cache of 16384 pages, answered.
 * Alone, or while look-ups flow: then a run of 64 look-ups stands between every four orders, some of
 * whose pages are gone and are installed again, and all of that is timed with the invalidations.
 */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "weft_atc_shootdown.h"
#include "weft_base.h"
#include "weft_rand.h"

#define PAGES 16384
#define ORDERS 64
#define LOOKUPS 64
#define ORDERS_A_POLL 4

enum { MAIL_ALONE, MAIL_LOOKUPS };

struct mail {
	void *cache_mem, *mail_mem;
	struct weft_atc *cache;
	struct weft_atc_shootdown *mail;
	struct weft_rand r;
	struct weft_atc_inv order[ORDERS];
	uint64_t number;
	bool good;
	uint16_t ctx[LOOKUPS];
	uint8_t want[LOOKUPS], result[LOOKUPS];
	uint64_t va[LOOKUPS], pa[LOOKUPS];
};

/* Other pages than before; all are there. */
static void
mail_prepare(void *ctx)
{
	struct mail *m = ctx;
	const uint64_t first = weft_rand_below(&m->r, PAGES);

	for (unsigned int i = 0; i < ORDERS; i++) {
		const uint64_t va = (first + i * UINT64_C(9973)) % PAGES << 12;

		weft_atc_install(m->cache, 0, va, va, 12, WEFT_ATC_R);
		m->order[i] = (struct weft_atc_inv){ .va = va, .ctx = 0, .log2 = 12 };
	}
}

static uint64_t
mail_run(void *ctx)
{
	struct mail *m = ctx;

	for (unsigned int i = 0; i < ORDERS; i++)
		m->number = weft_atc_shootdown_post(m->mail, &m->order[i]);
	weft_atc_shootdown_done(
		m->mail, 0, weft_atc_shootdown_poll(m->mail, 0, m->cache, NULL, NULL));
	m->good &= weft_atc_shootdown_is_done(m->mail, m->number);
	return ORDERS;
}

/* What a worker does between two polls. */
static void
mail_look_up(struct mail *m)
{
	const struct weft_atc_run q = { m->ctx, m->va, m->want, m->pa, m->result };

	if (weft_atc_lookup_run(m->cache, &q, LOOKUPS) == LOOKUPS)
		return;
	for (unsigned int i = 0; i < LOOKUPS; i++)
		if (m->result[i] == WEFT_ATC_MISS) {
			weft_atc_install(m->cache, 0, m->va[i], m->va[i], 12, WEFT_ATC_R);
			m->pa[i] = m->va[i];
		}
}

/* Half of what is looked up is what is invalidated. */
static void
mail_lookups_prepare(void *ctx)
{
	struct mail *m = ctx;

	mail_prepare(m);
	for (unsigned int i = 0; i < LOOKUPS; i++)
		m->va[i] = i % 2 == 0 ? m->order[i].va : weft_rand_below(&m->r, PAGES) << 12;
}

static uint64_t
mail_lookups_run(void *ctx)
{
	struct mail *m = ctx;

	for (unsigned int i = 0; i < ORDERS; i += ORDERS_A_POLL) {
		for (unsigned int k = 0; k < ORDERS_A_POLL; k++)
			m->number = weft_atc_shootdown_post(m->mail, &m->order[i + k]);
		weft_atc_shootdown_done(
			m->mail, 0, weft_atc_shootdown_poll(m->mail, 0, m->cache, NULL, NULL));
		mail_look_up(m);
		m->good &= weft_atc_shootdown_is_done(m->mail, m->number);
	}
	for (unsigned int i = 0; i < LOOKUPS; i++)
		m->good &= m->pa[i] == m->va[i];
	return ORDERS;
}

static bool
mail_lookups_are_right(const struct mail *m)
{
	return m->good && weft_atc_counts(m->cache)[WEFT_ATC_N_INVALIDATED] > m->number / 2;
}

/* None of the last run's pages is there any more, and every order dropped one. */
static bool
mail_is_right(const struct mail *m)
{
	bool good = m->good && weft_atc_counts(m->cache)[WEFT_ATC_N_INVALIDATED] == m->number;
	uint64_t pa;

	for (unsigned int i = 0; i < ORDERS; i++)
		good &= weft_atc_lookup(m->cache, 0, m->order[i].va, WEFT_ATC_R, &pa) ==
		        WEFT_ATC_MISS;
	return good;
}

static void
mail_free(struct mail *m)
{
	free(m->mail_mem);
	free(m->cache_mem);
	free(m);
}

static bool
mail_teardown(void *ctx)
{
	struct mail *m = ctx;
	const bool good = mail_is_right(m);

	mail_free(m);
	return good;
}

static bool
mail_lookups_teardown(void *ctx)
{
	struct mail *m = ctx;
	const bool good = mail_lookups_are_right(m);

	mail_free(m);
	return good;
}

static void *
mail_setup(const struct bench *b, const struct bench_params *p, char *err, size_t err_len)
{
	const struct weft_atc_cfg cfg = {
		.sets = { [WEFT_ATC_4K] = PAGES / 2 }, .contexts = 1, .kernel = p->atc
	};
	struct mail *m = bench_alloc(sizeof(*m));

	m->good = true;
	m->cache_mem = bench_alloc(weft_atc_size(&cfg));
	m->cache = weft_atc_init(m->cache_mem, &cfg);
	m->mail_mem = bench_alloc(weft_atc_shootdown_size(1, ORDERS));
	m->mail = weft_atc_shootdown_init(m->mail_mem, 1, ORDERS);
	weft_rand_seed(&m->r, 1);
	weft_atc_shootdown_online(m->mail, 0, m->cache, NULL, NULL);
	for (uint64_t page = 0; page < PAGES; page++)
		weft_atc_install(m->cache, 0, page << 12, page << 12, 12, WEFT_ATC_R);
	memset(m->want, WEFT_ATC_R, sizeof(m->want));
	b->prepare(m);
	b->run(m);
	if (b->kind == MAIL_ALONE ? mail_is_right(m) : mail_lookups_are_right(m))
		return m;
	snprintf(err, err_len, "%s: wrong answer", b->name);
	mail_free(m);
	return NULL;
}

const struct bench bench_mail[] = {
	{ "atc-mail", "64 single-page invalidations through a mailbox, of 16384 pages", BENCH_PLAIN,
		1 << BENCH_RTC, MAIL_ALONE, mail_setup, mail_prepare, mail_run, mail_teardown },
	{ "atc-invalidate", "the same, with 16 look-ups for each", BENCH_ATC, 1 << BENCH_RTC,
		MAIL_LOOKUPS, mail_setup, mail_lookups_prepare, mail_lookups_run,
		mail_lookups_teardown },
};

const unsigned int bench_n_mail = sizeof(bench_mail) / sizeof(bench_mail[0]);
