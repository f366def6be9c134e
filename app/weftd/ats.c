/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address translation in a fabric: a host that translates, or the agent that its clients ask
 * (lib/ats). Here their packets meet connections or links, and what an agent copies meets the
 * host engine. An agent has the clock of the ends: while it is not polled nobody is late.
 * doc/ats.md, "In a fabric".
 */

#include "daemon.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "event.h"
#include "weft_ats_agent.h"
#include "weft_ats_atc.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"
#include "weft_xlate.h"

#define ANSWER_PART 4 /* of the time that a request has: a Translation Request is sent again */
#define OPS_A_POLL 128
#define STASH 64

static_assert(
	(int)WEFT_TOPO_R == WEFT_ATS_R && (int)WEFT_TOPO_W == WEFT_ATS_W, "one set of rights");

/* An answer for a client that has no credit now. */
struct stashed {
	uint16_t to;
	size_t len;
	uint8_t packet[WEFT_ATS_PACKET_MAX];
};

struct ats {
	struct weft_xlate *client;
	struct weft_ats_agent *agent;
	/* Of the agent. */
	struct weft_ats_agent_map *map;
	struct weft_ats_agent_client *clients;
	uint16_t *node; /* of each client, in the topology */
	uint16_t n_clients;
	unsigned int n_stashed;
	struct stashed stash[STASH];
};

/* --- packets --- */

static int
ats_client_index(const struct ats *a, uint16_t pid)
{
	for (uint16_t i = 0; i < a->n_clients; i++)
		if (a->clients[i].id == pid)
			return i;
	return -1;
}

static struct weft_node_link *
ats_conn_to(struct node *n, uint16_t pid)
{
	struct weft_node_link *p =
		daemon_is_cxl(n->daemon) ? n->node->link : weft_node_link_find(n->node, pid);

	return p != NULL && p->state == WEFT_NODE_UP ? p : NULL;
}

/* 0; -EAGAIN; or another error, and then it is gone. */
static int
ats_send_packet(struct weft_node_link *p, uint16_t to, const uint8_t *packet, size_t len)
{
	struct weft_io_tlp t = {
		.spid = daemon_node(p->node)->topo->pid, .dpid = to, .len = (uint16_t)len
	};
	int rc;

	memcpy(t.tlp, packet, len);
	rc = weft_end_send_io(p->end, &t);
	if (rc == 0)
		p->due_ns = 0;
	else if (rc != -EAGAIN)
		p->node->drops[WEFT_DROP_PORT_DOWN]++;
	return rc;
}

static uint16_t
ats_agent_pid(const struct node *n)
{
	return n->daemon->topo->node[n->topo->ats.agent].pid;
}

static bool
ats_take_packet(struct weft_node_link *p, const struct weft_io_tlp *t)
{
	struct node *n = daemon_node(p->node);
	struct ats *a = n->ats;
	enum weft_verdict v = WEFT_DROP_NOT_MINE;

	/* rxl: whom the connection is with; cxl: whom the switch let in. A client hears its agent. */
	if (t->dpid != n->topo->pid || (!daemon_is_cxl(n->daemon) && t->spid != p->pid))
		v = WEFT_DROP_NOT_MINE;
	else if (a->agent != NULL)
		v = weft_ats_agent_receive(a->agent, t->spid, t->tlp, t->len);
	else if (t->spid == ats_agent_pid(n))
		v = weft_xlate_receive(a->client, t->tlp, t->len, n->node->ends_ns);
	if (v == WEFT_DROP_TX_FULL)
		return false; /* more questions than the agent holds: it waits */
	if (v != WEFT_OK)
		n->node->drops[v]++;
	p->due_ns = 0;
	return true;
}

bool
ats_packet(struct weft_node_link *p, const struct weft_io_tlp *t)
{
	if (daemon_node(p->node)->ats != NULL)
		return ats_take_packet(p, t);
	p->node->drops[WEFT_DROP_WRONG_CLASS]++;
	return true;
}

static void
ats_take_pending(struct node *n)
{
	for (uint16_t i = 0; i < n->node->n_links; i++) {
		struct weft_node_link *p = &n->node->link[i];

		for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
			const struct weft_io_tlp *t;

			while ((t = weft_end_io_peek(p->end, (enum weft_io_class)c)) != NULL &&
				ats_take_packet(p, t))
				weft_end_io_pop(p->end, (enum weft_io_class)c);
		}
	}
}

