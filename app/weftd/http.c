/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Paths of --http, a row each. */

#include "http.h"
#include "report.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <microhttpd.h>

#include "cli.h"
#include "event.h"
#include "http_peer.h"
#include "metrics.h"
#include "page_html.h"
#include "resolve.h"

#define HTTP_CONNECTIONS 64
#define HTTP_TIMEOUT_S 60
#define HTTP_ALIVE_S 15 /* an empty line to who follows events */
#define HTTP_HOST "127.0.0.1"

static struct http {
	struct daemon *d;
	struct MHD_Daemon *server; /* NULL: not asked for, or over */
	double seconds;
	bool is_loopback;
} http;

/* Makes the answer to a request; *status is 200 unless it says otherwise. */
struct http_path {
	const char *path;
	struct MHD_Response *(*make)(struct MHD_Connection *c, unsigned int *status);
};

/* --- where to listen --- */

/* ADDRESS:PORT, [ADDRESS]:PORT of IPv6, or PORT. False: it is none. */
static bool
http_parse(const char *listen, struct sockaddr_storage *a)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)a;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)a;
	const char *colon = strrchr(listen, ':');
	const char *port = colon == NULL ? listen : colon + 1;
	char host[64] = HTTP_HOST, *end;
	unsigned long n;

	*a = (struct sockaddr_storage){ 0 };
	if (colon != NULL && snprintf(host, sizeof(host), "%.*s", (int)(colon - listen), listen) >=
				     (int)sizeof(host))
		return false;
	n = port[0] < '0' || port[0] > '9' ? 0 : strtoul(port, &end, 10);
	if (n == 0 || n > UINT16_MAX || *end != '\0')
		return false;
	v4->sin_port = htons((uint16_t)n);
	v4->sin_family = AF_INET;
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1)
		return true;
	if (host[0] != '[' || host[strlen(host) - 1] != ']')
		return false;
	host[strlen(host) - 1] = '\0';
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons((uint16_t)n);
	return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1;
}

void
http_check(const char *listen)
{
	struct sockaddr_storage a;

	if (listen != NULL && !http_parse(listen, &a))
		cli_usage("--http: expected PORT, ADDRESS:PORT or [ADDRESS]:PORT, numbers all, got "
			  "\"%s\"",
			listen);
}

/* --- what there is --- */

static struct MHD_Response *
http_text(char *text, size_t len, const char *type)
{
	struct MHD_Response *r;

	if (text == NULL)
		return NULL;
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (r != NULL)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	else
		free(text);
	return r;
}

static struct MHD_Response *
http_metrics(struct MHD_Connection *c, unsigned int *status)
{
	const char *accept =
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	const bool is_open =
		accept != NULL && strstr(accept, "application/openmetrics-text") != NULL;
	size_t len;
	char *text = metrics_text(http.d, http.seconds, is_open, &len);

	(void)status;
	return http_text(text, len,
		is_open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
			: "text/plain; version=0.0.4; charset=utf-8");
}

static struct MHD_Response *
http_json(json_t *o)
{
	char *text = json_dumps(o, JSON_COMPACT);

	json_decref(o);
	return http_text(text, text == NULL ? 0 : strlen(text), "application/json");
}

static struct MHD_Response *
http_state(struct MHD_Connection *c, unsigned int *status)
{
	(void)c, (void)status;
	return http_json(report_state(http.d, http.seconds));
}

/* Words of a question by their keys; each may come once. */
enum { HTTP_FROM, HTTP_HPA, HTTP_KIND, HTTP_KEYS };

static const char *const http_keys[HTTP_KEYS] = { "from", "hpa", "kind" };

struct http_question {
	const char *value[HTTP_KEYS]; /* NULL: not there */
	char wrong[200]; /* "": nothing */
};

static enum MHD_Result
http_take_key(void *arg, enum MHD_ValueKind kind, const char *key, size_t key_len,
	const char *value, size_t len)
{
	struct http_question *q = arg;
	char got[64];
	unsigned int i;

	(void)kind;
	for (i = 0; i < HTTP_KEYS; i++)
		if (key_len == strlen(http_keys[i]) && memcmp(key, http_keys[i], key_len) == 0)
			break;
	if (i == HTTP_KEYS)
		snprintf(q->wrong, sizeof(q->wrong),
			"expected from, hpa and kind, and no other key, got \"%s\"",
			cli_printable(got, sizeof(got), key));
	else if (q->value[i] != NULL)
		snprintf(q->wrong, sizeof(q->wrong),
			"expected from, hpa and kind once each, got %s twice", http_keys[i]);
	else if (value != NULL && memchr(value, '\0', len) != NULL)
		snprintf(q->wrong, sizeof(q->wrong),
			"%s: expected a value without a zero byte, got one with it", http_keys[i]);
	else
		q->value[i] = value == NULL ? "" : value;
	return q->wrong[0] == '\0' ? MHD_YES : MHD_NO;
}

