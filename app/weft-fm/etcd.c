/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The client of etcd.h, on libcurl, jansson, and libcrypto for base 64. */

#include "etcd.h"

#include <curl/curl.h>
#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ETCD_HOSTS 8
#define ETCD_HOST 300 /* bytes of a URL with its 0 */
#define ETCD_ANSWER (4u << 20) /* bytes, at most */
#define ETCD_WHY 200
#define ETCD_HTTP_OK 200

struct etcd {
	unsigned int n_hosts, at; /* at: the host that answered last */
	char host[ETCD_HOSTS][ETCD_HOST]; /* scheme://HOST:PORT */
	char prefix[100];
	char why[ETCD_WHY];
	char curl_error[CURL_ERROR_SIZE];
	unsigned int call_ms;
	CURL *curl;
	struct curl_slist *headers;
	size_t n_in, room;
	char *in;
};

static bool
etcd_is_plain(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] > '~' || strchr("@\"\\?#%", text[i]) != NULL)
			return false;
	return len > 0;
}

/* Whether a host's URL has a name and a port that can be connected to. */
static bool
etcd_is_host(const char *url)
{
	char *port = NULL;
	CURLU *u = curl_url();
	bool good;

	good = u != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
	       curl_url_get(u, CURLUPART_PORT, &port, 0) == CURLUE_OK &&
	       strspn(port, "0") != strlen(port);
	curl_free(port);
	curl_url_cleanup(u);
	return good;
}

/* Hosts and prefix of a URL. */
static bool
etcd_parse(struct etcd *e, const char *where)
{
	const char *at = strstr(where, "://"), *end;
	int scheme;

	if (at == NULL || (strncmp(where, "http:", 5) != 0 && strncmp(where, "https:", 6) != 0))
		return false;
	at += 3;
	scheme = (int)(at - where);
	end = at + strcspn(at, "/");
	for (bool more = true; more;) {
		const size_t len = strcspn(at, ",/");

		if (e->n_hosts == ETCD_HOSTS || !etcd_is_plain(at, len) ||
			snprintf(e->host[e->n_hosts], ETCD_HOST, "%.*s%.*s", scheme, where,
				(int)len, at) >= ETCD_HOST ||
			!etcd_is_host(e->host[e->n_hosts]))
			return false;
		e->n_hosts++;
		more = at[len] == ',';
		at += len + 1;
	}
	end += *end == '/';
	if (*end == '\0')
		end = "weft";
	if (!etcd_is_plain(end, strlen(end)) || strlen(end) >= sizeof(e->prefix) - 1)
		return false;
	snprintf(e->prefix, sizeof(e->prefix), "%s%s", end, end[strlen(end) - 1] == '/' ? "" : "/");
	return true;
}

/* The bytes of an answer, as long as it is no larger than it may be. */
static size_t
etcd_receive(char *bytes, size_t size, size_t n, void *arg)
{
	struct etcd *e = arg;

	if (e->n_in + n + 1 > ETCD_ANSWER)
		return 0;
	if (e->n_in + n + 1 > e->room) {
		const size_t room = 2 * (e->n_in + n + 1);
		char *more = realloc(e->in, room);

		if (more == NULL)
			return 0;
		e->in = more;
		e->room = room;
	}
	memcpy(e->in + e->n_in, bytes, n);
	e->n_in += n;
	return size * n;
}

/* A proxy of the environment is not asked, and nothing but HTTP is spoken. */
static bool
etcd_set_up(struct etcd *e)
{
	e->curl = curl_easy_init();
	e->headers = curl_slist_append(NULL, "Content-Type: application/json");
	return e->curl != NULL && e->headers != NULL &&
	       curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, e->headers) == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_PROXY, "") == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_ERRORBUFFER, e->curl_error) == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_TIMEOUT_MS, (long)e->call_ms) == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_WRITEFUNCTION, etcd_receive) == CURLE_OK &&
	       curl_easy_setopt(e->curl, CURLOPT_WRITEDATA, e) == CURLE_OK;
}

struct etcd *
etcd_new(const char *where, unsigned int call_ms)
{
	struct etcd *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	e->call_ms = call_ms;
	if (!etcd_parse(e, where) || !etcd_set_up(e)) {
		etcd_free(e);
		return NULL;
	}
	return e;
}

void
etcd_free(struct etcd *e)
{
	if (e == NULL)
		return;
	curl_easy_cleanup(e->curl);
	curl_slist_free_all(e->headers);
	free(e->in);
	free(e);
}

const char *
etcd_prefix(const struct etcd *e)
{
	return e->prefix;
}

const char *
etcd_why(const struct etcd *e)
{
	return e->why;
}

