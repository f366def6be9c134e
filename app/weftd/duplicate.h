/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Daemons of one node that single.c cannot know of: on other machines. */
#ifndef DUPLICATE_H
#define DUPLICATE_H

#include "daemon.h"

/**
 * See that no process on the networks of the ports runs a node of ours; takes 0.2 s where there are
 * any. Before nodes are polled. 0, or -errno with a line.
 */
int duplicates_start(struct daemon *d, char *err, size_t err_len);
void duplicates_fini(struct node *n);

/** Take an announcement, or a frame of managers (weft_neighbour_fn). */
bool duplicate_came(void *arg, struct rte_mbuf *m);

/**
 * Announce the node @p arg where that is due. Of nodes that have n->duplicates. Returns frames
 * sent.
 */
unsigned int duplicates_poll(void *arg);

/** Control thread: a link came up, there may be others behind it now. */
void duplicates_ask(const struct node *n);

/** Control thread: say who was found since the last call, a line a port. */
void duplicates_log_events(struct daemon *d);

/** What a port sent and heard: counters, or null. */
json_t *duplicates_json(const struct node *n, unsigned int port);

#endif /* DUPLICATE_H */
