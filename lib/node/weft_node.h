/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A node of a fabric, above its ends: what it makes of sessions, messages and packets, and what it
 * sends by itself. Whoever runs it (the daemon, the simulator, a test) is its world: that has the
 * frames, ports, buffers and clocks, and does for it what struct weft_node_world says.
 *
 * A world sets the time (weft_node_time()), gives what came to the ends of the links, polls the node, and
 * then lets leave what the ends of those links have whose due_ns has come. Pure; a node and its links
 * belong to one thread, but for what is marked.
 */
#ifndef WEFT_NODE_H
#define WEFT_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft_control.h"
#include "weft_end.h"
#include "weft_gfam_access.h"
#include "weft_ingress.h"
#include "weft_load.h"
#include "weft_msg.h"
#include "weft_request_clock.h"
#include "weft_tables.h"
#include "weft_topo.h"
#include "weft_verdict.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_NODE_CREDITS 256 /**< messages of each kind that an end has room for */
#define WEFT_NODE_REFUSAL_ROOM 128

struct weft_node;
struct weft_node_link;

/** What its world does for a node; @p world is the cfg.world_arg of the node. */
struct weft_node_world {
	/** Fresh random bits; 0 if there are none. */
	uint64_t (*random)(void *world);
	/** Zeroed memory of an object, on a cache line, or NULL. */
	void *(*alloc)(void *world, size_t len);
	void (*free)(void *world, void *mem); /**< NULL is allowed */
	/** Add what the end of a link that is made needs of IDE. 0, or -errno. */
	int (*protect)(void *world, struct weft_node_link *l, struct weft_end_cfg *c);
};

/** What a node is made of. What is behind the pointers must outlive it. */
struct weft_node_cfg {
	const struct weft_node_world *world;
	void *world_arg;
	const struct weft_topo *topo; /**< that it begins with */
	const struct weft_load *load;
	uint16_t index; /**< in the topology */
	const struct weft_tables_slot
		*tables; /**< edge 0 is a host's or GFD's, DRT 0 everybody's */
	const struct weft_ingress
		*ingress; /**< by port number, as the next one: who may send in by it */
	struct weft_ingress_drops *ingress_drops;
};

/** One kind of node. */
struct weft_node_kind {
	bool takes_requests; /**< of CXL.mem */
	bool takes_answers;
	weft_end_io_fn packet; /**< a CXL.io packet came by the link @p arg */
	/** Others knew other memory here: poison all of it, until it is written. */
	void (*poison)(struct weft_node *n);
};

enum weft_node_link_state { WEFT_NODE_DOWN, WEFT_NODE_UP, WEFT_NODE_REFUSED };

/** rxl: requests that wait for a credit, oldest first: as many as a host may have open at one GFD. */
struct weft_node_waiting {
	uint32_t head;
	uint32_t n;
	struct weft_msg msg[2 * WEFT_NODE_CREDITS];
};

/**
 * What a retry domain of a node has at its other end: rxl, a connection of a host, device or GFD; cxl, a
 * link of any node, and then links stand in the order of the ports.
 */
struct weft_node_link {
	struct weft_node *node;
	struct weft_end *end;
	uint64_t due_ns; /**< when the end has something to do; 0: now */
	uint16_t pid;
	uint16_t topo_node;
	uint16_t port; /**< its frames leave by this one */
	uint8_t state; /**< enum weft_node_link_state; any readers */
	uint8_t max_flits; /**< of a frame to it, by the path */
	bool is_initiator; /**< of the session */
	bool is_host; /**< nobody but it can send requests here: by its own PID, or not at all */
	bool is_switch; /**< packets of others come from here */
	bool is_needed; /**< the node sends it requests, or by it; others come and go */
	bool is_stalled; /* as the clock of requests knows it */
	uint64_t begun; /* sessions of the end that the node knows of */
	uint64_t up_ns; /* cxl switch: when it was last in a session */
	struct weft_node_memory {
		uint64_t generation; /**< 0: none met yet */
		uint64_t before; /**< the one that it took the place of */
		uint64_t replaced; /**< times; written last; any readers */
		uint64_t forgotten, transfers; /**< lines and transfers that this cost, in all */
		/* And of this node's, as the other end knows it for those behind it: */
		uint64_t asked; /* sessions begun whose word on it was heeded */
		uint64_t poisoned; /**< times that it knew another; any readers */
	} memory; /**< of the other end, as it says */
	struct weft_node_waiting *waiting; /* host, rxl */
};

