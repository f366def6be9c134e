/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The simulator as the world of its nodes: memory, random bits, parameters of ends. Memory that is
 * given back is kept for the next of the same size, as nodes that start again want it.
 */

#include "ide.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "weft_control.h"

struct sim_end *
world_end(const struct weft_node_link *l)
{
	const struct weft_node *n = l->node;
	struct sim_node *node = n->cfg.world_arg;

	return &node->end[l - n->link];
}

/* --- memory --- */

struct world_block {
	struct world_block *next; /* free */
	size_t len;
} __attribute__((aligned(WEFT_CACHE_LINE)));

static void *
world_alloc(void *world, size_t len)
{
	struct sim *s = ((struct sim_node *)world)->sim;
	struct world_block **at = &s->memory.free, *b;

	while (*at != NULL && (*at)->len != len)
		at = &(*at)->next;
	b = *at;
	if (b == NULL) {
		b = arena_alloc(&s->memory.arena, sizeof(*b) + len);
		b->len = len;
		return b + 1;
	}
	*at = b->next;
	return memset(b + 1, 0, len);
}

static void
world_free(void *world, void *mem)
{
	struct sim *s = ((struct sim_node *)world)->sim;
	struct world_block *b = mem;

	if (mem == NULL)
		return;
	b--;
	b->next = s->memory.free;
	s->memory.free = b;
}

/* That of a GFD outlives it: whether it is lost is a fault's to say. */
static void *
world_map(void *world, size_t len)
{
	struct sim_node *n = world;

	if (n->kind != WEFT_TOPO_GFD)
		return forge_uio_mapped(n, world_alloc(world, len), len);
	if (n->gfd.memory == NULL)
		n->gfd.memory = world_alloc(world, len);
	return n->gfd.memory;
}

static void
world_unmap(void *world, void *mem, size_t len)
{
	struct sim_node *n = world;

	(void)len;
	if (mem != NULL && n->host.offered == mem)
		n->host.offered = NULL;
	if (n->kind != WEFT_TOPO_GFD)
		world_free(world, mem);
}

/* --- what it gives besides --- */

static uint64_t
world_random(void *world)
{
	return weft_rand_u64(&((struct sim_node *)world)->sim->rand.node);
}

static int
world_read_file(void *world, const char *path, void *to, size_t len, char *err, size_t err_len)
{
	(void)world;
	(void)to;
	(void)len;
	return weft_errorf(
		err, err_len, -ENOTSUP, "%s: files of transfers are not simulated", path);
}

static int
world_link_cfg(void *world, struct weft_node_link *l, struct weft_link_cfg *c)
{
	const struct scenario *sc = &((struct sim_node *)world)->sim->sc;
	const struct weft_session_cfg own = c->session;
	const struct sim_end *e = world_end(l);

	c->llr = sc->llr;
	c->max_flits = e->max_flits;
	c->session = sc->session;
	c->session.is_initiator = own.is_initiator;
	c->session.params.max_flits = e->max_flits;
	c->session.params.credits = own.params.credits;
	c->session.params.memory = own.params.memory;
	memcpy(c->session.params.node, own.params.node, sizeof(own.params.node));
	misfit_params(e->node, c);
	if (e->ide == NULL)
		return 0;
	c->ide = &e->ide->end;
	c->session.keys = &e->ide->session;
	return 0;
}

/* A switch tells of losses. */
static bool
world_send_control(
	void *world, uint16_t port, const struct weft_wire_hdr *h, const struct weft_control *c)
{
	struct sim_node *n = world;
	struct sim *s = n->sim;
	struct sim_frame *f = frame_new(s);

	f->hdr = *h;
	frame_address(f, h->dpid, n->pid, n->first_link_dir + port);
	weft_wire_build(f->data, &f->hdr);
	f->len = (uint32_t)(WEFT_WIRE_FLITS_OFF +
			    weft_control_build(f->data + WEFT_WIRE_FLITS_OFF, c));
	s->total.losses_told += c->count;
	link_dir_send(s, n->first_link_dir + port, frame_pack(s, f));
	return true;
}

const struct weft_node_world sim_world = {
	.random = world_random,
	.alloc = world_alloc,
	.free = world_free,
	.map = world_map,
	.unmap = world_unmap,
	.read_file = world_read_file,
	.link_cfg = world_link_cfg,
	.send_control = world_send_control,
};
