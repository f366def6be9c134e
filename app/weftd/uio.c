/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * UIO at a host, GFD or device, and its edge port (fabric.md sections 1.5, 1.12 and 2.4): requests are
 * decoded by FAST or LDST, or go where their prefix says; what comes in is given a prefix, or refused;
 * answers go back by prefix or re-router. Between the two there is a PTH and no prefix.
 */

#include "edge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <rte_malloc.h>

#include "weft_edge_link.h"
#include "weft_line.h"
#include "weft_uio_memory.h"
#include "weft_uio_requester.h"

#define EXPIRE_EVERY_NS UINT64_C(1000000)
#define EXPIRE_BATCH 64
#define REQUESTS_A_POLL 64
#define SPLIT 128 /* completions end at multiples of it */
#define WRITER 0x10000u /* the first writer that is none of CXL.mem */

/* Answers that wait for credit or window; no request is executed before they have gone. */
struct uio_answers {
	unsigned int at, n;
	struct weft_io_tlp cpl[WEFT_UIO_CPLS_MAX];
};

struct uio {
	struct weft_requester *requester; /* these two: NULL: it asks nothing */
	struct weft_traffic *traffic;
	struct weft_uio_memory memory;
	uint8_t *own; /* mapped here: what a host offers, or a device has */
	size_t own_len;
	uint64_t *poison; /* of `own`, a bit a line */
	struct uio_answers *answers; /* by peer */
	struct weft_io_tlp held; /* request that waits for credit or window */
	uint16_t held_tag;
	struct weft_node_link *held_for; /* NULL: none waits */
	uint64_t expire_due_ns;
	uint64_t stopped[EDGE_REASONS]; /* requests that the edge port answered, by why */
	uint64_t count[EDGE_N_COUNTERS];
	uint8_t is_done; /* read by the control thread */
};

static const struct weft_edge *
uio_edge_of(const struct node *n)
{
	return weft_tables_edge(weft_tables_now(&n->tables.slot), 0);
}

static struct weft_node_link *
uio_peer_to(struct node *n, uint16_t dpid)
{
	return daemon_is_cxl(n->daemon) ? n->node->link : weft_node_link_find(n->node, dpid);
}

/* --- answers, on their way out --- */

static void
uio_send_answers(struct node *n, struct uio_answers *a)
{
	for (; a->at < a->n; a->at++) {
		struct weft_node_link *p = uio_peer_to(n, a->cpl[a->at].dpid);
		const int rc = p == NULL ? -EINVAL : weft_end_send_io(p->end, &a->cpl[a->at]);

		/* A link that is down comes back; a connection's session takes its answers with it. */
		if (rc == -EAGAIN || (rc == -ENOTCONN && daemon_is_cxl(n->daemon)))
			return;
		if (rc != 0)
			n->node->drops[WEFT_DROP_NO_CONN]++;
		else
			p->due_ns = 0;
	}
	a->at = a->n = 0;
}

/* What the edge port makes of an answer of the host or device. @return whether it goes on */
static bool
uio_edge_answer(struct node *n, struct weft_io_tlp *cpl)
{
	struct weft_edge_decision d;

	if (daemon_is_hbr(n))
		return true; /* the switch's */
	weft_edge_tlp_in(uio_edge_of(n), n->topo->kind == WEFT_TOPO_HOST, cpl, &d);
	edge_count_answer(n->uio->count, &d);
	return d.reason == WEFT_EDGE_OK;
}

static void
uio_to_requester(const struct node *n, const struct weft_io_tlp *req, struct weft_io_tlp *cpl)
{
	cpl->spid = n->topo->pid;
	cpl->dpid = req->spid;
	cpl->pif = true;
	cpl->has_prefix = false;
}

/* What the edge port makes of a request from the fabric. @return whether it comes in */
static bool
uio_edge_egress(struct node *n, struct weft_io_tlp *req, struct uio_answers *a)
{
	switch (weft_edge_egress(uio_edge_of(n), WEFT_EDGE_UIO, req->pif)) {
	case WEFT_EGRESS_UR:
		n->uio->count[EDGE_N_EGRESS_UR]++;
		if (weft_uio_refuse(req, WEFT_UIO_UR, 0, &a->cpl[0]) != 0)
			return false;
		uio_to_requester(n, req, &a->cpl[0]);
		a->n = 1;
		return false;
	case WEFT_EGRESS_PREFIX:
		n->uio->count[EDGE_N_PREFIX_ADDED]++;
		req->has_prefix = true;
		req->prefix_pid = req->spid;
		return true;
	default: return true;
	}
}

