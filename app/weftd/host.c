/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A host: brings a session up with every GFD (in cxl mode: on its link), then reads and writes their memory and checks what
 * comes back, moves data with signatures (transfer.c), or both. Its requests are decoded by FAST at its edge: the address decides where they go.
 */

#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "weft_edge_link.h"

#define EXPIRE_EVERY_NS UINT64_C(1000000)
#define EXPIRE_BATCH 64
#define REQUESTS_A_POLL 128
#define TRANSLATED 32 /* requests translated at a time */
#define TRANSLATED_CXL                                                                             \
	8 /* a link may not take more now: what it does not take is looked up again */
#define MOVE_LINES 512 /* of an agent, on their way */
#define TRANSFER_TIMEOUT_NS (WEFT_LOAD_TIMEOUT_MS * UINT64_C(1000000)) /* without traffic */

void
host_complete(struct node *n, const struct weft_completion *c)
{
	if (ats_complete(n, c))
		return;
	if ((c->cookie & WEFT_XFER_COOKIE) != 0)
		weft_xfer_complete(n->xfers, c, n->node->now_ns);
	else
		weft_traffic_complete(n->traffic, c);
}

static bool
host_take(struct node *n, const struct weft_msg *m)
{
	struct weft_completion c;
	enum weft_verdict v;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (n->host == NULL) {
		n->node->drops[WEFT_DROP_NO_TAG]++;
		return true;
	}
	if (!ats_response(n, m))
		return true; /* to be read again */
	v = weft_mem_response(n->host, m, n->node->now_ns, &c);
	if (v == WEFT_OK)
		host_complete(n, &c);
	else
		n->node->drops[v]++;
	return true;
}

static bool
host_message(void *arg, const struct weft_msg *m)
{
	return host_take(daemon_node(((struct weft_node_link *)arg)->node), m);
}

bool
host_packet(void *arg, const struct weft_io_tlp *t)
{
	const struct weft_node_link *p = arg;

	return daemon_node(p->node)->ats != NULL ? ats_packet(arg, t) : uio_packet(arg, t);
}

static void
host_lost(void *arg, const struct weft_completion *c)
{
	host_complete(arg, c);
}

/* rxl: the destination grants with the session. */
static void
host_granted(struct node *n, const struct weft_node_link *p)
{
	uint16_t credits = weft_end_session(p->end)->peer.credits;

	if (credits > WEFT_NODE_CREDITS)
		credits = WEFT_NODE_CREDITS; /* what `waiting` has room for */
	weft_requester_grant(n->host, p->pid, credits, credits);
}

/*
 * cxl: what the link takes now may be asked of any GFD, so nothing waits between the two. A session
 * of the link that ends takes some requests with it; the others are answered in the next.
 */
void
host_allow(struct node *n)
{
	const struct weft_topo *t = n->daemon->topo;
	const struct weft_end *e = n->node->link[0].end;
	bool reads, writes;
	uint8_t allowed;

	if (!daemon_is_cxl(n->daemon))
		return;
	reads = weft_end_can_send(e, WEFT_MSG_M2S_REQ);
	writes = weft_end_can_send(e, WEFT_MSG_M2S_RWD);
	allowed = (uint8_t)(reads << WEFT_REQUEST_READ | writes << WEFT_REQUEST_WRITE);
	if (allowed == n->allowed)
		return;
	n->allowed = allowed;
	for (uint16_t g = 0; g < t->n_gfds; g++)
		weft_requester_grant(n->host, t->node[t->gfd[g]].pid, reads ? UINT16_MAX : 0,
			writes ? UINT16_MAX : 0);
	/* What its edge port answers goes by the link, too, where the port is the switch's. */
	if (daemon_is_hbr(n))
		weft_requester_grant(
			n->host, n->topo->pid, reads ? UINT16_MAX : 0, writes ? UINT16_MAX : 0);
}

/* Requests that waited for a credit or the window. */
static void
host_send_waiting(struct weft_node_link *p)
{
	struct weft_node_waiting *w = p->waiting;

	while (w->n != 0 && weft_end_send(p->end, &w->msg[w->head]) == 0) {
		w->head = (w->head + 1) % WEFT_ARRAY_SIZE(w->msg);
		w->n--;
		p->due_ns = 0;
	}
}

