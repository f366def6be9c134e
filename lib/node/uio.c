/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO at a host, GFD or device, and its edge port (fabric.md sections 1.5, 1.12 and 2.4): requests
 * are decoded by FAST or LDST, or go where their prefix says; what comes in is given a prefix, or
 * refused; answers go back by prefix or re-router. Between the two there is a PTH and no prefix.
 */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_clients.h"
#include "weft_edge_link.h"
#include "weft_gfd.h"
#include "weft_line.h"
#include "weft_resolve.h"
#include "weft_telem.h"
#include "weft_uio_memory.h"
#include "weft_uio_requester.h"

#define REQUESTS_A_POLL 64
#define WRITER 0x10000u /* the first writer that is none of CXL.mem */

/* Answers that wait for credit or window; no request is executed before they have gone. */
struct uio_answers {
	uint64_t session; /* in which they were asked for, by the count of its link's */
	unsigned int at, n;
	struct weft_io_tlp cpl[WEFT_UIO_CPLS_MAX];
};

struct uio {
	struct weft_requester *requester; /* NULL: it asks nothing */
	struct node_source source; /* no traffic: but for programs */
	struct weft_uio_memory memory;
	uint8_t *own; /* mapped here: what a host offers, or a device has */
	size_t own_len;
	uint64_t *poison; /* of `own`, a bit a line */
	struct uio_answers *answers; /* by peer */
	struct weft_io_tlp held; /* request that waits for credit or window */
	uint16_t held_tag;
	struct weft_node_link *held_for; /* NULL: none waits */
	uint64_t expire_due_ns;
	bool programs_first; /* at the next poll */
	uint64_t stopped[WEFT_NODE_EDGE_REASONS]; /* requests that the edge port answered, by why */
	uint64_t count[WEFT_NODE_EDGE_N_COUNTERS];
	uint8_t is_done; /* read by the control thread */
};

static struct uio *
uio_of(const struct weft_node *n)
{
	return NODE_SERVICE_OF(n, uio);
}

struct weft_requester *
uio_requester(const struct weft_node *n)
{
	const struct uio *u = uio_of(n);

	return u == NULL ? NULL : u->requester;
}

bool
weft_node_clients_have_uio(const struct weft_node *n)
{
	return uio_requester(n) != NULL;
}

/* A request has ended: of the node's load, or of a program. */
static void
uio_complete(void *arg, const struct weft_completion *c)
{
	struct weft_node *n = arg;

	if (!node_clients.complete(n, NODE_SERVICE_OF(n, clients), c))
		weft_traffic_complete(uio_of(n)->source.traffic, c);
}

struct node_source *
uio_source(const struct weft_node *n)
{
	struct uio *u = uio_of(n);

	return u == NULL || u->source.traffic == NULL ? NULL : &u->source;
}

/* --- answers, on their way out --- */

static uint64_t
uio_session(const struct weft_node_link *l)
{
	return weft_link_session(l->end)->count[WEFT_SESSION_N_BEGUN];
}

static void
uio_send_answers(struct weft_node_link *l, struct uio_answers *a)
{
	struct weft_node *n = l->node;

	/* rxl: who is there in the next session did not ask for them, and has those tags again. */
	if (!weft_node_is_cxl(n) && a->session != uio_session(l))
		a->at = a->n = 0;
	for (; a->at < a->n; a->at++) {
		struct weft_node_link *p = node_link_to(n, a->cpl[a->at].dpid);
		const int rc = p == NULL ? -EINVAL : weft_link_send_io(p->end, &a->cpl[a->at]);

		/*
		 * A link that is down comes back; a connection's session takes its answers with it.
		 */
		if (rc == -EAGAIN || (rc == -ENOTCONN && weft_node_is_cxl(n)))
			return;
		if (rc != 0)
			node_drop(n, WEFT_DROP_NO_CONN);
		else
			weft_node_set_due(p, 0);
	}
	a->at = a->n = 0;
}

/* What the edge port makes of an answer of the host or device. @return whether it goes on */
static bool
uio_edge_answer(struct weft_node *n, struct weft_io_tlp *cpl)
{
	struct weft_edge_decision d;

	if (n->is_hbr)
		return true; /* the switch's */
	weft_edge_tlp_in(node_edge(n), n->topo->kind == WEFT_TOPO_HOST, cpl, &d);
	edge_count_answer(uio_of(n)->count, &d);
	return d.reason == WEFT_EDGE_OK;
}

