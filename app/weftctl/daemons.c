/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Daemons are found by the sockets in the run folder; one that is served is alive. */

#include "daemons.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cli.h"
#include "reach.h"
#include "weft_attach_rundir.h"
#include "weft_base.h"
#include "weft_socket.h"

#define DAEMONS_TIMEOUT_MS 5000
#define DAEMONS_LINE (64u << 20) /* bytes of an answer */
#define DAEMONS_PIECE (64u << 10)

static int
daemons_pid_of(const char *name)
{
	int pid = 0, end = 0;

	return sscanf(name, "weftd-%d.ctl%n", &pid, &end) == 1 && end != 0 && name[end] == '\0'
	               ? pid
	               : 0;
}

static int
daemons_compare(const void *a, const void *b)
{
	return ((const struct daemons_one *)a)->pid - ((const struct daemons_one *)b)->pid;
}

static void
daemons_connect(struct daemons *d, const char *folder, const char *name)
{
	struct daemons_one *one = &d->one[d->n];
	char path[WEFT_SOCKET_PATH_MAX];

	*one = (struct daemons_one){ .pid = daemons_pid_of(name) };
	if (one->pid == 0 || d->n == DAEMONS_MAX - 1 ||
		snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return;
	one->fd = weft_socket_connect_stream(path, DAEMONS_TIMEOUT_MS);
	if (one->fd >= 0)
		d->n++;
}

void
daemons_open(const struct ctl *c, struct daemons *d)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	const int rc = weft_attach_rundir(folder, sizeof(folder), false);
	const struct dirent *e;
	DIR *dir = rc == 0 ? opendir(folder) : NULL;

	*d = (struct daemons){ 0 };
	if (dir == NULL && rc != -ENOENT)
		ctl_fail(c, "run folder %s: %s", folder,
			weft_attach_rundir_error(rc != 0 ? rc : -errno));
	while (dir != NULL && (e = readdir(dir)) != NULL)
		if (c->opt.daemon == 0 || daemons_pid_of(e->d_name) == (int)c->opt.daemon)
			daemons_connect(d, folder, e->d_name);
	if (dir != NULL)
		closedir(dir);
	if (d->n == 0 && c->opt.daemon != 0)
		ctl_fail(c, "--daemon %u: no weftd of this user with that number runs",
			c->opt.daemon);
	if (d->n == 0)
		ctl_fail(c, "%s: no daemon of this user runs: start weftd", folder);
	qsort(d->one, d->n, sizeof(d->one[0]), daemons_compare);
}

void
daemons_close(struct daemons *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		close(d->one[i].fd);
		free(d->one[i].in);
		json_decref(d->one[i].state);
	}
	d->n = 0;
}

/* Bytes that have come. False: it has ended. */
static bool
daemons_receive(struct daemons_one *one, int flags)
{
	ssize_t n;

	if (one->n_in + DAEMONS_PIECE > one->room) {
		char *more = one->room >= DAEMONS_LINE
		                     ? NULL
		                     : realloc(one->in, 2 * one->room + DAEMONS_PIECE);

		if (more == NULL)
			return false;
		one->in = more;
		one->room = 2 * one->room + DAEMONS_PIECE;
	}
	do
		n = recv(one->fd, one->in + one->n_in, one->room - one->n_in, flags);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) &&
		       (flags & MSG_DONTWAIT) != 0;
	one->n_in += (size_t)n;
	return true;
}

/* The first line that is whole, taken out; NULL: none is, or it is no JSON. */
static json_t *
daemons_line(struct daemons_one *one)
{
	char *end = one->n_in == 0 ? NULL : memchr(one->in, '\n', one->n_in);
	size_t len;
	json_t *line;

	if (end == NULL)
		return NULL;
	len = (size_t)(end - one->in);
	line = json_loadb(one->in, len, 0, NULL);
	one->n_in -= len + 1;
	memmove(one->in, end + 1, one->n_in);
	return line;
}

json_t *
daemons_request(const char *cmd)
{
	return json_pack("{s:i, s:s}", "v", 1, "cmd", cmd);
}

