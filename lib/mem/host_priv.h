/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Tags of a host. A tag is in one of three queues: free, open or in quarantine, each a doubly
 * linked list in the order of entry. One timeout serves all requests, so the open queue is in order
 * of deadline as well, and the oldest of each is always at the head.
 */
#ifndef WEFT_HOST_PRIV_H
#define WEFT_HOST_PRIV_H

#include "weft_base.h"
#include "weft_host.h"

#define HOST_NONE 0xFFFF

enum host_queue { HOST_FREE, HOST_OPEN, HOST_QUARANTINE, HOST_QUEUES };

/** One tag. All but `tag` and the links is valid while it is open or in quarantine. */
struct host_tag {
	uint64_t cookie;
	uint64_t since_ns; /* open: sent; quarantine: lost */
	uint16_t tag; /* on the wire; the low bits are this entry's index */
	uint16_t dpid;
	uint16_t prev, next; /* in its queue, or HOST_NONE */
	uint8_t queue; /* enum host_queue */
	uint8_t kind; /* enum weft_host_kind */
	uint32_t stood; /* open: by cfg.clock, when it was sent */
};

static_assert(sizeof(struct host_tag) == 32, "two tags a cache line");

struct host_ends {
	uint16_t head, tail;
};

/** All of it is written by the host's thread only. */
struct weft_host {
	struct weft_host_cfg cfg;
	struct host_tag *tag; /* cfg.tags of them, behind this struct */
	struct host_ends queue[HOST_QUEUES];
	uint32_t n_open;
	uint64_t count[WEFT_HOST_N_COUNTERS];
	struct weft_latency latency;
	struct weft_host_peer peer[WEFT_HOST_PEERS];
};

/** Put every tag into the free queue. */
void weft_host_tags_init(struct weft_host *h);

/** The oldest tag of a queue, or NULL. */
struct host_tag *weft_host_tag_oldest(struct weft_host *h, enum host_queue q);

/** Move a tag to the end of queue @p to. Its entry in `since_ns` is the caller's to set. */
void weft_host_tag_move(struct weft_host *h, struct host_tag *t, enum host_queue to);

/** Free a tag and the credit it holds; its next use has another number on the wire. */
void weft_host_tag_release(struct weft_host *h, struct host_tag *t);

#endif /* WEFT_HOST_PRIV_H */
