/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Connections: one direction each, as receiver or as sender. In rxl mode a direction is (SPID,
 * DPID, VC, session), in cxl mode the source MAC address of a link (encapsulation.md section 4).
 * The table is written by one thread and may be searched by others meanwhile; the state inside a
 * connection belongs to one stage each, and so to one lcore.
 */
#ifndef WEFT_CONN_H
#define WEFT_CONN_H

#include <stdalign.h>

#include "weft_base.h"
#include "weft_link.h"
#include "weft_fsn.h"
#include "weft_ide.h"
#include "weft_isn.h"
#include "weft_verdict.h"
#include "weft_wire.h"

WEFT_BEGIN_DECLS

#define WEFT_CONNS_MAX 4096
#define WEFT_CONNS_WAYS 8
#define WEFT_CONNS_NO_WAY 0xFF
#define WEFT_CONN_HELD (WEFT_IDE_HELD_MAX + 1) /* frames whose MAC is pending, and the next */

/** What names a direction. All bytes take part in the comparison: zero what a mode does not use. */
struct weft_conn_key {
	uint8_t mac[6]; /* cxl: source MAC; rxl: 0 */
	uint8_t mode; /* enum weft_mode */
	uint8_t vc; /* cxl: enum weft_form */
	uint16_t spid; /* cxl: WEFT_PID_NONE */
	uint16_t dpid;
	uint32_t session;
};

static_assert(sizeof(struct weft_conn_key) == 16, "no padding: keys are compared as bytes");

struct weft_keys;

/** How a direction is protected. */
struct weft_conn_cfg {
	enum weft_isn_form isn;
	enum weft_crc_order order;
	uint16_t first; /* number of the first flit */
	enum weft_ide_mode ide;
	const uint8_t
		*ide_key; /* WEFT_IDE_KEY_LEN bytes, read during the call; NULL: no key, so with
				   ide on every flit is refused */
	const struct weft_keys *later_keys; /* holds its keys behind the first, each taken
					       at an IDE.Start; must outlive it; NULL: none */
	bool pcrc;
	bool poison; /* Poison in H-slots is authenticated */
	bool stop; /* IDE.Stop is made and obeyed */
};

/** One direction. */
struct weft_conn_dir {
	/* Constant from weft_conns_add() to weft_conns_remove(). */
	struct weft_conn_key key;
	uint8_t ide; /* enum weft_ide_mode */
	uint8_t way; /* of its sender (weft_conns_deal()), or WEFT_CONNS_NO_WAY */
	uint16_t index;
	/* NULL without a key; the IDE stage's; with an end, of the session */
	struct weft_ide_stream *stream;
	void *user; /* the application's; it may write it */
	/*
	 * The end that this direction belongs to, or NULL; set by the application before frames
	 * flow, and its state is that of the node's first lcore, but for the receiving half of its
	 * retry layer where that is apart. Its flits are numbered by its retry layer
	 * (weft_frame.first), not by isn and fsn below.
	 */
	struct weft_link *end;
	/* deliver, without an end: what is to be unpacked with; NULL, both: frames go by. */
	struct weft_unpacker *unpack;
	struct weft_io_unpacker *unpack_io;

	/* link_rx or crc_protect. */
	alignas(WEFT_CACHE_LINE) struct weft_isn isn;
	struct weft_fsn fsn;
	uint16_t in_port; /* of the last frame; with an end */
	bool is_stuck; /* the retry layer has flits that no buffer was there for */

	/* ide_open: frames with flits whose MAC is pending, oldest first. */
	alignas(WEFT_CACHE_LINE) struct rte_mbuf *held[WEFT_CONN_HELD];
	uint8_t n_held;
	bool is_clear; /* behind IDE.Stop */
	bool hole_behind; /* a frame without a flit for IDE overtook them, and said so */
	uint32_t n_streams; /* with an end: which one `stream` is, as weft_link_rx_ide() says */
	uint16_t n_keys; /* that the stream was given */
	const struct weft_ide_counts *counts; /* of the stream */
	const struct weft_keys *later_keys;
};

