/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A loop's inside, shared by its rounds (loop.c) and the watch over its idle policy (monitor.c). */
#ifndef WEFT_LOOP_PRIV_H
#define WEFT_LOOP_PRIV_H

#include "eal_priv.h"

#include <stdalign.h>
#include <stdatomic.h>

#include "weft_base.h"

#define LOOP_NAPS_AFTER_US 1000
#define LOOP_NAP_MAX_NS 500000
#define LOOP_NAP_NS_PER_US 20 /* a 50th of the time without work */
#define LOOP_ALONE_US 4000 /* longer than a round trip of naps through three daemons */
#define LOOP_ALONE_NAPS_AFTER_US 100

/*
 * How long a loop has had nothing to do, by the TSC. What comes alone and is soon done, as a
 * keep-alive is, says nothing of what comes next: behind it naps go on as long as they were.
 */
struct loop_quiet {
	uint64_t since; /* nothing came but what came alone */
	uint64_t worked; /* end of the last round that found work */
	uint64_t event; /* of the first of those that followed closely upon each other */
	uint64_t tsc_per_us;
	bool is_alone; /* that event, until now */
};

static inline struct loop_quiet
loop_quiet_from(uint64_t now, uint64_t tsc_per_us)
{
	return (struct loop_quiet){ now, now, now, tsc_per_us, false };
}

/* A round found work. */
static inline void
loop_quiet_work(struct loop_quiet *q, uint64_t now)
{
	const uint64_t gap = now - q->worked;

	if (gap >= LOOP_ALONE_NAPS_AFTER_US * q->tsc_per_us) {
		q->is_alone = gap >= LOOP_ALONE_US * q->tsc_per_us;
		q->event = now;
	} else if (now - q->event >= LOOP_NAPS_AFTER_US * q->tsc_per_us) {
		q->is_alone = false;
	}
	q->worked = now;
	if (!q->is_alone)
		q->since = now;
}

/* A round found none: how long to nap, 0 to yield. */
static inline uint64_t
loop_quiet_nap_ns(const struct loop_quiet *q, uint64_t now)
{
	const uint64_t after_us = q->is_alone ? LOOP_ALONE_NAPS_AFTER_US : LOOP_NAPS_AFTER_US;
	uint64_t ns;

	if (now - q->worked < after_us * q->tsc_per_us)
		return 0;
	ns = (now - q->since) * LOOP_NAP_NS_PER_US / q->tsc_per_us;
	return ns < LOOP_NAP_MAX_NS ? ns : LOOP_NAP_MAX_NS;
}

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