static void
uio_to_requester(const struct weft_node *n, const struct weft_io_tlp *req, struct weft_io_tlp *cpl)
{
	cpl->spid = n->topo->pid;
	cpl->dpid = req->spid;
	cpl->pif = true;
	cpl->has_prefix = false;
}

/* What the edge port makes of a request from the fabric. @return whether it comes in */
static bool
uio_edge_egress(struct weft_node *n, struct weft_io_tlp *req, struct uio_answers *a)
{
	switch (weft_edge_egress(node_edge(n), WEFT_EDGE_UIO, req->pif)) {
	case WEFT_EGRESS_UR:
		uio_of(n)->count[WEFT_NODE_EDGE_N_EGRESS_UR]++;
		if (weft_uio_refuse(req, WEFT_UIO_UR, 0, &a->cpl[0]) != 0)
			return false;
		uio_to_requester(n, req, &a->cpl[0]);
		a->n = 1;
		return false;
	case WEFT_EGRESS_PREFIX:
		uio_of(n)->count[WEFT_NODE_EDGE_N_PREFIX_ADDED]++;
		req->has_prefix = true;
		req->prefix_pid = req->spid;
		return true;
	default: return true;
	}
}

void
uio_look_ahead(const struct weft_node *n, const uint8_t *flit)
{
	const struct uio *u = uio_of(n);

	if (u != NULL)
		weft_uio_look_ahead(&u->memory, flit);
}

/* Serve a request as it came from the fabric; @p a receives the answers, addressed. */
static void
uio_serve(struct weft_node *n, const struct weft_io_tlp *t, struct uio_answers *a)
{
	struct weft_io_tlp req __attribute__((uninitialized)); /* up to its length it is set */
	enum weft_verdict v;
	unsigned int made = 0;

	weft_io_copy(&req, t);
	/* Behind the switch's edge port nobody is named but the requester. */
	if (n->is_hbr)
		req.spid = (uint16_t)weft_edge_requester(t) & (WEFT_PIDS - 1);
	else if (!uio_edge_egress(n, &req, a))
		return;
	v = weft_uio_serve(&uio_of(n)->memory, &req, a->cpl, &made);
	if (v != WEFT_OK)
		node_drop(n, v);
	for (unsigned int i = 0; i < made; i++) {
		if (n->topo->kind == WEFT_TOPO_GFD)
			uio_to_requester(n, &req, &a->cpl[i]);
		else if (!uio_edge_answer(n, &a->cpl[i]))
			continue;
		if (a->n != i)
			weft_io_copy(&a->cpl[a->n], &a->cpl[i]);
		a->n++;
	}
}

static void
uio_poison(struct weft_node *n, void *state)
{
	struct uio *u = state;

	(void)n;
	if (u->poison != NULL)
		memset(u->poison, 0xFF, weft_gfd_poison_size(u->own_len));
}

/* --- packets that come in --- */

/* False: it has to wait, as its answers would. */
static bool
uio_request_in(struct weft_node_link *p, const struct weft_io_tlp *t)
{
	struct weft_node *n = p->node;
	struct uio_answers *a = &uio_of(n)->answers[p - n->link];

	uio_send_answers(p, a);
	if (a->n != 0)
		return false;
	a->session = uio_session(p);
	uio_serve(n, t, a);
	uio_send_answers(p, a);
	return true;
}

static void
uio_answer_in(struct weft_node *n, const struct weft_io_tlp *t)
{
	enum weft_verdict v = WEFT_DROP_NO_TAG;
	struct weft_completion c;

	if (uio_of(n)->requester != NULL)
		v = weft_uio_response(uio_of(n)->requester, t, n->now_ns, &c);
	if (v != WEFT_OK)
		node_drop(n, v);
	else if (c.status != WEFT_REQUEST_PART)
		uio_complete(n, &c);
}

