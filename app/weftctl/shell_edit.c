/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

#include "shell_edit.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "shell.h"

#define EDIT_HISTORY 1000 /* lines */
#define EDIT_LISTED 200 /* candidates */

struct edit {
	EditLine *el;
	History *history;
	Tokenizer *words; /* of completion */
	char prompt[32];
	char *line; /* the last */
	char path[PATH_MAX]; /* of the history; "": none */
};

static char *
edit_prompt(EditLine *el)
{
	struct edit *e;

	el_get(el, EL_CLIENTDATA, &e);
	return e->prompt;
}

/* --- history --- */

/* Every folder on the way that is not there yet. */
static void
edit_make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

static void
edit_find_history(struct edit *e)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (state != NULL && state[0] == '/')
		n = snprintf(e->path, sizeof(e->path), "%s/weft/weftctl_history", state);
	else if (home != NULL && home[0] == '/')
		n = snprintf(
			e->path, sizeof(e->path), "%s/.local/state/weft/weftctl_history", home);
	else
		n = PATH_MAX;
	if (n >= PATH_MAX)
		e->path[0] = '\0';
	else
		edit_make_folders(e->path);
}

/* Of a file that has grown to twice as many lines the newest are left. */
static void
edit_load_history(struct edit *e)
{
	HistEvent event;
	struct stat st;
	int n;

	history(e->history, &event, H_SETSIZE, EDIT_HISTORY);
	history(e->history, &event, H_SETUNIQUE, 1);
	edit_find_history(e);
	if (e->path[0] == '\0' || stat(e->path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	n = history(e->history, &event, H_LOAD, e->path);
	if (n > 2 * EDIT_HISTORY)
		history(e->history, &event, H_SAVE, e->path);
}

void
edit_keep(struct edit *e, const char *line)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	HistEvent event;
	struct stat st;
	FILE *f;
	int fd;

	if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == ' ')
		return;
	history(e->history, &event, H_ENTER, line);
	fd = e->path[0] == '\0' ? -1 : open(e->path, flags, 0600);
	if (fd < 0)
		return;
	f = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? fdopen(fd, "a") : NULL;
	if (f == NULL) {
		close(fd);
		return;
	}
	/* It begins a file that is empty with a line of its own. */
	(void)fseek(f, 0, SEEK_END);
	history(e->history, &event, H_NSAVE_FP, (size_t)0, f); /* 0: but the newest */
	fclose(f);
}

/* --- completion --- */

static unsigned int
edit_columns(void)
{
	struct winsize w;

	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

static void
edit_list(const struct complete *c)
{
	size_t width = 0, a_line, shown = c->n < EDIT_LISTED ? c->n : EDIT_LISTED;

	for (size_t i = 0; i < shown; i++)
		width = strlen(c->word[i]) > width ? strlen(c->word[i]) : width;
	a_line = edit_columns() / (width + 2);
	a_line = a_line == 0 ? 1 : a_line;
	putchar('\n');
	for (size_t i = 0; i < shown; i++)
		printf("%-*s%s", (int)width + 2, c->word[i],
			(i + 1) % a_line == 0 || i + 1 == shown ? "\n" : "");
	if (shown < c->n)
		printf("and %zu more\n", c->n - shown);
	fflush(stdout);
}

/* What all candidates go on with, as it stands in a line. */
static void
edit_common(const struct complete *c, char *text, size_t len)
{
	const char *first = c->word[0], *last = c->word[c->n - 1]; /* they are sorted */
	size_t n = 0;

	for (size_t i = strlen(c->prefix); first[i] != '\0' && first[i] == last[i] && n + 3 < len;
		i++) {
		if (strchr(" \t'\"\\", first[i]) != NULL)
			text[n++] = '\\';
		text[n++] = first[i];
	}
	if (c->n == 1 && (n == 0 || text[n - 1] != '/'))
		text[n++] = ' ';
	text[n] = '\0';
}

static unsigned char
edit_complete(EditLine *el, int key)
{
	const LineInfo *whole = el_line(el);
	const LineInfo line = { whole->buffer, whole->cursor, whole->cursor };
	unsigned char then = CC_ERROR;
	char text[PATH_MAX], *prefix;
	struct complete c;
	struct edit *e;
	const char **argv;
	int n, at, offset;

	(void)key;
	el_get(el, EL_CLIENTDATA, &e);
	tok_reset(e->words);
	if (tok_line(e->words, &line, &n, &argv, &at, &offset) != 0)
		return CC_ERROR;
	prefix = at < n ? strndup(argv[at], (size_t)offset) : strdup("");
	if (prefix == NULL)
		return CC_ERROR;
	complete_find(&c, at < n ? at : n, argv, prefix);
	if (c.n != 0) {
		edit_common(&c, text, sizeof(text));
		then = text[0] != '\0' ? CC_REFRESH : CC_REDISPLAY;
		if (text[0] != '\0')
			el_insertstr(el, text);
		else
			edit_list(&c);
	}
	complete_free(&c);
	free(prefix);
	return then;
}

/* Ctrl-C: another prompt. */
static unsigned char
edit_drop(EditLine *el, int key)
{
	const LineInfo *line = el_line(el);
	const int after = (int)(line->lastchar - line->cursor);

	(void)key;
	fputs("^C\n", stdout);
	fflush(stdout);
	el_cursor(el, after);
	line = el_line(el);
	el_deletestr(el, (int)(line->cursor - line->buffer));
	/* One without a byte would be the end of input. */
	el_insertstr(el, "\n");
	return CC_NEWLINE;
}

/* --- lines --- */

static void
edit_set_up(struct edit *e)
{
	el_set(e->el, EL_CLIENTDATA, e);
	el_set(e->el, EL_PROMPT, edit_prompt);
	el_set(e->el, EL_EDITOR, "emacs");
	el_set(e->el, EL_SIGNAL, 1);
	el_set(e->el, EL_HIST, history, e->history);
	el_set(e->el, EL_ADDFN, "weft-complete", "complete a word", edit_complete);
	el_set(e->el, EL_ADDFN, "weft-drop", "begin a line anew", edit_drop);
	el_source(e->el, NULL);
	el_set(e->el, EL_BIND, "^I", "weft-complete", NULL);
	el_set(e->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	/* While a line is edited, Ctrl-C is a key. */
	el_set(e->el, EL_SETTY, "-d", "-isig", NULL);
	el_set(e->el, EL_BIND, "^C", "weft-drop", NULL);
}

struct edit *
edit_open(void)
{
	struct edit *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->el = el_init("weftctl", stdin, stdout, stderr);
	e->history = history_init();
	e->words = tok_init(NULL);
	if (e->el == NULL || e->history == NULL || e->words == NULL) {
		edit_close(e);
		return NULL;
	}
	edit_load_history(e);
	edit_set_up(e);
	return e;
}

void
edit_close(struct edit *e)
{
	if (e == NULL)
		return;
	if (e->el != NULL)
		el_end(e->el);
	if (e->history != NULL)
		history_end(e->history);
	if (e->words != NULL)
		tok_end(e->words);
	free(e->line);
	free(e);
}

const char *
edit_line(struct edit *e, int status)
{
	const char *line;
	int n = 0;

	if (status == 0)
		snprintf(e->prompt, sizeof(e->prompt), "weftctl> ");
	else
		snprintf(e->prompt, sizeof(e->prompt), "weftctl [%d]> ", status);
	line = el_gets(e->el, &n);
	free(e->line);
	/* After edit_drop() no byte of 0 ends it. */
	e->line = line == NULL || n <= 0 ? NULL : strndup(line, (size_t)n);
	return e->line;
}
