/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Writes a report, and notices when it could not be written to its end. */

#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int
json_write(const char *path, const json_t *o)
{
	FILE *f = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	int rc = 0;

	if (f == NULL)
		return -errno;
	if (json_dumpf(o, f, JSON_INDENT(2)) != 0 || fputc('\n', f) == EOF)
		rc = -EIO;
	if ((f == stdout ? fflush(f) : fclose(f)) != 0 && rc == 0)
		rc = -errno;
	return rc;
}
