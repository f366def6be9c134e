/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where DPDK's telemetry socket goes. EAL takes /var/run/dpdk for root and $XDG_RUNTIME_DIR/dpdk
 * for others; without that variable it falls back to /tmp/dpdk, which belongs to whichever user
 * came first and is closed to all others.
 */

#include "eal_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Nobody can have put something else there: a folder, not a link, ours and closed to others. */
static bool
rundir_is_private(const char *path, uid_t uid)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == uid &&
	       (st.st_mode & 077) == 0;
}

void
eal_choose_rundir(const char *users_dir, const char *tmp_dir)
{
	uid_t uid = geteuid();
	char path[128];
	struct stat st;

	if (uid == 0 || getenv("XDG_RUNTIME_DIR") != NULL)
		return;
	snprintf(path, sizeof(path), "%s/%u", users_dir, uid);
	if (rundir_is_private(path, uid)) {
		setenv("XDG_RUNTIME_DIR", path, 1);
		return;
	}
	/* DPDK's own tools look in its fall-back first, so keep to it while it can be used. */
	snprintf(path, sizeof(path), "%s/dpdk", tmp_dir);
	if (lstat(path, &st) != 0 || st.st_uid == uid)
		return;
	snprintf(path, sizeof(path), "%s/weft-%u", tmp_dir, uid);
	mkdir(path, 0700);
	if (rundir_is_private(path, uid))
		setenv("XDG_RUNTIME_DIR", path, 1);
}
