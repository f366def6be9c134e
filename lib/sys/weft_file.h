/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Files that a user names for output. Opening one never waits, and what root writes never lands
 * through a link that somebody else put there.
 */
#ifndef WEFT_FILE_H
#define WEFT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Make or empty a file for writing. A FIFO needs a reader that is there already. Root follows no
 * symbolic link at the end of the path, except those of /dev and /proc (such as /dev/stdout).
 *
 * @param mode  of a file that is made
 * @return a descriptor that blocks when written to and is closed on exec; or -errno of open(2), of
 *         which -ENXIO (a FIFO without a reader) and -ELOOP (a link) have words in
 *         weft_file_error()
 */
int weft_file_create(const char *path, mode_t mode);

/** The same as a stream, mode 0666 less umask(2). NULL with errno. */
FILE *weft_file_stream(const char *path);

/**
 * Close a stream of weft_file_stream(). A regular file that was not written to its end is removed,
 * so that nobody takes a part for the whole.
 *
 * @param rc  0, or -errno of an earlier write
 * @return 0: all of it was written; @p rc; or -errno of the last write
 */
int weft_file_close(FILE *f, const char *path, int rc);

/** Message for a negative errno of weft_file_create(). Not thread-safe. */
const char *weft_file_error(int rc);

/** True if weft_file_create() would refuse this path to this user for being a link. */
bool weft_file_is_link(const char *path);

/**
 * True if nobody but this user can enter a folder, so that nobody else can have put something
 * there: a folder, not a link to one, of the effective user's, closed to all others.
 */
bool weft_file_is_private_dir(const char *path);

/**
 * The same, but others may pass through it to what they know by name (mode 0711): they neither list
 * it nor put something there. What is in it has modes of its own.
 */
bool weft_file_is_passed_dir(const char *path);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_FILE_H */
