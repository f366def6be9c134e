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

/*
 * The option that a word "--NAME" or "--NAME=VALUE" is. getopt_long() took it, cut or whole: where
 * no name is all of it, it is the beginning of one. NULL: none.
 */
static const struct cli_option *
there_option(const char *word)
{
	const size_t n = strcspn(word + 2, "=");
	const struct cli_option *found = NULL;

	for (unsigned int i = 0; i < ctl_program.n_options; i++) {
		const struct cli_option *o = &ctl_program.option[i];

		if (o->kind <= CLI_KIND_ELSEWHERE || strncmp(o->name, word + 2, n) != 0)
			continue;
		found = o;
		if (o->name[n] == '\0')
			break;
	}
	return found;
}

/* Whether the next word is its value. */
static bool
there_takes_next(const struct cli_option *o, const char *word)
{
	return o != NULL && o->kind != CLI_KIND_FLAG && (o->arg == NULL || o->arg[0] != '[') &&
	       strchr(word, '=') == NULL;
}

/* All words but --server and its value, which would lead on from there without end. */
static void
there_add_all(char *command, size_t *used, char *const *words)
{
	bool is_over = false; /* behind "--" are operands */

	for (char *const *a = words; *a != NULL; a++) {
		const struct cli_option *o;
		bool is_server, has_next;

		is_over = is_over || strcmp(*a, "--") == 0;
		o = is_over || strncmp(*a, "--", 2) != 0 ? NULL : there_option(*a);
		is_server = o != NULL && strcmp(o->name, "server") == 0;
		has_next = there_takes_next(o, *a) && a[1] != NULL;
		if (!is_server)
			there_add(command, used, *a);
		a += has_next;
		if (!is_server && has_next)
			there_add(command, used, *a);
	}
}

void
ctl_run_there(const char *server, char *const *argv)
{
	const char *ssh = getenv("WEFT_SSH") != NULL ? getenv("WEFT_SSH") : "ssh";
	char command[THERE_COMMAND] = "weftctl";
	size_t used = strlen(command);

	if (server[0] == '-' || server[0] == '\0')
		cli_usage("--server: expected a name that ssh knows, got \"%s\"", server);
	there_add_all(command, &used, argv + 1);
	execlp(ssh, ssh, "--", server, command, (char *)NULL);
	cli_fail("--server %s: %s: %s", server, ssh, strerror(errno));
}
