/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Links: a port sends one frame after another at the link's rate, then each travels for the
 * latency. What waits in the port is time until it is free, so a queue costs no events. A link that
 * is down loses frames or holds them; a bad one has injectors (weft_impair.h). Hot.
 */

#include "ide.h"
#include "replay.h"

#define FRAME_FLITS(f) ((f)->hdr.n_flits == 0 ? 1u : (f)->hdr.n_flits)

/* Flits that wait in the port, by the time they take. */
static uint64_t
wire_queue_ns(const struct sim *s, const struct sim_wire *w)
{
	return w->busy_ns > s->now_ns ? w->busy_ns - s->now_ns : 0;
}

bool
wire_is_full(const struct sim *s, uint32_t wire)
{
	const struct sim_wire *w = &s->wire[wire];

	/* A link that holds frames counts those alone, not how long they wait. */
	const uint64_t from_ns = w->holds && w->up_ns > s->now_ns ? w->up_ns - s->now_ns : 0;

	return wire_queue_ns(s, w) > from_ns + (uint64_t)s->sc.queue_flits * s->sc.flit_ns;
}

uint64_t
wire_ready_ns(const struct sim *s, uint32_t wire)
{
	const uint64_t room_ns = (uint64_t)s->sc.queue_flits * s->sc.flit_ns / 2;

	if (!wire_is_full(s, wire))
		return s->now_ns;
	return s->wire[wire].busy_ns - room_ns;
}

static void
wire_queue(struct sim *s, uint32_t wire, struct sim_frame *f, uint64_t extra_ns)
{
	struct sim_wire *w = &s->wire[wire];
	uint64_t start_ns = w->busy_ns > s->now_ns ? w->busy_ns : s->now_ns;

	if (w->holds && w->up_ns > start_ns)
		start_ns = w->up_ns;
	w->busy_ns = start_ns + (uint64_t)FRAME_FLITS(f) * s->sc.flit_ns;
	f->wire = wire;
	f->flap = w->flaps;
	heap_push(&s->heap, w->busy_ns + s->sc.latency_ns + extra_ns, EV_ARRIVE, f);
}

static void
wire_damage(struct sim_wire *w, struct sim_frame *f)
{
	if (f->hdr.kind == WEFT_WIRE_FLITS)
		weft_impair_flits(w->impair, f->data + WEFT_WIRE_FLITS_OFF, f->hdr.n_flits);
}

/* Send once more what went by here @back frames before the last one. */
static void
wire_replay(struct sim *s, uint32_t wire, unsigned int back)
{
	struct sim_wire *w = &s->wire[wire];
	const unsigned int history = s->sc.impair.history + 1; /* the last one too */
	struct sim_frame *f = frame_copy(s, w->history[(w->n_sent - 1 - back) % history]);

	f->is_again = true;
	wire_queue(s, wire, f, 0);
}

static void
wire_remember(struct sim *s, struct sim_wire *w, const struct sim_frame *f)
{
	struct sim_frame **place;

	if (w->history == NULL)
		return;
	place = &w->history[w->n_sent++ % (s->sc.impair.history + 1)];
	if (*place != NULL)
		frame_free(s, *place);
	*place = frame_copy(s, f);
}

static void
wire_send_bad(struct sim *s, uint32_t wire, struct sim_frame *f)
{
	struct sim_wire *w = &s->wire[wire];
	struct weft_impair_fate fate;
	struct sim_frame *twin = NULL;

	weft_impair_frame(w->impair, &fate);
	if (fate.drop) {
		frame_free(s, f);
		return;
	}
	wire_damage(w, f);
	wire_remember(s, w, f);
	if (fate.copies > 1)
		twin = frame_copy(s, f);
	wire_queue(s, wire, f, fate.delay_ns[0]);
	if (twin != NULL) {
		twin->is_again = true;
		wire_queue(s, wire, twin, fate.delay_ns[1]);
	}
	if (fate.replay_back > 0)
		wire_replay(s, wire, fate.replay_back);
}

void
wire_send(struct sim *s, uint32_t wire, struct sim_frame *f)
{
	struct sim_wire *w = &s->wire[wire];

	ghost_remember(s, wire, f);
	if (w->tape != 0 && !s->healed)
		replay_record(s, wire, f);
	if (w->forges && f->hdr.kind == WEFT_WIRE_FLITS && !s->healed)
		w->forges = !ide_forge(s, f);
	if (w->storm != 0 && f->hdr.kind == WEFT_WIRE_FLITS && !s->healed)
		storm_break(s, wire, f);
	if (wire_is_full(s, wire)) {
		s->total.loss[LOSS_QUEUE]++;
		frame_free(s, f);
	} else if (w->up_ns > s->now_ns && !w->holds) {
		s->total.loss[LOSS_DOWN]++;
		frame_free(s, f);
	} else if (w->impair != NULL && !s->healed) {
		wire_send_bad(s, wire, f);
	} else {
		wire_queue(s, wire, f, 0);
	}
}