static bool
uio_packet(struct weft_node_link *p, void *state, const struct weft_io_tlp *t)
{
	struct weft_node *n = p->node;
	enum weft_verdict why = WEFT_DROP_WRONG_CLASS;

	(void)state;
	/* Drop a spoofed SPID. Links to a switch are exempt: the switch has checked. */
	if (!p->is_switch && t->spid != p->pid)
		return weft_node_refuse(p, t->spid);
	if (!n->is_hbr && t->dpid != n->topo->pid)
		why = WEFT_DROP_NOT_MINE;
	else if (weft_io_class(t) == WEFT_IO_REQUEST)
		return uio_request_in(p, t);
	else if (weft_io_class(t) == WEFT_IO_COMPLETION) {
		uio_answer_in(n, t);
		return true;
	}
	node_drop(n, why);
	return true;
}

/* --- requests, on their way out --- */

/* The edge port answers what may not go on. */
static void
uio_stop(struct weft_node *n, const struct weft_io_tlp *t, uint16_t tag, uint8_t why)
{
	struct weft_io_tlp cpl;

	uio_of(n)->stopped[why]++;
	weft_requester_sent_to(uio_of(n)->requester, tag, WEFT_REQUESTER_ANYBODY, n->now_ns);
	if (weft_uio_refuse(t, WEFT_UIO_UR, 0, &cpl) == 0)
		uio_answer_in(n, &cpl);
}

/* @return whom it goes to, or NULL: it was answered here */
static struct weft_node_link *
uio_edge_request(struct weft_node *n, struct weft_io_tlp *t, uint16_t tag)
{
	struct weft_edge_decision d;
	struct weft_node_link *p;

	if (n->is_hbr) {
		weft_requester_sent_to(
			uio_of(n)->requester, tag, WEFT_REQUESTER_ANYBODY, n->now_ns);
		return n->link;
	}
	weft_edge_tlp_in(node_edge(n), n->topo->kind == WEFT_TOPO_HOST, t, &d);
	if (d.reason != WEFT_EDGE_OK) {
		uio_stop(n, t, tag, d.reason);
		return NULL;
	}
	edge_count_request(uio_of(n)->count, n->cfg.topo, &d);
	weft_requester_sent_to(uio_of(n)->requester, tag, d.dpid, n->now_ns);
	p = node_link_to(n, d.dpid);
	if (p == NULL)
		node_drop(n, WEFT_DROP_NO_CONN);
	return p;
}

/* A host or device that uses flow 2 says itself who has the memory. */
static void
uio_add_prefix(const struct weft_node *n, struct weft_io_tlp *t, uint64_t addr)
{
	const struct weft_topo *topo = n->cfg.topo;
	const uint64_t index = (addr - weft_topo_fast_base(topo)) >> topo->map.segment_log2;
	const struct weft_topo_segment *s = &topo->map.segment[index];

	if (n->load->uio.prefix == 0 || !s->is_gim)
		return;
	t->has_prefix = true;
	t->prefix_pid = topo->node[topo->map.target[s->first_target].node].pid;
}

/* @return whether the request that was held has gone */
static bool
uio_send_held(struct weft_node *n)
{
	struct uio *u = uio_of(n);
	struct weft_node_link *p = u->held_for;
	int rc;

	if (p == NULL)
		return true;
	/* Given up by now: it must not turn up later than its line is left alone for. */
	if (!weft_requester_is_open(u->requester, u->held_tag)) {
		u->held_for = NULL;
		return true;
	}
	rc = weft_link_send_io(p->end, &u->held);
	if (rc == -EAGAIN || rc == -ENOTCONN)
		return false;
	if (rc == 0)
		weft_node_set_due(p, 0);
	else
		node_drop(n, WEFT_DROP_BAD_OPCODE);
	u->held_for = NULL;
	return true;
}

static unsigned int
uio_send_requests(struct weft_node *n)
{
	struct uio *u = uio_of(n);
	unsigned int sent = 0;
	int rc = 0;

	/* What is held goes on in any case: a change of rights waits for it. */
	while (sent < REQUESTS_A_POLL && uio_send_held(n) && !u->source.is_changing &&
		!n->drain.holds) {
		struct weft_request rq;

		rc = weft_traffic_next(u->source.traffic, n->now_ns, &rq);
		if (rc != 0)
			break;
		sent++;
		weft_uio_request(u->requester, &rq, &u->held);
		u->held_tag = rq.tag;
		uio_add_prefix(n, &u->held, rq.addr);
		u->held_for = uio_edge_request(n, &u->held, u->held_tag);
	}
	if (rc == -ESHUTDOWN)
		__atomic_store_n(&u->is_done, 1, __ATOMIC_RELAXED);
	return sent;
}

