/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tags of a requester, and what its two protocols say of themselves. A tag is in one of three
 * queues: free, open or in quarantine, each a doubly linked list in the order of entry. One timeout
 * serves all requests, so the open queue is in order of deadline as well, and the oldest of each is
 * at the head.
 */
#ifndef WEFT_REQUESTER_PRIV_H
#define WEFT_REQUESTER_PRIV_H

#include "weft_base.h"
#include "weft_requester.h"
#include "weft_telem.h"

#define TAG_NONE 0xFFFF
#define REQUESTER_COUNTERS_MAX 16

enum tag_queue { TAG_FREE, TAG_OPEN, TAG_QUARANTINE, TAG_QUEUES };

/** One tag. All but `tag` and the links is valid while it is open or in quarantine. */
struct request_tag {
	uint64_t cookie;
	uint64_t since_ns; /* open: sent; quarantine: lost */
	uint16_t tag; /* on the wire; the low bits are this entry's index */
	uint16_t dpid;
	uint16_t prev, next; /* in its queue, or TAG_NONE */
	uint8_t queue; /* enum tag_queue */
	uint8_t kind; /* enum weft_request_kind */
	uint16_t len;
	uint32_t stood; /* open: by cfg.clock, when it was sent */
};

static_assert(sizeof(struct request_tag) == 32, "two tags a cache line");

struct tag_ends {
	uint16_t head, tail;
};

/** A protocol: what it can ask for, and rows of its counters. */
struct requester_protocol {
	uint64_t addr_max;
	uint32_t tags_max;
	uint16_t tag_mask; /* the tag's bits on the wire */
	uint16_t id_max, dpid_max;
	uint16_t align, len_max;
	uint16_t limit; /* of requests at a destination, at the start */
	uint16_t state_len; /* bytes that it keeps for each tag */
	uint8_t n_begun[WEFT_REQUEST_KINDS], n_lost[WEFT_REQUEST_KINDS];
	uint8_t n_late; /* answers to a request in quarantine */
	uint8_t n_unmatched, n_no_tag, n_no_credit;
};

extern const struct requester_protocol weft_requester_mem, weft_requester_uio;

/** All of it is written by the requester's thread only. */
struct weft_requester {
	struct weft_requester_cfg cfg;
	const struct requester_protocol *protocol;
	struct request_tag *tag; /* cfg.tags of them, behind this struct */
	uint8_t *state; /* protocol->state_len of each tag */
	struct tag_ends queue[TAG_QUEUES];
	uint32_t n_open, n_quarantine;
	uint64_t count[REQUESTER_COUNTERS_MAX];
	struct weft_latency latency;
	struct weft_requester_peer peer[WEFT_REQUESTER_PEERS];
};

/** Put every tag into the free queue. */
void weft_requester_tags_init(struct weft_requester *r);

/** The oldest tag of a queue, or NULL. */
static inline struct request_tag *
requester_oldest(struct weft_requester *r, enum tag_queue q)
{
	const uint16_t i = r->queue[q].head;

	return i == TAG_NONE ? NULL : &r->tag[i];
}

/** Move a tag to the end of queue @p to. Its entry in `since_ns` is the caller's to set. */
void weft_requester_tag_move(struct weft_requester *r, struct request_tag *t, enum tag_queue to);

/** Free a tag and the credit it holds; its next use has another number on the wire. */
void weft_requester_tag_release(struct weft_requester *r, struct request_tag *t);

/** Count an answer with @p tag for which no request is open. */
void weft_requester_missed(struct weft_requester *r, uint16_t tag);

/** The open request with @p tag, or NULL. */
static inline struct request_tag *
requester_open_tag(const struct weft_requester *r, uint16_t tag)
{
	struct request_tag *t = &r->tag[tag & (r->cfg.tags - 1)];

	return t->tag == tag && t->queue == TAG_OPEN ? t : NULL;
}

/** What @p c says of a request that is open. */
static inline void
requester_describe(const struct request_tag *t, enum weft_request_status status, uint64_t now_ns,
	struct weft_completion *c)
{
	c->cookie = t->cookie;
	c->latency_ns = now_ns - t->since_ns;
	c->data = NULL;
	c->len = t->len;
	c->kind = t->kind;
	c->status = (uint8_t)status;
}

/** It was answered, as @p c says. */
static inline void
requester_answered(struct weft_requester *r, struct request_tag *t, const struct weft_completion *c)
{
	r->n_open--;
	r->peer[t->dpid].answered++;
	weft_latency_add(&r->latency, c->latency_ns);
	weft_requester_tag_release(r, t);
}

#endif /* WEFT_REQUESTER_PRIV_H */
