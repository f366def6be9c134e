/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Where DPDK's telemetry socket goes, and what killed processes left there. EAL takes /var/run/dpdk
 * for root, which the root of a user namespace may not write to, and $XDG_RUNTIME_DIR/dpdk for
 * others; without that variable it falls back to /tmp/dpdk, which belongs to whichever user came
 * first and is closed to all others. $RUNTIME_DIRECTORY beats all of these.
 */

#include "eal_priv.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "weft_file.h"
#include "weft_socket.h"

#define RUNDIR_PREFIX "weft" /* what the names of our programs begin with */
#define RUNDIR_YOUNG_S 60

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

/* "weftd-4711": the process that made this folder, or 0. */
static pid_t
rundir_pid(const char *name)
{
	const char *dash = strrchr(name, '-');
	char *end;
	long pid;

	if (strncmp(name, RUNDIR_PREFIX, strlen(RUNDIR_PREFIX)) != 0 || dash == NULL ||
		dash[1] < '1' || dash[1] > '9')
		return 0;
	pid = strtol(dash + 1, &end, 10);
	return *end == '\0' && pid <= INT_MAX ? (pid_t)pid : 0;
}

/*
 * Its process is dead and nobody serves its socket: a process of another container may have the
 * number. One that starts has its folder for a moment before its socket.
 */
static bool
rundir_is_dead(int parent, const char *folder, const char *name)
{
	const pid_t pid = rundir_pid(name);
	char path[PATH_MAX + 288];
	struct stat st;

	if (pid == 0 || kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(st.st_mode) ||
		st.st_uid != geteuid())
		return false;
	snprintf(path, sizeof(path), "%s/%s/dpdk_telemetry.v2", folder, name);
	if (access(path, F_OK) != 0)
		return time(NULL) - st.st_mtime > RUNDIR_YOUNG_S;
	return strlen(path) < WEFT_SOCKET_PATH_MAX && weft_socket_is_served(path) == 0;
}

/* Files only: what else may be in there is not EAL's, and keeps the folder. */
static bool
rundir_remove(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (dir == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while ((e = readdir(dir)) != NULL)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			unlinkat(fd, e->d_name, 0);
	closedir(dir);
	return unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

unsigned int
eal_remove_dead_rundirs(const char *own)
{
	char folder[PATH_MAX];
	const char *slash = strrchr(own, '/');
	const struct dirent *e;
	unsigned int removed = 0;
	DIR *dir;

	if (slash == NULL || slash == own)
		return 0;
	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - own), own);
	dir = opendir(folder);
	if (dir == NULL)
		return 0;
	while ((e = readdir(dir)) != NULL)
		if (rundir_is_dead(dirfd(dir), folder, e->d_name))
			removed += rundir_remove(dirfd(dir), e->d_name);
	closedir(dir);
	return removed;
}

bool
eal_choose_rundir(const char *root_dir, const char *users_dir, const char *tmp_dir)
{
	uid_t uid = geteuid();
	char path[128];

	if (getenv("RUNTIME_DIRECTORY") != NULL || (uid != 0 && getenv("XDG_RUNTIME_DIR") != NULL))
		return false;
	snprintf(path, sizeof(path), "%s/%u", users_dir, uid);
	if (uid != 0 && weft_file_is_private_dir(path)) {
		setenv("RUNTIME_DIRECTORY", path, 1);
		return false;
	}
	if (rundir_default_will_do(uid, root_dir, tmp_dir))
		return false;
	snprintf(path, sizeof(path), "%s/weft-%u", tmp_dir, uid);
	mkdir(path, 0700);
	return weft_file_is_private_dir(path) && setenv("RUNTIME_DIRECTORY", path, 1) == 0;
}
