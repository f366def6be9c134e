/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What operators may ask for (doc/control.md): a row and a function each. A request is an object
 * {"v": 1, "cmd": WORD, ...}; keys that its row does not have are refused, so that a word that is
 * spelt wrongly is never without effect.
 */

#include "operate.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "captures.h"
#include "drain.h"
#include "event.h"
#include "inject.h"
#include "update.h"
#include "weft_words.h"

#define OPERATE_ERROR 512

struct operate_call {
	struct daemon *d;
	double seconds;
	const json_t *request;
	struct operate_streams *streams;
	char err[OPERATE_ERROR];
};

struct operate_command {
	const char *word;
	const char *keys[11]; /* that it takes beside "v", "id" and "cmd" */
	const char *does;
	/** The result, or NULL with a line in err. */
	json_t *(*run)(struct operate_call *c);
};

static const char *
operate_text(const struct operate_call *c, const char *key)
{
	return json_string_value(json_object_get(c->request, key));
}

void
operate_refuse_key(
	const json_t *request, const char *key, const char *expected, char *err, size_t err_len)
{
	const json_t *v = json_object_get(request, key);
	char *got = v == NULL ? NULL : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT);

	snprintf(err, err_len, "%s: expected %s, got %.100s", key, expected,
		got == NULL ? "nothing" : got);
	free(got);
}

static json_t *
operate_refuse(struct operate_call *c, const char *key, const char *expected)
{
	operate_refuse_key(c->request, key, expected, c->err, sizeof(c->err));
	return NULL;
}

static json_t *
operate_hello(struct operate_call *c)
{
	json_t *nodes = json_array();

	for (uint16_t i = 0; i < c->d->n_nodes; i++)
		json_array_append_new(nodes, json_string(c->d->node[i].topo->name));
	return json_pack("{s:s, s:s, s:i, s:s, s:f, s:o}", "program", "weftd", "version",
		WEFT_VERSION, "pid", (int)getpid(), "fabric", c->d->topo->fabric, "seconds",
		c->seconds, "nodes", nodes);
}

static json_t *
operate_state(struct operate_call *c)
{
	return report_state(c->d, c->seconds);
}

static json_t *
operate_events(struct operate_call *c)
{
	const json_t *follow = json_object_get(c->request, "follow");

	if (follow != NULL && !json_is_boolean(follow))
		return operate_refuse(c, "follow", "true or false");
	c->streams->follows = json_is_true(follow);
	return events_list_json();
}

static json_t *
operate_reload(struct operate_call *c)
{
	if (c->d->cfg.topology == NULL) {
		snprintf(c->err, sizeof(c->err),
			"expected a daemon with --topology FILE, got one of the built-in fabric");
		return NULL;
	}
	c->streams->reload = update_ask_reload();
	c->streams->reload_id = json_incref(json_object_get(c->request, "id"));
	return NULL;
}

static json_t *
operate_log(struct operate_call *c)
{
	const char *text = operate_text(c, "level");
	const int level = text == NULL ? -1 : weft_words_find(event_level_words, text);

	if (level < 0)
		return operate_refuse(c, "level", "error, warning, info or detail");
	return json_pack("{s:s, s:s}", "level", text, "before",
		event_level_words[events_set_level((enum event_level)level)]);
}

static json_t *
operate_capture_start(struct operate_call *c)
{
	const char *port = operate_text(c, "port"), *file = operate_text(c, "file");
	const json_t *limit = json_object_get(c->request, "limit");
	char text[4096];

	if (port == NULL)
		return operate_refuse(c, "port", "a port such as \"s0.0\"");
	/* The daemon's folder is not that of who asks, and its standard output is nobody's. */
	if (file == NULL || file[0] != '/')
		return operate_refuse(c, "file", "the whole path of a file");
	if (limit != NULL && (!json_is_integer(limit) || json_integer_value(limit) < 4096))
		return operate_refuse(c, "limit", "bytes, 4096 or more");
	if (snprintf(text, sizeof(text), "%s=%s", port, file) >= (int)sizeof(text))
		return operate_refuse(c, "file", "a shorter path");
	if (captures_start(
		    c->d, text, (uint64_t)json_integer_value(limit), c->err, sizeof(c->err)) != 0)
		return NULL;
	return json_pack("{s:s, s:s}", "port", port, "file", file);
}

