/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What a program and a daemon say to each other (attach.md section 4, doc/attach.md): messages over
 * the socket of a node, and a block of memory that both have mapped. All of it stays on one
 * machine, and is in its byte order.
 *
 * Words of attachment:
 *
 *   1. A client is one attachment of a program to a host of the fabric. It ends with its socket.
 *   2. A region is a piece of the fabric's memory that has a name. A client sees (region, offset),
 *      and never an address of the fabric.
 *   3. An operation is what a client submits: a read or a write of any length and alignment, or a
 *      fence. It has one completion.
 *   4. A fence completes when all operations submitted before it have; those behind it begin then.
 *      Operations without one between them have no order.
 *   5. The block is hostile to the daemon: it copies what it reads there once and then checks it. A
 *      client that breaks the rules of the rings is detached.
 *
 * The block: a head page; as many entries of submission, then of completion, as the ring has; the
 * data area. Both rings have one writer and one reader; their positions run freely, and an entry is
 * at position modulo entries. The client has no more operations open than there are entries: one is
 * open until the client moved cq_head past its completion.
 *
 * Wake-up: who is about to sleep sets its flag, makes that visible (a fence), looks once more,
 * and sleeps on its eventfd. Who has written a position makes that visible, and signals the
 * eventfd of the other where its flag is set.
 */
#ifndef WEFT_ATTACH_H
#define WEFT_ATTACH_H

#include <errno.h>

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_ATTACH_MAGIC UINT32_C(0x41464557) /**< "WEFA" */
#define WEFT_ATTACH_VERSION 1
#define WEFT_ATTACH_NAME 64 /**< bytes of a name, with its end */
#define WEFT_ATTACH_TEXT 160
#define WEFT_ATTACH_ENTRIES_MIN 16
#define WEFT_ATTACH_ENTRIES_MAX 4096
#define WEFT_ATTACH_DATA_MAX (UINT64_C(64) << 20)
#define WEFT_ATTACH_PAGE 4096
#define WEFT_ATTACH_REGIONS 64 /**< that a client may have open */

enum weft_attach_right { WEFT_ATTACH_READ = 1, WEFT_ATTACH_WRITE = 2 };

/** What a host can beyond what version 1 began with: bits; those of a later daemon say nothing. */
enum weft_attach_feature {
	WEFT_ATTACH_UIO = 1, /**< operations UIO_READ and UIO_WRITE */
	WEFT_ATTACH_MOVE = 2 /**< operation MOVE: the host is an agent */
};

/* --- messages: one request, one answer, on a socket of SOCK_SEQPACKET --- */

enum weft_attach_call {
	WEFT_ATTACH_HELLO = 1, /**< first, once: the answer brings the block and two eventfds */
	WEFT_ATTACH_LIST, /**< the region with number `index` */
	WEFT_ATTACH_OPEN, /**< the region `name`, with the rights `rights` */
	WEFT_ATTACH_INFO, /**< the open region `handle` */
	WEFT_ATTACH_CLOSE, /**< likewise */
	WEFT_ATTACH_CALLS
};

struct weft_attach_request {
	uint32_t magic;
	uint16_t version;
	uint16_t call; /**< enum weft_attach_call */
	uint32_t entries; /**< HELLO: of each ring, a power of two; 0: as the daemon likes */
	uint32_t handle;
	uint64_t data_len; /**< HELLO: of the data area, bytes; 0: as the daemon likes */
	uint32_t rights; /**< bits of enum weft_attach_right; OPEN: 0 stands for all there are */
	uint32_t index;
	char name[WEFT_ATTACH_NAME * 2];
};

/** What a region is. */
struct weft_attach_row {
	uint64_t size; /**< bytes */
	uint64_t generation; /**< of the memory behind it; 0: not known yet */
	uint32_t granule; /**< bytes of each target in turn; 0: there is one target */
	uint32_t rights;
	char name[WEFT_ATTACH_NAME];
	char target[WEFT_ATTACH_NAME]; /**< whose memory it is, the first of them */
};

struct weft_attach_answer {
	uint32_t magic;
	uint16_t version; /**< the daemon's */
	uint16_t call;
	int32_t status; /**< 0, or -errno and a line in `text` */
	union {
		uint32_t handle; /**< OPEN */
		uint32_t features; /**< HELLO: bits of enum weft_attach_feature */
	};
	uint32_t entries; /**< HELLO: as they are */
	union {
		uint32_t n_regions; /**< LIST: of all */
		/** OPEN: bytes from a multiple of 4 of the memory to its begin; 0: UIO will do */
		uint32_t odd;
	};
	uint64_t data_len;
	struct weft_attach_row row; /**< LIST, OPEN, INFO */
	char text[WEFT_ATTACH_TEXT];
	char node[WEFT_ATTACH_NAME]; /**< HELLO: the host's name */
};

