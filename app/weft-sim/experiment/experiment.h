/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* weft-sim --experiment: doc/experiment.md is its manual. */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include "cli.h"

/** Names of experiments, and the command line of one. */
extern const char *const experiment_words[];
extern const struct cli_program experiment_program;

/**
 * Run the experiment that the command line names, --experiment NAME among its options, and print
 * its table.
 *
 * @return exit status: 0; 1 if a result is not what arithmetic says, or could not be written
 */
int experiment_main(int argc, char **argv);

#endif /* EXPERIMENT_H */