bool
uio_may_send(struct weft_node *n, uint16_t dpid)
{
	const struct weft_node_link *p = n->is_hbr ? n->link : node_link_to(n, dpid);

	return p == NULL || (!n->is_hbr && dpid == n->topo->pid) ||
	       weft_link_can_send_io(p->end, WEFT_IO_REQUEST);
}

/* Programs hold nothing back: what one asks for is taken, or it stays in its ring. */
static unsigned int
uio_send_programs(struct weft_node *n)
{
	unsigned int sent = 0;
	struct weft_io_tlp t;
	uint16_t tag;

	for (; sent < REQUESTS_A_POLL && clients_next_uio(n, &t, &tag) == 0; sent++) {
		struct weft_node_link *p = uio_edge_request(n, &t, tag);

		if (p == NULL)
			continue;
		if (weft_link_send_io(p->end, &t) == 0)
			weft_node_set_due(p, 0);
		else
			node_drop(n, WEFT_DROP_TX_FULL); /* cannot be: it was asked before */
	}
	return sent;
}

/* The node's load and programs, first the one and then the other. */
static unsigned int
uio_send(struct weft_node *n)
{
	struct uio *u = uio_of(n);
	unsigned int sent = 0;

	u->programs_first = !u->programs_first;
	for (unsigned int i = 0; i < 2; i++) {
		if ((i == 0) != u->programs_first)
			sent += uio_send_programs(n);
		else if (u->source.traffic != NULL && !u->is_done)
			sent += uio_send_requests(n);
	}
	return sent;
}

static unsigned int
uio_poll(struct weft_node *n, void *state, bool may_ask)
{
	struct uio *u = state;

	for (uint16_t i = 0; i < n->n_links; i++) {
		struct weft_node_link *p = &n->link[i];
		const struct weft_io_tlp *t;

		uio_send_answers(p, &u->answers[i]);
		while ((t = weft_link_io_peek(p->end, WEFT_IO_REQUEST)) != NULL &&
			uio_request_in(p, t)) {
			weft_link_io_pop(p->end, WEFT_IO_REQUEST);
			weft_node_set_due(p, 0);
		}
	}
	if (u->requester == NULL)
		return 0;
	if (n->now_ns >= u->expire_due_ns) {
		u->expire_due_ns = n->now_ns + NODE_EXPIRE_EVERY_NS;
		weft_requester_expire(u->requester, n->now_ns, uio_complete, n, NODE_EXPIRE_BATCH);
	}
	if (u->source.traffic != NULL)
		source_may_begin(&u->source);
	return may_ask && n->was_up ? uio_send(n) : 0;
}

static void
uio_abort(struct weft_node *n, void *state, uint16_t dpid)
{
	struct uio *u = state;

	if (u->requester != NULL)
		weft_requester_abort(u->requester, dpid, true, n->now_ns, uio_complete, n);
}

static void
uio_forget(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
	struct weft_node_memory *m)
{
	struct uio *u = state;

	(void)n;
	if (u->source.traffic != NULL)
		m->forgotten += weft_traffic_forget(u->source.traffic, dpid, how);
}

static bool
uio_is_done(const void *state)
{
	const struct uio *u = state;

	return u->source.traffic == NULL || __atomic_load_n(&u->is_done, __ATOMIC_RELAXED);
}

static bool
uio_is_good(const struct weft_node *n, const void *state)
{
	const struct uio *u = state;
	const uint64_t *c;

	(void)n;
	if (u->source.traffic == NULL)
		return true;
	c = weft_traffic_counts(u->source.traffic);
	return c[WEFT_TRAFFIC_N_MISMATCHES] == 0 && c[WEFT_TRAFFIC_N_FAILED] == 0 &&
	       c[WEFT_TRAFFIC_N_LOST] == 0;
}

/* --- set up --- */

