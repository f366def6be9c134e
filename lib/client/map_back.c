/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What was stored, back into the fabric. A page is protected, then read, and the lines that differ
 * from its twin are written: whoever stores in it meanwhile waits until that is done, and makes it
 * dirty again. What cannot be written back stays dirty, with its twin, so that all of it is tried
 * again.
 */

#include "map_priv.h"

#include <stdio.h>

#define BACK_LINE 64

/* The first line from @at on that differs or does not, of @len bytes; @len: none */
static uint64_t
back_next(const uint8_t *a, const uint8_t *b, uint64_t at, uint64_t len, bool differs)
{
	while (at < len) {
		const uint64_t n = len - at < BACK_LINE ? len - at : BACK_LINE;

		if ((memcmp(a + at, b + at, n) != 0) == differs)
			return at;
		at += BACK_LINE;
	}
	return len;
}

/* Begin to write lines in a row. @return false: it is all over */
static bool
back_write(struct mapper *k, struct map_frame *f, uint64_t from, uint64_t to)
{
	const struct map *m = f->m;
	const struct weft_op op = { .kind = WEFT_OP_WRITE,
		.region = m->region->r,
		.off = m->off + f->page * k->page + from,
		.buf = k->scratch + from,
		.n = to - from,
		.user = MAP_WRITE_BACK | (uint64_t)(f - k->cache.frame) };

	while (client_op_begin(k->w, &op) != 0) {
		client_map_reap(k, true);
		if (k->is_over)
			return false;
	}
	f->n_writes++;
	k->count.written_lines += (to - from + BACK_LINE - 1) / BACK_LINE;
	return true;
}

static void
back_end(struct mapper *k, struct map_frame *f, uint64_t bad)
{
	const bool is_leaving = f->is_leaving;

	client_map_end_busy(k, f, f->status == 0 ? MAP_CLEAN : MAP_DIRTY);
	client_map_job_note(k, f, f->status, bad);
	if (f->status == 0 && is_leaving) {
		k->count.evicted++;
		client_map_release(k, f);
	}
}

void
client_map_backed(struct mapper *k, uint32_t number, int status, uint64_t bad)
{
	struct map_frame *f = &k->cache.frame[number];

	if (status != 0 && f->status == 0)
		k->cache.stuck = f->status = (int16_t)status;
	if (--f->n_writes == 0)
		back_end(k, f, bad);
}

/* One that is protected. */
static void
back_begin(struct mapper *k, struct map_frame *f)
{
	const uint8_t *twin = client_map_twin(k, f);
	const uint64_t len = client_map_bytes(f->m, f->page);
	uint64_t at, end;

	client_map_read_page(k, f, k->scratch);
	/* One more than are open, until the last has begun. */
	f->n_writes = 1;
	f->status = 0;
	client_map_begin_busy(k, f, MAP_WRITING);
	for (at = back_next(k->scratch, twin, 0, len, true); at < len;
		at = back_next(k->scratch, twin, end, len, true)) {
		end = back_next(k->scratch, twin, at, len, false);
		if (!back_write(k, f, at, end))
			return;
	}
	client_map_backed(k, (uint32_t)(f - k->cache.frame), 0, 0);
}

/* How many of @n frames are pages in a row. */
static uint32_t
back_row(struct map_frame *const *f, uint32_t n)
{
	uint32_t i;

	for (i = 1; i < n && f[i]->m == f[0]->m && f[i]->page == f[0]->page + i; i++)
		;
	return i;
}

void
client_map_back(struct mapper *k, struct map_frame *const *frames, uint32_t n)
{
	uint32_t i, row = 0;

	for (i = 0; i < n; i++) {
		if (k->is_over) {
			k->cache.stuck = frames[i]->status = -ESHUTDOWN;
			frames[i]->is_leaving = false;
			client_map_job_note(k, frames[i], -ESHUTDOWN, 0);
			continue;
		}
		/* One call for neighbours: each waits for other CPUs. */
		if (row == 0) {
			row = back_row(frames + i, n - i);
			client_map_protect(k, client_map_address(frames[i]), row);
		}
		row--;
		back_begin(k, frames[i]);
	}
}
