/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Verbs inject: faults in nodes that run, for a while. What fits where the daemon says. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"
#include "table.h"
#include "weft_base.h"
#include "words.h"

/* Keys of a bad wire that have an option of their own, by the words that people know. */
static const struct {
	const char *key, *word;
	size_t option; /* in struct ctl_inject_options */
} inject_keys[] = {
	{ "drop", "loss", offsetof(struct ctl_inject_options, loss) },
	{ "dup", "duplicate", offsetof(struct ctl_inject_options, duplicate) },
	{ "reorder", "reorder", offsetof(struct ctl_inject_options, reorder) },
	{ "uncorrectable", "corrupt", offsetof(struct ctl_inject_options, corrupt) },
};

static const struct table_column columns[] = {
	{ "NUMBER", "injection", TABLE_NUMBER },
	{ "KIND", "kind", TABLE_TEXT },
	{ "AT", "at", TABLE_TEXT },
	{ "LEFT S", "left", TABLE_REAL },
	{ "SEED", "seed", TABLE_TEXT },
	{ "FRAMES", "frames", TABLE_NUMBER },
	{ "FLITS", "flits", TABLE_NUMBER },
	{ "LINES", "lines", TABLE_NUMBER },
	{ "READS", "reads", TABLE_NUMBER },
	{ "WHAT", "what", TABLE_TEXT },
};

static json_t *
inject_request(const struct ctl *c, const char *kind)
{
	json_t *request = daemons_request("inject");

	json_object_set_new(request, "kind", json_string(kind));
	if (c->opt.seconds > 0)
		json_object_set_new(request, "seconds", json_real(c->opt.seconds));
	if (c->opt.inject.seed != NULL)
		json_object_set_new(
			request, "seed", ctl_json_text(c, "--seed", c->opt.inject.seed));
	return request;
}

/* What has begun is a row; with --json an object. */
static int
inject_print(const struct ctl *c, json_t *one)
{
	json_t *list;

	if (c->opt.is_json) {
		ctl_print_json(c, one);
		return EXIT_SUCCESS;
	}
	list = json_pack("[o]", one);
	table_print(columns, WEFT_ARRAY_SIZE(columns), list);
	json_decref(list);
	return EXIT_SUCCESS;
}

static int
inject_send(const struct ctl *c, struct daemons *d, unsigned int i, json_t *request)
{
	char err[512];
	json_t *answer = daemons_ask(&d->one[i], request, err, sizeof(err));

	daemons_close(d);
	if (answer == NULL)
		ctl_fail(c, "%s", err);
	json_object_set_new(answer, "daemon", json_integer(d->one[i].pid));
	return inject_print(c, answer);
}

int
inject_wire(struct ctl *c)
{
	const char *given = c->operand[1];
	json_t *request = inject_request(c, "wire");
	char wire[512];
	size_t used = (size_t)snprintf(wire, sizeof(wire), "%s", given == NULL ? "" : given);
	struct daemons d;
	double p;

	for (size_t i = 0; i < WEFT_ARRAY_SIZE(inject_keys); i++) {
		const char *value;

		memcpy(&value, (const char *)&c->opt.inject + inject_keys[i].option, sizeof(value));
		if (value != NULL && !words_real(value, 0, 1, &p))
			cli_usage("--%s: expected a probability of 0 to 1, got \"%s\"",
				inject_keys[i].word, value);
		if (value != NULL && used < sizeof(wire))
			used += (size_t)snprintf(wire + used, sizeof(wire) - used, "%s%s=%s",
				used == 0 ? "" : ",", inject_keys[i].key, value);
	}
	if (used == 0)
		cli_usage("%s: expected --loss, --duplicate, --reorder, --corrupt or "
			  "KEY=VALUE,..., got none",
			c->verb);
	if (used >= sizeof(wire))
		cli_usage(
			"%s: expected less than %zu characters of settings", c->verb, sizeof(wire));
	json_object_set_new(request, "port", ctl_json_text(c, "PORT", c->operand[0]));
	json_object_set_new(request, "wire", ctl_json_text(c, "KEY=VALUE", wire));
	daemons_open(c, &d);
	return inject_send(c, &d, daemons_of_port(c, &d, c->operand[0]), request);
}

/* "NAME" or "NAME:OFFSET+SIZE". */
static void
inject_read_target(const struct ctl *c, json_t *request)
{
	const char *text = c->operand[0], *colon = strrchr(text, ':');
	uint64_t offset, size;
	char name[WEFT_NAME_LEN], part[64], *plus;

	if (colon == NULL) {
		json_object_set_new(request, "target", ctl_json_text(c, "target", text));
		return;
	}
	if ((size_t)(colon - text) >= sizeof(name) || strlen(colon + 1) >= sizeof(part))
		cli_usage("%s: expected a NAME of up to %zu bytes and an OFFSET+SIZE of up to %zu, "
			  "got \"%s\"",
			c->verb, sizeof(name) - 1, sizeof(part) - 1, text);
	snprintf(part, sizeof(part), "%s", colon + 1);
	plus = strchr(part, '+');
	if (plus != NULL)
		*plus++ = '\0';
	if (plus == NULL || !words_bytes(part, &offset) || !words_bytes(plus, &size) ||
		c->operand[1] != NULL)
		cli_usage("%s: expected GFD OFFSET [SIZE], REGION or NAME:OFFSET+SIZE, got \"%s\"",
			c->verb, text);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	json_object_set_new(request, "target", ctl_json_text(c, "target", name));
	json_object_set_new(request, "offset", ctl_json_bytes("OFFSET", offset));
	json_object_set_new(request, "size", ctl_json_bytes("SIZE", size));
}

