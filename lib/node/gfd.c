/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD: memory behind a port. It answers hosts of the topology, each in a connection of its own
 * (in cxl mode all on its link); a request waits where its answer would have no room. A share of
 * its reads turns out bad late by `late_poison` of the topology, and so do lines that somebody
 * marks: marks are handed to the thread that polls through a small queue, of one writer at a time
 * and one reader; lines that are good again through one place, of another writer.
 */

#include "node_priv.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#include "weft_gfd.h"
#include "weft_line.h"

#define MARKS WEFT_NODE_MARKS

struct gfd_state {
	struct weft_gfd gfd;
	void *memory;
	uint64_t *poison;
	uint64_t *late; /* marked lines */
	_Atomic uint32_t put, taken;
	struct mark {
		uint64_t offset;
		uint64_t lines;
		struct weft_node_late *late; /* NULL: lines are marked for good */
		bool ends;
	} mark[MARKS];
	struct mark healed; /* the reader's, once it is set */
	_Atomic bool is_healing; /* set by who writes it, cleared by the reader */
};

/* Data that turns out bad is poisoned behind its header, or in it where the window has no room. */
static enum weft_verdict
gfd_answer(struct weft_node_link *p, struct weft_msg *reply, bool turns_bad)
{
	const bool late = turns_bad && weft_link_can_poison(p->end);

	reply->poison |= turns_bad && !late;
	/* It cannot fail: there was room before. */
	return node_send(p, reply, late) == 0 ? WEFT_OK : WEFT_DROP_TX_FULL;
}

/* False: it has to wait, for a credit or for the window. */
static bool
gfd_message(void *arg, const struct weft_msg *m)
{
	struct weft_node_link *p = arg;
	struct weft_node *n = p->node;
	struct gfd_state *g = n->state;
	struct weft_msg reply __attribute__((uninitialized)); /* written where v is OK */
	enum weft_verdict v;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	/* With room for either response no request is executed and then not answered. */
	if (!weft_link_can_answer(p->end))
		return false;
	weft_node_set_due(p, 0);
	/* Drop a spoofed SPID: requests of a host's link must be its own. */
	if (p->is_host && m->spid != p->pid)
		return weft_node_refuse(p, m->spid);
	if (n->cfg.watch != NULL)
		n->cfg.watch->executed(n->cfg.world_arg, p, m);
	v = weft_gfd_request(&g->gfd, m, &reply);
	if (v == WEFT_OK)
		v = gfd_answer(p, &reply, g->gfd.turns_bad);
	if (v != WEFT_OK)
		node_drop(n, v);
	return true;
}

static void
gfd_ahead(void *arg, const uint8_t *flits, unsigned int n)
{
	const struct weft_node_link *p = arg;
	const struct gfd_state *g = p->node->state;

	for (unsigned int i = 0; i < n; i++) {
		weft_gfd_look_ahead(&g->gfd, flits + i * (size_t)WEFT_FLIT_LEN);
		uio_look_ahead(p->node, flits + i * (size_t)WEFT_FLIT_LEN);
	}
}

/* Requests that had to wait. */
static void
gfd_link(struct weft_node_link *p, bool ended, bool began)
{
	static const enum weft_msg_kind kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD };

	(void)ended;
	(void)began;
	for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(kinds); k++) {
		const struct weft_msg *m;

		while ((m = weft_link_peek(p->end, kinds[k])) != NULL && gfd_message(p, m))
			node_pop(p, m);
	}
}

static void
gfd_begin_late(struct gfd_state *g, struct weft_node_late *l)
{
	uint64_t marked = 0;

	if (l->lines == 0)
		weft_gfd_set_late_share(&g->gfd, l->share, l->seed);
	else
		marked = weft_gfd_mark_good(&g->gfd, l->offset, l->lines, l->map);
	__atomic_store_n(&l->marked, marked, __ATOMIC_RELAXED);
}

static void
gfd_end_late(const struct weft_node *n, struct gfd_state *g, struct weft_node_late *l)
{
	if (l->lines == 0)
		weft_gfd_set_late_share(&g->gfd, n->topo->late_poison, n->topo->late_poison_seed);
	else
		weft_gfd_unmark(&g->gfd, l->offset, l->lines, l->map);
	__atomic_store_n(&l->is_over, true, __ATOMIC_RELEASE);
}

/* One a turn: marking many lines takes its time. It was checked before it was put here. */
static void
gfd_take_mark(const struct weft_node *n, struct gfd_state *g)
{
	const uint32_t taken = atomic_load_explicit(&g->taken, memory_order_relaxed);
	const struct mark *m = &g->mark[taken % MARKS];

	if (taken == atomic_load_explicit(&g->put, memory_order_acquire))
		return;
	if (m->late == NULL)
		weft_gfd_mark_late(&g->gfd, m->offset, m->lines);
	else if (m->ends)
		gfd_end_late(n, g, m->late);
	else
		gfd_begin_late(g, m->late);
	atomic_store_explicit(&g->taken, taken + 1, memory_order_release);
}

static bool
gfd_has_lines(const struct weft_node *n, uint64_t offset, uint64_t lines)
{
	return lines != 0 && offset < n->topo->memory &&
	       lines <= n->topo->memory / WEFT_LINE_LEN - offset / WEFT_LINE_LEN;
}

