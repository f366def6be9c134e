/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A host: brings a session up with every GFD (in cxl mode: on its link), and sends what its
 * services want of their memory by CXL.mem. Its requests are decoded by FAST at its edge: the
 * address decides where they go. Hot.
 */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_edge_link.h"
#include "weft_xlate.h"

#define REQUESTS_A_POLL 128
#define TRANSLATED 32 /* requests translated at a time */
#define TRANSLATED_CXL                                                                             \
	8 /* a link may not take more now: what it does not take is looked up again */

struct host_state {
	struct weft_requester *requester; /* NULL: nothing is sent by CXL.mem */
	uint64_t expire_due_ns;
	uint8_t allowed; /* cxl: bit k: requests of enum weft_request_kind k may begin */
	uint8_t is_done; /* any readers */
	unsigned int turn; /* service that had the last request */
	uint64_t stopped[WEFT_NODE_EDGE_REASONS]; /* requests that its edge port answered, by why */
};

struct weft_requester *
host_requester(const struct weft_node *n)
{
	return ((const struct host_state *)n->state)->requester;
}

static void
host_complete(void *node, const struct weft_completion *c)
{
	struct weft_node *n = node;

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->complete != NULL &&
			weft_node_services[i]->complete(n, n->service[i], c))
			return;
}

static bool
host_take(struct weft_node *n, const struct weft_msg *m)
{
	const struct host_state *h = n->state;
	struct weft_completion c;
	enum weft_verdict v;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true;
	if (h->requester == NULL) {
		node_drop(n, WEFT_DROP_NO_TAG);
		return true;
	}
	if (!ats_response(n, m)) {
		/* To be read again, where is not known yet. */
		weft_requester_sent_to(h->requester, m->tag, n->topo->pid, n->now_ns);
		return true;
	}
	v = weft_mem_response(h->requester, m, n->now_ns, &c);
	if (v == WEFT_OK)
		host_complete(n, &c);
	else
		node_drop(n, v);
	return true;
}

static bool
host_message(void *arg, const struct weft_msg *m)
{
	return host_take(((struct weft_node_link *)arg)->node, m);
}

/* rxl: the destination grants with the session. */
static void
host_granted(struct weft_node *n, const struct weft_node_link *p)
{
	uint16_t credits = weft_link_session(p->end)->peer.credits;

	if (credits > n->cfg.rules->credits)
		credits = n->cfg.rules->credits; /* what `waiting` has room for */
	weft_requester_grant(host_requester(n), p->pid, credits, credits);
}

/*
 * cxl: what the link takes now may be asked of any GFD, so nothing waits between the two. A session
 * of the link that ends takes some requests with it; the others are answered in the next.
 */
void
host_update_credits(struct weft_node *n)
{
	const struct weft_topo *t = n->cfg.topo;
	const struct weft_link *e = n->link[0].end;
	struct host_state *h = n->state;
	bool reads, writes;
	uint8_t allowed;

	if (!weft_node_is_cxl(n))
		return;
	reads = weft_link_can_send(e, WEFT_MSG_M2S_REQ);
	writes = weft_link_can_send(e, WEFT_MSG_M2S_RWD);
	allowed = (uint8_t)(reads << WEFT_REQUEST_READ | writes << WEFT_REQUEST_WRITE);
	if (allowed == h->allowed)
		return;
	if ((h->allowed & ~allowed) != 0)
		weft_probe_credit_stall(n->topo->name, weft_node_link_name(n->link),
			reads ? WEFT_MSG_M2S_RWD : WEFT_MSG_M2S_REQ);
	h->allowed = allowed;
	for (uint16_t g = 0; g < t->n_gfds; g++)
		weft_requester_grant(h->requester, t->node[t->gfd[g]].pid, reads ? UINT16_MAX : 0,
			writes ? UINT16_MAX : 0);
	/* What its edge port answers goes by the link, too, where the port is the switch's. */
	if (n->is_hbr)
		weft_requester_grant(h->requester, n->topo->pid, reads ? UINT16_MAX : 0,
			writes ? UINT16_MAX : 0);
}

/* Requests that waited for a credit or the window. */
static void
host_send_waiting(struct weft_node_link *p)
{
	struct weft_node_waiting *w = p->waiting;

	while (w->n != 0 && node_send(p, &w->msg[w->head], false) == 0) {
		w->head = w->head + 1 == w->room ? 0 : w->head + 1;
		w->n--;
		weft_node_set_due(p, 0);
	}
}

