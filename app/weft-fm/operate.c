/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Operators: lines of JSON over a socket of mode 0600, a request and an answer each (doc/fm.md).
 * Bounded in number, in the size of a line and in what may wait to be read.
 */

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "manager.h"
#include "weft_cci.h"

#define OPERATE_MAX (OPERATE_FDS - 1)
#define OPERATE_LINE 16384 /* the names of all hosts that a memory may have fit */
#define OPERATE_HISTORY 1000

struct operate_one {
	int fd; /* -1: free */
	uid_t uid;
	size_t n_in;
	char in[OPERATE_LINE];
	char *out; /* an answer that is not whole there yet */
	size_t n_out, sent;
};

static struct operate_one operate_all[OPERATE_MAX];

/* End of the first whole line that came; NULL: there is none. */
static char *
operate_line_end(struct operate_one *o)
{
	return memchr(o->in, '\n', o->n_in);
}

void
operate_init(void)
{
	for (unsigned int i = 0; i < OPERATE_MAX; i++)
		operate_all[i].fd = -1;
}

static void
operate_close(struct operate_one *o)
{
	close(o->fd);
	free(o->out);
	*o = (struct operate_one){ .fd = -1 };
}

unsigned int
operate_fds(struct pollfd *fd)
{
	unsigned int n = 0;

	if (operate_listener() >= 0)
		fd[n++] = (struct pollfd){ .fd = operate_listener(), .events = POLLIN };
	for (unsigned int i = 0; i < OPERATE_MAX; i++) {
		struct operate_one *o = &operate_all[i];
		/* A line that came with the one before is due: nothing more need come. */
		const bool is_due = o->out != NULL || operate_line_end(o) != NULL;

		if (o->fd >= 0)
			fd[n++] =
				(struct pollfd){ .fd = o->fd, .events = is_due ? POLLOUT : POLLIN };
	}
	return n;
}

/* A name of a request may be cut within a character. */
json_t *
operate_refuse(const char *fmt, const char *a)
{
	json_t *text = json_sprintf(fmt, a);
	char plain[512];

	snprintf(plain, sizeof(plain), "%s", a);
	for (char *c = plain; text == NULL && *c != '\0'; c++)
		*c = (uint8_t)*c < 0x80 ? *c : '?';
	if (text == NULL)
		text = json_sprintf(fmt, plain);
	return json_pack("{s:b, s:o}", "ok", 0, "error", text);
}

json_t *
operate_result(json_t *result)
{
	return json_pack("{s:b, s:o}", "ok", 1, "result", result);
}

static const struct {
	const char *noun;
	json_t *(*report)(const struct manager *m);
} operate_nouns[] = {
	{ "fabric", report_fabric },
	{ "switch", report_switches },
	{ "port", report_ports },
	{ "pid", report_pids },
	{ "route", report_routes },
	{ "gfd", report_gfds },
	{ "extents", report_extents },
	{ "memory", report_memory },
	{ "events", report_events },
};

static const char *
operate_word(const json_t *request, const char *key)
{
	const char *word = json_string_value(json_object_get(request, key));

	return word == NULL ? "" : word;
}

static int
operate_node(const struct manager *m, const json_t *request, const char *key)
{
	return weft_topo_find(m->topo, operate_word(request, key));
}

static json_t *
operate_show(struct manager *m, const struct operate_one *o, const json_t *request)
{
	const char *what = operate_word(request, "what");

	(void)o;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(operate_nouns); i++)
		if (strcmp(operate_nouns[i].noun, what) == 0)
			return operate_result(operate_nouns[i].report(m));
	return operate_refuse("what: expected fabric, switch, port, pid, route, gfd, extents, "
			      "memory or events, got \"%.64s\"",
		what);
}

static json_t *
operate_path(struct manager *m, const struct operate_one *o, const json_t *request)
{
	const int from = operate_node(m, request, "from"), to = operate_node(m, request, "to");
	json_t *way;

	(void)o;
	if (from < 0 || to < 0 || from == to)
		return operate_refuse(
			"path: expected the names of two nodes of the fabric, got \"%.64s\"",
			operate_word(request, from < 0 ? "from" : "to"));
	way = report_path(m, (unsigned int)from, (unsigned int)to);
	if (json_is_array(way))
		return operate_result(way);
	return json_pack("{s:b, s:o}", "ok", 0, "error", way);
}

static json_t *
operate_history(struct manager *m, const struct operate_one *o, const json_t *request)
{
	const json_int_t n = json_integer_value(json_object_get(request, "n"));
	json_t *list = store_history(
		m->store, n == 0 || n > OPERATE_HISTORY ? OPERATE_HISTORY : (unsigned int)n);

	(void)o;
	return list != NULL
	               ? operate_result(list)
	               : operate_refuse("history: the store cannot be read%s", store_why(m->store));
}

