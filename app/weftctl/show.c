/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* weftctl show: the state of all daemons of this user, as tables or as JSON. */

#include "show.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"

#define SHOW_SAMPLE_S 0.5 /* between the two states that rates are made of */

static const struct show_noun *
show_find_noun(const char *word)
{
	char list[256] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < show_n_nouns; i++) {
		if (strcmp(show_nouns[i].word, word) == 0)
			return &show_nouns[i];
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
			i == 0 ? "" : ", ", show_nouns[i].word);
	}
	cli_usage("show: expected one of %s, got \"%s\"", list, word);
}

/* False: a signal came. */
static bool
show_sleep(double seconds)
{
	const struct timespec t = { .tv_sec = (time_t)seconds,
		.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };

	return nanosleep(&t, NULL) == 0 && !cli_is_stopped();
}

static void
show_once(const struct ctl *c, const struct show_noun *noun, const struct show_view *v)
{
	json_t *rows = show_rows(noun, v);

	if (c->opt.is_json)
		ctl_print_json(c, rows);
	else
		table_print(noun->column, noun->n_columns, rows);
	if (!c->opt.is_json)
		json_decref(rows);
	fflush(stdout);
}

int
show_run(struct ctl *c)
{
	const struct show_noun *noun = show_find_noun(c->operand[0]);
	const double pause = c->opt.watch_s > 0 ? c->opt.watch_s : SHOW_SAMPLE_S;
	struct show_view v = { .node = c->opt.node };
	struct daemons d;
	json_t *before, *now;

	daemons_open(c, &d);
	before = daemons_states(c, &d);
	if (c->opt.node != NULL)
		daemons_judge_node(c, before);
	cli_catch_stop();
	while (show_sleep(pause)) {
		now = daemons_states(c, &d);
		v.now = now;
		v.before = before;
		if (c->opt.watch_s > 0 && !c->opt.is_json && isatty(STDOUT_FILENO))
			printf("\033[H\033[2J");
		show_once(c, noun, &v);
		json_decref(before);
		before = now;
		if (c->opt.watch_s <= 0 || ferror(stdout))
			break;
		if (!c->opt.is_json && !isatty(STDOUT_FILENO))
			putchar('\n');
	}
	json_decref(before);
	daemons_close(&d);
	if (c->opt.watch_s <= 0 && v.now == NULL)
		ctl_fail(c, "%s %s: stopped by a signal before it was done", c->verb, noun->word);
	return 0;
}
