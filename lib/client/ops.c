/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Operations from their begin to their end: the number, the room in the data area and the
 * submission of each. Hot: runs per operation.
 */

#include "client_priv.h"

#include <unistd.h>

static uint32_t
op_pages(size_t n)
{
	return (uint32_t)((n + WEFT_ATTACH_PAGE - 1) / WEFT_ATTACH_PAGE);
}

int
client_op_check(const struct weft_region *r, int kind, uint64_t off, size_t n)
{
	if (off > r->size || n > r->size - off)
		return -EINVAL;
	if (r->is_uio && (off | n) % CLIENT_UIO_ALIGN != 0)
		return -EINVAL;
	return (r->rights & (kind == WEFT_OP_READ ? WEFT_READ : WEFT_WRITE)) != 0 ? 0 : -EACCES;
}

static bool
op_has_data(const struct weft_op *op)
{
	return op->kind == WEFT_OP_READ || op->kind == WEFT_OP_WRITE;
}

static int
op_judge_move(const struct weft *w, const struct weft_op *op)
{
	if ((w->features & WEFT_ATTACH_MOVE) == 0)
		return -EOPNOTSUPP;
	if (op->off >= op->region->size)
		return -EINVAL;
	return (op->region->rights & WEFT_WRITE) != 0 ? 0 : -EACCES;
}

static int
op_judge(const struct weft *w, const struct weft_op *op)
{
	int rc;

	if (op->kind == WEFT_OP_FENCE)
		return 0;
	if (op->region == NULL || op->region->w != w)
		return -EINVAL;
	if (op->kind == WEFT_OP_MOVE)
		return op_judge_move(w, op);
	if (!op_has_data(op) || op->n == 0)
		return -EINVAL;
	rc = client_op_check(op->region, op->kind, op->off, op->n);
	if (rc != 0)
		return rc;
	return op->n > (uint64_t)w->pages.n * WEFT_ATTACH_PAGE ? -EMSGSIZE : 0;
}

__attribute__((cold)) int
client_op_refuse(struct weft *w, const struct weft_op *op, int rc)
{
	const struct weft_region *r = op->region;
	const char *what = op->kind == WEFT_OP_READ   ? "read"
	                   : op->kind == WEFT_OP_MOVE ? "move"
	                                              : "write";

	if (rc == -EOPNOTSUPP)
		return weft_errorf(client_error(w), CLIENT_TEXT, rc,
			"%s in \"%s\": host %s is no agent: attach to the host that has the "
			"translations",
			what, r->name, w->node);
	if (rc == -EMSGSIZE)
		return weft_errorf(client_error(w), CLIENT_TEXT, rc,
			"%s of %zu bytes: the buffers take %zu: split it, or attach with a larger "
			"opts.buffer",
			what, op->n, (size_t)w->pages.n * WEFT_ATTACH_PAGE);
	if ((!op_has_data(op) && op->kind != WEFT_OP_MOVE) || r == NULL || r->w != w)
		return weft_errorf(client_error(w), CLIENT_TEXT, rc,
			"operation of kind %d: expected READ, WRITE, FENCE or MOVE, and a region "
			"of this "
			"attachment",
			op->kind);
	if (rc == -EACCES)
		return weft_errorf(client_error(w), CLIENT_TEXT, rc,
			"%s in \"%s\": it was not opened for that: open it with WEFT_%s", what,
			r->name, op->kind == WEFT_OP_READ ? "READ" : "WRITE");
	if (r->is_uio && op_has_data(op) && (op->off | op->n) % CLIENT_UIO_ALIGN != 0)
		return weft_errorf(client_error(w), CLIENT_TEXT, rc,
			"%s in \"%s\" of %zu bytes at offset 0x%llx: expected multiples of %d, "
			"as it was opened with WEFT_UIO",
			what, r->name, op->n, (unsigned long long)op->off, CLIENT_UIO_ALIGN);
	return weft_errorf(client_error(w), CLIENT_TEXT, rc,
		"%s in \"%s\" of %zu bytes at offset 0x%llx: expected 1 byte or more, within its "
		"0x%llx bytes",
		what, r->name, op->n, (unsigned long long)op->off, (unsigned long long)r->size);
}

