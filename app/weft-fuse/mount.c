/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Mounting. Root mounts by itself, others have fusermount3 do it. A mount whose server was killed
 * stays, and every look at it fails with ENOTCONN, until somebody unmounts it.
 */

#include "mount.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "ops.h"
#include "serve.h"

#define MOUNT_TYPE "fuse.weft-fuse"
#define MOUNT_TYPE_LEN 64
#define MOUNT_TEXT 512
#define MOUNT_DEAD_MAX 16 /* mounts that were left, one on the other */

/* --- what is there --- */

/* In mountinfo blanks and the like are three octal digits behind a backslash. */
static void
mount_decode(char *text)
{
	unsigned int v;
	char *to = text;

	for (; *text != '\0'; text++, to++) {
		*to = *text;
		if (text[0] == '\\' && sscanf(text + 1, "%3o", &v) == 1) {
			*to = (char)v;
			text += 3;
		}
	}
	*to = '\0';
}

/* Kind of what is mounted there, the topmost; "" if nothing is. */
static void
mount_type(const char *folder, char *type)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, at[PATH_MAX];
	const char *end;
	size_t room = 0;

	type[0] = '\0';
	while (f != NULL && getline(&line, &room, f) > 0) {
		if (sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1)
			continue;
		mount_decode(at);
		end = strstr(line, " - ");
		if (strcmp(at, folder) == 0 && end != NULL)
			(void)sscanf(end, " - %63s", type);
	}
	free(line);
	if (f != NULL)
		fclose(f);
}

/* fusermount3, silently. @return whether it has done it */
static bool
mount_unmount_helper(const char *folder)
{
	const pid_t pid = fork();
	int status, null;

	if (pid == 0) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDERR_FILENO);
		execlp("fusermount3", "fusermount3", "-u", "-z", "-q", "--", folder, NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void
mount_clean(const char *folder)
{
	char type[MOUNT_TYPE_LEN];

	mount_type(folder, type);
	if (strcmp(type, MOUNT_TYPE) != 0)
		cli_fail("%s: a mount of type \"%s\" whose server has gone: expected a folder: "
			 "fusermount3 -u %s",
			folder, type, folder);
	if (umount2(folder, MNT_DETACH | UMOUNT_NOFOLLOW) != 0 && !mount_unmount_helper(folder))
		cli_fail("%s: what a weft-fuse that was killed left there cannot be unmounted: "
			 "fusermount3 -u -z %s",
			folder, folder);
}

char *
mount_prepare(const char *name)
{
	char *folder = realpath(name, NULL), type[MOUNT_TYPE_LEN];
	struct stat st;
	int rc, n = 0;

	if (folder == NULL)
		cli_fail("%s: %s: expected a folder to mount on", name, strerror(errno));
	while ((rc = stat(folder, &st)) != 0 && errno == ENOTCONN && n++ < MOUNT_DEAD_MAX)
		mount_clean(folder);
	if (rc != 0)
		cli_fail("%s: %s", folder, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		cli_fail("%s: expected a folder to mount on, got a file", folder);
	mount_type(folder, type);
	if (strcmp(type, MOUNT_TYPE) == 0)
		cli_fail("%s: a weft-fuse serves it already: fusermount3 -u %s ends it", folder,
			folder);
	return folder;
}

/* --- mounting --- */

/* The last line that libfuse had to say. */
static char mount_said[MOUNT_TEXT];

static void __attribute__((format(printf, 2, 0)))
mount_log(enum fuse_log_level level, const char *fmt, va_list ap)
{
	if (level <= FUSE_LOG_WARNING)
		vsnprintf(mount_said, sizeof(mount_said), fmt, ap);
}

/* What came on stderr, by fusermount3, says more. */
static const char *
mount_reason(int fd)
{
	static char text[MOUNT_TEXT];
	const ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	const char *said = n > 0 ? text : mount_said;

	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	mount_said[strcspn(mount_said, "\n")] = '\0';
	if (strncmp(said, "fuse: ", strlen("fuse: ")) == 0)
		said += strlen("fuse: ");
	return said[0] != '\0' ? said : "it was refused";
}

/* Mount, with stderr in a file. */
static int
mount_quietly(struct fuse_session *se, const char *folder, int log)
{
	const int err = dup(STDERR_FILENO);
	int rc;

	dup2(log, STDERR_FILENO);
	rc = fuse_session_mount(se, folder);
	dup2(err, STDERR_FILENO);
	close(err);
	return rc;
}

struct fuse_session *
mount_begin(const char *folder, const char *host)
{
	const int log = memfd_create("weft-fuse", MFD_CLOEXEC);
	struct fuse_args args = FUSE_ARGS_INIT(0, NULL);
	char source[128], most[64], *options = NULL;
	struct fuse_session *se = NULL;

	fuse_set_log_func(mount_log);
	snprintf(source, sizeof(source), "fsname=weft:%s", host);
	snprintf(most, sizeof(most), "max_read=%zu", SERVE_MOST);
	if (fuse_opt_add_opt_escaped(&options, source) == 0 &&
		fuse_opt_add_opt(&options, "subtype=weft-fuse") == 0 &&
		fuse_opt_add_opt(&options, "default_permissions") == 0 &&
		fuse_opt_add_opt(&options, most) == 0 &&
		fuse_opt_add_arg(&args, "weft-fuse") == 0 && fuse_opt_add_arg(&args, "-o") == 0 &&
		fuse_opt_add_arg(&args, options) == 0)
		se = fuse_session_new(&args, &ops_table, sizeof(ops_table), NULL);
	fuse_opt_free_args(&args);
	free(options);
	if (se == NULL || log < 0)
		cli_fail("%s: libfuse cannot be used: %s", folder, mount_reason(log));
	if (mount_quietly(se, folder, log) != 0)
		cli_fail("%s: mounting: %s: see that /dev/fuse and fusermount3 (package fuse3) are "
			 "there, and that the folder is yours",
			folder, mount_reason(log));
	close(log);
	return se;
}

void
mount_end(struct fuse_session *se)
{
	fuse_session_unmount(se);
	fuse_session_destroy(se);
}
