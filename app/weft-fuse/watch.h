/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Regions with open files are asked for a line every second, so that the kernel does not go on to
 * give out pages of memory that was lost: it asks for nothing that it has. A thread does it, with
 * an attachment of its own.
 */
#ifndef WATCH_H
#define WATCH_H

#include "fabric.h"
#include "nodes.h"

/** A file of a region was opened. Without memory the region is not watched. Any thread. */
void watch_open(struct node *node, const struct fabric_file *f);

/** It was closed. Any thread. */
void watch_close(const struct node *node);

/** Start the thread. @return 0, or an errno */
int watch_begin(void);

/** End it, after fabric_stop(), and forget all. */
void watch_end(void);

#endif /* WATCH_H */
