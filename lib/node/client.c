/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A client of a host: its operations in their order, each as requests of a line, or by UIO of up to
 * four. Requests that fail do not stop their operation, but for those that show that no other will
 * be answered. Hot.
 */

#include "clients_priv.h"

#include <errno.h>

#include "weft_uio_requester.h"

#define LINE WEFT_MSG_DATA_LEN
#define LINE_LOG2 6
#define UIO_UNIT_LOG2 8 /* what no way of an interleave is smaller than */
#define UIO_ALIGN 4

static_assert(LINE == 1 << LINE_LOG2 && WEFT_UIO_BYTES_MAX == 1 << UIO_UNIT_LOG2, "units");

/* --- operations --- */

static bool
client_is_uio(uint8_t op)
{
	return op == WEFT_ATTACH_OP_UIO_READ || op == WEFT_ATTACH_OP_UIO_WRITE;
}

/* A page that moves is written, too. */
static bool
client_is_write(uint8_t op)
{
	return op == WEFT_ATTACH_OP_WRITE || op == WEFT_ATTACH_OP_UIO_WRITE ||
	       op == WEFT_ATTACH_OP_MOVE;
}

/* Operations of its kind that a region has open. */
static uint32_t *
client_count_of(struct weft_node_region *r, uint8_t op)
{
	return &r->n_ops[client_is_write(op)];
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
client_fail(struct client_op *op, int status, uint64_t bad, uint32_t lines)
{
	if (op->bad_lines == 0 || bad < op->bad)
		op->bad = bad;
	op->bad_lines += lines;
	/* An end of the way says more than a line does. */
	if (op->status == 0 || status == -ETIMEDOUT || status == -ESTALE)
		op->status = op->status == -ESTALE ? -ESTALE : status;
}

/* Why an operation may not begin, or 0. */
static int
client_refusal(const struct weft_node *n, const struct weft_node_region *r,
	const struct weft_attach_sqe *e)
{
	const uint32_t right = client_is_write(e->op) ? WEFT_ATTACH_WRITE : WEFT_ATTACH_READ;

	const uint64_t len = e->op == WEFT_ATTACH_OP_MOVE ? 1 : e->len;

	if (r == NULL)
		return -EBADF;
	if (len > r->size || e->offset > r->size - len)
		return -EINVAL;
	if (e->op == WEFT_ATTACH_OP_MOVE && !ats_is_agent(n))
		return -EOPNOTSUPP;
	if (client_is_uio(e->op) && uio_requester(n) == NULL)
		return -EOPNOTSUPP;
	if (client_is_uio(e->op) && ((r->base + e->offset) | e->len) % UIO_ALIGN != 0)
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
client_begin_op(const struct weft_node *n, struct weft_node_client *c,
	const struct weft_attach_sqe *e, uint64_t *count)
{
	struct weft_node_region *r =
		e->op == WEFT_ATTACH_OP_FENCE ? NULL : client_region(c, e->handle);
	const int refusal = e->op == WEFT_ATTACH_OP_FENCE ? 0 : client_refusal(n, r, e);
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
		uint32_t *open = client_count_of(r, e->op);

		__atomic_store_n(open, *open + 1, __ATOMIC_RELAXED);
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

/* Have an operation whose requests begin. False: there is none. */
static bool
client_take_op(const struct weft_node *n, struct weft_node_client *c, uint64_t *count)
{
	struct weft_attach_sqe e;

	while (c->current == CLIENT_NONE) {
		if (n->drain.holds || client_is_leaving(c) ||
			!weft_attach_server_has_more(&c->ring) ||
			weft_attach_server_next(&c->ring, &e) != 0)
			return false;
		c->moved_ns = n->now_ns;
		client_begin_op(n, c, &e, count);
	}
	return true;
}

/* --- requests --- */

/* Bytes that no request of an operation goes beyond a multiple of, as a power of 2. */
static unsigned int
client_unit_log2(const struct client_op *op)
{
	return client_is_uio(op->op) ? UIO_UNIT_LOG2 : LINE_LOG2;
}

/* Bytes of the request that is next. */
static uint32_t
client_part(const struct client_op *op, uint64_t at)
{
	const uint32_t unit = 1u << client_unit_log2(op);
	const uint32_t left = op->len - op->begun, room = unit - (uint32_t)(at & (unit - 1));

	return left < room ? left : room;
}

static uint32_t
client_lines_of(uint64_t at, uint32_t part)
{
	return (uint32_t)((at % LINE + part + LINE - 1) / LINE);
}

/* Whom a request is for; one that leads nowhere is answered by the host's own edge port. */
static uint16_t
client_dpid(const struct weft_node *n, uint64_t hpa, bool is_uio)
{
	struct weft_edge_decision d;

	if (n->is_hbr)
		return is_uio ? WEFT_REQUESTER_ANYBODY : n->topo->pid;
	node_decide(n, is_uio ? WEFT_EDGE_UIO : WEFT_EDGE_MEM, hpa, &d);
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
	uint32_t held;

	if (n->is_hbr)
		return true;
	held = (uint32_t)p->in_flight[WEFT_REQUEST_READ] + p->in_flight[WEFT_REQUEST_WRITE];
	/* Without any the requester says so itself. */
	return held == 0 || held < CLIENTS_HELD_PER_FREE * weft_requester_free(r);
}

/* The data of a write is from a block that its client may be changing: it is copied once. */
static void
client_make_msg(const struct weft_node *n, const struct client_op *op, const uint8_t *data,
	struct weft_request *rq, uint32_t part, struct weft_msg *m)
{
	const uint32_t first = (uint32_t)((op->hpa + op->begun) % LINE);

	weft_mem_request(host_requester(n), rq, m);
	if (rq->kind == WEFT_REQUEST_READ)
		return;
	memcpy(m->data + first, data, part);
	if (part == LINE)
		return;
	memset(m->data, 0, first);
	memset(m->data + first + part, 0, LINE - first - part);
	m->op = WEFT_M2S_RWD_MEMWRPTL;
	m->trp = 1;
	m->byte_enables = weft_mask64(part) << first;
}

static uint64_t
client_cookie(const struct weft_node_client *c, const struct client_op *op, uint64_t unit)
{
	return CLIENT_COOKIE | (uint64_t)c->slot << (CLIENT_UNIT_BITS + CLIENT_OP_BITS) |
	       (uint64_t)(op - c->op) << CLIENT_UNIT_BITS | unit;
}

static int
client_begin_request(struct weft_node *n, struct weft_node_client *c, struct client_op *op,
	struct client_request *out, uint64_t *count)
{
	static const uint8_t nothing[LINE];
	const bool is_uio = out->msg == NULL;
	struct weft_requester *r = is_uio ? uio_requester(n) : host_requester(n);
	const uint8_t *data = c->ring.data + op->data + op->begun;
	const uint64_t at = op->hpa + op->begun;
	const uint32_t part = client_part(op, at);
	const unsigned int log2 = client_unit_log2(op);
	struct weft_request rq = {
		.addr = is_uio ? at : at - at % LINE,
		.len = is_uio ? (uint16_t)part : LINE,
		.data = is_uio ? data : nothing,
		.kind = client_is_write(op->op) ? WEFT_REQUEST_WRITE : WEFT_REQUEST_READ,
		.cookie = client_cookie(c, op, (at >> log2) - (op->hpa >> log2)),
		.dpid = client_dpid(n, at, is_uio),
	};
	int rc;

	if (!client_may_ask(n, r, rq.dpid) || (is_uio && !uio_may_send(n, rq.dpid)))
		return -EAGAIN;
	rc = weft_requester_begin(r, &rq, n->now_ns);
	if (rc != 0)
		return rc;
	if (is_uio)
		weft_uio_request(r, &rq, out->tlp);
	else
		client_make_msg(n, op, data, &rq, part, out->msg);
	out->tag = rq.tag;
	count[client_is_write(op->op) ? WEFT_CLIENTS_N_LINES_WRITTEN : WEFT_CLIENTS_N_LINES_READ] +=
		client_lines_of(at, part);
	op->begun += part;
	op->open++;
	c->open++;
	c->moved_ns = n->now_ns;
	return 0;
}

/* False: it has to wait. */
static bool
client_begin_move(struct weft_node *n, struct weft_node_client *c, struct client_op *op)
{
	const int rc = ats_move(n, op->region, op->hpa, client_cookie(c, op, 0));

	if (rc == -EAGAIN)
		return false;
	if (rc != 0) {
		client_fail(op, rc, op->offset, 1);
		return true;
	}
	op->open++;
	c->open++;
	c->moved_ns = n->now_ns;
	return true;
}

/* No other request of it would be answered. */
static bool
client_is_lost(const struct client_op *op)
{
	return op->status == -ETIMEDOUT || op->status == -ESTALE || op->status == -EACCES;
}

/* The present operation has no more requests to begin. */
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
	struct client_request *out)
{
	const bool is_uio = out->msg == NULL;
	struct client_op *op;
	int rc;

	if (client_is_leaving(c))
		return CLIENT_WAITS;
	while (client_take_op(n, c, count)) {
		op = &c->op[c->current];
		if (op->op == WEFT_ATTACH_OP_FENCE && c->n_ops > 1)
			return CLIENT_WAITS;
		if (op->op == WEFT_ATTACH_OP_MOVE &&
			(c->open >= share || !client_begin_move(n, c, op)))
			return CLIENT_WAITS;
		if (op->begun == op->len || client_is_lost(op)) {
			client_pass(c, count);
			continue;
		}
		if (c->open >= share || client_is_uio(op->op) != is_uio)
			return CLIENT_WAITS;
		rc = client_begin_request(n, c, op, out, count);
		if (rc == -EAGAIN)
			return weft_requester_is_full(is_uio ? uio_requester(n) : host_requester(n))
			               ? CLIENT_NO_TAG
			               : CLIENT_WAITS;
		if (rc != 0) {
			client_fail(op, -ENXIO, op->offset + op->begun, 1);
			op->begun = op->len; /* beyond all addresses */
			continue;
		}
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
	case WEFT_REQUEST_NXM:
	case WEFT_REQUEST_UR: return -ENXIO;
	case WEFT_REQUEST_POISON: return -EIO;
	case WEFT_REQUEST_LOST: return -ETIMEDOUT;
	default: return -EACCES;
	}
}

/* Where a request began, and how many bytes of the operation it was for. */
static uint64_t
client_place(const struct client_op *op, uint64_t number, uint32_t *part)
{
	const unsigned int log2 = client_unit_log2(op);
	const uint64_t unit = ((op->hpa >> log2) + number) << log2;
	const uint64_t first = unit < op->hpa ? op->hpa : unit;
	const uint64_t end = op->hpa + op->len, behind = unit + WEFT_BIT64(log2);

	*part = (uint32_t)((behind < end ? behind : end) - first);
	return first;
}

void
client_request_ended(struct weft_node *n, struct weft_node_client *c,
	const struct weft_completion *comp, uint64_t *count)
{
	const uint16_t i =
		(uint16_t)(comp->cookie >> CLIENT_UNIT_BITS & (WEFT_BIT64(CLIENT_OP_BITS) - 1));
	struct client_op *op = &c->op[i];
	const int status = client_status(comp);
	uint32_t part;
	const uint64_t at =
		client_place(op, comp->cookie & (WEFT_BIT64(CLIENT_UNIT_BITS) - 1), &part);

	/* By CXL.mem the whole line comes. */
	if (status == 0 && comp->data != NULL)
		memcpy(c->ring.data + op->data + (at - op->hpa),
			comp->data + (client_is_uio(op->op) ? 0 : at % LINE), part);
	if (status != 0) {
		const uint32_t lines = client_lines_of(at, part);

		client_fail(op, status, op->offset + (at - op->hpa), lines);
		count[WEFT_CLIENTS_N_LINES_FAILED] += lines;
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
			client_fail(op, -ETIMEDOUT, op->offset + op->begun, 1);
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
		client_fail(op, -ESTALE, op->offset + op->begun, 1);
}
