/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Detection of a second process that runs the same node on the same network (doc/session.md), after
 * the manner of duplicate address detection. One of these for each port by which others can be
 * reached. A process has a random instance number and announces it:
 *
 *	ANNOUNCE(I, 0)   ->           a question: does another process run this node?
 *	                 <-           ANNOUNCE(J, I): J does
 *
 * Before the node takes part, it asks a few times; an answer refuses it. Of two that ask each other
 * at the same time the smaller instance goes on. Once the node takes part nothing that comes stops
 * it: it asks now and then, and its owner is told who answers. A process that is refused tells the
 * other one before it ends. With a pre-shared key an answer proves it; others are counted, no more.
 *
 * A pure state machine: time comes in with each call. One thread at a time.
 */
#ifndef WEFT_DUPLICATE_H
#define WEFT_DUPLICATE_H

#include "weft_base.h"
#include "weft_control.h"
#include "weft_telem.h"

WEFT_BEGIN_DECLS

/** Make the WEFT_PROOF_LEN bytes of an answer, whose own proof is all zeros. False: cannot. */
typedef bool (*weft_duplicate_proof_fn)(void *arg, const struct weft_control *c, uint8_t *proof);

/** Times in nanoseconds. */
struct weft_duplicate_cfg {
	uint8_t fabric[WEFT_CONTROL_NAME_LEN]; /**< zero-padded, as in weft_control.h */
	uint8_t node[WEFT_CONTROL_NAME_LEN];
	uint64_t instance; /**< of this process: random, not 0, the same at all of its ports */
	uint64_t ask_ns; /**< between questions before the node takes part */
	/** between questions afterwards, or up to an eighth less, by instance */
	uint64_t again_ns;
	uint64_t pause_ns; /**< one question is answered, and one answer checked, in so long */
	weft_duplicate_proof_fn proof; /**< NULL: there is no key */
	void *arg;
};

/**
 * Ask 4 times 55 ms apart and then every 10 s or less; pause 20 ms. Names, instance and proof are
 * 0.
 */
void weft_duplicate_defaults(struct weft_duplicate_cfg *c);

enum weft_duplicate_state {
	WEFT_DUPLICATE_ASKING, /**< the node does not take part yet */
	WEFT_DUPLICATE_RUNS, /**< it does */
	WEFT_DUPLICATE_REFUSED /**< another process was first: this one has to end */
};

enum weft_duplicate_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_DUPLICATE_N_##id,
#include "weft_duplicate_counters.def"
#undef WEFT_COUNTER
	WEFT_DUPLICATE_N_COUNTERS
};

/** At one port. Set by weft_duplicate_init(); to be read only. */
struct weft_duplicate {
	struct weft_duplicate_cfg cfg;
	uint8_t state; /* enum weft_duplicate_state */
	uint8_t left; /* ASKING: questions to send; REFUSED: answers */
	uint64_t due_ns; /* of the next message of our own accord; ASKING, none left: of the end */
	uint64_t asked_ns; /* last question sent */
	uint64_t began_ns; /* RUNS */
	uint64_t answer_to; /* instance whose question is to be answered; 0: none */
	uint64_t answer_after_ns, check_after_ns; /* none before */
	uint64_t other; /* instance found last; 0: none */
	uint64_t other_runs_ms; /* what it says of itself; 0: it does not take part */
	uint64_t found_ns; /* when */
	uint64_t count[WEFT_DUPLICATE_N_COUNTERS];
};

/** Start, ASKING. @return 0; -EINVAL if the instance or one of the times is 0 */
int weft_duplicate_init(
	struct weft_duplicate *d, const struct weft_duplicate_cfg *cfg, uint64_t now_ns);

/**
 * An ANNOUNCE came in by the port.
 *
 * @return whether it told of another process of this node: d->other. While that one goes on
 *         answering, once in again_ns / 2
 */
bool weft_duplicate_take(struct weft_duplicate *d, const struct weft_control *c, uint64_t now_ns);

/** Announcement to send now by the port, into @p c. Call until there is none: false. */
bool weft_duplicate_next(struct weft_duplicate *d, uint64_t now_ns, struct weft_control *c);

/** When weft_duplicate_next() has something to send of its own accord; UINT64_MAX: never. */
uint64_t weft_duplicate_deadline(const struct weft_duplicate *d);

/** ASKING: all was asked and there was time to answer. REFUSED: the other one was told. */
bool weft_duplicate_is_settled(const struct weft_duplicate *d, uint64_t now_ns);

/** The node takes part from now on. Not in REFUSED. */
void weft_duplicate_begin(struct weft_duplicate *d, uint64_t now_ns);

/** RUNS: ask soon: others may be there who were not before. */
void weft_duplicate_ask(struct weft_duplicate *d);

extern const struct weft_counter weft_duplicate_counters[];

WEFT_END_DECLS

#endif /* WEFT_DUPLICATE_H */