static bool
daemons_send(struct daemons_one *one, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT), *more;
	size_t len = text == NULL ? 0 : strlen(text);
	ssize_t n = -1;

	json_decref(request);
	more = text == NULL ? NULL : realloc(text, len + 1);
	if (more != NULL) {
		text = more;
		text[len++] = '\n';
		n = send(one->fd, text, len, MSG_NOSIGNAL);
	}
	free(text);
	return n == (ssize_t)len;
}

json_t *
daemons_ask(struct daemons_one *one, json_t *request, char *err, size_t err_len)
{
	json_t *answer = NULL, *result;
	const char *error;

	snprintf(err, err_len, "weftd %d ended, or did not answer in %d s", one->pid,
		DAEMONS_TIMEOUT_MS / 1000);
	if (!daemons_send(one, request)) {
		one->has_ended = true;
		return NULL;
	}
	/* Events that were asked for before may come first. */
	do {
		json_decref(answer);
		answer = daemons_line(one);
		if (answer == NULL && !daemons_receive(one, 0)) {
			one->has_ended = true;
			return NULL;
		}
	} while (answer == NULL || json_object_get(answer, "ok") == NULL);
	result = json_incref(json_object_get(answer, "result"));
	error = json_string_value(json_object_get(answer, "error"));
	if (result == NULL)
		snprintf(err, err_len, "weftd %d: %s", one->pid,
			error != NULL ? error : "it gives no reason");
	json_decref(answer);
	return result;
}

json_t *
daemons_next(struct daemons *d, int timeout_ms, unsigned int *from)
{
	struct pollfd p[DAEMONS_MAX];
	json_t *line = NULL;

	for (unsigned int i = 0; i < d->n; i++) {
		line = daemons_line(&d->one[i]);
		if (line != NULL) {
			*from = i;
			return line;
		}
		p[i] = (struct pollfd){ .fd = d->one[i].has_ended ? -1 : d->one[i].fd,
			.events = POLLIN };
	}
	if (poll(p, d->n, timeout_ms) <= 0)
		return NULL;
	for (unsigned int i = 0; i < d->n && line == NULL; i++) {
		if (p[i].fd < 0 || p[i].revents == 0)
			continue;
		d->one[i].has_ended = !daemons_receive(&d->one[i], MSG_DONTWAIT);
		line = daemons_line(&d->one[i]);
		*from = i;
	}
	return line;
}

json_t *
daemons_states(const struct ctl *c, struct daemons *d)
{
	json_t *list = json_array();
	char err[512];

	for (unsigned int i = 0; i < d->n; i++) {
		json_t *state;

		if (d->one[i].has_ended)
			continue;
		state = daemons_ask(&d->one[i], daemons_request("state"), err, sizeof(err));
		if (state != NULL)
			json_array_append_new(list, state);
		else if (!d->one[i].has_ended)
			ctl_fail(c, "%s", err);
		else if (c->leave == NULL)
			cli_warn("%s", err); /* on a page the number of daemons says it */
	}
	if (json_array_size(list) == 0)
		ctl_fail(c, "no daemon answers any more");
	return list;
}

static void
daemons_take_state(struct daemons_one *one, json_t *line)
{
	json_t *state = json_object_get(line, "result");

	if (one->is_asked && state != NULL) {
		json_decref(one->state);
		one->state = json_incref(state);
		one->is_asked = false;
	}
	json_decref(line);
}

/* One that was silent is waited for again once the beginning of its answer is there. */
static bool
daemons_is_due(const struct daemons *d)
{
	for (unsigned int i = 0; i < d->n; i++) {
		const struct daemons_one *one = &d->one[i];

		if (one->is_asked && !one->has_ended && (!one->is_silent || one->n_in != 0))
			return true;
	}
	return false;
}

static void
daemons_take_states(struct daemons *d, int timeout_ms)
{
	const uint64_t end_ns = reach_now_ns() + (uint64_t)timeout_ms * 1000000;
	int left_ms = 0;
	unsigned int from;

	do {
		json_t *line = daemons_next(d, left_ms, &from);
		const uint64_t now_ns = reach_now_ns();

		if (line != NULL)
			daemons_take_state(&d->one[from], line);
		left_ms = now_ns < end_ns ? (int)((end_ns - now_ns) / 1000000) + 1 : 0;
	} while (left_ms > 0 && daemons_is_due(d));
}

