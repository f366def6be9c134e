/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch in cxl mode: every link ends here, and messages are stored and forwarded by their
 * DPID, and so are CXL.io packets. At a port of HBR form they are converted (edge.c). One waits in
 * the room that was granted for it until the link it goes to has credit and window; so nothing is
 * dropped for want of room, and the kinds wait apart from each other: answers never stand behind
 * requests. Where a routing group names several links (fabric.md section 1.10), what may be spread
 * is: a read or its data by any that can take it now, a write by its address alone. So writes to a
 * line stay in order, also behind one that its host has given up. Hot.
 */

#include "node_priv.h"

#include <errno.h>

#include "weft_edge_link.h"

/*
 * Messages for a link that is down for down_ns are dropped, as those on it were: a write must not
 * turn up at any time later, and what is for other links must not wait behind them for ever. A
 * session ends after 10 s of silence; at the start others may be as late.
 */
#define START_TIMES 10

static const uint8_t kinds[] = { WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS, WEFT_MSG_M2S_REQ,
	WEFT_MSG_M2S_RWD };
static const uint32_t with_spid = 1u << WEFT_MSG_M2S_REQ | 1u << WEFT_MSG_M2S_RWD |
                                  1u << WEFT_MSG_M2S_BIRSP | 1u << WEFT_MSG_S2M_BISNP |
                                  1u << WEFT_MSG_D2H_REQ | 1u << WEFT_MSG_H2D_REQ;

/* Their classes. Memory is that of GFDs, of which none is HDM-D. */
static const uint8_t class_of[WEFT_MSG_KINDS] = {
	[WEFT_MSG_M2S_REQ] = WEFT_CLASS_M2S_REQ_HDM_H,
	[WEFT_MSG_M2S_RWD] = WEFT_CLASS_M2S_RWD,
	[WEFT_MSG_M2S_BIRSP] = WEFT_CLASS_M2S_BIRSP,
	[WEFT_MSG_S2M_BISNP] = WEFT_CLASS_S2M_BISNP,
	[WEFT_MSG_S2M_NDR] = WEFT_CLASS_S2M_NDR,
	[WEFT_MSG_S2M_DRS] = WEFT_CLASS_S2M_DRS,
	[WEFT_MSG_D2H_REQ] = WEFT_CLASS_D2H_REQ,
	[WEFT_MSG_D2H_RSP] = WEFT_CLASS_D2H_RSP,
	[WEFT_MSG_D2H_DH] = WEFT_CLASS_D2H_DH,
	[WEFT_MSG_H2D_REQ] = WEFT_CLASS_H2D_REQ,
	[WEFT_MSG_H2D_RSP] = WEFT_CLASS_H2D_RSP,
	[WEFT_MSG_H2D_DH] = WEFT_CLASS_H2D_DH,
};

struct cxl_switch_state {
	uint64_t choices; /* of a link of several, so far: their random numbers are made of it */
	struct weft_route_ports ports; /* of the group at hand */
	uint16_t next; /* whose messages go first */
	uint32_t queued; /* bit k: messages of kind k wait */
	uint32_t queued_io; /* bit c: CXL.io packets of class c wait */
};

static bool
cxl_switch_drop(struct weft_node *n, enum weft_verdict v)
{
	node_drop(n, v);
	return true;
}

static bool
cxl_switch_is_down(const struct weft_node_link *out)
{
	return out->node->ends_ns > out->up_ns + out->node->cfg.rules->down_ns;
}

/* Which links of a group can take a message of this kind now, and how much they have. */
static bool
cxl_switch_look(struct weft_node *n, const struct weft_rgt_entry *e, enum weft_msg_kind kind,
	struct weft_route_ports *ports)
{
	bool is_any_up = false;

	for (unsigned int i = 0; i <= (e->counts & 7u); i++) {
		const uint8_t p = e->port[i];
		struct weft_link *end = n->link[p].end;

		is_any_up |= !cxl_switch_is_down(&n->link[p]);
		ports->load[p] = weft_llr_unacked(weft_link_llr(end));
		ports->ready[p / 64] &= ~WEFT_BIT64(p % 64);
		ports->ready[p / 64] |= (uint64_t)weft_link_can_send(end, kind) << p % 64;
	}
	return is_any_up;
}