struct operate_plan {
	const struct manager *m;
	json_t *list;
};

static void
operate_plan_event(void *arg, const struct weft_fm_event *e)
{
	struct operate_plan *p = arg;

	if (e->kind == WEFT_FM_EVENT_WRITE)
		json_array_append_new(p->list,
			json_pack("{s:s, s:s, s:s}", "node", intent_name(&p->m->intent, e->path),
				"command", weft_cci_opcode_name(e->opcode), "what", e->text));
}

/* Commands that the desired state as it is now would need. */
json_t *
operate_plan(struct manager *m)
{
	struct operate_plan p = { m, json_array() };
	const int rc = weft_fm_plan(m->fm, &m->intent.want, operate_plan_event, &p);

	if (rc == 0)
		return operate_result(p.list);
	json_decref(p.list);
	return operate_refuse(
		"%s: the fabric is changing or a component refuses: try again when it has settled",
		"plan");
}

/* Drain a node, or end that; with "plan" only say which commands it would take. */
static json_t *
operate_drain(struct manager *m, const struct operate_one *o, const json_t *request)
{
	const int node = operate_node(m, request, "node");
	const bool is_drained = !json_is_false(json_object_get(request, "on"));
	struct weft_fm_node *want;
	char who[32], why[96];
	json_t *answer;
	bool before;

	if (node < 0)
		return operate_refuse(
			"drain: expected the name of a node of the fabric, got \"%.64s\"",
			operate_word(request, "node"));
	want = &m->intent.node[node];
	before = want->is_drained;
	want->is_drained = is_drained;
	if (json_is_true(json_object_get(request, "plan"))) {
		answer = operate_plan(m);
		want->is_drained = before;
		return answer;
	}
	if (store_set_drained(m->store, want->name, is_drained) != 0) {
		want->is_drained = before;
		return operate_refuse("drain: the store did not say that it has it%s: see what "
				      "show switch says before it is asked for again",
			store_why(m->store));
	}
	snprintf(who, sizeof(who), "uid %u", (unsigned int)o->uid);
	snprintf(why, sizeof(why), "%s: %s %s", who, is_drained ? "drain" : "undrain", want->name);
	(void)store_audit(m->store, &(struct store_change){ who, is_drained ? "drain" : "undrain",
					    want->name, 0, "asked by an operator" });
	weft_fm_set_intent(m->fm, &m->intent.want, why);
	return operate_result(json_pack("{s:s, s:b}", "node", want->name, "drained", is_drained));
}

static json_t *
operate_memory(struct manager *m, const struct operate_one *o, const json_t *request)
{
	return operate_mem(m, (unsigned int)o->uid, request);
}

static const struct {
	const char *cmd;
	json_t *(*run)(struct manager *m, const struct operate_one *o, const json_t *request);
} operate_commands[] = {
	{ "show", operate_show },
	{ "path", operate_path },
	{ "history", operate_history },
	{ "drain", operate_drain },
	{ "mem", operate_memory },
};

static json_t *
operate_does_not_lead(void)
{
	return operate_refuse(
		"%s: this weft-fm does not lead: ask again, the one that leads serves "
		"that socket",
		MANAGER_SOCKET);
}

/* What is not understood is not done. @return what to answer, or NULL: all is of its kind */
static json_t *
operate_judge(const json_t *request)
{
	static const char *const flags[] = { "plan", "on" };
	static const char *const words[] = { "cmd", "what", "from", "to", "node", "op", "name",
		"gfd" };
	const json_t *n = json_object_get(request, "n");

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(flags); i++) {
		const json_t *flag = json_object_get(request, flags[i]);

		if (flag != NULL && !json_is_boolean(flag))
			return operate_refuse("%s: expected true or false, got another", flags[i]);
	}
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(words); i++) {
		const json_t *word = json_object_get(request, words[i]);

		if (word != NULL && !json_is_string(word))
			return operate_refuse("%s: expected a string, got another", words[i]);
	}
	if (n != NULL && (!json_is_integer(n) || json_integer_value(n) < 1))
		return operate_refuse("%s: expected a number from 1 on, got another", "n");
	return NULL;
}

