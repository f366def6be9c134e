/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* State of a client. */
#ifndef ATS_CLIENT_PRIV_H
#define ATS_CLIENT_PRIV_H

#include "weft_pending.h"
#include "weft_atc_prefetcher.h"
#include "weft_ats_atc.h"
#include "weft_ats_client.h"
#include "weft_ats_pri.h"
#include "weft_ats_wire.h"
#include "weft_base.h"

#define CLIENT_NONE UINT16_MAX
#define CLIENT_WRITES 4096 /* of unknown fate, a power of 2 */
#define CLIENT_ASKS 32 /* page requests at a time */

enum client_state {
	CLIENT_FREE,
	CLIENT_LISTED, /* in one of the lists */
	CLIENT_PARKED, /* for the answer to a Translation Request */
	CLIENT_SENT /* or refused, and to be answered */
};

enum client_list {
	CLIENT_READ, /* to be looked up: reads, writes */
	CLIENT_WRITE,
	CLIENT_LATER, /* as soon as there is room for a question: at the next poll */
	CLIENT_PAGE, /* for a page */
	CLIENT_LISTS
};

/* A request of the host, by the index of its tag. */
struct client_request {
	struct weft_msg msg; /* its address is virtual */
	uint64_t until_ns;
	uint16_t next; /* in its list */
	uint16_t ask; /* CLIENT_PAGE */
	int16_t read; /* SENT: handle of the peer, or -1 */
	uint32_t write; /* SENT, has_write: number of the write */
	uint8_t state; /* enum client_state */
	bool has_write;
	bool is_denied; /* the agent will not give the page */
};

struct client_ends {
	uint16_t head, tail;
	uint32_t n;
};

/* A translated write until its fate is known. */
struct client_write {
	uint16_t tag;
	uint16_t dpid;
	bool is_lost; /* its session ended */
	bool is_done;
};

struct client_ask {
	uint64_t page;
	uint64_t until_ns;
	uint16_t group;
	uint8_t bits; /* enum weft_ats_page_bits */
	bool is_used;
	bool is_sent;
};

struct weft_ats_client {
	struct weft_ats_client_cfg cfg;
	struct weft_atc *cache;
	struct weft_ats_atc *peer;
	struct weft_pending *pending;
	struct weft_atc_prefetcher *prefetcher;
	struct client_request *request; /* cfg.tags */
	struct client_ends list[CLIENT_LISTS];
	struct client_write write[CLIENT_WRITES];
	uint32_t write_head, write_tail; /* wrap */
	struct client_ask ask[CLIENT_ASKS];
	struct weft_ats_pri pri;
	uint16_t next_group;
	uint64_t isolated_until_ns; /* then ask again; 0: not isolated */
	bool is_on;
	bool writes_turn;
	uint64_t count[WEFT_ATS_CLIENT_N_COUNTERS];
};

/* ats_client.c */
void client_list_put(struct weft_ats_client *c, enum client_list list, struct client_request *r);
struct client_request *client_list_take(struct weft_ats_client *c, enum client_list list);
void client_retry(struct weft_ats_client *c, struct client_request *r);

/* ats_client_page.c */
void client_page_wait(struct weft_ats_client *c, struct client_request *r, uint64_t now_ns);
void client_page_time(struct weft_ats_client *c, uint64_t now_ns);
void client_page_reset(struct weft_ats_client *c);
void client_page_on(struct weft_ats_client *c);
size_t client_page_send(struct weft_ats_client *c, uint8_t *buf);
enum weft_verdict client_page_receive(struct weft_ats_client *c, const uint8_t *p, size_t len);

#endif /* ATS_CLIENT_PRIV_H */