static void
host_follow(struct node *n, struct weft_node_link *p)
{
	bool ended, began;

	follow_session(p, &ended, &began);
	ats_session(p, ended, began);
	if (p->waiting == NULL)
		return;
	if (began)
		host_granted(n, p);
	host_send_waiting(p);
}

static void
host_send(struct weft_node_link *p, const struct weft_msg *m)
{
	struct weft_node_waiting *w = p->waiting;

	p->due_ns = 0;
	if (w == NULL) {
		if (weft_end_send(p->end, m) != 0)
			p->node->drops[WEFT_DROP_TX_FULL]++; /* cannot be: it was allowed */
		return;
	}
	if (w->n == 0 && weft_end_send(p->end, m) == 0)
		return;
	/*
	 * No more are open at a peer than it granted, so there is room; but for a host that translates,
	 * whose requests have no destination while they are counted.
	 */
	if (w->n == WEFT_ARRAY_SIZE(w->msg)) {
		p->node->drops[WEFT_DROP_TX_FULL]++;
		return;
	}
	w->msg[(w->head + w->n++) % WEFT_ARRAY_SIZE(w->msg)] = *m;
}

/* Traffic and transfers in turn. */
static int
host_next(struct node *n, struct weft_msg *m)
{
	struct weft_request rq;
	bool is_over = true;

	host_allow(n);
	for (unsigned int i = 0; i < 2; i++) {
		int rc = -ESHUTDOWN;

		n->transfers_turn = !n->transfers_turn;
		if (n->transfers_turn && n->xfers != NULL)
			rc = weft_xfer_next(n->xfers, n->node->now_ns, m);
		else if (!n->transfers_turn && n->traffic != NULL && n->is_changing)
			rc = -EAGAIN;
		else if (!n->transfers_turn && n->traffic != NULL)
			rc = weft_traffic_next(n->traffic, n->node->now_ns, &rq);
		if (rc == 0 && !n->transfers_turn)
			weft_mem_request(n->host, &rq, m);
		if (rc == 0)
			return 0;
		is_over = is_over && rc == -ESHUTDOWN;
	}
	return is_over ? -ESHUTDOWN : -EAGAIN;
}

/* What may not go on is answered here, as by a GFD where nothing is (fabric.md section 1.9). */
static void
host_refuse(struct node *n, const struct weft_msg *m)
{
	struct weft_msg reply = *m;

	weft_edge_answer(&reply);
	host_take(n, &reply);
}

void
host_forward(struct node *n, struct weft_msg *m)
{
	struct weft_edge_decision d;
	struct weft_node_link *p;

	if (daemon_is_hbr(n)) {
		host_send(n->node->link, m);
		return;
	}
	fabric_decide(n, m->addr, &d);
	if (d.reason != WEFT_EDGE_OK) {
		n->stopped[d.reason]++;
		host_refuse(n, m);
		return;
	}
	p = daemon_is_cxl(n->daemon) ? n->node->link : weft_node_link_find(n->node, d.dpid);
	if (p == NULL) {
		n->node->drops[WEFT_DROP_NO_CONN]++;
		return;
	}
	m->dpid = d.dpid;
	if (ats_translates(n))
		ats_sent(n, m);
	host_send(p, m);
}

/* Requests of a host that translates, as their translations come. */
static unsigned int
host_translated(struct node *n)
{
	const unsigned int burst = daemon_is_cxl(n->daemon) ? TRANSLATED_CXL : TRANSLATED;
	struct weft_xlate_out out[TRANSLATED] __attribute__((uninitialized));
	unsigned int sent = 0, got;

	while (sent < REQUESTS_A_POLL && (got = ats_next(n, out, burst)) != 0)
		for (unsigned int i = 0; i < got; i++) {
			if (out[i].is_refused)
				host_refuse(n, &out[i].msg);
			else if (ats_may_send(n, &out[i].msg))
				host_forward(n, &out[i].msg);
			sent++;
		}
	return sent;
}

