/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a node sees of the sessions of its links: weft_node.h. */

#include "weft_node.h"

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
weft_node_link_ended(struct weft_node_link *l)
{
	const struct weft_session *s = weft_end_session(l->end);

	/* Over, or over and begun anew since. */
	if (l->state != WEFT_NODE_UP ||
		(weft_session_is_live(s) && s->count[WEFT_SESSION_N_BEGUN] == l->begun))
		return false;
	__atomic_store_n(&l->state, WEFT_NODE_DOWN, __ATOMIC_RELAXED);
	return true;
}

static void
session_refusal(const struct weft_node_link *l, struct weft_node_refusal *r)
{
	const struct weft_session *s = weft_end_session(l->end);
	const enum weft_control_param differs = (enum weft_control_param)s->differs;
	const char *who = (const char *)s->peer.node;

	if (differs == WEFT_PARAM_PID)
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
 * Whoever asked has a reason to give up, nobody else, and not where there was a session before: this
 * may be anybody's word, and ends no run.
 */
static void
session_refused(struct weft_node_link *l)
{
	struct weft_node *n = l->node;
	struct weft_node_refusal *r = l->begun == 0 ? &n->refused : &n->refused_again;

	__atomic_store_n(&l->state, WEFT_NODE_REFUSED, __ATOMIC_RELAXED);
	if (weft_end_session(l->end)->cfg.is_initiator &&
		__atomic_load_n(&r->text, __ATOMIC_ACQUIRE) == NULL)
		session_refusal(l, r);
}

bool
weft_node_link_began(struct weft_node_link *l)
{
	const struct weft_session *s = weft_end_session(l->end);

	if (s->state == WEFT_SESSION_REFUSED && l->state != WEFT_NODE_REFUSED)
		session_refused(l);
	if (!weft_session_is_live(s) || s->count[WEFT_SESSION_N_BEGUN] == l->begun)
		return false;
	l->begun = s->count[WEFT_SESSION_N_BEGUN];
	__atomic_store_n(&l->state, WEFT_NODE_UP, __ATOMIC_RELAXED);
	return true;
}

/* SESS-32: behind a switch are those who knew the memory before; nothing of this session comes first. */
void
weft_node_arriving(void *link)
{
	struct weft_node_link *l = link;
	struct weft_node *n = l->node;
	const struct weft_session *s = weft_end_session(l->end);

	l->due_ns = 0;
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

	weft_end_control(l->end, h, rec, len, n->ends_ns, n->cfg.world->random(n->cfg.world_arg));
	weft_node_arriving(l);
}

void
weft_node_close(struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links; i++) {
		if (n->link[i].state != WEFT_NODE_UP)
			continue;
		weft_end_close(n->link[i].end);
		n->link[i].due_ns = 0;
	}
}
