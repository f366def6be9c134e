/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What is said of sessions that live: control frames that prove nothing, and words of their end that
 * the other end does not confirm (doc/session.md). Sessions count them; here they become lines.
 */

#include "daemon.h"

#include "event.h"

#define CONFIRM_NS UINT64_C(1000000000) /* a session that lives so long after is not over */

static void
tell_forged(struct peer *p, const char *node, const char *other)
{
	const uint64_t *c = weft_end_session(p->end)->count;
	const uint64_t n = c[WEFT_SESSION_N_BAD_MACS] + c[WEFT_SESSION_N_FALSE_GONES];

	if (n == p->forged_told)
		return;
	event_tell(EVENT_FORGED, node, other, n - p->forged_told,
		"control frames in the name of %s that prove nothing, %llu in all: ignored", other,
		(unsigned long long)n);
	p->forged_told = n;
}

/* Who is told the truth by a challenge has a new session soon, or none. */
static void
tell_doubts(struct peer *p, const char *node, const char *other, uint64_t now_ns)
{
	const struct weft_session *s = weft_end_session(p->end);
	const uint64_t n = s->count[WEFT_SESSION_N_CHALLENGES];
	const uint64_t begun = s->count[WEFT_SESSION_N_BEGUN];

	if (n == p->doubts_told)
		return;
	if (p->doubt_ns == 0) {
		p->doubt_ns = now_ns;
		p->doubt_begun = begun;
		return;
	}
	if (now_ns - p->doubt_ns < CONFIRM_NS)
		return;
	if (begun == p->doubt_begun && weft_session_is_live(s))
		event_tell(EVENT_CHALLENGED, node, other, n - p->doubts_told,
			"somebody says that the session with %s is over; it was asked %llu times "
			"in all, and goes on",
			other, (unsigned long long)n);
	p->doubts_told = n;
	p->doubt_ns = 0;
}

void
forged_tell(struct daemon *d)
{
	const uint64_t now_ns = node_now_ns();

	for (uint16_t k = 0; k < d->n_nodes; k++)
		for (uint16_t i = 0; i < d->node[k].n_peers; i++) {
			struct peer *p = &d->node[k].peer[i];
			const char *other = d->topo->node[p->topo_node].name;

			tell_forged(p, d->node[k].topo->name, other);
			tell_doubts(p, d->node[k].topo->name, other, now_ns);
		}
}
