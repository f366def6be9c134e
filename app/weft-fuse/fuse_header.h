/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* libfuse in the version that all files of this program mean: that of Debian 12. */
#ifndef FUSE_HEADER_H
#define FUSE_HEADER_H

#define FUSE_USE_VERSION 312

#include <fuse3/fuse_lowlevel.h>

#endif /* FUSE_HEADER_H */
