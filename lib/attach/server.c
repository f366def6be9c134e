/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* See weft_attach_server.h. Hot: runs per operation. */

#include "weft_attach_server.h"

#include <errno.h>
#include <string.h>

/* What was copied from the block is not read from there again. */
#define server_copied() __asm__ volatile("" : : : "memory")

int
weft_attach_server_init(
	struct weft_attach_server *s, void *block, uint32_t entries, uint64_t data_len)
{
	struct weft_attach_layout l;
	uint8_t *const base = block;

	if (weft_attach_layout(entries, data_len, &l) != 0)
		return -EINVAL;
	*s = (struct weft_attach_server){
		.head = block,
		.sqe = (const struct weft_attach_sqe *)(void *)(base + l.sq_off),
		.cqe = (struct weft_attach_cqe *)(void *)(base + l.cq_off),
		.data = base + l.data_off,
		.data_len = data_len,
		.entries = entries,
	};
	s->head->entries = entries;
	s->head->data_off = l.data_off;
	s->head->data_len = data_len;
	s->head->version = WEFT_ATTACH_VERSION;
	s->head->magic = WEFT_ATTACH_MAGIC;
	return 0;
}

static int
server_breach(struct weft_attach_server *s, enum weft_attach_breach b)
{
	s->breach = (uint8_t)b;
	return -EPROTO;
}

/* The completion of another one has room. */
static int
server_has_room(struct weft_attach_server *s)
{
	if (s->n_open + (s->cq_tail - s->cq_head) < s->entries)
		return 0;
	s->cq_head = __atomic_load_n(&s->head->cq_head, __ATOMIC_ACQUIRE);
	if (s->cq_tail - s->cq_head > s->entries)
		return server_breach(s, WEFT_ATTACH_BAD_HEAD);
	return s->n_open + (s->cq_tail - s->cq_head) < s->entries ? 0 : -EAGAIN;
}

static enum weft_attach_breach
server_judge(const struct weft_attach_server *s, const struct weft_attach_sqe *e)
{
	const uint64_t zeros = e->zero1[0] | e->zero1[1] | e->zero1[2] | e->zero2 | e->zero3[0] |
	                       e->zero3[1] | e->zero3[2];

	if (zeros != 0)
		return WEFT_ATTACH_BAD_OP;
	switch (e->op) {
	case WEFT_ATTACH_OP_READ:
	case WEFT_ATTACH_OP_WRITE:
	case WEFT_ATTACH_OP_UIO_READ:
	case WEFT_ATTACH_OP_UIO_WRITE:
		if (e->len == 0)
			return WEFT_ATTACH_BAD_OP;
		return e->len > s->data_len || e->data > s->data_len - e->len ? WEFT_ATTACH_BAD_DATA
		                                                              : WEFT_ATTACH_KEEPS;
	case WEFT_ATTACH_OP_MOVE: return e->len == 0 ? WEFT_ATTACH_KEEPS : WEFT_ATTACH_BAD_OP;
	case WEFT_ATTACH_OP_FENCE:
		return (e->handle | e->len) == 0 ? WEFT_ATTACH_KEEPS : WEFT_ATTACH_BAD_OP;
	default: return WEFT_ATTACH_BAD_OP;
	}
}

int
weft_attach_server_next(struct weft_attach_server *s, struct weft_attach_sqe *e)
{
	const uint32_t tail = __atomic_load_n(&s->head->sq_tail, __ATOMIC_ACQUIRE);
	enum weft_attach_breach b;
	int rc;

	if (s->breach != WEFT_ATTACH_KEEPS)
		return -EPROTO;
	if (tail == s->sq_head)
		return -EAGAIN;
	if (tail - s->sq_head > s->entries)
		return server_breach(s, WEFT_ATTACH_BAD_TAIL);
	rc = server_has_room(s);
	if (rc != 0)
		return rc;
	memcpy(e, &s->sqe[s->sq_head & (s->entries - 1)], sizeof(*e));
	server_copied();
	b = server_judge(s, e);
	if (b != WEFT_ATTACH_KEEPS)
		return server_breach(s, b);
	s->sq_head++;
	s->n_open++;
	return 0;
}

void
weft_attach_server_complete(struct weft_attach_server *s, const struct weft_attach_cqe *c)
{
	s->cqe[s->cq_tail++ & (s->entries - 1)] = *c;
	s->n_open--;
}

/* Behind what the client is to see: whether it sleeps, and is to be woken. */
static bool
server_client_sleeps(struct weft_attach_server *s)
{
	if (__atomic_load_n(&s->head->client_sleeps, __ATOMIC_SEQ_CST) == 0)
		return false;
	__atomic_store_n(&s->head->client_sleeps, 0, __ATOMIC_RELAXED);
	return true;
}

bool
weft_attach_server_tell(struct weft_attach_server *s)
{
	if (s->cq_told == s->cq_tail)
		return false;
	s->cq_told = s->cq_tail;
	__atomic_store_n(&s->head->cq_tail, s->cq_tail, __ATOMIC_SEQ_CST);
	return server_client_sleeps(s);
}

bool
weft_attach_server_end(struct weft_attach_server *s)
{
	const bool was_asleep = weft_attach_server_tell(s);

	__atomic_store_n(&s->head->is_over, 1, __ATOMIC_SEQ_CST);
	return server_client_sleeps(s) || was_asleep;
}

const char *
weft_attach_breach_name(enum weft_attach_breach b)
{
	static const char *const name[] = {
		[WEFT_ATTACH_KEEPS] = "keeps to the rules",
		[WEFT_ATTACH_BAD_TAIL] = "submits more than the ring has entries",
		[WEFT_ATTACH_BAD_HEAD] = "takes completions that are not there",
		[WEFT_ATTACH_BAD_OP] = "submits what is no operation",
		[WEFT_ATTACH_BAD_DATA] = "names data that is not in its area",
	};

	return name[b];
}