static enum weft_expect
uio_answer_of_rule(const struct weft_resolve *r)
{
	if (r->is_unanswered)
		return WEFT_EXPECT_NONE;
	switch (r->rule) {
	case WEFT_RESOLVE_ALLOWED: return WEFT_EXPECT_DATA;
	case WEFT_RESOLVE_NO_GROUP:
	case WEFT_RESOLVE_DENIED:
	case WEFT_RESOLVE_NO_WINDOW:
	case WEFT_RESOLVE_WINDOW: return WEFT_EXPECT_CA;
	case WEFT_RESOLVE_NO_ROUTE: return WEFT_EXPECT_NONE;
	default: return WEFT_EXPECT_UR;
	}
}

/* What --resolve says, and the port's rule for prefixes, which it does not ask about. */
static enum weft_expect
uio_answer(const struct weft_node *n, const struct weft_topo *t, uint64_t hpa, uint16_t *dpid)
{
	struct weft_resolve r;

	*dpid = n->topo->pid; /* its edge port answers, unless */
	if (weft_resolve(t, n->cfg.index, hpa, true, &r, n->hop) != 0)
		return WEFT_EXPECT_UR;
	if (r.dpid != WEFT_RESOLVE_NONE)
		*dpid = r.dpid;
	if (n->load->uio.prefix != 0 && !n->topo->ingress_prefix &&
		r.segment != WEFT_RESOLVE_NONE && t->map.segment[r.segment].is_gim)
		return WEFT_EXPECT_UR;
	return uio_answer_of_rule(&r);
}

static int
uio_make_traffic(struct weft_node *n)
{
	const struct weft_load_uio *tr = &n->load->uio;
	struct weft_traffic_cfg cfg = {
		.seed = tr->seed,
		.requests = tr->requests == 0 ? UINT64_MAX : tr->requests,
		.outstanding = tr->outstanding,
		.rate = tr->rate,
		.writer = WRITER + n->cfg.index,
		.write_percent = tr->write_percent,
		.request_lines = (uint8_t)(tr->bytes / WEFT_LINE_LEN),
	};
	struct uio *u = uio_of(n);
	size_t size;

	u->source.lines = (struct source_lines){ .first = tr->first_line,
		.n = tr->lines,
		.unit = WEFT_TRAFFIC_UNIT_MAX,
		.expect = uio_answer };
	return source_make(n, &cfg, &u->source, u->requester, &size) ? 0 : -ENOMEM;
}

static int
uio_make_requester(struct weft_node *n)
{
	const bool loads = n->load->has_uio;
	const uint64_t timeout_ns = node_timeout_ns(n, loads, n->load->uio.timeout_ms);
	const uint32_t tags =
		source_tags((loads ? n->load->uio.outstanding : 0) + node_clients.tags(n));
	const struct weft_requester_cfg cfg = {
		.protocol = WEFT_REQUESTER_UIO,
		.timeout_ns = timeout_ns,
		.quarantine_ns = timeout_ns,
		.tags = tags < WEFT_UIO_TAGS ? tags : WEFT_UIO_TAGS,
		.id = n->topo->pid,
		.clock = n->clock,
		.run = n->cfg.run,
	};
	void *mem = node_alloc(n, weft_requester_size(&cfg));

	uio_of(n)->requester = mem == NULL ? NULL : weft_requester_init(mem, &cfg);
	if (uio_of(n)->requester == NULL)
		return -ENOMEM;
	return loads ? uio_make_traffic(n) : 0;
}

/* Address of the first segment with memory of the node, 0 without one. */
static uint64_t
uio_first_base(const struct weft_node *n)
{
	const struct weft_topo *t = n->cfg.topo;

	for (unsigned int s = 0; s < t->map.n_segments; s++)
		if (t->map.target[t->map.segment[s].first_target].node == n->cfg.index)
			return t->map.segment[s].base;
	return 0;
}

