/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An attacker who sends frames of his own: link control in the name of an end's other end, on a
 * link between the two, and frames under another's PID, from a link that leads to one node alone.
 * He has seen which sessions live and are asked for, and what ends say of themselves. Without keys
 * he has not seen what is fresh, an id that was just offered or the number of a challenge: with
 * that he would be the other end. With keys he has seen all, and has no key.
 */

#include "ide.h"

#include <string.h>

#include "weft_control.h"

#define FRAMES_MAX 4 /* of one attack */

void
forge_draw(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0xF06E)); /* of its own, as for IDE */
	sc->fault.weight[FAULT_CONTROL] = (uint32_t)weft_rand_below(&r, 3);
	sc->fault.weight[FAULT_SPID] = (uint32_t)weft_rand_below(&r, 2);
	if (sc->mode == WEFT_MODE_CXL)
		sc->fault.weight[FAULT_SPID] = 0; /* frames have none */
}

/* A session id that @e may take a message of this type for. */
static uint32_t
forge_draw_id(struct sim *s, const struct sim_end *e, uint8_t type)
{
	const struct weft_session *live = weft_link_session(e->end);
	uint32_t id = live->id;

	if (type == WEFT_CONTROL_WELCOME || type == WEFT_CONTROL_REFUSE)
		id = live->attempt.hello_nonce;
	else if (type == WEFT_CONTROL_CHALLENGE)
		id = live->last;
	else if (e->ide != NULL && type == WEFT_CONTROL_READY)
		id = live->candidate.sid;
	else if (e->ide != NULL && id == 0)
		id = live->attempt.pending_sid;
	return id != 0 ? id : (uint32_t)weft_rand_u64(&s->faults.rand);
}

/* What @e might believe of its other end. */
static void
forge_make_message(struct sim *s, const struct sim_end *e, struct weft_control *c)
{
	const struct weft_session *live = weft_link_session(e->end);
	struct weft_rand *r = &s->faults.rand;

	*c = s->sc.session.params;
	c->type = (uint8_t)(1 + weft_rand_below(r, WEFT_CONTROL_GONE));
	c->max_flits = e->max_flits;
	c->padded = weft_rand_below(r, 4) == 0 ? 0 : e->max_flits;
	c->differs = (uint8_t)(1 + weft_rand_below(r, WEFT_PARAM_COUNT - 1));
	c->flags = (uint8_t)weft_rand_below(r, WEFT_CONTROL_RDI + 1);
	c->session = (uint32_t)weft_rand_u64(r) | 1;
	c->count = (uint32_t)(1 + weft_rand_below(r, 1000));
	c->challenge = c->memory = weft_rand_u64(r) | 1;
	if (e->ide == NULL)
		return;
	if (live->challenged.number != 0)
		c->challenge = live->challenged.number;
	c->number = live->rx_number + 1 + weft_rand_below(r, 2);
	weft_rand_fill(r, c->random, sizeof(c->random));
	weft_rand_fill(r, c->proof, sizeof(c->proof));
	weft_rand_fill(r, c->mac, sizeof(c->mac));
}

/* It comes out of @p link_dir a moment later. */
static void
forge_inject(struct sim *s, uint32_t link_dir, struct sim_frame *f, const struct weft_control *c)
{
	size_t len = WEFT_FLIT_LEN;

	frame_address(f, f->hdr.dpid, f->hdr.spid, link_dir);
	weft_wire_build(f->data, &f->hdr);
	if (f->hdr.kind == WEFT_WIRE_CONTROL)
		len = weft_control_build(f->data + WEFT_WIRE_FLITS_OFF, c);
	else
		memset(f->data + WEFT_WIRE_FLITS_OFF, 0, len);
	f->len = (uint32_t)(WEFT_WIRE_FLITS_OFF + len);
	f->link_dir = link_dir;
	f->flap = s->link_dir[link_dir].flaps;
	f->is_forged = true;
	s->faults.forged_ns = s->now_ns;
	heap_push(&s->heap, s->now_ns + 1 + weft_rand_below(&s->faults.rand, s->sc.latency_ns),
		EV_ARRIVE, frame_pack(s, f));
}

/* A link direction on the path from the other end of @e to it. */
static uint32_t
forge_draw_link_dir(struct sim *s, const struct sim_end *e)
{
	uint32_t link_dir = e->peer->link_dir;

	for (;;) {
		const struct sim_node *n = &s->node[s->link_dir[link_dir].to];
		const int port =
			n->way == NULL || s->sc.mode == WEFT_MODE_CXL ? -1 : n->way[e->node->pid];

		if (port < 0 || weft_rand_below(&s->faults.rand, 2) == 0)
			return link_dir;
		link_dir = n->first_link_dir + (uint32_t)port;
	}
}

void
forge_control(struct sim *s, uint64_t where)
{
	const struct sim_end *e = &s->end[where % s->n_ends];
	const unsigned int n = 1 + (unsigned int)weft_rand_below(&s->faults.rand, FRAMES_MAX);
	const bool has_ids = s->sc.mode == WEFT_MODE_RXL;
	const uint32_t link_dir = forge_draw_link_dir(s, e);

	for (unsigned int i = 0; i < n; i++) {
		struct sim_frame *f = frame_new(s);
		struct weft_control c;

		forge_make_message(s, e, &c);
		f->hdr = (struct weft_wire_hdr){ .kind = WEFT_WIRE_CONTROL,
			.mode = s->sc.mode,
			.form = has_ids ? 0 : e->form,
			.spid = has_ids ? e->peer_pid : WEFT_PID_NONE,
			.dpid = has_ids ? e->node->pid : WEFT_PID_NONE,
			.session = forge_draw_id(s, e, c.type) };
		forge_inject(s, link_dir, f, &c);
	}
}

void
forge_spid(struct sim *s, uint64_t where)
{
	const struct sim_end *e = &s->end[where % s->n_ends];
	const struct sim_node *from = s->end[weft_rand_below(&s->faults.rand, s->n_ends)].node;
	const bool has_flits = weft_rand_below(&s->faults.rand, 2) == 0;
	struct sim_frame *f = frame_new(s);
	struct weft_control c;

	forge_make_message(s, e, &c);
	f->hdr = (struct weft_wire_hdr){ .kind = has_flits ? WEFT_WIRE_FLITS : WEFT_WIRE_CONTROL,
		.mode = s->sc.mode,
		.n_flits = has_flits,
		.spid = e->peer_pid != from->pid ? e->peer_pid : WEFT_PID_NONE - 1,
		.dpid = e->node->pid,
		.session = forge_draw_id(s, e, c.type) };
	f->is_stolen = true;
	forge_inject(s, from->first_link_dir, f, &c);
}
