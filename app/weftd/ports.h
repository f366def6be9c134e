/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Ports of the nodes that run here: how they are opened, and found by name. */
#ifndef PORTS_H
#define PORTS_H

#include "daemon.h"

/**
 * Ends the program if two ports of nodes here are to be one virtual device, or there are more than
 * DPDK takes.
 *
 * @param is_sure  false: all nodes need not be run by one daemon, so that is a warning
 */
void ports_check(const struct daemon *d, bool is_sure);

/** Open every port of the nodes that run here; prints the choice. 0, or -errno with a line. */
int ports_open(struct daemon *d, char *err, size_t err_len);
void ports_close(struct daemon *d);

/** Look after links: once a second from the control thread. */
void ports_maintain(struct daemon *d);

/** Files and sockets that the ports here need, captures included. */
unsigned int ports_files(const struct daemon *d);

/** The node here that has the port of this name, such as "s0.0", and its number; or NULL. */
struct node *ports_find(const struct daemon *d, const char *name, size_t len, uint16_t *port);

/** Whether a link is a pair of rings inside this process. */
bool port_is_ring(const struct daemon *d, const struct weft_topo_link *l);

#endif /* PORTS_H */