/* A GFD has its memory already; that of hosts and devices is made here. */
static int
uio_make_memory(struct weft_node *n)
{
	struct uio *u = uio_of(n);
	const struct weft_gfd *gfd = weft_node_gfd(n);
	struct weft_uio_memory_cfg cfg = { .hpa_base = uio_first_base(n) };

	if (gfd != NULL) {
		cfg.mem = gfd->mem;
		cfg.len = gfd->len_bytes;
		cfg.poison = gfd->poison;
		cfg.split = WEFT_UIO_BYTES_MAX;
	} else {
		cfg.split = WEFT_UIO_BYTES_MAX / 2;
		cfg.len = n->topo->kind == WEFT_TOPO_HOST ? n->topo->gim : n->topo->memory;
		cfg.by_prefix = n->topo->kind == WEFT_TOPO_HOST;
		cfg.completer = n->topo->kind == WEFT_TOPO_DEVICE ? n->topo->pid : 0;
		u->own_len = cfg.len;
		u->own = cfg.len == 0 ? NULL : n->cfg.world->map(n->cfg.world_arg, cfg.len);
		u->poison = node_alloc(n, weft_gfd_poison_size(cfg.len) + sizeof(uint64_t));
		if ((cfg.len != 0 && u->own == NULL) || u->poison == NULL)
			return -ENOMEM;
		cfg.mem = u->own;
		cfg.poison = u->poison;
	}
	cfg.guard = n->cfg.guard;
	return weft_uio_memory_init(&u->memory, &cfg);
}

/* Packets for an agent are those of translations. */
static bool
uio_is_wanted(const struct weft_node *n)
{
	return n->load->has_uio ||
	       (n->topo->n_translations == 0 && weft_node_takes_clients(n->topo, n->load));
}

static int
uio_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	struct uio *u;
	int rc;

	if (n->cfg.topo->cxl_io.packets == 0 || !n->kind->has_links ||
		n->topo->kind == WEFT_TOPO_SWITCH)
		return 0;
	snprintf(err, err_len, "node %s: no room for UIO", n->topo->name);
	*state = u = node_alloc(n, sizeof(*u));
	if (u == NULL)
		return -ENOMEM;
	u->answers = node_alloc(n, ((size_t)n->n_links + 1) * sizeof(*u->answers));
	if (u->answers == NULL)
		return -ENOMEM;
	rc = uio_make_memory(n);
	return rc == 0 && uio_is_wanted(n) ? uio_make_requester(n) : rc;
}

static void
uio_fini(struct weft_node *n, void *state)
{
	struct uio *u = state;

	node_free(n, u->source.traffic);
	node_free(n, u->requester);
	n->cfg.world->unmap(n->cfg.world_arg, u->own, u->own_len);
	node_free(n, u->answers);
	node_free(n, u->poison);
	node_free(n, u);
}

/* --- what was counted --- */

static unsigned int
uio_counters(const struct weft_node *n, const void *state, struct weft_node_set *set)
{
	const struct uio *u = state;
	unsigned int i = 0;

	(void)n;
	if (u->requester != NULL)
		set[i++] = (struct weft_node_set){ "uio", "requests", "uio", weft_uio_counters,
			weft_requester_counts(u->requester), WEFT_UIO_N_COUNTERS };
	if (u->source.traffic != NULL)
		set[i++] = (struct weft_node_set){ "uio", "traffic", "uio_traffic",
			weft_traffic_uio_counters, weft_traffic_counts(u->source.traffic),
			WEFT_TRAFFIC_N_UIO_COUNTERS };
	set[i++] = (struct weft_node_set){ "uio", "memory", "uio_memory", weft_uio_memory_counters,
		u->memory.count, WEFT_UIO_MEMORY_N_COUNTERS };
	set[i++] = (struct weft_node_set){ "uio", "edge", "uio_edge", weft_node_edge_counters,
		u->count, WEFT_NODE_EDGE_N_COUNTERS };
	return i;
}

bool
weft_node_uio(const struct weft_node *n, struct weft_node_requests *r)
{
	const struct uio *u = uio_of(n);

	if (u == NULL)
		return false;
	*r = (struct weft_node_requests){ u->requester, u->source.traffic, u->stopped,
		__atomic_load_n(&u->is_done, __ATOMIC_RELAXED) };
	return true;
}

const struct weft_node_service node_uio = {
	.name = "uio",
	.init = uio_init,
	.fini = uio_fini,
	.packet = uio_packet,
	.abort = uio_abort,
	.forget = uio_forget,
	.poison = uio_poison,
	.poll = uio_poll,
	.is_done = uio_is_done,
	.is_good = uio_is_good,
	.counters = uio_counters,
};
