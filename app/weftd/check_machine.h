/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* --check with --server: the machine. */
#ifndef CHECK_MACHINE_H
#define CHECK_MACHINE_H

struct daemon;

/**
 * What stops the nodes of a server, if this machine is that server; a line each. Ends the program
 * where it cannot look.
 *
 * @return the exit status
 */
int check_machine(const struct daemon *d, const char *server);

#endif /* CHECK_MACHINE_H */
