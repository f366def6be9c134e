/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A block between guard pages, with the server of it and a client that is written from
 * weft_attach.h alone. Positions of the rings begin where the test likes.
 */
#ifndef ATTACH_RIG_H
#define ATTACH_RIG_H

#include "weft_attach_server.h"
#include "weft_guard.h"
#include "weft_test.h"

struct rig {
	struct weft_guard guard;
	struct weft_attach_layout layout;
	uint8_t *block;
	struct weft_attach_server server;
	/* the client's */
	struct weft_attach_head *head;
	struct weft_attach_sqe *sqe;
	const struct weft_attach_cqe *cqe;
	uint8_t *data;
	uint32_t entries;
	uint32_t sq_tail, cq_head;
};

static inline void
rig_open(struct rig *r, uint32_t entries, uint64_t data_len, uint32_t sq_at, uint32_t cq_at)
{
	struct weft_attach_server *s = &r->server;

	assert_int_equal(weft_attach_layout(entries, data_len, &r->layout), 0);
	weft_guard_open(&r->guard, r->layout.len);
	r->block = weft_guard_last(&r->guard, r->layout.len);
	assert_int_equal(weft_attach_server_init(s, r->block, entries, data_len), 0);
	r->head = (struct weft_attach_head *)(void *)r->block;
	r->sqe = (struct weft_attach_sqe *)(void *)(r->block + r->layout.sq_off);
	r->cqe = (const struct weft_attach_cqe *)(void *)(r->block + r->layout.cq_off);
	r->data = r->block + r->layout.data_off;
	r->entries = entries;
	r->head->sq_tail = s->sq_head = r->sq_tail = sq_at;
	r->head->cq_tail = s->cq_tail = s->cq_told = cq_at;
	r->head->cq_head = s->cq_head = r->cq_head = cq_at;
}

static inline void
rig_close(struct rig *r)
{
	weft_guard_close(&r->guard);
}

/** The client submits. Whether it may is the caller's to know. */
static inline void
rig_submit(struct rig *r, const struct weft_attach_sqe *e)
{
	r->sqe[r->sq_tail++ & (r->entries - 1)] = *e;
	__atomic_store_n(&r->head->sq_tail, r->sq_tail, __ATOMIC_RELEASE);
}

static inline bool
rig_sees(const struct rig *r)
{
	return __atomic_load_n(&r->head->cq_tail, __ATOMIC_ACQUIRE) != r->cq_head;
}

/** The client takes a completion. @return false: there is none */
static inline bool
rig_take(struct rig *r, struct weft_attach_cqe *c)
{
	if (!rig_sees(r))
		return false;
	*c = r->cqe[r->cq_head++ & (r->entries - 1)];
	__atomic_store_n(&r->head->cq_head, r->cq_head, __ATOMIC_RELEASE);
	return true;
}

#endif /* ATTACH_RIG_H */
