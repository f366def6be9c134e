/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Control side of routing snapshots (weft_tables.h) whose readers are lcores in loops: two copies,
 * one in force, one to change. A commit is one store; what it replaced is written again only when
 * every loop has ended a round since (weft_loop_quiesce(), which is rte_rcu_qsbr).
 */
#ifndef WEFT_TABLES_WRITER_H
#define WEFT_TABLES_WRITER_H

#include "weft_base.h"
#include "weft_tables.h"

WEFT_BEGIN_DECLS

/** One thread at a time, which is not in a poll function. */
struct weft_tables_writer {
	struct weft_tables_slot slot; /**< what readers are given, such as weft_env.tables */
	struct weft_tables *live; /* in force; never written */
	struct weft_tables *spare; /* the next one, or still read by some */
};

/**
 * Make both copies and put empty tables in force.
 *
 * @param socket  NUMA node of the readers, or SOCKET_ID_ANY
 * @return 0, -EINVAL as weft_tables_init(), or -ENOMEM
 */
int weft_tables_writer_init(
	struct weft_tables_writer *w, const struct weft_tables_cfg *cfg, int socket);

/** Free both copies. Waits for the loops; none may ask the slot any more. */
void weft_tables_writer_fini(struct weft_tables_writer *w);

/**
 * A copy of the tables in force, to change. Waits until nobody reads what the last commit replaced:
 * no wait if the loops have turned since. Without a commit the changes are forgotten at the next
 * call.
 */
struct weft_tables *weft_tables_begin(struct weft_tables_writer *w);

/** Put the copy in force: each loop sees it from its next round on. Does not wait. */
void weft_tables_commit(struct weft_tables_writer *w);

WEFT_END_DECLS

#endif /* WEFT_TABLES_WRITER_H */
