/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Parked flits: a queue a slot, of places linked by number. */

#include "weft_atc_park.h"

#include <errno.h>

#include "weft_base.h"

#define SLOTS_MAX 1024
#define NONE UINT16_MAX /* no place has this number */

struct place {
	void *what;
	uint16_t next;
	uint16_t ctx;
};

struct queue {
	uint16_t first, last; /* last is valid if first is */
};

struct weft_atc_park {
	struct weft_atc_park_cfg cfg;
	uint16_t used;
	uint16_t most;
	uint16_t free; /* first of the free places, or NONE */
	struct queue *queue;
	uint16_t *taken; /* places of each context */
	struct place place[];
};

static bool
atc_park_cfg_is_good(const struct weft_atc_park_cfg *cfg)
{
	return cfg->slots != 0 && cfg->slots <= SLOTS_MAX && cfg->places != 0 &&
	       cfg->contexts != 0 && cfg->share != 0 && cfg->share <= cfg->places;
}

static size_t
atc_park_queues_at(const struct weft_atc_park_cfg *cfg)
{
	return sizeof(struct weft_atc_park) + cfg->places * sizeof(struct place);
}

size_t
weft_atc_park_size(const struct weft_atc_park_cfg *cfg)
{
	if (!atc_park_cfg_is_good(cfg))
		return 0;
	return atc_park_queues_at(cfg) + cfg->slots * sizeof(struct queue) +
	       cfg->contexts * sizeof(uint16_t);
}

struct weft_atc_park *
weft_atc_park_init(void *mem, const struct weft_atc_park_cfg *cfg)
{
	struct weft_atc_park *p = mem;

	if (!atc_park_cfg_is_good(cfg) || (uintptr_t)mem % _Alignof(struct weft_atc_park) != 0)
		return NULL;
	memset(mem, 0, weft_atc_park_size(cfg));
	p->cfg = *cfg;
	p->queue = (struct queue *)(void *)((uint8_t *)mem + atc_park_queues_at(cfg));
	p->taken = (uint16_t *)(p->queue + cfg->slots);
	for (unsigned int i = 0; i < cfg->slots; i++)
		p->queue[i].first = NONE;
	for (unsigned int i = 0; i < cfg->places; i++)
		p->place[i].next = i + 1 < cfg->places ? (uint16_t)(i + 1) : NONE;
	return p;
}

int
weft_atc_park_add(struct weft_atc_park *p, unsigned int slot, uint16_t ctx, void *what)
{
	const uint16_t i = p->free;
	struct queue *q;

	if (slot >= p->cfg.slots || ctx >= p->cfg.contexts || what == NULL)
		return -EINVAL;
	if (i == NONE || p->taken[ctx] == p->cfg.share)
		return -EAGAIN;
	p->free = p->place[i].next;
	p->place[i] = (struct place){ .what = what, .next = NONE, .ctx = ctx };
	q = &p->queue[slot];
	if (q->first == NONE)
		q->first = i;
	else
		p->place[q->last].next = i;
	q->last = i;
	p->taken[ctx]++;
	p->used++;
	p->most = p->used > p->most ? p->used : p->most;
	return 0;
}

void *
weft_atc_park_take(struct weft_atc_park *p, unsigned int slot)
{
	struct place *place;
	uint16_t i;

	if (slot >= p->cfg.slots || p->queue[slot].first == NONE)
		return NULL;
	i = p->queue[slot].first;
	place = &p->place[i];
	p->queue[slot].first = place->next;
	place->next = p->free;
	p->free = i;
	p->taken[place->ctx]--;
	p->used--;
	return place->what;
}

unsigned int
weft_atc_park_used(const struct weft_atc_park *p)
{
	return p->used;
}

unsigned int
weft_atc_park_most(const struct weft_atc_park *p)
{
	return p->most;
}
