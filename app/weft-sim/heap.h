/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What happens when: a queue of events in the order of time, and of their making where the time is
 * the same, so that a run is the same on every machine. Those that are near, nearly all, stand in a
 * wheel with a place for every nanosecond; those that are far in a heap.
 */
#ifndef HEAP_H
#define HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time_ns;
	uint64_t order; /* sequence << 8 | kind: the sequence decides among equal times */
	void *object;
};

#define WHEEL_NS 32768 /* so far ahead it reaches; a power of two */
#define WHEEL_WORDS (WHEEL_NS / 64)

/* Events of the wheel are in lists; 0 is the end of one. */
struct wheel_event {
	struct event e;
	uint32_t next;
};

struct wheel {
	uint64_t now_ns; /* time of the event taken last: all in it are within WHEEL_NS of that */
	uint64_t word_set[WHEEL_WORDS / 64]; /* bit: a word of `set` is not 0 */
	uint64_t set[WHEEL_WORDS]; /* bit: a place is not empty */
	uint32_t first[WHEEL_NS];
	uint32_t last[WHEEL_NS];
	struct wheel_event *event; /* [0] is not used */
	uint32_t room;
	uint32_t free; /* list */
	uint32_t n;
};

/** All zero: empty. */
struct heap {
	struct event *event; /* four children a node */
	size_t n;
	size_t room;
	uint64_t made; /* events so far */
	struct wheel wheel;
};

/**
 * Add an event, at the time of the one taken last or later. Never fails: without memory the program
 * ends with a message.
 */
void heap_push(struct heap *h, uint64_t time_ns, uint8_t kind, void *object);

/** Take the first event. False: there is none. */
bool heap_pop(struct heap *h, struct event *e);

/**
 * What comes next, as far as is known now and it is near: for prefetching.
 *
 * @param ahead  receives up to @p max events, the first one first
 * @return how many
 */
unsigned int heap_ahead(const struct heap *h, const struct event **ahead, unsigned int max);

/** Forget all events and free their memory. */
void heap_free(struct heap *h);

static inline uint8_t
heap_event_kind(const struct event *e)
{
	return (uint8_t)e->order;
}

#endif /* HEAP_H */