/** Text for a refusal; NULL: none, or it was told. Any readers. */
struct weft_node_refusal {
	const char *text;
	char room[WEFT_NODE_REFUSAL_ROOM];
};

struct weft_node {
	struct weft_node_cfg cfg;
	const struct weft_node_kind *kind;
	const struct weft_topo_node *topo;
	const struct weft_load_node *load;
	struct weft_node_link *link;
	uint16_t n_links;
	uint16_t n_stalled; /* links */
	uint64_t now_ns; /**< of this poll */
	uint64_t ends_ns; /**< clock of the ends: it does not run while the node is not polled */
	uint64_t generation; /**< of the memory that the node offers; 0: none */
	struct weft_request_clock *clock; /* host, device: what makes none of its requests older */
	struct weft_node_refusal refused; /**< what nobody agreed to before there was a session */
	struct weft_node_refusal
		refused_again; /**< the same where there was one; told, it is NULL again */
	uint64_t drops[WEFT_VERDICT_COUNT];
	uint64_t messages[WEFT_MSG_KINDS];
};

static inline bool
weft_node_is_cxl(const struct weft_node *n)
{
	return n->cfg.topo->mode == WEFT_MODE_CXL;
}

/** Name of the node at the other end. */
static inline const char *
weft_node_link_name(const struct weft_node_link *l)
{
	return l->node->cfg.topo->node[l->topo_node].name;
}

/** Whether a host asks anything of GFDs: of its own, or to move pages. */
static inline bool
weft_node_asks_gfds(const struct weft_topo_node *n, const struct weft_load_node *l)
{
	return l->has_mem || l->n_transfers != 0 || n->n_translations != 0;
}

/** Make what @p n has of @p cfg, but its links. 0, or -errno with a line. */
int weft_node_init(struct weft_node *n, const struct weft_node_kind *kind,
	const struct weft_node_cfg *cfg, char *err, size_t err_len);
void weft_node_fini(struct weft_node *n);

/** Set the clocks for this poll. What the node did not see while it was paused is not others' silence. */
void weft_node_time(struct weft_node *n, uint64_t now_ns);

/** Drop a message or CXL.io packet that names another sender than may come by @p in. Returns true. */
bool weft_node_refuse(const struct weft_node_link *in, uint16_t spid);

/* --- links --- */

/**
 * rxl: whether a node has a connection to another: a host that sends to every GFD, and whoever sends
 * by UIO to whom it may ask. @p first: this side is the initiator of the session.
 */
bool weft_node_is_joined(const struct weft_topo *t, const struct weft_load *load, unsigned int node,
	unsigned int other, bool *first);

/** Bytes that a link takes of the world's memory. */
size_t weft_node_link_memory(const struct weft_topo *t);

/** Make the ends: rxl, of every node that it is joined to; cxl, of every port. 0, or -errno with a line. */
int weft_node_links_init(struct weft_node *n, char *err, size_t err_len);

/** rxl: the link with this PID at the other end, or NULL. */
struct weft_node_link *weft_node_link_find(struct weft_node *n, uint16_t pid);

/** Whether the session of every link that is needed is up. */
bool weft_node_is_up(const struct weft_node *n);

/** Before messages of a frame come by the link @p l. */
void weft_node_arriving(void *l);

/** A control frame came for the end of @p l: @p len bytes of records behind its header. */
void weft_node_control(
	struct weft_node_link *l, const struct weft_wire_hdr *h, const uint8_t *rec, size_t len);

/** Have goodbye said. Its frames have to come and go for a while: weft_session_is_parting(). */
void weft_node_close(struct weft_node *n);

/** What became of the session since the last call: its events, in this order, and the new state. */
bool weft_node_link_ended(struct weft_node_link *l);
bool weft_node_link_began(struct weft_node_link *l);

/** Let a topology's `retry` overrule @p c, which is valid and stays so. What it does not give stays. */
void weft_node_retry(struct weft_llr_cfg *c, const struct weft_topo_retry *r);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_NODE_H */
