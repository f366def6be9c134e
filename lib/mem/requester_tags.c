/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Queues of tags. Tags are reused oldest first, and the bits of the tag that the table does
 * not need count its uses: a response that comes twice, or after the quarantine, meets a new
 * request only if all numbers of the entry were used in between.
 */

#include "requester_priv.h"

static uint16_t
tags_index(const struct weft_requester *r, const struct request_tag *t)
{
	return (uint16_t)(t - r->tag);
}

static void
tags_append(struct weft_requester *r, struct request_tag *t, enum tag_queue q)
{
	struct tag_ends *e = &r->queue[q];
	const uint16_t i = tags_index(r, t);

	t->queue = (uint8_t)q;
	t->prev = e->tail;
	t->next = TAG_NONE;
	if (e->tail == TAG_NONE)
		e->head = i;
	else
		r->tag[e->tail].next = i;
	e->tail = i;
}

static void
tags_detach(struct weft_requester *r, struct request_tag *t)
{
	struct tag_ends *e = &r->queue[t->queue];

	if (t->prev == TAG_NONE)
		e->head = t->next;
	else
		r->tag[t->prev].next = t->next;
	if (t->next == TAG_NONE)
		e->tail = t->prev;
	else
		r->tag[t->next].prev = t->prev;
}

/* Runs that follow each other begin far apart. */
static uint16_t
tags_first(const struct weft_requester *r)
{
	const uint32_t uses = (r->protocol->tag_mask + 1u) / r->cfg.tags;
	const uint32_t hash = r->cfg.run * UINT32_C(0x9E3779B9);

	return (uint16_t)(((uint64_t)hash * uses >> 32) * r->cfg.tags);
}

void
weft_requester_tags_init(struct weft_requester *r)
{
	const uint16_t first = tags_first(r);

	for (unsigned int q = 0; q < TAG_QUEUES; q++)
		r->queue[q].head = r->queue[q].tail = TAG_NONE;
	for (uint32_t i = 0; i < r->cfg.tags; i++) {
		r->tag[i].tag = (uint16_t)(first + i);
		tags_append(r, &r->tag[i], TAG_FREE);
	}
}

void
weft_requester_tag_move(struct weft_requester *r, struct request_tag *t, enum tag_queue to)
{
	const int quarantined = (to == TAG_QUARANTINE) - (t->queue == TAG_QUARANTINE);

	/* Seldom: most go from open to free. */
	if (quarantined != 0) {
		r->n_quarantine += (uint32_t)quarantined;
		r->peer[t->dpid].quarantined =
			(uint16_t)(r->peer[t->dpid].quarantined + quarantined);
	}
	tags_detach(r, t);
	tags_append(r, t, to);
}

void
weft_requester_tag_release(struct weft_requester *r, struct request_tag *t)
{
	r->peer[t->dpid].in_flight[t->kind]--;
	t->tag = (uint16_t)((t->tag + r->cfg.tags) & r->protocol->tag_mask);
	weft_requester_tag_move(r, t, TAG_FREE);
}
