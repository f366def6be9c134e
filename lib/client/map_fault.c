/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Faults, by what their page is, and readers that go forward. A stream is a place where the next
 * fault is expected: whoever reads on from there gets pages ahead, more each time. In the middle of
 * them one page is fetched but kept out of the map: its fault shows how far the reader has come,
 * and the next pages are asked for while it has others to read. Hot: runs per fault.
 */

#include "map_priv.h"

#define FAULT_RECENT 64 /* turns of other streams since one had its own */

/* --- readers that go forward --- */

/* The one that a page continues; NULL: none. */
static struct map_stream *
fault_stream(struct mapper *k, const struct map *m, uint64_t page)
{
	struct map_stream *s;

	for (s = k->stream; s < k->stream + MAP_STREAMS; s++)
		if (s->m == m && page >= s->next && page <= s->end) {
			s->used = ++k->tick;
			return s;
		}
	return NULL;
}

static struct map_stream *
fault_stream_new(struct mapper *k, const struct map *m, uint64_t page)
{
	struct map_stream *oldest = &k->stream[0], *s;

	for (s = k->stream; s < k->stream + MAP_STREAMS; s++)
		if (s->used < oldest->used)
			oldest = s;
	*oldest =
		(struct map_stream){ .m = m, .next = page + 1, .end = page + 1, .used = ++k->tick };
	return oldest;
}

void
client_map_forget_streams(struct mapper *k, const struct map *m)
{
	struct map_stream *s;

	for (s = k->stream; s < k->stream + MAP_STREAMS; s++)
		if (s->m == m)
			*s = (struct map_stream){ 0 };
}

/* Half of the cache for all who read on: what is fetched ahead must not push out the same. */
static uint32_t
fault_most(const struct mapper *k)
{
	const struct map_stream *s;
	uint32_t n = 0, most;

	for (s = k->stream; s < k->stream + MAP_STREAMS; s++)
		n += s->window > 0 && k->tick - s->used < FAULT_RECENT;
	most = k->cache.limit / (2 * (n == 0 ? 1 : n));
	return most < MAP_WINDOW_MAX ? most : MAP_WINDOW_MAX;
}

/* Two pages in a row may be chance; the third is the first that others are fetched with. */
static uint32_t
fault_grow(const struct mapper *k, const struct map *m, uint32_t window)
{
	const uint32_t most = fault_most(k);

	if (m->advice == WEFT_SEQUENTIAL)
		window = MAP_WINDOW_MAX;
	else if (window < 2)
		window = window == 0 ? 1 : MAP_WINDOW_MIN;
	else
		window *= 2;
	return window < most ? window : most;
}

/* Those frames that could not be asked for are absent again. */
static bool
fault_fetch_ahead(struct mapper *k, struct map_frame **f, uint32_t n)
{
	uint32_t i;

	if (n == 0 || client_map_fetch(k, f, n)) {
		k->count.fetched_ahead += n;
		return true;
	}
	for (i = 0; i < n; i++)
		client_map_release(k, f[i]);
	return false;
}

/*
 * Ask for pages from @from to before @to, those that are absent, while there is room. @return where
 * it ended
 */
static uint64_t
fault_ahead(struct mapper *k, struct map *m, uint64_t from, uint64_t to, uint64_t trip)
{
	struct map_frame *f[MAP_PIECE];
	uint32_t n = 0;
	uint64_t page;

	for (page = from; page < to; page++) {
		const bool is_absent = client_map_frame(m, page) == NULL;

		/* What is staged is fetched alone. */
		if (n == MAP_PIECE || page == trip || page == trip + 1 || !is_absent) {
			if (!fault_fetch_ahead(k, f, n))
				return page - n;
			n = 0;
		}
		if (!is_absent)
			continue;
		f[n] = client_map_take_ahead(k, m, page);
		if (f[n] == NULL)
			break;
		f[n++]->is_trip = page == trip;
	}
	return fault_fetch_ahead(k, f, n) ? page : page - n;
}

