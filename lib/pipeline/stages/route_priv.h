/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Inside the stage route: a burst at work. route.c is what every burst runs, route_later.c waits.
 */
#ifndef ROUTE_PRIV_H
#define ROUTE_PRIV_H

#include "weft_req_scan.h"
#include "weft_stage.h"
#include "weft_xlate.h"

enum { COUNT_DECODED, COUNT_ASKED, COUNT_PARKED, COUNT_RELEASED, COUNT_REFUSED };

#define ROUTE_RUN 64 /* requests looked up at a time */
#define ROUTE_ROOM (ROUTE_RUN + WEFT_REQ_SCAN_STEP)
#define ROUTE_FRAMES WEFT_BURST_MAX /* frames of a run at most */

static_assert(ROUTE_RUN >= WEFT_WIRE_FLITS_MAX, "the requests of a frame fit a run");
static_assert((int)WEFT_REQ_READ == WEFT_ATC_R && (int)WEFT_REQ_WRITE == WEFT_ATC_W,
	"what a request wants is what a translation gives");

/* A frame in a run: its requests are the run's next ones. */
struct route_frame {
	struct weft_frame *f;
	uint64_t is; /* flits that begin with a request to be looked up */
	const struct weft_xlate_item *waited; /* it has waited already, as this */
	uint16_t at; /* in the burst */
};

/* Requests of a few frames. */
struct route_run {
	unsigned int n;
	unsigned int n_frames;
	uint64_t va[ROUTE_ROOM];
	uint64_t pa[ROUTE_ROOM];
	uint16_t ctx[ROUTE_ROOM];
	int16_t dpid[ROUTE_ROOM];
	int16_t expect[ROUTE_ROOM]; /* the frame's DPID */
	uint8_t want[ROUTE_ROOM];
	uint8_t result[ROUTE_ROOM]; /* WEFT_ATC_MISS: left alone, its frame waits or is refused */
	struct route_frame frame[ROUTE_FRAMES];
};

/* What a burst is worked on with. */
struct route_work {
	const struct weft_env *env;
	struct weft_burst *b; /* pkt[0..n-1] are the frames that go on; NULL: one that does not */
	struct weft_stage_stats *st;
	/* One snapshot. */
	const struct weft_tables *tables;
	const struct weft_edge *edge; /* NULL: addresses are not looked at */
	weft_req_scan_fn req_scan;
	bool waits; /* something of some context */
	bool gaps; /* of NULLs in the burst */
	unsigned int parked_again;
	struct route_run q;
};

static inline bool
route_decodes(const struct route_work *w)
{
	return w->edge != NULL;
}

/* Translations are of a connection. */
static inline uint16_t
route_context(const struct weft_frame *f)
{
	return f->conn == NULL ? 0 : f->conn->index;
}

/* A request of which something is known now. */
static inline void
route_settle(struct route_work *w, const struct route_frame *fr, unsigned int flit, unsigned int i,
	enum weft_atc_result r)
{
	struct route_run *q = &w->q;

	if (r == WEFT_ATC_UNTRANSLATED)
		q->pa[i] = q->va[i];
	if (r == WEFT_ATC_DENY) {
		fr->f->discard |= WEFT_BIT64(flit);
		weft_stage_drop(w->env, w->st, WEFT_DROP_ATC_DENY, 1);
	}
	if (r == WEFT_ATC_DENY || r == WEFT_ATC_MISS)
		q->pa[i] = 0;
	q->result[i] = (uint8_t)r;
}

/* --- route.c --- */

/* A frame that waited is looked at again: it is the burst's next, and in the run. */
void route_again(struct route_work *w, const struct weft_xlate_item *item);

/* Nothing of the run is left open. */
void route_finish(struct route_work *w);

/* --- route_later.c --- */

/*
 * What the cache did not answer with a translation waits for the agent's answer. Frames of a
 * context that waits go behind it.
 */
void route_resolve(struct route_work *w);

/* Frames that need not wait any more; @p more come into the burst behind. */
void route_release(struct route_work *w, unsigned int more);

/* Close the gaps that frames left which wait now. No run is open. */
void route_close_gaps(struct route_work *w);

#endif /* ROUTE_PRIV_H */
