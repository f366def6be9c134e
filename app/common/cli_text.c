/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * --help from a table of options; and --help=table, from which app/manual.py makes the manual page
 * and bash completion.
 */

#include "cli.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100
#define COLUMN 28 /* of the descriptions */
#define ROOM 1024 /* for a sentence */

const char *const cli_help_words[] = { "table", NULL };

static const struct cli_option text_common[] = {
	{ "version", NULL, NULL, "the version, and end", .kind = CLI_KIND_FLAG },
	{ "help", "[=table]", NULL, "this text, or the table that it is made from", .letter = 'h',
		.words = cli_help_words, .kind = CLI_KIND_TEXT },
};

/* Name of an option's value; "" if it takes none. */
static const char *
text_arg(const struct cli_option *o)
{
	static char list[128];
	size_t used = 0;

	if (o->arg != NULL || o->words == NULL)
		return o->arg != NULL ? o->arg : "";
	for (unsigned int i = 0; o->words[i] != NULL && used < sizeof(list); i++)
		used += (size_t)snprintf(
			list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : "|", o->words[i]);
	return list;
}

/* "-v, --verbose", "--mode cxl|rxl". */
static const char *
text_option(const struct cli_option *o)
{
	static char text[256];
	const char *arg = text_arg(o);
	const char letter[] = { '-', o->letter, ',', ' ', '\0' };

	snprintf(text, sizeof(text), "%s--%s%s%s", o->letter != 0 ? letter : "", o->name,
		arg[0] == '\0' || strncmp(arg, "[=", 2) == 0 ? "" : " ", arg);
	return text;
}

/* Description and default. */
static const char *
text_does(const struct cli_option *o)
{
	static char text[ROOM];

	snprintf(text, sizeof(text), "%s%s%s%s", o->help, o->preset == NULL ? "" : " (",
		o->preset == NULL ? "" : o->preset, o->preset == NULL ? "" : ")");
	return text;
}

static const char *
text_status(const struct cli_program *p, const char *before)
{
	static char text[ROOM];

	snprintf(text, sizeof(text), "%s0; 1 if %s; 2 for a command line that makes no sense.",
		before, p->status);
	return text;
}

/* --- help --- */

/* Print @p text, starting at @p column and indenting to it. */
static void
text_wrap(const char *text, int column)
{
	int at = column;

	while (*text != '\0') {
		const int len = (int)strcspn(text, " ");

		if (at > column && at + 1 + len > WIDTH)
			at = printf("\n%*s", column, "") - 1;
		at += printf("%s%.*s", at > column ? " " : "", len, text);
		text += len + (text[len] == ' ');
	}
	putchar('\n');
}

static void
text_help_option(const struct cli_option *o)
{
	int at;

	if (o->kind == CLI_KIND_SECTION) {
		printf("\n%s:\n", o->help);
		return;
	}
	at = printf("  %s", text_option(o));
	if (at + 2 > COLUMN) {
		putchar('\n');
		at = 0;
	}
	printf("%*s", COLUMN - at, "");
	text_wrap(text_does(o), COLUMN);
}

void
cli_help_options(const struct cli_program *p, uint32_t tags)
{
	for (unsigned int i = 0; i < p->n_options; i++) {
		const struct cli_option *o = &p->option[i];

		if (o->kind != CLI_KIND_SECTION && (o->tags == 0 || (o->tags & tags) != 0))
			text_help_option(o);
	}
}

void
cli_help(const struct cli_program *p)
{
	printf("usage: %s %s\n\n", p->name, p->synopsis);
	text_wrap(p->does, 0);
	if (p->details != NULL)
		printf("\n%s", p->details);
	for (unsigned int i = 0; i < p->n_options; i++)
		text_help_option(&p->option[i]);
	putchar('\n');
	text_help_option(&text_common[0]);
	text_help_option(&text_common[1]);
	if (p->examples != NULL)
		printf("\nExamples:\n%s", p->examples);
	putchar('\n');
	text_wrap(text_status(p, "Exit status: "), 0);
}

/* --- table --- */

static void
text_table_lines(const char *key, const char *lines)
{
	for (size_t len; lines != NULL && *lines != '\0'; lines += len + 1) {
		len = strcspn(lines, "\n");
		printf("%s\t%.*s\n", key, (int)len, lines);
	}
}

static void
text_table_option(const struct cli_option *o)
{
	if (o->kind == CLI_KIND_SECTION) {
		printf("section\t%s\n", o->help);
		return;
	}
	printf("option\t%s\t%s\t%s\t", o->name, text_option(o), text_does(o));
	for (unsigned int i = 0; o->words != NULL && o->words[i] != NULL; i++)
		printf("%s%s", i == 0 ? "" : " ", o->words[i]);
	putchar('\n');
}

void
cli_help_table(const struct cli_program *p)
{
	printf("program\t%s\t%s\t%s\t%s\n", p->name, p->synopsis, p->does, text_status(p, ""));
	text_table_lines("details", p->details);
	text_table_lines("example", p->examples);
	for (unsigned int i = 0; p->operands != NULL && p->operands[i] != NULL; i++)
		printf("operand\t%s\n", p->operands[i]);
	for (unsigned int i = 0; i < p->n_options; i++)
		text_table_option(&p->option[i]);
	text_table_option(&text_common[0]);
	text_table_option(&text_common[1]);
	if (p->other != NULL)
		cli_help_table(p->other);
}