static unsigned int
host_requests(struct node *n)
{
	const bool translates = ats_translates(n);
	unsigned int sent = 0;
	struct weft_msg m;
	int rc = 0;

	while (sent < REQUESTS_A_POLL && (rc = host_next(n, &m)) == 0) {
		sent++;
		if (translates)
			ats_submit(n, &m);
		else
			host_forward(n, &m);
	}
	if (rc == -ESHUTDOWN)
		__atomic_store_n(&n->is_done, 1, __ATOMIC_RELAXED);
	return translates ? sent + host_translated(n) : sent;
}

/* A change of rights: requests that are open end first, then it is known which answers are right. */
static void
host_change(struct node *n)
{
	const struct host_change *c = __atomic_load_n(&n->change, __ATOMIC_ACQUIRE);

	n->is_changing = c != NULL && weft_traffic_change(n->traffic, &c->change) != 0;
	if (c != NULL && !n->is_changing)
		__atomic_store_n(&n->change, NULL, __ATOMIC_RELEASE);
}

unsigned int
host_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = node_flush(n);

	weft_node_time(n->node, node_now_ns());
	n->guard.now_ns = n->node->now_ns;
	worked += node_poll_rx(n);
	for (uint16_t i = 0; i < n->node->n_links; i++)
		host_follow(n, &n->node->link[i]);
	if (n->host != NULL && n->node->now_ns >= n->expire_due_ns) {
		n->expire_due_ns = n->node->now_ns + EXPIRE_EVERY_NS;
		weft_requester_expire(n->host, n->node->now_ns, host_lost, n, EXPIRE_BATCH);
	}
	host_change(n);
	worked += ats_poll(n);
	/* A port that takes nothing holds back new requests; answers are taken all the same. */
	n->was_up = n->was_up || weft_node_is_up(n->node);
	if (!n->is_done && n->was_up && node_may_send(n))
		worked += host_requests(n);
	worked += uio_poll(n, n->was_up && node_may_send(n));
	return worked + peers_flush(n);
}

uint32_t
host_tags(uint32_t outstanding)
{
	uint32_t tags = 1;

	while (tags < outstanding)
		tags *= 2;
	return tags;
}

/* None of the lines from @p hpa on may be reached. */
static bool
host_lines_are_closed(
	const struct node *n, const struct weft_topo *t, const struct source_lines *l, uint64_t hpa)
{
	uint16_t dpid;

	for (uint64_t i = 0; i < l->n; i += l->unit)
		if (l->expect(n, t, hpa + i * WEFT_MSG_DATA_LEN, &dpid) == WEFT_EXPECT_DATA)
			return false;
	return true;
}

/*
 * The node's own lines of a segment. Where it may reach nothing it asks for the first ones, which
 * are another's: were one of its writes done, their owner would see it.
 */
static struct weft_traffic_target
host_target(const struct node *n, const struct weft_topo *t, const struct weft_topo_segment *s,
	const struct source_lines *l)
{
	const uint64_t own = l->first * WEFT_MSG_DATA_LEN;
	struct weft_traffic_target target = {
		.hpa_base = s->base,
		.len_bytes = s->size,
		.dpid = t->node[t->target[s->first_target].node].pid,
	};

	if (l->expect == NULL || !host_lines_are_closed(n, t, l, s->base + own) ||
		!host_lines_are_closed(n, t, l, s->base)) {
		target.hpa_base += own;
		target.len_bytes = s->size > own ? s->size - own : 0;
	}
	return target;
}

/* Lines of the host's own in each segment. */
static struct source_lines
host_lines(const struct node *n, const struct weft_topo *t)
{
	return (struct source_lines){
		.first = n->load->mem.first_line,
		.n = n->load->mem.lines,
		.unit = 1,
		.expect = t->is_default_map ? NULL : fabric_answer,
	};
}

void
host_change_free(struct host_change *c)
{
	if (c == NULL)
		return;
	free(c->targets);
	free(c->units);
	free(c);
}

