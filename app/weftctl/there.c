/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* --server: the same command on another machine. ssh knows who may, and encrypts. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"

#define THERE_COMMAND 8192

/* A word as the shell over there reads it: in single quotes, a quote of its own as '\''. */
static void
there_add(char *command, size_t *used, const char *word)
{
	const char *rest = word;

	if (*used + 4 * strlen(word) + 4 >= THERE_COMMAND)
		cli_usage("--server: expected a command of at most %d bytes, got more",
			THERE_COMMAND / 4);
	command[(*used)++] = ' ';
	command[(*used)++] = '\'';
	for (; *rest != '\0'; rest++) {
		const char *as = *rest == '\'' ? "'\\''" : (char[]){ *rest, '\0' };

		memcpy(command + *used, as, strlen(as));
		*used += strlen(as);
	}
	command[(*used)++] = '\'';
	command[*used] = '\0';
}

void
ctl_run_there(const char *server, char *const *argv)
{
	const char *ssh = getenv("WEFT_SSH") != NULL ? getenv("WEFT_SSH") : "ssh";
	char command[THERE_COMMAND] = "weftctl";
	size_t used = strlen(command);

	if (server[0] == '-' || server[0] == '\0')
		cli_usage("--server: expected a name that ssh knows, got \"%s\"", server);
	for (char *const *a = argv + 1; *a != NULL; a++) {
		if (strcmp(*a, "--server") == 0)
			a++;
		else if (strncmp(*a, "--server=", 9) != 0)
			there_add(command, &used, *a);
	}
	execlp(ssh, ssh, "--", server, command, (char *)NULL);
	cli_fail("--server %s: %s: %s", server, ssh, strerror(errno));
}
