/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The wheel has one place a nanosecond, so its events need no sorting: each place is a list in the
 * order of making. Two levels of bits find the next place that is not empty. What is too far ahead
 * for it goes to a heap with four children a node and stays there: the first of both is taken. Hot.
 */

#include "heap.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

#define CHILDREN 4
#define FIRST_ROOM 1024

static inline bool
heap_is_before(const struct event *a, const struct event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->order < b->order;
}

static void *
heap_grow(void *old, size_t room, size_t each)
{
	void *p = realloc(old, room * each);

	if (p == NULL)
		cli_fail("out of memory for %zu events", room);
	return p;
}

/* --- the heap --- */

static void
heap_far_push(struct heap *h, const struct event *e)
{
	size_t at;

	if (h->n == h->room) {
		h->room = h->room == 0 ? FIRST_ROOM : 2 * h->room;
		h->event = heap_grow(h->event, h->room, sizeof(*h->event));
	}
	for (at = h->n++; at > 0; at = (at - 1) / CHILDREN) {
		if (heap_is_before(&h->event[(at - 1) / CHILDREN], e))
			break;
		h->event[at] = h->event[(at - 1) / CHILDREN];
	}
	h->event[at] = *e;
}

/* Index of the first of the children of @at, or h->n if it has none. */
static size_t
heap_first_child(const struct heap *h, size_t at)
{
	const size_t from = at * CHILDREN + 1;
	const size_t to = from + CHILDREN < h->n ? from + CHILDREN : h->n;
	size_t best = from;

	if (from >= h->n)
		return h->n;
	for (size_t i = from + 1; i < to; i++)
		if (heap_is_before(&h->event[i], &h->event[best]))
			best = i;
	return best;
}

static void
heap_far_pop(struct heap *h, struct event *e)
{
	struct event last;
	size_t at = 0;

	*e = h->event[0];
	last = h->event[--h->n];
	if (h->n == 0)
		return;
	for (;;) {
		const size_t child = heap_first_child(h, at);

		if (child >= h->n || heap_is_before(&last, &h->event[child]))
			break;
		h->event[at] = h->event[child];
		at = child;
	}
	h->event[at] = last;
}

/* --- the wheel --- */

static uint32_t
heap_near_new(struct wheel *w)
{
	uint32_t at = w->free;

	if (at == 0) {
		const uint32_t from = w->room == 0 ? 1 : w->room;

		w->room = w->room == 0 ? FIRST_ROOM : 2 * w->room;
		w->event = heap_grow(w->event, w->room, sizeof(*w->event));
		for (uint32_t i = from; i < w->room; i++)
			w->event[i].next = i + 1 == w->room ? 0 : i + 1;
		at = from;
	}
	w->free = w->event[at].next;
	return at;
}

static void
heap_near_push(struct wheel *w, const struct event *e)
{
	const uint32_t place = e->time_ns % WHEEL_NS, at = heap_near_new(w);

	w->event[at] = (struct wheel_event){ *e, 0 };
	if (w->first[place] == 0) {
		w->first[place] = at;
		w->set[place / 64] |= UINT64_C(1) << place % 64;
		w->word_set[place / 4096] |= UINT64_C(1) << place / 64 % 64;
	} else {
		w->event[w->last[place]].next = at;
	}
	w->last[place] = at;
	w->n++;
}

/* First place from @from on that is not empty, round the wheel; there is one. */
static uint32_t
heap_near_find(const struct wheel *w, uint32_t from)
{
	uint32_t word = from / 64, block;
	uint64_t bits = w->set[word] >> from % 64;

	if (bits != 0)
		return from + (uint32_t)__builtin_ctzll(bits);
	word = (word + 1) % WHEEL_WORDS;
	block = word / 64;
	bits = w->word_set[block] >> word % 64 << word % 64;
	while (bits == 0) {
		block = (block + 1) % (WHEEL_WORDS / 64);
		bits = w->word_set[block];
	}
	word = block * 64 + (uint32_t)__builtin_ctzll(bits);
	return word * 64 + (uint32_t)__builtin_ctzll(w->set[word]);
}

static void
heap_near_pop(struct wheel *w, uint32_t place, struct event *e)
{
	const uint32_t at = w->first[place];

	*e = w->event[at].e;
	w->first[place] = w->event[at].next;
	if (w->first[place] == 0) {
		w->set[place / 64] &= ~(UINT64_C(1) << place % 64);
		if (w->set[place / 64] == 0)
			w->word_set[place / 4096] &= ~(UINT64_C(1) << place / 64 % 64);
	}
	w->event[at].next = w->free;
	w->free = at;
	w->n--;
}

/* --- both --- */

void
heap_push(struct heap *h, uint64_t time_ns, uint8_t kind, void *object)
{
	const struct event e = { time_ns, h->made++ << 8 | kind, object };

	if (time_ns - h->wheel.now_ns < WHEEL_NS)
		heap_near_push(&h->wheel, &e);
	else
		heap_far_push(h, &e);
}

bool
heap_pop(struct heap *h, struct event *e)
{
	struct wheel *w = &h->wheel;
	uint32_t place;

	if (w->n == 0 && h->n == 0)
		return false;
	if (w->n == 0) {
		heap_far_pop(h, e);
	} else {
		place = heap_near_find(w, w->now_ns % WHEEL_NS);
		if (h->n != 0 && heap_is_before(&h->event[0], &w->event[w->first[place]].e))
			heap_far_pop(h, e);
		else
			heap_near_pop(w, place, e);
	}
	w->now_ns = e->time_ns;
	return true;
}

unsigned int
heap_ahead(const struct heap *h, const struct event **ahead, unsigned int max)
{
	const struct wheel *w = &h->wheel;
	const uint32_t begin = (uint32_t)(w->now_ns % WHEEL_NS);
	const unsigned int want = max < w->n ? max : w->n;
	uint32_t place = begin, at = 0;

	for (unsigned int i = 0; i < want; i++) {
		if (at != 0)
			at = w->event[at].next;
		while (at == 0) {
			place = heap_near_find(w, place);
			at = w->first[place];
			place = (place + 1) % WHEEL_NS;
		}
		ahead[i] = &w->event[at].e;
	}
	return want;
}

void
heap_free(struct heap *h)
{
	free(h->event);
	free(h->wheel.event);
	memset(h, 0, sizeof(*h));
}
