/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Jobs from the call that enqueues them to the one that reports them, in their order. There is no
 * thread: every call for the channel begins and ends what can be. What has nothing to do with the
 * region is copied when its turn comes, by the caller. Hot: runs per operation.
 */

#include "dma_priv.h"

#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
dma_chan_init(struct dma_chan *c, uint32_t n)
{
	dma_chan_fini(c);
	c->jobs = calloc(n, sizeof(*c->jobs));
	c->room = malloc((size_t)(DMA_BOUNCES + 1) * DMA_PIECE);
	if (c->jobs == NULL || c->room == NULL) {
		dma_chan_fini(c);
		return -ENOMEM;
	}
	c->n_jobs = n;
	c->stats = (struct rte_dma_stats){ 0 };
	dma_chan_reset(c);
	return 0;
}

void
dma_chan_reset(struct dma_chan *c)
{
	c->tail = c->doorbell = c->begun = c->reported = 0;
	c->n_busy = c->n_failed = 0;
	c->is_over = false;
	dma_pieces_reset(c);
}

void
dma_chan_fini(struct dma_chan *c)
{
	free(c->jobs);
	free(c->room);
	c->jobs = NULL;
	c->room = NULL;
	c->n_jobs = 0;
}

static struct dma_job *
jobs_at(struct dma_chan *c, uint16_t index)
{
	return &c->jobs[index & (c->n_jobs - 1)];
}

/* --- enqueue --- */

enum jobs_place { JOBS_MEMORY, JOBS_REGION, JOBS_NOWHERE };

/* Where @len bytes at @at lie. In the region, @at becomes the offset. */
static enum jobs_place
jobs_locate(const struct dma_window *w, uint64_t *at, uint32_t len)
{
	if (*at == 0 || *at + len < *at)
		return JOBS_NOWHERE;
	if (*at + len <= w->base || *at >= w->base + w->reserved)
		return JOBS_MEMORY;
	if (*at < w->base || *at - w->base > w->size || len > w->size - (*at - w->base))
		return JOBS_NOWHERE;
	*at -= w->base;
	return JOBS_REGION;
}

static enum dma_kind
jobs_copy_kind(enum jobs_place src, enum jobs_place dst)
{
	if (src == JOBS_REGION)
		return dst == JOBS_REGION ? DMA_MOVE : DMA_READ;
	return dst == JOBS_REGION ? DMA_WRITE : DMA_COPY;
}

/* A place in the ring, or NULL if it is full. */
static struct dma_job *
jobs_room(struct dma_weft *d, uint16_t vchan)
{
	struct dma_chan *c = &d->chan;

	if (unlikely(vchan != 0 || (uint16_t)(c->tail - c->reported) == c->n_jobs))
		return NULL;
	return jobs_at(c, c->tail);
}

static int
jobs_enqueue(struct dma_chan *c, uint64_t flags)
{
	const uint16_t index = c->tail++;

	if (flags & RTE_DMA_OP_FLAG_SUBMIT) {
		c->stats.submitted += (uint16_t)(c->tail - c->doorbell);
		c->doorbell = c->tail;
		dma_chan_run(c);
	}
	return index;
}

int
dma_copy(void *dev, uint16_t vchan, rte_iova_t src, rte_iova_t dst, uint32_t len, uint64_t flags)
{
	struct dma_weft *d = dev;
	struct dma_job *j = jobs_room(d, vchan);
	enum jobs_place from, to;

	if (j == NULL)
		return -ENOSPC;
	*j = (struct dma_job){ .src = src,
		.dst = dst,
		.len = len,
		.is_fenced = (flags & RTE_DMA_OP_FLAG_FENCE) != 0 };
	from = jobs_locate(&d->window, &j->src, len);
	to = jobs_locate(&d->window, &j->dst, len);
	j->kind = (uint8_t)jobs_copy_kind(from, to);
	if (to == JOBS_NOWHERE)
		j->status = RTE_DMA_STATUS_INVALID_DST_ADDR;
	if (from == JOBS_NOWHERE)
		j->status = RTE_DMA_STATUS_INVALID_SRC_ADDR;
	return jobs_enqueue(&d->chan, flags);
}

int
dma_fill(void *dev, uint16_t vchan, uint64_t pattern, rte_iova_t dst, uint32_t len, uint64_t flags)
{
	struct dma_weft *d = dev;
	struct dma_job *j = jobs_room(d, vchan);
	enum jobs_place to;

	if (j == NULL)
		return -ENOSPC;
	*j = (struct dma_job){ .src = pattern,
		.dst = dst,
		.len = len,
		.is_fenced = (flags & RTE_DMA_OP_FLAG_FENCE) != 0 };
	to = jobs_locate(&d->window, &j->dst, len);
	j->kind = to == JOBS_REGION ? DMA_FILL_REGION : DMA_FILL;
	if (to == JOBS_NOWHERE)
		j->status = RTE_DMA_STATUS_INVALID_DST_ADDR;
	return jobs_enqueue(&d->chan, flags);
}

