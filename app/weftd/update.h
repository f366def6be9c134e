/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Changes under traffic: the topology file that is read again, and memory that a manager gives. One
 * at a time, on the control thread, which looks at what is under way and never waits for it.
 */
#ifndef UPDATE_H
#define UPDATE_H

#include "daemon.h"

/**
 * Ask for the topology file to be read again, and what may change to be changed.
 *
 * @return its number, for update_reload_has_ended()
 */
uint64_t update_ask_reload(void);

/**
 * Whether that is over, and what came of the last one: 0; -EINVAL: refused, with a line, which was
 * also printed; -ESHUTDOWN: the run ends. Call it between two calls of update_maintain().
 */
bool update_reload_has_ended(uint64_t number, int *rc, const char **err);

/** Begin what was asked for, and go on with what is under way. Control thread, as all here. */
void update_maintain(struct daemon *d);

/** Go on with what is under way: a look, without waiting. */
void update_go_on(struct daemon *d);
bool update_is_going(void);

/** The run ends: what is under way is given up. */
void update_stop(struct daemon *d);

/** A change is over: 0, or -ESHUTDOWN: the run ends. */
typedef void (*update_done_fn)(struct daemon *d, void *arg, int rc);

/**
 * Have hosts and programs here go on by another memory (weft_topo_set_memory()).
 *
 * @param is_announced  hosts are to expect it, and nothing more: programs may not use it yet
 * @param done          called when nothing that was begun goes by what was before, perhaps at once
 * @return 0; -EBUSY: another change is under way; -EINVAL, -E2BIG, -ENOMEM: nothing has changed
 */
int update_memory(struct daemon *d, const struct weft_topo_grant *grant, size_t n,
	bool is_announced, update_done_fn done, void *arg);

#endif /* UPDATE_H */
