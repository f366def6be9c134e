/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * One end of a connection: packs messages into frames, unpacks them again, and brings sessions up
 * and down. A session is two directions with one session id, which the host draws. Without the
 * retry layer a hole in the stream is loss: it is counted, and the requests in it time out.
 */

#include "daemon.h"

#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>

struct peer *
peer_find(struct node *n, uint16_t pid)
{
	for (uint16_t i = 0; i < n->n_peers; i++)
		if (n->peer[i].pid == pid)
			return &n->peer[i];
	return NULL;
}

void
peer_parameters(const struct node *n, struct weft_control *c)
{
	const struct weft_topo *t = n->daemon->topo;

	memset(c, 0, sizeof(*c));
	c->version = WEFT_WIRE_VERSION;
	c->mode = WEFT_MODE_RXL;
	c->max_flits = (uint8_t)weft_topo_port_flits(t, n->topo->first_port);
	c->crc_order = t->crc_order;
	c->isn_form = t->isn;
	c->ide_mode = t->ide;
	c->credits = PEER_CREDITS;
	memcpy(c->node, n->topo->name,
		strnlen(n->topo->name, WEFT_NODE_ID_LEN)); /* the rest stays 0 */
}

static struct rte_mbuf *
peer_alloc(struct peer *p, size_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(p->node->pool);

	if (m == NULL || rte_pktmbuf_append(m, (uint16_t)len) == NULL) {
		p->node->drops[WEFT_DROP_NO_MBUF]++;
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(weft_frame(m), 0, sizeof(struct weft_frame));
	weft_frame(m)->hdr.mode = WEFT_MODE_RXL;
	weft_frame(m)->hdr.spid = p->node->topo->pid;
	weft_frame(m)->hdr.dpid = p->pid;
	weft_frame(m)->hdr.session = p->session;
	return m;
}

/* The transmit pipeline of an end is one segment without rings, so it always takes a burst. */
static void
peer_submit(struct peer *p, struct rte_mbuf *m)
{
	weft_pipe_push(p->node->tx, &m, 1);
}

void
peer_send_control(struct peer *p, enum weft_control_type type, enum weft_control_param differs)
{
	struct rte_mbuf *m = peer_alloc(p, WEFT_WIRE_FLITS_OFF + WEFT_CONTROL_MAX);
	struct weft_control c;
	uint8_t *rec;

	if (m == NULL)
		return;
	peer_parameters(p->node, &c);
	c.type = (uint8_t)type;
	c.differs = (uint8_t)differs;
	c.session = p->session;
	weft_frame(m)->hdr.kind = WEFT_WIRE_CONTROL;
	rec = rte_pktmbuf_mtod_offset(m, uint8_t *, WEFT_WIRE_FLITS_OFF);
	memset(rec, 0, WEFT_CONTROL_MAX);
	weft_control_build(rec, &c);
	peer_submit(p, m);
}

static struct weft_conn *
peer_add(struct peer *p, uint16_t spid, uint16_t dpid, uint32_t session)
{
	const struct weft_topo *t = p->node->daemon->topo;
	struct weft_conn_key key = {
		.mode = WEFT_MODE_RXL, .spid = spid, .dpid = dpid, .session = session
	};
	struct weft_conn_cfg cfg = {
		.isn = (enum weft_isn_form)t->isn,
		.order = (enum weft_crc_order)t->crc_order,
		.first = WEFT_ISN_FIRST,
		.ide = WEFT_IDE_OFF,
	};

	return weft_conns_add(p->node->conns, &key, &cfg);
}

int
peer_up(struct peer *p, uint32_t session)
{
	uint16_t own = p->node->topo->pid;

	p->rx = peer_add(p, p->pid, own, session);
	if (p->rx == NULL)
		return -rte_errno;
	p->tx = peer_add(p, own, p->pid, session);
	if (p->tx == NULL) {
		int rc = -rte_errno;

		weft_conns_remove(p->node->conns, p->rx);
		p->rx = NULL;
		return rc;
	}
	p->rx->user = p;
	p->session = session;
	weft_unpack_init(&p->unpack, WEFT_FORM_PBR, p->node->messages);
	weft_pack_init(&p->pack, WEFT_FORM_PBR);
	return 0;
}

void
peer_down(struct peer *p)
{
	rte_pktmbuf_free(p->frame);
	p->frame = NULL;
	p->flits = 0;
	p->flit_open = false;
	if (p->rx != NULL)
		weft_conns_remove(p->node->conns, p->rx);
	if (p->tx != NULL)
		weft_conns_remove(p->node->conns, p->tx);
	p->rx = NULL;
	p->tx = NULL;
	__atomic_store_n(&p->state, PEER_DOWN, __ATOMIC_RELAXED);
}

static void
peer_frame_done(struct peer *p)
{
	struct rte_mbuf *m = p->frame;

	weft_frame(m)->hdr.n_flits = p->flits;
	weft_frame(m)->conn = p->tx;
	p->frame = NULL;
	p->flits = 0;
	peer_submit(p, m);
}

/* Begin a flit, in a new frame if need be. False: no buffer. */
static bool
peer_begin_flit(struct peer *p)
{
	if (p->frame == NULL) {
		p->frame = peer_alloc(p, WEFT_WIRE_FLITS_OFF);
		if (p->frame == NULL)
			return false;
	}
	weft_pack_begin(&p->pack, (uint8_t *)rte_pktmbuf_append(p->frame, WEFT_FLIT_LEN), false);
	p->flits++;
	p->flit_open = true;
	return true;
}

/* End the open flit; true if data is left over for another. */
static bool
peer_end_flit(struct peer *p)
{
	bool more = weft_pack_end(&p->pack);

	p->flit_open = false;
	if (p->flits == p->max_flits)
		peer_frame_done(p);
	return more;
}

void
peer_send(struct peer *p, const struct weft_msg *m)
{
	/* A message fits at the latest into the second new flit: the first may be full of data. */
	for (unsigned int tries = 0;; tries++) {
		int rc;

		if (!p->flit_open && !peer_begin_flit(p))
			return; /* counted; the request is lost and will time out */
		rc = weft_pack_msg(&p->pack, m);
		if (rc == 0)
			return;
		assert(rc == -ENOSPC && tries < 2);
		peer_end_flit(p);
	}
}

void
peer_flush(struct peer *p)
{
	while (p->flit_open && peer_end_flit(p))
		if (!peer_begin_flit(p))
			break;
	if (p->frame != NULL)
		peer_frame_done(p);
}

void
peer_receive(struct peer *p, struct rte_mbuf *m, weft_msg_fn fn, void *arg)
{
	const struct weft_frame *f = weft_frame(m);

	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		const uint8_t *flit = weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN;

		if (f->hole & WEFT_BIT64(i))
			weft_unpack_restart(&p->unpack);
		if (f->dropped & WEFT_BIT64(i))
			continue;
		if (weft_unpack_flit(&p->unpack, flit, fn, arg) != WEFT_OK)
			p->node->drops[WEFT_DROP_SLOT_FORMAT]++;
	}
}
