/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Load: a file says its own; where the fabric is drawn, each host reads and writes lines of its own
 * at some GFDs, and nobody has a connection that nothing would go by. What the judge knows of a
 * host's source stands here too: its targets, and what each of its lines may hold.
 */

#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "weft_requester.h"

#define BLOCK 4096 /* memory of a GFD is a multiple of it */

/* Two that speak with each other; the first begins. */
struct load_pair {
	uint16_t a, b;
};

struct load_pairs {
	struct load_pair *pair;
	size_t n, room;
	uint16_t *n_of; /* by node */
};

void
load_make(struct sim *s)
{
	if (!s->is_drawn)
		return;
	s->load = arena_alloc(&s->memory.arena, sizeof(*s->load));
	s->load->n_nodes = s->topo->n_nodes;
	s->load->node = arena_alloc(&s->memory.arena, s->topo->n_nodes * sizeof(*s->load->node));
}

static void
load_add_pair(struct load_pairs *p, uint16_t a, uint16_t b)
{
	if (p->n == p->room) {
		p->room = 2 * p->room + 64;
		p->pair = realloc(p->pair, p->room * sizeof(*p->pair));
		if (p->pair == NULL)
			cli_fail("out of memory");
	}
	p->pair[p->n++] = (struct load_pair){ a, b };
	p->n_of[a]++;
	p->n_of[b]++;
}

/* --- of a fabric that was drawn --- */

/*
 * Neighbours in a stride that meets every GFD before one twice. A host's lines begin at the same
 * one at each of them.
 */
static void
load_draw_host(
	struct sim *s, struct load_pairs *p, uint16_t host, uint64_t *used, struct weft_rand *r)
{
	const struct weft_topo *t = s->topo;
	const uint32_t want = s->sc.load.peers < t->n_gfds ? s->sc.load.peers : t->n_gfds;
	const uint32_t at = (uint32_t)weft_rand_below(r, t->n_gfds);
	struct weft_load_node *l = &s->load->node[host];
	uint64_t first = 0;

	for (uint32_t i = 0; i < want; i++) {
		const uint32_t g = (at + i) % t->n_gfds;

		load_add_pair(p, host, t->gfd[g]);
		first = used[g] > first ? used[g] : first;
	}
	for (uint32_t i = 0; i < want; i++)
		used[(at + i) % t->n_gfds] = first + s->sc.load.lines;
	l->has_mem = true;
	l->mem = (struct weft_load_mem){
		.seed = weft_rand_u64(r),
		.first_line = first,
		.lines = s->sc.load.lines,
		.outstanding = s->sc.load.outstanding,
		.write_percent = s->sc.load.write_percent,
	};
}

/* A GFD has as much memory as is used of it. */
static void
load_size_memory(struct weft_topo *t, const uint64_t *used)
{
	for (uint16_t g = 0; g < t->n_gfds; g++) {
		const uint64_t len = used[g] * WEFT_MSG_DATA_LEN;
		const uint64_t blocks = len == 0 ? 1 : (len + BLOCK - 1) / BLOCK;

		t->node[t->gfd[g]].memory = blocks * BLOCK;
	}
	for (uint16_t i = 0; i < t->map.n_segments; i++) {
		struct weft_topo_segment *seg = &t->map.segment[i];

		seg->size = t->node[t->map.target[seg->first_target].node].memory;
	}
}

static void
load_draw(struct sim *s, struct load_pairs *p, struct weft_rand *r)
{
	uint64_t *used = arena_alloc(&s->memory.arena, s->topo->n_gfds * sizeof(*used));

	for (uint16_t h = 0; h < s->topo->n_hosts; h++)
		load_draw_host(s, p, s->topo->host[h], used, r);
	load_size_memory(s->topo, used);
}

/* --- of a file --- */

static void
load_take(struct sim *s, struct load_pairs *p)
{
	const struct weft_topo *t = s->topo;

	for (uint16_t a = 0; a < t->n_nodes; a++)
		for (uint16_t b = (uint16_t)(a + 1); b < t->n_nodes; b++) {
			bool there, back;

			weft_node_is_joined(t, s->load, a, b, &there);
			weft_node_is_joined(t, s->load, b, a, &back);
			if (there || back)
				load_add_pair(p, there ? a : b, there ? b : a);
		}
}

/* --- of both --- */

static void
load_scale_sessions(struct sim *s, const struct load_pairs *p)
{
	uint32_t *load = arena_alloc(&s->memory.arena, s->topo->n_ports * sizeof(*load));

	for (size_t i = 0; i < p->n; i++)
		scale_count(s, load, &s->node[p->pair[i].a], &s->node[p->pair[i].b]);
	scale_links(s, load);
}

