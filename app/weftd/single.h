/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* That no other process here runs a node of ours. */
#ifndef SINGLE_H
#define SINGLE_H

#include "daemon.h"

/** Where this user's sockets and locks are. */
void run_folder(char *path, size_t len);

/** See that no other process here runs a node of ours. 0, or -errno with a line. */
int single_init(struct daemon *d, char *err, size_t err_len);

/** Once a second: say who was refused. */
void single_log_events(struct daemon *d);
void single_fini(struct daemon *d);

#endif /* SINGLE_H */
