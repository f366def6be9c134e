/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Pending misses: a queue a slot, of entries linked by number. */

#include "weft_pending.h"

#include <errno.h>

#include "weft_base.h"

#define SLOTS_MAX 1024
#define NONE UINT16_MAX /* no entry has this number */

struct entry {
	void *what;
	uint16_t next;
	uint16_t ctx;
};

struct queue {
	uint16_t first, last; /* last is valid if first is */
};

struct weft_pending {
	struct weft_pending_cfg cfg;
	uint16_t used;
	uint16_t most;
	uint16_t free; /* first of the free entries, or NONE */
	struct queue *queue;
	uint16_t *taken; /* entries of each context */
	struct entry entry[];
};

static bool
pending_cfg_is_good(const struct weft_pending_cfg *cfg)
{
	return cfg->slots != 0 && cfg->slots <= SLOTS_MAX && cfg->entries != 0 &&
	       cfg->contexts != 0 && cfg->per_ctx_max != 0 && cfg->per_ctx_max <= cfg->entries;
}

static size_t
pending_queues_at(const struct weft_pending_cfg *cfg)
{
	return sizeof(struct weft_pending) + cfg->entries * sizeof(struct entry);
}

size_t
weft_pending_size(const struct weft_pending_cfg *cfg)
{
	if (!pending_cfg_is_good(cfg))
		return 0;
	return pending_queues_at(cfg) + cfg->slots * sizeof(struct queue) +
	       cfg->contexts * sizeof(uint16_t);
}

struct weft_pending *
weft_pending_init(void *mem, const struct weft_pending_cfg *cfg)
{
	struct weft_pending *p = mem;

	if (!pending_cfg_is_good(cfg) || (uintptr_t)mem % _Alignof(struct weft_pending) != 0)
		return NULL;
	memset(mem, 0, weft_pending_size(cfg));
	p->cfg = *cfg;
	p->queue = (struct queue *)(void *)((uint8_t *)mem + pending_queues_at(cfg));
	p->taken = (uint16_t *)(p->queue + cfg->slots);
	for (unsigned int i = 0; i < cfg->slots; i++)
		p->queue[i].first = NONE;
	for (unsigned int i = 0; i < cfg->entries; i++)
		p->entry[i].next = i + 1 < cfg->entries ? (uint16_t)(i + 1) : NONE;
	return p;
}

int
weft_pending_add(struct weft_pending *p, unsigned int slot, uint16_t ctx, void *what)
{
	const uint16_t i = p->free;
	struct queue *q;

	if (slot >= p->cfg.slots || ctx >= p->cfg.contexts || what == NULL)
		return -EINVAL;
	if (i == NONE || p->taken[ctx] == p->cfg.per_ctx_max)
		return -EAGAIN;
	p->free = p->entry[i].next;
	p->entry[i] = (struct entry){ .what = what, .next = NONE, .ctx = ctx };
	q = &p->queue[slot];
	if (q->first == NONE)
		q->first = i;
	else
		p->entry[q->last].next = i;
	q->last = i;
	p->taken[ctx]++;
	p->used++;
	p->most = p->used > p->most ? p->used : p->most;
	return 0;
}

void *
weft_pending_take(struct weft_pending *p, unsigned int slot)
{
	struct entry *entry;
	uint16_t i;

	if (slot >= p->cfg.slots || p->queue[slot].first == NONE)
		return NULL;
	i = p->queue[slot].first;
	entry = &p->entry[i];
	p->queue[slot].first = entry->next;
	entry->next = p->free;
	p->free = i;
	p->taken[entry->ctx]--;
	p->used--;
	return entry->what;
}

unsigned int
weft_pending_used(const struct weft_pending *p)
{
	return p->used;
}

unsigned int
weft_pending_most(const struct weft_pending *p)
{
	return p->most;
}