/*
 * The daemon that has the GFD, or one that knows the region: of several, none of which has anything
 * of that name, the last one's reason is as good as any.
 */
int
inject_poison(struct ctl *c)
{
	json_t *request = inject_request(c, "poison"), *answer = NULL;
	char err[512] = "";
	struct daemons d;
	unsigned int i, end;

	inject_read_target(c, request);
	if (c->operand[1] != NULL)
		json_object_set_new(request, "offset",
			ctl_json_bytes("OFFSET", ctl_bytes("OFFSET", c->operand[1])));
	if (c->operand[1] != NULL && c->operand[2] != NULL)
		json_object_set_new(
			request, "size", ctl_json_bytes("SIZE", ctl_bytes("SIZE", c->operand[2])));
	if (c->opt.inject.share > 0)
		json_object_set_new(request, "share", json_real(c->opt.inject.share));
	daemons_open(c, &d);
	i = daemons_find_node(c, &d, json_string_value(json_object_get(request, "target")));
	end = i < d.n ? i + 1 : d.n;
	for (i = i < d.n ? i : 0; i < end && answer == NULL; i++) {
		answer = daemons_ask(&d.one[i], json_deep_copy(request), err, sizeof(err));
		/* Its own, and not fit: others do not know better. */
		if (answer == NULL && strstr(err, ": target: expected a GFD that runs") == NULL)
			break;
	}
	json_decref(request);
	if (answer == NULL)
		ctl_fail(c, "%s", err);
	json_object_set_new(answer, "daemon", json_integer(d.one[i - 1].pid));
	daemons_close(&d);
	return inject_print(c, answer);
}

int
inject_pause(struct ctl *c)
{
	json_t *request = inject_request(c, "pause");
	struct daemons d;

	json_object_set_new(request, "node", ctl_json_text(c, "NODE", c->operand[0]));
	daemons_open(c, &d);
	return inject_send(c, &d, daemons_of_node(c, &d, c->operand[0]), request);
}

/* Injections of all daemons, each with its daemon. */
static json_t *
inject_all(const struct ctl *c, struct daemons *d)
{
	json_t *all = json_array();
	char err[512];

	for (unsigned int i = 0; i < d->n; i++) {
		json_t *list =
			daemons_ask(&d->one[i], daemons_request("injections"), err, sizeof(err));
		json_t *one;
		size_t k;

		if (list == NULL)
			ctl_fail(c, "%s", err);
		json_array_foreach(list, k, one)
			json_object_set_new(one, "daemon", json_integer(d->one[i].pid));
		json_array_extend(all, list);
		json_decref(list);
	}
	return all;
}

int
inject_list(struct ctl *c)
{
	struct daemons d;
	json_t *all;

	daemons_open(c, &d);
	all = inject_all(c, &d);
	daemons_close(&d);
	if (c->opt.is_json) {
		ctl_print_json(c, all);
		return EXIT_SUCCESS;
	}
	table_print(columns, WEFT_ARRAY_SIZE(columns), all);
	json_decref(all);
	return EXIT_SUCCESS;
}

/* All, or the one of a number: numbers are a daemon's own. */
int
inject_stop(struct ctl *c)
{
	const char *number = c->operand[0];
	json_int_t stopped = 0;
	char err[512] = "";
	struct daemons d;
	uint64_t n = 0;

	if (number != NULL && !words_number(number, 1, UINT32_MAX, &n))
		cli_usage("%s: expected a number of inject list, got \"%s\"", c->verb, number);
	daemons_open(c, &d);
	if (n != 0 && d.n > 1)
		cli_usage("%s: expected --daemon PID beside a number where several daemons run",
			c->verb);
	for (unsigned int i = 0; i < d.n; i++) {
		json_t *request = daemons_request("inject_stop"), *answer;

		if (n != 0)
			json_object_set_new(request, "injection", json_integer((json_int_t)n));
		answer = daemons_ask(&d.one[i], request, err, sizeof(err));
		if (answer == NULL)
			ctl_fail(c, "%s", err);
		stopped += json_integer_value(json_object_get(answer, "stopped"));
		json_decref(answer);
	}
	daemons_close(&d);
	if (c->opt.is_json)
		ctl_print_json(c, json_pack("{s:I}", "stopped", stopped));
	else
		printf("%" JSON_INTEGER_FORMAT " stopped\n", stopped);
	return EXIT_SUCCESS;
}
