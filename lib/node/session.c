/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a node sees of the sessions of its links, and what becomes of requests with the session that
 * they went by. While it is stalled, requests do not grow older: it may resume, for
 * session_timeout_ns at most. When it is over, no answer can come any more: what is open ends as
 * lost, and no tag rests. But where in cxl mode a switch is at the other end of the link, what has
 * passed that may still be answered: requests end by their own timeout.
 *
 * Memory has a random generation, which its node tells in every session: who meets another one than
 * before knows that all it had there is gone, and tells those who use it before any request of
 * theirs can be answered. In cxl mode a session is of a link, and the users are elsewhere: the
 * switch keeps the generation in their name and says so to the node, whose memory is poisoned then
 * until it is written.
 */

#include "node_priv.h"

#include <stdio.h>

bool
weft_node_is_up(const struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links; i++)
		if (n->link[i].state != WEFT_NODE_UP && n->link[i].is_needed)
			return false;
	return true;
}

bool
weft_node_has_met(const struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links; i++)
		if (n->link[i].is_needed &&
			__atomic_load_n(&n->link[i].begun, __ATOMIC_RELAXED) == 0)
			return false;
	return true;
}

static bool
session_ended(struct weft_node_link *l)
{
	const struct weft_session *s = weft_link_session(l->end);

	/* Over, or over and begun anew since. */
	if (l->state != WEFT_NODE_UP ||
		(weft_session_is_live(s) && s->count[WEFT_SESSION_N_BEGUN] == l->begun))
		return false;
	__atomic_store_n(&l->state, WEFT_NODE_DOWN, __ATOMIC_RELAXED);
	weft_probe_session_down(l->node->topo->name, weft_node_link_name(l), l->begun);
	return true;
}

static void
session_refusal(const struct weft_node_link *l, struct weft_node_refusal *r)
{
	const struct weft_session *s = weft_link_session(l->end);
	const enum weft_control_param differs = (enum weft_control_param)s->differs;
	const char *who = (const char *)s->peer.node;

	if (!s->cfg.is_initiator)
		snprintf(r->room, sizeof(r->room), "%.*s is refused: %s is %s there, %s here",
			WEFT_NODE_ID_LEN, who, weft_control_param_name(differs),
			weft_control_param_value(&s->peer, differs),
			weft_control_param_value(&s->cfg.params, differs));
	else if (differs == WEFT_PARAM_PID)
		snprintf(r->room, sizeof(r->room),
			"%.*s knows nobody with PID 0x%03x, which is %s here: the files differ",
			WEFT_NODE_ID_LEN, who, l->pid, weft_node_link_name(l));
	else if (differs == WEFT_PARAM_IDE_KEY)
		snprintf(r->room, sizeof(r->room),
			"%.*s has another pre-shared key than ide.key_file here", WEFT_NODE_ID_LEN,
			who);
	else
		snprintf(r->room, sizeof(r->room), "%.*s refuses: %s is %s there, %s here",
			WEFT_NODE_ID_LEN, who, weft_control_param_name(differs),
			weft_control_param_value(&s->peer, differs),
			weft_control_param_value(&s->cfg.params, differs));
	__atomic_store_n(&r->text, r->room, __ATOMIC_RELEASE);
}

/*
 * Whoever asked has a reason to give up, nobody else, and not where there was a session before:
 * this may be anybody's word, and ends no run. Of frames that are too short for both ends who asked
 * says it.
 */
static void
session_refused(struct weft_node_link *l)
{
	const struct weft_session *s = weft_link_session(l->end);
	struct weft_node *n = l->node;
	struct weft_node_refusal *r =
		l->begun == 0 && s->cfg.is_initiator ? &n->refused : &n->refused_again;

	if (s->cfg.is_initiator || s->differs != WEFT_PARAM_FRAME_SIZE) {
		/* Of another link, which is not said yet: this one is due at the next look. */
		if (__atomic_load_n(&r->text, __ATOMIC_ACQUIRE) != NULL)
			return;
		session_refusal(l, r);
	}
	__atomic_store_n(&l->state, WEFT_NODE_REFUSED, __ATOMIC_RELAXED);
}

static bool
session_began(struct weft_node_link *l)
{
	const struct weft_session *s = weft_link_session(l->end);

	if (s->state == WEFT_SESSION_REFUSED && l->state != WEFT_NODE_REFUSED)
		session_refused(l);
	if (!weft_session_is_live(s) || s->count[WEFT_SESSION_N_BEGUN] == l->begun)
		return false;
	__atomic_store_n(&l->begun, s->count[WEFT_SESSION_N_BEGUN], __ATOMIC_RELAXED);
	__atomic_store_n(&l->state, WEFT_NODE_UP, __ATOMIC_RELAXED);
	weft_probe_session_up(l->node->topo->name, weft_node_link_name(l), l->begun);
	if (l->is_needed && l->node->go_ns == 0)
		l->node->go_ns = l->node->ends_ns + WEFT_NODE_MEET_NS;
	return true;
}

