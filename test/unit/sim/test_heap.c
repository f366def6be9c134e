/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The simulator's events come in the order of time, and of their making at the same time. */

#include "weft_test.h"

#include "heap.h"

#define EVENTS 5000

WEFT_TEST(empty_gives_nothing)
{
	static struct heap h;
	struct event e;

	assert_false(heap_pop(&h, &e));
	heap_push(&h, 7, 3, &h);
	assert_true(heap_pop(&h, &e));
	assert_int_equal(e.time_ns, 7);
	assert_int_equal(heap_event_kind(&e), 3);
	assert_ptr_equal(e.object, &h);
	assert_false(heap_pop(&h, &e));
	heap_free(&h);
}

WEFT_TEST(equal_times_keep_their_order)
{
	static uint8_t object[EVENTS];
	static struct heap h;
	struct event e;

	/* Kinds fall, so that an order by kind would show. */
	for (unsigned int i = 0; i < EVENTS; i++)
		heap_push(&h, 1, (uint8_t)(255 - i % 256), &object[i]);
	for (unsigned int i = 0; i < EVENTS; i++) {
		assert_true(heap_pop(&h, &e));
		assert_ptr_equal(e.object, &object[i]);
	}
	heap_free(&h);
}

/* Pushes and pops mixed, against a plain search; few different times, near and far ones. */
WEFT_TEST(always_the_first_of_all)
{
	static struct {
		uint64_t time;
		bool there;
	} ref[EVENTS];
	static struct heap h;
	struct weft_rand r;
	struct event e;
	unsigned int n = 0, left = 0;
	uint64_t now = 0;

	weft_test_seed(&r, __func__);
	while (n < EVENTS || left > 0) {
		unsigned int best = EVENTS;

		if (n < EVENTS && weft_rand_below(&r, 5) < 3) {
			ref[n].time = now + weft_rand_below(&r, 100);
			if (weft_rand_below(&r, 4) == 0)
				ref[n].time += weft_rand_below(&r, 3) * (WHEEL_NS - 50);
			ref[n].there = true;
			heap_push(&h, ref[n].time, 0, &ref[n]);
			n++;
			left++;
			continue;
		}
		for (unsigned int i = 0; i < n; i++)
			if (ref[i].there && (best == EVENTS || ref[i].time < ref[best].time))
				best = i;
		assert_int_equal(heap_pop(&h, &e), best < EVENTS);
		if (best == EVENTS)
			continue;
		assert_ptr_equal(e.object, &ref[best]);
		now = e.time_ns;
		ref[best].there = false;
		left--;
	}
	heap_free(&h);
}
