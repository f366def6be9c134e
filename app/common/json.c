/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Writes a report, and notices when it could not be written to its end. */

#include "json.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int
json_may_write(const char *path)
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	struct stat st;

	if (strcmp(path, "-") == 0)
		return 0;
	if (weft_file_is_link(path))
		return -ELOOP;
	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return -EISDIR;
		return access(path, W_OK) == 0 ? 0 : -errno;
	}
	if (errno != ENOENT)
		return -errno;
	if (slash == NULL)
		snprintf(dir, sizeof(dir), ".");
	else if (snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path) + 1, path) >=
		 (int)sizeof(dir))
		return -ENAMETOOLONG;
	return access(dir, W_OK | X_OK) == 0 ? 0 : -errno;
}

void
json_check_option(const char *option, const char *path)
{
	const int rc = path == NULL ? 0 : json_may_write(path);

	if (rc != 0)
		cli_fail("%s %s: %s", option, path, weft_file_error(rc));
}

void
json_check(const char *path)
{
	json_check_option("--json", path);
}

bool
json_is_output(const char *path)
{
	return path != NULL && strcmp(path, "-") == 0;
}

int
json_write(const char *path, const json_t *o)
{
	FILE *f = strcmp(path, "-") == 0 ? stdout : weft_file_stream(path);
	int rc = 0;

	if (f == NULL)
		return -errno;
	errno = EIO; /* if the dump fails by itself */
	if (json_dumpf(o, f, JSON_INDENT(2)) != 0 || fputc('\n', f) == EOF)
		rc = -errno;
	if (f != stdout)
		return weft_file_close(f, path, rc);
	if (fflush(f) != 0 && rc == 0)
		rc = -errno;
	if (rc != 0) {
		/* The caller says it: not once more when the program ends. */
		__fpurge(f);
		clearerr(f);
	}
	return rc;
}
