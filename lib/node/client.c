/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client of a host: its operations in their order, each as requests of a line. Lines of an
 * operation that fail do not stop it, but for those that show that no other will be answered. Hot.
 */

#include "clients_priv.h"

#include <errno.h>

#define LINE WEFT_MSG_DATA_LEN

/* --- operations --- */

/* Operations of its kind that a region has open. */
static uint32_t *
client_count_of(struct weft_node_region *r, uint8_t op)
{
	return &r->n_ops[op == WEFT_ATTACH_OP_WRITE];
}

static void
client_end_op(struct weft_node_client *c, uint16_t i, uint64_t *count)
{
	struct client_op *op = &c->op[i];
	const struct weft_attach_cqe e = {
		.user = op->user,
		.bad = op->bad,
		.status = op->status,
		.bad_lines = op->bad_lines,
	};

	count[WEFT_CLIENTS_N_FAILED] += op->status != 0;
	if (op->region != NULL) {
		uint32_t *n = client_count_of(op->region, op->op);

		__atomic_store_n(n, *n - 1, __ATOMIC_RELEASE);
	}
	weft_attach_server_complete(&c->ring, &e);
	op->next = c->free;
	c->free = i;
	c->n_ops--;
}

static void
client_fail(struct client_op *op, int status, uint64_t bad)
{
	if (op->bad_lines++ == 0 || bad < op->bad)
		op->bad = bad;
	/* An end of the way says more than a line does. */
	if (op->status == 0 || status == -ETIMEDOUT || status == -ESTALE)
		op->status = op->status == -ESTALE ? -ESTALE : status;
}

/* Why an operation may not begin, or 0. */
static int
client_refusal(const struct weft_node_region *r, const struct weft_attach_sqe *e)
{
	const uint32_t right = e->op == WEFT_ATTACH_OP_READ ? WEFT_ATTACH_READ : WEFT_ATTACH_WRITE;

	if (r == NULL)
		return -EBADF;
	if (e->len > r->size || e->offset > r->size - e->len)
		return -EINVAL;
	if ((__atomic_load_n(&r->rights, __ATOMIC_RELAXED) & right) == 0)
		return -EACCES;
	return __atomic_load_n(&r->is_stale, __ATOMIC_RELAXED) ? -ESTALE : 0;
}

static struct weft_node_region *
client_region(const struct weft_node_client *c, uint32_t handle)
{
	return handle < WEFT_ATTACH_REGIONS ? __atomic_load_n(&c->region[handle], __ATOMIC_ACQUIRE)
	                                    : NULL;
}

static void
client_begin_op(struct weft_node_client *c, const struct weft_attach_sqe *e, uint64_t *count)
{
	struct weft_node_region *r =
		e->op == WEFT_ATTACH_OP_FENCE ? NULL : client_region(c, e->handle);
	const int refusal = e->op == WEFT_ATTACH_OP_FENCE ? 0 : client_refusal(r, e);
	const uint16_t i = c->free;
	struct client_op *op = &c->op[i];

	c->free = op->next;
	c->n_ops++;
	*op = (struct client_op){
		.user = e->user,
		.offset = e->offset,
		.data = e->data,
		.op = e->op,
		.region = r,
	};
	count[WEFT_CLIENTS_N_READS + e->op - WEFT_ATTACH_OP_READ]++;
	if (r != NULL) {
		uint32_t *n = client_count_of(r, e->op);

		__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
	}
	if (refusal != 0) {
		op->status = refusal;
		op->bad = e->offset;
		client_end_op(c, i, count);
		return;
	}
	if (r != NULL) {
		op->hpa = r->base + e->offset;
		op->len = e->len;
	}
	c->current = i;
}

/* Have an operation whose lines begin. False: there is none. */
static bool
client_take_op(struct weft_node *n, struct weft_node_client *c, uint64_t *count)
{
	struct weft_attach_sqe e;

	while (c->current == CLIENT_NONE) {
		if (client_is_leaving(c) || !weft_attach_server_has_more(&c->ring) ||
			weft_attach_server_next(&c->ring, &e) != 0)
			return false;
		c->moved_ns = n->now_ns;
		client_begin_op(c, &e, count);
	}
	return true;
}

/* --- lines --- */

