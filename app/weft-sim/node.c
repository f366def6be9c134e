/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What any node does with a frame that arrives, and what happens to a node as a whole: it may stand
 * still for a while, or lose its state and start again. Hot.
 */

#include "capture.h"
#include "sim.h"

#include "weft_fec.h"

#define WAIT_MAX 256 /* frames that come to a node that stands still */

struct sim_end *
node_end_of(const struct sim_node *n, uint16_t pid)
{
	for (uint32_t i = pid;; i++) {
		const uint16_t at = n->slot[i & n->slot_mask];

		if (at == UINT16_MAX)
			return NULL;
		if (n->end[at].peer_pid == pid)
			return &n->end[at];
	}
}

struct sim_end *
node_end(const struct sim *s, uint32_t link_dir, const struct weft_wire_hdr *h)
{
	const struct sim_link_dir *w = &s->link_dir[link_dir];
	const struct sim_node *n = &s->node[w->to];

	if (s->sc.mode == WEFT_MODE_CXL)
		return h->mode == WEFT_MODE_CXL && (h->kind == WEFT_WIRE_CONTROL ||
							   h->form == n->end[w->to_port].form)
		               ? &n->end[w->to_port]
		               : NULL;
	return n->slot == NULL || h->dpid != n->pid ? NULL : node_end_of(n, h->spid);
}

uint64_t
flits_decode(struct sim *s, const uint8_t *const *flit, unsigned int n)
{
	uint64_t bad = weft_codec_fec_check(&s->opt->codec, flit, n), left = 0;

	for (; bad != 0; bad &= bad - 1) {
		const int i = __builtin_ctzll(bad);

		if (weft_fec_decode_flit((uint8_t *)(uintptr_t)flit[i], NULL) ==
			WEFT_FEC_UNCORRECTABLE) {
			left |= WEFT_BIT64(i);
			s->total.fec_uncorrectable++;
		} else {
			s->total.fec_corrected++;
		}
	}
	return left;
}

static void
node_take(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;

	if (s->recorder != NULL)
		recorder_add(s->recorder, s->now_ns, f);
	if (s->capture != NULL)
		capture_add(s->capture, s->now_ns, f->data, f->len);
	if (weft_wire_parse(f->data, f->len, &f->hdr) != WEFT_OK) {
		s->total.loss[LOSS_HEADER]++;
		frame_free(s, f);
	} else if (s->sc.mode == WEFT_MODE_RXL &&
		   !weft_ingress_spid(&s->link_dir[f->link_dir].ingress, f->hdr.spid)) {
		s->total.loss[LOSS_SPID]++;
		frame_free(s, f);
	} else if (n->kind == WEFT_TOPO_SWITCH && s->sc.mode == WEFT_MODE_RXL) {
		switch_receive(n, f);
	} else {
		edge_receive(n, f);
	}
}

static void
node_hold(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;

	/* A cxl link loses no frames: it stands still too. */
	if (n->down || (n->n_wait == WAIT_MAX && s->sc.mode == WEFT_MODE_RXL)) {
		s->total.loss[LOSS_NODE]++;
		frame_free(s, f);
		return;
	}
	f->next = NULL;
	*n->wait_end = f;
	n->wait_end = &f->next;
	n->n_wait++;
}

void
node_arrive(struct sim *s, struct sim_frame *f)
{
	const struct sim_link_dir *w = &s->link_dir[f->link_dir];
	struct sim_node *n = &s->node[w->to];

	s->total.frames++;
	s->total.hops += f->hdr.n_flits;
	if (f->flap != w->flaps) {
		s->total.loss[LOSS_DOWN]++;
		frame_free(s, f);
	} else if (n->resume_ns != 0) {
		node_hold(n, f);
	} else {
		node_take(n, f);
	}
}

/* A switch that relays flits looks no further than its table. */
static bool
node_relays(const struct sim_node *n)
{
	return n->kind == WEFT_TOPO_SWITCH && n->sim->sc.mode == WEFT_MODE_RXL;
}

void
node_fetch_way(const struct sim_node *n, const struct sim_frame *f)
{
	if (node_relays(n)) {
		__builtin_prefetch(&n->drt->entry[f->hdr.dpid & (WEFT_PIDS - 1)]);
		return;
	}
	__builtin_prefetch(n->end);
	if (n->slot != NULL)
		__builtin_prefetch(&n->slot[f->hdr.spid & n->slot_mask]);
}

void
node_fetch_end(const struct sim_node *n, const struct sim_frame *f)
{
	const struct sim_end *e = node_relays(n) ? NULL : node_end(n->sim, f->link_dir, &f->hdr);

	if (e != NULL)
		edge_fetch(e);
}

static void
node_leave(struct sim_node *n, uint64_t until_ns)
{
	if (until_ns <= n->resume_ns)
		return;
	n->resume_ns = until_ns;
	heap_push(&n->sim->heap, until_ns, EV_RESUME, n);
}

void
node_stall(struct sim_node *n, uint64_t until_ns)
{
	node_leave(n, until_ns);
}

static void
node_drop_waiting(struct sim_node *n)
{
	while (n->wait != NULL) {
		struct sim_frame *f = n->wait;

		n->wait = f->next;
		frame_free(n->sim, f);
	}
	n->wait_end = &n->wait;
	n->n_wait = 0;
}

void
node_crash(struct sim_node *n, uint64_t until_ns)
{
	node_drop_waiting(n);
	node_leave(n, until_ns);
	if (n->down)
		return;
	n->down = true;
	if (n->losses != NULL)
		n->losses->n = 0;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		struct sim_end *e = &n->end[i];

		if (n->kind == WEFT_TOPO_HOST)
			host_abort(e);
		e->session = 0;
	}
}

void
node_heal(struct sim_node *n)
{
	struct sim *s = n->sim;

	if (n->resume_ns <= s->now_ns)
		return;
	n->resume_ns = s->now_ns;
	heap_push(&s->heap, s->now_ns, EV_RESUME, n);
}

/* Ends are started only now: nothing of the old life is left, and time has passed. */
void
node_resume(struct sim_node *n)
{
	struct sim *s = n->sim;
	struct sim_frame *f = n->wait;

	if (s->now_ns < n->resume_ns || n->resume_ns == 0)
		return; /* it was to be longer */
	n->resume_ns = 0;
	for (uint32_t i = 0; i < n->n_ends; i++) {
		if (n->down)
			end_start(&n->end[i]);
	}
	n->down = false;
	n->wait = NULL;
	n->wait_end = &n->wait;
	n->n_wait = 0;
	while (f != NULL) {
		struct sim_frame *next = f->next;

		node_take(n, f);
		f = next;
	}
	for (uint32_t i = 0; i < n->n_ends; i++)
		edge_timer(&n->end[i]);
	if (n->kind == WEFT_TOPO_HOST)
		host_pump(n);
}
