/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of programs' memory, which knows nothing of rings and requests: a line is whole, so
 * it holds one of a few images. A write makes a second image of each while it is open; once it is
 * acknowledged only those are left, and if it was lost, both. A read may give what was there at any
 * moment while it was open.
 */

#include "program.h"

#include <string.h>

void
program_ledger_init(struct program_ledger *l, bool comes_late)
{
	memset(l, 0, sizeof(*l));
	l->count = 1;
	l->oldest = UINT64_MAX;
	l->comes_late = comes_late;
	for (unsigned int i = 0; i < PROGRAM_LINES; i++)
		l->line[i].n = 1;
}

static void
line_add(struct program_line *p, const uint8_t *data)
{
	for (unsigned int i = 0; i < p->n; i++)
		if (p->image[i].dead == 0 && memcmp(p->image[i].data, data, PROGRAM_LINE) == 0)
			return;
	if (p->n == PROGRAM_IMAGES) {
		p->anything = true;
		return;
	}
	p->image[p->n].dead = 0;
	memcpy(p->image[p->n++].data, data, PROGRAM_LINE);
}

/* Images that are there no more, and were not when any read that is open began. */
static void
line_make_room(const struct program_ledger *l, struct program_line *p)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < p->n; i++)
		if (p->image[i].dead == 0 || p->image[i].dead > l->oldest)
			p->image[left++] = p->image[i];
	p->n = (uint8_t)left;
}

void
program_ledger_lost(struct program_ledger *l)
{
	static const uint8_t zeros[PROGRAM_LINE];

	l->count++;
	for (unsigned int i = 0; i < PROGRAM_LINES; i++) {
		line_make_room(l, &l->line[i]);
		line_add(&l->line[i], zeros);
	}
}

/* The part of line @p i that is of @p n bytes at @p at. @return where it begins in these */
static uint32_t
line_part(unsigned int i, uint32_t at, uint32_t n, uint32_t *first, uint32_t *end)
{
	const uint32_t base = i * PROGRAM_LINE;

	*first = at > base ? at - base : 0;
	*end = at + n < base + PROGRAM_LINE ? at + n - base : PROGRAM_LINE;
	return base + *first - at;
}

bool
program_may_write(const struct program_ledger *l, uint32_t at, uint32_t n)
{
	for (uint32_t i = at / PROGRAM_LINE; i * PROGRAM_LINE < at + n; i++)
		if (l->line[i].is_written || l->line[i].is_frozen)
			return false;
	return true;
}

void
program_write_begins(struct program_ledger *l, uint32_t at, uint32_t n, const uint8_t *data)
{
	for (uint32_t i = at / PROGRAM_LINE; i * PROGRAM_LINE < at + n; i++) {
		struct program_line *p = &l->line[i];
		uint32_t first, end;
		const uint32_t from = line_part(i, at, n, &first, &end);

		p->is_written = true;
		p->first = (uint8_t)first;
		p->last = (uint8_t)(end - 1);
		memcpy(p->data + first, data + from, end - first);
	}
}

static void
line_written(struct program_line *p, const uint8_t *before, uint8_t *after)
{
	memcpy(after, before, PROGRAM_LINE);
	memcpy(after + p->first, p->data + p->first, (size_t)(p->last - p->first) + 1);
}

static void
line_write_ends(struct program_ledger *l, struct program_line *p, bool is_done)
{
	const unsigned int n = p->n;

	p->is_written = false;
	if (is_done && p->first == 0 && p->last == PROGRAM_LINE - 1) {
		/* A read that is open may have found what nobody has kept. */
		p->anything = p->anything && l->oldest != UINT64_MAX;
		line_add(p, p->data);
	}
	for (unsigned int i = 0; i < n; i++) {
		uint8_t after[PROGRAM_LINE];

		if (p->image[i].dead != 0)
			continue;
		line_written(p, p->image[i].data, after);
		if (is_done && memcmp(after, p->image[i].data, PROGRAM_LINE) != 0)
			p->image[i].dead = l->count;
		line_add(p, after);
	}
	if (!is_done)
		p->is_frozen = l->comes_late;
}

void
program_write_ends(struct program_ledger *l, uint32_t at, uint32_t n, bool is_done)
{
	l->count++;
	for (uint32_t i = at / PROGRAM_LINE; i * PROGRAM_LINE < at + n; i++) {
		line_make_room(l, &l->line[i]);
		line_write_ends(l, &l->line[i], is_done);
	}
}

/* Whether a part of a line is what an image has there, or a write that is open makes of it. */
static bool
line_holds(struct program_line *p, const struct program_image *m, const uint8_t *data,
	uint32_t first, uint32_t end)
{
	uint8_t after[PROGRAM_LINE];

	if (memcmp(m->data + first, data, end - first) == 0)
		return true;
	if (!p->is_written)
		return false;
	line_written(p, m->data, after);
	return memcmp(after + first, data, end - first) == 0;
}

static bool
line_read(struct program_ledger *l, struct program_line *p, const uint8_t *data, uint32_t first,
	uint32_t end, uint64_t begun)
{
	/* Nothing has ended since it began: what it did not find is not there. */
	const bool settles = !p->is_written && !p->is_frozen && !p->anything && begun == l->count;
	bool is_known = p->anything;

	for (unsigned int i = 0; i < p->n; i++) {
		struct program_image *m = &p->image[i];

		if (m->dead != 0 && m->dead <= begun)
			continue;
		if (line_holds(p, m, data, first, end))
			is_known = true;
		else if (settles && m->dead == 0)
			m->dead = l->count;
	}
	return is_known;
}

int
program_read_ends(
	struct program_ledger *l, uint32_t at, uint32_t n, const uint8_t *data, uint64_t begun)
{
	for (uint32_t i = at / PROGRAM_LINE; i * PROGRAM_LINE < at + n; i++) {
		uint32_t first, end;
		const uint32_t from = line_part(i, at, n, &first, &end);

		if (!line_read(l, &l->line[i], data + from, first, end, begun))
			return (int)i;
	}
	return -1;
}
