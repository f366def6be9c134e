/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What waits: a queue for each question, entries linked by number. In an ordered context whatever
 * comes later waits where the first one does, and moves with it.
 */

#include "xlate_priv.h"

#include <errno.h>

void
xlate_wait_init(struct weft_xlate *x)
{
	for (unsigned int i = 0; i < XLATE_QUEUES; i++)
		x->queue[i].head = XLATE_NONE;
	for (unsigned int i = 0; i < x->cfg.contexts; i++)
		x->context[i].at = XLATE_NONE;
	for (unsigned int i = 0; i < x->cfg.places; i++)
		x->entry[i].next = i + 1 < x->cfg.places ? (uint16_t)(i + 1) : XLATE_NONE;
}

static void
wait_push(struct weft_xlate *x, uint16_t queue, uint16_t i)
{
	struct xlate_ends *q = &x->queue[queue];

	x->entry[i].next = XLATE_NONE;
	if (q->head == XLATE_NONE)
		q->head = i;
	else
		x->entry[q->tail].next = i;
	q->tail = i;
	x->ready = (uint16_t)(x->ready + (queue >= XLATE_READ));
	x->context[x->entry[i].item.ctx].at = queue;
}

static uint16_t
wait_pop(struct weft_xlate *x, uint16_t queue)
{
	const uint16_t i = x->queue[queue].head;

	if (i == XLATE_NONE)
		return i;
	x->queue[queue].head = x->entry[i].next;
	x->ready = (uint16_t)(x->ready - (queue >= XLATE_READ));
	return i;
}

bool
xlate_put(struct weft_xlate *x, uint16_t queue, const struct weft_xlate_item *item)
{
	struct xlate_context *c = &x->context[item->ctx];
	const uint16_t i = x->free;

	if (i == XLATE_NONE || c->used == x->cfg.share)
		return false;
	x->free = x->entry[i].next;
	x->used++;
	x->most = x->used > x->most ? x->used : x->most;
	c->used++;
	x->entry[i] = (struct xlate_entry){ .item = *item,
		.epoch = x->epoch,
		.is_behind = x->cfg.is_ordered && c->at != XLATE_NONE };
	wait_push(x, x->entry[i].is_behind ? c->at : queue, i);
	return true;
}

bool
xlate_pop(struct weft_xlate *x, uint16_t queue, struct weft_xlate_item *item)
{
	const uint16_t i = wait_pop(x, queue);
	struct xlate_entry *e;
	struct xlate_context *c;

	if (i == XLATE_NONE)
		return false;
	e = &x->entry[i];
	c = &x->context[e->item.ctx];
	*item = e->item;
	if (e->epoch != x->epoch)
		item->known = 0;
	if (c->at == queue)
		c->at = XLATE_NONE;
	c->used--;
	x->used--;
	e->next = x->free;
	x->free = i;
	return true;
}

static uint16_t
wait_ready_queue(const struct weft_xlate *x, const struct weft_xlate_item *item)
{
	return !x->cfg.is_ordered && (item->want & WEFT_ATC_W) != 0 ? XLATE_WRITE : XLATE_READ;
}

void
xlate_release_why(struct weft_xlate *x, uint16_t queue, enum weft_xlate_why why)
{
	uint16_t i;

	while ((i = wait_pop(x, queue)) != XLATE_NONE) {
		struct xlate_entry *e = &x->entry[i];

		e->item.why = (uint8_t)(e->is_behind && why == WEFT_XLATE_NO_PAGE ? WEFT_XLATE_LOOK
										  : why);
		wait_push(x, wait_ready_queue(x, &e->item), i);
	}
}

/* Nearly always it is looked up again. */
void
xlate_release(struct weft_xlate *x, uint16_t queue, const struct weft_ats_done *d, uint64_t now_ns)
{
	const unsigned int log2 = WEFT_ATS_PAGE_LOG2 + (unsigned int)x->cfg.stu;
	uint16_t i;

	while ((i = wait_pop(x, queue)) != XLATE_NONE) {
		struct xlate_entry *e = &x->entry[i];
		uint16_t to = wait_ready_queue(x, &e->item);

		if (e->is_behind)
			to = x->context[e->item.ctx].at;
		else if (d->result == WEFT_ATS_NO_PAGE && e->item.va >> log2 == d->va >> log2)
			to = xlate_page_queue(x, &e->item, now_ns);
		e->item.why = WEFT_XLATE_LOOK;
		wait_push(x, to, i);
	}
}

unsigned int
weft_xlate_run(struct weft_xlate *x, const struct weft_atc_run *q, unsigned int n)
{
	return weft_atc_lookup_run(x->cache, q, n);
}

static int
wait_ask(struct weft_xlate *x, uint16_t ctx, uint64_t va)
{
	const unsigned int n = weft_atc_prefetcher_miss(
		x->prefetcher, ctx, va, WEFT_ATS_PAGE_LOG2 + (unsigned int)x->cfg.stu);

	return weft_ats_atc_request(x->peer, ctx, va, n, false);
}

void
weft_xlate_ask(struct weft_xlate *x, uint16_t ctx, uint64_t va)
{
	if (ctx < x->cfg.contexts)
		wait_ask(x, ctx, va);
}

int
weft_xlate_wait(struct weft_xlate *x, const struct weft_xlate_item *item, uint64_t now_ns)
{
	struct weft_xlate_item i = *item;
	int queue = XLATE_LATER;

	if (i.ctx >= x->cfg.contexts)
		return -EINVAL;
	if (i.until_ns == 0)
		i.until_ns = now_ns + x->cfg.life_ns;
	if (!weft_xlate_is_waiting(x, i.ctx))
		queue = wait_ask(x, i.ctx, i.va);
	if (queue < 0 && queue != -EAGAIN)
		return queue;
	if (!xlate_put(x, queue < 0 ? XLATE_LATER : (uint16_t)queue, &i))
		return -EAGAIN;
	x->count[WEFT_XLATE_N_MISSED] += queue >= 0 && queue < XLATE_PAGE;
	return 0;
}

bool
weft_xlate_take(struct weft_xlate *x, uint64_t now_ns, struct weft_xlate_item *item)
{
	if (!xlate_pop(x, XLATE_READ, item) && !xlate_pop(x, XLATE_WRITE, item))
		return false;
	if (item->why == WEFT_XLATE_LOOK && now_ns >= item->until_ns)
		item->why = WEFT_XLATE_EXPIRED;
	x->count[WEFT_XLATE_N_EXPIRED] += item->why == WEFT_XLATE_EXPIRED;
	x->count[WEFT_XLATE_N_NO_PAGE] += item->why == WEFT_XLATE_NO_PAGE;
	return true;
}

void
weft_xlate_give_up(struct weft_xlate *x)
{
	for (uint16_t q = XLATE_TRANSLATION; q < XLATE_READ; q++)
		xlate_release_why(x, q, WEFT_XLATE_EXPIRED);
}

bool
weft_xlate_is_waiting(const struct weft_xlate *x, uint16_t ctx)
{
	return x->cfg.is_ordered && ctx < x->cfg.contexts && x->context[ctx].at != XLATE_NONE;
}

unsigned int
weft_xlate_waiting(const struct weft_xlate *x)
{
	return (unsigned int)(x->used - x->ready);
}

unsigned int
weft_xlate_ready(const struct weft_xlate *x)
{
	return x->ready;
}

unsigned int
weft_xlate_most(const struct weft_xlate *x)
{
	return x->most;
}
