/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftd --http: metrics, state, events and a page, read-only (doc/http.md). Served by the control
 * thread between its other work, by libmicrohttpd without threads of its own.
 */
#ifndef HTTP_H
#define HTTP_H

#include "daemon.h"

/** Read [ADDRESS:]PORT; ends the program if it is none. For --check as well. */
void http_check(const char *listen);

/** Begin to listen, if --http says so. 0, or -errno with a line. */
int http_init(struct daemon *d, char *err, size_t err_len);

/** Answer what has come. Control thread; @p seconds since the start. */
void http_maintain(double seconds);

/** Close all connections, and listen no more. Control side. */
void http_fini(void);

#endif /* HTTP_H */
