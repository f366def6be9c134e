/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* This run of the process, and memory that others replaced. */
#ifndef GENERATION_H
#define GENERATION_H

#include "daemon.h"

/** Draw the number of this run. 0, or -EIO: the system gives no random bits. */
int generation_run(struct daemon *d);

/** Control thread: say whose memory was replaced since the last call, a line each. */
void generation_log_events(struct daemon *d);

#endif /* GENERATION_H */
