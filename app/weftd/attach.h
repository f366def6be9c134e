/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Programs attach to hosts of the daemon: sockets, and the thread that answers there. */
#ifndef ATTACH_H
#define ATTACH_H

#include "daemon.h"

#define ATTACH_TAGS 256 /* requests that the clients of a host may have open together */

/** Before nodes are made: hosts here take clients. */
void attach_prepare(struct daemon *d);

/**
 * Look up the users and groups that a topology names as clients of hosts here, before anybody else
 * sees it. 0, or -EINVAL with a line.
 */
int attach_resolve(const struct daemon *d, struct weft_topo *t, struct weft_topo_error *e);

/** When the nodes are there: open the sockets. 0, or -errno with a line. */
int attach_init(struct daemon *d, char *err, size_t err_len);

/** Let programs end naps of a loop whose hosts they use. Once attach_init() was called. */
void attach_bell(struct weft_loop_cfg *loop);

/** When lcores are about to run: somebody answers. Ends the program where that fails. */
void attach_start(void);

/**
 * Rights by the topology @p next, which is about to be in force (@p is_before), or is: the old one
 * if nothing comes of it. False: operations that may not go on have not ended. Control thread,
 * between quiescent points.
 */
bool attach_change(const struct weft_topo *next, bool is_before);

/** Programs that are attached to a host: [{pid, uid, share, regions}]. Any thread but an lcore. */
json_t *attach_json(const struct node *n);

/** No lcore runs any more: all clients are told so. */
void attach_end(void);

#endif /* ATTACH_H */
