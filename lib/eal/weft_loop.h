/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The loop of an lcore: poll functions in turn until told to stop, and what to do when a round
 * finds no work. An lcore that owns its CPU spins; one that shares it yields, because spinning
 * there costs a hundred times the throughput (doc/runtime.md has the table). The loop is hot: a
 * round reads the TSC once a poll and enters the kernel only when it was empty on a shared CPU.
 *
 * Every round ends in a quiescent point (rte_rcu_qsbr), so that control code may unpublish a
 * pointer, call weft_loop_quiesce() and free what it pointed to.
 */
#ifndef WEFT_LOOP_H
#define WEFT_LOOP_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** Reaction of an lcore to a round without work. */
enum weft_idle {
	WEFT_IDLE_AUTO, /**< decide by facts, and again while running */
	WEFT_IDLE_SPIN, /**< poll on */
	/** sched_yield(); after 1 ms without work naps of a 50th of it, 500 us at most */
	WEFT_IDLE_YIELD,
};

/** "auto", "spin", "yield". */
extern const char *const weft_idle_words[];

/** Facts about an lcore and its CPU. */
struct weft_idle_facts {
	enum weft_idle wanted; /**< the user's word; anything but AUTO decides */
	/** loops of this process that may run on the CPU, this one too */
	unsigned int loops_on_cpu;
	unsigned int cpus; /**< CPUs the lcore may run on, >= 1 */
	bool isolated; /**< its only CPU is in isolcpus= */
	int wait_permille; /**< share of a probe spent runnable but waiting; < 0: not known */
};

/**
 * Decide from facts. Pure.
 *
 * @param why  receives a constant phrase, such as "owns its CPU"; may be NULL
 * @return WEFT_IDLE_SPIN or WEFT_IDLE_YIELD
 */
enum weft_idle weft_idle_decide(const struct weft_idle_facts *facts, const char **why);

/** Poll once for work. @return how much was done; 0 means nothing. */
typedef unsigned int (*weft_poll_fn)(void *arg);

/** One entry of a loop's list. */
struct weft_poll {
	weft_poll_fn fn;
	void *arg; /**< handed to fn; may be NULL */
};

struct weft_loop_cfg {
	unsigned int lcore; /**< where it will run: an lcore of EAL */
	enum weft_idle idle;
	const struct weft_poll *polls; /**< called in this order; copied */
	unsigned int n_polls; /**< >= 1 */
	/**
	 * Called with a line for people, such as "lcore 1 on CPU 1: spins (owns its CPU)", when the
	 * policy is chosen (on the lcore, before the first round) and whenever it changes (on the
	 * monitor's thread). May be NULL. Must not call weft_loop_* functions.
	 */
	void (*on_idle)(void *arg, const char *line);
	void *on_idle_arg;
	/**
	 * Before a nap (@p begins), which it can forbid by false, and after it. Who has work for
	 * the lcore can then end a nap by wake_fd. NULL: naps end by themselves.
	 */
	bool (*on_nap)(void *arg, bool begins);
	void *on_nap_arg;
	int wake_fd; /**< eventfd, not blocking; the caller's, for the loop's life */
};

/** Counters of a loop. */
struct weft_loop_stats {
	uint64_t rounds; /**< rounds of polls */
	uint64_t empty_rounds; /**< rounds that found no work */
	uint64_t yields; /**< of these, how many gave the CPU away by sched_yield() */
	uint64_t naps; /**< and how many by a nap */
	uint64_t wakes; /**< naps that were ended by wake_fd */
};

struct weft_loop;

/**
 * Make a loop; it does not run yet. One loop per lcore at a time.
 *
 * @return the loop, or NULL with rte_errno EINVAL (no polls, or no such lcore), EBUSY (the lcore
 *         has a loop), ENOMEM
 */
struct weft_loop *weft_loop_create(const struct weft_loop_cfg *cfg);

/**
 * Start the loop on its worker lcore. Main lcore only.
 *
 * @return 0, -EBUSY (the lcore runs something), or -EINVAL (its lcore is the main one: use
 *         weft_loop_run())
 */
int weft_loop_launch(struct weft_loop *loop);

/** Run the loop in the calling thread, which must be its lcore's, until it is stopped. */
void weft_loop_run(struct weft_loop *loop);

/**
 * Ask the loop to end after its present round. For good: a stopped loop that is run returns at
 * once. Any thread, and signal handlers.
 */
void weft_loop_stop(struct weft_loop *loop);

/** Wait until a launched loop has ended. Main lcore only. */
void weft_loop_join(struct weft_loop *loop);

/** Free a loop that does not run; NULL is allowed. */
void weft_loop_free(struct weft_loop *loop);

/** Read the counters. Any thread; values of a running loop are a moment old. */
void weft_loop_stats(const struct weft_loop *loop, struct weft_loop_stats *stats);

/**
 * Cycles of the TSC that calls of one poll function took, by whether they found work. Any thread.
 *
 * @param poll  its place in cfg.polls
 * @param idle  calls that found none, and the loop's rests after rounds in which no poll found any
 */
void weft_loop_poll_cycles(
	const struct weft_loop *loop, unsigned int poll, uint64_t *busy, uint64_t *idle);

/** The policy in use: SPIN or YIELD, or AUTO before the loop has run. Any thread. */
enum weft_idle weft_loop_idle(const struct weft_loop *loop);

/**
 * Wait until every running loop has passed a quiescent point: whatever was unpublished before the
 * call is no longer in use by any of them. Sleeps while waiting. Must not be called from inside a
 * poll function.
 */
void weft_loop_quiesce(void);

WEFT_END_DECLS

#endif /* WEFT_LOOP_H */
