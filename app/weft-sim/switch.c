/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A PBR switch in rxl mode: what FEC cannot correct leaves the frame, the rest goes on by the port
 * that the DRT gives for the DPID. It keeps no state of connections. Hot.
 */

#include "sim.h"

/* False: nothing is left of the frame. */
static bool
switch_decode(struct sim *s, struct sim_frame *f)
{
	const uint8_t *flit[WEFT_WIRE_FLITS_MAX] = { NULL };
	uint64_t gone;

	for (unsigned int i = 0; i < f->hdr.n_flits; i++)
		flit[i] = f->data + WEFT_WIRE_FRAME_LEN(i);
	gone = flits_decode(s, flit, f->hdr.n_flits);
	if (gone == 0)
		return true;
	s->total.loss[LOSS_FEC] += (unsigned int)__builtin_popcountll(gone);
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
	} else if (f->hdr.kind == WEFT_WIRE_FLITS && !switch_decode(s, f)) {
		frame_free(s, f);
	} else {
		wire_send(s, n->first_wire + (uint32_t)port, f);
	}
}
