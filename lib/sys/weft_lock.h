/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A lock that one process of a machine holds and that ends with it, however it ends: a file that is
 * locked (flock) and holds the process's number for whoever finds it taken.
 */
#ifndef WEFT_LOCK_H
#define WEFT_LOCK_H

#include <stdbool.h>
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

/**
 * Take a lock that is known in this network namespace, whatever files its processes see: an
 * abstract socket, of which other users can take the name.
 *
 * @param name    1 to 100 characters
 * @param holder  receives the process number of the holder with -EBUSY, or 0: not known here
 * @return a descriptor to close, or -EBUSY: a process of this user or root holds it; -EPERM:
 *         somebody else has the name; or -errno
 */
int weft_lock_take_net(const char *name, pid_t *holder);

/**
 * The next process of this user or root that tried to take a lock of ours since the call before. To
 * be called now and then: too many that wait are not told that it is held.
 *
 * @param caller  receives its number, or 0: not known here
 * @return false: there is none
 */
bool weft_lock_next_caller(int fd, pid_t *caller);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_LOCK_H */