static json_t *
operate_answer(struct manager *m, const struct operate_one *o, const char *line, size_t len)
{
	json_error_t err;
	json_t *request, *answer;
	const char *cmd;

	if (!store_leads(m->store))
		return operate_does_not_lead();
	request = json_loadb(line, len, JSON_REJECT_DUPLICATES, &err);
	if (request == NULL && json_error_code(&err) == json_error_invalid_utf8)
		return operate_refuse(
			"expected a line of JSON in UTF-8, got bytes that are %s", "no UTF-8");
	if (request == NULL)
		return operate_refuse("expected a line of JSON: %s", err.text);
	cmd = json_string_value(json_object_get(request, "cmd"));
	answer = operate_judge(request);
	for (unsigned int i = 0;
		answer == NULL && cmd != NULL && i < WEFT_ARRAY_SIZE(operate_commands); i++)
		if (strcmp(operate_commands[i].cmd, cmd) == 0)
			answer = operate_commands[i].run(m, o, request);
	if (answer == NULL)
		answer = operate_refuse("expected an object with cmd: show, path, history, drain "
					"or mem, got \"%.64s\"",
			cmd == NULL ? "" : cmd);
	json_decref(request);
	return answer;
}

/* One too many. Closed without a word it would take the manager for one that has gone. */
static void
operate_turn_away(int fd)
{
	char line[96];
	const int len = snprintf(line, sizeof(line),
		"{\"ok\":false,\"error\":\"as many operators are connected as may be: %d\"}\n",
		OPERATE_MAX);

	(void)send(fd, line, (size_t)len, MSG_NOSIGNAL | MSG_DONTWAIT);
	close(fd);
}

static void
operate_accept(void)
{
	int fd;

	while ((fd = accept4(operate_listener(), NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct operate_one *o = NULL;
		struct ucred who = { 0 };
		socklen_t len = sizeof(who);

		for (unsigned int i = 0; o == NULL && i < OPERATE_MAX; i++)
			if (operate_all[i].fd < 0)
				o = &operate_all[i];
		/* The socket is of mode 0600; a passed descriptor is another way in. */
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0 ||
			(who.uid != geteuid() && who.uid != 0)) {
			close(fd);
		} else if (o == NULL) {
			operate_turn_away(fd);
		} else {
			o->fd = fd;
			o->uid = who.uid;
		}
	}
}

/* False: the other end has gone. */
static bool
operate_send(struct operate_one *o)
{
	while (o->out != NULL) {
		const ssize_t n = send(
			o->fd, o->out + o->sent, o->n_out - o->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		o->sent += (size_t)n;
		if (o->sent < o->n_out)
			continue;
		free(o->out);
		o->out = NULL;
		o->n_out = o->sent = 0;
	}
	return true;
}

static bool
operate_say(struct operate_one *o, json_t *answer)
{
	o->out = json_dumps(answer, JSON_COMPACT);
	json_decref(answer);
	if (o->out == NULL)
		return false;
	o->n_out = strlen(o->out);
	o->out[o->n_out++] = '\n'; /* in place of the 0 */
	return operate_send(o);
}

/* False: the other end says no more, or a line that is too long. */
static bool
operate_receive(struct operate_one *o)
{
	const ssize_t n = recv(o->fd, o->in + o->n_in, sizeof(o->in) - o->n_in, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	o->n_in += n > 0 ? (size_t)n : 0;
	if (o->n_in < sizeof(o->in) || operate_line_end(o) != NULL)
		return true;
	(void)operate_say(
		o, operate_refuse("expected a line of at most %s, got more", "16384 bytes"));
	return false;
}

/*
 * A request is read when the answer to the one before has gone, one a turn: the fabric does not
 * wait for who sends many. Those that came are answered before the end that came behind them.
 * False: close it.
 */
static bool
operate_serve(struct manager *m, struct operate_one *o)
{
	const char *end;
	json_t *answer;

	if (!operate_send(o))
		return false;
	if (o->out != NULL)
		return true;
	if (operate_line_end(o) == NULL && !operate_receive(o))
		return false;
	end = operate_line_end(o);
	if (end == NULL)
		return true;
	answer = operate_answer(m, o, o->in, (size_t)(end - o->in));
	o->n_in -= (size_t)(end + 1 - o->in);
	memmove(o->in, end + 1, o->n_in);
	return operate_say(o, answer);
}

void
operate_turn(struct manager *m, uint64_t now_ns)
{
	(void)now_ns;
	operate_accept();
	for (unsigned int i = 0; i < OPERATE_MAX; i++)
		if (operate_all[i].fd >= 0 && !operate_serve(m, &operate_all[i]))
			operate_close(&operate_all[i]);
}

/* Those that wait for an answer get one: whoever asks after a manager that stood leads no more. */
void
operate_fini(void)
{
	operate_accept();
	for (unsigned int i = 0; i < OPERATE_MAX; i++) {
		struct operate_one *o = &operate_all[i];

		if (o->fd < 0)
			continue;
		if (o->out == NULL)
			(void)operate_say(o, operate_does_not_lead());
		operate_close(o);
	}
	operate_unlisten();
}
