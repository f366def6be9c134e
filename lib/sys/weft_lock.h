/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A lock that one process of a machine holds and that ends with it, however it ends: a file that is
 * locked (flock) and holds the process's number for whoever finds it taken.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Take the lock of @p path without waiting.
 *
 * @param holder  receives the process number of the holder with -EBUSY, or 0: not known
 * @return a descriptor for weft_lock_release(), or -EBUSY, or -errno of opening or locking the file
 */
int weft_lock_take(const char *path, pid_t *holder);

/** Give it back and remove the file. */
void weft_lock_release(int fd, const char *path);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_LOCK_H */