static void
ats_client_packets(struct node *n)
{
	struct weft_xlate *c = n->ats->client;
	struct weft_node_link *p = ats_conn_to(n, ats_agent_pid(n));
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	while (p != NULL && weft_end_can_send_io(p->end, WEFT_IO_POSTED) &&
		(len = weft_xlate_send_posted(c, buf, sizeof(buf))) != 0)
		ats_send_packet(p, ats_agent_pid(n), buf, len);
	while (p != NULL && weft_end_can_send_io(p->end, WEFT_IO_REQUEST) &&
		(len = weft_xlate_send_request(c, buf, sizeof(buf), n->node->ends_ns)) != 0)
		ats_send_packet(p, ats_agent_pid(n), buf, len);
}

/* An answer to a client that is gone is dropped: its question was, too. */
static bool
ats_send_answer(struct node *n, uint16_t to, const uint8_t *packet, size_t len)
{
	struct weft_node_link *p = ats_conn_to(n, to);

	return p == NULL || ats_send_packet(p, to, packet, len) != -EAGAIN;
}

static void
ats_agent_answers(struct node *n)
{
	struct ats *a = n->ats;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < a->n_stashed; i++) {
		const struct stashed *s = &a->stash[i];

		if (!ats_send_answer(n, s->to, s->packet, s->len) && kept++ != i)
			a->stash[kept - 1] = *s;
	}
	a->n_stashed = kept;
	while (a->n_stashed < STASH) {
		struct stashed *s = &a->stash[a->n_stashed];

		s->len = weft_ats_agent_send_answer(a->agent, s->packet, sizeof(s->packet), &s->to);
		if (s->len == 0)
			break;
		/* Behind others for the same client it would come too early. */
		if (a->n_stashed != 0 || !ats_send_answer(n, s->to, s->packet, s->len))
			a->n_stashed++;
	}
}

static void
ats_agent_packets(struct node *n)
{
	struct ats *a = n->ats;
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	ats_agent_answers(n);
	for (uint16_t i = 0; i < a->n_clients; i++) {
		struct weft_node_link *p = ats_conn_to(n, a->clients[i].id);

		while (p != NULL && weft_end_can_send_io(p->end, WEFT_IO_POSTED) &&
			(len = weft_ats_agent_send_posted(
				 a->agent, i, buf, sizeof(buf), n->node->ends_ns)) != 0)
			ats_send_packet(p, a->clients[i].id, buf, len);
	}
}

/* --- sessions --- */

/* In the next session an answer of this one could be taken for that to another question. */
static void
ats_drop_answers(struct ats *a, uint16_t to)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < a->n_stashed; i++)
		if (a->stash[i].to != to && kept++ != i)
			a->stash[kept - 1] = a->stash[i];
	a->n_stashed = kept;
}

static void
ats_agent_session(struct node *n, unsigned int client, bool ended, bool began)
{
	if (ended && client < n->ats->n_clients) {
		weft_ats_agent_down(n->ats->agent, client, n->node->ends_ns);
		ats_drop_answers(n->ats, n->ats->clients[client].id);
	}
	if (began)
		weft_ats_agent_up(n->ats->agent, client);
}

/*
 * cxl: the link is all there is a session of. What its end took away is found by time: questions are
 * asked again, and an invalidation that vanished fails.
 */
static void
ats_link_session(struct node *n, bool ended, bool began)
{
	struct ats *a = n->ats;

	if (a->client != NULL && ended)
		weft_xlate_ended(a->client, WEFT_PID_NONE);
	if (a->client != NULL && began)
		weft_xlate_enable(a->client);
	for (uint16_t i = 0; a->agent != NULL && began && i < a->n_clients; i++)
		weft_ats_agent_up(a->agent, i);
}

void
ats_session(struct weft_node_link *p, bool ended, bool began)
{
	struct node *n = daemon_node(p->node);
	struct ats *a = n->ats;

	if (a == NULL || (!ended && !began))
		return;
	if (daemon_is_cxl(n->daemon)) {
		ats_link_session(n, ended, began);
	} else if (a->agent != NULL) {
		ats_agent_session(n, (unsigned int)ats_client_index(a, p->pid), ended, began);
	} else if (p->pid == ats_agent_pid(n)) {
		if (ended)
			weft_xlate_reset(a->client, n->node->ends_ns);
		if (began)
			weft_xlate_enable(a->client);
	} else {
		if (ended)
			weft_xlate_ended(a->client, p->pid);
		if (began)
			weft_xlate_began(a->client, p->pid);
	}
}

