/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What an operator hears of sessions. The control thread compares what it reads of each with what
 * it read before. Short stalls, as a busy machine has them, and ends as nodes come to when they are
 * done are no news.
 */

#include "watch.h"
#include "conn.h"

#include <stdio.h>
#include <time.h>

#include "event.h"

#define WATCH_STALL_NS UINT64_C(1000000000) /* a shorter one is not said */
#define WATCH_DOWN_NS UINT64_C(1000000000) /* nor is a session that is down for less */
#define WATCH_NEVER_NS UINT64_C(5000000000) /* since the start */
#define WATCH_STUCK_NS UINT64_C(1000000000)

const char *
session_word(const struct conn *c)
{
	static const char *const words[] = {
		[WEFT_SESSION_DOWN] = "down",
		[WEFT_SESSION_UP] = "up",
		[WEFT_SESSION_STALLED] = "stalled",
		[WEFT_SESSION_REFUSED] = "refused",
		[WEFT_SESSION_CLOSED] = "closed",
	};

	return words[weft_link_session(c->link->end)->state];
}

static double
watch_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Whether somebody should look when it is gone: not where hosts or devices come and go. */
static bool
watch_matters(const struct conn *c)
{
	return daemon_is_cxl(c->node->daemon) ? !c->link->is_host : c->link->is_needed;
}

/* "session with g0", in cxl mode "link s0.1 to g0". */
static const char *
watch_name(const struct conn *c, char *text, size_t len)
{
	if (daemon_is_cxl(c->node->daemon))
		snprintf(text, len, "link %s.%u to %s", c->node->topo->name, c->link->port,
			conn_peer_name(c));
	else
		snprintf(text, len, "session with %s", conn_peer_name(c));
	return text;
}

/* A session began, or more than one, since the last look. */
static void
watch_began(struct conn *c, uint64_t begun, uint64_t now_ns)
{
	struct session_watch *w = &c->watch;
	const bool was_down = w->state == WEFT_SESSION_DOWN || w->state == WEFT_SESSION_REFUSED;
	const double gone_s = was_down ? (double)(now_ns - w->since_ns) / 1e9 : 0;
	const char *node = c->node->topo->name;
	char name[128];

	watch_name(c, name, sizeof(name));
	if (w->begun == 0)
		event_put(EVENT_SESSION_UP, node, conn_peer_name(c), begun, "%s is up", name);
	else if (daemon_is_cxl(c->node->daemon))
		event_put(EVENT_SESSION_LOST, node, conn_peer_name(c), begun - w->begun,
			"%s: a new session; messages on their way in the old one are lost", name);
	else if (was_down)
		event_put(watch_matters(c) ? EVENT_SESSION_AGAIN : EVENT_SESSION_UP, node,
			conn_peer_name(c), begun - w->begun, "%s is up again after %.1f s without",
			name, gone_s);
	else
		event_put(EVENT_SESSION_AGAIN, node, conn_peer_name(c), begun - w->begun,
			"%s: a new one; what was open in the old one is lost", name);
	w->begun = begun;
	w->told_down = w->told_stall = false;
}

static void
watch_stalled(struct conn *c, uint64_t for_ns)
{
	char name[128], since[48];

	if (c->watch.told_stall || for_ns < WATCH_STALL_NS)
		return;
	c->watch.told_stall = true;
	event_put(watch_matters(c) ? EVENT_SESSION_STALLED : EVENT_PEER_LEFT, c->node->topo->name,
		conn_peer_name(c), 1, "%s is stalled: one way or both are silent %s",
		watch_name(c, name, sizeof(name)), event_since(since, sizeof(since), for_ns));
}

/*
 * Who asks for a session finds out that the proof of another key is none, and says no more; who was
 * asked hears that in no other way.
 */
static bool
watch_is_unproven(const struct conn *c)
{
	const struct weft_session *s = weft_link_session(c->link->end);

	return s->cfg.params.ide_mode != WEFT_IDE_OFF && !s->cfg.is_initiator &&
	       __atomic_load_n(&s->candidate.sid, __ATOMIC_RELAXED) != 0;
}

