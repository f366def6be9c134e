/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The relay behind a memif client: the driver connects to it, it to the server. Each time the
 * device is started they meet anew:
 *
 * lock, meet, (hold the port, stop the device,) start it, met, unlock
 */
#ifndef WEFT_MEMIF_RELAY_PRIV_H
#define WEFT_MEMIF_RELAY_PRIV_H

#include "port_priv.h"

struct memif_relay;

/* Make a relay for @port to the server at @server_path. NULL, and errno says why. */
struct memif_relay *port_memif_relay_new(struct weft_port *port, const char *server_path);

/* Where the driver is to find its server. */
const char *port_memif_relay_path(const struct memif_relay *r);

/*
 * Connect to the server, and have the driver find us when it is started. Under the lock. 0, -ENOENT
 * (nobody serves the socket), -EACCES (another user does), or -errno.
 */
int port_memif_relay_meet(struct memif_relay *r);

/* The device was started, or not: whoever was to connect has. */
void port_memif_relay_met(struct memif_relay *r);

/* Nobody has hung up since they met. Under the lock. */
bool port_memif_relay_is_joined(const struct memif_relay *r);

/* Held while the device is stopped and started, it keeps the relay from parting them. */
void port_memif_relay_lock(struct memif_relay *r);
void port_memif_relay_unlock(struct memif_relay *r);

/* NULL is allowed. Before the device is stopped. */
void port_memif_relay_close(struct memif_relay *r);

#endif /* WEFT_MEMIF_RELAY_PRIV_H */
