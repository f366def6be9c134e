/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The links of a node: which it has, and what their ends are made of. In rxl mode a link is a
 * connection with a node, in cxl mode it is what a port leads to.
 */

#include "node_priv.h"
#include "weft_clients.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINK_WINDOW 256 /* flits on their way to the other end */
#define LINK_QUEUES 20480 /* bytes; where halves of a link run on two lcores */
#define RETRY_TIMEOUT_MIN_NS UINT64_C(2000000)
#define RESEND_AFTER_NS UINT64_C(100000000)

static_assert(
	WEFT_TOPO_CXL_IO_MAX == WEFT_LINK_IO_ROOM_MAX, "what a topology may ask for is given");

struct weft_node_link *
weft_node_link_find(struct weft_node *n, uint16_t pid)
{
	const uint16_t number = pid < n->n_pids ? n->link_of_pid[pid] : 0;

	return number == 0 ? NULL : &n->link[number - 1];
}

void
weft_node_retry(struct weft_llr_cfg *c, const struct weft_topo_retry *r)
{
	const bool can_select = c->mode == WEFT_MODE_CXL || c->gap_decoding;

	if (r->window != 0)
		c->window = r->window;
	if (r->ack_every != 0)
		c->ack_every = r->ack_every;
	if (r->selective >= 0)
		c->selective = r->selective != 0 && can_select;
	if (r->rx_buffer != 0)
		c->rx_flits = r->rx_buffer;
	else if (c->rx_flits == 0 || r->window != 0)
		c->rx_flits = (uint16_t)(c->window - 1);
	if (!c->selective)
		c->rx_flits = 0;
}

/* Room for what may come this way. */
static void
link_room(struct weft_node_link *l, struct weft_link_cfg *c)
{
	const struct weft_node_kind *k = l->node->kind;
	const uint16_t credits = l->node->cfg.rules->credits;
	const uint16_t requests = k->takes_requests ? credits : 0;
	const uint16_t answers = k->takes_answers ? credits : 0;

	c->room[WEFT_MSG_M2S_REQ] = requests;
	c->room[WEFT_MSG_M2S_RWD] = requests;
	c->room[WEFT_MSG_S2M_NDR] = answers;
	c->room[WEFT_MSG_S2M_DRS] = answers;
	for (unsigned int i = 0; i < WEFT_IO_CLASSES; i++)
		c->io_room[i] = l->node->cfg.topo->cxl_io.packets;
	c->io = k->packet;
	c->io_arg = l;
}

static void
link_cfg(struct weft_node_link *l, struct weft_link_cfg *c)
{
	const struct weft_topo *t = l->node->cfg.topo;
	struct weft_control *own = &c->session.params;

	memset(c, 0, sizeof(*c));
	weft_llr_defaults(&c->llr, (enum weft_mode)t->mode);
	if (t->mode == WEFT_MODE_RXL) {
		c->llr.isn = t->isn;
		c->llr.gap_decoding = t->isn == WEFT_ISN_PSEUDO;
		c->llr.selective = c->llr.gap_decoding;
	}
	c->llr.timeout_min_ns = RETRY_TIMEOUT_MIN_NS;
	/* A process that shares its CPU may be away for so long; lost tails are found sooner. */
	c->llr.resend_after_ns = RESEND_AFTER_NS;
	c->llr.window = LINK_WINDOW;
	c->llr.rx_flits = c->llr.selective ? LINK_WINDOW - 1 : 0;
	weft_node_retry(&c->llr, &t->retry);
	weft_session_defaults(&c->session);
	c->session.is_initiator = l->is_initiator;
	own->version = WEFT_WIRE_VERSION;
	own->mode = t->mode;
	own->max_flits = l->max_flits;
	own->crc_order = t->crc_order;
	own->isn_form = c->llr.isn;
	own->credits = l->node->cfg.rules->credits;
	own->memory = l->node->generation;
	memcpy(own->node, l->node->topo->name,
		strnlen(l->node->topo->name, WEFT_NODE_ID_LEN)); /* the rest stays 0 */
	c->form = t->port[l->node->topo->first_port + l->port].form;
	c->max_flits = l->max_flits;
	c->seen = l->node->messages;
	link_room(l, c);
}

