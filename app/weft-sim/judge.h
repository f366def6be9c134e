/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What the judges of a run are told: oracle.c of requests and memory, order.c of messages and
 * sessions.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "sim.h"

/* oracle.c: requests and memory */
void oracle_line_init(struct shadow_line *l, const uint8_t *data);
void oracle_begun(struct sim_node *n, const struct weft_request *rq);
void oracle_ended(struct sim_node *n, const struct weft_completion *c);
/** A host is gone, and with it what it had open. */
void oracle_forget(struct sim_node *n);
/** A node has seen the session of an end be over. */
void oracle_left(struct sim_end *e);
/** The data of a message that @p e sends was poisoned on its way. */
void oracle_poisoned(struct sim_end *e, const struct weft_msg *m);
/** @param e  of the GFD, by which it came */
void oracle_executes(struct sim_end *e, const struct weft_msg *m);
/** cxl: the memory of a GFD behind a switch is lost: its lines are bad until they are written. */
void oracle_memory_lost(struct sim_node *gfd);
/** A host begins a session with a target that has this memory: now it knows. */
void oracle_met(struct sim_end *host, uint64_t memory);

/* order.c: messages of a connection, sessions and bounds */
/** @param late  its data was poisoned behind it */
void order_sent(struct sim_end *e, const struct weft_msg *m, bool late);
void order_came(struct sim_end *e, const struct weft_msg *m);
void order_begin(struct sim_end *e);
/** A host knows that a session has begun, and with which memory. */
void order_memory(struct sim_end *e);
/** The session of @p e is over: was there a reason? */
void order_end(struct sim_end *e);
/** The clock of @p n jumps forward: its ends take that for silence. */
void order_clock_jumps(struct sim_node *n, uint64_t jump_ns);
void order_bounds(struct sim_end *e);
/** A switch has dropped flits that @p e sent in this session. */
void order_dropped(struct sim_end *e, uint32_t session, unsigned int flits);
/** @p e was told that so many flits were dropped; @p again: perhaps not for the first time. */
void order_told(struct sim_end *e, uint64_t flits, bool again);
/** True if nothing is under way any more. Else @p why receives what is. */
bool order_is_quiet(struct sim *s, char *why, size_t len);

/* equal.c: order and shares where several links join two switches; nothing where none do */
void equal_make(struct sim *s);
void equal_sent(const struct sim_end *e, const struct weft_msg *m);
void equal_came(const struct sim_end *e, const struct weft_msg *m);
/** At the end of a run. */
void equal_look(struct sim *s);
#endif /* JUDGE_H */
