/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The operator: memories that are made, grown, shared and released, as weft-fm takes such wishes
 * (app/weft-fm/memory.c), and the desired state that follows from them.
 */

#include "world.h"

#include <stdio.h>
#include <string.h>

#define WISH_BLOCKS 4 /* most of an extent */
#define WISH_TRIES 8

static struct manager_node *
wishes_draw_gfd(struct manager *m)
{
	return &m->node[m->topo->gfd[weft_rand_below(&m->rand, m->topo->n_gfds)]];
}

static bool
wishes_overlap(const struct manager_extent *a, const struct manager_extent *b)
{
	return a->gfd == b->gfd && a->first < b->first + b->n && b->first < a->first + a->n;
}

/* Whether no memory has any of it. */
static bool
wishes_is_free(const struct manager *m, const struct manager_extent *e)
{
	for (unsigned int i = 0; i < m->n_memories; i++)
		for (unsigned int k = 0; k < m->memory[i].n_extents; k++)
			if (wishes_overlap(&m->memory[i].extent[k], e))
				return false;
	return true;
}

/* The lowest place, in one piece. */
static bool
wishes_place(struct manager *m, struct manager_memory *mem, struct manager_node *gfd)
{
	struct manager_extent *e = &mem->extent[mem->n_extents];

	*e = (struct manager_extent){ .gfd = gfd->index,
		.n = 1 + (uint32_t)weft_rand_below(&m->rand, WISH_BLOCKS) };
	for (; e->first + e->n <= gfd->gfd.n_blocks; e->first++)
		if (wishes_is_free(m, e)) {
			mem->n_extents++;
			return true;
		}
	return false;
}

/* Whether a GFD has, or may have, memory in a group: then it is not given to another memory. */
static bool
wishes_is_held(const struct manager *m, unsigned int group)
{
	for (unsigned int g = 0; g < m->topo->n_gfds; g++) {
		struct weft_fm_component c;
		struct weft_fm_extent x;

		if (weft_fm_component(m->fm, m->topo->gfd[g], &c) != 0 || c.state != WEFT_FM_READY)
			return true;
		for (uint32_t k = 0; weft_fm_extent(m->fm, m->topo->gfd[g], k, &x) == 0; k++)
			if (x.group == group)
				return true;
	}
	return false;
}

static void
wishes_forget_released(struct manager *m)
{
	for (unsigned int i = 0; i < m->n_memories;) {
		if (m->memory[i].n_extents != 0 || wishes_is_held(m, m->memory[i].group))
			i++;
		else
			m->memory[i] = m->memory[--m->n_memories];
	}
}

static uint16_t
wishes_free_group(const struct manager *m)
{
	uint32_t taken = 1; /* group 0 */

	for (unsigned int i = 0; i < m->n_memories; i++)
		taken |= UINT32_C(1) << m->memory[i].group;
	return (uint16_t)__builtin_ctz(~taken);
}

/* The hosts that it has, and one more. */
static void
wishes_add_host(struct manager *m, struct manager_memory *mem)
{
	const size_t words = (m->topo->n_hosts + 63u) / 64;
	uint64_t *hosts = arena_alloc(&m->arena, words * sizeof(*hosts));
	const unsigned int host = (unsigned int)weft_rand_below(&m->rand, m->topo->n_hosts);

	if (mem->hosts != NULL)
		memcpy(hosts, mem->hosts, words * sizeof(*hosts));
	hosts[host / 64] |= WEFT_BIT64(host % 64);
	mem->hosts = hosts;
}

static bool
wishes_create(struct manager *m)
{
	struct manager_memory *mem = &m->memory[m->n_memories];
	const unsigned int hosts = m->plan.is_large ? m->topo->n_hosts / 8 : 2;

	if (m->n_memories + 1 >= MANAGER_GROUPS - 1)
		return false;
	*mem = (struct manager_memory){ .group = wishes_free_group(m) };
	if (!wishes_place(m, mem, wishes_draw_gfd(m)))
		return false;
	if (weft_rand_below(&m->rand, 3) == 0) {
		m->n_memories++; /* what it has already is not free */
		(void)wishes_place(m, mem, wishes_draw_gfd(m));
		m->n_memories--;
	}
	for (uint64_t i = 0; i <= weft_rand_below(&m->rand, hosts); i++)
		wishes_add_host(m, mem);
	mem->id = ++m->last_id;
	m->n_memories++;
	return true;
}

static struct manager_memory *
wishes_draw_memory(struct manager *m)
{
	struct manager_memory *mem;

	if (m->n_memories == 0)
		return NULL;
	mem = &m->memory[weft_rand_below(&m->rand, m->n_memories)];
	return mem->n_extents == 0 ? NULL : mem;
}

/* --- what is desired --- */