static void
host_link(struct weft_node_link *l, bool ended, bool began)
{
	struct weft_node *n = l->node;

	if (ended && l->waiting != NULL) {
		weft_requester_grant(host_requester(n), l->pid, 0, 0);
		l->waiting->n = 0;
	}
	if (ended && node_link_is_whole(l) && host_requester(n) != NULL)
		weft_requester_abort(host_requester(n), l->pid, true, n->now_ns, host_complete, n);
	node_follow(l, ended, began);
	if (l->waiting == NULL)
		return;
	if (began)
		host_granted(n, l);
	host_send_waiting(l);
}

static void
host_send(struct weft_node_link *p, const struct weft_msg *m)
{
	struct weft_node_waiting *w = p->waiting;

	weft_node_set_due(p, 0);
	if (w == NULL) {
		if (node_send(p, m, false) != 0)
			node_drop(p->node, WEFT_DROP_TX_FULL); /* cannot be: it was allowed */
		return;
	}
	if (w->n == 0 && node_send(p, m, false) == 0)
		return;
	/*
	 * No more are open at a peer than it granted, or, where a host translates, in all: there is
	 * room.
	 */
	if (w->n == w->room) {
		node_drop(p->node, WEFT_DROP_TX_FULL);
		return;
	}
	if (w->n == 0)
		weft_probe_credit_stall(p->node->topo->name, weft_node_link_name(p), m->kind);
	w->msg[(w->head + w->n++) % w->room] = *m;
}

/* A round of requests: services that may have more, and whether all others have ended. */
struct host_round {
	uint64_t asked; /* bit k: of row k of the services */
	bool is_over;
};

static struct host_round
host_begin_round(const struct weft_node *n)
{
	struct host_round r = { .is_over = true };

	static_assert(NODE_SERVICES <= 64, "a bit for each");
	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (n->service[i] != NULL && weft_node_services[i]->next != NULL)
			r.asked |= WEFT_BIT64(i);
	return r;
}

/* The next service of the round behind the one that had the last request. */
static unsigned int
host_turn(const struct host_round *r, unsigned int last)
{
	const uint64_t behind = r->asked & ~weft_mask64(last + 1);

	return (unsigned int)__builtin_ctzll(behind != 0 ? behind : r->asked);
}

/* Services in turn. One that has nothing is not asked again in this round. */
static int
host_next(struct weft_node *n, struct host_round *r, struct weft_msg *m)
{
	struct host_state *h = n->state;

	host_update_credits(n);
	while (r->asked != 0) {
		const unsigned int i = h->turn = host_turn(r, h->turn);
		const int rc = weft_node_services[i]->next(n, n->service[i], m);

		if (rc == 0)
			return 0;
		r->asked &= ~WEFT_BIT64(i);
		r->is_over = r->is_over && rc == -ESHUTDOWN;
	}
	return r->is_over ? -ESHUTDOWN : -EAGAIN;
}

/* What may not go on is answered here, as by a GFD where nothing is (fabric.md section 1.9). */
static void
host_refuse(struct weft_node *n, const struct weft_msg *m)
{
	struct weft_msg reply = *m;

	weft_edge_answer(&reply);
	host_take(n, &reply);
}

void
host_forward(struct weft_node *n, struct weft_msg *m)
{
	struct weft_edge_decision d;
	struct weft_node_link *p;

	if (n->is_hbr) {
		host_send(n->link, m);
		return;
	}
	node_decide(n, WEFT_EDGE_MEM, m->addr, &d);
	if (d.reason != WEFT_EDGE_OK) {
		((struct host_state *)n->state)->stopped[d.reason]++;
		host_refuse(n, m);
		return;
	}
	p = node_link_to(n, d.dpid);
	if (p == NULL) {
		node_drop(n, WEFT_DROP_NO_CONN);
		return;
	}
	m->dpid = d.dpid;
	if (ats_translates(n)) {
		ats_sent(n, m);
		/* So that it ends with its session. */
		weft_requester_sent_to(host_requester(n), m->tag, d.dpid, n->now_ns);
	}
	host_send(p, m);
}

