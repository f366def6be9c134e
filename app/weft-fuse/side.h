/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Companion files: REGION-WORD, such as a database's g0-journal, g0-wal and g0-shm. They are
 * ordinary files of a folder on this machine (--side), so that they outlive weft-fuse. One process
 * at a time has such a folder. All functions may be called by any thread.
 */
#ifndef SIDE_H
#define SIDE_H

#include "nodes.h"

/**
 * Take a folder, for good.
 *
 * @return 0; -EBUSY: another weft-fuse has it; or -errno of opening it
 */
int side_begin(const char *path);

/** After all else. */
void side_end(void);

/** Whether there is such a folder, and a region that the name is a companion's of. */
bool side_is_name(const char *name);

/**
 * A companion file.
 *
 * @param flags  0, or O_CREAT with O_EXCL or not
 * @param mode   of one that is made
 * @param node   receives it on 0, with one more reference
 * @return 0; -ENOENT; -EPERM: it cannot be made; -errno
 */
int side_find(const char *name, int flags, mode_t mode, struct node **node);

/** References that the kernel gives back. */
void side_forget(struct node *node, uint64_t n);

int side_unlink(const char *name);

/** 0 or -errno. */
int side_stat(struct node *node, struct stat *st);
int side_setattr(struct node *node, const struct stat *attr, int to_set);

/** fsync(2) of the folder: what was made and removed stays so. */
int side_sync(void);

/**
 * Call @p see with each name; until it returns false.
 *
 * @return 0 or -errno
 */
int side_list(bool (*see)(void *arg, const char *name, uint64_t number), void *arg);

#endif /* SIDE_H */