/* --- requests --- */

static unsigned int
ats_kinds_now(const struct node *n)
{
	const struct weft_end *e = n->node->link[0].end;

	if (!daemon_is_cxl(n->daemon))
		return WEFT_XLATE_READS | WEFT_XLATE_WRITES; /* they wait for credits */
	return (weft_end_can_send(e, WEFT_MSG_M2S_REQ) ? WEFT_XLATE_READS : 0) |
	       (weft_end_can_send(e, WEFT_MSG_M2S_RWD) ? WEFT_XLATE_WRITES : 0);
}

bool
ats_translates(const struct node *n)
{
	return n->ats != NULL && n->ats->client != NULL;
}

void
ats_submit(struct node *n, const struct weft_msg *m)
{
	if (weft_xlate_submit(n->ats->client, m, n->node->ends_ns) != 0)
		n->node->drops[WEFT_DROP_TX_FULL]++;
}

unsigned int
ats_next(struct node *n, struct weft_xlate_out *out, unsigned int most)
{
	return weft_xlate_next(n->ats->client, ats_kinds_now(n), n->node->ends_ns, out, most);
}

bool
ats_may_send(struct node *n, const struct weft_msg *m)
{
	if (!daemon_is_cxl(n->daemon) ||
		weft_end_can_send(n->node->link[0].end, (enum weft_msg_kind)m->kind))
		return true;
	weft_xlate_put_back(n->ats->client, m->tag);
	return false;
}

void
ats_sent(struct node *n, const struct weft_msg *m)
{
	weft_xlate_sent(n->ats->client, m->tag, m->dpid);
}

bool
ats_response(struct node *n, const struct weft_msg *m)
{
	return !ats_translates(n) || weft_xlate_response(n->ats->client, m);
}

bool
ats_complete(struct node *n, const struct weft_completion *c)
{
	/* Whatever is no data must not be copied as if it were. */
	const enum weft_ats_agent_op_end how =
		c->status == WEFT_REQUEST_DONE     ? WEFT_ATS_AGENT_OP_DONE
		: c->status == WEFT_REQUEST_POISON ? WEFT_ATS_AGENT_OP_POISON
						   : WEFT_ATS_AGENT_OP_LOST;

	if (n->ats == NULL || n->ats->agent == NULL)
		return false;
	weft_ats_agent_op_done(n->ats->agent, (uint32_t)c->cookie, how, c->data, n->node->ends_ns);
	return true;
}

/* Lines that the agent copies. @return how many could begin */
static unsigned int
ats_agent_ops(struct node *n)
{
	struct weft_ats_agent_op op;
	unsigned int sent = 0;

	while (sent < OPS_A_POLL && weft_ats_agent_op(n->ats->agent, n->node->ends_ns, &op)) {
		struct weft_edge_decision d;
		struct weft_msg m;
		int rc;

		host_allow(n);
		fabric_decide(n, op.hpa, &d);
		rc = op.data == NULL ? weft_mem_read(n->host, d.dpid, op.hpa, op.cookie,
					       n->node->now_ns, &m)
		                     : weft_mem_write(n->host, d.dpid, op.hpa, op.data, op.cookie,
					       n->node->now_ns, &m);
		if (rc != 0)
			break;
		m.poison = op.is_poison;
		weft_ats_agent_op_begun(n->ats->agent, op.cookie);
		host_forward(n, &m);
		sent++;
	}
	return sent;
}

unsigned int
ats_poll(struct node *n)
{
	struct ats *a = n->ats;

	if (a == NULL)
		return 0;
	ats_take_pending(n);
	if (a->client != NULL) {
		weft_xlate_time(a->client, n->node->ends_ns);
		ats_client_packets(n);
		return 0;
	}
	weft_ats_agent_time(a->agent, n->node->ends_ns);
	ats_agent_packets(n);
	return node_may_send(n) ? ats_agent_ops(n) : 0;
}

/* --- begin and end --- */