size_t
weft_node_link_memory(const struct weft_topo *t)
{
	const size_t window = t->retry.window > LINK_WINDOW || t->retry.rx_buffer >= LINK_WINDOW
	                              ? 2 * LINK_WINDOW
	                              : LINK_WINDOW;
	const size_t kinds = t->mode == WEFT_MODE_CXL ? 4 : 2;
	size_t queues = 0;

	for (unsigned int i = 0; i < t->n_nodes; i++)
		if (t->node[i].n_lcores > 1)
			queues = LINK_QUEUES;
	/*
	 * Both buffers of the retry layer, what waits to be consumed, queues between its halves,
	 * and the allocator's rounding.
	 */
	return queues + 2 * window * WEFT_FLIT_LEN +
	       kinds * WEFT_NODE_CREDITS * sizeof(struct weft_msg) +
	       WEFT_IO_CLASSES * t->cxl_io.packets * sizeof(struct weft_io_tlp) +
	       sizeof(struct weft_node_waiting) + 2 * WEFT_NODE_CREDITS * sizeof(struct weft_msg) +
	       45056;
}

/* Of a GFD by CXL.mem, of an agent, or of anybody by UIO. */
static bool
link_is_asked(const struct weft_topo *t, const struct weft_load *load, unsigned int node,
	unsigned int other)
{
	const struct weft_load_node *l = &load->node[node];
	const struct weft_topo_node *n = &t->node[node], *o = &t->node[other];

	if (n->kind == WEFT_TOPO_HOST && o->kind == WEFT_TOPO_GFD && weft_node_asks_gfds(n, l))
		return true;
	if (n->translates && l->has_mem && n->ats.agent == other)
		return true;
	return l->has_uio && weft_topo_may_ask(t, node, other);
}

/* A host of clients has them all: which of them it will need is not known. */
static bool
link_may_be_asked(const struct weft_topo *t, const struct weft_load *load, unsigned int node,
	unsigned int other)
{
	return link_is_asked(t, load, node, other) ||
	       (t->node[other].kind == WEFT_TOPO_GFD &&
		       weft_node_takes_clients(&t->node[node], &load->node[node]));
}

bool
weft_node_is_joined(const struct weft_topo *t, const struct weft_load *load, unsigned int node,
	unsigned int other, bool *first)
{
	const bool there = link_may_be_asked(t, load, node, other);
	const bool back = link_may_be_asked(t, load, other, node);

	/* Of two that ask each other it is the first. */
	*first = there && (!back || node < other);
	return there || back ||
	       (t->node[node].kind == WEFT_TOPO_GFD && t->node[other].kind == WEFT_TOPO_HOST);
}

static int
link_end(struct weft_node_link *l)
{
	const struct weft_node *n = l->node;
	struct weft_link_cfg cfg;
	void *mem;
	int rc;

	link_cfg(l, &cfg);
	rc = n->cfg.world->link_cfg(n->cfg.world_arg, l, &cfg);
	if (rc != 0)
		return rc;
	mem = n->cfg.world->alloc(n->cfg.world_arg, weft_link_size(&cfg));
	if (mem == NULL)
		return -ENOMEM;
	l->end = weft_link_init(mem, &cfg, n->ends_ns);
	if (l->end != NULL)
		return 0;
	n->cfg.world->free(n->cfg.world_arg, mem);
	return -EINVAL;
}

static int
link_make_waiting(struct weft_node_link *l)
{
	const uint32_t granted = 2u * l->node->cfg.rules->credits;
	const uint32_t tags = l->node->topo->translates ? host_tags(l->node) : 0;
	const uint32_t room = tags > granted ? tags : granted;

	l->waiting = node_alloc(l->node, sizeof(*l->waiting) + room * sizeof(l->waiting->msg[0]));
	if (l->waiting == NULL)
		return -ENOMEM;
	l->waiting->room = room;
	return 0;
}

static int
link_init(struct weft_node_link *l, struct weft_node *n, uint16_t other, char *err, size_t err_len)
{
	const struct weft_topo *t = n->cfg.topo;
	const uint8_t kind = t->node[other].kind;
	int rc;

	l->node = n;
	l->index = (uint16_t)(l - n->link);
	l->topo_node = other;
	l->pid = t->node[other].pid;
	l->is_host = kind == WEFT_TOPO_HOST || kind == WEFT_TOPO_DEVICE;
	l->is_switch = kind == WEFT_TOPO_SWITCH;
	l->is_needed = weft_node_is_cxl(n) || link_is_asked(t, n->cfg.load, n->cfg.index, other);
	rc = link_end(l);
	if (rc == 0 && !weft_node_is_cxl(n) && kind == WEFT_TOPO_GFD &&
		(weft_node_asks_gfds(n->topo, n->load) ||
			weft_node_takes_clients(n->topo, n->load)))
		rc = link_make_waiting(l);
	if (rc != 0)
		snprintf(err, err_len, "node %s: %s to %s: %s", n->topo->name,
			weft_node_is_cxl(n) ? "link" : "connection", t->node[other].name,
			strerror(-rc));
	return rc;
}