/* A page was asked for that is not in the map. One that is on its way begins no stream. */
static void
fault_advance(struct mapper *k, struct map *m, uint64_t page, bool is_absent)
{
	struct map_stream *s;
	uint64_t from, to;

	if (m->advice == WEFT_RANDOM || k->is_over)
		return;
	s = fault_stream(k, m, page);
	if (s == NULL) {
		if (!is_absent)
			return;
		s = fault_stream_new(k, m, page);
		if (m->advice != WEFT_SEQUENTIAL)
			return;
	}
	s->window = fault_grow(k, m, s->window);
	from = is_absent || s->end <= page ? page + 1 : s->end;
	if (s->window < 2) {
		s->next = s->end = page + 1;
		return;
	}
	to = m->n_pages - from < s->window ? m->n_pages : from + s->window;
	s->end = fault_ahead(k, m, from, to, from + s->window / 2);
	s->next = from + s->window / 2 < s->end ? from + s->window / 2 : s->end;
}

/* --- faults --- */

static bool
fault_absent(struct mapper *k, struct map *m, uint64_t page, bool is_store)
{
	struct map_frame *f;
	const enum map_take rc = client_map_take(k, m, page, &f);

	if (rc == MAP_WAIT)
		return false;
	if (rc == MAP_FULL || k->is_over) {
		client_map_turn_bad(k, f, k->is_over ? -ESHUTDOWN : k->cache.stuck);
		return true;
	}
	f->is_wanted = f->is_again = true;
	f->is_stored = is_store;
	if (!client_map_fetch(k, &f, 1)) {
		client_map_release(k, f);
		return false;
	}
	k->count.faults++;
	/* First of all the daemon gets what somebody waits for. */
	client_map_publish(k);
	fault_advance(k, m, page, true);
	return true;
}

static void
fault_staged(struct mapper *k, struct map_frame *f, bool is_store)
{
	struct map *m = f->m;
	const uint64_t page = f->page;

	k->count.faults++;
	f->is_again = true;
	client_map_unstage(k, f, is_store);
	fault_advance(k, m, page, false);
}

static void
fault_fetching(struct mapper *k, struct map_frame *f, bool is_store)
{
	const bool is_first = !f->is_wanted;

	f->is_wanted = f->is_again = true;
	f->is_stored |= is_store;
	/* The reader is as fast as the fabric. */
	if (is_first)
		fault_advance(k, f->m, f->page, false);
}

/* @return false: not yet */
static bool
fault_present(struct mapper *k, struct map_frame *f, bool is_store)
{
	const uint64_t at = client_map_address(f);

	if (is_store && f->state == MAP_WRITING)
		return false;
	if (is_store && f->state == MAP_CLEAN && f->m->can_write) {
		k->count.first_stores++;
		client_map_turn_dirty(k, f);
	} else if (is_store && f->state == MAP_DIRTY) {
		/* It could not be written back, and is protected since. */
		client_map_unprotect(k, at);
	} else {
		client_map_wake(k, at, k->page);
	}
	return true;
}

bool
client_map_fault(struct mapper *k, const struct map_fault *fault)
{
	struct map *m = client_map_find(k, fault->address);
	struct map_frame *f;
	uint64_t page;

	if (m == NULL) {
		client_map_wake(k, fault->address & ~(k->page - 1), k->page);
		return true;
	}
	/* Until it is none. */
	if (m->is_ending)
		return false;
	page = (fault->address - (uintptr_t)m->at) / k->page;
	client_map_hold(k, fault->tid, m, page);
	f = client_map_frame(m, page);
	if (f == NULL)
		return fault_absent(k, m, page, fault->is_store);
	if (f->state == MAP_FETCHING)
		fault_fetching(k, f, fault->is_store);
	else if (f->state == MAP_STAGED)
		fault_staged(k, f, fault->is_store);
	else
		return fault_present(k, f, fault->is_store);
	return true;
}