static uint8_t
ats_stu(const struct weft_topo *t, unsigned int host)
{
	uint8_t least = WEFT_ATS_PAGE_LOG2 + 18;

	for (unsigned int i = 0; i < t->n_translations; i++)
		if (t->translation[i].host == host && t->translation[i].page_log2 < least)
			least = t->translation[i].page_log2;
	return (uint8_t)(least - WEFT_ATS_PAGE_LOG2);
}

static int
ats_init_client(struct node *n, char *err, size_t err_len)
{
	const struct weft_topo_node *topo = n->topo;
	const uint64_t life_ns = (uint64_t)n->load->mem.timeout_ms * 1000000;
	const struct weft_xlate_cfg cfg = {
		.answer_ns = life_ns / ANSWER_PART,
		.life_ns = life_ns,
		.entries = topo->ats.entries,
		.tags = host_tags(n->load->mem.outstanding),
		.id = topo->pid,
		.prefetch_degree = topo->ats.prefetch,
		.stu = ats_stu(n->daemon->topo, n->index),
		.kernel = n->daemon->atc,
	};
	const size_t size = weft_xlate_size(&cfg);
	void *mem = size == 0 ? NULL : rte_zmalloc("weft_ats", size, WEFT_CACHE_LINE);

	n->ats->client = mem == NULL ? NULL : weft_xlate_init(mem, &cfg);
	if (n->ats->client != NULL)
		return 0;
	rte_free(mem);
	snprintf(err, err_len, "host %s: no room for %zu bytes of address translation", topo->name,
		size);
	return -ENOMEM;
}

/* Whoever copies, and whoever asks, must be able to reach both places. */
static int
ats_check_reach(struct node *n, unsigned int from, uint64_t pa, char *err, size_t err_len)
{
	const struct weft_topo *t = n->daemon->topo;
	struct weft_resolve_hop *hop = calloc(t->n_nodes, sizeof(*hop));
	struct weft_resolve r;

	if (hop == NULL)
		return -ENOMEM;
	weft_resolve(t, from, pa, false, &r, hop);
	free(hop);
	if (r.rule == WEFT_RESOLVE_ALLOWED)
		return 0;
	snprintf(err, err_len, "host %s: translations need 0x%llx, which %s may not reach: %s",
		n->topo->name, (unsigned long long)pa, t->node[from].name,
		weft_resolve_word((enum weft_resolve_rule)r.rule));
	return -EINVAL;
}

static int
ats_agent_map(struct node *n, struct weft_ats_agent_map *m, const struct weft_topo_translation *x,
	char *err, size_t err_len)
{
	struct ats *a = n->ats;
	int rc = ats_check_reach(n, n->index, x->pa, err, err_len);
	uint16_t client = 0;

	if (rc == 0 && x->move_to != 0)
		rc = ats_check_reach(n, n->index, x->move_to, err, err_len);
	/* What the host is answered must not depend on where the page is. */
	if (rc == 0 && x->move_to != 0)
		rc = ats_check_reach(n, x->host, x->pa, err, err_len);
	if (rc == 0 && x->move_to != 0)
		rc = ats_check_reach(n, x->host, x->move_to, err, err_len);
	while (client < a->n_clients && a->node[client] != x->host)
		client++;
	if (client == a->n_clients) {
		a->node[client] = x->host;
		a->clients[client] = (struct weft_ats_agent_client){
			.id = n->daemon->topo->node[x->host].pid,
			.stu = ats_stu(n->daemon->topo, x->host),
		};
		a->n_clients++;
	}
	*m = (struct weft_ats_agent_map){
		.va = x->va,
		.pa = x->pa,
		.size = x->size,
		.move_to = x->move_to,
		.client = client,
		.page_log2 = x->page_log2,
		.bits = x->rights,
		.on_demand = x->on_demand != 0,
	};
	return rc;
}

