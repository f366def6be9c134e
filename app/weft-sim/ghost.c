/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Frames that come when everybody has forgotten them: out of a buffer that stood still, or sent by
 * somebody who recorded them. Control frames may be as old as they like. A frame with flits must be
 * of a session that its receiver has left: inside one nothing but its number tells that it is old,
 * and that comes round (doc/llr.md).
 */

#include "sim.h"

#define ONE_IN 8 /* of the frames with flits is kept */

void
ghost_remember(struct sim *s, uint32_t link_dir, const struct sim_frame *f)
{
	struct sim_frame **place = &s->ghosts.frame[s->ghosts.n % GHOSTS];

	if (s->sc.fault.weight[FAULT_GHOST] == 0 || s->faults.is_healed)
		return;
	if (f->hdr.kind == WEFT_WIRE_FLITS && s->step % ONE_IN != 0)
		return;
	s->ghosts.n++;
	if (*place != NULL)
		frame_free(s, *place);
	*place = frame_copy(s, f);
	(*place)->link_dir = link_dir;
}

static bool
ghost_may_appear(const struct sim *s, const struct sim_frame *f)
{
	const struct sim_end *e = node_end(s, f->link_dir, &f->hdr);

	if (f->hdr.kind == WEFT_WIRE_CONTROL)
		return true;
	return e != NULL && f->hdr.session != e->session && f->hdr.session != e->peer->session;
}

static struct sim_frame *
ghost_of(struct sim *s, const struct sim_frame *f)
{
	struct sim_frame *g = frame_copy(s, f);

	g->is_again = true;
	g->flap = s->link_dir[g->link_dir].flaps;
	return g;
}

void
ghost_appear(struct sim *s, uint64_t which)
{
	for (unsigned int i = 0; i < GHOSTS; i++) {
		struct sim_frame *f = s->ghosts.frame[(which + i) % GHOSTS];

		if (f == NULL || !ghost_may_appear(s, f))
			continue;
		heap_push(&s->heap, s->now_ns + 1, EV_ARRIVE, ghost_of(s, f));
		return;
	}
}
