/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Who may send in by each port. */
#ifndef INGRESS_H
#define INGRESS_H

#include "daemon.h"

/** Set the rule of every port of the node. 0, or -ENOMEM. */
int ingress_init(struct node *n);
void ingress_fini(struct node *n);

/** Control thread: say which ports refused what since the last call. */
void ingress_log_events(struct daemon *d);

/** What a port takes and has refused: {spid, flits, control, messages}. */
json_t *ingress_json(const struct node *n, unsigned int port);

/** The same of all ports, those above 0: "port_1_refused_flits". */
void ingress_rows(
	const struct node *n, void (*fn)(void *arg, const char *name, uint64_t value), void *arg);

#endif /* INGRESS_H */