struct weft_conns;

/**
 * Make a table.
 *
 * @param name    what people may see of it in DPDK's tools; need not be unique
 * @param max     1..WEFT_CONNS_MAX
 * @param ide     NULL if no connection will have a key; used for the table's life
 * @param socket  NUMA node, or SOCKET_ID_ANY
 * @return the table, or NULL with rte_errno: EINVAL, ENOMEM
 */
struct weft_conns *weft_conns_create(
	const char *name, unsigned int max, struct weft_ide_lib *ide, int socket);

/**
 * Remove every connection, wipe keys, free. No stage may use the table any more. NULL is allowed.
 */
void weft_conns_free(struct weft_conns *t);

/**
 * Add a direction. The writer's thread only.
 *
 * @return the connection, or NULL with rte_errno: EEXIST; ENOSPC, the table is full; EINVAL, a
 *         value of @p cfg is out of range
 */
struct weft_conn_dir *weft_conns_add(
	struct weft_conns *t, const struct weft_conn_key *key, const struct weft_conn_cfg *cfg);

/** Remove a direction. No frame of it may be in any stage. The writer's thread only. */
void weft_conns_remove(struct weft_conns *t, struct weft_conn_dir *c);

/** Find a direction; NULL if there is none. Any thread. */
struct weft_conn_dir *weft_conns_find(const struct weft_conns *t, const struct weft_conn_key *key);

/**
 * Why a key was not found: WEFT_DROP_SESSION if a direction differs in the session only, else
 * WEFT_DROP_NO_CONN. Slow: looks at every direction. Any thread.
 */
enum weft_verdict weft_conns_why_not(const struct weft_conns *t, const struct weft_conn_key *key);

/**
 * Give a stream its next key, to be taken at an IDE.Start, if there is one left in later_keys. The
 * IDE stage's thread.
 */
void weft_conns_next_key(struct weft_conns *t, struct weft_conn_dir *c);

/**
 * Deal the connections that are and come to @p ways ways, 1 or more: those of a sender to the same
 * one, senders in turn as they come. Those of cxl mode have way 0, as all without this. Before
 * frames flow.
 *
 * @param own  PID of the node, or WEFT_PID_ANY: what it sends has no way, as its ends are those of
 *             the directions that it receives
 */
void weft_conns_deal(struct weft_conns *t, unsigned int ways, uint16_t own);

/** The way of each SPID, WEFT_PIDS of them, 0 for one that nobody has yet. Any thread. */
const uint8_t *weft_conns_ways(const struct weft_conns *t);

/** Note whether a connection is stuck. link_rx's thread, that of its way. */
void weft_conns_stuck(struct weft_conns *t, struct weft_conn_dir *c, bool is_stuck);

/** Stages that go round the connections, each by itself. */
enum weft_conns_turn { WEFT_TURN_LINK_RX, WEFT_TURN_IDE_OPEN, WEFT_TURNS };

/**
 * The next connection of a way in turn, for ever; NULL: there is none. The stage's thread, that of
 * the way.
 */
struct weft_conn_dir *weft_conns_turn(
	struct weft_conns *t, enum weft_conns_turn whose, unsigned int way);

/**
 * Ring the bell of a connection: the half of its link on this lcore has said something to the
 * other. Any thread.
 */
void weft_conns_ring(struct weft_conns *t, const struct weft_conn_dir *c);

/** Call @p fn once for each connection whose bell was rung. One thread. @return calls */
unsigned int weft_conns_answer(
	struct weft_conns *t, void (*fn)(void *arg, struct weft_conn_dir *c), void *arg);

/** Connections of a way that are. The thread of its link_rx. */
unsigned int weft_conns_n_stuck(const struct weft_conns *t, unsigned int way);

/**
 * Directions one by one.
 *
 * @param pos  0 to start; moves on
 * @return NULL at the end
 */
struct weft_conn_dir *weft_conns_next(const struct weft_conns *t, unsigned int *pos);

WEFT_END_DECLS

#endif /* WEFT_CONN_H */
