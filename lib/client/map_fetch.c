/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Pages from the fabric into maps: up to MAP_PIECE pages in a row are one operation. Where one of
 * several cannot be read, those that somebody waits for are read alone. Hot: runs per fault.
 */

#include "map_priv.h"

#include <stdio.h>

bool
client_map_fetch(struct mapper *k, struct map_frame *const *frames, uint32_t n)
{
	const struct map *m = frames[0]->m;
	const uint64_t page = frames[0]->page;
	const uint32_t number = k->free_fetch;
	struct weft_op op = { .kind = WEFT_OP_READ, .region = m->region->r, .user = number };
	struct map_fetch *fetch;
	uint32_t i;

	if (number == MAP_NONE)
		return false;
	fetch = &k->fetch[number];
	op.off = m->off + page * k->page;
	op.buf = fetch->buf;
	op.n = (n - 1) * k->page + client_map_bytes(m, page + n - 1);
	if (client_op_begin(k->w, &op) != 0)
		return false;
	memset(fetch->buf + op.n, 0, n * k->page - op.n);
	k->free_fetch = fetch->next;
	fetch->n = n;
	for (i = 0; i < n; i++) {
		fetch->frame[i] = frames[i];
		if (frames[i]->state != MAP_FETCHING)
			client_map_begin_busy(k, frames[i], MAP_FETCHING);
	}
	k->count.fetched += n;
	return true;
}

/* Put pages in a row into the map. They are the same in all that is said of them. */
static void
fetch_install(struct mapper *k, struct map_frame **frames, uint32_t n, const uint8_t *buf)
{
	const struct map *m = frames[0]->m;
	const bool is_store = frames[0]->is_stored && m->can_write;
	const uint64_t at = client_map_address(frames[0]);
	uint32_t i;
	int rc;

	/* Before the first store can be made. */
	for (i = 0; i < n && is_store; i++)
		memcpy(client_map_twin(k, frames[i]), buf + i * k->page, k->page);
	rc = client_map_install(k, at, buf, n, m->can_write && !is_store);
	if (rc == -EEXIST)
		client_map_wake(k, at, n * k->page);
	for (i = 0; i < n; i++) {
		client_map_end_busy(k, frames[i], is_store ? MAP_DIRTY : MAP_CLEAN);
		client_map_job_note(k, frames[i], rc == -EEXIST ? 0 : rc, 0);
		if (rc == 0 || rc == -EEXIST)
			continue;
		/* Some of them may be there nevertheless. */
		client_map_punch(k, m, frames[i]->page, 1);
		client_map_turn_bad(k, frames[i], rc);
	}
}

void
client_map_unstage(struct mapper *k, struct map_frame *f, bool is_store)
{
	f->is_stored = is_store;
	client_map_begin_busy(k, f, MAP_FETCHING);
	memcpy(k->scratch, client_map_twin(k, f), k->page);
	fetch_install(k, &f, 1, k->scratch);
}

static bool
fetch_is_staged(const struct map_frame *f)
{
	return f->is_trip && !f->is_wanted && !f->is_counted;
}

/* How many of @n frames from @f on are put into the map by one call. */
static uint32_t
fetch_alike(struct map_frame *const *f, uint32_t n)
{
	uint32_t i;

	for (i = 1; i < n && !f[i]->is_stale && !fetch_is_staged(f[i]) &&
		    f[i]->is_stored == f[0]->is_stored;
		i++)
		;
	return i;
}

/* Nobody waits, and it is not to be kept. */
static void
fetch_drop(struct mapper *k, struct map_frame *f, int status, uint64_t bad)
{
	client_map_end_busy(k, f, MAP_FREE);
	client_map_job_note(k, f, status, bad);
	client_map_release(k, f);
}

/* Once more, of those that somebody waits for, each alone. */
static void
fetch_again(struct mapper *k, struct map_frame *f)
{
	const uint64_t at = client_map_address(f);

	f->is_stale = false;
	if (client_map_fetch(k, &f, 1))
		return;
	/* There is no room now: who waits asks again, and so does the job. */
	fetch_drop(k, f, -EAGAIN, 0);
	client_map_wake(k, at, k->page);
}

static void
fetch_failed(struct mapper *k, struct map_frame *f, uint32_t n, int status, uint64_t bad)
{
	if (!f->is_wanted && !f->is_counted)
		fetch_drop(k, f, 0, 0);
	else if (!k->is_over && (f->is_stale || n > 1))
		fetch_again(k, f);
	else if (!f->is_wanted)
		fetch_drop(k, f, status, bad);
	else {
		client_map_end_busy(k, f, MAP_FREE);
		client_map_job_note(k, f, status, bad);
		client_map_turn_bad(k, f, status);
	}
}

void
client_map_fetched(struct mapper *k, uint32_t number, int status, uint64_t bad)
{
	struct map_fetch fetch = k->fetch[number];
	struct map_frame **f = fetch.frame;
	uint32_t i, n;

	/* Free already for what is fetched again: what it holds is read before that comes. */
	k->fetch[number].n = 0;
	k->fetch[number].next = k->free_fetch;
	k->free_fetch = number;
	for (i = 0; i < fetch.n; i += n) {
		n = 1;
		if (status != 0 || f[i]->is_stale) {
			fetch_failed(k, f[i], fetch.n, status, bad);
		} else if (fetch_is_staged(f[i])) {
			memcpy(client_map_twin(k, f[i]), fetch.buf + i * k->page, k->page);
			client_map_end_busy(k, f[i], MAP_STAGED);
		} else {
			n = fetch_alike(f + i, fetch.n - i);
			fetch_install(k, f + i, n, fetch.buf + i * k->page);
		}
	}
}
