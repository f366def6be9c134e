/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What weftctl top asks terminfo. By itself, as <term.h> has macros with names such as "lines". */

#include <curses.h>
#include <stdlib.h>
#include <term.h>
#include <unistd.h>

#include "top.h"

enum top_terminal
top_judge_terminal(void)
{
	const char *cup;
	bool has_cup;
	int err;

	if (setupterm(NULL, STDOUT_FILENO, &err) != OK)
		return TOP_TERMINAL_UNKNOWN;
	cup = tigetstr("cup");
	has_cup = cup != NULL && cup != (const char *)-1;
	del_curterm(cur_term);
	return has_cup ? TOP_TERMINAL_GOOD : TOP_TERMINAL_DUMB;
}
