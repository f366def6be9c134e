/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What is said of sessions that live: control frames that prove nothing, and words of their end
 * that the other end does not confirm (doc/session.md); and frames that were sent before. Sessions
 * count them; here they become lines.
 */

#include "watch.h"
#include "conn.h"

#include "event.h"

#define CONFIRM_NS UINT64_C(1000000000) /* a session that lives so long after is not over */
/*
 * A session that is new hears the rest of the one before, wires double and reorder, and an Ack that
 * was overtaken is out of the window: a tenth of all frames doubled and another reordered give one
 * such Ack in ten.
 */
#define REPLAY_SETTLE_NS UINT64_C(1000000000)
#define REPLAY_SPAN_NS UINT64_C(10000000000)
#define REPLAY_OLD 250 /* in a span: more than half as many as a session has keepalives */
#define REPLAY_ODD 1000 /* in a span, and more than there were good Acks */

static void
forged_tell_refused(struct conn *conn, const char *node, const char *other)
{
	const uint64_t *c = weft_link_session(conn->link->end)->count;
	const uint64_t n = c[WEFT_SESSION_N_BAD_MACS] + c[WEFT_SESSION_N_FALSE_GONES];

	if (n == conn->forged_told)
		return;
	event_put(EVENT_FORGED, node, other, n - conn->forged_told,
		"control frames in the name of %s that prove nothing, %llu in all: ignored", other,
		(unsigned long long)n);
	conn->forged_told = n;
}

/* Who is told the truth by a challenge has a new session soon, or none. */
static void
forged_tell_doubts(struct conn *c, const char *node, const char *other, uint64_t now_ns)
{
	const struct weft_session *s = weft_link_session(c->link->end);
	const uint64_t n = s->count[WEFT_SESSION_N_CHALLENGES];
	const uint64_t begun = s->count[WEFT_SESSION_N_BEGUN];

	/* Of before the doubt: the true end of a session and the next one may come in one look. */
	if (n == c->doubts_told) {
		c->doubt_begun = begun;
		return;
	}
	if (c->doubt_ns == 0) {
		c->doubt_ns = now_ns;
		return;
	}
	if (now_ns - c->doubt_ns < CONFIRM_NS)
		return;
	if (begun == c->doubt_begun && weft_session_is_live(s))
		event_put(EVENT_CHALLENGED, node, other, n - c->doubts_told,
			"somebody says that the session with %s is over; it was asked %llu times "
			"in all, and goes on",
			other, (unsigned long long)n);
	c->doubts_told = n;
	c->doubt_ns = 0;
}

static void
forged_begin_replay(const struct conn *c, struct replay_watch *w, uint64_t from_ns)
{
	const uint64_t *s = weft_link_session(c->link->end)->count;
	const struct weft_llr *l = weft_link_llr(c->link->end);

	w->begun = s[WEFT_SESSION_N_BEGUN];
	w->from_ns = w->told_ns = from_ns;
	w->old = w->told_old = s[WEFT_SESSION_N_UNKNOWN] + s[WEFT_SESSION_N_OLD_NUMBERS];
	w->odd = w->told_odd = weft_llr_count(l, WEFT_LLR_N_OUT_OF_WINDOW);
	w->acks = weft_llr_count(l, WEFT_LLR_N_ACKS);
}

static void
forged_say_replay(struct conn *c, const char *other, const struct replay_watch *now)
{
	const uint64_t old = now->old - c->replay.old, odd = now->odd - c->replay.odd;
	struct replay_watch *w = &c->replay;
	char since[48];

	event_since(since, sizeof(since), now->from_ns - w->from_ns);
	if (now->old - w->told_old >= REPLAY_OLD)
		event_put(EVENT_REPLAYED, c->node->topo->name, other, now->old - w->told_old,
			"%llu frames in the name of %s %s, that were sent before or are of no "
			"session that lives: dropped",
			(unsigned long long)old, other, since);
	else if (now->odd - w->told_odd >= REPLAY_ODD && odd > now->acks - w->acks)
		event_put(EVENT_REPLAYED, c->node->topo->name, other, now->odd - w->told_odd,
			"%llu Acks, Naks and flit numbers in the name of %s %s, that cannot be, "
			"more than there are good ones: ignored",
			(unsigned long long)odd, other, since);
	else
		return;
	w->told_ns = now->from_ns;
	w->told_old = now->old;
	w->told_odd = now->odd;
}

/* From the first of them on until a span has passed with few. */
static void
forged_tell_replayed(struct conn *c, const char *other, uint64_t now_ns)
{
	struct replay_watch now, *w = &c->replay;

	forged_begin_replay(c, &now, now_ns);
	if (now.begun != w->begun || !weft_session_is_live(weft_link_session(c->link->end)))
		forged_begin_replay(c, w, now_ns + REPLAY_SETTLE_NS);
	else if (now_ns < w->from_ns)
		forged_begin_replay(c, w, w->from_ns);
	else if (now_ns - w->told_ns >= REPLAY_SPAN_NS)
		forged_begin_replay(c, w, now_ns);
	else
		forged_say_replay(c, other, &now);
}

void
forged_log_events(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();
	struct conn_walk w = d->walk;
	struct conn *c;

	while ((c = conns_next(d, &w)) != NULL) {
		const char *name = c->node->topo->name, *other = conn_peer_name(c);

		forged_tell_refused(c, name, other);
		forged_tell_doubts(c, name, other, now_ns);
		forged_tell_replayed(c, other, now_ns);
	}
}
