/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The folder that shows the regions. What cannot be done ends the program with a line. */
#ifndef MOUNT_H
#define MOUNT_H

#include "fuse_header.h"

/**
 * See that a folder can be mounted on; take away what a weft-fuse that was killed left there.
 *
 * @return its path from the root on, the caller's to free
 */
char *mount_prepare(const char *folder);

/** Mount there, for a host. */
struct fuse_session *mount_begin(const char *folder, const char *host);

/** Unmount, if nobody else has. */
void mount_end(struct fuse_session *se);

#endif /* MOUNT_H */
