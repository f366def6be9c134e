/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Calls that wait. A long read or write is one of pieces, several of which are open at a time:
 * while some are under way, others are copied. Hot: runs per operation.
 */

#include "client_priv.h"

#define BLOCKING_BATCH 16

/* A read or write of which some is done. */
struct blocking {
	struct weft_op op; /* the next piece */
	uint64_t end; /* offset behind the last */
	int status; /* of the first piece that failed, */
	uint64_t failed_off; /* where that began, */
	uint64_t bad; /* and its first bad line */
};

/* Begin what has room. Pieces end where lines do: those stay whole. */
static void
blocking_begin(struct weft *w, struct blocking *b)
{
	const uint32_t tail = w->sq_tail;
	struct weft_op *op = &b->op;

	while (op->off < b->end && b->status == 0) {
		op->n = w->pages.piece - (op->off & (w->pages.piece - 1));
		if (op->n > b->end - op->off)
			op->n = b->end - op->off;
		op->user = op->off;
		if (client_op_begin(w, op) != 0)
			break;
		op->off += op->n;
		op->buf = (uint8_t *)op->buf + op->n;
	}
	if (w->sq_tail != tail)
		client_op_publish(w);
}

/* What failed first is what is told of: offsets, not times, count. */
static void
blocking_note(struct blocking *b, const struct weft_done *d)
{
	if (d->status == 0 || (b->status != 0 && d->user >= b->failed_off))
		return;
	b->status = d->status;
	b->failed_off = d->user;
	b->bad = d->bad;
}

__attribute__((cold)) static const char *
blocking_reason(int status)
{
	switch (status) {
	case -EIO: return "the memory is poisoned";
	case -ENXIO: return "no memory is there";
	case -EINVAL: return "by UIO it would have to begin at a multiple of 4 of the memory";
	case -EACCES: return "the fabric does not let this host do that, or not any more";
	case -ETIMEDOUT: return "the way to the memory was lost";
	case -ESTALE: return "the memory is another than was opened, open it again";
	default: return strerror(-status);
	}
}

__attribute__((cold)) static int
blocking_fail(struct weft_region *r, const struct blocking *b)
{
	struct weft *w = r->w;

	w->last_bad = b->bad;
	return weft_errorf(client_error(w), CLIENT_TEXT, b->status,
		"%s in \"%s\" at offset 0x%llx: %s",
		b->op.kind == WEFT_OP_READ    ? "read"
		: b->op.kind == WEFT_OP_WRITE ? "write"
					      : "fence",
		r->name, (unsigned long long)b->bad, blocking_reason(b->status));
}

static int
blocking_ready(struct weft *w)
{
	if (client_is_over(w))
		return client_say_over(w);
	if (w->n_open == 0)
		return 0;
	return weft_errorf(client_error(w), CLIENT_TEXT, -EBUSY,
		"%u operations of weft_submit() are open: take them by weft_wait() first",
		w->n_open);
}

static int
blocking_run(struct weft_region *r, struct blocking *b)
{
	struct weft_done done[BLOCKING_BATCH];
	struct weft *w = r->w;
	int rc, i;

	for (blocking_begin(w, b); w->n_open > 0; blocking_begin(w, b)) {
		rc = weft_wait(w, done, BLOCKING_BATCH, -1);
		if (rc < 0) {
			w->is_cut = true;
			return rc;
		}
		for (i = 0; i < rc; i++)
			blocking_note(b, &done[i]);
	}
	/* Where nothing is open, there is room. */
	assert(b->op.off == b->end || b->status != 0);
	return b->status == 0 ? 0 : blocking_fail(r, b);
}

static int
blocking_move(struct weft_region *r, int kind, uint64_t off, void *buf, size_t n)
{
	struct blocking b = {
		.op = { .kind = kind, .region = r, .off = off, .buf = buf, .n = n },
		.end = off + n,
	};
	int rc = blocking_ready(r->w);

	if (rc != 0)
		return rc;
	rc = client_op_check(r, kind, off, n);
	return rc != 0 ? client_op_refuse(r->w, &b.op, rc) : blocking_run(r, &b);
}

int
weft_read(struct weft_region *r, uint64_t off, void *buf, size_t n)
{
	return blocking_move(r, WEFT_OP_READ, off, buf, n);
}

int
weft_write(struct weft_region *r, uint64_t off, const void *buf, size_t n)
{
	/* Nothing writes there: it is copied from. */
	return blocking_move(r, WEFT_OP_WRITE, off, (void *)(uintptr_t)buf, n);
}

int
weft_fence(struct weft_region *r)
{
	struct blocking b = { .op = { .kind = WEFT_OP_FENCE, .region = r } };
	int rc = blocking_ready(r->w);

	if (rc == 0)
		rc = client_op_begin(r->w, &b.op);
	if (rc != 0)
		return rc;
	client_op_publish(r->w);
	return blocking_run(r, &b);
}

uint64_t
weft_last_bad(const struct weft *w)
{
	return w->last_bad;
}