static int
ats_init_agent(struct node *n, char *err, size_t err_len)
{
	const struct weft_load_move *change = &n->load->move;
	const uint16_t n_maps = n->topo->n_translations;
	struct ats *a = n->ats;
	struct weft_ats_agent_cfg cfg = {
		.timeout_ns = (uint64_t)change->timeout_ms * 1000000,
		.fence_ns = (uint64_t)change->fence_ms * 1000000,
		.every_ns = (uint64_t)change->every_ms * 1000000,
		.n_maps = n_maps,
		.id = n->topo->pid,
		.moves = change->at_once,
	};
	void *mem = NULL;
	size_t size;

	a->map = calloc(n_maps, sizeof(*a->map));
	a->clients = calloc(n_maps, sizeof(*a->clients));
	a->node = calloc(n_maps, sizeof(*a->node));
	if (a->map == NULL || a->clients == NULL || a->node == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < n_maps; i++) {
		const unsigned int at = n->topo->first_translation + i;
		const int rc = ats_agent_map(
			n, &a->map[i], &n->daemon->topo->translation[at], err, err_len);

		if (rc != 0)
			return rc;
	}
	cfg.map = a->map;
	cfg.client = a->clients;
	cfg.n_clients = a->n_clients;
	size = weft_ats_agent_size(&cfg);
	/* A byte a page, so it may be large: not of DPDK's memory. */
	if (size == 0 || posix_memalign(&mem, WEFT_CACHE_LINE, size) != 0)
		mem = NULL;
	a->agent = mem == NULL ? NULL : weft_ats_agent_init(mem, &cfg);
	if (a->agent != NULL)
		return 0;
	free(mem);
	snprintf(err, err_len, "host %s: no room for %zu bytes of translations", n->topo->name,
		size);
	return -ENOMEM;
}

int
ats_init(struct node *n, char *err, size_t err_len)
{
	const bool is_agent = n->topo->n_translations != 0;

	if (!is_agent && !(n->topo->translates && n->load->has_mem))
		return 0;
	snprintf(err, err_len, "host %s: out of memory", n->topo->name);
	n->ats = calloc(1, sizeof(*n->ats));
	if (n->ats == NULL)
		return -ENOMEM;
	return is_agent ? ats_init_agent(n, err, err_len) : ats_init_client(n, err, err_len);
}

void
ats_fini(struct node *n)
{
	struct ats *a = n->ats;

	if (a == NULL)
		return;
	rte_free(a->client);
	free(a->agent);
	free(a->map);
	free(a->clients);
	free(a->node);
	free(a);
}

/* --- reports --- */

void
ats_tell(struct daemon *d)
{
	for (uint16_t i = 0; i < d->n_nodes; i++) {
		const struct node *n = &d->node[i];
		uint64_t isolated;

		if (n->ats == NULL || n->ats->agent == NULL)
			continue;
		isolated = weft_ats_agent_isolated(n->ats->agent);
		for (; isolated != 0; isolated &= isolated - 1) {
			const uint16_t c = n->ats->node[__builtin_ctzll(isolated)];

			event_tell(EVENT_ISOLATED, n->topo->name, d->topo->node[c].name, 1,
				"%s did not complete an invalidation in %u ms: it is isolated, and "
				"the page is not reused",
				d->topo->node[c].name, n->load->move.timeout_ms);
		}
	}
}

unsigned int
ats_rows(const struct node *n, struct ats_row row[ATS_ROWS])
{
	const struct ats *a = n->ats;

	if (a == NULL)
		return 0;
	if (a->agent != NULL) {
		row[0] = (struct ats_row){ "agent", weft_ats_agent_counters(),
			weft_ats_agent_counts(a->agent), WEFT_ATS_AGENT_N_COUNTERS };
		row[1] = (struct ats_row){ "peer", weft_ats_ta_counters(),
			weft_ats_ta_counts(weft_ats_agent_peer(a->agent)), WEFT_ATS_TA_N_COUNTERS };
		return 2;
	}
	row[0] = (struct ats_row){ "client", weft_xlate_counters(), weft_xlate_counts(a->client),
		WEFT_XLATE_N_COUNTERS };
	row[1] = (struct ats_row){ "peer", weft_ats_atc_counters(),
		weft_ats_atc_counts(weft_xlate_peer(a->client)), WEFT_ATS_ATC_N_COUNTERS };
	row[2] = (struct ats_row){ "cache", weft_atc_counters(),
		weft_atc_counts(weft_xlate_cache(a->client)), WEFT_ATC_N_COUNTERS };
	return 3;
}

void
ats_gauges(const struct node *n, uint64_t *waiting, uint64_t *moving, uint64_t *holding)
{
	const struct ats *a = n->ats;

	*waiting = a->client != NULL ? weft_xlate_waiting(a->client) : 0;
	*moving = a->agent != NULL ? weft_ats_agent_moving(a->agent) : 0;
	*holding = a->agent != NULL ? weft_ats_agent_stuck(a->agent) : 0;
}
