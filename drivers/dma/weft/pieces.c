/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Operations of libweft of which jobs with the region are made. A long job has many, several of
 * which are open at a time; they end where lines do, so that those stay whole. Hot: runs per
 * operation.
 */

#include "dma_priv.h"

#include <rte_common.h>

#include <errno.h>
#include <string.h>

#define PIECES_BATCH 32

static enum rte_dma_status_code
pieces_status(int rc, bool is_write)
{
	switch (rc) {
	case 0: return RTE_DMA_STATUS_SUCCESSFUL;
	case -EIO: return RTE_DMA_STATUS_DATA_POISION;
	case -ENXIO:
		return is_write ? RTE_DMA_STATUS_INVALID_DST_ADDR : RTE_DMA_STATUS_INVALID_SRC_ADDR;
	case -EACCES:
		return is_write ? RTE_DMA_STATUS_BUS_WRITE_ERROR : RTE_DMA_STATUS_BUS_READ_ERROR;
	case -ETIMEDOUT: return RTE_DMA_STATUS_BUS_ERROR;
	case -ESTALE: return RTE_DMA_STATUS_PAGE_FAULT;
	case -ESHUTDOWN: return RTE_DMA_STATUS_DEV_LINK_ERROR;
	default: return RTE_DMA_STATUS_ERROR_UNKNOWN;
	}
}

void
dma_pieces_reset(struct dma_chan *c)
{
	uint32_t i;

	c->n_lent = 0;
	c->n_due = 0;
	c->n_unused = DMA_PIECES;
	for (i = 0; i < DMA_PIECES; i++) {
		c->pieces[i].job = NULL;
		c->unused[i] = (uint16_t)i;
	}
	c->n_bounces = DMA_BOUNCES;
	for (i = 0; i < DMA_BOUNCES; i++)
		c->bounces[i] = c->room + (size_t)i * DMA_PIECE;
}

static struct dma_piece *
pieces_take(struct dma_chan *c)
{
	return &c->pieces[c->unused[--c->n_unused]];
}

static void
pieces_give(struct dma_chan *c, struct dma_piece *p)
{
	if (p->has_bounce)
		c->bounces[c->n_bounces++] = p->buf;
	p->job = NULL;
	c->unused[c->n_unused++] = (uint16_t)(p - c->pieces);
}

/* Hand it to libweft. @return 1; 0: there is no room for now; an error */
static int
pieces_lend(struct dma_chan *c, struct dma_piece *p)
{
	const struct weft_op op = {
		.kind = p->is_write ? WEFT_OP_WRITE : WEFT_OP_READ,
		.region = c->r,
		.off = p->off,
		.buf = p->buf,
		.n = p->n,
		.user = (uint64_t)(p - c->pieces),
	};
	const int rc = c->w != NULL ? weft_submit(c->w, &op, 1) : -ESHUTDOWN;

	if (rc > 0)
		c->n_lent++;
	return rc;
}

static void
pieces_end(struct dma_chan *c, struct dma_piece *p, int rc)
{
	struct dma_job *j = p->job;

	c->is_over |= rc == -ESHUTDOWN;
	if (rc != 0 && j->status == RTE_DMA_STATUS_SUCCESSFUL)
		j->status = pieces_status(rc, p->is_write);
	pieces_give(c, p);
	if (--j->n_open == 0 && j->is_begun)
		dma_job_end(c, j);
}

/* An operation of it is done: the piece, or what was read is to be written. */
static void
pieces_advance(struct dma_chan *c, struct dma_piece *p, int rc)
{
	if (rc != 0 || p->job->kind != DMA_MOVE || p->is_write) {
		pieces_end(c, p, rc);
		return;
	}
	p->is_write = true;
	p->off = p->dst_off;
	c->due[c->n_due++] = (uint16_t)(p - c->pieces);
}

/* The daemon left: what libweft has is over, and nothing more is written to memory. */
static void
pieces_cut(struct dma_chan *c)
{
	uint32_t i;

	c->n_lent = 0;
	c->n_due = 0;
	for (i = 0; i < DMA_PIECES; i++)
		if (c->pieces[i].job != NULL)
			pieces_end(c, &c->pieces[i], -ESHUTDOWN);
}

void
dma_pieces_run(struct dma_chan *c)
{
	struct weft_done done[PIECES_BATCH];
	int got = PIECES_BATCH, rc, i;

	/* Nothing is submitted meanwhile: no more comes than is open. */
	while (c->n_lent > 0 && got == PIECES_BATCH) {
		got = weft_wait(c->w, done, PIECES_BATCH, 0);
		if (got < 0) {
			pieces_cut(c);
			return;
		}
		c->n_lent -= (uint32_t)got;
		for (i = 0; i < got; i++)
			pieces_advance(c, &c->pieces[done[i].user], done[i].status);
	}
	while (c->n_due > 0) {
		struct dma_piece *p = &c->pieces[c->due[c->n_due - 1]];

		rc = pieces_lend(c, p);
		if (rc == 0)
			return;
		c->n_due--;
		if (rc < 0)
			pieces_end(c, p, rc);
	}
}

/* What a fill's byte @at and those behind it are. */
static uint64_t
pieces_pattern(uint64_t pattern, uint32_t at)
{
	uint8_t twice[2 * sizeof(pattern)];

	memcpy(twice, &pattern, sizeof(pattern));
	memcpy(twice + sizeof(pattern), &pattern, sizeof(pattern));
	memcpy(&pattern, twice + at % sizeof(pattern), sizeof(pattern));
	return pattern;
}

/* What the next piece of a job is, but for its length. */
static void
pieces_aim(struct dma_chan *c, struct dma_piece *p, struct dma_job *j)
{
	const uint64_t src = j->src + j->next, dst = j->dst + j->next;

	p->job = j;
	p->is_write = j->kind == DMA_WRITE || j->kind == DMA_FILL_REGION;
	p->off = p->is_write ? dst : src;
	p->dst_off = dst;
	p->has_bounce = j->kind == DMA_MOVE;
	if (p->has_bounce)
		p->buf = c->bounces[--c->n_bounces];
	else if (j->kind == DMA_FILL_REGION)
		p->buf = c->room + (size_t)DMA_BOUNCES * DMA_PIECE;
	else
		p->buf = (void *)(uintptr_t)(p->is_write ? src : dst);
}

bool
dma_piece_begin(struct dma_chan *c, struct dma_job *j)
{
	const uint64_t edge = (j->kind == DMA_READ ? j->src : j->dst) + j->next;
	struct dma_piece *p;
	int rc;

	if (c->n_unused == 0 || (j->kind == DMA_MOVE && c->n_bounces == 0))
		return false;
	p = pieces_take(c);
	pieces_aim(c, p, j);
	p->n = RTE_MIN(j->len - j->next, DMA_PIECE - (uint32_t)(edge & (DMA_PIECE - 1)));
	if (j->kind == DMA_FILL_REGION)
		dma_pattern(p->buf, p->n, pieces_pattern(j->src, j->next));
	rc = pieces_lend(c, p);
	if (rc == 0) {
		pieces_give(c, p);
		return false;
	}
	j->n_open++;
	j->next += p->n;
	if (rc < 0)
		pieces_end(c, p, rc);
	return true;
}
