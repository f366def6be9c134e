/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* IDE of the links, and its keys. */
#ifndef IDE_H
#define IDE_H

#include "daemon.h"

/**
 * Read the pre-shared key, if IDE is on; the process cannot be dumped from then on. 0, or -errno.
 */
int ide_open(struct daemon *d, char *err, size_t err_len);
void ide_close(struct daemon *d);

/** Set what an end needs for IDE, if it is on. 0; -ENOLCK: no memory could be locked; -ENOMEM. */
int ide_conn(struct conn *conn, struct weft_link_cfg *c);

/** Once the end is not used any more. */
void ide_conn_fini(struct conn *c);

/** Control thread: say which streams failed since the last call, a line each. */
void ide_log_events(struct daemon *d);

/* Say of which peers somebody else sends flits. Control thread. */
void conns_log_events(struct daemon *d);

/** A word for reports: "off", "down", "secure", "insecure", "closed". */
const char *ide_state(const struct conn *c);

#endif /* IDE_H */