/*
 * What the requests say may be anything: of it what can be printed is repeated, in JSON alone, and
 * so that it is no markup even where that is taken for a page.
 */
static struct MHD_Response *
http_resolve(struct MHD_Connection *c, unsigned int *status)
{
	struct http_question q = { 0 };
	char line[NODE_ERROR_MAX];
	json_t *o = NULL;

	(void)MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, http_take_key, &q);
	if (q.wrong[0] != '\0')
		snprintf(line, sizeof(line), "%s", q.wrong);
	else
		o = resolve_json(daemon_now(http.d), q.value[HTTP_FROM], q.value[HTTP_HPA],
			q.value[HTTP_KIND], line, sizeof(line));
	for (char *at = line; o == NULL && (at = strchr(at, '<')) != NULL;)
		*at = '?';
	if (o == NULL) {
		*status = MHD_HTTP_BAD_REQUEST;
		o = json_pack("{s:s}", "error", line);
	}
	return http_json(o);
}

/* The page with the state in the place of the mark; a name can not end its script. */
static char *
http_page_text(size_t *len)
{
	static const char mark[] = "/*STATE*/null";
	const unsigned char *at = memmem(page_html, sizeof(page_html), mark, sizeof(mark) - 1);
	json_t *o = report_state(http.d, http.seconds);
	char *state = json_dumps(o, JSON_COMPACT), *text = NULL;
	FILE *to = state == NULL || at == NULL ? NULL : open_memstream(&text, len);

	json_decref(o);
	if (to != NULL) {
		fwrite(page_html, 1, (size_t)(at - page_html), to);
		for (const char *s = state; *s != '\0'; s++)
			fputs(*s == '<' ? "\\u003c" : (const char[]){ *s, '\0' }, to);
		at += sizeof(mark) - 1;
		fwrite(at, 1, sizeof(page_html) - (size_t)(at - page_html), to);
	}
	free(state);
	if (to != NULL && fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

static struct MHD_Response *
http_page(struct MHD_Connection *c, unsigned int *status)
{
	size_t len;
	char *text = http_page_text(&len);
	struct MHD_Response *r =
		text == NULL ? NULL
			     : MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	(void)c, (void)status;
	if (r == NULL)
		free(text);
	if (r == NULL)
		return NULL;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
	/* Nothing from elsewhere, whatever a name of the fabric holds. */
	MHD_add_response_header(r, "Content-Security-Policy",
		"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		"connect-src 'self'; frame-ancestors 'none'");
	return r;
}

/* Somebody who follows events. */
struct http_follower {
	uint64_t next;
	double last; /* when something was sent, in seconds of the run */
	char *text;
	size_t len, sent;
};

static void
http_follow_more(struct http_follower *f)
{
	json_t *list = events_from_json(&f->next), *e;
	FILE *to;
	size_t i;

	free(f->text);
	*f = (struct http_follower){ .next = f->next, .last = f->last };
	to = open_memstream(&f->text, &f->len);
	json_array_foreach(list, i, e)
	{
		char *text = json_dumps(e, JSON_COMPACT);

		if (to != NULL && text != NULL)
			fprintf(to, "data: %s\n\n", text);
		free(text);
	}
	json_decref(list);
	if (to != NULL && http.seconds - f->last > HTTP_ALIVE_S)
		fputs(":\n\n", to);
	if (to == NULL || fclose(to) != 0)
		f->len = 0;
	if (f->len != 0)
		f->last = http.seconds;
}

static ssize_t
http_follow(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct http_follower *f = arg;
	size_t n;

	(void)pos;
	if (f->sent == f->len)
		http_follow_more(f);
	n = f->len - f->sent < max ? f->len - f->sent : max;
	if (n != 0)
		memcpy(buf, f->text + f->sent, n);
	f->sent += n;
	return (ssize_t)n;
}

static void
http_follow_free(void *arg)
{
	struct http_follower *f = arg;

	free(f->text);
	free(f);
}

static struct MHD_Response *
http_events(struct MHD_Connection *c, unsigned int *status)
{
	struct http_follower *f = calloc(1, sizeof(*f));
	struct MHD_Response *r;

	(void)c, (void)status;
	if (f == NULL)
		return NULL;
	f->last = http.seconds;
	r = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 4096, http_follow, f, http_follow_free);
	if (r == NULL)
		http_follow_free(f);
	else
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	return r;
}

static const struct http_path paths[] = {
	{ "/", http_page },
	{ "/metrics", http_metrics },
	{ "/api/v1/state", http_state },
	{ "/api/v1/events", http_events },
	{ "/api/v1/resolve", http_resolve },
};

/* --- who may --- */

/*
 * A page of somebody else's that a browser has open may not reach ours by a name that leads here:
 * at a loopback address only names of that are answered.
 */
static bool
http_is_our_name(struct MHD_Connection *c)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "[::1]" };
	const char *host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);

	for (unsigned int i = 0; host != NULL && i < WEFT_ARRAY_SIZE(names); i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(host, names[i], len) == 0 && (host[len] == ':' || host[len] == '\0'))
			return true;
	}
	return !http.is_loopback;
}

