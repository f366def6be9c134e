/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* State of a translation unit. */
#ifndef XLATE_PRIV_H
#define XLATE_PRIV_H

#include "ats_priv.h"
#include "weft_atc_prefetcher.h"
#include "weft_ats_atc.h"
#include "weft_ats_pri.h"
#include "weft_ats_wire.h"
#include "weft_base.h"
#include "weft_xlate.h"

#define XLATE_NONE UINT16_MAX
#define XLATE_SLOTS 32 /* Translation Requests at a time */
#define XLATE_ASKS 32 /* Page Requests at a time */
#define XLATE_WRITES 4096 /* of unknown fate, a power of 2 */
#define XLATE_TC 0

/* Where something waits: a queue for each question, and three more. */
enum xlate_queue {
	XLATE_TRANSLATION,
	XLATE_PAGE = XLATE_TRANSLATION + XLATE_SLOTS,
	XLATE_LATER = XLATE_PAGE + XLATE_ASKS, /* until there is room for a question */
	XLATE_READ, /* to be looked up: messages by kind, all else here */
	XLATE_WRITE,
	XLATE_QUEUES
};

struct xlate_entry {
	struct weft_xlate_item item;
	uint32_t epoch; /* of item.known */
	uint16_t next; /* in its queue, or of the free ones */
	bool is_behind; /* another of its context: it asked for nothing itself */
};

struct xlate_ends {
	uint16_t head, tail; /* tail is valid if head is */
};

struct xlate_context {
	uint16_t used; /* places */
	uint16_t at; /* ordered: the queue where the latest is, or XLATE_NONE */
};

struct xlate_ask {
	uint64_t page;
	uint64_t until_ns;
	uint16_t ctx;
	uint16_t group;
	uint8_t bits; /* enum weft_ats_page_bits */
	bool is_used;
	bool is_sent;
};

enum xlate_request_state {
	XLATE_REQUEST_FREE,
	XLATE_REQUEST_WAITS, /* in a place */
	XLATE_REQUEST_OUT, /* given to the caller */
	XLATE_REQUEST_SENT
};

/* A message of the host, by the index of its tag. */
struct xlate_request {
	struct weft_msg msg; /* its address is virtual */
	uint64_t until_ns;
	int16_t read; /* SENT: handle of the peer, or -1 */
	uint32_t write; /* SENT, has_write: number of the write */
	uint8_t state; /* enum xlate_request_state */
	bool has_write;
};

/* A translated write until its fate is known. */
struct xlate_write {
	uint16_t tag;
	uint16_t dpid;
	bool is_lost; /* its session ended */
	bool is_done;
};

struct weft_xlate {
	struct weft_xlate_cfg cfg;
	struct weft_atc *cache;
	struct weft_ats_atc *peer;
	struct weft_atc_prefetcher *prefetcher;
	struct xlate_entry *entry; /* cfg.places */
	struct xlate_context *context; /* cfg.contexts */
	struct xlate_ends queue[XLATE_QUEUES];
	uint16_t free, used, ready, most;
	uint32_t epoch; /* moves on when translations are taken away */
	struct xlate_ask ask[XLATE_ASKS];
	struct weft_ats_pri pri;
	uint16_t next_group;
	uint64_t isolated_until_ns; /* then ask again; 0: not isolated */
	bool is_on;
	/* messages */
	bool writes_turn;
	uint32_t write_head, write_tail; /* wrap */
	struct xlate_request *request; /* cfg.tags */
	struct xlate_write *write; /* XLATE_WRITES, with tags */
	uint64_t count[WEFT_XLATE_N_COUNTERS];
};

/* xlate_wait.c: an entry, and where it waits */

void xlate_wait_init(struct weft_xlate *x);

/* What waits for a Translation Request goes on: it ended as @p d says. */
void xlate_release(
	struct weft_xlate *x, uint16_t queue, const struct weft_ats_done *d, uint64_t now_ns);

/* All of a queue is to be taken, by @p why; a page is not given only to those that asked for it. */
void xlate_release_why(struct weft_xlate *x, uint16_t queue, enum weft_xlate_why why);

/* Put something into a queue. False: no place for it. */
bool xlate_put(struct weft_xlate *x, uint16_t queue, const struct weft_xlate_item *item);

/* The first of a queue; its place is free then. */
bool xlate_pop(struct weft_xlate *x, uint16_t queue, struct weft_xlate_item *item);

static inline bool
xlate_is_empty(const struct weft_xlate *x, uint16_t queue)
{
	return x->queue[queue].head == XLATE_NONE;
}

/* xlate_page.c */

/* The queue to wait in for a page: of its Page Request, or XLATE_LATER. */
uint16_t xlate_page_queue(
	struct weft_xlate *x, const struct weft_xlate_item *item, uint64_t now_ns);
void xlate_page_time(struct weft_xlate *x, uint64_t now_ns);
void xlate_page_reset(struct weft_xlate *x);
void xlate_page_on(struct weft_xlate *x);
size_t xlate_page_send(struct weft_xlate *x, uint8_t *buf);
enum weft_verdict xlate_page_receive(struct weft_xlate *x, const uint8_t *p, size_t len);

#endif /* XLATE_PRIV_H */