static struct host_change *
host_alloc_change(size_t targets, size_t units)
{
	struct host_change *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->targets = calloc(targets, sizeof(*c->targets));
	c->units = calloc(units, sizeof(*c->units));
	c->change = (struct weft_traffic_change){ c->targets, c->units };
	if (c->targets != NULL && c->units != NULL)
		return c;
	host_change_free(c);
	return NULL;
}

/* A host that had no right to a segment goes to lines of its own there with its first. */
static bool
host_change_targets(const struct node *n, const struct weft_topo *t, struct host_change *c)
{
	const struct weft_traffic_target *now = weft_traffic_targets(n->traffic);
	const struct source_lines lines = host_lines(n, t);
	bool is_moved = false;

	for (unsigned int s = 0; s < n->daemon->topo->n_segments; s++) {
		c->targets[s] = now[s];
		if (now[s].hpa_base == t->segment[s].base)
			c->targets[s] = host_target(n, t, &t->segment[s], &lines);
		is_moved |= c->targets[s].hpa_base != now[s].hpa_base;
	}
	return is_moved;
}

int
host_prepare(struct node *n, const struct weft_topo *t, struct host_change **out)
{
	const struct weft_topo *now = daemon_now(n->daemon);
	const uint64_t lines = n->load->mem.lines;
	uint64_t total;
	struct host_change *c;
	bool is_changed;

	*out = NULL;
	if (n->traffic == NULL || n->daemon->topo->is_default_map)
		return 0;
	total = weft_traffic_units(n->traffic);
	c = host_alloc_change(n->daemon->topo->n_segments, total);
	if (c == NULL)
		return -ENOMEM;
	is_changed = host_change_targets(n, t, c);
	for (uint64_t i = 0; i < total && !daemon_is_stopped(); i++) {
		const uint64_t hpa = c->targets[i / lines].hpa_base + i % lines * WEFT_MSG_DATA_LEN;
		struct weft_traffic_unit_change *l = &c->units[i];

		l->before = (uint8_t)fabric_answer(n, now, hpa, &l->dpid);
		l->after = (uint8_t)fabric_answer(n, t, hpa, &l->dpid);
		is_changed |= l->before != l->after;
	}
	if (is_changed)
		*out = c;
	else
		host_change_free(c);
	return 0;
}

/* The translations of a host that goes by them; where a line is in the fabric changes all the time. */
static uint32_t
host_translated_targets(struct node *n, struct weft_traffic_target *target)
{
	const struct weft_topo *t = n->daemon->topo;
	uint32_t used = 0;

	for (unsigned int i = 0; i < t->n_translations; i++)
		if (t->translation[i].host == n->index)
			target[used++] = (struct weft_traffic_target){
				.hpa_base = t->translation[i].va,
				.len_bytes = t->translation[i].size,
				.dpid = n->topo->pid,
			};
	return used;
}

struct source_place {
	const struct node *n;
	const struct source_lines *lines;
};

static enum weft_expect
host_expect(void *arg, uint64_t hpa, uint16_t *dpid)
{
	const struct source_place *p = arg;

	return p->lines->expect(p->n, p->n->daemon->topo, hpa, dpid);
}

struct weft_traffic *
host_source(struct node *n, struct weft_traffic_cfg *cfg, const struct source_lines *l,
	struct weft_requester *r, size_t *size)
{
	const struct weft_topo *t = n->daemon->topo;
	const size_t most = (size_t)t->n_segments + t->n_translations;
	struct weft_traffic_target *target = calloc(most, sizeof(*target));
	struct source_place place = { n, l };
	struct weft_traffic *source = NULL;
	void *mem = NULL;