int
dma_submit(void *dev, uint16_t vchan)
{
	struct dma_chan *c = &((struct dma_weft *)dev)->chan;

	if (unlikely(vchan != 0))
		return -EINVAL;
	c->stats.submitted += (uint16_t)(c->tail - c->doorbell);
	c->doorbell = c->tail;
	dma_chan_run(c);
	return 0;
}

/* --- begin and end --- */

void
dma_job_end(struct dma_chan *c, struct dma_job *j)
{
	j->is_done = true;
	c->n_busy--;
	c->n_failed += j->status != RTE_DMA_STATUS_SUCCESSFUL;
}

/* Its turn has come. False: it is fenced, and what it waits for is not done. */
static bool
jobs_enter(struct dma_chan *c, struct dma_job *j)
{
	if (j->is_fenced && c->n_busy > 0)
		return false;
	/* What it relies on was not done, and the application does not know that. */
	if (j->is_fenced && c->n_failed > 0 && j->status == RTE_DMA_STATUS_SUCCESSFUL)
		j->status = RTE_DMA_STATUS_NOT_ATTEMPTED;
	j->is_entered = true;
	c->n_busy++;
	return true;
}

void
dma_pattern(uint8_t *buf, uint32_t n, uint64_t pattern)
{
	uint32_t i;

	for (i = 0; n - i >= sizeof(pattern); i += (uint32_t)sizeof(pattern))
		memcpy(buf + i, &pattern, sizeof(pattern));
	memcpy(buf + i, &pattern, n - i);
}

static void
jobs_do_local(struct dma_job *j)
{
	uint8_t *dst = (uint8_t *)(uintptr_t)j->dst;

	if (j->kind == DMA_COPY)
		memmove(dst, (const void *)(uintptr_t)j->src, j->len);
	else
		dma_pattern(dst, j->len, j->src);
	j->next = j->len;
}

/* False: there is more of it to begin. */
static bool
jobs_begin(struct dma_chan *c, struct dma_job *j)
{
	if (!j->is_entered && !jobs_enter(c, j))
		return false;
	if (j->status == RTE_DMA_STATUS_SUCCESSFUL && (j->kind == DMA_COPY || j->kind == DMA_FILL))
		jobs_do_local(j);
	while (j->status == RTE_DMA_STATUS_SUCCESSFUL && j->next < j->len)
		if (!dma_piece_begin(c, j))
			return false;
	j->is_begun = true;
	if (j->n_open == 0)
		dma_job_end(c, j);
	return true;
}

void
dma_chan_run(struct dma_chan *c)
{
	if (c->n_lent > 0 || c->n_due > 0)
		dma_pieces_run(c);
	while (c->begun != c->doorbell && jobs_begin(c, jobs_at(c, c->begun)))
		c->begun++;
}

/* --- report --- */

/* The next job to tell of, or NULL if it is not done. */
static struct dma_job *
jobs_ended(struct dma_chan *c)
{
	struct dma_job *j = jobs_at(c, c->reported);

	return c->reported != c->begun && j->is_done ? j : NULL;
}

uint16_t
dma_completed(void *dev, uint16_t vchan, const uint16_t n, uint16_t *last, bool *has_error)
{
	struct dma_chan *c = &((struct dma_weft *)dev)->chan;
	const struct dma_job *j = NULL;
	uint16_t got = 0;

	if (unlikely(vchan != 0 || c->jobs == NULL))
		return 0;
	dma_chan_run(c);
	while (got < n && (j = jobs_ended(c)) != NULL && j->status == RTE_DMA_STATUS_SUCCESSFUL) {
		c->reported++;
		got++;
	}
	*has_error = got < n && j != NULL;
	*last = (uint16_t)(c->reported - 1);
	c->stats.completed += got;
	return got;
}

uint16_t
dma_completed_status(void *dev, uint16_t vchan, const uint16_t n, uint16_t *last,
	enum rte_dma_status_code *status)
{
	struct dma_chan *c = &((struct dma_weft *)dev)->chan;
	const struct dma_job *j;
	uint16_t got = 0;

	if (unlikely(vchan != 0 || c->jobs == NULL))
		return 0;
	dma_chan_run(c);
	while (got < n && (j = jobs_ended(c)) != NULL) {
		status[got++] = j->status;
		c->reported++;
		if (j->status != RTE_DMA_STATUS_SUCCESSFUL) {
			c->n_failed--;
			c->stats.errors++;
		}
	}
	*last = (uint16_t)(c->reported - 1);
	c->stats.completed += got;
	return got;
}

uint16_t
dma_capacity(const void *dev, uint16_t vchan)
{
	const struct dma_chan *c = &((const struct dma_weft *)dev)->chan;

	return vchan == 0 ? (uint16_t)(c->n_jobs - (uint16_t)(c->tail - c->reported)) : 0;
}
