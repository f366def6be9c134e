/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a word of a command may become: by the tables of verbs and options, and what an operand is
 * by its name in the table.
 */

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ctl.h"
#include "shell.h"
#include "show.h"
#include "weft_base.h"
#include "weft_words.h"

/* The words before the one that is completed. */
struct complete_line {
	const char *subject, *name; /* of the verb; NULL: not there yet */
	const struct ctl_verb *verb; /* NULL: none of that name */
	unsigned int n_operands; /* beside those two */
	const struct cli_option *wants; /* an option whose value comes next; NULL: none */
	const char *node, *socket; /* of the options */
	bool is_help;
};

void
complete_add(struct complete *c, const char *word)
{
	size_t at = 0;
	char *copy;

	if (strncmp(word, c->prefix, strlen(c->prefix)) != 0)
		return;
	while (at < c->n && strcmp(c->word[at], word) < 0)
		at++;
	if (at < c->n && strcmp(c->word[at], word) == 0)
		return;
	if (c->n == c->room) {
		char **more = realloc(c->word, (2 * c->room + 16) * sizeof(*more));

		if (more == NULL)
			return;
		c->word = more;
		c->room = 2 * c->room + 16;
	}
	copy = strdup(word);
	if (copy == NULL)
		return;
	memmove(c->word + at + 1, c->word + at, (c->n - at) * sizeof(*c->word));
	c->word[at] = copy;
	c->n++;
}

void
complete_free(struct complete *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->word[i]);
	free(c->word);
	*c = (struct complete){ .prefix = "" };
}

static const struct cli_option *
complete_option(const char *word)
{
	for (unsigned int i = 0; i < ctl_program.n_options; i++)
		if (ctl_program.option[i].name != NULL &&
			strcmp(word, ctl_program.option[i].name) == 0)
			return &ctl_program.option[i];
	return NULL;
}

/* "--node h0", "--node=h0", "--json". */
static void
complete_take_option(struct complete_line *l, const char *word)
{
	const char *value = strchr(word, '=');
	char name[64];
	const struct cli_option *o;

	snprintf(name, sizeof(name), "%.*s",
		(int)(value == NULL ? strlen(word) : (size_t)(value - word)) - 2, word + 2);
	o = complete_option(name);
	if (o == NULL || o->kind == CLI_KIND_FLAG)
		return;
	if (value == NULL)
		l->wants = o;
	else if (strcmp(o->name, "node") == 0)
		l->node = value + 1;
	else if (strcmp(o->name, "socket") == 0)
		l->socket = value + 1;
}

static void
complete_take_operand(struct complete_line *l, const char *word)
{
	if (l->subject == NULL && !l->is_help && strcmp(word, SHELL_HELP) == 0) {
		l->is_help = true;
		return;
	}
	if (l->verb != NULL) {
		l->n_operands++;
		return;
	}
	if (l->subject == NULL)
		l->subject = word;
	else
		l->name = word;
	for (unsigned int i = 0; i < ctl_n_verbs; i++)
		if (strcmp(ctl_verbs[i].subject, l->subject) == 0 &&
			strcmp(ctl_verbs[i].name, l->name == NULL ? "" : l->name) == 0)
			l->verb = &ctl_verbs[i];
}

static void
complete_read_line(struct complete_line *l, int n, const char *const *argv)
{
	*l = (struct complete_line){ 0 };
	for (int i = 0; i < n; i++) {
		if (l->wants != NULL) {
			if (strcmp(l->wants->name, "node") == 0)
				l->node = argv[i];
			else if (strcmp(l->wants->name, "socket") == 0)
				l->socket = argv[i];
			l->wants = NULL;
		} else if (strncmp(argv[i], "--", 2) == 0) {
			complete_take_option(l, argv[i]);
		} else {
			complete_take_operand(l, argv[i]);
		}
	}
}

