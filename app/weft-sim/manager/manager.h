/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Fabrics that a manager makes work (doc/sim.md): switches with empty tables and GFDs whose memory
 * is nobody's, the responders of lib/node, and lib/fm, which commands them over a network that
 * loses, repeats and delays messages.
 */
#ifndef MANAGER_H
#define MANAGER_H

#include "sim.h"

extern const char *const manager_words[];

/** Whether a seed has such a fabric. */
bool manager_is_wanted(const struct sim_opt *o, uint64_t seed);

/** Whether no seed has one. */
bool manager_is_off(const struct sim_opt *o);

/** Whether it has nothing else. */
bool manager_is_alone(const struct sim_opt *o);

/** Run that of the seed of @p s, and judge it. */
void manager_run(struct sim *s);

#endif /* MANAGER_H */
