/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a machine takes for a word and its answer, by the means that every program has. */
#ifndef PINGPONG_H
#define PINGPONG_H

#include <stdint.h>

#include "weft_latency.h"

enum pingpong_way {
	PINGPONG_PIPE, /**< a byte by pipes, both on one CPU */
	PINGPONG_PIPE_CPUS, /**< the same, a CPU each */
	PINGPONG_TCP, /**< 64 bytes by TCP over loopback, anywhere */
};

/**
 * Play with a child for so long, or until a signal comes.
 *
 * @param l  receives how long each round trip took
 * @return 0; -ENODEV: there are no two CPUs; or -errno of what could not be made
 */
int pingpong(enum pingpong_way way, double seconds, struct weft_latency *l);

#endif /* PINGPONG_H */
