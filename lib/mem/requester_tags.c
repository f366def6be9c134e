/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Queues of tags. Tags are reused oldest first, and the bits of the 16-bit tag that the table does
 * not need count its uses: a response that comes twice, or after the quarantine, meets a new
 * request only if its tag was used 2^16 / tags times in between.
 */

#include "requester_priv.h"

static uint16_t
index_of(const struct weft_requester *h, const struct request_tag *t)
{
	return (uint16_t)(t - h->tag);
}

static void
append(struct weft_requester *h, struct request_tag *t, enum tag_queue q)
{
	struct tag_ends *e = &h->queue[q];
	const uint16_t i = index_of(h, t);

	t->queue = (uint8_t)q;
	t->prev = e->tail;
	t->next = TAG_NONE;
	if (e->tail == TAG_NONE)
		e->head = i;
	else
		h->tag[e->tail].next = i;
	e->tail = i;
}

static void
detach(struct weft_requester *h, struct request_tag *t)
{
	struct tag_ends *e = &h->queue[t->queue];

	if (t->prev == TAG_NONE)
		e->head = t->next;
	else
		h->tag[t->prev].next = t->next;
	if (t->next == TAG_NONE)
		e->tail = t->prev;
	else
		h->tag[t->next].prev = t->prev;
}

void
weft_requester_tags_init(struct weft_requester *h)
{
	for (unsigned int q = 0; q < TAG_QUEUES; q++)
		h->queue[q].head = h->queue[q].tail = TAG_NONE;
	for (uint32_t i = 0; i < h->cfg.tags; i++) {
		h->tag[i].tag = (uint16_t)i;
		append(h, &h->tag[i], TAG_FREE);
	}
}

struct request_tag *
weft_requester_tag_oldest(struct weft_requester *h, enum tag_queue q)
{
	const uint16_t i = h->queue[q].head;

	return i == TAG_NONE ? NULL : &h->tag[i];
}

void
weft_requester_tag_move(struct weft_requester *h, struct request_tag *t, enum tag_queue to)
{
	detach(h, t);
	append(h, t, to);
}

void
weft_requester_tag_release(struct weft_requester *h, struct request_tag *t)
{
	h->peer[t->dpid].in_flight[t->kind]--;
	t->tag = (uint16_t)(t->tag + h->cfg.tags);
	weft_requester_tag_move(h, t, TAG_FREE);
}
