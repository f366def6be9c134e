/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames of peers: their directions in the connection table, control frames that came, and empty
 * frames for what is to go. Buffers, addresses and the port's back-pressure stand here, and nothing
 * that ends know. Hot.
 */

#include "conn.h"
#include "backlog.h"

#include <rte_errno.h>

/* Whose frame this is, flits or control, or NULL. */
static struct weft_node_link *
conn_of_frame(struct weft_node *n, const struct weft_frame *f)
{
	if (weft_node_is_cxl(n))
		return f->in_port < n->n_links ? &n->link[f->in_port] : NULL;
	return f->conn != NULL ? f->conn->user : weft_node_link_find(n, f->hdr.spid);
}

static struct weft_conn_dir *
conn_direction(struct conn *conn, const struct weft_conn_key *key)
{
	const struct weft_topo *t = conn->node->daemon->topo;
	struct weft_conn_cfg cfg = {
		.isn = (enum weft_isn_form)t->isn,
		.order = (enum weft_crc_order)t->crc_order,
		.first = WEFT_ISN_FIRST,
		.ide = (enum weft_ide_mode)t->ide.mode,
	};
	struct weft_conn_dir *c = weft_conns_add(conn->node->conns, key, &cfg);

	if (c != NULL) {
		c->end = conn->link->end;
		c->user = conn->link;
	}
	return c;
}

/* Keys of what comes and of what goes. */
static void
conn_keys(const struct conn *c, struct weft_conn_key *rx, struct weft_conn_key *tx)
{
	const struct weft_topo *t = c->node->daemon->topo;
	const uint16_t own = c->node->topo->pid;
	const unsigned int port = c->node->topo->first_port + c->link->port;

	*rx = (struct weft_conn_key){ .mode = t->mode, .spid = c->link->pid, .dpid = own };
	*tx = (struct weft_conn_key){ .mode = t->mode, .spid = own, .dpid = c->link->pid };
	if (t->mode == WEFT_MODE_RXL)
		return;
	rx->spid = rx->dpid = tx->spid = tx->dpid = WEFT_PID_NONE;
	rx->vc = tx->vc = t->port[port].form;
	link_mac(t, t->port[port].peer, rx->mac);
	link_mac(t, port, tx->mac);
}

int
conn_directions(struct conn *c)
{
	struct weft_conn_key rx, tx;

	conn_keys(c, &rx, &tx);
	c->rx = conn_direction(c, &rx);
	c->tx = c->rx == NULL ? NULL : conn_direction(c, &tx);
	return c->tx == NULL ? -rte_errno : 0;
}

void
conn_directions_fini(struct conn *c)
{
	if (c->rx != NULL)
		weft_conns_remove(c->node->conns, c->rx);
	if (c->tx != NULL)
		weft_conns_remove(c->node->conns, c->tx);
}

void
conns_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;

	for (uint16_t i = 0; i < n; i++) {
		const struct weft_frame *f = weft_frame(pkt[i]);
		struct weft_node_link *l = conn_of_frame(node->node, f);

		if (l == NULL)
			daemon_drop(node, WEFT_DROP_NO_CONN, 1);
		else
			weft_node_control(l, &f->hdr,
				rte_pktmbuf_mtod_offset(
					pkt[i], const uint8_t *, WEFT_WIRE_FLITS_OFF),
				rte_pktmbuf_data_len(pkt[i]) - (size_t)WEFT_WIRE_FLITS_OFF);
	}
	rte_pktmbuf_free_bulk(pkt, n);
}

static struct rte_mbuf *
conn_alloc(struct conn *c)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(c->node->pool);

	if (m == NULL) {
		daemon_drop(c->node, WEFT_DROP_NO_MBUF, 1);
		return NULL;
	}
	memset(weft_frame(m), 0, sizeof(struct weft_frame));
	rte_pktmbuf_append(m, WEFT_WIRE_FLITS_OFF);
	return m;
}

/* Empty frames, for the stages to fill, if the peer has something to do by time. */
static uint16_t
conn_frames(struct conn *c, struct rte_mbuf **pkt, uint16_t room)
{
	struct node *n = c->node;
	unsigned int want;
	uint16_t k = 0;

	weft_link_tick(c->link->end, n->node->ends_ns);
	want = backlog_waits(&n->out[c->link->port]) ? 0 : weft_link_frames_due(c->link->end);
	for (; k < want && k < room && (pkt[k] = conn_alloc(c)) != NULL; k++) {
		weft_frame(pkt[k])->conn = c->tx;
		weft_frame(pkt[k])->out_port = (int16_t)c->link->port;
	}
	return k;
}

/* A burst of empty frames. It was seen that there is room. */
static void
conn_push(struct node *n, struct rte_mbuf **pkt, uint16_t k)
{
	const bool took = k == 0 || node_push_tx(n, pkt, k);

	assert(took);
	(void)took;
}

/* When those that were due have something to do next, and which is the first of all. */
static void
conn_note_due(struct weft_node *n)
{
	n->first_due_ns = UINT64_MAX;
	for (uint16_t i = 0; i < n->n_links; i++)
		if (n->ends_ns >= n->due_ns[i])
			weft_node_set_due(&n->link[i], weft_link_deadline(n->link[i].end));
		else if (n->due_ns[i] < n->first_due_ns)
			n->first_due_ns = n->due_ns[i];
}

/*
 * All peers that are due, each once, while the transmit pipeline takes frames: one that does not
 * holds them back.
 */
static void
conn_send_all(struct node *n)
{
	struct rte_mbuf *pkt[WEFT_BURST_MAX];
	uint16_t k = 0;

	if (n->node->ends_ns < n->node->first_due_ns)
		return;
	for (uint16_t i = 0; i < n->node->n_links && weft_pipe_has_room(n->tx); i++) {
		struct conn *c = &n->conn[i];

		if (n->node->ends_ns < n->node->due_ns[i])
			continue;
		k = (uint16_t)(k + conn_frames(c, pkt + k, (uint16_t)(WEFT_BURST_MAX - k)));
		if (k == WEFT_BURST_MAX) {
			conn_push(n, pkt, k);
			k = 0;
		}
	}
	conn_push(n, pkt, k);
	conn_note_due(n->node);
}

/* What came to a receiving half on another lcore. */
static void
conn_hear(void *arg, struct weft_conn_dir *c)
{
	const struct node *n = arg;
	struct weft_node_link *l = c->user;

	if (weft_link_hear(l->end, n->node->ends_ns))
		weft_node_set_due(l, 0);
}

unsigned int
conns_flush(struct node *n)
{
	uint64_t before, round;

	if (n->tx == NULL) /* a switch in rxl mode has neither peers nor this pipeline */
		return 0;
	node_poll_tx(n);
	if (n->env.ends.rx_apart || n->env.ends.ide_apart)
		weft_conns_answer(n->conns, conn_hear, n);
	before = weft_pipe_passed(n->tx, n->tx_link);
	do {
		round = weft_pipe_passed(n->tx, n->tx_link);
		conn_send_all(n);
	} while (weft_pipe_passed(n->tx, n->tx_link) != round);
	return (unsigned int)(round - before);
}