static void
complete_files(struct complete *c)
{
	char *pattern = malloc(2 * strlen(c->prefix) + 2), *to = pattern;
	glob_t found;

	if (pattern == NULL)
		return;
	for (const char *from = c->prefix; *from != '\0'; from++) {
		if (strchr("*?[\\", *from) != NULL)
			*to++ = '\\';
		*to++ = *from;
	}
	strcpy(to, "*");
	if (glob(pattern, GLOB_MARK, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			complete_add(c, found.gl_pathv[i]);
		globfree(&found);
	}
	free(pattern);
}

static void
complete_all(struct complete *c, const char *const *words)
{
	for (; *words != NULL; words++)
		complete_add(c, *words);
}

/* Of an operand or of the value of an option, by its name in the table. */
static void
complete_kind_of(struct complete *c, const struct complete_line *l, const char *kind)
{
	static const char *const levels[] = { "error", "warning", "info", "detail", NULL };
	static const struct {
		const char *kind;
		enum complete_kind ask;
	} asked[] = {
		{ "NODE", COMPLETE_NODES },
		{ "FROM", COMPLETE_NODES },
		{ "TO", COMPLETE_NODES },
		{ "PORT", COMPLETE_PORTS },
		{ "REGION", COMPLETE_REGIONS },
	};

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(asked); i++)
		if (strcmp(kind, asked[i].kind) == 0)
			complete_ask(c, asked[i].ask, l->node, l->socket);
	if (strcmp(kind, "FILE") == 0 || strcmp(kind, "DIR") == 0 || strcmp(kind, "PATH") == 0)
		complete_files(c);
	else if (strcmp(kind, "LEVEL") == 0)
		complete_all(c, levels);
	else if (strcmp(kind, "OP") == 0)
		complete_all(c, fm_mem_op_words());
	else if (strcmp(kind, "WHAT") == 0 && l->verb->run == fm_show)
		complete_all(c, fm_words());
	else if (strcmp(kind, "WHAT") == 0)
		for (unsigned int i = 0; i < show_n_nouns; i++)
			complete_add(c, show_nouns[i].word);
}

static void
complete_value(struct complete *c, const struct complete_line *l)
{
	static const char *const nodes[] = { "node", "gfd", "host", "hosts", NULL };
	const struct cli_option *o = l->wants;

	if (weft_words_find(nodes, o->name) >= 0)
		complete_ask(c, COMPLETE_NODES, NULL, NULL);
	else if (strcmp(o->name, "daemon") == 0)
		complete_ask(c, COMPLETE_DAEMONS, NULL, NULL);
	else if (o->words != NULL)
		complete_all(c, o->words);
	else if (o->arg != NULL)
		complete_kind_of(c, l, o->arg);
}

static void
complete_options(struct complete *c, const struct complete_line *l)
{
	for (unsigned int i = 0; i < ctl_program.n_options; i++) {
		const struct cli_option *o = &ctl_program.option[i];
		char word[64];

		if (o->name == NULL ||
			(o->tags != 0 && l->verb != NULL && (o->tags & l->verb->tags) == 0))
			continue;
		snprintf(word, sizeof(word), "--%s", o->name);
		complete_add(c, word);
	}
}

static void
complete_verbs(struct complete *c, const struct complete_line *l)
{
	for (unsigned int i = 0; i < ctl_n_verbs; i++) {
		if (l->subject == NULL)
			complete_add(c, ctl_verbs[i].subject);
		else if (l->name == NULL && strcmp(ctl_verbs[i].subject, l->subject) == 0)
			complete_add(c, ctl_verbs[i].name);
	}
	if (l->subject == NULL && !l->is_help) {
		complete_add(c, SHELL_HELP);
		complete_add(c, SHELL_EXIT);
	}
}

/* The operand that comes next. */
static void
complete_operand(struct complete *c, const struct complete_line *l)
{
	const char *at = l->verb->operands;
	char kind[32];

	for (unsigned int i = 0; i < l->n_operands && *at != '\0'; i++)
		at += strcspn(at, " ") + (at[strcspn(at, " ")] == ' ');
	at += *at == '[';
	snprintf(kind, sizeof(kind), "%.*s", (int)strcspn(at, " ]"), at);
	complete_kind_of(c, l, kind);
}

void
complete_find(struct complete *c, int n, const char *const *argv, const char *prefix)
{
	struct complete_line l;

	*c = (struct complete){ .prefix = prefix };
	complete_read_line(&l, n, argv);
	if (l.wants != NULL)
		complete_value(c, &l);
	else if (prefix[0] == '-')
		complete_options(c, &l);
	else if (l.verb == NULL)
		complete_verbs(c, &l);
	else if (!l.is_help)
		complete_operand(c, &l);
}
