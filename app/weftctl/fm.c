/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Verbs of the fabric manager: requests to the socket of weft-fm (doc/fm.md). */

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "ctl.h"
#include "table.h"
#include "weft_attach_rundir.h"
#include "weft_base.h"
#include "weft_socket.h"
#include "weft_words.h"

#define FM_SOCKET "fm.sock"
#define FM_TIMEOUT_MS 10000
#define FM_ANSWER (64u << 20) /* bytes */
#define FM_PIECE (64u << 10)

static const struct table_column fm_fabric[] = {
	{ "FABRIC", "fabric", TABLE_TEXT },
	{ "CONVERGED", "converged_text", TABLE_TEXT },
	{ "COMPONENTS", "components", TABLE_NUMBER },
	{ "READY", "ready", TABLE_NUMBER },
	{ "HOSTS", "hosts", TABLE_NUMBER },
	{ "LOST", "lost_text", TABLE_TEXT },
};

static const struct table_column fm_switches[] = {
	{ "SWITCH", "name", TABLE_TEXT },
	{ "STATE", "state", TABLE_TEXT },
	{ "PID", "pid", TABLE_TEXT },
	{ "PORTS", "ports", TABLE_NUMBER },
	{ "TABLES", "tables", TABLE_NUMBER },
	{ "DRAINED", "drained", TABLE_TEXT },
	{ "WRITES", "writes", TABLE_NUMBER },
};

static const struct table_column fm_ports[] = {
	{ "SWITCH", "switch", TABLE_TEXT },
	{ "PORT", "port", TABLE_NUMBER },
	{ "UP", "up", TABLE_TEXT },
	{ "LINKED", "linked", TABLE_TEXT },
	{ "FAR", "far", TABLE_TEXT },
	{ "PID", "pid", TABLE_TEXT },
};

static const struct table_column fm_pids[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "KIND", "kind", TABLE_TEXT },
	{ "PID", "pid", TABLE_TEXT },
	{ "DESIRED", "desired", TABLE_TEXT },
};

static const struct table_column fm_routes[] = {
	{ "SWITCH", "switch", TABLE_TEXT },
	{ "DPID", "dpid", TABLE_TEXT },
	{ "TO", "to", TABLE_TEXT },
	{ "PORT", "port", TABLE_NUMBER },
};

static const struct table_column fm_gfds[] = {
	{ "GFD", "name", TABLE_TEXT },
	{ "STATE", "state", TABLE_TEXT },
	{ "PID", "pid", TABLE_TEXT },
	{ "EXTENTS", "extents", TABLE_NUMBER },
	{ "WRITES", "writes", TABLE_NUMBER },
};

static const struct table_column fm_extents[] = {
	{ "GFD", "gfd", TABLE_TEXT },
	{ "GROUP", "group", TABLE_NUMBER },
	{ "DPA", "dpa", TABLE_NUMBER },
	{ "SIZE", "size", TABLE_NUMBER },
};

static const struct table_column fm_memory[] = {
	{ "MEMORY", "name", TABLE_TEXT },
	{ "GROUP", "group", TABLE_NUMBER },
	{ "SIZE", "size", TABLE_NUMBER },
	{ "STATE", "state", TABLE_TEXT },
	{ "HOSTS", "hosts_text", TABLE_TEXT },
	{ "EXTENTS", "extents_text", TABLE_TEXT },
};

static const struct table_column fm_events[] = {
	{ "EVENT", "event", TABLE_TEXT },
	{ "NODE", "node", TABLE_TEXT },
	{ "TEXT", "text", TABLE_TEXT },
};

static const struct table_column fm_changes[] = {
	{ "ID", "id", TABLE_NUMBER },
	{ "WHO", "who", TABLE_TEXT },
	{ "WHY", "why", TABLE_TEXT },
	{ "NODE", "node", TABLE_TEXT },
	{ "OPCODE", "opcode", TABLE_TEXT },
	{ "WHAT", "what", TABLE_TEXT },
};

static const struct table_column fm_commands[] = {
	{ "NODE", "node", TABLE_TEXT },
	{ "COMMAND", "command", TABLE_TEXT },
	{ "WHAT", "what", TABLE_TEXT },
};

static const struct fm_noun {
	const char *word;
	const struct table_column *column;
	unsigned int n;
} fm_nouns[] = {
	{ "fabric", fm_fabric, WEFT_ARRAY_SIZE(fm_fabric) },
	{ "switch", fm_switches, WEFT_ARRAY_SIZE(fm_switches) },
	{ "port", fm_ports, WEFT_ARRAY_SIZE(fm_ports) },
	{ "pid", fm_pids, WEFT_ARRAY_SIZE(fm_pids) },
	{ "route", fm_routes, WEFT_ARRAY_SIZE(fm_routes) },
	{ "gfd", fm_gfds, WEFT_ARRAY_SIZE(fm_gfds) },
	{ "extents", fm_extents, WEFT_ARRAY_SIZE(fm_extents) },
	{ "memory", fm_memory, WEFT_ARRAY_SIZE(fm_memory) },
	{ "events", fm_events, WEFT_ARRAY_SIZE(fm_events) },
};

