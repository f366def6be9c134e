/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Switches of rxl tell who sent what they had to drop, now and then, as those of weftd do: for
 * diagnosis, so a report that gets lost is not repeated. The judge knows what was dropped.
 */

#include <string.h>

#include "sim.h"
#include "weft_control.h"

/* The connection that a frame belongs to, as its sender's end. NULL: there is none. */
static struct sim_end *
loss_sender(const struct sim *s, const struct weft_wire_hdr *h)
{
	const struct sim_node *from = h->spid < WEFT_PIDS ? s->by_pid[h->spid] : NULL;

	return from == NULL || from->slot == NULL ? NULL : node_end_of(from, h->dpid);
}

static bool
loss_same_connection(const struct weft_wire_hdr *a, const struct weft_wire_hdr *b)
{
	return a->spid == b->spid && a->dpid == b->dpid && a->vc == b->vc &&
	       a->session == b->session;
}

void
loss_note(struct sim_node *n, const struct weft_wire_hdr *h, unsigned int flits)
{
	struct sim *s = n->sim;
	struct sim_losses *l = n->losses;
	struct sim_end *sender = loss_sender(s, h);
	unsigned int i = 0;

	s->total.loss[LOSS_FEC] += flits;
	if (sender != NULL)
		order_dropped(sender, h->session, flits);
	if (l == NULL)
		l = n->losses = arena_alloc(&s->arena, sizeof(*l));
	while (i < l->n && !loss_same_connection(&l->loss[i].hdr, h))
		i++;
	if (i == LOSSES)
		return;
	if (i == l->n)
		l->loss[l->n++] = (struct sim_loss){ .hdr = *h };
	l->loss[i].flits += flits;
	if (l->is_due)
		return;
	l->is_due = true;
	heap_push(&s->heap, s->now_ns + s->sc.losses_ns, EV_LOSSES, n);
}

/* As if the other end sent it: from there a sender takes control frames of the session. */
static void
loss_send_report(struct sim_node *n, const struct sim_loss *loss)
{
	struct sim *s = n->sim;
	const struct weft_control c = { .type = WEFT_CONTROL_LOSS, .count = loss->flits };
	const int port = weft_drt_port(n->drt, loss->hdr.spid);
	struct sim_frame *f;

	if (port < 0)
		return;
	f = frame_new(s);
	f->hdr = loss->hdr;
	f->hdr.kind = WEFT_WIRE_CONTROL;
	f->hdr.n_flits = 0;
	f->hdr.spid = loss->hdr.dpid;
	f->hdr.dpid = loss->hdr.spid;
	f->hdr.clock = 0;
	frame_address(f, f->hdr.dpid, n->pid, n->first_link_dir + (uint32_t)port);
	weft_wire_build(f->data, &f->hdr);
	f->len = (uint32_t)(WEFT_WIRE_FLITS_OFF +
			    weft_control_build(f->data + WEFT_WIRE_FLITS_OFF, &c));
	s->total.losses_told += loss->flits;
	link_dir_send(s, n->first_link_dir + (uint32_t)port, frame_pack(s, f));
}

void
loss_report(struct sim_node *n)
{
	struct sim_losses *l = n->losses;

	l->is_due = false;
	if (n->resume_ns != 0) {
		/* It stands still, or has lost its memory (node_crash()). */
		l->is_due = true;
		heap_push(&n->sim->heap, n->resume_ns + 1, EV_LOSSES, n);
		return;
	}
	for (unsigned int i = 0; i < l->n; i++)
		loss_send_report(n, &l->loss[i]);
	l->n = 0;
}