/* Serve a request as it came from the fabric; @p a receives the answers, addressed. */
static void
uio_serve(struct node *n, const struct weft_io_tlp *t, struct uio_answers *a)
{
	struct weft_io_tlp req = *t;
	enum weft_verdict v;
	unsigned int made = 0;

	/* Behind the switch's edge port nobody is named but the requester. */
	if (daemon_is_hbr(n))
		req.spid = (uint16_t)weft_edge_requester(t) & (WEFT_PIDS - 1);
	else if (!uio_edge_egress(n, &req, a))
		return;
	v = weft_uio_serve(&n->uio->memory, &req, a->cpl, &made);
	if (v != WEFT_OK)
		n->node->drops[v]++;
	for (unsigned int i = 0; i < made; i++) {
		if (n->topo->kind == WEFT_TOPO_GFD)
			uio_to_requester(n, &req, &a->cpl[i]);
		else if (!uio_edge_answer(n, &a->cpl[i]))
			continue;
		a->cpl[a->n++] = a->cpl[i];
	}
}

void
uio_poison(struct node *n)
{
	if (n->uio != NULL && n->uio->poison != NULL)
		memset(n->uio->poison, 0xFF, weft_gfd_poison_size(n->uio->own_len));
}

/* --- packets that come in --- */

/* False: it has to wait, as its answers would. */
static bool
uio_request_in(struct weft_node_link *p, const struct weft_io_tlp *t)
{
	struct node *n = daemon_node(p->node);
	struct uio_answers *a = &n->uio->answers[p - n->node->link];

	uio_send_answers(n, a);
	if (a->n != 0)
		return false;
	uio_serve(n, t, a);
	uio_send_answers(n, a);
	return true;
}

static void
uio_answer_in(struct node *n, const struct weft_io_tlp *t)
{
	enum weft_verdict v = WEFT_DROP_NO_TAG;
	struct weft_completion c;

	if (n->uio->requester != NULL)
		v = weft_uio_response(n->uio->requester, t, n->node->now_ns, &c);
	if (v != WEFT_OK)
		n->node->drops[v]++;
	else if (c.status != WEFT_REQUEST_PART)
		weft_traffic_complete(n->uio->traffic, &c);
}

bool
uio_packet(void *arg, const struct weft_io_tlp *t)
{
	struct weft_node_link *p = arg;
	struct node *n = daemon_node(p->node);
	enum weft_verdict why = WEFT_DROP_WRONG_CLASS;

	/* Nobody asks or answers in another's name: behind a link of a switch it has seen to that. */
	if (!p->is_switch && t->spid != p->pid)
		return weft_node_refuse(p, t->spid);
	if (!daemon_is_hbr(n) && t->dpid != n->topo->pid)
		why = WEFT_DROP_NOT_MINE;
	else if (n->uio != NULL && weft_io_class(t) == WEFT_IO_REQUEST)
		return uio_request_in(p, t);
	else if (n->uio != NULL && weft_io_class(t) == WEFT_IO_COMPLETION) {
		uio_answer_in(n, t);
		return true;
	}
	n->node->drops[why]++;
	return true;
}

/* --- requests, on their way out --- */

static void
uio_lost(void *arg, const struct weft_completion *c)
{
	struct node *n = arg;

	weft_traffic_complete(n->uio->traffic, c);
}

/* The edge port answers what may not go on. */
static void
uio_stop(struct node *n, const struct weft_io_tlp *t, uint8_t why)
{
	struct weft_io_tlp cpl;

	n->uio->stopped[why]++;
	weft_requester_sent_to(n->uio->requester, n->uio->held_tag, WEFT_REQUESTER_ANYBODY);
	if (weft_uio_refuse(t, WEFT_UIO_UR, 0, &cpl) == 0)
		uio_answer_in(n, &cpl);
}

/* @return whom it goes to, or NULL: it was answered here */
static struct weft_node_link *
uio_edge_request(struct node *n, struct weft_io_tlp *t)
{
	struct weft_edge_decision d;
	struct weft_node_link *p;

	if (daemon_is_hbr(n)) {
		weft_requester_sent_to(n->uio->requester, n->uio->held_tag, WEFT_REQUESTER_ANYBODY);
		return n->node->link;
	}
	weft_edge_tlp_in(uio_edge_of(n), n->topo->kind == WEFT_TOPO_HOST, t, &d);
	if (d.reason != WEFT_EDGE_OK) {
		uio_stop(n, t, d.reason);
		return NULL;
	}
	edge_count_request(n->uio->count, n->daemon->topo, &d);
	weft_requester_sent_to(n->uio->requester, n->uio->held_tag, d.dpid);
	p = uio_peer_to(n, d.dpid);
	if (p == NULL)
		n->node->drops[WEFT_DROP_NO_CONN]++;
	return p;
}

