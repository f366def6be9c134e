/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Where the sockets of hosts are: the run directory of a user (attach.md section 4). */
#ifndef WEFT_ATTACH_RUNDIR_H
#define WEFT_ATTACH_RUNDIR_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_ATTACH_SUFFIX ".sock" /**< a host's socket is its name with this */
#define WEFT_ATTACH_FM "fm" /**< with that, no host's: a manager's, for operators (doc/fm.md) */
#define WEFT_ATTACH_CCI                                                                            \
	"cci-" /**< before the name of a component: no host's, but its CCI (doc/cci.md) */

/**
 * The run directory of the user that this process acts for.
 *
 * @param path  receives it; where that fails, what was looked at last
 * @param make  create what is missing of it, mode 0700
 * @return 0; -ENOENT: not there; -EACCES: it is no folder, another user's, or others may write to
 *         it; -ENAMETOOLONG: longer than @p len; or -errno of creating it
 */
int weft_attach_rundir(char *path, size_t len, bool make);

/** What is wrong, for a person; until the next strerror(). */
const char *weft_attach_rundir_error(int rc);

WEFT_END_DECLS

#endif /* WEFT_ATTACH_RUNDIR_H */