/* The line that is next; bytes of it that are the operation's. */
static uint32_t
client_part(const struct client_op *op, uint64_t *line)
{
	const uint64_t at = op->hpa + op->begun;
	const uint32_t left = op->len - op->begun, room = (uint32_t)(LINE - at % LINE);

	*line = at - at % LINE;
	return left < room ? left : room;
}

/* The data of a write: from a block that its client may be changing. */
static void
client_write_data(const struct weft_node_client *c, const struct client_op *op, uint32_t part,
	struct weft_msg *m)
{
	const uint32_t first = (uint32_t)((op->hpa + op->begun) % LINE);

	memcpy(m->data + first, c->ring.data + op->data + op->begun, part);
	if (part == LINE)
		return;
	memset(m->data, 0, first);
	memset(m->data + first + part, 0, LINE - first - part);
	m->op = WEFT_M2S_RWD_MEMWRPTL;
	m->trp = 1;
	m->byte_enables = weft_mask64(part) << first;
}

/* Whom a request is for; one that leads nowhere is answered by the host's own edge port. */
static uint16_t
client_dpid(const struct weft_node *n, uint64_t hpa)
{
	struct weft_edge_decision d;

	if (n->is_hbr)
		return n->topo->pid;
	node_decide(n, hpa, &d);
	return d.reason == WEFT_EDGE_OK ? d.dpid : n->topo->pid;
}

/*
 * One target's share of all tags: what it does not answer, and tags in quarantine for it, leave
 * some for requests to others, however many targets are silent. A host of HBR form names none.
 */
static bool
client_may_ask(const struct weft_node *n, const struct weft_requester *r, uint16_t dpid)
{
	const struct weft_requester_peer *p = weft_requester_peer(r, dpid);

	const uint32_t held =
		(uint32_t)p->in_flight[WEFT_REQUEST_READ] + p->in_flight[WEFT_REQUEST_WRITE];

	/* Without any the requester says so itself. */
	return n->is_hbr || held == 0 || held < CLIENTS_HELD_PER_FREE * weft_requester_free(r);
}

static int
client_begin_line(
	struct weft_node *n, struct weft_node_client *c, struct client_op *op, struct weft_msg *m)
{
	static const uint8_t nothing[LINE];
	struct weft_requester *r = host_requester(n);
	struct weft_request rq = { .data = nothing, .len = LINE };
	uint64_t line;
	const uint32_t part = client_part(op, &line);
	const uint64_t number = line / LINE - op->hpa / LINE;
	int rc;

	rq.addr = line;
	rq.kind = op->op == WEFT_ATTACH_OP_READ ? WEFT_REQUEST_READ : WEFT_REQUEST_WRITE;
	rq.cookie = CLIENT_COOKIE | (uint64_t)c->slot << (CLIENT_LINE_BITS + CLIENT_OP_BITS) |
	            (uint64_t)(op - c->op) << CLIENT_LINE_BITS | number;
	rq.dpid = client_dpid(n, line);
	if (!client_may_ask(n, r, rq.dpid))
		return -EAGAIN;
	rc = weft_requester_begin(r, &rq, n->now_ns);
	if (rc != 0)
		return rc;
	weft_mem_request(r, &rq, m);
	if (rq.kind == WEFT_REQUEST_WRITE)
		client_write_data(c, op, part, m);
	op->begun += part;
	op->open++;
	c->open++;
	c->moved_ns = n->now_ns;
	return 0;
}

/* No other line of it would be answered. */
static bool
client_is_lost(const struct client_op *op)
{
	return op->status == -ETIMEDOUT || op->status == -ESTALE || op->status == -EACCES;
}

/* The present operation has no more lines to begin. */
static void
client_pass(struct weft_node_client *c, uint64_t *count)
{
	const uint16_t i = c->current;

	c->current = CLIENT_NONE;
	if (c->op[i].open == 0)
		client_end_op(c, i, count);
}

enum client_way
client_next(struct weft_node *n, struct weft_node_client *c, uint32_t share, uint64_t *count,
	struct weft_msg *m)
{
	struct client_op *op;
	int rc;

