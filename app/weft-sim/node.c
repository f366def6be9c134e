/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What any node does with a frame that arrives, and what happens to a node as a whole: it may stand
 * still for a while, or lose its state and start again. Hot.
 */

#include "capture.h"
#include "cli.h"
#include "ide.h"
#include "judge.h"
#include "program.h"
#include "replay.h"
#include "update.h"

#include <string.h>

#include "weft_fec.h"
#include "weft_gfd.h"

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

	if (s->to.recorder != NULL)
		recorder_add(s->to.recorder, s->now_ns, f);
	if (s->to.capture != NULL)
		capture_add(s->to.capture, s->now_ns, f->data, f->len);
	if (weft_wire_parse(f->data, f->len, &f->hdr) != WEFT_OK) {
		s->total.loss[LOSS_HEADER]++;
		frame_free(s, f);
	} else if (s->sc.mode == WEFT_MODE_RXL &&
		   !weft_ingress_spid(&s->link_dir[f->link_dir].ingress, f->hdr.spid)) {
		s->total.loss[LOSS_SPID]++;
		frame_free(s, f);
	} else if (n->kind == WEFT_TOPO_SWITCH && s->sc.mode == WEFT_MODE_RXL) {
		relay_receive(n, f);
	} else {
		edge_receive(n, f);
	}
}

static void
node_hold(struct sim_node *n, struct sim_frame *f)
{
	struct sim *s = n->sim;

	/* A cxl link loses no frames: it stands still too. */
	if (n->life.state == LIFE_DOWN || (n->n_wait == WAIT_MAX && s->sc.mode == WEFT_MODE_RXL)) {
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
		__builtin_prefetch(&n->way[f->hdr.dpid & (WEFT_PIDS - 1)]);
		return;
	}
	__builtin_prefetch(n->end);
	__builtin_prefetch(&n->node.kind);
	__builtin_prefetch(&n->node.cfg);
	__builtin_prefetch(&n->node.cfg.watch);
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
	if (n->resume_ns == 0)
		sim_node_time(n);
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
	if (n->life.state == LIFE_DOWN)
		return;
	if (n->life.state == LIFE_RUNS)
		oracle_forget(n);
	n->life.state = LIFE_DOWN;
	for (uint32_t i = 0; i < n->n_ends; i++)
		n->end[i].session = 0;
}

/* --- its life --- */

void
node_draw_generation(struct sim_node *n)
{
	do
		n->gfd.generation = weft_rand_u64(&n->sim->rand.memory);
	while (n->gfd.generation == 0);
}

/*
 * What a GFD keeps when it starts again: which lines are bad is as much of its memory as they are.
 */
static void *
node_keep_memory(struct sim_node *n)
{
	const struct weft_gfd *g = n->node.kind == NULL ? NULL : weft_node_gfd(&n->node);
	const size_t len = g == NULL ? 0 : weft_gfd_poison_size(g->len_bytes);
	void *kept;

	if (g == NULL)
		return NULL;
	if (n->gfd.forgets) {
		n->gfd.forgets = false;
		memset(g->mem, 0, g->len_bytes);
		return NULL;
	}
	kept = sim_world.alloc(n, len);
	return memcpy(kept, g->poison, len);
}

static void
node_give_memory(struct sim_node *n, void *kept)
{
	struct weft_gfd *g = weft_node_gfd(&n->node);

	if (kept != NULL)
		memcpy(g->poison, kept, weft_gfd_poison_size(g->len_bytes));
	sim_world.free(n, kept);
}

static void
node_start_ends(struct sim_node *n)
{
	for (uint32_t i = 0; i < n->n_ends; i++) {
		struct sim_end *e = &n->end[i];

		e->link = &n->node.link[i];
		e->end = e->link->end;
		e->is_initiator = e->link->is_initiator;
		e->timer_ns = SIM_NEVER;
		e->was_fooled = false;
		ide_end_start(e);
		replay_end_start(e);
	}
}

void
node_heal(struct sim_node *n)
{
	struct sim *s = n->sim;

	misfit_mend(n);
	if (n->resume_ns <= s->now_ns)
		return;
	n->resume_ns = s->now_ns;
	heap_push(&s->heap, s->now_ns, EV_RESUME, n);
}

void
node_start(struct sim_node *n)
{
	struct weft_node_cfg cfg = n->node.cfg;
	const uint64_t local_ns = sim_node_now(n);
	void *kept = node_keep_memory(n);
	char err[400];

	drawn_add(n);
	programs_gone(n);
	cfg.topo = update_topo(n->sim);
	weft_node_fini(&n->node);
	n->node = (struct weft_node){
		.cfg = cfg, .now_ns = local_ns, .ends_ns = local_ns, .generation = n->gfd.generation
	};
	n->set_ns = n->sim->now_ns;
	if (weft_node_init(&n->node, err, sizeof(err)) != 0)
		cli_fail("seed %llu: %s", (unsigned long long)n->sim->seed, err);
	/* Its next life: what this one writes is told from what that one does. */
	n->node.cfg.run++;
	node_give_memory(n, kept);
	if (n->kind == WEFT_TOPO_GFD)
		late_started(n);
	node_start_ends(n);
	update_node_started(n);
	load_judge(n);
	n->sim->progress.sources_done -= n->is_done;
	n->is_done = false;
	core_slow(n);
	if (n->sim->faults.is_healed)
		load_stop(n);
}

/* Of a pause the ends count as much as of one in weftd. */
void
node_resume(struct sim_node *n)
{
	struct sim *s = n->sim;
	struct sim_frame *f = n->wait;

	if (s->now_ns < n->resume_ns || n->resume_ns == 0)
		return; /* it was to be longer */
	n->resume_ns = 0;
	if (n->life.state == LIFE_DOWN) {
		node_start(n);
		n->life.state = LIFE_RUNS;
	} else {
		weft_node_time(&n->node, sim_node_now(n));
	}
	n->set_ns = s->now_ns;
	n->wait = NULL;
	n->wait_end = &n->wait;
	n->n_wait = 0;
	while (f != NULL) {
		struct sim_frame *next = f->next;

		node_take(n, f);
		f = next;
	}
	for (uint32_t i = 0; i < n->n_ends; i++)
		weft_node_set_due(n->end[i].link, 0);
	node_turn(n);
}

void
node_jump(struct sim_node *n, uint64_t jump_ns)
{
	if (n->resume_ns == 0)
		sim_node_time(n);
	clock_set(&n->clock, n->sim->now_ns, jump_ns, n->clock.rate);
	if (n->resume_ns == 0)
		weft_node_time(&n->node, sim_node_now(n));
	order_clock_jumps(n, jump_ns);
}