	*size = 0;
	if (n->hop == NULL)
		n->hop = calloc(t->n_nodes, sizeof(*n->hop));
	if (target != NULL && n->hop != NULL) {
		if (n->topo->translates)
			cfg->n_targets = host_translated_targets(n, target);
		for (uint16_t s = 0; !n->topo->translates && s < t->n_segments; s++)
			target[cfg->n_targets++] = host_target(n, t, &t->segment[s], l);
		cfg->targets = target;
		cfg->lines = (uint32_t)l->n;
		cfg->unit_lines = l->unit;
		cfg->expect = l->expect == NULL ? NULL : host_expect;
		cfg->expect_arg = &place;
		cfg->run = n->daemon->run;
		cfg->write_quarantine_ns =
			daemon_is_cxl(n->daemon) ? WRITE_QUARANTINE_CXL_NS : WRITE_QUARANTINE_NS;
		*size = weft_traffic_size(cfg);
	}
	if (*size != 0)
		mem = rte_zmalloc("weft_traffic", *size, WEFT_CACHE_LINE);
	if (mem != NULL)
		source = weft_traffic_init(mem, cfg, r);
	free(target);
	return source;
}

static int
host_traffic(struct node *n, const struct weft_load_mem *tr, char *err, size_t err_len)
{
	const struct source_lines lines = host_lines(n, n->daemon->topo);
	struct weft_traffic_cfg cfg = {
		.seed = tr->seed,
		.requests = tr->requests == 0 ? UINT64_MAX : tr->requests,
		.outstanding = tr->outstanding,
		.rate = tr->rate,
		.writer = n->topo->order,
		.request_lines = 1,
		.write_percent = tr->write_percent,
	};
	size_t size;

	n->traffic = host_source(n, &cfg, &lines, n->host, &size);
	if (n->traffic != NULL)
		return 0;
	snprintf(err, err_len, "host %s: no room for the traffic's %zu bytes of state",
		n->topo->name, size);
	return -ENOMEM;
}

static int
host_engine(struct node *n, char *err, size_t err_len)
{
	const struct weft_load_mem *tr = &n->load->mem;
	const uint64_t timeout_ns =
		n->load->has_mem ? (uint64_t)tr->timeout_ms * 1000000 : TRANSFER_TIMEOUT_NS;
	uint32_t tags = (n->load->has_mem ? tr->outstanding : 0) +
	                (n->load->n_transfers != 0 ? TRANSFER_WINDOW : 0) +
	                (n->topo->n_translations != 0 ? MOVE_LINES : 0);
	struct weft_requester_cfg cfg = {
		.timeout_ns = timeout_ns,
		.quarantine_ns = timeout_ns,
		.tags = host_tags(tags < WEFT_REQUESTER_TAGS_MAX ? tags : WEFT_REQUESTER_TAGS_MAX),
		.id = daemon_is_hbr(n) ? 0 : n->topo->pid, /* HBR form has no ids */
		.clock = n->node->clock,
	};
	int rc;
	void *mem = rte_zmalloc("weft_requester", weft_requester_size(&cfg), WEFT_CACHE_LINE);

	n->host = mem == NULL ? NULL : weft_requester_init(mem, &cfg);
	if (n->host == NULL) {
		rte_free(mem);
		snprintf(err, err_len, "host %s: out of memory", n->topo->name);
		return -ENOMEM;
	}
	/* What its own edge port answers never waits. */
	if (!daemon_is_hbr(n))
		weft_requester_grant(n->host, n->topo->pid, UINT16_MAX, UINT16_MAX);
	rc = transfers_init(n, err, err_len);
	if (rc == 0)
		rc = ats_init(n, err, err_len);
	return rc == 0 && n->load->has_mem ? host_traffic(n, tr, err, err_len) : rc;
}

int
host_init(struct node *n, char *err, size_t err_len)
{
	int rc = 0;

	/* Answers carry no address: the host's own way in is by DPID alone. */
	n->env.message = host_message;
	if (weft_node_asks_gfds(n->topo, n->load))
		rc = host_engine(n, err, err_len);
	if (rc == 0)
		rc = peers_init(n, err, err_len);
	if (rc == 0)
		rc = uio_init(n, err, err_len);
	if (rc != 0)
		return rc;
	n->is_done = !n->load->has_mem && n->load->n_transfers == 0;
	return node_rx(n, n->daemon->cfg.rx_layout, peers_sink, err, err_len);
}

void
host_fini(struct node *n)
{
	transfers_fini(n);
	ats_fini(n);
	rte_free(n->traffic);
	rte_free(n->host);
}
