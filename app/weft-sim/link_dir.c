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
link_dir_queue_ns(const struct sim *s, const struct sim_link_dir *w)
{
	return w->busy_ns > s->now_ns ? w->busy_ns - s->now_ns : 0;
}

bool
link_dir_is_full(const struct sim *s, uint32_t link_dir)
{
	const struct sim_link_dir *w = &s->link_dir[link_dir];

	/* A link that holds frames counts those alone, not how long they wait. */
	const uint64_t from_ns = w->holds && w->up_ns > s->now_ns ? w->up_ns - s->now_ns : 0;

	return link_dir_queue_ns(s, w) > from_ns + (uint64_t)s->sc.queue_flits * s->sc.flit_ns;
}

uint64_t
link_dir_ready_ns(const struct sim *s, uint32_t link_dir)
{
	const uint64_t room_ns = (uint64_t)s->sc.queue_flits * s->sc.flit_ns / 2;

	if (!link_dir_is_full(s, link_dir))
		return s->now_ns;
	return s->link_dir[link_dir].busy_ns - room_ns;
}

static void
link_dir_queue(struct sim *s, uint32_t link_dir, struct sim_frame *f, uint64_t extra_ns)
{
	struct sim_link_dir *w = &s->link_dir[link_dir];
	uint64_t start_ns = w->busy_ns > s->now_ns ? w->busy_ns : s->now_ns;

	if (w->holds && w->up_ns > start_ns)
		start_ns = w->up_ns;
	w->busy_ns = start_ns + (uint64_t)FRAME_FLITS(f) * s->sc.flit_ns;
	f->link_dir = link_dir;
	f->flap = w->flaps;
	heap_push(&s->heap, w->busy_ns + s->sc.latency_ns + extra_ns, EV_ARRIVE, f);
}

static void
link_dir_damage(struct sim_link_dir *w, struct sim_frame *f)
{
	if (f->hdr.kind == WEFT_WIRE_FLITS)
		weft_impair_flits(w->impair, f->data + WEFT_WIRE_FLITS_OFF, f->hdr.n_flits);
}

/* Send once more what went by here @back frames before the last one. */
static void
link_dir_replay(struct sim *s, uint32_t link_dir, unsigned int back)
{
	struct sim_link_dir *w = &s->link_dir[link_dir];
	const unsigned int history = s->sc.impair.history + 1; /* the last one too */
	struct sim_frame *f = frame_copy(s, w->history[(w->n_sent - 1 - back) % history]);

	f->is_again = true;
	link_dir_queue(s, link_dir, f, 0);
}

static void
link_dir_remember(struct sim *s, struct sim_link_dir *w, const struct sim_frame *f)
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
link_dir_send_bad(struct sim *s, uint32_t link_dir, struct sim_frame *f)
{
	struct sim_link_dir *w = &s->link_dir[link_dir];
	struct weft_impair_fate fate;
	struct sim_frame *twin = NULL;

	weft_impair_frame(w->impair, &fate);
	if (fate.drop) {
		frame_free(s, f);
		return;
	}
	link_dir_damage(w, f);
	link_dir_remember(s, w, f);
	if (fate.copies > 1)
		twin = frame_copy(s, f);
	link_dir_queue(s, link_dir, f, fate.delay_ns[0]);
	if (twin != NULL) {
		twin->is_again = true;
		link_dir_queue(s, link_dir, twin, fate.delay_ns[1]);
	}
	if (fate.replay_back > 0)
		link_dir_replay(s, link_dir, fate.replay_back);
}

void
link_dir_send(struct sim *s, uint32_t link_dir, struct sim_frame *f)
{
	struct sim_link_dir *w = &s->link_dir[link_dir];
	const bool is_healed = s->faults.is_healed || w->is_healed;

	ghost_remember(s, link_dir, f);
	if (w->tape != 0 && !is_healed)
		replay_record(s, link_dir, f);
	if (w->forges && f->hdr.kind == WEFT_WIRE_FLITS && !is_healed)
		w->forges = !ide_forge(s, f);
	if (w->storm != 0 && f->hdr.kind == WEFT_WIRE_FLITS && !is_healed)
		storm_break(s, link_dir, f);
	if (link_dir_is_full(s, link_dir)) {
		s->total.loss[LOSS_QUEUE]++;
		frame_free(s, f);
	} else if (w->up_ns > s->now_ns && !w->holds) {
		s->total.loss[LOSS_DOWN]++;
		frame_free(s, f);
	} else if (w->impair != NULL && !is_healed) {
		link_dir_send_bad(s, link_dir, f);
	} else {
		link_dir_queue(s, link_dir, f, 0);
	}
}
