/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Which lcore runs what. */
#ifndef SEGMENTS_H
#define SEGMENTS_H

#include "daemon.h"

struct rte_tel_data;

/**
 * Once both pipelines are there: which segment goes where, for as long as lcores run. 0, or
 * -ENOMEM.
 */
int segments_init(struct node *n);

/* Whether its layouts run these halves of its links on another lcore than the node's. */
bool segments_apart(const struct node *n, enum weft_stage_ends half);

/** End the program if layouts part for a node what cannot be parted; they have been judged. */
void segments_check(const struct daemon *d);

void segments_fini(struct node *n);

/** What --check says of a node that names lcores: a line each. */
void segments_print(const struct daemon *d, unsigned int node);

/** One loop for each lcore that serves a node: it polls its nodes and segments in turn. */
void segments_make_loops(struct daemon *d);

/** No lcore runs any more: the poll of a node does everything. */
void segments_ended(struct daemon *d);

/** [{lcore, segment, busy_cycles, idle_cycles, stages {name: cycles a flit}}] */
json_t *segments_json(const struct node *n);

/** The lcore of link_rx for what node @p pid sends (of its way). */
unsigned int segments_rx_lcore(const struct node *n, uint16_t pid);

/** The same without stages, by name: rx_0, rx_1, ..., tx_0, ... 0, or -ENOMEM. */
int segments_tell(const struct node *n, struct rte_tel_data *data);

#endif /* SEGMENTS_H */
