/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A heap with four children a node: half the levels of a binary one, and the children that are
 * compared stand side by side in memory. Hot.
 */

#include "heap.h"

#include <stdlib.h>

#include "cli.h"

#define CHILDREN 4
#define FIRST_ROOM 1024

static inline bool
before(const struct event *a, const struct event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void
heap_grow(struct heap *h)
{
	h->room = h->room == 0 ? FIRST_ROOM : 2 * h->room;
	h->event = realloc(h->event, h->room * sizeof(*h->event));
	if (h->event == NULL)
		cli_fail("out of memory for %zu events", h->room);
}

void
heap_push(struct heap *h, uint64_t time_ns, uint8_t kind, void *object)
{
	const struct event e = { time_ns, h->made++ << 8 | kind, object };
	size_t at;

	if (h->n == h->room)
		heap_grow(h);
	for (at = h->n++; at > 0; at = (at - 1) / CHILDREN) {
		if (before(&h->event[(at - 1) / CHILDREN], &e))
			break;
		h->event[at] = h->event[(at - 1) / CHILDREN];
	}
	h->event[at] = e;
}

/* Index of the first of the children of @at, or h->n if it has none. */
static size_t
first_child(const struct heap *h, size_t at)
{
	const size_t from = at * CHILDREN + 1;
	const size_t to = from + CHILDREN < h->n ? from + CHILDREN : h->n;
	size_t best = from;

	if (from >= h->n)
		return h->n;
	for (size_t i = from + 1; i < to; i++)
		if (before(&h->event[i], &h->event[best]))
			best = i;
	return best;
}

bool
heap_pop(struct heap *h, struct event *e)
{
	struct event last;
	size_t at = 0;

	if (h->n == 0)
		return false;
	*e = h->event[0];
	last = h->event[--h->n];
	if (h->n == 0)
		return true;
	for (;;) {
		const size_t child = first_child(h, at);

		if (child >= h->n || before(&last, &h->event[child]))
			break;
		h->event[at] = h->event[child];
		at = child;
	}
	h->event[at] = last;
	return true;
}

void
heap_free(struct heap *h)
{
	free(h->event);
	*h = (struct heap){ 0 };
}