/* A host or device that uses flow 2 says itself who has the memory. */
static void
uio_add_prefix(const struct node *n, struct weft_io_tlp *t, uint64_t addr)
{
	const struct weft_topo *topo = n->daemon->topo;
	const uint64_t index = (addr - weft_topo_fast_base(topo)) >> topo->segment_log2;
	const struct weft_topo_segment *s = &topo->segment[index];

	if (n->load->uio.prefix == 0 || !s->is_gim)
		return;
	t->has_prefix = true;
	t->prefix_pid = topo->node[topo->target[s->first_target].node].pid;
}

/* @return whether the request that was held has gone */
static bool
uio_send_held(struct node *n)
{
	struct uio *u = n->uio;
	struct weft_node_link *p = u->held_for;
	int rc;

	if (p == NULL)
		return true;
	/* Given up by now: it must not turn up later than its line is left alone for. */
	if (!weft_requester_is_open(u->requester, u->held_tag)) {
		u->held_for = NULL;
		return true;
	}
	rc = weft_end_send_io(p->end, &u->held);
	if (rc == -EAGAIN || rc == -ENOTCONN)
		return false;
	if (rc == 0)
		p->due_ns = 0;
	else
		n->node->drops[WEFT_DROP_BAD_OPCODE]++;
	u->held_for = NULL;
	return true;
}

static unsigned int
uio_send_requests(struct node *n)
{
	struct uio *u = n->uio;
	unsigned int sent = 0;
	int rc = 0;

	while (sent < REQUESTS_A_POLL && uio_send_held(n)) {
		struct weft_request rq;

		rc = weft_traffic_next(u->traffic, n->node->now_ns, &rq);
		if (rc != 0)
			break;
		sent++;
		weft_uio_request(u->requester, &rq, &u->held);
		u->held_tag = rq.tag;
		uio_add_prefix(n, &u->held, rq.addr);
		u->held_for = uio_edge_request(n, &u->held);
	}
	if (rc == -ESHUTDOWN)
		__atomic_store_n(&u->is_done, 1, __ATOMIC_RELAXED);
	return sent;
}

unsigned int
uio_poll(struct node *n, bool may_ask)
{
	struct uio *u = n->uio;

	if (u == NULL)
		return 0;
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		struct weft_node_link *p = &n->node->link[i];
		const struct weft_io_tlp *t;

		uio_send_answers(n, &u->answers[i]);
		while ((t = weft_end_io_peek(p->end, WEFT_IO_REQUEST)) != NULL &&
			uio_request_in(p, t)) {
			weft_end_io_pop(p->end, WEFT_IO_REQUEST);
			p->due_ns = 0;
		}
	}
	if (u->traffic == NULL)
		return 0;
	if (n->node->now_ns >= u->expire_due_ns) {
		u->expire_due_ns = n->node->now_ns + EXPIRE_EVERY_NS;
		weft_requester_expire(u->requester, n->node->now_ns, uio_lost, n, EXPIRE_BATCH);
	}
	return may_ask && !u->is_done ? uio_send_requests(n) : 0;
}

void
uio_abort(struct node *n, uint16_t dpid)
{
	if (n->uio != NULL && n->uio->traffic != NULL)
		weft_requester_abort(n->uio->requester, dpid, true, n->node->now_ns, uio_lost, n);
}

uint64_t
uio_forget(struct node *n, uint16_t dpid, enum weft_line_loss how)
{
	if (n->uio == NULL || n->uio->traffic == NULL)
		return 0;
	return weft_traffic_forget(n->uio->traffic, dpid, how);
}

