/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A loop's inside, shared by its rounds (loop.c) and the watch over its idle policy (monitor.c). */
#ifndef WEFT_LOOP_PRIV_H
#define WEFT_LOOP_PRIV_H

#include "eal_priv.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "weft_base.h"

/* A poll function, and what its calls took. Written by the loop. */
struct loop_poll {
	struct weft_poll poll;
	_Atomic uint64_t busy_cycles; /* of calls that found work */
	_Atomic uint64_t idle_cycles; /* of the others */
};

struct weft_loop {
	/* Written by control threads, rarely; read every round. */
	alignas(WEFT_CACHE_LINE) atomic_bool stop;
	atomic_uint idle; /* enum weft_idle */
	struct weft_loop_cfg cfg; /* its polls are not used: the copy below is */
	/* Valid while the loop runs; under the monitor's lock. */
	int schedstat_fd; /* of the loop's thread, -1: none */
	uint64_t seen_ns; /* when the wait was last read */
	uint64_t seen_wait_ns;
	/* Written by the loop. */
	alignas(WEFT_CACHE_LINE) _Atomic uint64_t rounds;
	_Atomic uint64_t empty_rounds;
	_Atomic uint64_t yields;
	_Atomic uint64_t naps;
	_Atomic uint64_t wakes;
	atomic_bool has_ended; /* after all else that it wrote */
	_Atomic uint64_t rest_cycles; /* between rounds, after one that found no work */
	alignas(WEFT_CACHE_LINE) struct loop_poll polls[];
};

/* Enter a loop in the list of its process; -EBUSY if its lcore has one. */
int loop_register(struct weft_loop *loop);
void loop_unregister(struct weft_loop *loop);

/* On the loop's own thread: choose its policy (a probe of 20 ms if need be) and have it watched. */
void loop_choose_idle(struct weft_loop *loop);

/* On the loop's own thread, at its end: no more watching. */
void loop_forget_idle(struct weft_loop *loop);

void loop_monitor_stop(void);

#endif /* WEFT_LOOP_PRIV_H */
