/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Connections of operators: lines in, lines out, bounded in number, size and time. */

#include "operate.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "event.h"
#include "weft_attach_rundir.h"
#include "weft_socket.h"

#define OPERATORS 32
#define OPERATE_LINE (64 << 10) /* bytes of a request */
#define OPERATE_OUT (64 << 20) /* bytes that wait for one who does not read */
#define OPERATE_LINES_A_TURN 8
#define OPERATE_TRACE_OUT (1 << 20)
#define OPERATE_IDLE_S 60.0 /* nobody who follows nothing may stay longer without a request */

struct operator
{
	int fd; /* -1: free */
	struct operate_streams streams;
	bool is_last; /* what waits is all that it gets */
	uint64_t next_event;
	double heard; /* seconds of the run */
	size_t n_in;
	char in[OPERATE_LINE];
	char *out;
	size_t out_len, out_sent;
};

static struct operate {
	int fd; /* -1: nobody can connect */
	char path[WEFT_SOCKET_PATH_MAX];
	struct operator* who; /* OPERATORS */
} operate = { .fd = -1 };

static void
operate_exit(void)
{
	if (operate.fd >= 0) {
		close(operate.fd);
		unlink(operate.path);
	}
	operate.fd = -1;
}

/* A daemon that was killed left its socket behind. */
static void
operate_clean(const char *folder)
{
	DIR *dir = opendir(folder);
	const struct dirent *e;
	char path[WEFT_SOCKET_PATH_MAX];

	while (dir != NULL && (e = readdir(dir)) != NULL) {
		const size_t len = strlen(e->d_name), end = strlen(OPERATE_SUFFIX);

		if (strncmp(e->d_name, "weftd-", 6) != 0 || len < end ||
			strcmp(e->d_name + len - end, OPERATE_SUFFIX) != 0 ||
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >=
				(int)sizeof(path))
			continue;
		if (weft_socket_is_served(path) == 0)
			unlink(path);
	}
	if (dir != NULL)
		closedir(dir);
}

void
operate_init(struct daemon *d)
{
	char folder[WEFT_SOCKET_PATH_MAX];
	int rc = weft_attach_rundir(folder, sizeof(folder), true);

	(void)d;
	if (rc == 0 && snprintf(operate.path, sizeof(operate.path), "%s/weftd-%d" OPERATE_SUFFIX,
			       folder, (int)getpid()) >= (int)sizeof(operate.path))
		rc = -ENAMETOOLONG;
	if (rc == 0)
		operate.who = calloc(OPERATORS, sizeof(*operate.who));
	if (rc == 0 && operate.who == NULL)
		rc = -ENOMEM;
	for (unsigned int i = 0; rc == 0 && i < OPERATORS; i++)
		operate.who[i].fd = -1;
	if (rc == 0) {
		operate_clean(folder);
		rc = weft_socket_listen_stream(operate.path);
	}
	if (rc < 0) {
		cli_warn("socket for operators in %s: %s: weftctl will not find this daemon",
			folder, weft_attach_rundir_error(rc));
		return;
	}
	operate.fd = rc;
	atexit(operate_exit);
}

static void operate_close(struct operator* o)
{
	trace_stop(o->streams.trace);
	json_decref(o->streams.reload_id);
	close(o->fd);
	free(o->out);
	*o = (struct operator){ .fd = -1 };
}

/*
 * The socket is of mode 0600; who came by another way, such as a passed descriptor, is refused. Its
 * process, 0 if it is of another namespace; or -1.
 */
static int
operate_who(int fd)
{
	struct ucred who = { 0 };
	socklen_t len = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) != 0)
		return -1;
	return who.uid == geteuid() || who.uid == 0 ? who.pid : -1;
}

