/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Verbs that follow or change running daemons: events, reload, log, capture. */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"
#include "show.h"
#include "table.h"
#include "weft_base.h"

/* Ask all daemons the same; true if none refused. What they answer goes into a list. */
static bool
operate_all(const struct ctl *c, json_t *request, json_t *answers)
{
	struct daemons d;
	bool is_good = true;

	daemons_open(c, &d);
	for (unsigned int i = 0; i < d.n; i++) {
		char err[512];
		json_t *result = daemons_ask(&d.one[i], json_deep_copy(request), err, sizeof(err));

		if (result == NULL) {
			cli_warn("%s", err);
			is_good = false;
			continue;
		}
		json_object_set_new(result, "daemon", json_integer(d.one[i].pid));
		json_array_append_new(answers, result);
	}
	json_decref(request);
	daemons_close(&d);
	return is_good;
}

static int
operate_print(const struct ctl *c, const struct table_column *column, unsigned int n,
	json_t *answers, bool is_good)
{
	if (c->opt.is_json) {
		ctl_print_json(c, answers);
	} else {
		if (json_array_size(answers) != 0)
			table_print(column, n, answers);
		json_decref(answers);
	}
	return is_good ? EXIT_SUCCESS : c->failure;
}

int
operate_reload(struct ctl *c)
{
	static const struct table_column columns[] = {
		{ "DAEMON", "daemon", TABLE_NUMBER },
		{ "CHANGES", "changes", TABLE_NUMBER },
		{ "REFUSED", "refused", TABLE_NUMBER },
	};
	json_t *answers = json_array();
	const bool is_good = operate_all(c, daemons_request("reload"), answers);

	return operate_print(c, columns, WEFT_ARRAY_SIZE(columns), answers, is_good);
}

int
operate_log(struct ctl *c)
{
	static const struct table_column columns[] = {
		{ "DAEMON", "daemon", TABLE_NUMBER },
		{ "LEVEL", "level", TABLE_TEXT },
		{ "BEFORE", "before", TABLE_TEXT },
	};
	json_t *answers = json_array(), *request = daemons_request("log");
	bool is_good;

	json_object_set_new(request, "level", ctl_json_text(c, "LEVEL", c->operand[0]));
	is_good = operate_all(c, request, answers);
	return operate_print(c, columns, WEFT_ARRAY_SIZE(columns), answers, is_good);
}

/* --- captures --- */

static int
operate_capture(struct ctl *c, json_t *request, const struct table_column *column, unsigned int n)
{
	const char *port = json_string_value(json_object_get(request, "port"));
	struct daemons d;
	char err[512];
	json_t *answer, *answers = json_array();
	unsigned int i;

	daemons_open(c, &d);
	i = daemons_of_port(c, &d, port);
	answer = daemons_ask(&d.one[i], request, err, sizeof(err));
	daemons_close(&d);
	if (answer == NULL)
		ctl_fail(c, "%s", err);
	json_array_append_new(answers, answer);
	return operate_print(c, column, n, answers, true);
}

int
operate_capture_start(struct ctl *c)
{
	static const struct table_column columns[] = {
		{ "PORT", "port", TABLE_TEXT },
		{ "FILE", "file", TABLE_TEXT },
	};
	json_t *request = daemons_request("capture_start");
	char path[PATH_MAX], folder[PATH_MAX] = "";

	/* The daemon stands in another folder. */
	if (c->operand[1][0] != '/' && getcwd(folder, sizeof(folder) - 1) == NULL)
		ctl_fail(c, "%s: the folder here has no path: give a whole one", c->verb);
	if (snprintf(path, sizeof(path), "%s%s%s", folder, folder[0] == '\0' ? "" : "/",
		    c->operand[1]) >= (int)sizeof(path))
		cli_usage("%s: expected a shorter path", c->verb);
	json_object_set_new(request, "port", ctl_json_text(c, "PORT", c->operand[0]));
	json_object_set_new(request, "file", ctl_json_text(c, "FILE", path));
	if (c->opt.limit != 0)
		json_object_set_new(request, "limit", json_integer((json_int_t)c->opt.limit));
	return operate_capture(c, request, columns, WEFT_ARRAY_SIZE(columns));
}

int
operate_capture_stop(struct ctl *c)
{
	static const struct table_column columns[] = {
		{ "PORT", "port", TABLE_TEXT },
		{ "WRITTEN", "written", TABLE_NUMBER },
		{ "DROPPED", "dropped", TABLE_NUMBER },
		{ "BYTES", "bytes", TABLE_NUMBER },
	};
	json_t *request = daemons_request("capture_stop");

	json_object_set_new(request, "port", ctl_json_text(c, "PORT", c->operand[0]));
	return operate_capture(c, request, columns, WEFT_ARRAY_SIZE(columns));
}

