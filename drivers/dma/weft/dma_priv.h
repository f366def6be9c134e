/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Shared by the files of the dmadev driver dma_weft (doc/dma.md): the window of addresses that
 * stand for a region, jobs (what an application enqueues), and pieces (operations of libweft of
 * which jobs with the region are made).
 */
#ifndef DMA_PRIV_H
#define DMA_PRIV_H

#include "weft.h"

#include <rte_dmadev.h>
#include <rte_dmadev_pmd.h>
#include <rte_log.h>

#define DMA_PIECE                                                                                  \
	(16u << 10) /* bytes at most; pieces end where the region's offset is a multiple */
#define DMA_PIECES 256u /* open at a time */
#define DMA_BOUNCES 16u /* of them, from the region to the region */
#define DMA_ARG_MAX 256 /* bytes of a devarg's value, with its end */
#define DMA_GUARD (64u << 10) /* bytes behind the window that are no memory either */
#define DMA_DESC_MIN 2
#define DMA_DESC_MAX 32768

extern int dma_logtype;

#define DMA_SAY(fmt, ...)                                                                          \
	rte_log(RTE_LOG_ERR, (uint32_t)dma_logtype, "dma_weft: " fmt "\n", __VA_ARGS__)

/* What the devargs say. */
struct dma_args {
	char node[DMA_ARG_MAX]; /* as for weft_attach(); empty: NULL */
	char region[DMA_ARG_MAX]; /* empty: none, memory of the process alone */
	uint64_t base; /* 0: any */
};

/* Addresses that stand for the region, which nobody can touch. Without a region all is 0. */
struct dma_window {
	uint64_t base;
	uint64_t size; /* of the region */
	uint64_t reserved; /* pages, and a guard */
};

enum dma_kind { DMA_COPY, DMA_FILL, DMA_READ, DMA_WRITE, DMA_MOVE, DMA_FILL_REGION };

/* What was enqueued. Addresses in the window are offsets in the region. */
struct dma_job {
	uint64_t src; /* fills: the pattern */
	uint64_t dst;
	uint32_t len;
	uint32_t next; /* bytes of which pieces were begun */
	uint16_t n_open; /* pieces */
	uint8_t kind; /* enum dma_kind */
	bool is_fenced; /* begins when all before it are done */
	bool is_entered;
	bool is_begun; /* no further piece begins */
	bool is_done;
	enum rte_dma_status_code status; /* of its first piece that failed */
};

/* Part of a job. From the region to the region it is a read, then a write. */
struct dma_piece {
	struct dma_job *job; /* NULL: unused */
	uint64_t off; /* in the region, of the operation that is open or due */
	uint64_t dst_off; /* of the write that follows */
	void *buf;
	uint32_t n;
	bool is_write;
	bool has_bounce;
};

/*
 * The virtual channel of a device. Indices of jobs count up modulo 2^16, as dmadev's do:
 * reported <= begun <= doorbell <= tail.
 */
struct dma_chan {
	struct dma_job *jobs; /* n_jobs, a power of two; NULL: not set up */
	uint32_t n_jobs;
	uint16_t tail; /* the next to enqueue */
	uint16_t doorbell; /* those before it were submitted */
	uint16_t begun; /* those before it have no further piece to begin */
	uint16_t reported; /* those before it the application knows of */
	uint32_t n_busy; /* jobs that were entered and are not done */
	uint32_t n_failed; /* jobs that failed and were not reported */
	struct rte_dma_stats stats;

	struct weft *w; /* NULL: stopped, or there is no region */
	struct weft_region *r;
	bool is_over; /* the daemon left */
	uint32_t n_lent; /* pieces that libweft has */
	uint32_t n_unused;
	uint32_t n_due; /* pieces whose write is due */
	uint32_t n_bounces; /* that are free */
	uint16_t unused[DMA_PIECES];
	uint16_t due[DMA_BOUNCES];
	uint8_t *bounces[DMA_BOUNCES];
	struct dma_piece pieces[DMA_PIECES];
	uint8_t *room; /* DMA_BOUNCES pieces, and one for fills */
};

struct dma_weft {
	struct dma_args args;
	struct dma_window window;
	struct dma_chan chan;
};

/* --- setup.c --- */

/* Read the devargs. 0, or -EINVAL with a line in @err. */
int dma_parse(struct dma_args *a, const char *text, char *err, size_t len);

/* Learn the size of the region and reserve addresses for it. 0, or -errno with a line in @err. */
int dma_window_open(struct dma_weft *d, char *err, size_t len);
void dma_window_close(struct dma_weft *d);

/* Attach the channel. As dma_window_open(); -ESTALE: the region has another size by now. */
int dma_attach(struct dma_weft *d, char *err, size_t len);

/* --- pieces.c --- */

/* All pieces are unused from now on. */
void dma_pieces_reset(struct dma_chan *c);

/* Take what is done, and begin the writes that are due. */
void dma_pieces_run(struct dma_chan *c);

/* Begin a piece of what is left of @j. False: there is no room for now. */
bool dma_piece_begin(struct dma_chan *c, struct dma_job *j);

/* --- jobs.c --- */

/* Rings of @n jobs, which are all unused. 0 or -ENOMEM. */
int dma_chan_init(struct dma_chan *c, uint32_t n);
void dma_chan_reset(struct dma_chan *c);
void dma_chan_fini(struct dma_chan *c);

/* @j has no further piece to begin and none that is open. */
void dma_job_end(struct dma_chan *c, struct dma_job *j);

/* Fill @n bytes. */
void dma_pattern(uint8_t *buf, uint32_t n, uint64_t pattern);

/* The calls of dmadev that run per operation. @dev is a struct dma_weft. */
int dma_copy(
	void *dev, uint16_t vchan, rte_iova_t src, rte_iova_t dst, uint32_t len, uint64_t flags);
int dma_fill(
	void *dev, uint16_t vchan, uint64_t pattern, rte_iova_t dst, uint32_t len, uint64_t flags);
int dma_submit(void *dev, uint16_t vchan);
uint16_t dma_completed(
	void *dev, uint16_t vchan, const uint16_t n, uint16_t *last, bool *has_error);
uint16_t dma_completed_status(void *dev, uint16_t vchan, const uint16_t n, uint16_t *last,
	enum rte_dma_status_code *status);
uint16_t dma_capacity(const void *dev, uint16_t vchan);

/* Begin and end what can be. */
void dma_chan_run(struct dma_chan *c);

#endif /* DMA_PRIV_H */
