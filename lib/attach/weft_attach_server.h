/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The daemon's side of a client's block (weft_attach.h): submissions are copied and checked,
 * completions written. Whatever the client writes into the block, nothing here reads or writes
 * beyond it. Pure: it neither allocates nor wakes anybody; a server belongs to one thread.
 */
#ifndef WEFT_ATTACH_SERVER_H
#define WEFT_ATTACH_SERVER_H

#include "weft_attach.h"
#include "weft_base.h"

WEFT_BEGIN_DECLS

/** What a client did that no client does. */
enum weft_attach_breach {
	WEFT_ATTACH_KEEPS, /**< nothing */
	WEFT_ATTACH_BAD_TAIL, /**< more submissions than the ring has entries */
	WEFT_ATTACH_BAD_HEAD, /**< completions taken that are not there */
	WEFT_ATTACH_BAD_OP, /**< no such operation, or zeros that are none */
	WEFT_ATTACH_BAD_DATA, /**< not within the data area */
};

struct weft_attach_server {
	struct weft_attach_head *head; /**< the block */
	const struct weft_attach_sqe *sqe;
	struct weft_attach_cqe *cqe;
	uint8_t *data;
	uint64_t data_len;
	uint32_t entries;
	uint32_t sq_head, cq_tail, cq_head; /* cq_head: as last seen */
	uint32_t n_open; /**< taken, and not completed yet */
	uint32_t cq_told; /* what the client knows of cq_tail */
	uint8_t breach; /**< enum weft_attach_breach */
};

/**
 * Lay out a block and begin with it.
 *
 * @param block  of weft_attach_layout()'s len, zeros, on a page; the caller's, and must outlive it
 * @return 0, or -EINVAL as weft_attach_layout()
 */
int weft_attach_server_init(
	struct weft_attach_server *s, void *block, uint32_t entries, uint64_t data_len);

/** Whether something was submitted. Cheap; what it is, weft_attach_server_next() says. */
static inline bool
weft_attach_server_has_more(const struct weft_attach_server *s)
{
	return __atomic_load_n(&s->head->sq_tail, __ATOMIC_RELAXED) != s->sq_head;
}

/**
 * Take a submission.
 *
 * @param e  receives a copy that was checked: its operation is one, its data is within the data
 *           area. Region, offset and rights are the caller's to check
 * @return 0; -EAGAIN: none, or no room for its completion; -EPROTO: the client broke the rules
 *         (s->breach): nothing is taken any more
 */
int weft_attach_server_next(struct weft_attach_server *s, struct weft_attach_sqe *e);

/** Complete one that was taken. The client sees it with the next weft_attach_server_tell(). */
void weft_attach_server_complete(struct weft_attach_server *s, const struct weft_attach_cqe *c);

/** Let the client see completions. @return whether it sleeps: its eventfd is to be signalled */
bool weft_attach_server_tell(struct weft_attach_server *s);

/**
 * Say that the daemon is about to sleep, until it is signalled, or that it is awake. Behind it a
 * fence and a look at all clients belong, before it sleeps.
 */
static inline void
weft_attach_server_sleep(const struct weft_attach_server *s, bool sleeps)
{
	__atomic_store_n(&s->head->daemon_sleeps, sleeps, __ATOMIC_RELAXED);
}

/** Say that no more will come. @return as weft_attach_server_tell() */
bool weft_attach_server_end(struct weft_attach_server *s);

/** For people: "submits more than the ring has entries". */
const char *weft_attach_breach_name(enum weft_attach_breach b);

WEFT_END_DECLS

#endif /* WEFT_ATTACH_SERVER_H */