/* What others said, on one line. */
static int
etcd_fail(struct etcd *e, const char *host, const char *text)
{
	snprintf(e->why, sizeof(e->why), "%.80s: %.110s", host, text);
	for (char *c = e->why; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return -EIO;
}

static int
etcd_post(struct etcd *e, const char *host, const char *path, const char *body, json_t **answer)
{
	char url[ETCD_HOST + 64];
	json_error_t error;
	long status = 0;
	const char *text;
	CURLcode rc;
	int fault = 0;

	snprintf(url, sizeof(url), "%s%s", host, path);
	e->n_in = 0;
	e->curl_error[0] = '\0';
	if (curl_easy_setopt(e->curl, CURLOPT_URL, url) != CURLE_OK ||
		curl_easy_setopt(e->curl, CURLOPT_POSTFIELDS, body) != CURLE_OK)
		return etcd_fail(e, host, "out of memory");
	rc = curl_easy_perform(e->curl);
	if (rc != CURLE_OK)
		return etcd_fail(
			e, host, e->curl_error[0] != '\0' ? e->curl_error : curl_easy_strerror(rc));
	curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &status);
	*answer = json_loadb(e->in == NULL ? "" : e->in, e->n_in, 0, &error);
	text = json_string_value(json_object_get(*answer, "error"));
	if (status != ETCD_HTTP_OK || !json_is_object(*answer) || text != NULL)
		fault = etcd_fail(e, host, text != NULL ? text : "answers what etcd does not say");
	if (fault != 0) {
		json_decref(*answer);
		*answer = NULL;
	}
	return fault;
}

int
etcd_call(struct etcd *e, const char *path, json_t *request, json_t **answer)
{
	char *body = request == NULL ? NULL : json_dumps(request, JSON_COMPACT);
	int rc = etcd_fail(e, "etcd", "out of memory");

	json_decref(request);
	for (unsigned int i = 0; body != NULL && i < e->n_hosts && rc != 0; i++) {
		rc = etcd_post(e, e->host[e->at], path, body, answer);
		if (rc != 0)
			e->at = (e->at + 1) % e->n_hosts;
	}
	free(body);
	return rc;
}

/* --- bytes: keys and values are in base 64 --- */

static json_t *
etcd_base64(const char *text, size_t len)
{
	unsigned char *out = malloc(4 * ((len + 2) / 3) + 1);
	json_t *string;

	if (out == NULL)
		return NULL;
	EVP_EncodeBlock(out, (const unsigned char *)text, (int)len);
	string = json_string((const char *)out);
	free(out);
	return string;
}

/* A key with its prefix; @p add is added to its last byte: the end of all that begin so. */
static json_t *
etcd_key(const struct etcd *e, const char *key, unsigned int add)
{
	char whole[sizeof(e->prefix) + ETCD_KEY];
	const size_t len = (size_t)snprintf(whole, sizeof(whole), "%s%s", e->prefix, key);

	if (len >= sizeof(whole))
		return NULL;
	whole[len - 1] = (char)(whole[len - 1] + (int)add);
	return etcd_base64(whole, len);
}

char *
etcd_text(const json_t *kv, const char *member)
{
	const char *in = json_string_value(json_object_get(kv, member));
	const size_t len = in == NULL ? 0 : strlen(in);
	unsigned char *out = in == NULL || len % 4 != 0 ? NULL : malloc(len / 4 * 3 + 1);
	int n = out == NULL ? -1 : EVP_DecodeBlock(out, (const unsigned char *)in, (int)len);

	if (n > 0)
		n -= (in[len - 1] == '=') + (in[len - 2] == '=');
	if (n < 0 || memchr(out, 0, (size_t)n) != NULL) {
		free(out);
		return NULL;
	}
	out[n] = '\0';
	return (char *)out;
}

int64_t
etcd_number(const json_t *object, const char *member)
{
	const json_t *n = json_object_get(object, member);

	return json_is_string(n) ? strtoll(json_string_value(n), NULL, 10) : json_integer_value(n);
}

const json_t *
etcd_row(const json_t *answer)
{
	return json_array_get(json_object_get(answer, "kvs"), 0);
}

/* --- requests --- */

json_t *
etcd_put(const struct etcd *e, const char *key, const char *value, uint64_t lease)
{
	return json_pack("{s:{s:o, s:o, s:o}}", "request_put", "key", etcd_key(e, key, 0), "value",
		etcd_base64(value, strlen(value)), "lease", json_sprintf("%" PRIu64, lease));
}

json_t *
etcd_delete(const struct etcd *e, const char *key)
{
	return json_pack("{s:{s:o}}", "request_delete_range", "key", etcd_key(e, key, 0));
}

json_t *
etcd_is_made_at(const struct etcd *e, const char *key, int64_t revision)
{
	return json_pack("{s:s, s:s, s:o, s:o}", "target", "CREATE", "result", "EQUAL", "key",
		etcd_key(e, key, 0), "create_revision", json_sprintf("%" PRId64, revision));
}

json_t *
etcd_range(const struct etcd *e, const char *key)
{
	return json_pack("{s:o}", "key", etcd_key(e, key, 0));
}

json_t *
etcd_range_all(const struct etcd *e, const char *begin, unsigned int last)
{
	json_t *r = json_pack(
		"{s:o, s:o}", "key", etcd_key(e, begin, 0), "range_end", etcd_key(e, begin, 1));

	if (last != 0) {
		json_object_set_new(r, "limit", json_sprintf("%u", last));
		json_object_set_new(r, "sort_order", json_string("DESCEND"));
		json_object_set_new(r, "sort_target", json_string("KEY"));
	}
	return r;
}

int
etcd_txn(struct etcd *e, json_t *compare, json_t *puts, int64_t *revision)
{
	json_t *answer = NULL;
	int rc = etcd_call(e, "/v3/kv/txn",
		json_pack("{s:o, s:o}", "compare", compare, "success", puts), &answer);

	if (rc == 0) {
		if (revision != NULL)
			*revision = etcd_number(json_object_get(answer, "header"), "revision");
		rc = json_is_true(json_object_get(answer, "succeeded"));
	}
	json_decref(answer);
	return rc;
}