static void
operate_accept(double seconds)
{
	int fd;

	while ((fd = accept4(operate.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct operator* o = NULL;
		const int pid = operate_who(fd);

		for (unsigned int i = 0; o == NULL && i < OPERATORS; i++)
			if (operate.who[i].fd < 0)
				o = &operate.who[i];
		if (o == NULL || pid < 0) {
			static const char full[] =
				"{\"v\": 1, \"ok\": false, \"error\": \"as many "
				"operators are connected as may be: " RTE_STR(OPERATORS) "\"}\n";
			const ssize_t n = o != NULL ? 0 : write(fd, full, sizeof(full) - 1);

			(void)n; /* it is closed either way */
			close(fd);
			continue;
		}
		o->fd = fd;
		o->streams.pid = pid;
		o->heard = seconds;
	}
}

/* --- out --- */

/* Take a line away to be sent. False: more waits than may. */
static bool
operate_put(struct operator* o, json_t *line)
{
	char *text = line == NULL ? NULL : json_dumps(line, JSON_COMPACT);
	const size_t len = text == NULL ? 0 : strlen(text);
	bool is_good = text != NULL && o->out_len - o->out_sent + len < OPERATE_OUT;

	json_decref(line);
	if (is_good) {
		char *more;

		if (o->out_sent > 0) /* there is a buffer */
			memmove(o->out, o->out + o->out_sent, o->out_len - o->out_sent);
		o->out_len -= o->out_sent;
		o->out_sent = 0;
		more = realloc(o->out, o->out_len + len + 1);
		is_good = more != NULL;
		if (is_good) {
			memcpy(more + o->out_len, text, len);
			more[o->out_len + len] = '\n';
			o->out = more;
			o->out_len += len + 1;
		}
	}
	free(text);
	return is_good;
}

/* False: the other end has gone. */
static bool operate_send(struct operator* o)
{
	while (o->out_sent < o->out_len) {
		const ssize_t n = send(o->fd, o->out + o->out_sent, o->out_len - o->out_sent,
			MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		o->out_sent += (size_t)n;
	}
	if (o->is_last)
		shutdown(o->fd, SHUT_WR);
	return true;
}

static bool operate_put_events(struct operator* o)
{
	json_t *list = events_from_json(&o->next_event), *event;
	bool is_good = true;
	size_t i;

	json_array_foreach(list, i, event) is_good =
		is_good &&
		operate_put(o, json_pack("{s:i, s:O}", "v", OPERATE_VERSION, "event", event));
	json_decref(list);
	return is_good;
}

/* A part of what waits at a time: a trace can fill a connection faster than it is read. */
static bool operate_put_trace(struct operator* o)
{
	struct trace_run *r = o->streams.trace;
	bool is_good = true;
	json_t *line;

	while (is_good && o->out_len - o->out_sent < OPERATE_TRACE_OUT &&
		(line = trace_line(r)) != NULL) {
		json_object_set_new(line, "v", json_integer(OPERATE_VERSION));
		is_good = operate_put(o, line);
	}
	if (trace_is_over(r)) {
		trace_stop(r);
		o->streams.trace = NULL;
	}
	return is_good;
}

/* --- in --- */

static bool
operate_line(struct daemon *d, struct operator* o, double seconds, const char *line, size_t len)
{
	const bool followed = o->streams.follows;
	bool is_good = true;
	json_t *answer;

	o->heard = seconds;
	answer = operate_answer(d, seconds, line, len, &o->streams);
	if (answer != NULL || o->streams.reload == 0)
		is_good = operate_put(o, answer);
	if (o->streams.follows && !followed)
		o->next_event = events_end();
	return is_good;
}

/* Lines that are whole. False: close it. */
static bool
operate_lines(struct daemon *d, struct operator* o, double seconds)
{
	unsigned int n = 0;
	bool is_good = true;
	char *end;

	while (is_good && o->streams.reload == 0 && n++ < OPERATE_LINES_A_TURN &&
		(end = memchr(o->in, '\n', o->n_in)) != NULL) {
		const size_t len = (size_t)(end - o->in);

		is_good = operate_line(d, o, seconds, o->in, len);
		o->n_in -= len + 1;
		memmove(o->in, end + 1, o->n_in);
	}
	if (is_good && o->n_in == sizeof(o->in) && memchr(o->in, '\n', o->n_in) == NULL) {
		o->is_last = true;
		o->n_in = 0;
		return operate_put(
			o, json_pack("{s:i, s:b, s:s}", "v", OPERATE_VERSION, "ok", 0, "error",
				   "expected a request of at most 64 KiB in one line, got more"));
	}
	return is_good;
}

/* The answer to a reload that is over. False: the other end does not read. */
static bool
operate_end_reload(const struct daemon *d, struct operator* o, double seconds)
{
	json_t *answer = operate_reloaded(d, &o->streams);

	if (answer == NULL)
		return true;
	o->heard = seconds;
	return operate_put(o, answer);
}

static bool
operate_receive(struct daemon *d, struct operator* o, double seconds)
{
	ssize_t n;

	/* Nothing else is begun until it is over; who has gone meanwhile is seen then. */
	if (o->streams.reload != 0 && !operate_end_reload(d, o, seconds))
		return false;
	if (o->streams.reload != 0)
		return true;

	/* Closed before it was read, what it sent would take the answer with it. */
	if (o->is_last)
		o->n_in = 0;
	else if (!operate_lines(d, o, seconds))
		return false;
	n = recv(o->fd, o->in + o->n_in, sizeof(o->in) - o->n_in, MSG_DONTWAIT);
	if (n < 0)
		return (errno == EAGAIN || errno == EINTR) &&
		       (o->streams.follows || o->streams.trace != NULL ||
			       seconds - o->heard < OPERATE_IDLE_S);
	if (n == 0)
		return false;
	o->n_in += (size_t)n;
	return o->is_last || operate_lines(d, o, seconds);
}

void
operate_maintain(struct daemon *d, double seconds)
{
	if (operate.fd < 0)
		return;
	operate_accept(seconds);
	for (unsigned int i = 0; i < OPERATORS; i++) {
		struct operator* o = & operate.who[i];

		if (o->fd < 0)
			continue;
		if (!operate_receive(d, o, seconds) ||
			(o->streams.follows && !operate_put_events(o)) ||
			(o->streams.trace != NULL && !operate_put_trace(o)) || !operate_send(o))
			operate_close(o);
	}
}

void
operate_fini(const struct daemon *d)
{
	for (unsigned int i = 0; operate.fd >= 0 && i < OPERATORS; i++) {
		struct operator* o = & operate.who[i];

		if (o->fd < 0)
			continue;
		if (o->streams.reload != 0)
			operate_end_reload(d, o, 0);
		if (o->streams.follows)
			operate_put_events(o);
		operate_put(o, json_pack("{s:i, s:b}", "v", OPERATE_VERSION, "end", 1));
		operate_send(o);
		operate_close(o);
	}
	operate_exit();
	free(operate.who);
	operate.who = NULL;
}
