/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * weftctl without a verb: commands from a terminal, with editing, completion and history, or line
 * by line from standard input. Each runs in a process of its own, and ends as it always does.
 */
#ifndef SHELL_H
#define SHELL_H

#include <stddef.h>

/** Words that a shell has beside the verbs. */
#define SHELL_HELP "help"
#define SHELL_EXIT "exit"
#define SHELL_QUIT "quit"

/**
 * Read and run commands to the end of standard input, "exit", or, where it is no terminal, the
 * first that fails.
 *
 * @return exit status: that of the one that failed; 0: none did, or a person saw them
 */
int shell_run(void);

/* --- complete.c: candidates for a word --- */

struct complete {
	char **word; /* sorted, each once */
	size_t n, room;
	const char *prefix; /* that all have */
};

/**
 * What may stand where the cursor is.
 *
 * @param n       words before
 * @param prefix  beginning of the word there; as long as @p c is used
 */
void complete_find(struct complete *c, int n, const char *const *argv, const char *prefix);

void complete_free(struct complete *c);

/** Take a candidate, unless it does not begin with the prefix. */
void complete_add(struct complete *c, const char *word);

/* --- complete_ask.c: candidates that daemons have --- */

enum complete_kind { COMPLETE_NODES, COMPLETE_PORTS, COMPLETE_REGIONS, COMPLETE_DAEMONS };

/**
 * Ask the daemons, for a second at most; whatever is wrong with them is said when the command runs.
 *
 * @param node, socket  of --node and --socket, for regions; NULL: none
 */
void complete_ask(
	struct complete *c, enum complete_kind kind, const char *node, const char *socket);

#endif /* SHELL_H */
