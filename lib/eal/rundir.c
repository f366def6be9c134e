/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where DPDK's telemetry socket goes. EAL takes /var/run/dpdk for root, which the root of a user
 * namespace may not write to, and $XDG_RUNTIME_DIR/dpdk for others; without that variable it falls
 * back to /tmp/dpdk, which belongs to whichever user came first and is closed to all others.
 * $RUNTIME_DIRECTORY beats all of these.
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

/* Would EAL's own choice do? Its tools look there first, so keep to it if it does. */
static bool
rundir_default_will_do(uid_t uid, const char *root_dir, const char *tmp_dir)
{
	char path[128];
	struct stat st;

	if (uid == 0)
		return access(root_dir, W_OK) == 0;
	snprintf(path, sizeof(path), "%s/dpdk", tmp_dir);
	return lstat(path, &st) != 0 || st.st_uid == uid;
}

bool
eal_choose_rundir(const char *root_dir, const char *users_dir, const char *tmp_dir)
{
	uid_t uid = geteuid();
	char path[128];

	if (getenv("RUNTIME_DIRECTORY") != NULL || (uid != 0 && getenv("XDG_RUNTIME_DIR") != NULL))
		return false;
	snprintf(path, sizeof(path), "%s/%u", users_dir, uid);
	if (uid != 0 && rundir_is_private(path, uid)) {
		setenv("RUNTIME_DIRECTORY", path, 1);
		return false;
	}
	if (rundir_default_will_do(uid, root_dir, tmp_dir))
		return false;
	snprintf(path, sizeof(path), "%s/weft-%u", tmp_dir, uid);
	mkdir(path, 0700);
	return rundir_is_private(path, uid) && setenv("RUNTIME_DIRECTORY", path, 1) == 0;
}
