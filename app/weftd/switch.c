/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch in rxl mode: frames come in by any port, lose what FEC cannot correct, and leave by
 * the port that the DRT gives for their DPID, in the buffer they came in. Link control frames take
 * the same way. Who sent what was lost is told, now and then, for diagnosis. Hot.
 */

#include "daemon.h"

#include <errno.h>

#define LOSSES_EVERY_NS UINT64_C(10000000)

static void
switch_sink(void *arg, struct rte_mbuf **pkt, uint16_t n)
{
	struct node *node = arg;
	uint16_t first = 0;

	/* Frames for one port come in runs: send each run at once. */
	for (uint16_t i = 1; i <= n; i++) {
		int16_t port = weft_frame(pkt[first])->out_port;

		if (i < n && weft_frame(pkt[i])->out_port == port)
			continue;
		if (port >= 0) {
			backlog_send(&node->out[port], pkt + first, (uint16_t)(i - first));
		} else {
			/* DPID FFFh: for the switch itself, which takes nothing yet. */
			node->node->drops[WEFT_DROP_NO_ROUTE] += (uint64_t)(i - first);
			rte_pktmbuf_free_bulk(pkt + first, (unsigned int)(i - first));
		}
		first = i;
	}
}

static bool
switch_same_connection(const struct weft_wire_hdr *a, const struct weft_wire_hdr *b)
{
	return a->spid == b->spid && a->dpid == b->dpid && a->vc == b->vc &&
	       a->session == b->session;
}

/* Keep account of a loss; of more connections than there is room for, the stage's count tells. */
void
switch_take_loss(struct node *n, const struct note *note)
{
	struct losses *l = &n->losses;
	unsigned int i = 0;

	while (i < l->n && !switch_same_connection(&l->loss[i].hdr, &note->hdr))
		i++;
	if (i == WEFT_ARRAY_SIZE(l->loss))
		return;
	if (i == l->n) {
		l->loss[l->n++] = (struct loss){ .hdr = note->hdr };
		if (l->due_ns == 0)
			l->due_ns = n->node->now_ns + LOSSES_EVERY_NS;
	}
	l->loss[i].flits += note->flits;
}

static void
switch_lost(void *arg, const struct weft_wire_hdr *h, unsigned int flits)
{
	const struct note note = { .kind = NOTE_LOST, .hdr = *h, .flits = flits };

	note_send(arg, &note);
}

/* Tell a sender, as if its other end did: from there it takes control frames of the session. */
static void
switch_report(struct node *n, const struct loss *loss)
{
	struct weft_wire_hdr h = loss->hdr;
	struct weft_control c = { .type = WEFT_CONTROL_LOSS, .count = loss->flits };
	int port;

	h.kind = WEFT_WIRE_CONTROL;
	h.n_flits = 0;
	h.spid = loss->hdr.dpid;
	h.dpid = loss->hdr.spid;
	h.clock = 0;
	memcpy(c.node, n->topo->name, strnlen(n->topo->name, WEFT_NODE_ID_LEN));
	port = fabric_port(n, h.dpid);
	if (port < 0) {
		n->node->drops[WEFT_DROP_NO_ROUTE]++;
		return;
	}
	if (node_send_control(n, (uint16_t)port, &h, &c))
		n->losses_reported++;
}

static void
switch_report_losses(struct node *n)
{
	struct losses *l = &n->losses;

	if (l->due_ns == 0 || n->node->now_ns < l->due_ns)
		return;
	for (unsigned int i = 0; i < l->n; i++)
		switch_report(n, &l->loss[i]);
	l->n = 0;
	l->due_ns = 0;
}

int
switch_init(struct node *n, char *err, size_t err_len)
{
	n->env.lost = switch_lost;
	n->env.lost_arg = n;
	return node_rx(n, n->daemon->cfg.switch_layout, switch_sink, err, err_len);
}

unsigned int
switch_poll(void *arg)
{
	struct node *n = arg;
	unsigned int worked = 0;

	weft_node_time(n->node, node_now_ns());
	worked += node_poll_rx(n);
	switch_report_losses(n);
	return worked + node_flush(n);
}
