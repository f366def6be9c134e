/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Address translation in a fabric: a host that translates, or the agent that its clients ask
 * (lib/ats). Here their packets meet connections or links, and what an agent copies meets the
 * host engine. An agent has the clock of the ends: while it is not polled nobody is late.
 * doc/ats.md, "In a fabric".
 */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_ats_agent.h"
#include "weft_ats_atc.h"
#include "weft_ats_ta.h"
#include "weft_ats_wire.h"
#include "weft_clients.h"
#include "weft_resolve.h"
#include "weft_xlate.h"

#define ANSWER_PART 4 /* of the time that a request has: a Translation Request is sent again */
#define OPS_A_POLL 128
#define STASH 64
#define MOVE_LINES 512 /* of an agent, on their way */

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
	uint64_t isolated; /* control thread: clients that are to be told of, a bit each */
	unsigned int n_stashed;
	struct stashed stash[STASH];
};

static struct ats *
ats_of(const struct weft_node *n)
{
	return NODE_SERVICE_OF(n, ats);
}

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
ats_conn_to(struct weft_node *n, uint16_t pid)
{
	struct weft_node_link *p = node_link_to(n, pid);

	return p != NULL && p->state == WEFT_NODE_UP ? p : NULL;
}

/* 0; -EAGAIN; or another error, and then it is gone. */
static int
ats_send_packet(struct weft_node_link *p, uint16_t to, const uint8_t *packet, size_t len)
{
	struct weft_io_tlp t = { .spid = p->node->topo->pid, .dpid = to, .len = (uint16_t)len };
	int rc;

	memcpy(t.tlp, packet, len);
	rc = weft_link_send_io(p->end, &t);
	if (rc == 0)
		weft_node_set_due(p, 0);
	else if (rc != -EAGAIN)
		node_drop(p->node, WEFT_DROP_PORT_DOWN);
	return rc;
}

static uint16_t
ats_agent_pid(const struct weft_node *n)
{
	return n->cfg.topo->node[n->topo->ats.agent].pid;
}

static bool
ats_packet(struct weft_node_link *p, void *state, const struct weft_io_tlp *t)
{
	struct weft_node *n = p->node;
	struct ats *a = state;
	enum weft_verdict v = WEFT_DROP_NOT_MINE;

	/*
	 * rxl: whom the connection is with; cxl: whom the switch let in. A client hears its agent.
	 */
	if (t->dpid != n->topo->pid || (!weft_node_is_cxl(n) && t->spid != p->pid))
		v = WEFT_DROP_NOT_MINE;
	else if (a->agent != NULL)
		v = weft_ats_agent_receive(a->agent, t->spid, t->tlp, t->len);
	else if (t->spid == ats_agent_pid(n))
		v = weft_xlate_receive(a->client, t->tlp, t->len, n->ends_ns);
	if (v == WEFT_DROP_TX_FULL)
		return false; /* more questions than the agent holds: it waits */
	if (v != WEFT_OK)
		node_drop(n, v);
	weft_node_set_due(p, 0);
	return true;
}

static void
ats_take_pending(struct weft_node *n)
{
	for (uint16_t i = 0; i < n->n_links; i++) {
		struct weft_node_link *p = &n->link[i];

		for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++) {
			const struct weft_io_tlp *t;

			while ((t = weft_link_io_peek(p->end, (enum weft_io_class)c)) != NULL &&
				ats_packet(p, ats_of(n), t))
				weft_link_io_pop(p->end, (enum weft_io_class)c);
		}
	}
}

static void
ats_client_packets(struct weft_node *n)
{
	struct weft_xlate *c = ats_of(n)->client;
	struct weft_node_link *p = ats_conn_to(n, ats_agent_pid(n));
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	while (p != NULL && weft_link_can_send_io(p->end, WEFT_IO_POSTED) &&
		(len = weft_xlate_send_posted(c, buf, sizeof(buf))) != 0)
		ats_send_packet(p, ats_agent_pid(n), buf, len);
	while (p != NULL && weft_link_can_send_io(p->end, WEFT_IO_REQUEST) &&
		(len = weft_xlate_send_request(c, buf, sizeof(buf), n->ends_ns)) != 0) {
		/* The address is what a Translation Request ends with; bit 0: only to read. */
		weft_probe_translation_miss(n->topo->name, 0,
			weft_get_be64(buf + len - sizeof(uint64_t)) & ~UINT64_C(1));
		ats_send_packet(p, ats_agent_pid(n), buf, len);
	}
}