const char *const *
fm_words(void)
{
	static const char *words[WEFT_ARRAY_SIZE(fm_nouns) + 1];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(fm_nouns); i++)
		words[i] = fm_nouns[i].word;
	return words;
}

static int
fm_connect(const struct ctl *c)
{
	char folder[WEFT_SOCKET_PATH_MAX], path[WEFT_SOCKET_PATH_MAX];
	const int rc = weft_attach_rundir(folder, sizeof(folder), false);
	int fd;

	if (rc != 0 || snprintf(path, sizeof(path), "%s/" FM_SOCKET, folder) >= (int)sizeof(path))
		ctl_fail(c, "%s: no manager of this user runs: start weft-fm", folder);
	fd = weft_socket_connect_stream(path, FM_TIMEOUT_MS);
	if (fd < 0)
		ctl_fail(c, "%s: no manager of this user runs: start weft-fm", path);
	return fd;
}

/* One line, however long it is. NULL: the manager says nothing, or with ENOTCONN it has gone. */
static char *
fm_receive(int fd)
{
	char *line = NULL;
	size_t n = 0;

	errno = 0;
	while (n < FM_ANSWER) {
		char *more = realloc(line, n + FM_PIECE + 1);
		ssize_t got;

		if (more == NULL)
			break;
		line = more;
		got = recv(fd, line + n, FM_PIECE, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 || (got < 0 && errno == ECONNRESET))
			errno = ENOTCONN;
		if (got <= 0)
			break;
		n += (size_t)got;
		line[n] = '\0';
		if (line[n - 1] == '\n')
			return line;
	}
	free(line);
	return NULL;
}

/* End with the reason that an answer gives; what stays allocated LeakSanitizer tells at exit. */
static void __attribute__((noreturn))
fm_refused(const struct ctl *c, json_t *answer, json_t *result)
{
	const char *error = json_string_value(json_object_get(answer, "error"));
	char reason[1024];

	snprintf(reason, sizeof(reason), "%s",
		error == NULL ? "the manager gives no reason" : error);
	json_decref(result);
	json_decref(answer);
	ctl_fail(c, "%s", reason);
}

/* Send a request, which is taken over; its result, or the end of the program. */
static json_t *
fm_ask(const struct ctl *c, json_t *request)
{
	json_t *answer = NULL, *result;
	char *text, *line;
	bool has_gone;
	int fd;

	if (request == NULL)
		cli_usage("%s: expected names in UTF-8, got other bytes", c->verb);
	text = json_dumps(request, JSON_COMPACT);
	fd = fm_connect(c);
	json_decref(request);
	if (text == NULL)
		ctl_fail(c, "out of memory");
	/*
	 * A request is shorter than what a socket takes at once. A manager that turns this one away
	 * says why and closes, which may be before all is sent: what it said is there to be read.
	 */
	(void)send(fd, text, strlen(text), MSG_NOSIGNAL);
	(void)send(fd, "\n", 1, MSG_NOSIGNAL);
	line = fm_receive(fd);
	has_gone = line == NULL && errno == ENOTCONN;
	close(fd);
	free(text);
	if (line != NULL)
		answer = json_loads(line, 0, NULL);
	free(line);
	if (has_gone)
		ctl_fail(c, "the manager ended the connection before it answered");
	if (answer == NULL)
		ctl_fail(c,
			"the manager did not answer within %u s: it may do later what was asked: "
			"see what fm show says when it answers again",
			FM_TIMEOUT_MS / 1000);
	result = json_incref(json_object_get(answer, "result"));
	if (!json_is_true(json_object_get(answer, "ok")) || result == NULL)
		fm_refused(c, answer, result);
	json_decref(answer);
	return result;
}

/* "NAME,NAME" */
static json_t *
fm_join(const json_t *names)
{
	json_t *text = json_string("");
	const json_t *one;
	size_t i;

	json_array_foreach(names, i, one)
	{
		json_t *more = json_sprintf("%s%s%s", json_string_value(text), i == 0 ? "" : ",",
			json_string_value(one));

		json_decref(text);
		text = more;
	}
	return text;
}