/* --- what it is to requests, and to what is known of memory --- */

static void
session_stall(struct weft_node_link *l, bool is_stalled)
{
	struct weft_node *n = l->node;
	const struct weft_topo *t = n->cfg.topo;

	l->is_stalled = is_stalled;
	n->n_stalled = (uint16_t)(is_stalled ? n->n_stalled + 1 : n->n_stalled - 1);
	/* Where a request of a host that translates leads is not known while it is counted. */
	weft_request_clock_stall(n->clock, n->topo->pid, n->n_stalled != 0, n->now_ns);
	if (!weft_node_is_cxl(n)) {
		weft_request_clock_stall(n->clock, l->pid, is_stalled, n->now_ns);
		return;
	}
	for (uint16_t i = 0; i < t->n_nodes; i++)
		if (i != n->cfg.index)
			weft_request_clock_stall(n->clock, t->node[i].pid, is_stalled, n->now_ns);
}

void
node_poll_link(struct weft_node_link *l)
{
	const bool is_stalled = weft_link_session(l->end)->state == WEFT_SESSION_STALLED;
	const bool ended = session_ended(l), began = session_began(l);

	if (l->node->clock != NULL && is_stalled != l->is_stalled)
		session_stall(l, is_stalled);
	l->node->kind->link(l, ended, began);
	if ((ended || began) && l->node->cfg.watch != NULL)
		l->node->cfg.watch->session(l->node->cfg.world_arg, l, ended, began);
}

/* Tell everybody here who has data there. */
static void
session_memory_replaced(struct weft_node_link *l, uint64_t generation)
{
	struct weft_node *n = l->node;
	struct weft_node_memory *m = &l->memory;
	const enum weft_line_loss how =
		weft_node_is_cxl(n) ? WEFT_LINE_LOST_LATE : WEFT_LINE_LOST_ALL;

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->forget != NULL)
			weft_node_services[i]->forget(n, n->service[i], l->pid, how, m);
	m->before = m->generation;
	__atomic_store_n(&m->generation, generation, __ATOMIC_RELAXED);
	__atomic_store_n(&m->replaced, m->replaced + 1, __ATOMIC_RELEASE);
}

/* SESS-31. What was open has ended: it counts for the memory before. */
static void
session_memory(struct weft_node_link *l)
{
	const uint64_t generation = weft_link_session(l->end)->peer.memory;

	if (l->memory.generation != 0 && generation != l->memory.generation)
		session_memory_replaced(l, generation);
	else
		__atomic_store_n(&l->memory.generation, generation, __ATOMIC_RELAXED);
}

void
node_follow(struct weft_node_link *l, bool ended, bool began)
{
	struct weft_node *n = l->node;

	if (ended && node_link_is_whole(l))
		for (unsigned int i = 0; i < NODE_SERVICES; i++)
			if (n->service[i] != NULL && weft_node_services[i]->abort != NULL)
				weft_node_services[i]->abort(n, n->service[i], l->pid);
	if (began)
		session_memory(l);
	for (unsigned int i = 0; (ended || began) && i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->session != NULL)
			weft_node_services[i]->session(l, n->service[i], ended, began);
}

uint64_t
weft_node_replacements(const struct weft_node *n)
{
	uint64_t sum = 0;

	for (uint16_t i = 0; i < n->n_links; i++)
		sum += __atomic_load_n(&n->link[i].memory.replaced, __ATOMIC_RELAXED);
	return sum;
}

/*
 * SESS-32: behind a switch are those who knew the memory before; nothing of this session comes
 * first.
 */
void
weft_node_arriving(void *link)
{
	struct weft_node_link *l = link;
	struct weft_node *n = l->node;
	const struct weft_session *s = weft_link_session(l->end);

	weft_node_set_due(l, 0);
	if (n->generation == 0 || s->count[WEFT_SESSION_N_BEGUN] == l->memory.asked)
		return;
	l->memory.asked = s->count[WEFT_SESSION_N_BEGUN];
	if (s->peer.known == 0 || s->peer.known == n->generation)
		return;
	n->kind->poison(n);
	__atomic_store_n(&l->memory.poisoned, l->memory.poisoned + 1, __ATOMIC_RELEASE);
}

void
weft_node_control(
	struct weft_node_link *l, const struct weft_wire_hdr *h, const uint8_t *rec, size_t len)
{
	struct weft_node *n = l->node;

	weft_link_control(l->end, h, rec, len, n->ends_ns, n->cfg.world->random(n->cfg.world_arg));
	weft_node_arriving(l);
}

void
weft_node_close(struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links; i++) {
		weft_link_close(n->link[i].end);
		weft_node_set_due(&n->link[i], 0);
	}
}
