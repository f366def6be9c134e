/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* State of a client. */
#ifndef XLATE_PRIV_H
#define XLATE_PRIV_H

#include "weft_pending.h"
#include "weft_atc_prefetcher.h"
#include "weft_ats_atc.h"
#include "weft_xlate.h"
#include "weft_ats_pri.h"
#include "weft_ats_wire.h"
#include "weft_base.h"

#define XLATE_NONE UINT16_MAX
#define XLATE_WRITES 4096 /* of unknown fate, a power of 2 */
#define XLATE_ASKS 32 /* page requests at a time */

enum xlate_state {
	XLATE_FREE,
	XLATE_LISTED, /* in one of the lists */
	XLATE_PARKED, /* for the answer to a Translation Request */
	XLATE_SENT /* or refused, and to be answered */
};

enum xlate_list {
	XLATE_READ, /* to be looked up: reads, writes */
	XLATE_WRITE,
	XLATE_LATER, /* as soon as there is room for a question: at the next poll */
	XLATE_PAGE, /* for a page */
	XLATE_LISTS
};

/* A request of the host, by the index of its tag. */
struct xlate_request {
	struct weft_msg msg; /* its address is virtual */
	uint64_t until_ns;
	uint16_t next; /* in its list */
	uint16_t ask; /* XLATE_PAGE */
	int16_t read; /* SENT: handle of the peer, or -1 */
	uint32_t write; /* SENT, has_write: number of the write */
	uint8_t state; /* enum xlate_state */
	bool has_write;
	bool is_denied; /* the agent will not give the page */
};

struct xlate_ends {
	uint16_t head, tail;
	uint32_t n;
};

/* A translated write until its fate is known. */
struct xlate_write {
	uint16_t tag;
	uint16_t dpid;
	bool is_lost; /* its session ended */
	bool is_done;
};

struct xlate_ask {
	uint64_t page;
	uint64_t until_ns;
	uint16_t group;
	uint8_t bits; /* enum weft_ats_page_bits */
	bool is_used;
	bool is_sent;
};

struct weft_xlate {
	struct weft_xlate_cfg cfg;
	struct weft_atc *cache;
	struct weft_ats_atc *peer;
	struct weft_pending *pending;
	struct weft_atc_prefetcher *prefetcher;
	struct xlate_request *request; /* cfg.tags */
	struct xlate_ends list[XLATE_LISTS];
	struct xlate_write write[XLATE_WRITES];
	uint32_t write_head, write_tail; /* wrap */
	struct xlate_ask ask[XLATE_ASKS];
	struct weft_ats_pri pri;
	uint16_t next_group;
	uint64_t isolated_until_ns; /* then ask again; 0: not isolated */
	bool is_on;
	bool writes_turn;
	uint64_t count[WEFT_XLATE_N_COUNTERS];
};

/* xlate.c */
void xlate_list_put(struct weft_xlate *c, enum xlate_list list, struct xlate_request *r);
struct xlate_request *xlate_list_take(struct weft_xlate *c, enum xlate_list list);
void xlate_retry(struct weft_xlate *c, struct xlate_request *r);

/* xlate_page.c */
void xlate_page_wait(struct weft_xlate *c, struct xlate_request *r, uint64_t now_ns);
void xlate_page_time(struct weft_xlate *c, uint64_t now_ns);
void xlate_page_reset(struct weft_xlate *c);
void xlate_page_on(struct weft_xlate *c);
size_t xlate_page_send(struct weft_xlate *c, uint8_t *buf);
enum weft_verdict xlate_page_receive(struct weft_xlate *c, const uint8_t *p, size_t len);

#endif /* XLATE_PRIV_H */
