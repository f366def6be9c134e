/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Layouts and topologies judged before a run. */
#ifndef CHECK_H
#define CHECK_H

#include "daemon.h"

/* --- layout.c --- */

/** Judge the layouts of the options; ends the program if one is of no use. */
void layouts_check(const struct daemon *d);

/* --- check.c --- */

/** What --check says of a topology that is good. @return the exit status */
int check_print(const struct daemon *d);

#endif /* CHECK_H */