bool
uio_is_done(const struct node *n)
{
	return n->uio == NULL || n->uio->traffic == NULL ||
	       __atomic_load_n(&n->uio->is_done, __ATOMIC_RELAXED);
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
uio_answer(const struct node *n, const struct weft_topo *t, uint64_t hpa, uint16_t *dpid)
{
	struct weft_resolve r;

	*dpid = n->topo->pid; /* its edge port answers, unless */
	if (weft_resolve(t, n->index, hpa, true, &r, n->hop) != 0)
		return WEFT_EXPECT_UR;
	if (r.dpid != WEFT_RESOLVE_NONE)
		*dpid = r.dpid;
	if (n->load->uio.prefix != 0 && !n->topo->ingress_prefix &&
		r.segment != WEFT_RESOLVE_NONE && t->segment[r.segment].is_gim)
		return WEFT_EXPECT_UR;
	return uio_answer_of_rule(&r);
}

static int
uio_make_traffic(struct node *n)
{
	const struct weft_load_uio *tr = &n->load->uio;
	const struct source_lines lines = { .first = tr->first_line,
		.n = tr->lines,
		.unit = WEFT_TRAFFIC_UNIT_MAX,
		.expect = uio_answer };
	struct weft_traffic_cfg cfg = {
		.seed = tr->seed,
		.requests = tr->requests == 0 ? UINT64_MAX : tr->requests,
		.outstanding = tr->outstanding,
		.rate = tr->rate,
		.writer = WRITER + n->index,
		.write_percent = tr->write_percent,
		.request_lines = (uint8_t)(tr->bytes / WEFT_LINE_LEN),
	};
	size_t size;

	n->uio->traffic = host_source(n, &cfg, &lines, n->uio->requester, &size);
	return n->uio->traffic == NULL ? -ENOMEM : 0;
}

static int
uio_make_requester(struct node *n)
{
	const uint64_t timeout_ns = (uint64_t)n->load->uio.timeout_ms * 1000000;
	const struct weft_requester_cfg cfg = {
		.protocol = WEFT_REQUESTER_UIO,
		.timeout_ns = timeout_ns,
		.quarantine_ns = timeout_ns,
		.tags = host_tags(n->load->uio.outstanding),
		.id = n->topo->pid,
		.clock = n->node->clock,
	};
	void *mem = rte_zmalloc("weft_uio", weft_requester_size(&cfg), WEFT_CACHE_LINE);

	n->uio->requester = mem == NULL ? NULL : weft_requester_init(mem, &cfg);
	return n->uio->requester == NULL ? -ENOMEM : uio_make_traffic(n);
}

/* Address of the first segment with memory of the node, 0 without one. */
static uint64_t
uio_first_base(const struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;

	for (unsigned int s = 0; s < t->n_segments; s++)
		if (t->target[t->segment[s].first_target].node == n->index)
			return t->segment[s].base;
	return 0;
}

/* A GFD has its memory already; that of hosts and devices is made here. */
static int
uio_make_memory(struct node *n, char *err, size_t err_len)
{
	struct uio *u = n->uio;
	struct weft_uio_memory_cfg cfg = { .split = SPLIT, .hpa_base = uio_first_base(n) };
	int rc = 0;

	if (n->topo->kind == WEFT_TOPO_GFD) {
		cfg.mem = n->memory;
		cfg.len = n->memory_len;
		cfg.poison = n->gfd.poison;
	} else {
		cfg.len = n->topo->kind == WEFT_TOPO_HOST ? n->topo->gim : n->topo->memory;
		cfg.by_prefix = n->topo->kind == WEFT_TOPO_HOST;
		cfg.completer = n->topo->kind == WEFT_TOPO_DEVICE ? n->topo->pid : 0;
		u->own = cfg.len == 0 ? NULL
		                      : mmap(NULL, cfg.len, PROT_READ | PROT_WRITE,
						MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (u->own == MAP_FAILED) {
			u->own = NULL;
			return -ENOMEM;
		}
		u->own_len = cfg.len;
		cfg.mem = u->own;
		u->poison = calloc(1, weft_gfd_poison_size(cfg.len) + sizeof(uint64_t));
		if (u->poison == NULL)
			return -ENOMEM;
		cfg.poison = u->poison;
		if (cfg.len != 0)
			rc = fabric_access(n, err, err_len);
	}
	if (n->access != NULL)
		cfg.guard = &n->guard;
	return rc == 0 ? weft_uio_memory_init(&u->memory, &cfg) : rc;
}

int
uio_init(struct node *n, char *err, size_t err_len)
{
	int rc = 0;

	/* What comes to an agent or its client is theirs, also what waits. */
	if (n->daemon->topo->cxl_io == 0 || n->ats != NULL)
		return 0;
	n->uio = calloc(1, sizeof(*n->uio));
	if (n->uio == NULL)
		return -ENOMEM;
	n->uio->answers = calloc((size_t)n->node->n_links + 1, sizeof(*n->uio->answers));
	snprintf(err, err_len, "node %s: no room for UIO", n->topo->name);
	if (n->uio->answers == NULL)
		return -ENOMEM;
	rc = uio_make_memory(n, err, err_len);
	return rc == 0 && n->load->has_uio ? uio_make_requester(n) : rc;
}

void
uio_fini(struct node *n)
{
	struct uio *u = n->uio;

	if (u == NULL)
		return;
	rte_free(u->traffic);
	rte_free(u->requester);
	if (u->own != NULL)
		munmap(u->own, u->own_len);
	free(u->answers);
	free(u->poison);
	free(u);
	n->uio = NULL;
}

/* --- what was counted --- */

static json_t *
uio_latency_json(const struct weft_latency *l)
{
	return json_pack("{s:I, s:I, s:I}", "p50", (json_int_t)weft_latency_quantile(l, 5000),
		"p99", (json_int_t)weft_latency_quantile(l, 9900), "max", (json_int_t)l->max_ns);
}

json_t *
uio_json(const struct node *n)
{
	const struct uio *u = n->uio;
	json_t *o = json_object();

	if (u->traffic != NULL) {
		json_object_set_new(o, "requests",
			report_counters(weft_uio_counters(), weft_requester_counts(u->requester),
				WEFT_UIO_N_COUNTERS));
		json_object_set_new(o, "traffic",
			report_counters(weft_traffic_uio_counters(),
				weft_traffic_counts(u->traffic), WEFT_TRAFFIC_N_UIO_COUNTERS));
		json_object_set_new(o, "outstanding",
			json_integer((json_int_t)weft_requester_outstanding(u->requester)));
		json_object_set_new(o, "done", json_integer(u->is_done));
		json_object_set_new(
			o, "latency_ns", uio_latency_json(weft_requester_latency(u->requester)));
	}
	json_object_set_new(o, "memory",
		report_counters(
			weft_uio_memory_counters(), u->memory.count, WEFT_UIO_MEMORY_N_COUNTERS));
	json_object_set_new(o, "edge", report_counters(edge_counters(), u->count, EDGE_N_COUNTERS));
	json_object_set_new(o, "stopped", report_stopped(u->stopped));
	return o;
}

void
uio_rows(const struct node *n, uio_row_fn fn, void *arg)
{
	const struct uio *u = n->uio;

	if (u->traffic != NULL) {
		fn(arg, "uio", weft_uio_counters(), weft_requester_counts(u->requester),
			WEFT_UIO_N_COUNTERS);
		fn(arg, "uio_traffic", weft_traffic_uio_counters(), weft_traffic_counts(u->traffic),
			WEFT_TRAFFIC_N_UIO_COUNTERS);
	}
	fn(arg, "uio_memory", weft_uio_memory_counters(), u->memory.count,
		WEFT_UIO_MEMORY_N_COUNTERS);
	fn(arg, "uio_edge", edge_counters(), u->count, EDGE_N_COUNTERS);
}

bool
uio_is_good(const struct node *n)
{
	const uint64_t *c;

	if (n->uio == NULL || n->uio->traffic == NULL)
		return true;
	c = weft_traffic_counts(n->uio->traffic);
	return c[WEFT_TRAFFIC_N_MISMATCHES] == 0 && c[WEFT_TRAFFIC_N_FAILED] == 0 &&
	       c[WEFT_TRAFFIC_N_LOST] == 0;
}

void
uio_text(const struct node *n)
{
	const struct weft_traffic_mismatch *bad;
	const struct weft_latency *l;
	const uint64_t *c;

	if (n->uio == NULL || n->uio->traffic == NULL)
		return;
	c = weft_traffic_counts(n->uio->traffic);
	l = weft_requester_latency(n->uio->requester);
	printf("  uio: %lu writes, %lu reads, %lu lines verified, %lu mismatches, %lu refused, %lu "
	       "lost; latency p50 %.1f us p99 %.1f us\n",
		(unsigned long)c[WEFT_TRAFFIC_N_WRITES], (unsigned long)c[WEFT_TRAFFIC_N_READS],
		(unsigned long)c[WEFT_TRAFFIC_N_VERIFIED],
		(unsigned long)c[WEFT_TRAFFIC_N_MISMATCHES],
		(unsigned long)c[WEFT_TRAFFIC_N_REFUSED], (unsigned long)c[WEFT_TRAFFIC_N_LOST],
		(double)weft_latency_quantile(l, 5000) / 1e3,
		(double)weft_latency_quantile(l, 9900) / 1e3);
	bad = weft_traffic_first_mismatch(n->uio->traffic);
	if (bad != NULL)
		printf("  first mismatch by UIO: address %#lx, %s\n", (unsigned long)bad->hpa,
			weft_traffic_uio_counters()[bad->why].name);
}