/* Port by a table that has groups; WEFT_ROUTE_STALL: the message waits. Out of line: seldom. */
static __attribute__((noinline)) int
cxl_switch_choose(struct weft_node *n, const struct weft_route *r, const struct weft_msg *m)
{
	const enum weft_route_class class = (enum weft_route_class)class_of[m->kind];
	const struct weft_rgt_entry *e = weft_route_group(r, m->dpid);
	struct cxl_switch_state *s = n->state;

	if (e == NULL || m->kind == WEFT_MSG_M2S_RWD || !weft_route_spreads(r, class))
		return weft_route_port_of_key(r, m->dpid, class, m->addr);
	/* All are down: as if there was no group, it waits for the first until it is dropped. */
	if (!cxl_switch_look(n, e, (enum weft_msg_kind)m->kind, &s->ports))
		return e->port[0];
	s->choices += UINT64_C(0x9E3779B97F4A7C15);
	return weft_route_port(
		r, &s->ports, m->dpid, class, s->choices * UINT64_C(0xBF58476D1CE4E5B9));
}

static inline int
cxl_switch_port(struct weft_node *n, const struct weft_msg *m)
{
	const struct weft_route *r = weft_tables_route(weft_tables_now(n->cfg.tables), 0);

	if (__builtin_expect(r->n_groups != 0, 0))
		return cxl_switch_choose(n, r, m);
	return m->dpid < WEFT_PID_RESERVED ? r->first[m->dpid] : WEFT_ROUTE_NONE;
}

/* Send a message by the port of its DPID. False: it has to wait. */
static bool
cxl_switch_send(struct weft_node *n, const struct weft_msg *m)
{
	const int port = cxl_switch_port(n, m);
	struct weft_node_link *out;
	struct weft_msg hbr;
	int rc;

	if (port == WEFT_ROUTE_STALL)
		return false;
	if (port < 0)
		return cxl_switch_drop(n, WEFT_DROP_NO_ROUTE);
	out = &n->link[port];
	if (out->edge != NULL) {
		hbr = *m;
		if (!weft_edge_msg_out(&hbr))
			return cxl_switch_drop(n, WEFT_DROP_WRONG_CLASS);
		m = &hbr;
	}
	rc = node_send(out, m, false);
	if (rc == 0) {
		weft_node_set_due(out, 0);
		return true;
	}
	if (rc == -EINVAL)
		return cxl_switch_drop(n, WEFT_DROP_BAD_OPCODE);
	return rc == -ENOTCONN && cxl_switch_is_down(out) &&
	       cxl_switch_drop(n, WEFT_DROP_PORT_DOWN);
}

/* False: it has to wait. */
static bool
cxl_switch_forward(struct weft_node_link *in, const struct weft_msg *m)
{
	struct weft_node *n = in->node;
	struct weft_msg on;

	if (in->edge != NULL) {
		const enum edge_way way = edge_message_in(in, m, &on);

		return way == EDGE_ON ? cxl_switch_send(n, &on) : way == EDGE_DONE;
	}
	/* Rights go by the SPID: drop a spoofed one. Answers have none. */
	if ((with_spid >> m->kind & 1) != 0 &&
		!weft_ingress_spid(&n->cfg.ingress[in->port], m->spid))
		return weft_node_refuse(in, m->spid);
	return cxl_switch_send(n, m);
}

static bool
cxl_switch_message(void *arg, const struct weft_msg *m)
{
	struct weft_node_link *in = arg;
	struct cxl_switch_state *s = in->node->state;

	if (m->kind == WEFT_MSG_LLCTRL)
		return true; /* the link's own */
	/* While any of its kind wait it waits with them: they are served in turn. */
	if ((s->queued & 1u << m->kind) == 0 && cxl_switch_forward(in, m))
		return true;
	if ((s->queued & 1u << m->kind) == 0)
		weft_probe_credit_stall(in->node->topo->name, weft_node_link_name(in), m->kind);
	s->queued |= 1u << m->kind;
	return false;
}

bool
cxl_switch_send_packet(struct weft_node *n, const struct weft_io_tlp *t)
{
	const int port = weft_node_port(n, t->dpid);
	struct weft_node_link *out;
	struct weft_io_tlp hbr;
	int rc;

	if (port < 0)
		return cxl_switch_drop(n, WEFT_DROP_NO_ROUTE);
	out = &n->link[port];
	if (out->edge != NULL) {
		enum edge_way way;

		hbr = *t;
		way = edge_packet_out(out, &hbr);
		if (way != EDGE_ON)
			return way == EDGE_DONE;
		t = &hbr;
	}
	rc = weft_link_send_io(out->end, t);
	if (rc == 0) {
		weft_node_set_due(out, 0);
		return true;
	}
	return rc == -ENOTCONN && cxl_switch_is_down(out) &&
	       cxl_switch_drop(n, WEFT_DROP_PORT_DOWN);
}