/* --- events --- */

/* Whether the daemon of that PID runs a node of that name; not without states. */
static bool
operate_runs(const json_t *states, int pid, const char *name)
{
	const json_t *state;
	size_t i;

	json_array_foreach(states, i, state)
	{
		if (json_integer_value(json_object_get(state, "pid")) == pid)
			return show_find(json_object_get(state, "nodes"), "name", name) != NULL;
	}
	return false;
}

/*
 * A file that a daemon refused is a matter of all of its nodes, and stands with the first.
 *
 * @return whether it is one of those that were asked for
 */
static bool
operate_is_about(const struct ctl *c, const json_t *states, int pid, const json_t *e)
{
	const char *kind = json_string_value(json_object_get(e, "kind"));

	return c->opt.node == NULL ||
	       strcmp(c->opt.node, json_string_value(json_object_get(e, "node"))) == 0 ||
	       (strcmp(kind, "reload_refused") == 0 && operate_runs(states, pid, c->opt.node));
}

static void
operate_print_event(const struct ctl *c, const json_t *e)
{
	const double time = json_number_value(json_object_get(e, "time"));
	const time_t at = (time_t)time;
	struct tm tm;
	char clock[32];

	if (c->opt.is_json) {
		json_dumpf(e, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	localtime_r(&at, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	printf("%s.%03d %-7s %-16s %s: %s\n", clock, (int)((time - (double)at) * 1000),
		json_string_value(json_object_get(e, "level")),
		json_string_value(json_object_get(e, "kind")),
		json_string_value(json_object_get(e, "node")),
		json_string_value(json_object_get(e, "text")));
}

static int
operate_compare_events(const void *a, const void *b)
{
	const double x = json_number_value(json_object_get(*(json_t *const *)a, "time"));
	const double y = json_number_value(json_object_get(*(json_t *const *)b, "time"));

	return (x > y) - (x < y);
}

static bool
operate_is_left(const struct daemons *d)
{
	for (unsigned int i = 0; i < d->n; i++)
		if (!d->one[i].has_ended)
			return true;
	return false;
}

/*
 * What all daemons that answer kept, in the order of time. @return how many of those that were
 * asked for
 */
static unsigned int
operate_print_old(const struct ctl *c, struct daemons *d, const json_t *states)
{
	json_t *all = json_array(), **sorted, *e;
	size_t n, k;

	for (unsigned int i = 0; i < d->n; i++) {
		json_t *request, *list;
		char err[512];

		if (d->one[i].has_ended)
			continue;
		request = daemons_request("events");
		json_object_set_new(request, "follow", json_boolean(c->opt.follows));
		list = daemons_ask(&d->one[i], request, err, sizeof(err));
		if (list == NULL && !d->one[i].has_ended)
			ctl_fail(c, "%s", err);
		if (list == NULL)
			cli_warn("%s", err);
		json_array_foreach(list, k, e) if (operate_is_about(c, states, d->one[i].pid, e))
			json_array_append(all, e);
		json_decref(list);
	}
	if (!operate_is_left(d))
		ctl_fail(c, "no daemon answers any more");
	n = json_array_size(all);
	sorted = calloc(n + 1, sizeof(json_t *));
	if (sorted == NULL)
		ctl_fail(c, "out of memory");
	for (size_t i = 0; i < n; i++)
		sorted[i] = json_array_get(all, i);
	qsort(sorted, n, sizeof(json_t *), operate_compare_events);
	for (size_t i = 0; i < n; i++)
		operate_print_event(c, sorted[i]);
	free(sorted);
	json_decref(all);
	return (unsigned int)n;
}

int
operate_events(struct ctl *c)
{
	struct daemons d;
	json_t *states;

	daemons_open(c, &d);
	cli_catch_stop();
	/* Asked for first: once events follow, they come between the answers. */
	states = c->opt.node != NULL ? daemons_states(c, &d) : NULL;
	if (operate_print_old(c, &d, states) == 0 && states != NULL)
		daemons_judge_node(c, states);
	fflush(stdout);
	while (c->opt.follows && operate_is_left(&d) && !cli_is_stopped() && !ferror(stdout)) {
		unsigned int from = 0;
		json_t *line = daemons_next(&d, 1000, &from), *e = json_object_get(line, "event");

		if (e != NULL && operate_is_about(c, states, d.one[from].pid, e))
			operate_print_event(c, e);
		fflush(stdout);
		json_decref(line);
	}
	json_decref(states);
	daemons_close(&d);
	return EXIT_SUCCESS;
}
