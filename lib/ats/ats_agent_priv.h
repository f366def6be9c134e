/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* State of an agent. */
#ifndef ATS_AGENT_PRIV_H
#define ATS_AGENT_PRIV_H

#include "weft_ats_agent.h"
#include "weft_ats_pri.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"
#include "weft_base.h"

#define AGENT_WALKS 256
#define AGENT_PAGES 512 /* page requests that wait */
#define AGENT_REPLIES 64 /* answers to them that wait for the way out */
#define AGENT_OPS 16 /* lines of a move at a time */
#define AGENT_STAY_LOG2 10 /* ns */

/* Of a page. */
enum agent_page {
	AGENT_PRESENT = 1 << 0,
	AGENT_SECOND = 1 << 1, /* it is at map.alt_pa */
	AGENT_MOVING = 1 << 2 /* not in the table now */
};

enum agent_migration_state {
	AGENT_MIGRATION_FREE,
	AGENT_MIGRATION_ASKED, /* invalidation under way, or failed */
	AGENT_MIGRATION_FENCED, /* until_ns: old writes may still arrive */
	AGENT_MIGRATION_COPYING
};

/* The next or present step of a line's copy. */
enum agent_step { AGENT_IDLE, AGENT_READ, AGENT_WRITE, AGENT_WIPE };

struct agent_op {
	uint64_t not_before_ns;
	uint32_t line;
	uint8_t step; /* enum agent_step */
	bool is_begun;
	bool is_poison; /* what was read */
	uint8_t data[WEFT_ATS_AGENT_LINE];
};

struct agent_migration {
	uint64_t from, to;
	uint64_t until_ns;
	uint64_t begun_ns;
	uint32_t page; /* of its map */
	uint32_t lines, next_line, done;
	uint16_t map;
	uint8_t itag;
	uint8_t state; /* enum agent_migration_state */
	bool inv_timed_out; /* its client did not complete in time */
	struct agent_op op[AGENT_OPS];
};

struct agent_client {
	uint64_t fence_ns; /* nothing that an ended session sent arrives after it */
	bool is_up;
};

/* A question about a page that moves. */
struct agent_walk {
	int handle;
	struct weft_ats_walk walk;
};

/* A move that somebody asked for. */
enum agent_ask_state {
	AGENT_ASK_FREE,
	AGENT_ASK_WAITS, /* the page may not move yet */
	AGENT_ASK_MOVES,
	AGENT_ASK_DONE, /* these two: to be told */
	AGENT_ASK_LATE
};

struct agent_ask {
	uint64_t cookie;
	uint64_t until_ns;
	uint32_t page; /* of its map */
	uint16_t map;
	uint8_t state; /* enum agent_ask_state */
};

struct agent_reply {
	uint16_t to;
	uint8_t len;
	uint8_t packet[WEFT_ATS_HEADER_MAX];
};

struct weft_ats_agent {
	struct weft_ats_agent_cfg cfg;
	struct weft_ats_ta *ta;
	struct weft_ats_pages pages;
	struct agent_client *client; /* cfg.n_clients */
	uint32_t *first_page; /* of each map, then their sum */
	uint32_t *stays; /* of each page: it does not move before, in units of AGENT_STAY_LOG2 */
	uint8_t *page; /* enum agent_page */
	uint64_t migration_due_ns;
	bool is_on_hold; /* of themselves no pages move */
	uint64_t isolated; /* atomic: another thread takes it */
	uint32_t next_page; /* whose turn it is to move */
	uint8_t next_migration; /* whose lines go first */
	uint32_t n_held;
	uint32_t n_replies;
	struct agent_walk held[AGENT_WALKS];
	struct agent_reply reply[AGENT_REPLIES];
	struct weft_ats_page wanted[AGENT_PAGES];
	struct agent_migration migration[WEFT_ATS_AGENT_MIGRATIONS];
	uint32_t n_asks; /* that are not free */
	struct agent_ask ask[WEFT_ATS_AGENT_ASKS];
	uint64_t count[WEFT_ATS_AGENT_N_COUNTERS];
};

/* ats_agent_table.c */

/* Map of a client's address, or -1; @page receives its page there. */
int agent_find(const struct weft_ats_agent *a, unsigned int client, uint64_t va, uint32_t *page);
uint8_t *agent_page_at(const struct weft_ats_agent *a, unsigned int map, uint32_t page);
/* Answer what was asked, and what waited for moves. */
void agent_walks(struct weft_ats_agent *a);
void agent_walks_again(struct weft_ats_agent *a);
void agent_walks_drop(struct weft_ats_agent *a, unsigned int client);
/* Give pages that were asked for. */
void agent_pages(struct weft_ats_agent *a);
void agent_reply(struct weft_ats_agent *a, uint16_t to, const uint8_t *packet, size_t len);

/* ats_agent_migrate.c */
void agent_migrate_poll(struct weft_ats_agent *a, uint64_t now_ns);
/* Whether a page of a map may move now. */
bool agent_may_begin(
	const struct weft_ats_agent *a, unsigned int map, uint32_t page, uint64_t now_ns);

/* ats_agent_ask.c */

/* The next whose page may move now, or NULL; those that have waited too long are late. */
struct agent_ask *agent_ask_next(struct weft_ats_agent *a, uint64_t now_ns);
/* It has begun. */
void agent_ask_begun(struct weft_ats_agent *a, struct agent_ask *q, uint64_t now_ns);
/* The move of a page has ended, or its client does not let go of it. */
void agent_ask_ended(struct weft_ats_agent *a, const struct agent_migration *v, bool is_done);

#endif /* ATS_AGENT_PRIV_H */
