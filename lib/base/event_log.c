/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Lines of events, at most one an interval for each combination of kind, node and peer. */

#include "weft_event_log.h"

struct event_row {
	bool is_used;
	uint64_t said_ns;
	struct weft_event e; /* more: not said yet */
};

struct weft_event_log {
	unsigned int rows;
	uint64_t interval_ns;
	struct event_row row[];
};

size_t
weft_event_log_size(unsigned int rows)
{
	return sizeof(struct weft_event_log) + rows * sizeof(struct event_row);
}

struct weft_event_log *
weft_event_log_init(void *mem, unsigned int rows, uint64_t interval_ns)
{
	struct weft_event_log *l = mem;

	memset(l, 0, weft_event_log_size(rows));
	l->rows = rows;
	l->interval_ns = interval_ns;
	return l;
}

static void
event_copy(char *to, size_t room, const char *from)
{
	const size_t len = from == NULL ? 0 : strnlen(from, room - 1);

	if (len != 0)
		memcpy(to, from, len);
	to[len] = '\0';
}

/* Names are compared as they are kept: cut. */
static bool
event_same(const char *kept, const char *name)
{
	return strncmp(kept, name == NULL ? "" : name, WEFT_EVENT_NAME_ROOM - 1) == 0;
}

/* The row of a combination, or one to use for it: free, or silent for longest. */
static struct event_row *
event_row(struct weft_event_log *l, uint32_t kind, const char *node, const char *peer)
{
	struct event_row *oldest = &l->row[0];

	for (unsigned int i = 0; i < l->rows; i++) {
		struct event_row *r = &l->row[i];

		if (!r->is_used)
			return r; /* they are taken in order: none after it is in use */
		if (r->e.kind == kind && event_same(r->e.node, node) && event_same(r->e.peer, peer))
			return r;
		if (r->e.last_ns < oldest->e.last_ns)
			oldest = r;
	}
	oldest->is_used = false;
	return oldest;
}

/* It is said now: hand it out and start the next interval. */
static void
event_say(struct event_row *r, uint64_t now_ns, bool is_first, struct weft_event *e)
{
	r->e.span_ns = is_first ? 0 : now_ns - r->said_ns;
	*e = r->e;
	r->e.more = 0;
	r->said_ns = now_ns;
}

bool
weft_event_log_put(struct weft_event_log *l, uint32_t kind, const char *node, const char *peer,
	uint64_t n, const char *text, uint64_t now_ns, struct weft_event *e)
{
	struct event_row *r;
	bool is_rested;

	if (n == 0)
		return false;
	r = event_row(l, kind, node, peer);
	is_rested = !r->is_used || (r->e.more == 0 && now_ns - r->said_ns >= l->interval_ns);
	if (!r->is_used) {
		memset(r, 0, sizeof(*r));
		r->is_used = true;
		r->e.kind = kind;
		event_copy(r->e.node, sizeof(r->e.node), node);
		event_copy(r->e.peer, sizeof(r->e.peer), peer);
	}
	event_copy(r->e.text, sizeof(r->e.text), text);
	r->e.more += n;
	r->e.last_ns = now_ns;
	if (is_rested)
		event_say(r, now_ns, true, e);
	return is_rested;
}

bool
weft_event_log_due(struct weft_event_log *l, uint64_t now_ns, bool all, struct weft_event *e)
{
	struct event_row *first = NULL;

	for (unsigned int i = 0; i < l->rows && l->row[i].is_used; i++) {
		struct event_row *r = &l->row[i];

		if (r->e.more == 0 || (!all && now_ns - r->said_ns < l->interval_ns))
			continue;
		if (first == NULL || r->e.last_ns < first->e.last_ns)
			first = r;
	}
	if (first != NULL)
		event_say(first, now_ns, false, e);
	return first != NULL;
}