/* Room in the data area: a slot for what is at most a line, else pages. */
static int
op_place(struct weft *w, const struct weft_op *op, uint32_t slot, uint64_t *data)
{
	int page;

	if (op->n <= CLIENT_SLOT) {
		*data = (uint64_t)slot * CLIENT_SLOT;
		return 0;
	}
	page = client_pages_take(&w->pages, op_pages(op->n));
	if (page < 0)
		return page;
	*data = (uint64_t)w->entries * CLIENT_SLOT + (uint64_t)page * WEFT_ATTACH_PAGE;
	return 0;
}

/* What the daemon is told. */
static uint8_t
op_code(const struct weft_op *op)
{
	if (op->kind == WEFT_OP_MOVE)
		return WEFT_ATTACH_OP_MOVE;
	if (op->kind == WEFT_OP_FENCE || !op->region->is_uio)
		return (uint8_t)op->kind;
	return op->kind == WEFT_OP_READ ? WEFT_ATTACH_OP_UIO_READ : WEFT_ATTACH_OP_UIO_WRITE;
}

int
client_op_begin(struct weft *w, const struct weft_op *op)
{
	const bool is_fence = op->kind == WEFT_OP_FENCE, has_data = op_has_data(op);
	uint64_t data = 0;
	uint32_t slot;
	int rc = op_judge(w, op);

	if (rc != 0)
		return rc;
	if (w->n_open == w->entries)
		return -EAGAIN;
	slot = w->unused[w->entries - w->n_open - 1];
	if (has_data) {
		rc = op_place(w, op, slot, &data);
		if (rc != 0)
			return rc;
	}
	w->n_open++;
	w->ops[slot] = (struct client_op){
		.buf = op->buf,
		.user = op->user,
		.data = data,
		.len = has_data ? (uint32_t)op->n : 0,
		.kind = (uint8_t)op->kind,
	};
	if (op->kind == WEFT_OP_WRITE)
		memcpy(w->data + data, op->buf, op->n);
	w->sqe[w->sq_tail++ & (w->entries - 1)] = (struct weft_attach_sqe){
		.op = op_code(op),
		.handle = is_fence ? 0 : op->region->handle,
		.offset = is_fence ? 0 : op->off,
		.data = data,
		.len = has_data ? (uint32_t)op->n : 0,
		.user = slot,
	};
	return 0;
}

static_assert((int)WEFT_OP_READ == (int)WEFT_ATTACH_OP_READ &&
		      (int)WEFT_OP_WRITE == (int)WEFT_ATTACH_OP_WRITE &&
		      (int)WEFT_OP_FENCE == (int)WEFT_ATTACH_OP_FENCE,
	"kinds go to the daemon as they are");

void
client_op_publish(struct weft *w)
{
	const uint64_t one = 1;

	__atomic_store_n(&w->head->sq_tail, w->sq_tail, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->head->daemon_sleeps, __ATOMIC_SEQ_CST) == 0 ||
		__atomic_exchange_n(&w->head->daemon_sleeps, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	/* It fails only where it is full, which wakes the daemon as well. */
	if (write(w->to_daemon, &one, sizeof(one)) < 0)
		return;
}

void
client_op_end(struct weft *w, uint32_t slot, int status)
{
	struct client_op *op = &w->ops[slot];

	if (op->kind == WEFT_OP_READ && status == 0)
		memcpy(op->buf, w->data + op->data, op->len);
	if (op->len > CLIENT_SLOT)
		client_pages_give(&w->pages,
			(uint32_t)((op->data - (uint64_t)w->entries * CLIENT_SLOT) /
				   WEFT_ATTACH_PAGE),
			op_pages(op->len));
	op->kind = 0;
	w->n_open--;
	w->unused[w->entries - w->n_open - 1] = (uint16_t)slot;
}

int
weft_submit(struct weft *w, const struct weft_op *ops, int n)
{
	int i, rc = 0;

	if (client_is_over(w))
		return client_say_over(w);
	for (i = 0; i < n; i++) {
		rc = client_op_begin(w, &ops[i]);
		if (rc != 0)
			break;
	}
	if (i > 0)
		client_op_publish(w);
	if (i > 0 || rc == 0 || rc == -EAGAIN)
		return i;
	return client_op_refuse(w, &ops[0], rc);
}
