/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Frames that wait, as the stage route sees them. */
#ifndef ROUTE_WAIT_PRIV_H
#define ROUTE_WAIT_PRIV_H

#include "weft_atc_shootdown.h"
#include "weft_pending.h"
#include "weft_route_wait.h"

#define WAIT_NOWHERE UINT16_MAX

/* A frame that waits. */
struct wait_frame {
	struct rte_mbuf *m;
	struct wait_frame *next; /* free ones */
	uint64_t known; /* flits whose request is translated, while epoch is the context's */
	uint32_t epoch;
	uint16_t tries; /* answers in a row that brought it no further */
	bool parked;
};

struct weft_route_wait {
	struct weft_route_wait_cfg cfg;
	struct weft_pending *pending; /* one slot more: for those that could not ask */
	uint16_t *at; /* of each context: where its frames wait, or WAIT_NOWHERE */
	uint32_t *epoch; /* of each context: moves on with every invalidation */
	bool *asked; /* of each slot */
	uint16_t n_asked;
	struct wait_frame *free;
	struct wait_frame frame[];
};

/* Where those wait that found every slot of the one who is asked in use. */
static inline uint16_t
wait_line(const struct weft_route_wait *w)
{
	return w->cfg.slots;
}

static inline bool
wait_has(const struct weft_route_wait *w, uint16_t ctx)
{
	return ctx < w->cfg.contexts && w->at[ctx] != WAIT_NOWHERE;
}

/* Ask; a slot, -EAGAIN, or another negative number. */
int wait_ask(struct weft_route_wait *w, uint16_t ctx, uint64_t va, unsigned int want);

/* Next answer. */
bool wait_answer(struct weft_route_wait *w, struct weft_answer *a);

/* A record for a frame that is to wait; NULL if there is no room in all. */
struct wait_frame *wait_new(struct weft_route_wait *w, struct rte_mbuf *m);

/* The frame of the record goes on. */
void wait_delete(struct weft_route_wait *w, struct wait_frame *p);

/* Let the frame wait in @p slot. False: no room for it; the record is as before. */
bool wait_park(struct weft_route_wait *w, unsigned int slot, uint16_t ctx, struct wait_frame *p);

/* Everything that waits in a slot, in order; its contexts wait nowhere then. Room: WEFT_BURST_CAP. */
unsigned int wait_take(struct weft_route_wait *w, unsigned int slot, struct wait_frame **p);

/* What was translated while frames waited may have changed. */
void wait_forget(struct weft_route_wait *w, const struct weft_atc_inv *inv);

static inline uint16_t
wait_ctx(const struct rte_mbuf *m)
{
	const struct weft_frame *f = weft_frame((struct rte_mbuf *)(uintptr_t)m);

	return f->conn == NULL ? 0 : f->conn->index;
}

#endif /* ROUTE_WAIT_PRIV_H */