static void
watch_down(struct conn *c, uint64_t for_ns)
{
	const enum event_kind kind = watch_matters(c) ? EVENT_SESSION_DOWN : EVENT_PEER_LEFT;
	const char *node = c->node->topo->name;
	struct session_watch *w = &c->watch;
	char name[128], since[48];

	if (w->told_down || for_ns < (w->begun == 0 ? WATCH_NEVER_NS : WATCH_DOWN_NS))
		return;
	w->told_down = true;
	w->told_stall = false;
	event_since(since, sizeof(since), for_ns);
	watch_name(c, name, sizeof(name));
	if (w->begun == 0 && watch_is_unproven(c))
		event_put(EVENT_MISFIT, node, conn_peer_name(c), 1,
			"no %s %s: %s asks, and takes no answer, as with another pre-shared key "
			"than ide.key_file here",
			name, since, conn_peer_name(c));
	else if (w->begun == 0)
		event_put(kind, node, conn_peer_name(c), 1, "no %s %s: there never was one", name,
			since);
	else
		event_put(kind, node, conn_peer_name(c), 1, "%s is down %s", name, since);
}

/* Its keepalives come, and none of the flits gets an Ack: frames of their size do not pass. */
static void
watch_stuck(struct conn *c, bool is_stuck, uint64_t now_ns)
{
	struct session_watch *w = &c->watch;
	char name[128], since[48];

	if (!is_stuck) {
		w->stuck_ns = 0;
		w->told_stuck = false;
		return;
	}
	if (w->stuck_ns == 0)
		w->stuck_ns = now_ns;
	if (w->told_stuck || now_ns - w->stuck_ns < WATCH_STUCK_NS)
		return;
	w->told_stuck = true;
	event_put(EVENT_SESSION_STUCK, c->node->topo->name, conn_peer_name(c), 1,
		"%s: no flit is acknowledged %s, though it is heard",
		watch_name(c, name, sizeof(name)),
		event_since(since, sizeof(since), now_ns - w->stuck_ns));
}

static void
watch_session(struct conn *c, uint64_t now_ns)
{
	const struct weft_session *s = weft_link_session(c->link->end);
	const uint64_t begun = __atomic_load_n(&s->count[WEFT_SESSION_N_BEGUN], __ATOMIC_RELAXED);
	const uint8_t state = __atomic_load_n(&s->state, __ATOMIC_RELAXED);
	struct session_watch *w = &c->watch;
	char name[128];

	if (begun != w->begun)
		watch_began(c, begun, now_ns);
	if (state == WEFT_SESSION_UP && w->told_stall) {
		w->told_stall = false;
		event_put(watch_matters(c) ? EVENT_SESSION_RESUMED : EVENT_SESSION_UP,
			c->node->topo->name, conn_peer_name(c), 1, "%s goes on after %.1f s",
			watch_name(c, name, sizeof(name)), (double)(now_ns - w->since_ns) / 1e9);
	}
	if (state != w->state || w->since_ns == 0) {
		w->state = state;
		w->since_ns = now_ns;
		w->since = watch_time();
	}
	if (state == WEFT_SESSION_UP || state == WEFT_SESSION_STALLED)
		w->lived_ns = now_ns;
	if (state == WEFT_SESSION_STALLED)
		watch_stalled(c, now_ns - w->since_ns);
	else if (state == WEFT_SESSION_DOWN)
		watch_down(c, now_ns - w->since_ns);
	watch_stuck(c,
		state == WEFT_SESSION_UP &&
			weft_llr_state(weft_link_llr(c->link->end)) == WEFT_LLR_STUCK,
		now_ns);
}

void
sessions_watch(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();
	struct conn_walk w = d->walk;
	struct conn *c;

	while ((c = conns_next(d, &w)) != NULL)
		watch_session(c, now_ns);
}