static int
gfd_put_mark(struct weft_node *n, const struct mark *m)
{
	struct gfd_state *g = n->state;
	const uint32_t put = atomic_load_explicit(&g->put, memory_order_relaxed);

	if (put - atomic_load_explicit(&g->taken, memory_order_acquire) == MARKS)
		return -EAGAIN;
	g->mark[put % MARKS] = *m;
	atomic_store_explicit(&g->put, put + 1, memory_order_release);
	return 0;
}

int
weft_node_mark_late(struct weft_node *n, uint64_t offset, uint64_t lines)
{
	if (!gfd_has_lines(n, offset, lines))
		return -ERANGE;
	return gfd_put_mark(n, &(struct mark){ .offset = offset, .lines = lines });
}

int
weft_node_late_begin(struct weft_node *n, struct weft_node_late *l)
{
	const bool is_good = l->lines != 0 ? gfd_has_lines(n, l->offset, l->lines)
	                                   : l->share >= 0 && l->share <= 1;

	return is_good ? gfd_put_mark(n, &(struct mark){ .late = l }) : -ERANGE;
}

int
weft_node_late_end(struct weft_node *n, struct weft_node_late *l)
{
	return gfd_put_mark(n, &(struct mark){ .late = l, .ends = true });
}

void
weft_node_heal(struct weft_node *n, uint64_t offset, uint64_t len)
{
	struct gfd_state *g = n->state;

	assert(weft_node_is_healed(n));
	g->healed = (struct mark){ .offset = offset, .lines = len / WEFT_LINE_LEN };
	atomic_store_explicit(&g->is_healing, true, memory_order_release);
}

bool
weft_node_is_healed(const struct weft_node *n)
{
	return !atomic_load_explicit(
		&((const struct gfd_state *)n->state)->is_healing, memory_order_acquire);
}

static void
gfd_heal(struct gfd_state *g)
{
	if (!atomic_load_explicit(&g->is_healing, memory_order_acquire))
		return;
	weft_gfd_heal(&g->gfd, g->healed.offset, g->healed.lines);
	atomic_store_explicit(&g->is_healing, false, memory_order_release);
}

static unsigned int
gfd_poll(struct weft_node *n, bool may_ask)
{
	(void)may_ask;
	gfd_take_mark(n, n->state);
	gfd_heal(n->state);
	return node_poll_services(n, false);
}

static void
gfd_poison(struct weft_node *n)
{
	struct gfd_state *g = n->state;

	weft_gfd_poison_all(&g->gfd);
}

struct weft_gfd *
weft_node_gfd(struct weft_node *n)
{
	return n->kind == &node_gfd ? &((struct gfd_state *)n->state)->gfd : NULL;
}

static int
gfd_init(struct weft_node *n, char *err, size_t err_len)
{
	const size_t len = n->topo->memory;
	struct gfd_state *g = n->state;

	g->memory = n->cfg.world->map(n->cfg.world_arg, len);
	if (g->memory == NULL)
		return weft_errorf(err, err_len, -ENOMEM, "gfd %s: memory of %zu bytes: %s",
			n->topo->name, len, strerror(ENOMEM));
	snprintf(err, err_len, "gfd %s: out of memory", n->topo->name);
	g->poison = node_alloc(n, weft_gfd_poison_size(len));
	g->late = node_alloc(n, weft_gfd_poison_size(len));
	if (g->poison == NULL || g->late == NULL ||
		weft_gfd_init(&g->gfd, n->topo->pid, weft_topo_hpa(n->cfg.topo, n->topo->order),
			g->memory, len, g->poison) != 0)
		return -ENOMEM;
	if (n->cfg.guard != NULL)
		weft_gfd_set_guard(&g->gfd, n->cfg.guard);
	return weft_gfd_set_late(&g->gfd, n->topo->late_poison, n->topo->late_poison_seed, g->late);
}

static void
gfd_fini(struct weft_node *n)
{
	struct gfd_state *g = n->state;

	node_free(n, g->poison);
	node_free(n, g->late);
	n->cfg.world->unmap(n->cfg.world_arg, g->memory, n->topo->memory);
}

static unsigned int
gfd_counters(const struct weft_node *n, struct weft_node_set *set)
{
	const struct gfd_state *g = n->state;

	*set = (struct weft_node_set){ NULL, "memory", "gfd", weft_gfd_counters, g->gfd.count,
		WEFT_GFD_N_COUNTERS };
	return 1;
}

const struct weft_node_kind node_gfd = {
	.name = "gfd",
	.topo_kind = WEFT_TOPO_GFD,
	.modes = 1 << WEFT_MODE_RXL | 1 << WEFT_MODE_CXL,
	.takes_requests = true,
	.has_links = true,
	.state_len = sizeof(struct gfd_state),
	.init = gfd_init,
	.fini = gfd_fini,
	.message = gfd_message,
	.ahead = gfd_ahead,
	.packet = node_packet,
	.link = gfd_link,
	.poll = gfd_poll,
	.poison = gfd_poison,
	.counters = gfd_counters,
};