/* False: it has to wait. */
static bool
cxl_switch_forward_io(struct weft_node_link *in, const struct weft_io_tlp *t)
{
	struct weft_node *n = in->node;

	if (in->edge != NULL)
		return edge_packet_in(in, t);
	if (!weft_ingress_spid(&n->cfg.ingress[in->port], t->spid))
		return weft_node_refuse(in, t->spid);
	return cxl_switch_send_packet(n, t);
}

static bool
cxl_switch_packet(void *arg, const struct weft_io_tlp *t)
{
	struct weft_node_link *in = arg;
	const uint32_t class = 1u << weft_io_class(t);
	struct cxl_switch_state *s = in->node->state;

	if ((s->queued_io & class) == 0 && cxl_switch_forward_io(in, t))
		return true;
	s->queued_io |= class;
	return false;
}

/* Move one message that came by a link. @return whether it went */
static bool
cxl_switch_move(struct weft_node_link *in, enum weft_msg_kind kind)
{
	const struct weft_msg *m = weft_link_peek(in->end, kind);

	if (m == NULL)
		return false;
	if (!cxl_switch_forward(in, m)) {
		((struct cxl_switch_state *)in->node->state)->queued |= 1u << kind;
		return false;
	}
	node_pop(in, m);
	weft_node_set_due(in, 0);
	return true;
}

static bool
cxl_switch_move_io(struct weft_node_link *in, enum weft_io_class class)
{
	const struct weft_io_tlp *t = weft_link_io_peek(in->end, class);

	if (t == NULL)
		return false;
	if (!cxl_switch_forward_io(in, t)) {
		((struct cxl_switch_state *)in->node->state)->queued_io |= 1u << class;
		return false;
	}
	weft_link_io_pop(in->end, class);
	weft_node_set_due(in, 0);
	return true;
}

/* Move what waits: one of each in turn, and first that of another link every time. */
static void
cxl_switch_serve(struct weft_node *n)
{
	struct cxl_switch_state *s = n->state;
	bool moved = (s->queued | s->queued_io) != 0;

	while (moved) {
		moved = false;
		s->queued = s->queued_io = 0;
		for (uint16_t i = 0; i < n->n_links; i++) {
			struct weft_node_link *in = &n->link[(s->next + i) % n->n_links];

			for (unsigned int k = 0; k < WEFT_ARRAY_SIZE(kinds); k++)
				moved |= cxl_switch_move(in, (enum weft_msg_kind)kinds[k]);
			for (unsigned int c = 0; c < WEFT_IO_CLASSES; c++)
				moved |= cxl_switch_move_io(in, (enum weft_io_class)c);
		}
		s->next = (uint16_t)((s->next + 1) % n->n_links);
	}
}

static void
cxl_switch_link(struct weft_node_link *l, bool ended, bool began)
{
	node_follow(l, ended, began);
	if (l->state != WEFT_NODE_UP)
		return;
	l->up_ns = l->node->ends_ns;
	weft_link_knows(l->end, l->memory.generation);
}

static unsigned int
cxl_switch_poll(struct weft_node *n, bool may_ask)
{
	(void)may_ask;
	cxl_switch_serve(n);
	return 0;
}

static int
cxl_switch_init(struct weft_node *n, char *err, size_t err_len)
{
	(void)err; /* "out of memory" stands there */
	(void)err_len;
	for (uint16_t i = 0; i < n->n_links; i++)
		n->link[i].up_ns = n->ends_ns + START_TIMES * n->cfg.rules->down_ns;
	return edges_init(n);
}

const struct weft_node_kind node_cxl_switch = {
	.name = "cxl switch",
	.topo_kind = WEFT_TOPO_SWITCH,
	.modes = 1 << WEFT_MODE_CXL,
	.takes_requests = true,
	.takes_answers = true,
	.has_links = true,
	.links_meet = true,
	.state_len = sizeof(struct cxl_switch_state),
	.init = cxl_switch_init,
	.message = cxl_switch_message,
	.packet = cxl_switch_packet,
	.link = cxl_switch_link,
	.poll = cxl_switch_poll,
};