/* Requests of a host that translates, as their translations come. */
static unsigned int
host_translated(struct weft_node *n)
{
	const unsigned int burst = weft_node_is_cxl(n) ? TRANSLATED_CXL : TRANSLATED;
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
host_requests(struct weft_node *n)
{
	const bool translates = ats_translates(n);
	struct host_round round = host_begin_round(n);
	unsigned int sent = 0;
	struct weft_msg m __attribute__((uninitialized)); /* written where rc is 0 */
	int rc = 0;

	while (sent < REQUESTS_A_POLL && (rc = host_next(n, &round, &m)) == 0) {
		sent++;
		if (translates)
			ats_submit(n, &m);
		else
			host_forward(n, &m);
	}
	if (rc == -ESHUTDOWN)
		__atomic_store_n(&((struct host_state *)n->state)->is_done, 1, __ATOMIC_RELAXED);
	return translates ? sent + host_translated(n) : sent;
}

static unsigned int
host_poll(struct weft_node *n, bool may_ask)
{
	struct host_state *h = n->state;
	unsigned int worked = 0;

	if (h->requester != NULL && n->now_ns >= h->expire_due_ns) {
		h->expire_due_ns = n->now_ns + NODE_EXPIRE_EVERY_NS;
		weft_requester_expire(h->requester, n->now_ns, host_complete, n, NODE_EXPIRE_BATCH);
	}
	/* Clients come when they like. */
	if (may_ask && n->was_up && (!h->is_done || NODE_SERVICE_OF(n, clients) != NULL))
		worked += host_requests(n);
	return worked + node_poll_services(n, may_ask);
}

uint32_t
host_tags(const struct weft_node *n)
{
	uint32_t tags = 0;

	for (unsigned int i = 0; i < NODE_SERVICES; i++)
		if (weft_node_services[i]->tags != NULL)
			tags += weft_node_services[i]->tags(n);
	return tags < WEFT_REQUESTER_TAGS_MAX ? tags : WEFT_REQUESTER_TAGS_MAX;
}

static int
host_init(struct weft_node *n, char *err, size_t err_len)
{
	const uint64_t timeout_ns = node_timeout_ns(n, n->load->has_mem, n->load->mem.timeout_ms);
	struct host_state *h = n->state;
	struct weft_requester_cfg cfg = {
		.timeout_ns = timeout_ns,
		.quarantine_ns = timeout_ns,
		.id = n->is_hbr ? 0 : n->topo->pid, /* HBR form has no ids */
		.clock = n->clock,
		.run = n->cfg.run,
	};
	const uint32_t tags = host_tags(n);
	void *mem;

	h->is_done = !n->load->has_mem && n->load->n_transfers == 0;
	if (tags == 0)
		return 0;
	cfg.tags = source_tags(tags);
	mem = node_alloc(n, weft_requester_size(&cfg));
	h->requester = mem == NULL ? NULL : weft_requester_init(mem, &cfg);
	if (h->requester == NULL) {
		node_free(n, mem);
		return weft_errorf(err, err_len, -ENOMEM, "host %s: out of memory", n->topo->name);
	}
	/* What its own edge port answers never waits. */
	if (!n->is_hbr)
		weft_requester_grant(h->requester, n->topo->pid, UINT16_MAX, UINT16_MAX);
	return 0;
}

static void
host_fini(struct weft_node *n)
{
	node_free(n, host_requester(n));
}

static unsigned int
host_counters(const struct weft_node *n, struct weft_node_set *set)
{
	if (host_requester(n) == NULL)
		return 0;
	*set = (struct weft_node_set){ NULL, "requests", "host", weft_mem_counters,
		weft_requester_counts(host_requester(n)), WEFT_MEM_N_COUNTERS };
	return 1;
}

bool
weft_node_mem(const struct weft_node *n, struct weft_node_requests *r)
{
	const struct host_state *h = n->state;

	if (n->kind != &node_host || h->requester == NULL)
		return false;
	*r = (struct weft_node_requests){ h->requester, load_traffic(n), h->stopped,
		__atomic_load_n(&h->is_done, __ATOMIC_RELAXED) };
	return true;
}

static bool
host_is_done(const struct weft_node *n)
{
	return __atomic_load_n(&((const struct host_state *)n->state)->is_done, __ATOMIC_RELAXED);
}

const struct weft_node_kind node_host = {
	.name = "host",
	.topo_kind = WEFT_TOPO_HOST,
	.modes = 1 << WEFT_MODE_RXL | 1 << WEFT_MODE_CXL,
	.takes_answers = true,
	.has_links = true,
	.state_len = sizeof(struct host_state),
	.init = host_init,
	.fini = host_fini,
	.message = host_message,
	.packet = node_packet,
	.link = host_link,
	.poll = host_poll,
	.poison = node_poison_services,
	.is_done = host_is_done,
	.counters = host_counters,
};
