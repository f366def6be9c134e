/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How far long work is: a line on a terminal that is overwritten, nothing elsewhere. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdint.h>

/** Begin. It shows after a second, or at once if there is much to do. @p total 0: not known. */
void progress_begin(const char *verb, const char *region, uint64_t total);

/** So many bytes are done. */
void progress_at(uint64_t done);

/** Take the line away. */
void progress_clear(void);

#endif /* PROGRESS_H */
