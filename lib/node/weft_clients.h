/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Operations of programs at a host (attach.md sections 4, 7): a service of the node that takes them
 * from the rings of its clients (weft_attach_server.h), makes requests of each (of a line by
 * CXL.mem, of up to four by UIO), and completes them. Who attaches and what it may reach, the world
 * decides.
 *
 * Of two threads: the node's, and one of control, which makes, gives and takes back clients and
 * regions. What control frees, the node does not use any more: regions after weft_node_region_is_
 * used() was false behind a quiescent point of the node, clients after weft_node_client_is_gone().
 * Pure; memory is the world's, whose alloc() and free() must then allow for both threads.
 */
#ifndef WEFT_CLIENTS_H
#define WEFT_CLIENTS_H

#include "weft_attach.h"
#include "weft_base.h"
#include "weft_node.h"
#include "weft_pbr.h"
#include "weft_topo.h"

WEFT_BEGIN_DECLS

#define WEFT_NODE_CLIENTS 1024 /**< of a node, at a time */
#define WEFT_NODE_SHARE_MAX 100

struct weft_node_client;

/** A piece of the fabric's memory that a client has open. */
struct weft_node_region {
	uint64_t base; /**< fabric address; any alignment */
	uint64_t size; /**< bytes, 1 or more */
	uint32_t rights; /**< bits of enum weft_attach_right; control may change them */
	/* the node's; any readers */
	uint32_t n_ops[2]; /* reads, writes */
	bool is_stale; /* the memory of a target was replaced; control's as well */
	uint64_t target[WEFT_PIDS / 64]; /**< a bit a PID: whose memory it is */
};

struct weft_node_client_cfg {
	void *block; /**< zeros, as weft_attach_server_init() wants it; outlives the client */
	uint32_t entries;
	uint64_t data_len;
	uint32_t share; /**< its weight among others, WEFT_NODE_SHARE_MAX at most; 0 is 1 */
	void (*wake)(void *arg); /**< the client sleeps; the node's thread calls it */
	void *wake_arg;
};

/** Row order of weft_clients_counters. */
enum weft_clients_counter {
#define WEFT_COUNTER(id, name, unit, help) WEFT_CLIENTS_N_##id,
#include "weft_clients_counters.def"
#undef WEFT_COUNTER
	WEFT_CLIENTS_N_COUNTERS
};

extern const struct weft_counter weft_clients_counters[];

/** Whether a node takes clients: load.client_tags is not 0, and it translates nothing. */
bool weft_node_takes_clients(const struct weft_topo_node *t, const struct weft_load_node *l);

/** Whether clients of a node may read and write by UIO: it has CXL.io. */
bool weft_node_clients_have_uio(const struct weft_node *n);

/** Whether clients of a node may have pages moved: it is an agent. */
bool weft_node_clients_can_move(const struct weft_node *n);

/**
 * Make a client and have the node take its operations. Control.
 *
 * @param c  receives it, until weft_node_client_free()
 * @return 0; -EINVAL: the block; -EAGAIN: WEFT_NODE_CLIENTS are there; -ENOMEM
 */
int weft_node_client_add(
	struct weft_node *n, const struct weft_node_client_cfg *cfg, struct weft_node_client **c);

/** Have no more of its operations begin. What is open ends and is forgotten. Control. */
void weft_node_client_leave(struct weft_node_client *c);

/** Whether nothing of it is open any more, after weft_node_client_leave(). Control. */
bool weft_node_client_is_gone(const struct weft_node_client *c);

/** Free one that is gone, or whose node is not polled any more. Control. */
void weft_node_client_free(struct weft_node *n, struct weft_node_client *c);

/** Give it another weight among others, 1..WEFT_NODE_SHARE_MAX. Control. */
void weft_node_client_set_share(struct weft_node_client *c, uint32_t share);

/** enum weft_attach_breach: what it did that no client does; it is to leave then. Control. */
unsigned int weft_node_client_breach(const struct weft_node_client *c);

/**
 * The node's thread is about to sleep: have clients that submit say so. False: one has, look first.
 * weft_node_clients_awake() ends that.
 */
bool weft_node_clients_may_sleep(const struct weft_node *n);
void weft_node_clients_awake(const struct weft_node *n);

/**
 * Let a client use a region, the caller's. Control.
 *
 * @return its handle, or -EMFILE: WEFT_ATTACH_REGIONS are open
 */
int weft_node_client_open(struct weft_node_client *c, struct weft_node_region *r);

/** The open region with this handle, or NULL. Control. */
struct weft_node_region *weft_node_client_region(const struct weft_node_client *c, uint32_t handle);

/** Take a region back: no operation on it begins any more. Control. @return it, or NULL */
struct weft_node_region *weft_node_client_close(struct weft_node_client *c, uint32_t handle);

/**
 * Bits of enum weft_attach_right for which operations are open. Control, behind a quiescent point.
 */
uint32_t weft_node_region_uses(const struct weft_node_region *r);

/** Whether operations on a region are open. Likewise. */
static inline bool
weft_node_region_is_used(const struct weft_node_region *r)
{
	return weft_node_region_uses(r) != 0;
}

/** Have every further operation on it end as -ESTALE: it is to be opened anew. Control. */
void weft_node_region_end(struct weft_node_region *r);

/**
 * What names the content of a region's memory: of several targets their generations together; 0:
 * one of them was not met yet. Control.
 */
uint64_t weft_node_region_generation(const struct weft_node *n, const struct weft_node_region *r);

WEFT_END_DECLS

#endif /* WEFT_CLIENTS_H */
