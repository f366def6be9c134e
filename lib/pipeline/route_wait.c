/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames that wait for a translation: all of a context in one slot of weft_pending, in their order.
 * When the slot's question is answered they are looked at again, and those that still miss
 * something wait in another slot, with all of their context behind them.
 */

#include <errno.h>

#include <rte_errno.h>
#include <rte_malloc.h>

#include "route_wait_priv.h"

static size_t
route_wait_round_up(size_t len)
{
	return (len + WEFT_CACHE_LINE - 1) / WEFT_CACHE_LINE * WEFT_CACHE_LINE;
}

struct weft_route_wait *
weft_route_wait_create(const struct weft_route_wait_cfg *cfg)
{
	const struct weft_pending_cfg pending = { .slots = (uint16_t)(cfg->slots + 1),
		.entries = cfg->places,
		.contexts = cfg->contexts,
		.per_ctx_max = cfg->share };
	const size_t pending_len = weft_pending_size(&pending);
	const size_t pending_at = route_wait_round_up(
		sizeof(struct weft_route_wait) + cfg->places * sizeof(struct wait_frame));
	const size_t epoch_at = route_wait_round_up(pending_at + pending_len);
	const size_t at_at = epoch_at + cfg->contexts * sizeof(uint32_t);
	const size_t asked_at = at_at + cfg->contexts * sizeof(uint16_t);
	struct weft_route_wait *w;
	uint8_t *mem;

	if (cfg->ask == NULL || cfg->answer == NULL || cfg->slots == 0 || pending_len == 0 ||
		cfg->places > WEFT_ROUTE_WAIT_MAX) {
		rte_errno = EINVAL;
		return NULL;
	}
	mem = rte_zmalloc_socket("weft_route_wait", asked_at + cfg->slots * sizeof(bool),
		WEFT_CACHE_LINE, cfg->socket);
	if (mem == NULL) {
		rte_errno = ENOMEM;
		return NULL;
	}
	w = (struct weft_route_wait *)(void *)mem;
	w->cfg = *cfg;
	w->pending = weft_pending_init(mem + pending_at, &pending);
	w->epoch = (uint32_t *)(void *)(mem + epoch_at);
	w->at = (uint16_t *)(void *)(mem + at_at);
	w->asked = (bool *)(mem + asked_at);
	for (unsigned int i = 0; i < cfg->contexts; i++)
		w->at[i] = WAIT_NOWHERE;
	for (unsigned int i = 0; i < cfg->places; i++)
		wait_delete(w, &w->frame[i]);
	return w;
}

void
weft_route_wait_free(struct weft_route_wait *w)
{
	struct wait_frame *p;

	if (w == NULL)
		return;
	for (unsigned int slot = 0; slot <= wait_line(w); slot++)
		while ((p = weft_pending_take(w->pending, slot)) != NULL)
			rte_pktmbuf_free(p->m);
	rte_free(w);
}

unsigned int
weft_route_wait_used(const struct weft_route_wait *w)
{
	return weft_pending_used(w->pending);
}

unsigned int
weft_route_wait_most(const struct weft_route_wait *w)
{
	return weft_pending_most(w->pending);
}

int
wait_ask(struct weft_route_wait *w, uint16_t ctx, uint64_t va, unsigned int want)
{
	const int slot = w->cfg.ask(w->cfg.arg, ctx, va, want);

	if (slot < 0)
		return slot;
	assert(slot < w->cfg.slots);
	w->n_asked = (uint16_t)(w->n_asked + !w->asked[slot]);
	w->asked[slot] = true;
	return slot;
}

bool
wait_answer(struct weft_route_wait *w, struct weft_answer *a)
{
	if (!w->cfg.answer(w->cfg.arg, a))
		return false;
	assert(a->slot < w->cfg.slots);
	w->n_asked = (uint16_t)(w->n_asked - w->asked[a->slot]);
	w->asked[a->slot] = false;
	return true;
}

struct wait_frame *
wait_new(struct weft_route_wait *w, struct rte_mbuf *m)
{
	struct wait_frame *p = w->free;

	if (p == NULL)
		return NULL;
	w->free = p->next;
	*p = (struct wait_frame){ .m = m };
	return p;
}

void
wait_delete(struct weft_route_wait *w, struct wait_frame *p)
{
	p->next = w->free;
	w->free = p;
}

bool
wait_park(struct weft_route_wait *w, unsigned int slot, uint16_t ctx, struct wait_frame *p)
{
	if (weft_pending_add(w->pending, slot, ctx, p) != 0)
		return false;
	w->at[ctx] = (uint16_t)slot;
	p->parked = true;
	return true;
}

unsigned int
wait_take(struct weft_route_wait *w, unsigned int slot, struct wait_frame **p)
{
	unsigned int n = 0;

	while ((p[n] = weft_pending_take(w->pending, slot)) != NULL) {
		w->at[wait_ctx(p[n]->m)] = WAIT_NOWHERE;
		p[n++]->parked = false;
	}
	return n;
}

void
wait_forget(struct weft_route_wait *w, const struct weft_atc_inv *inv)
{
	if (inv->ctx < w->cfg.contexts)
		w->epoch[inv->ctx]++;
	for (unsigned int i = 0; inv->ctx == WEFT_ATC_ALL_CONTEXTS && i < w->cfg.contexts; i++)
		w->epoch[i]++;
}
