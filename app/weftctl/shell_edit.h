/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lines from a terminal: editing, completion by Tab, and a history that outlives the program. */
#ifndef SHELL_EDIT_H
#define SHELL_EDIT_H

struct edit;

/** NULL: this terminal cannot. */
struct edit *edit_open(void);

void edit_close(struct edit *e);

/**
 * The next line, as long as the next call. NULL: the end of input.
 *
 * @param status  of the command before, which the prompt shows unless it is 0
 */
const char *edit_line(struct edit *e, int status);

/**
 * Keep a line for later, here and in the history file, unless it begins with a blank. A file that
 * cannot be written is none.
 */
void edit_keep(struct edit *e, const char *line);

#endif /* SHELL_EDIT_H */