static void
load_join(struct sim *s, struct weft_node_peer **peer, uint16_t from, uint16_t to, bool is_first)
{
	struct weft_node_cfg *c = &s->node[from].node.cfg;

	peer[from][c->n_peers++] = (struct weft_node_peer){
		.node = to, .max_flits = s->sc.max_flits, .is_initiator = is_first
	};
	c->peer = peer[from];
}

static void
load_give_peers(struct sim *s, const struct load_pairs *p)
{
	struct weft_node_peer **peer =
		arena_alloc(&s->memory.arena, s->topo->n_nodes * sizeof(*peer));

	for (uint16_t i = 0; i < s->topo->n_nodes; i++) {
		peer[i] = arena_alloc(&s->memory.arena, (p->n_of[i] + 1u) * sizeof(**peer));
		s->node[i].node.cfg.peer = peer[i];
	}
	for (size_t i = 0; i < p->n; i++) {
		load_join(s, peer, p->pair[i].a, p->pair[i].b, true);
		load_join(s, peer, p->pair[i].b, p->pair[i].a, false);
	}
}

void
load_plan(struct sim *s, struct weft_rand *r)
{
	struct load_pairs p = {
		.n_of = arena_alloc(&s->memory.arena, s->topo->n_nodes * sizeof(*p.n_of)),
	};

	if (s->is_drawn)
		load_draw(s, &p, r);
	else
		load_take(s, &p);
	drawn_settle(s);
	if (s->sc.mode == WEFT_MODE_RXL)
		load_scale_sessions(s, &p);
	load_give_peers(s, &p);
	free(p.pair);
}

/* --- the judge's --- */

static void
load_judge_targets(struct sim_node *n)
{
	const struct weft_traffic_target *target = weft_traffic_targets(n->host.traffic);
	static const uint8_t zero[WEFT_MSG_DATA_LEN];
	struct sim *s = n->sim;
	struct sim_host *h = &n->host;

	h->lines = (uint32_t)n->node.load->mem.lines;
	h->n_targets = (uint32_t)(weft_traffic_units(h->traffic) / h->lines);
	h->target = arena_alloc(&s->memory.arena, h->n_targets * sizeof(*h->target));
	for (h->tags = 1; h->tags < WEFT_REQUESTER_TAGS_MAX;)
		h->tags *= 2;
	h->line_of_tag = arena_alloc(&s->memory.arena, h->tags * sizeof(*h->line_of_tag));
	for (uint32_t i = 0; i < h->n_targets; i++) {
		struct sim_target *t = &h->target[i];

		t->dpid = target[i].dpid;
		t->hpa_base = target[i].hpa_base;
		t->end = s->sc.mode == WEFT_MODE_RXL ? node_end_of(n, t->dpid) : n->end;
		t->shadow = arena_alloc(&s->memory.arena, h->lines * sizeof(*t->shadow));
		for (uint32_t l = 0; l < h->lines; l++)
			oracle_line_init(&t->shadow[l], zero);
	}
}

void
load_judge(struct sim_node *n)
{
	struct weft_node_requests r;

	if (weft_node_uio(&n->node, &r))
		n->host.uio = r.traffic;
	if (!weft_node_mem(&n->node, &r) || r.traffic == NULL)
		return;
	n->host.requester = r.requester;
	n->host.traffic = r.traffic;
	if (n->host.target == NULL && n->sim->topo->map.is_default)
		load_judge_targets(n);
}

/*
 * What a source of this life found that it did not expect. Poison is what a file with late poison,
 * and memory that was lost, promise; where all memory is open the judge knows which lines are bad.
 */
static uint64_t
load_unexpected_of(const struct sim_node *n, const struct weft_traffic *t)
{
	const uint64_t *c = t == NULL ? NULL : weft_traffic_counts(t);
	uint64_t sum;

	if (c == NULL || (n->host.n_targets == 0 && drawn_is_excused(n)))
		return 0;
	/* Old flits that were taken: memory that all use may hold what was written before. */
	if (n->host.n_targets == 0 && n->sim->total.replay[REPLAY_TAKEN] != 0)
		return 0;
	sum = c[WEFT_TRAFFIC_N_MISMATCHES];
	if (n->sim->topo->map.is_default)
		return sum;
	sum += c[WEFT_TRAFFIC_N_FAILED];
	return drawn_may_poison(n->sim) ? sum - c[WEFT_TRAFFIC_N_POISONED] : sum;
}

uint64_t
load_unexpected(const struct sim_node *n)
{
	return load_unexpected_of(n, n->host.traffic) + load_unexpected_of(n, n->host.uio);
}

void
load_stop(struct sim_node *n)
{
	if (n->host.traffic != NULL)
		weft_traffic_stop(n->host.traffic);
	if (n->host.uio != NULL)
		weft_traffic_stop(n->host.uio);
}
