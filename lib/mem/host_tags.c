/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Queues of tags. Tags are reused oldest first, and the bits of the 16-bit tag that the table does
 * not need count its uses: a response that comes twice, or after the quarantine, meets a new
 * request only if its tag was used 2^16 / tags times in between.
 */

#include "host_priv.h"

static uint16_t
index_of(const struct weft_host *h, const struct host_tag *t)
{
	return (uint16_t)(t - h->tag);
}

static void
append(struct weft_host *h, struct host_tag *t, enum host_queue q)
{
	struct host_ends *e = &h->queue[q];
	const uint16_t i = index_of(h, t);

	t->queue = (uint8_t)q;
	t->prev = e->tail;
	t->next = HOST_NONE;
	if (e->tail == HOST_NONE)
		e->head = i;
	else
		h->tag[e->tail].next = i;
	e->tail = i;
}

static void
detach(struct weft_host *h, struct host_tag *t)
{
	struct host_ends *e = &h->queue[t->queue];

	if (t->prev == HOST_NONE)
		e->head = t->next;
	else
		h->tag[t->prev].next = t->next;
	if (t->next == HOST_NONE)
		e->tail = t->prev;
	else
		h->tag[t->next].prev = t->prev;
}

void
weft_host_tags_init(struct weft_host *h)
{
	for (unsigned int q = 0; q < HOST_QUEUES; q++)
		h->queue[q].head = h->queue[q].tail = HOST_NONE;
	for (uint32_t i = 0; i < h->cfg.tags; i++) {
		h->tag[i].tag = (uint16_t)i;
		append(h, &h->tag[i], HOST_FREE);
	}
}

struct host_tag *
weft_host_tag_oldest(struct weft_host *h, enum host_queue q)
{
	const uint16_t i = h->queue[q].head;

	return i == HOST_NONE ? NULL : &h->tag[i];
}

void
weft_host_tag_move(struct weft_host *h, struct host_tag *t, enum host_queue to)
{
	detach(h, t);
	append(h, t, to);
}

void
weft_host_tag_release(struct weft_host *h, struct host_tag *t)
{
	h->peer[t->dpid].in_flight[t->kind]--;
	t->tag = (uint16_t)(t->tag + h->cfg.tags);
	weft_host_tag_move(h, t, HOST_FREE);
}
