/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node that is drained begins no new work of its own: load, transfers, operations of programs,
 * pages that move of themselves. All of these wait and none fails. What has begun goes on to its
 * end, requests of others are served, and sessions stay, as one that says goodbye stays closed.
 */

#include "node_priv.h"

#include "weft_clients.h"

void
weft_node_drain(struct weft_node *n, bool on)
{
	if (on == __atomic_load_n(&n->drain.is_asked, __ATOMIC_RELAXED))
		return;
	/* Not looked at yet. */
	__atomic_store_n(&n->drain.left, UINT64_MAX, __ATOMIC_RELAXED);
	__atomic_store_n(&n->drain.is_asked, on, __ATOMIC_RELEASE);
}

bool
weft_node_is_draining(const struct weft_node *n)
{
	return __atomic_load_n(&n->drain.is_asked, __ATOMIC_ACQUIRE);
}

uint64_t
weft_node_drain_left(const struct weft_node *n)
{
	return __atomic_load_n(&n->drain.left, __ATOMIC_ACQUIRE);
}

bool
weft_node_works(const struct weft_topo_node *t, const struct weft_load_node *l)
{
	return weft_node_asks_gfds(t, l) || l->has_uio || weft_node_takes_clients(t, l);
}

void
node_drain_look(struct weft_node *n)
{
	struct weft_node_requests r;
	uint64_t waiting, moving, stuck, left = clients_begun(n);

	if (weft_node_mem(n, &r))
		left += weft_requester_outstanding(r.requester);
	if (weft_node_uio(n, &r) && r.requester != NULL)
		left += weft_requester_outstanding(r.requester);
	if (weft_node_ats(n, &waiting, &moving, &stuck))
		left += waiting + moving;
	__atomic_store_n(&n->drain.left, left, __ATOMIC_RELEASE);
}