static json_t *
operate_capture_stop(struct operate_call *c)
{
	const char *port = operate_text(c, "port");
	struct weft_capture_stats s;

	if (port == NULL || captures_stop(c->d, port, &s) != 0)
		return operate_refuse(c, "port", "a port that is being captured");
	return json_pack("{s:s, s:I, s:I, s:I}", "port", port, "written", (json_int_t)s.written,
		"dropped", (json_int_t)s.dropped, "bytes", (json_int_t)s.bytes);
}

static json_t *
operate_trace_start(struct operate_call *c)
{
	const char *port = operate_text(c, "port"), *kind = operate_text(c, "kind");
	const json_t *pid = json_object_get(c->request, "pid");
	const json_t *count = json_object_get(c->request, "count");

	if (c->streams->trace != NULL) {
		snprintf(c->err, sizeof(c->err),
			"expected a connection that traces nothing, got one that does: trace_stop");
		return NULL;
	}
	if (port == NULL)
		return operate_refuse(c, "port", "a port such as \"s0.0\"");
	if (kind == NULL && json_object_get(c->request, "kind") != NULL)
		return operate_refuse(c, "kind", "a word");
	if (pid != NULL && (!json_is_integer(pid) || json_integer_value(pid) < 0 ||
				   json_integer_value(pid) > WEFT_PID_NONE))
		return operate_refuse(c, "pid", "a number of 0 to 4095");
	if (count != NULL && (!json_is_integer(count) || json_integer_value(count) < 1 ||
				     json_integer_value(count) > TRACES_COUNT_MAX))
		return operate_refuse(c, "count", "a number of 1 to 100000");
	c->streams->trace = trace_start(c->d, port, kind,
		pid == NULL ? WEFT_TRACE_ANY : (int)json_integer_value(pid),
		count == NULL ? 1 : (unsigned int)json_integer_value(count), c->streams->pid,
		c->err, sizeof(c->err));
	return c->streams->trace == NULL ? NULL : json_pack("{s:s}", "port", port);
}

static json_t *
operate_trace_stop(struct operate_call *c)
{
	if (c->streams->trace == NULL) {
		snprintf(c->err, sizeof(c->err), "this connection traces nothing");
		return NULL;
	}
	trace_stop(c->streams->trace);
	c->streams->trace = NULL;
	return json_object();
}

static json_t *
operate_drain(struct operate_call *c)
{
	const json_t *undo = json_object_get(c->request, "undo");
	struct node *n = node_find(c->d, operate_text(c, "node"));

	if (n == NULL)
		return operate_refuse(c, "node", "a node that runs here");
	if (undo != NULL && !json_is_boolean(undo))
		return operate_refuse(c, "undo", "true or false");
	drain_set(n, !json_is_true(undo));
	return json_pack("{s:s, s:o}", "node", n->topo->name, "drain", drain_json(n));
}

static json_t *
operate_inject(struct operate_call *c)
{
	return inject_answer(c->d, c->request, c->seconds, c->err, sizeof(c->err));
}

static json_t *
operate_inject_stop(struct operate_call *c)
{
	return inject_stop_answer(c->request, c->seconds, c->err, sizeof(c->err));
}

static json_t *
operate_injections(struct operate_call *c)
{
	return injects_list_json(0, c->seconds);
}

/* In the form of a state. */
static json_t *
operate_drains(struct operate_call *c)
{
	json_t *nodes = json_array();

	for (uint16_t i = 0; i < c->d->n_nodes; i++)
		json_array_append_new(
			nodes, json_pack("{s:s, s:o}", "name", c->d->node[i].topo->name, "drain",
				       drain_json(&c->d->node[i])));
	return json_pack("{s:o}", "nodes", nodes);
}

static json_t *operate_help(struct operate_call *c);

static const struct operate_command commands[] = {
	{ "hello", { NULL }, "who this is", operate_hello },
	{ "help", { NULL }, "commands and their keys", operate_help },
	{ "state", { NULL }, "all that --json writes, and topology, routes and programs",
		operate_state },
	{ "events", { "follow" }, "the newest events; with follow, each further one as it comes",
		operate_events },
	{ "reload", { NULL }, "read the topology file again, as SIGHUP does", operate_reload },
	{ "log", { "level" }, "which events are printed from now on", operate_log },
	{ "capture_start", { "port", "file", "limit" }, "write the frames of a port to a file",
		operate_capture_start },
	{ "capture_stop", { "port" }, "end that", operate_capture_stop },
	{ "drain", { "node", "undo" }, "have a node begin no new work, or with undo go on",
		operate_drain },
	{ "drains", { NULL }, "nodes, and what those that drain have outstanding", operate_drains },
	{ "inject",
		{ "kind", "port", "wire", "target", "offset", "size", "share", "node", "seed",
			"seconds" },
		"a fault for a while: a bad wire, late poison, a node that is not polled",
		operate_inject },
	{ "inject_stop", { "injection" }, "end one, or all", operate_inject_stop },
	{ "injections", { NULL }, "those at work, and what they did", operate_injections },
	{ "trace_start", { "port", "pid", "kind", "count" },
		"decode frames of a port, and name the stages that they passed; each is a line",
		operate_trace_start },
	{ "trace_stop", { NULL }, "end that before its count", operate_trace_stop },
};