/* Lists of a memory in a line each: NAME,NAME and GFD:DPA+SIZE,... */
static void
fm_join_lists(json_t *row)
{
	json_t *hosts = fm_join(json_object_get(row, "hosts")), *extents = json_string("");
	const json_t *one;
	size_t i;

	json_array_foreach(json_object_get(row, "extents"), i, one)
	{
		json_t *more = json_sprintf("%s%s%s:0x%llx+0x%llx", json_string_value(extents),
			i == 0 ? "" : ",", json_string_value(json_object_get(one, "gfd")),
			(unsigned long long)json_integer_value(json_object_get(one, "dpa")),
			(unsigned long long)json_integer_value(json_object_get(one, "size")));

		json_decref(extents);
		extents = more;
	}
	json_object_set_new(row, "hosts_text", hosts);
	json_object_set_new(row, "extents_text", extents);
}

/* In words: whether it converged, why not, and what of it is lost. */
static void
fm_say_fabric(json_t *row)
{
	const json_t *lost = json_object_get(row, "lost");
	const size_t foreign = json_array_size(json_object_get(row, "foreign"));
	json_t *text = json_string(json_is_true(json_object_get(row, "converged")) ? "yes" : "no");

	if (foreign != 0) {
		json_decref(text);
		text = json_sprintf("no: %d of %d have another manager", (int)foreign,
			(int)json_integer_value(json_object_get(row, "components")));
	}
	json_object_set_new(row, "converged_text", text);
	json_object_set_new(
		row, "lost_text", json_array_size(lost) != 0 ? fm_join(lost) : json_null());
}

/* A result as JSON, or as a table: an object is a row. */
static int
fm_print(const struct ctl *c, const struct table_column *column, unsigned int n, json_t *result)
{
	if (c->opt.is_json) {
		ctl_print_json(c, result);
		return EXIT_SUCCESS;
	}
	if (json_is_object(result)) {
		json_t *rows = json_array();

		json_array_append_new(rows, result);
		result = rows;
	}
	for (size_t i = 0; column == fm_memory && i < json_array_size(result); i++)
		fm_join_lists(json_array_get(result, i));
	for (size_t i = 0; column == fm_fabric && i < json_array_size(result); i++)
		fm_say_fabric(json_array_get(result, i));
	if (json_array_size(result) != 0)
		table_print(column, n, result);
	json_decref(result);
	return EXIT_SUCCESS;
}

int
fm_show(struct ctl *c)
{
	const char *what = c->operand[0];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(fm_nouns); i++)
		if (strcmp(fm_nouns[i].word, what) == 0)
			return fm_print(c, fm_nouns[i].column, fm_nouns[i].n,
				fm_ask(c, json_pack("{s:s, s:s}", "cmd", "show", "what", what)));
	cli_usage("fm show: expected fabric, switch, port, pid, route, gfd, extents, memory or "
		  "events, got \"%s\"",
		what);
}

int
fm_path(struct ctl *c)
{
	json_t *way = fm_ask(c, json_pack("{s:s, s:s, s:s}", "cmd", "path", "from", c->operand[0],
					"to", c->operand[1]));
	const json_t *name;
	size_t i;

	if (c->opt.is_json) {
		ctl_print_json(c, way);
		return EXIT_SUCCESS;
	}
	json_array_foreach(way, i, name)
		printf("%s%s", i == 0 ? "" : " > ", json_string_value(name));
	printf("\n");
	json_decref(way);
	return EXIT_SUCCESS;
}

int
fm_history(struct ctl *c)
{
	return fm_print(c, fm_changes, WEFT_ARRAY_SIZE(fm_changes),
		fm_ask(c, json_pack("{s:s}", "cmd", "history")));
}

static int
fm_set_drained(struct ctl *c, bool is_drained)
{
	static const struct table_column columns[] = {
		{ "NODE", "node", TABLE_TEXT },
		{ "DRAINED", "drained", TABLE_TEXT },
	};
	json_t *result =
		fm_ask(c, json_pack("{s:s, s:s, s:b, s:b}", "cmd", "drain", "node", c->operand[0],
				  "on", is_drained, "plan", c->opt.is_plan));

	if (c->opt.is_plan)
		return fm_print(c, fm_commands, WEFT_ARRAY_SIZE(fm_commands), result);
	return fm_print(c, columns, WEFT_ARRAY_SIZE(columns), result);
}

int
fm_drain(struct ctl *c)
{
	return fm_set_drained(c, true);
}

int
fm_undrain(struct ctl *c)
{
	return fm_set_drained(c, false);
}

void
fm_read_hosts(const char *option, char *text, void *to)
{
	const char **hosts = &((struct ctl_options *)to)->fm.hosts;

	if (*hosts != NULL)
		cli_usage("%s: expected one list of names, got \"%s\" and \"%s\"", option, *hosts,
			text);
	*hosts = text;
}