/* An answer to a client that is gone is dropped: its question was, too. */
static bool
ats_send_answer(struct weft_node *n, uint16_t to, const uint8_t *packet, size_t len)
{
	struct weft_node_link *p = ats_conn_to(n, to);

	return p == NULL || ats_send_packet(p, to, packet, len) != -EAGAIN;
}

static void
ats_agent_answers(struct weft_node *n)
{
	struct ats *a = ats_of(n);
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
ats_agent_packets(struct weft_node *n)
{
	struct ats *a = ats_of(n);
	uint8_t buf[WEFT_ATS_PACKET_MAX];
	size_t len;

	ats_agent_answers(n);
	for (uint16_t i = 0; i < a->n_clients; i++) {
		struct weft_node_link *p = ats_conn_to(n, a->clients[i].id);

		while (p != NULL && weft_link_can_send_io(p->end, WEFT_IO_POSTED) &&
			(len = weft_ats_agent_send_posted(
				 a->agent, i, buf, sizeof(buf), n->ends_ns)) != 0)
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
ats_agent_session(struct weft_node *n, unsigned int client, bool ended, bool began)
{
	if (ended && client < ats_of(n)->n_clients) {
		weft_ats_agent_down(ats_of(n)->agent, client, n->ends_ns);
		ats_drop_answers(ats_of(n), ats_of(n)->clients[client].id);
	}
	if (began)
		weft_ats_agent_up(ats_of(n)->agent, client);
}

/*
 * cxl: the link is all there is a session of. What its end took away is found by time: questions
 * are asked again, and an invalidation that vanished fails.
 */
static void
ats_link_session(struct weft_node *n, bool ended, bool began)
{
	struct ats *a = ats_of(n);

	if (a->client != NULL && ended)
		weft_xlate_ended(a->client, WEFT_PID_NONE);
	if (a->client != NULL && began)
		weft_xlate_enable(a->client);
	for (uint16_t i = 0; a->agent != NULL && began && i < a->n_clients; i++)
		weft_ats_agent_up(a->agent, i);
}

static void
ats_session(struct weft_node_link *p, void *state, bool ended, bool began)
{
	struct weft_node *n = p->node;
	struct ats *a = state;

	if (weft_node_is_cxl(n)) {
		ats_link_session(n, ended, began);
	} else if (a->agent != NULL) {
		ats_agent_session(n, (unsigned int)ats_client_index(a, p->pid), ended, began);
	} else if (p->pid == ats_agent_pid(n)) {
		if (ended)
			weft_xlate_reset(a->client, n->ends_ns);
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
ats_kinds_now(const struct weft_node *n)
{
	const struct weft_link *e = n->link[0].end;

	if (!weft_node_is_cxl(n))
		return WEFT_XLATE_READS | WEFT_XLATE_WRITES; /* they wait for credits */
	return (weft_link_can_send(e, WEFT_MSG_M2S_REQ) ? WEFT_XLATE_READS : 0) |
	       (weft_link_can_send(e, WEFT_MSG_M2S_RWD) ? WEFT_XLATE_WRITES : 0);
}

bool
ats_translates(const struct weft_node *n)
{
	return ats_of(n) != NULL && ats_of(n)->client != NULL;
}

void
ats_submit(struct weft_node *n, const struct weft_msg *m)
{
	if (weft_xlate_submit(ats_of(n)->client, m, n->ends_ns) != 0)
		node_drop(n, WEFT_DROP_TX_FULL);
}

unsigned int
ats_next(struct weft_node *n, struct weft_xlate_out *out, unsigned int most)
{
	return weft_xlate_next(ats_of(n)->client, ats_kinds_now(n), n->ends_ns, out, most);
}

bool
ats_may_send(struct weft_node *n, const struct weft_msg *m)
{
	if (!weft_node_is_cxl(n) || weft_link_can_send(n->link[0].end, (enum weft_msg_kind)m->kind))
		return true;
	weft_xlate_put_back(ats_of(n)->client, m->tag);
	return false;
}

void
ats_sent(struct weft_node *n, const struct weft_msg *m)
{
	weft_xlate_sent(ats_of(n)->client, m->tag, m->dpid);
}

bool
ats_response(struct weft_node *n, const struct weft_msg *m)
{
	return !ats_translates(n) || weft_xlate_response(ats_of(n)->client, m);
}

static bool
ats_complete(struct weft_node *n, void *state, const struct weft_completion *c)
{
	struct ats *a = state;
	/* Whatever is no data must not be copied as if it were. */
	const enum weft_ats_agent_op_end how =
		c->status == WEFT_REQUEST_DONE     ? WEFT_ATS_AGENT_OP_DONE
		: c->status == WEFT_REQUEST_POISON ? WEFT_ATS_AGENT_OP_POISON
						   : WEFT_ATS_AGENT_OP_LOST;

	/* Lines of an agent's copies have small numbers. */
	if (a->agent == NULL || c->cookie > UINT32_MAX)
		return false;
	weft_ats_agent_op_done(a->agent, (uint32_t)c->cookie, how, c->data, n->ends_ns);
	return true;
}

/* Lines that the agent copies. @return how many could begin */
static unsigned int
ats_agent_ops(struct weft_node *n)
{
	struct weft_ats_agent_op op;
	unsigned int sent = 0;

	while (sent < OPS_A_POLL && weft_ats_agent_op(ats_of(n)->agent, n->ends_ns, &op)) {
		struct weft_edge_decision d;
		struct weft_msg m;
		int rc;

		host_update_credits(n);
		node_decide(n, WEFT_EDGE_MEM, op.hpa, &d);
		rc = op.data == NULL ? weft_mem_read(host_requester(n), d.dpid, op.hpa, op.cookie,
					       n->now_ns, &m)
		                     : weft_mem_write(host_requester(n), d.dpid, op.hpa, op.data,
					       op.cookie, n->now_ns, &m);
		if (rc != 0)
			break;
		m.poison = op.is_poison;
		weft_ats_agent_op_begun(ats_of(n)->agent, op.cookie);
		host_forward(n, &m);
		sent++;
	}
	return sent;
}

/* --- moves that programs ask for --- */

bool
ats_is_agent(const struct weft_node *n)
{
	return ats_of(n) != NULL && ats_of(n)->agent != NULL;
}

bool
weft_node_clients_can_move(const struct weft_node *n)
{
	return ats_is_agent(n);
}

int
ats_move(struct weft_node *n, const struct weft_node_region *r, uint64_t hpa, uint64_t cookie)
{
	struct weft_ats_agent *a = ats_of(n)->agent;
	uint64_t first, size;

	if (weft_ats_agent_page(a, hpa, &first, &size) != 0)
		return -ENXIO;
	if (first < r->base || size > r->size || first - r->base > r->size - size)
		return -EINVAL;
	return weft_ats_agent_move(a, hpa, cookie, n->ends_ns);
}

static void
ats_tell_moved(struct weft_node *n)
{
	struct weft_ats_agent_moved m;

	while (weft_ats_agent_moved(ats_of(n)->agent, &m)) {
		const struct weft_completion c = {
			.cookie = m.cookie,
			.kind = WEFT_REQUEST_WRITE,
			.status = m.is_done ? WEFT_REQUEST_DONE : WEFT_REQUEST_LOST,
		};

		node_clients.complete(n, NODE_SERVICE_OF(n, clients), &c);
	}
}

static unsigned int
ats_poll(struct weft_node *n, void *state, bool may_ask)
{
	struct ats *a = state;

	ats_take_pending(n);
	if (a->client != NULL) {
		weft_xlate_time(a->client, n->ends_ns);
		ats_client_packets(n);
		return 0;
	}
	weft_ats_agent_hold(a->agent, n->drain.holds);
	weft_ats_agent_time(a->agent, n->ends_ns);
	ats_tell_moved(n);
	ats_agent_packets(n);
	return may_ask ? ats_agent_ops(n) : 0;
}

/* --- begin and end --- */

static uint8_t
ats_stu(const struct weft_topo *t, unsigned int host)
{
	uint8_t least = WEFT_ATS_PAGE_LOG2 + 18;

	for (unsigned int i = 0; i < t->translations.n; i++)
		if (t->translations.entry[i].host == host &&
			t->translations.entry[i].page_log2 < least)
			least = t->translations.entry[i].page_log2;
	return (uint8_t)(least - WEFT_ATS_PAGE_LOG2);
}

static int
ats_init_client(struct weft_node *n, char *err, size_t err_len)
{
	const struct weft_topo_node *topo = n->topo;
	const uint64_t life_ns = (uint64_t)n->load->mem.timeout_ms * 1000000;
	const struct weft_xlate_cfg cfg = {
		.answer_ns = life_ns / ANSWER_PART,
		.life_ns = life_ns,
		.entries = topo->ats.entries,
		.tags = source_tags(n->load->mem.outstanding),
		.id = topo->pid,
		.prefetch_degree = topo->ats.prefetch,
		.stu = ats_stu(n->cfg.topo, n->cfg.index),
		.kernel = n->cfg.atc,
	};
	const size_t size = weft_xlate_size(&cfg);
	void *mem = size == 0 ? NULL : node_alloc(n, size);

	ats_of(n)->client = mem == NULL ? NULL : weft_xlate_init(mem, &cfg);
	if (ats_of(n)->client != NULL)
		return 0;
	node_free(n, mem);
	return weft_errorf(err, err_len, -ENOMEM,
		"host %s: no room for %zu bytes of address translation", topo->name, size);
}

/* Whoever copies, and whoever asks, must be able to reach both places. */
static int
ats_check_reach(struct weft_node *n, unsigned int from, uint64_t pa, char *err, size_t err_len)
{
	const struct weft_topo *t = n->cfg.topo;
	struct weft_resolve_hop *hop = node_alloc(n, t->n_nodes * sizeof(*hop));
	struct weft_resolve r;

	if (hop == NULL)
		return -ENOMEM;
	weft_resolve(t, from, pa, false, &r, hop);
	node_free(n, hop);
	if (r.rule == WEFT_RESOLVE_ALLOWED)
		return 0;
	return weft_errorf(err, err_len, -EINVAL,
		"host %s: translations need 0x%llx, which %s may not reach: %s", n->topo->name,
		(unsigned long long)pa, t->node[from].name,
		weft_resolve_word((enum weft_resolve_rule)r.rule));
}

static int
ats_agent_map(struct weft_node *n, struct weft_ats_agent_map *m,
	const struct weft_topo_translation *x, char *err, size_t err_len)
{
	struct ats *a = ats_of(n);
	int rc = ats_check_reach(n, n->cfg.index, x->pa, err, err_len);
	uint16_t client = 0;

	if (rc == 0 && x->alt_pa != 0)
		rc = ats_check_reach(n, n->cfg.index, x->alt_pa, err, err_len);
	/* What the host is answered must not depend on where the page is. */
	if (rc == 0 && x->alt_pa != 0)
		rc = ats_check_reach(n, x->host, x->pa, err, err_len);
	if (rc == 0 && x->alt_pa != 0)
		rc = ats_check_reach(n, x->host, x->alt_pa, err, err_len);
	while (client < a->n_clients && a->node[client] != x->host)
		client++;
	if (client == a->n_clients) {
		a->node[client] = x->host;
		a->clients[client] = (struct weft_ats_agent_client){
			.id = n->cfg.topo->node[x->host].pid,
			.stu = ats_stu(n->cfg.topo, x->host),
		};
		a->n_clients++;
	}
	*m = (struct weft_ats_agent_map){
		.va = x->va,
		.pa = x->pa,
		.size = x->size,
		.alt_pa = x->alt_pa,
		.client = client,
		.page_log2 = x->page_log2,
		.bits = x->rights,
		.on_demand = x->on_demand != 0,
	};
	return rc;
}

static int
ats_init_agent(struct weft_node *n, char *err, size_t err_len)
{
	const struct weft_load_move *change = &n->load->move;
	const uint16_t n_maps = n->topo->n_translations;
	struct ats *a = ats_of(n);
	struct weft_ats_agent_cfg cfg = {
		.timeout_ns = (uint64_t)change->timeout_ms * 1000000,
		.fence_ns = (uint64_t)change->fence_ms * 1000000,
		.period_ns = (uint64_t)change->period_ms * 1000000,
		.n_maps = n_maps,
		.id = n->topo->pid,
		.max_concurrent = change->max_concurrent,
	};
	void *mem;
	size_t size;

	a->map = node_alloc(n, n_maps * sizeof(*a->map));
	a->clients = node_alloc(n, n_maps * sizeof(*a->clients));
	a->node = node_alloc(n, n_maps * sizeof(*a->node));
	if (a->map == NULL || a->clients == NULL || a->node == NULL)
		return -ENOMEM;
	for (uint16_t i = 0; i < n_maps; i++) {
		const unsigned int at = n->topo->first_translation + i;
		const int rc = ats_agent_map(
			n, &a->map[i], &n->cfg.topo->translations.entry[at], err, err_len);

		if (rc != 0)
			return rc;
	}
	cfg.map = a->map;
	cfg.client = a->clients;
	cfg.n_clients = a->n_clients;
	size = weft_ats_agent_size(&cfg);
	mem = node_alloc(n, size);
	a->agent = mem == NULL ? NULL : weft_ats_agent_init(mem, &cfg);
	if (a->agent != NULL)
		return 0;
	node_free(n, mem);
	return weft_errorf(err, err_len, -ENOMEM, "host %s: no room for %zu bytes of translations",
		n->topo->name, size);
}

static int
ats_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	const bool is_agent = n->topo->n_translations != 0;

	if (!is_agent && !(n->topo->translates && n->load->has_mem))
		return 0;
	snprintf(err, err_len, "host %s: out of memory", n->topo->name);
	*state = node_alloc(n, sizeof(struct ats));
	if (*state == NULL)
		return -ENOMEM;
	return is_agent ? ats_init_agent(n, err, err_len) : ats_init_client(n, err, err_len);
}

static void
ats_fini(struct weft_node *n, void *state)
{
	struct ats *a = state;

	node_free(n, a->client);
	node_free(n, a->agent);
	node_free(n, a->map);
	node_free(n, a->clients);
	node_free(n, a->node);
	node_free(n, a);
}

static uint32_t
ats_tags(const struct weft_node *n)
{
	return n->topo->n_translations != 0 ? MOVE_LINES : 0;
}

/* --- reports --- */

int
weft_node_next_isolated(struct weft_node *n)
{
	struct ats *a = ats_of(n);
	int client;

	if (a == NULL || a->agent == NULL)
		return -1;
	if (a->isolated == 0)
		a->isolated = weft_ats_agent_isolated(a->agent);
	if (a->isolated == 0)
		return -1;
	client = __builtin_ctzll(a->isolated);
	a->isolated &= a->isolated - 1;
	return a->node[client];
}

static unsigned int
ats_counters(const struct weft_node *n, const void *state, struct weft_node_set *set)
{
	const struct ats *a = state;

	(void)n;
	if (a->agent != NULL) {
		set[0] = (struct weft_node_set){ "ats", "agent", "agent", weft_ats_agent_counters,
			weft_ats_agent_counts(a->agent), WEFT_ATS_AGENT_N_COUNTERS };
		set[1] = (struct weft_node_set){ "ats", "peer", "peer", weft_ats_ta_counters,
			weft_ats_ta_counts(weft_ats_agent_peer(a->agent)), WEFT_ATS_TA_N_COUNTERS };
		return 2;
	}
	set[0] = (struct weft_node_set){ "ats", "client", "client", weft_xlate_counters,
		weft_xlate_counts(a->client), WEFT_XLATE_N_COUNTERS };
	set[1] = (struct weft_node_set){ "ats", "peer", "peer", weft_ats_atc_counters,
		weft_ats_atc_counts(weft_xlate_peer(a->client)), WEFT_ATS_ATC_N_COUNTERS };
	set[2] = (struct weft_node_set){ "ats", "cache", "cache", weft_atc_counters,
		weft_atc_counts(weft_xlate_cache(a->client)), WEFT_ATC_N_COUNTERS };
	return 3;
}

bool
weft_node_ats(const struct weft_node *n, uint64_t *waiting, uint64_t *moving, uint64_t *holding)
{
	const struct ats *a = ats_of(n);

	if (a == NULL)
		return false;
	*waiting = a->client != NULL ? weft_xlate_waiting(a->client) : 0;
	*moving = a->agent != NULL ? weft_ats_agent_moving(a->agent) : 0;
	*holding = a->agent != NULL ? weft_ats_agent_stuck(a->agent) : 0;
	return true;
}

const struct weft_node_service node_ats = {
	.name = "ats",
	.init = ats_init,
	.fini = ats_fini,
	.packet = ats_packet,
	.tags = ats_tags,
	.complete = ats_complete,
	.session = ats_session,
	.poll = ats_poll,
	.counters = ats_counters,
};
