/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames at switches of rxl, which have no ends: what FEC cannot correct leaves the frame, and the
 * rest goes on by the port that the DRT gives for the DPID. Hot.
 */

#include "ide.h"
#include "judge.h"

/* The connection that a frame belongs to, as its sender's end. NULL: there is none. */
static struct sim_end *
relay_sender(const struct sim *s, const struct weft_wire_hdr *h)
{
	const struct sim_node *from = h->spid < WEFT_PIDS ? s->by_pid[h->spid] : NULL;

	return from == NULL || from->slot == NULL ? NULL : node_end_of(from, h->dpid);
}

/*
 * The switch tells of it, for diagnosis: a report that gets lost is not repeated. The judge knows.
 */
static void
relay_lost(struct sim_node *n, const struct weft_wire_hdr *h, unsigned int flits)
{
	struct sim *s = n->sim;
	struct sim_end *sender = relay_sender(s, h);

	s->total.loss[LOSS_FEC] += flits;
	if (sender != NULL)
		order_dropped(sender, h->session, flits);
	sim_node_time(n);
	n->node.kind->lost(&n->node, h, flits);
	node_sleep(n, clock_sim(&n->clock, n->node.now_ns + s->sc.rules.losses_ns) - s->now_ns);
}

/* False: nothing is left of the frame. */
static bool
relay_decode(struct sim_node *n, struct sim_frame *f)
{
	const uint8_t *flit[WEFT_WIRE_FLITS_MAX] = { NULL };
	uint64_t gone;

	for (unsigned int i = 0; i < f->hdr.n_flits; i++)
		flit[i] = f->data + WEFT_WIRE_FRAME_LEN(i);
	gone = flits_decode(n->sim, flit, f->hdr.n_flits);
	if (gone == 0)
		return true;
	relay_lost(n, &f->hdr, (unsigned int)__builtin_popcountll(gone));
	ide_forged_moves(f, gone);
	f->len = (uint32_t)weft_wire_remove(f->data, &f->hdr, gone);
	return f->len != 0;
}

void
relay_receive(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;
	const int port = f->hdr.dpid < WEFT_PID_RESERVED ? n->way[f->hdr.dpid] : -1;

	if (port < 0) {
		s->total.loss[LOSS_ROUTE]++;
		frame_free(s, f);
	} else if (f->hdr.kind == WEFT_WIRE_FLITS && !relay_decode(n, f)) {
		frame_free(s, f);
	} else {
		link_dir_send(s, n->first_link_dir + (uint32_t)port, f);
	}
}