json_t *
daemons_states_within(const struct ctl *c, struct daemons *d, int timeout_ms)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < d->n; i++) {
		struct daemons_one *one = &d->one[i];

		if (one->has_ended || one->is_asked)
			continue;
		one->is_asked = daemons_send(one, daemons_request("state"));
		one->has_ended = !one->is_asked;
	}
	daemons_take_states(d, timeout_ms);
	for (unsigned int i = 0; i < d->n; i++) {
		struct daemons_one *one = &d->one[i];

		one->is_silent = one->is_asked && !one->has_ended;
		if (one->has_ended)
			continue;
		if (one->state == NULL)
			one->state = json_pack("{s:i, s:[]}", "pid", one->pid, "nodes");
		json_object_set_new(one->state, "silent", json_boolean(one->is_silent));
		json_array_append(list, one->state);
	}
	if (json_array_size(list) == 0)
		ctl_fail(c, "no daemon answers any more");
	return list;
}

/*
 * Index of the daemon that runs the node of @p len characters; d->n: none does. Ends the program
 * where several do, of fabrics that have nothing to do with each other, and where none does and one
 * did not answer: it may be the one.
 */
static unsigned int
daemons_with_node(const struct ctl *c, struct daemons *d, const char *node, size_t len)
{
	char err[512], silent[512] = "";
	unsigned int found = d->n;

	for (unsigned int i = 0; i < d->n; i++) {
		json_t *hello = daemons_ask(&d->one[i], daemons_request("hello"), err, sizeof(err));
		const json_t *name;
		bool is_it = false;
		size_t k;

		json_array_foreach(json_object_get(hello, "nodes"), k, name) is_it =
			is_it || (json_string_length(name) == len &&
					 strncmp(json_string_value(name), node, len) == 0);
		if (hello == NULL)
			memcpy(silent, err, sizeof(silent));
		json_decref(hello);
		if (is_it && found < d->n)
			cli_usage("%s: expected --daemon PID: weftd %d and %d have a node %.*s",
				c->verb, d->one[found].pid, d->one[i].pid, (int)len, node);
		if (is_it)
			found = i;
	}
	if (found == d->n && silent[0] != '\0')
		ctl_fail(c, "%s", silent);
	return found;
}

unsigned int
daemons_find_node(const struct ctl *c, struct daemons *d, const char *node)
{
	return daemons_with_node(c, d, node, strlen(node));
}

unsigned int
daemons_of_node(const struct ctl *c, struct daemons *d, const char *node)
{
	const unsigned int i = daemons_with_node(c, d, node, strlen(node));

	if (i < d->n)
		return i;
	cli_usage("%s: expected a node that a daemon of this user runs, such as s0; got \"%s\"",
		c->verb, node);
}

unsigned int
daemons_of_port(const struct ctl *c, struct daemons *d, const char *port)
{
	const char *dot = strrchr(port, '.');
	const unsigned int i =
		dot == NULL ? d->n : daemons_with_node(c, d, port, (size_t)(dot - port));

	if (i < d->n)
		return i;
	cli_usage(
		"%s: expected a port of a node that a daemon of this user runs, such as s0.0; got "
		"\"%s\"",
		c->verb, port);
}

void
daemons_judge_node(const struct ctl *c, const json_t *states)
{
	const json_t *state, *node;
	char names[256] = "";
	size_t i, k, used = 0;

	json_array_foreach(states, i, state)
		json_array_foreach(json_object_get(state, "nodes"), k, node)
	{
		const char *name = json_string_value(json_object_get(node, "name"));

		if (strcmp(name, c->opt.node) == 0)
			return;
		if (used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
				used == 0 ? "" : ", ", name);
	}
	if (used >= sizeof(names))
		snprintf(names + sizeof(names) - 5, 5, " ...");
	ctl_fail(c,
		"--node %s: no daemon of this user runs such a node: expected one of %s; weftctl "
		"show nodes lists them",
		c->opt.node, names);
}