/** Descriptors that go with the answer to HELLO, in this order. */
enum weft_attach_fd {
	WEFT_ATTACH_FD_BLOCK, /**< memfd, sealed against growing and shrinking */
	WEFT_ATTACH_FD_TO_DAEMON, /**< eventfd of the daemon */
	WEFT_ATTACH_FD_TO_CLIENT, /**< eventfd of the client */
	WEFT_ATTACH_FDS
};

/* --- the block --- */

/**
 * By UIO a place and a length are multiples of 4, else it ends as -EINVAL. MOVE has the page of a
 * translation that has a place at the offset go to its other place (weft_ats_agent.h); it has no
 * data. Where the host has not the feature it ends as -EOPNOTSUPP; a daemon from before it detaches
 * who submits that, so a client looks at the features first.
 */
enum weft_attach_op {
	WEFT_ATTACH_OP_READ = 1,
	WEFT_ATTACH_OP_WRITE,
	WEFT_ATTACH_OP_FENCE,
	WEFT_ATTACH_OP_UIO_READ,
	WEFT_ATTACH_OP_UIO_WRITE,
	WEFT_ATTACH_OP_MOVE
};

/** A submission. */
struct weft_attach_sqe {
	uint8_t op; /**< enum weft_attach_op */
	uint8_t zero1[3];
	uint32_t handle; /**< of the region; FENCE: 0 */
	uint64_t offset; /**< in the region */
	uint64_t data; /**< offset in the data area: read to, written from */
	uint32_t len; /**< bytes, 1 or more; FENCE, MOVE: 0 */
	uint32_t zero2;
	uint64_t user; /**< comes back with the completion */
	uint64_t zero3[3];
};

static_assert(sizeof(struct weft_attach_sqe) == 64, "a cache line");

/** A completion. */
struct weft_attach_cqe {
	uint64_t user;
	uint64_t bad; /**< offset in the region of the first line that failed */
	int32_t status; /**< 0, or -errno: attach.md section 3 */
	uint32_t bad_lines; /**< lines that failed */
	uint64_t zero;
};

static_assert(sizeof(struct weft_attach_cqe) == 32, "two a cache line");

#define WEFT_ATTACH_LINE __attribute__((aligned(64)))

/** The head page. Each word that somebody spins on has a cache line. */
struct weft_attach_head {
	uint32_t magic; /**< the daemon's, as all but what is marked */
	uint32_t version;
	uint32_t entries;
	uint32_t zero;
	uint64_t data_off, data_len;
	WEFT_ATTACH_LINE uint32_t sq_tail; /**< the client's */
	WEFT_ATTACH_LINE uint32_t cq_tail;
	WEFT_ATTACH_LINE uint32_t cq_head; /**< the client's */
	WEFT_ATTACH_LINE uint32_t client_sleeps; /**< the client's; the daemon clears it */
	WEFT_ATTACH_LINE uint32_t daemon_sleeps; /**< any client may clear it */
	WEFT_ATTACH_LINE uint32_t is_over; /**< the daemon has detached the client, or leaves */
};

static_assert(sizeof(struct weft_attach_head) <= WEFT_ATTACH_PAGE, "it is a page");

/** Where things are in a block. */
struct weft_attach_layout {
	uint64_t sq_off, cq_off, data_off;
	uint64_t len; /**< of all */
};

/**
 * Places of a block with so many entries and bytes of data.
 *
 * @param entries   a power of two, WEFT_ATTACH_ENTRIES_MIN to _MAX
 * @param data_len  pages, WEFT_ATTACH_DATA_MAX at most
 * @return 0, or -EINVAL: out of range
 */
static inline int
weft_attach_layout(uint32_t entries, uint64_t data_len, struct weft_attach_layout *l)
{
	const uint64_t page = WEFT_ATTACH_PAGE;

	if (entries < WEFT_ATTACH_ENTRIES_MIN || entries > WEFT_ATTACH_ENTRIES_MAX ||
		(entries & (entries - 1)) != 0 || data_len == 0 || data_len % page != 0 ||
		data_len > WEFT_ATTACH_DATA_MAX)
		return -EINVAL;
	l->sq_off = page;
	l->cq_off = l->sq_off + entries * sizeof(struct weft_attach_sqe);
	l->data_off = l->cq_off + entries * sizeof(struct weft_attach_cqe);
	l->data_off = (l->data_off + page - 1) / page * page;
	l->len = l->data_off + data_len;
	return 0;
}

WEFT_END_DECLS

#endif /* WEFT_ATTACH_H */
