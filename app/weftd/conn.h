/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The links of a node, joined to its pipelines and ports. */
#ifndef CONN_H
#define CONN_H

#include "daemon.h"

/* What the daemon has of a link of a node, of the same number: its frames, and what it spoke of. */
struct conn {
	struct node *node;
	struct weft_node_link *link;
	struct weft_conn_dir *rx;
	struct weft_conn_dir *tx;
	struct conn_ide *ide; /* NULL: off */
	/* control thread: memory that was replaced, or poisoned, that it has spoken of */
	uint64_t replaced_told, poisoned_told;
	uint64_t ide_told; /* control thread: failures that it has spoken of */
	uint64_t others_told; /* control thread: sessions ended for flits of others, likewise */
	/* control thread: frames that prove nothing, and challenges, that it has spoken of */
	uint64_t forged_told, doubts_told;
	uint64_t doubt_ns; /* since when there are more challenges; 0: there are not */
	uint64_t doubt_begun; /* the session that they are about */
	struct replay_watch { /* control thread: frames that are none of the session's */
		uint64_t begun; /* the session it is about */
		uint64_t from_ns; /* since when they are counted */
		uint64_t old, odd, acks; /* what the counters said then */
		uint64_t told_ns, told_old,
			told_odd; /* when it spoke of them last; from_ns: not yet */
	} replay;
	struct session_watch { /* control thread: what it has seen of the session and spoken of */
		uint64_t begun;
		uint64_t since_ns; /* when it saw the present state first */
		uint64_t lived_ns; /* when it saw a session last; 0: there never was one */
		double since; /* the same in seconds since 1970 */
		uint64_t stuck_ns; /* when it saw the retry layer stuck first; 0: it is not */
		uint8_t state; /* enum weft_session_state */
		bool told_stall, told_down, told_stuck;
	} watch;
};

/** Name of a peer's node. */
static inline const char *
conn_peer_name(const struct conn *c)
{
	return weft_node_link_name(c->link);
}

/* --- conn.c: the links of a node, joined to its pipelines --- */

/** The end of a link is made (struct weft_node_world). */
int conn_cfg(void *node, struct weft_node_link *l, struct weft_link_cfg *c);

/** Make n->node with its links, and what the daemon has of each. 0, or -errno. */
int conns_init(struct node *n, char *err, size_t err_len);
void conns_fini(struct node *n);

/** Whether a goodbye has not left the node yet, or is still to be asked about. */
bool conns_are_parting(const struct node *n);

/**
 * Control thread: go on to the connections of the next turn. What it looks at is taken from the
 * lcores' caches, so of many it looks at some hundred at a time.
 */
void conns_turn(struct daemon *d);

/** All of them are looked at next. */
void conns_turn_all(struct daemon *d);

/** The next connection of a walk, or NULL. Walks of a turn begin as copies of d->walk. */
struct conn *conns_next(const struct daemon *d, struct conn_walk *w);

/* --- conn_frames.c: frames of connections --- */

/** Both directions in the connection table. 0, or -errno. */
int conn_directions(struct conn *c);
void conn_directions_fini(struct conn *c);

/** The receive pipeline's sink of every node that has peers: control frames. */
void conns_sink(void *arg, struct rte_mbuf **pkt, uint16_t n);

/** Let everything of all peers leave that is due, while ports take it. Returns frames sent. */
unsigned int conns_flush(struct node *n);

/* --- link.c: cxl mode, where the ports are the retry domains --- */

/** The connection table's names of both directions of a port: source addresses. */
void link_mac(const struct weft_topo *t, unsigned int port, uint8_t mac[6]);

/** In cxl mode the address is who it comes from: the one of the pipeline is any port's. */
void link_put_port(struct rte_mbuf *m, uint16_t port);

/** The transmit pipeline's sink. */
void link_sink(void *arg, struct rte_mbuf **pkt, uint16_t n);

/** Say at the start what of the topology does not go well with cxl mode, a line each. */
void links_warn(const struct daemon *d);

#endif /* CONN_H */
