/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch. In rxl mode what FEC cannot correct leaves the frame, and the rest goes on by the
 * port that the DRT gives for the DPID; it keeps no state of connections but what it dropped
 * (loss.c). In cxl mode every link ends here: messages are stored and forwarded, each by its DPID,
 * when the link it goes to takes them. Requests and answers wait apart from each other, so answers
 * never wait for requests. Hot.
 */

#include "ide.h"

/* False: nothing is left of the frame. */
static bool
switch_decode(struct sim_node *n, struct sim_frame *f)
{
	const uint8_t *flit[WEFT_WIRE_FLITS_MAX] = { NULL };
	uint64_t gone;

	for (unsigned int i = 0; i < f->hdr.n_flits; i++)
		flit[i] = f->data + WEFT_WIRE_FRAME_LEN(i);
	gone = flits_decode(n->sim, flit, f->hdr.n_flits);
	if (gone == 0)
		return true;
	loss_note(n, &f->hdr, (unsigned int)__builtin_popcountll(gone));
	ide_forged_moves(f, gone);
	f->len = (uint32_t)weft_wire_remove(f->data, &f->hdr, gone);
	return f->len != 0;
}

void
switch_receive(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;
	const int port = weft_drt_port(n->drt, f->hdr.dpid);

	if (port < 0) {
		s->total.loss[LOSS_ROUTE]++;
		frame_free(s, f);
	} else if (f->hdr.kind == WEFT_WIRE_FLITS && !switch_decode(n, f)) {
		frame_free(s, f);
	} else {
		link_dir_send(s, n->first_link_dir + (uint32_t)port, f);
	}
}

static struct sim_end *
switch_way(const struct sim_node *n, const struct weft_msg *m)
{
	const int port = weft_drt_port(n->drt, m->dpid);

	return port < 0 ? NULL : &n->end[port];
}

static bool
switch_forward(struct sim_end *in, const struct weft_msg *m)
{
	struct weft_msg on = *m;
	struct sim_end *out;

	if (!form_in(in, &on))
		return true;
	out = switch_way(in->node, &on);
	if (out == NULL) {
		violation(in->node->sim, "switch %u has a message for %u", in->node->pid, on.dpid);
		return true;
	}
	if (!weft_link_can_send(out->end, (enum weft_msg_kind)m->kind))
		return false;
	order_came(in, m);
	edge_send(out, &on);
	return true;
}

bool
switch_message(void *arg, const struct weft_msg *m)
{
	struct sim_end *in = arg;

	return in->node->sim->sc.direct && switch_forward(in, m);
}

/* Move what waits. @return whether anything went */
static bool
switch_move(struct sim_end *in, enum weft_msg_kind kind)
{
	const struct weft_msg *m = weft_link_peek(in->end, kind);

	if (m == NULL || !switch_forward(in, m))
		return false;
	weft_link_pop(in->end, kind);
	return true;
}

void
switch_serve(struct sim_node *n)
{
	static const uint8_t kinds[] = { WEFT_MSG_S2M_NDR, WEFT_MSG_S2M_DRS, WEFT_MSG_M2S_REQ,
		WEFT_MSG_M2S_RWD };
	bool moved;

	/* One of each in turn, so that no link has another's share. */
	do {
		moved = false;
		for (uint32_t i = 0; i < n->n_ends; i++)
			for (unsigned int k = 0; k < sizeof(kinds); k++)
				moved |= switch_move(&n->end[i], (enum weft_msg_kind)kinds[k]);
	} while (moved);
	for (uint32_t i = 0; i < n->n_ends; i++)
		edge_pump(&n->end[i]);
}