static bool
http_may(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	uid_t uid;

	if (!http.is_loopback || http.d->cfg.http_users)
		return true;
	return i != NULL && http_peer_user(i->connect_fd, &uid) == 1 &&
	       (uid == geteuid() || uid == 0);
}

static enum MHD_Result
http_answer(struct MHD_Connection *c, unsigned int status, struct MHD_Response *r)
{
	enum MHD_Result rc;

	if (r == NULL)
		return MHD_NO;
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result
http_refuse(struct MHD_Connection *c, unsigned int status, const char *line)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(line), (void *)(uintptr_t)line, MHD_RESPMEM_PERSISTENT);

	if (r != NULL)
		MHD_add_response_header(
			r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	if (r != NULL && status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	return http_answer(c, status, r);
}

static enum MHD_Result
http_request(void *arg, struct MHD_Connection *c, const char *url, const char *method,
	const char *version, const char *data, size_t *len, void **state)
{
	unsigned int status = MHD_HTTP_OK;

	(void)arg, (void)version, (void)data, (void)state;
	if (!http_may(c))
		return http_refuse(c, MHD_HTTP_FORBIDDEN,
			"expected the user of weftd, or --http-users for all of this machine\n");
	if (!http_is_our_name(c))
		return http_refuse(c, MHD_HTTP_FORBIDDEN,
			"expected the name localhost, 127.0.0.1 or [::1] in the address\n");
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
		*len = 0;
		return http_refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED,
			"expected GET: nothing can be changed here\n");
	}
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(paths); i++)
		if (strcmp(url, paths[i].path) == 0) {
			struct MHD_Response *r = paths[i].make(c, &status);

			return http_answer(c, status, r);
		}
	return http_refuse(c, MHD_HTTP_NOT_FOUND,
		"expected /, /metrics, /api/v1/state, /api/v1/events or /api/v1/resolve\n");
}

int
http_init(struct daemon *d, char *err, size_t err_len)
{
	struct sockaddr_storage a;

	if (d->cfg.http == NULL)
		return 0;
	http.d = d;
	(void)http_parse(d->cfg.http, &a);
	http.is_loopback = http_peer_is_loopback((struct sockaddr *)&a);
	errno = 0;
	http.server = MHD_start_daemon(a.ss_family == AF_INET6 ? MHD_USE_IPv6 : MHD_NO_FLAG, 0,
		NULL, NULL, http_request, NULL, MHD_OPTION_SOCK_ADDR, &a,
		MHD_OPTION_CONNECTION_LIMIT, HTTP_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		HTTP_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)(32 << 10),
		MHD_OPTION_END);
	if (http.server == NULL) {
		const int rc = errno != 0 ? errno : EADDRNOTAVAIL;

		return weft_errorf(err, err_len, -rc, "--http %s: %s", d->cfg.http, strerror(rc));
	}
	if (!d->cfg.no_text)
		printf("http: listens at %s%s\n",
			strchr(d->cfg.http, ':') == NULL ? HTTP_HOST ":" : "", d->cfg.http);
	return 0;
}

void
http_maintain(double seconds)
{
	http.seconds = seconds;
	if (http.server != NULL)
		MHD_run(http.server);
}

void
http_fini(void)
{
	if (http.server != NULL)
		MHD_stop_daemon(http.server);
	http.server = NULL;
}