	if (client_is_leaving(c))
		return CLIENT_WAITS;
	while (client_take_op(n, c, count)) {
		op = &c->op[c->current];
		if (op->op == WEFT_ATTACH_OP_FENCE && c->n_ops > 1)
			return CLIENT_WAITS;
		if (op->begun == op->len || client_is_lost(op)) {
			client_pass(c, count);
			continue;
		}
		if (c->open >= share)
			return CLIENT_WAITS;
		rc = client_begin_line(n, c, op, m);
		if (rc == -EAGAIN)
			return weft_requester_is_full(host_requester(n)) ? CLIENT_NO_TAG
			                                                 : CLIENT_WAITS;
		if (rc != 0) {
			client_fail(op, -ENXIO, op->offset + op->begun);
			op->begun = op->len; /* beyond all addresses */
			continue;
		}
		count[op->op == WEFT_ATTACH_OP_READ ? WEFT_CLIENTS_N_LINES_READ
						    : WEFT_CLIENTS_N_LINES_WRITTEN]++;
		if (op->begun == op->len)
			c->current = CLIENT_NONE;
		return CLIENT_BEGAN;
	}
	return c->n_ops == 0 ? CLIENT_NOTHING : CLIENT_WAITS;
}

static int
client_status(const struct weft_completion *comp)
{
	switch (comp->status) {
	case WEFT_REQUEST_DONE: return 0;
	case WEFT_REQUEST_NXM: return -ENXIO;
	case WEFT_REQUEST_POISON: return -EIO;
	case WEFT_REQUEST_LOST: return -ETIMEDOUT;
	default: return -EACCES;
	}
}

/* What a line is to an operation: where its bytes begin in the line and in the operation. */
static uint32_t
client_place(const struct client_op *op, uint64_t number, uint32_t *in_line, uint32_t *in_op)
{
	const uint64_t line = op->hpa - op->hpa % LINE + number * LINE;
	const uint64_t first = line < op->hpa ? op->hpa : line;
	const uint64_t end = op->hpa + op->len;
	const uint64_t last = line + LINE < end ? line + LINE : end;

	*in_line = (uint32_t)(first - line);
	*in_op = (uint32_t)(first - op->hpa);
	return (uint32_t)(last - first);
}

void
client_line_ended(struct weft_node *n, struct weft_node_client *c,
	const struct weft_completion *comp, uint64_t *count)
{
	const uint16_t i =
		(uint16_t)(comp->cookie >> CLIENT_LINE_BITS & (WEFT_BIT64(CLIENT_OP_BITS) - 1));
	struct client_op *op = &c->op[i];
	const int status = client_status(comp);
	uint32_t in_line, in_op;
	const uint32_t part = client_place(
		op, comp->cookie & (WEFT_BIT64(CLIENT_LINE_BITS) - 1), &in_line, &in_op);

	if (status == 0 && comp->data != NULL)
		memcpy(c->ring.data + op->data + in_op, comp->data + in_line, part);
	if (status != 0) {
		client_fail(op, status, op->offset + in_op);
		count[WEFT_CLIENTS_N_LINES_FAILED]++;
	}
	op->open--;
	c->open--;
	c->moved_ns = n->now_ns;
	if (op->open == 0 && c->current != i)
		client_end_op(c, i, count);
}

void
client_time_out(struct weft_node *n, struct weft_node_client *c, uint64_t *count)
{
	while (c->open == 0 && client_take_op(n, c, count)) {
		struct client_op *op = &c->op[c->current];

		if (op->op != WEFT_ATTACH_OP_FENCE) {
			client_fail(op, -ETIMEDOUT, op->offset + op->begun);
			count[WEFT_CLIENTS_N_TIMED_OUT]++;
		}
		client_pass(c, count);
	}
	c->moved_ns = n->now_ns;
}

void
client_forget(struct weft_node_client *c, uint16_t dpid)
{
	struct client_op *op = c->current == CLIENT_NONE ? NULL : &c->op[c->current];

	for (unsigned int i = 0; i < WEFT_ATTACH_REGIONS; i++) {
		struct weft_node_region *r = client_region(c, i);

		if (r != NULL && (r->target[dpid / 64] >> dpid % 64 & 1) != 0)
			__atomic_store_n(&r->is_stale, true, __ATOMIC_RELAXED);
	}
	if (op != NULL && op->region != NULL &&
		__atomic_load_n(&op->region->is_stale, __ATOMIC_RELAXED))
		client_fail(op, -ESTALE, op->offset + op->begun);
}
