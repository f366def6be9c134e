/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What programs that time round trips by the kernel need: two ends, and a CPU. */
#ifndef LOOPBACK_H
#define LOOPBACK_H

/** Both ends of a TCP connection over loopback, which sends at once. 0, or -errno. */
int loopback_tcp(int fd[2]);

/** Have the calling thread run on one CPU. 0, or -errno. */
int loopback_pin(int cpu);

#endif /* LOOPBACK_H */