static void
wishes_add_rights(struct manager *m, struct weft_fm_intent *in, uint16_t gfd)
{
	struct weft_fm_right *right = (struct weft_fm_right *)(uintptr_t)in->right;

	for (unsigned int h = 0; h < m->topo->n_hosts; h++) {
		uint32_t groups = 0;

		for (unsigned int i = 0; i < m->n_memories; i++)
			for (unsigned int k = 0; k < m->memory[i].n_extents; k++)
				if (m->memory[i].extent[k].gfd == gfd &&
					manager_has_host(m->memory[i].hosts, h))
					groups |= UINT32_C(1) << m->memory[i].group;
		if (groups != 0)
			right[in->n_rights++] = (struct weft_fm_right){
				.path = gfd,
				.pid = m->topo->node[m->topo->host[h]].pid,
				.groups = groups,
			};
	}
}

static void
wishes_set_intent(struct manager *m, const char *why)
{
	struct weft_fm_intent *in = &m->intent[m->intent_now ^= 1];
	struct weft_fm_extent *extent = (struct weft_fm_extent *)(uintptr_t)in->extent;

	in->n_extents = in->n_rights = 0;
	for (unsigned int i = 0; i < m->n_memories; i++)
		for (unsigned int k = 0; k < m->memory[i].n_extents; k++) {
			const struct manager_extent *e = &m->memory[i].extent[k];

			extent[in->n_extents++] = (struct weft_fm_extent){
				.path = e->gfd,
				.group = m->memory[i].group,
				.dpa = (uint64_t)e->first * MANAGER_BLOCK,
				.len = (uint64_t)e->n * MANAGER_BLOCK,
			};
		}
	for (unsigned int g = 0; g < m->topo->n_gfds; g++)
		wishes_add_rights(m, in, m->topo->gfd[g]);
	manager_add_claims(m);
	m->s->total.manager[MANAGER_N_CHANGES]++;
	weft_fm_set_intent(m->fm, in, why);
	manager_wake(m);
}

void
manager_make_intent(struct manager *m)
{
	const struct weft_topo *t = m->topo;

	m->want = arena_alloc(&m->arena, t->n_nodes * sizeof(*m->want));
	for (uint16_t i = 0; i < t->n_nodes; i++) {
		const struct manager_node *n = &m->node[i];
		struct weft_fm_node *w = &m->want[i];

		*w = (struct weft_fm_node){ .kind = n->kind,
			.pid = t->node[i].pid,
			.path = i,
			.at_path = WEFT_FM_NO_PATH };
		snprintf(w->name, sizeof(w->name), "%s", t->node[i].name);
		if (n->kind != WEFT_TOPO_HOST)
			continue;
		w->path = WEFT_FM_NO_PATH;
		w->has_agent = true;
		w->agent_path = i;
		w->at_path = manager_far(n, 0)->index;
		w->at_port = (uint8_t)n->at_port;
	}
	for (unsigned int i = 0; i < 2; i++)
		m->intent[i] = (struct weft_fm_intent){
			.routing = WEFT_TOPO_ROUTING_AUTO,
			.is_closed = true,
			.has_memory = true,
			.n_nodes = t->n_nodes,
			.node = m->want,
			.extent = arena_alloc(&m->arena,
				MANAGER_GROUPS * MANAGER_EXTENTS * sizeof(struct weft_fm_extent)),
			.right = arena_alloc(&m->arena,
				(size_t)t->n_gfds * t->n_hosts * sizeof(struct weft_fm_right)),
		};
}

static bool
wishes_drain(struct manager *m)
{
	struct weft_fm_node *w = &m->want[weft_rand_below(&m->rand, m->topo->n_nodes)];

	if (w->kind != WEFT_TOPO_SWITCH || m->plan.is_large)
		return false;
	w->is_drained = !w->is_drained;
	return true;
}

/* One wish, or none that can be granted. */
static bool
wishes_make(struct manager *m)
{
	const uint64_t what = weft_rand_below(&m->rand, 16);
	struct manager_memory *mem = wishes_draw_memory(m);

	if (what == 0)
		return wishes_drain(m);
	if (mem == NULL || what < 6)
		return wishes_create(m);
	if (what < 9)
		return mem->n_extents < MANAGER_EXTENTS &&
		       wishes_place(m, mem, &m->node[mem->extent[0].gfd]);
	if (what < 11) {
		wishes_add_host(m, mem);
		return true;
	}
	mem->n_extents = 0;
	return true;
}

void
manager_wish(struct manager *m)
{
	if (m->fm == NULL || m->is_dying)
		return;
	wishes_forget_released(m);
	for (unsigned int i = 0; i < WISH_TRIES; i++)
		if (wishes_make(m)) {
			wishes_set_intent(m, "wish");
			return;
		}
}
