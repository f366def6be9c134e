/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What happens when: a queue of events in the order of time, and of their making where the time is
 * the same, so that a run is the same on every machine.
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

/** All zero: empty. */
struct heap {
	struct event *event; /* four children a node */
	size_t n;
	size_t room;
	uint64_t made; /* events so far */
};

/** Add an event. Never fails: without memory the program ends with a message. */
void heap_push(struct heap *h, uint64_t time_ns, uint8_t kind, void *object);

/** Take the first event. False: there is none. */
bool heap_pop(struct heap *h, struct event *e);

/** Forget all events and free their memory. */
void heap_free(struct heap *h);

static inline uint8_t
event_kind(const struct event *e)
{
	return (uint8_t)e->order;
}

#endif /* HEAP_H */
