/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tags of a host. A tag is in one of three queues: free, open or in quarantine, each a doubly
 * linked list in the order of entry. One timeout serves all requests, so the open queue is in order
 * of deadline as well, and the oldest of each is always at the head.
 */
#ifndef WEFT_REQUESTER_PRIV_H
#define WEFT_REQUESTER_PRIV_H

#include "weft_base.h"
#include "weft_requester.h"

#define TAG_NONE 0xFFFF

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
	uint32_t stood; /* open: by cfg.clock, when it was sent */
};

static_assert(sizeof(struct request_tag) == 32, "two tags a cache line");

struct tag_ends {
	uint16_t head, tail;
};

/** All of it is written by the host's thread only. */
struct weft_requester {
	struct weft_requester_cfg cfg;
	struct request_tag *tag; /* cfg.tags of them, behind this struct */
	struct tag_ends queue[TAG_QUEUES];
	uint32_t n_open;
	uint64_t count[WEFT_MEM_N_COUNTERS];
	struct weft_latency latency;
	struct weft_requester_peer peer[WEFT_REQUESTER_PEERS];
};

/** Put every tag into the free queue. */
void weft_requester_tags_init(struct weft_requester *h);

/** The oldest tag of a queue, or NULL. */
struct request_tag *weft_requester_tag_oldest(struct weft_requester *h, enum tag_queue q);

/** Move a tag to the end of queue @p to. Its entry in `since_ns` is the caller's to set. */
void weft_requester_tag_move(struct weft_requester *h, struct request_tag *t, enum tag_queue to);

/** Free a tag and the credit it holds; its next use has another number on the wire. */
void weft_requester_tag_release(struct weft_requester *h, struct request_tag *t);

#endif /* WEFT_REQUESTER_PRIV_H */
