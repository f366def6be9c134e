/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Unix sockets with a name in the file system, of packets (SOCK_SEQPACKET) or of lines
 * (SOCK_STREAM): to find out whether somebody serves one without connecting to it, to take the
 * place of a server that died, and to stand before another server: its socket is taken out of the
 * file system and reached by a descriptor only.
 */
#ifndef WEFT_SOCKET_H
#define WEFT_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a path with its 0. */
#define WEFT_SOCKET_PATH_MAX 108

/**
 * Does a process serve this socket? It does not notice that it was asked.
 *
 * @return 1, 0 (nothing there, or left behind by a dead one), -EEXIST (something else is there), or
 *         -errno
 */
int weft_socket_is_served(const char *path);

/**
 * Listen at @p path, mode 0600, in the place of a server that died. Of several processes that try
 * at once, one succeeds.
 *
 * @return a descriptor (not blocking, closed on exec), or -EADDRINUSE, -EEXIST, or -errno
 */
int weft_socket_listen(const char *path);

/** The same for a stream of bytes. */
int weft_socket_listen_stream(const char *path);

/**
 * Listen for streams at @p path in place of whoever serves it: what has connected stays there, what
 * connects from now on comes here. The path leads to one of the two at any time.
 *
 * @return as weft_socket_listen(), but never -EADDRINUSE
 */
int weft_socket_replace_stream(const char *path);

/**
 * Connect to a socket.
 *
 * @param timeout_ms  of this, and of every call that sends or receives by the descriptor
 * @return a descriptor (closed on exec), or -ENOENT, -ECONNREFUSED (its server died), or -errno
 */
int weft_socket_connect(const char *path, unsigned int timeout_ms);

/** The same for a stream of bytes. */
int weft_socket_connect_stream(const char *path, unsigned int timeout_ms);

/** Take a socket's name away. @return a descriptor for weft_socket_reach(), or -errno. */
int weft_socket_hide(const char *path);

/** Connect to a socket that was hidden, as weft_socket_connect() does. */
int weft_socket_reach(int hidden, unsigned int timeout_ms);

/** Whether the process at the other end is of this user, or of root. */
bool weft_socket_is_trusted(int fd);

/** The process at the other end, and the name of its program. @return its number, or 0. */
pid_t weft_socket_peer(int fd, char *name, size_t len);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_SOCKET_H */
