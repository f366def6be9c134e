/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Who is at the other end of a TCP connection of this machine. */
#ifndef HTTP_PEER_H
#define HTTP_PEER_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

/**
 * The user whose socket is at the other end, as /proc/net says.
 *
 * @param fd    a connected socket of TCP
 * @param uid   receives the user
 * @return 1: of this machine, with its user; 0: of another machine; -errno: it cannot be known
 */
int http_peer_user(int fd, uid_t *uid);

/** Whether an address is of this machine alone: 127.0.0.0/8 or ::1. */
bool http_peer_is_loopback(const struct sockaddr *a);

#endif /* HTTP_PEER_H */