static int
link_init_ports(struct weft_node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->cfg.topo;
	int rc = 0;

	for (uint16_t i = 0; i < n->topo->n_ports && rc == 0; i++) {
		const unsigned int port = n->topo->first_port + i;
		struct weft_node_link *l = &n->link[n->n_links++];

		l->port = i;
		l->max_flits = (uint8_t)weft_topo_link_flits(t, port);
		l->is_initiator = t->link[t->port[port].link].a == port;
		rc = link_init(l, n, t->port[t->port[port].peer].node, err, err_len);
	}
	return rc;
}

bool
node_loads(const struct weft_node *n, uint16_t other)
{
	for (uint16_t i = 0; i < n->cfg.n_peers; i++)
		if (n->cfg.peer[i].node == other)
			return true;
	return n->cfg.peer == NULL || !n->cfg.topo->map.is_default;
}

/* To those whom the world has chosen. */
static int
link_init_peers(struct weft_node *n, char *err, size_t err_len)
{
	int rc = 0;

	for (uint16_t i = 0; i < n->cfg.n_peers && rc == 0; i++) {
		struct weft_node_link *l = &n->link[n->n_links++];

		l->max_flits = n->cfg.peer[i].max_flits;
		l->is_initiator = n->cfg.peer[i].is_initiator;
		rc = link_init(l, n, n->cfg.peer[i].node, err, err_len);
	}
	return rc;
}

static int
link_init_connections(struct weft_node *n, char *err, size_t err_len)
{
	const struct weft_topo *t = n->cfg.topo;
	bool is_first;
	int rc = 0;

	for (uint16_t i = 0; i < t->n_nodes && rc == 0; i++) {
		struct weft_node_link *l = &n->link[n->n_links];

		if (!weft_node_is_joined(t, n->cfg.load, n->cfg.index, i, &is_first))
			continue;
		n->n_links++;
		l->max_flits = (uint8_t)weft_topo_path_flits(t, n->cfg.index, i);
		l->is_initiator = is_first;
		rc = link_init(l, n, i, err, err_len);
	}
	return rc;
}

static int
link_no_memory(const struct weft_node *n, char *err, size_t err_len)
{
	return weft_errorf(err, err_len, -ENOMEM, "node %s: out of memory", n->topo->name);
}

/* For weft_node_link_find(): each request of a host comes by there. */
static int
link_note_pids(struct weft_node *n, char *err, size_t err_len)
{
	n->n_pids = 0;
	for (uint16_t i = 0; i < n->n_links; i++)
		if (n->link[i].pid >= n->n_pids)
			n->n_pids = (uint16_t)(n->link[i].pid + 1);
	n->link_of_pid = node_alloc(n, n->n_pids * sizeof(*n->link_of_pid));
	if (n->link_of_pid == NULL && n->n_pids != 0)
		return link_no_memory(n, err, err_len);
	for (uint16_t i = n->n_links; i-- > 0;)
		n->link_of_pid[n->link[i].pid] = (uint16_t)(i + 1);
	return 0;
}

int
node_links_init(struct weft_node *n, char *err, size_t err_len)
{
	const bool has_peers = n->cfg.peer != NULL;
	const size_t most = weft_node_is_cxl(n) ? n->topo->n_ports
	                    : has_peers         ? n->cfg.n_peers
	                                        : n->cfg.topo->n_nodes;
	int rc;

	if (most == 0)
		return 0;
	n->link = node_alloc(n, most * sizeof(*n->link));
	n->due_ns = node_alloc(n, most * sizeof(*n->due_ns));
	n->touched = node_alloc(n, (most + 63) / 64 * sizeof(*n->touched));
	if (n->link == NULL || n->due_ns == NULL || n->touched == NULL)
		return link_no_memory(n, err, err_len);
	if (weft_node_is_cxl(n))
		rc = link_init_ports(n, err, err_len);
	else
		rc = has_peers ? link_init_peers(n, err, err_len)
		               : link_init_connections(n, err, err_len);
	return rc == 0 ? link_note_pids(n, err, err_len) : rc;
}