static json_t *
operate_help(struct operate_call *c)
{
	json_t *list = json_array();

	(void)c;
	for (size_t i = 0; i < WEFT_ARRAY_SIZE(commands); i++) {
		json_t *keys = json_array();

		for (const char *const *k = commands[i].keys; *k != NULL; k++)
			json_array_append_new(keys, json_string(*k));
		json_array_append_new(list, json_pack("{s:s, s:o, s:s}", "cmd", commands[i].word,
						    "keys", keys, "does", commands[i].does));
	}
	return list;
}

static bool
operate_has_key(const struct operate_command *row, const char *key)
{
	if (strcmp(key, "v") == 0 || strcmp(key, "id") == 0 || strcmp(key, "cmd") == 0)
		return true;
	for (const char *const *k = row->keys; *k != NULL; k++)
		if (strcmp(key, *k) == 0)
			return true;
	return false;
}

static json_t *
operate_run(struct operate_call *c)
{
	const char *word = operate_text(c, "cmd"), *key;
	const json_t *v = json_object_get(c->request, "v");
	const struct operate_command *row = NULL;
	json_t *value;

	if (!json_is_integer(v) || json_integer_value(v) != OPERATE_VERSION)
		return operate_refuse(c, "v", "1, the version of this protocol");
	for (size_t i = 0; word != NULL && i < WEFT_ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i].word, word) == 0)
			row = &commands[i];
	if (row == NULL)
		return operate_refuse(c, "cmd", "a command that help lists");
	json_object_foreach(
		(json_t *)(uintptr_t)c->request, key, value) if (!operate_has_key(row, key))
	{
		snprintf(c->err, sizeof(c->err), "%.100s: %s has no such key; help lists them", key,
			row->word);
		return NULL;
	}
	return row->run(c);
}

/* Takes @p result, and a reference of @p id of its own; either may be NULL. */
static json_t *
operate_wrap(json_t *id, json_t *result, const char *err)
{
	json_t *o = json_pack("{s:i}", "v", OPERATE_VERSION);

	if (id != NULL)
		json_object_set(o, "id", id);
	json_object_set_new(o, "ok", json_boolean(result != NULL));
	if (result != NULL)
		json_object_set_new(o, "result", result);
	else
		json_object_set_new(o, "error", json_string(err));
	return o;
}

json_t *
operate_reloaded(const struct daemon *d, struct operate_streams *streams)
{
	json_t *result = NULL, *o;
	const char *err;
	int rc;

	if (!update_reload_has_ended(streams->reload, &rc, &err))
		return NULL;
	if (rc == 0)
		result = json_pack("{s:I, s:I, s:I}", "done", (json_int_t)d->updates, "refused",
			(json_int_t)d->updates_refused, "changes", (json_int_t)d->updates_changed);
	o = operate_wrap(streams->reload_id, result, err);
	json_decref(streams->reload_id);
	streams->reload_id = NULL;
	streams->reload = 0;
	return o;
}

json_t *
operate_answer(struct daemon *d, double seconds, const char *line, size_t len,
	struct operate_streams *streams)
{
	json_error_t e;
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &e), *result = NULL;
	struct operate_call c = {
		.d = d, .seconds = seconds, .request = request, .streams = streams
	};
	json_t *o = NULL;

	if (request == NULL)
		snprintf(c.err, sizeof(c.err),
			"expected an object of JSON in one line: %s, column %d", e.text, e.column);
	else if (!json_is_object(request))
		snprintf(c.err, sizeof(c.err), "expected an object of JSON");
	else
		result = operate_run(&c);
	if (streams->reload == 0)
		o = operate_wrap(json_object_get(request, "id"), result, c.err);
	json_decref(request);
	return o;
}