static bool
fm_has_name(const json_t *list, const char *name, size_t len)
{
	const json_t *one;
	size_t i;

	json_array_foreach(
		list, i, one) if (json_string_length(one) == len &&
				  memcmp(json_string_value(one), name, len) == 0) return true;
	return false;
}

/* Names between commas, as a list. */
static json_t *
fm_names(const char *text)
{
	json_t *list = json_array();
	const char *at = text;

	for (size_t n; at != NULL; at = at[n] == ',' ? at + n + 1 : NULL) {
		n = strcspn(at, ",");
		if (n == 0)
			cli_usage("--hosts: expected names with a comma between, got \"%s\"", text);
		if (fm_has_name(list, at, n))
			cli_usage("--hosts: expected each host once, got \"%s\"", text);
		if (json_array_append_new(list, json_stringn(at, n)) != 0)
			cli_usage("--hosts: expected names in UTF-8, got other bytes");
	}
	return list;
}

/* What each needs of the command line, and takes. The manager judges values. */
enum { FM_NAME = 1, FM_SIZE = 2, FM_GFD = 4, FM_HOSTS = 8, FM_WAYS = 16 };

static const char *const fm_mem_words[] = { "NAME", "--size", "--gfd", "--hosts", "--interleave" };

static const struct {
	const char *op;
	unsigned int needs, takes; /* beside those */
} fm_mem_ops[] = {
	{ "create", FM_SIZE | FM_GFD | FM_HOSTS, FM_NAME | FM_WAYS },
	{ "grow", FM_NAME | FM_SIZE, 0 },
	{ "share", FM_NAME | FM_HOSTS, 0 },
	{ "release", FM_NAME, 0 },
};

const char *const *
fm_mem_op_words(void)
{
	static const char *words[WEFT_ARRAY_SIZE(fm_mem_ops) + 1];

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(fm_mem_ops); i++)
		words[i] = fm_mem_ops[i].op;
	return words;
}

static void
fm_mem_judge(const struct ctl *c, const char *op)
{
	const unsigned int given = (c->operand[1] != NULL ? FM_NAME : 0) |
	                           (c->opt.size_text != NULL ? FM_SIZE : 0) |
	                           (c->opt.fm.gfd != NULL ? FM_GFD : 0) |
	                           (c->opt.host != NULL || c->opt.fm.hosts != NULL ? FM_HOSTS : 0) |
	                           (c->opt.fm.interleave != 0 ? FM_WAYS : 0);
	const int i = weft_words_find(fm_mem_op_words(), op);
	unsigned int lacks, wrong;
	char list[64] = "";
	size_t used = 0;

	if (i < 0)
		cli_usage("fm mem: expected create, grow, share or release, got \"%s\"", op);
	lacks = fm_mem_ops[i].needs & ~given;
	wrong = given & ~(fm_mem_ops[i].needs | fm_mem_ops[i].takes);
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(fm_mem_words); k++)
		if (((lacks != 0 ? lacks : wrong) >> k & 1) != 0)
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
				used == 0 ? "" : " and ", fm_mem_words[k]);
	if (lacks != 0)
		cli_usage("fm mem %s: expected %s beside it, got none", op, list);
	if (wrong != 0)
		cli_usage("fm mem %s: it takes no %s", op, list);
	if (c->opt.host != NULL && c->opt.fm.hosts != NULL)
		cli_usage("fm mem %s: --host and --hosts: expected one of them", op);
}

/* Of a memory that waits for what will not come by itself. */
static void
fm_say_why(const json_t *memory)
{
	const char *why = json_string_value(json_object_get(memory, "why"));

	if (why != NULL)
		cli_warn("memory %s is %s: %s", json_string_value(json_object_get(memory, "name")),
			json_string_value(json_object_get(memory, "state")), why);
}

int
fm_mem(struct ctl *c)
{
	const char *hosts = c->opt.fm.hosts != NULL ? c->opt.fm.hosts : c->opt.host;
	const char *op = c->operand[0];
	json_t *request, *result, *size;

	fm_mem_judge(c, op);
	size = ctl_json_bytes("--size", c->opt.size);
	request = json_pack("{s:s, s:s, s:b, s:o, s:o, s:s*, s:s*}", "cmd", "mem", "op", op, "plan",
		c->opt.is_plan, "hosts", fm_names(hosts), "size", size, "name", c->operand[1],
		"gfd", c->opt.fm.gfd);
	if (c->opt.fm.interleave != 0)
		json_object_set_new(request, "interleave", json_integer(c->opt.fm.interleave));
	result = fm_ask(c, request);
	fm_say_why(result);
	if (c->opt.is_plan)
		return fm_print(c, fm_commands, WEFT_ARRAY_SIZE(fm_commands), result);
	return fm_print(c, fm_memory, WEFT_ARRAY_SIZE(fm_memory), result);
}
