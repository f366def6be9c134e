/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The topology's address space, rights and routes as tables of nodes here: the first ones, those
 * that SIGHUP makes, and those that commands change.
 */
#ifndef FABRIC_H
#define FABRIC_H

#include "daemon.h"

/** Put the node's first tables in force: DRT, and at a host or GFD an edge port. 0, or -errno. */
int fabric_tables(struct node *n, char *err, size_t err_len);

/**
 * Tables of decoders, groups and rights, and the guard that asks them: of a GFD, a host that offers
 * memory (its windows are the groups), or a device with memory. 0, or -errno.
 */
int fabric_access(struct node *n, char *err, size_t err_len);

void fabric_fini(struct node *n);

/** Make the tables that @p t asks for, beside those in force. Control thread. 0, or -errno. */
int fabric_prepare(struct node *n, const struct weft_topo *t, char *err, size_t err_len);

/** Put them in force, if they differ. */
bool fabric_publish(struct node *n);

/** A copy of the tables of rights in force, to change; NULL: no memory. Control thread. */
struct weft_gfam *fabric_copy_access(struct node *n);

/** Put it in force. What it replaced is the next copy, once no lcore reads it any more. */
void fabric_publish_access(struct node *n);

/** Once nobody reads the old ones, or to give the prepared ones up: free them. */
void fabric_free_retired(struct node *n);

#endif /* FABRIC_H */
