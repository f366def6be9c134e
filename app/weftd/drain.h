/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Nodes that an operator drains for maintenance (lib/node/drain.c): they begin no new work, and the
 * daemon says when nothing of it is outstanding. A node without work of its own can only be spared:
 * then those have to be drained whose requests come to it, or by it. Control thread.
 */
#ifndef DRAIN_H
#define DRAIN_H

#include "daemon.h"

/** Have a node drain, or go on. */
void drain_set(struct node *n, bool on);

/**
 * Null, or of a node that drains {left, first}: what it has outstanding (null: it was not looked at
 * yet), and the names of nodes that have to be drained before it is at rest.
 */
json_t *drain_json(const struct node *n);

/** Each round: say which nodes have nothing outstanding any more. */
void drains_log_events(struct daemon *d);

#endif /* DRAIN_H */
