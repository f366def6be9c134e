/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* See weft_attach_rundir.h. Symbolic links are not followed: in /tmp anybody may place one. */

#include "weft_attach_rundir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int
rundir_judge(const char *path, bool make)
{
	struct stat st;

	if (make && mkdir(path, 0700) != 0 && errno != EEXIST)
		return -errno;
	if (lstat(path, &st) != 0)
		return -errno;
	return S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	                       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0
	               ? 0
	               : -EACCES;
}

/* As the daemon's locks and sockets: XDG_RUNTIME_DIR holds for root as well. */
static int
rundir_choose(char *path, size_t len)
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	int n;

	if (xdg != NULL && xdg[0] == '/')
		n = snprintf(path, len, "%s/weft", xdg);
	else if (geteuid() == 0)
		n = snprintf(path, len, "/run/weft");
	else
		n = snprintf(path, len, "/tmp/weft-%u", geteuid());
	return n >= 0 && (size_t)n < len ? 0 : -ENAMETOOLONG;
}

int
weft_attach_rundir(char *path, size_t len, bool make)
{
	const int rc = rundir_choose(path, len);

	return rc == 0 ? rundir_judge(path, make) : rc;
}

const char *
weft_attach_rundir_error(int rc)
{
	return rc == -EACCES ? "expected a folder of this user that others may not write to"
	                     : strerror(-rc);
}
