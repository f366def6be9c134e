/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lines for an operator, and the newest of them for reports. */

#include "event.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli.h"
#include "weft_event_log.h"

#define EVENT_ROWS 512 /* kinds, nodes and peers told apart */
#define EVENT_SECOND UINT64_C(1000000000)

static const struct {
	const char *word;
	enum event_level level;
	const char *advice;
} kinds[EVENT_KINDS] = {
#define WEFTD_EVENT(id, word, level, advice) [EVENT_##id] = { word, EVENT_##level, advice },
#include "event.def"
#undef WEFTD_EVENT
};

const char *const event_level_words[] = {
	[EVENT_ERROR] = "error",
	[EVENT_WARNING] = "warning",
	[EVENT_INFO] = "info",
	[EVENT_DETAIL] = "detail",
	[EVENT_DETAIL + 1] = NULL,
};

/* An event that became a line, or would have with another level. */
struct told {
	struct weft_event e;
	double time; /* seconds since 1970 */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct weft_event_log *event_log; /* NULL: not yet, or no more */
static enum event_level most_level;
static struct told told[EVENTS_KEPT]; /* the n-th at n % EVENTS_KEPT */
static uint64_t n_told;
static uint64_t counts[EVENT_KINDS];

static uint64_t
event_now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * EVENT_SECOND + (uint64_t)t.tv_nsec;
}

int
events_init(enum event_level most)
{
	void *mem = malloc(weft_event_log_size(EVENT_ROWS));

	if (mem == NULL)
		return -ENOMEM;
	most_level = most;
	event_log = weft_event_log_init(mem, EVENT_ROWS, EVENT_INTERVAL_S * EVENT_SECOND);
	return 0;
}

/* With the lock held. */
static void
event_print(const struct weft_event *e)
{
	const char *advice = kinds[e->kind].advice;
	char more[64] = "";

	told[n_told % EVENTS_KEPT].e = *e;
	told[n_told++ % EVENTS_KEPT].time = (double)event_now_ns(CLOCK_REALTIME) / 1e9;
	if (kinds[e->kind].level > most_level)
		return;
	if (e->span_ns != 0)
		snprintf(more, sizeof(more), " (and %llu more in %.0f s)",
			(unsigned long long)e->more, (double)e->span_ns / 1e9);
	cli_warn(
		"node %s: %s%s%s%s", e->node, e->text, more, advice[0] == '\0' ? "" : ": ", advice);
}

void
event_put(
	enum event_kind kind, const char *node, const char *peer, uint64_t n, const char *fmt, ...)
{
	char text[WEFT_EVENT_TEXT_ROOM];
	struct weft_event e;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&lock);
	counts[kind] += n;
	if (event_log != NULL && weft_event_log_put(event_log, kind, node, peer, n, text,
					 event_now_ns(CLOCK_MONOTONIC), &e))
		event_print(&e);
	pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static void
event_say_all(bool all)
{
	const uint64_t now_ns = event_now_ns(CLOCK_MONOTONIC);
	struct weft_event e;

	while (event_log != NULL && weft_event_log_due(event_log, now_ns, all, &e))
		event_print(&e);
}

void
events_maintain(void)
{
	pthread_mutex_lock(&lock);
	event_say_all(false);
	pthread_mutex_unlock(&lock);
}

void
events_fini(void)
{
	pthread_mutex_lock(&lock);
	event_say_all(true);
	free(event_log);
	event_log = NULL;
	pthread_mutex_unlock(&lock);
}

const char *
event_since(char *text, size_t len, uint64_t ago_ns)
{
	const time_t at = (time_t)((event_now_ns(CLOCK_REALTIME) - ago_ns) / EVENT_SECOND);
	struct tm tm;
	char clock[16];

	localtime_r(&at, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	snprintf(text, len, "since %s, %.1f s ago", clock, (double)ago_ns / 1e9);
	return text;
}

uint64_t
event_count(enum event_kind kind)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = counts[kind];
	pthread_mutex_unlock(&lock);
	return n;
}

const char *
event_word(enum event_kind kind)
{
	return kinds[kind].word;
}

json_t *
events_counts_json(void)
{
	json_t *o = json_object();

	for (unsigned int k = 0; k < EVENT_KINDS; k++) {
		const uint64_t n = event_count((enum event_kind)k);

		if (n != 0)
			json_object_set_new(o, kinds[k].word, json_integer((json_int_t)n));
	}
	return o;
}

/* With the lock held: the number @p i of those that are kept. */
static json_t *
event_json(uint64_t i)
{
	const struct told *t = &told[i % EVENTS_KEPT];

	return json_pack("{s:f, s:s, s:s, s:s, s:s, s:s, s:I}", "time", t->time, "kind",
		kinds[t->e.kind].word, "level", event_level_words[kinds[t->e.kind].level], "node",
		t->e.node, "peer", t->e.peer, "text", t->e.text, "n", (json_int_t)t->e.more);
}

json_t *
events_list_json(void)
{
	json_t *list = json_array();

	pthread_mutex_lock(&lock);
	for (uint64_t i = n_told > EVENTS_KEPT ? n_told - EVENTS_KEPT : 0; i < n_told; i++)
		json_array_append_new(list, event_json(i));
	pthread_mutex_unlock(&lock);
	return list;
}

uint64_t
events_end(void)
{
	uint64_t n;

	pthread_mutex_lock(&lock);
	n = n_told;
	pthread_mutex_unlock(&lock);
	return n;
}

json_t *
events_from_json(uint64_t *from)
{
	json_t *list = json_array();

	pthread_mutex_lock(&lock);
	if (n_told > EVENTS_KEPT && *from < n_told - EVENTS_KEPT)
		*from = n_told - EVENTS_KEPT;
	for (; *from < n_told; ++*from) {
		json_t *e = event_json(*from);

		json_object_set_new(e, "seq", json_integer((json_int_t)*from));
		json_array_append_new(list, e);
	}
	pthread_mutex_unlock(&lock);
	return list;
}

enum event_level
events_set_level(enum event_level most)
{
	enum event_level old;

	pthread_mutex_lock(&lock);
	old = most_level;
	most_level = most;
	pthread_mutex_unlock(&lock);
	return old;
}

json_t *
event_last_json(const char *node, const char *peer)
{
	json_t *text = NULL;

	pthread_mutex_lock(&lock);
	for (uint64_t i = 0; text == NULL && i < EVENTS_KEPT && i < n_told; i++) {
		const struct weft_event *e = &told[(n_told - 1 - i) % EVENTS_KEPT].e;

		if (strcmp(e->node, node) == 0 && strcmp(e->peer, peer) == 0)
			text = json_string(e->text);
	}
	pthread_mutex_unlock(&lock);
	return text == NULL ? json_null() : text;
}

int
event_line(unsigned int back, char *text, size_t len)
{
	int rc = -ENOENT;

	pthread_mutex_lock(&lock);
	if (back < EVENTS_KEPT && back < n_told) {
		const struct told *t = &told[(n_told - 1 - back) % EVENTS_KEPT];

		snprintf(text, len, "%.3f %s %s: node %s: %s", t->time,
			event_level_words[kinds[t->e.kind].level], kinds[t->e.kind].word, t->e.node,
			t->e.text);
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}
