/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* DPDK, started for the nodes that run here. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "daemon.h"

/** Give each node buffers and an lcore; prints what memory was had. Ends the program if not. */
void launch_dpdk(struct daemon *d);

#endif /* LAUNCH_H */
