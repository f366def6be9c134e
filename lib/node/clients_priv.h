/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* A client at its node: client.c; all of a node: clients.c. */
#ifndef CLIENTS_PRIV_H
#define CLIENTS_PRIV_H

#include "weft_attach_server.h"
#include "weft_clients.h"

#include "node_priv.h"

#define CLIENT_NONE 0xFFFF
#define CLIENTS_HELD_PER_FREE 7u /* tags that one target may hold for each that is free */

/* An operation that was taken and has not ended. */
struct client_op {
	uint64_t user;
	uint64_t offset; /* in its region */
	uint64_t hpa; /* of its first byte */
	uint64_t data; /* offset in the data area */
	uint64_t bad; /* of the first line that failed: its offset in the region */
	struct weft_node_region *region; /* NULL: a fence */
	uint32_t len;
	uint32_t begun; /* bytes whose requests have begun */
	uint32_t open; /* requests */
	uint32_t bad_lines;
	int32_t status;
	uint8_t op; /* enum weft_attach_op */
	uint16_t next; /* free, or CLIENT_NONE */
};

struct weft_node_client {
	struct weft_attach_server ring;
	struct weft_node_client_cfg cfg;
	struct weft_node_region *region[WEFT_ATTACH_REGIONS]; /* control; NULL: none */
	uint16_t slot;
	uint16_t current; /* operation whose lines begin, or CLIENT_NONE */
	uint16_t free; /* first operation that is free, or CLIENT_NONE */
	uint16_t quiet; /* polls without anything to do */
	uint32_t n_ops;
	uint32_t open; /* requests, of all operations */
	uint32_t share; /* control; its weight among others */
	uint32_t weight; /* of that, what the sum of those that are active has */
	uint32_t tags; /* its part of all, */
	uint32_t of_weights; /* where all that are active have this sum; 0: not known */
	uint64_t moved_ns; /* when something went on last */
	bool is_leaving; /* control */
	bool is_gone; /* the node's; written last */
	uint8_t breach; /* enum weft_attach_breach; the node's */
	struct client_op op[];
};

/* What becomes of a request for a line. */
enum client_way {
	CLIENT_BEGAN, /* there is a message */
	CLIENT_NOTHING, /* nothing was submitted */
	CLIENT_WAITS, /* for what is open, its share, or a credit */
	CLIENT_NO_TAG /* nor is there one for others */
};

static inline bool
client_is_leaving(const struct weft_node_client *c)
{
	return __atomic_load_n(&c->is_leaving, __ATOMIC_ACQUIRE);
}

/* A request of a client: by CXL.mem of a line, by UIO of up to four. One of the two packets. */
struct client_request {
	struct weft_msg *msg; /* where it is made; NULL: UIO is wanted */
	struct weft_io_tlp *tlp;
	uint16_t tag; /* of the UIO request */
};

/* The next request of a client, which may have @p share open. */
enum client_way client_next(struct weft_node *n, struct weft_node_client *c, uint32_t share,
	uint64_t *count, struct client_request *out);

/* A request has ended. */
void client_request_ended(struct weft_node *n, struct weft_node_client *c,
	const struct weft_completion *comp, uint64_t *count);

/* Nothing went on for too long: what is submitted ends as lost. */
void client_time_out(struct weft_node *n, struct weft_node_client *c, uint64_t *count);

/* The memory of @p dpid was replaced. */
void client_forget(struct weft_node_client *c, uint16_t dpid);

/* Where a completion belongs: bits of a cookie. */
#define CLIENT_COOKIE (UINT64_C(1) << 62)
#define CLIENT_UNIT_BITS 40 /* which request of its operation */
#define CLIENT_OP_BITS 12

static_assert(WEFT_ATTACH_ENTRIES_MAX <= 1 << CLIENT_OP_BITS, "operations have their bits");
static_assert(
	WEFT_NODE_CLIENTS <= 1 << (62 - CLIENT_UNIT_BITS - CLIENT_OP_BITS), "so have clients");

static inline bool
client_is_cookie(uint64_t cookie)
{
	return cookie >> 62 == 1;
}

static inline uint16_t
client_slot_of(uint64_t cookie)
{
	return (uint16_t)(cookie >> (CLIENT_UNIT_BITS + CLIENT_OP_BITS) & (WEFT_NODE_CLIENTS - 1));
}

#endif /* CLIENTS_PRIV_H */
