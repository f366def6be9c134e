/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Fabrics that a manager is to make work, and what happens to them, as a seed draws them. */

#include "world.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

#define ONE_IN 6 /* seeds */
#define DRAW_SWITCHES 7
#define DRAW_HOSTS 5
#define DRAW_GFDS 4
#define LARGE_FANOUT 24 /* of the tree that a large fabric is */
#define LARGE_GFDS 16
#define LARGE_NODES 32 /* from so many on */

const char *const manager_words[] = { "some", "never", "always", "only", NULL };
enum { DRAW_SOME_SEEDS, DRAW_NEVER, DRAW_ALWAYS, DRAW_ONLY };

bool
manager_is_off(const struct sim_opt *o)
{
	return o->manager.which == DRAW_NEVER;
}

bool
manager_is_alone(const struct sim_opt *o)
{
	return o->manager.which == DRAW_ONLY;
}

/* A number of its own: what other seeds mean stays. */
bool
manager_is_wanted(const struct sim_opt *o, uint64_t seed)
{
	struct weft_rand r;

	if (o->manager.which == DRAW_ALWAYS || o->manager.which == DRAW_ONLY)
		return true;
	if (o->manager.which == DRAW_NEVER || o->topology != NULL || o->fabric != NULL || o->pace ||
		o->capture != NULL || o->has_impair)
		return false;
	weft_rand_seed(&r, seed ^ UINT64_C(0x3A4A6E));
	return weft_rand_below(&r, ONE_IN) == 0;
}

static uint64_t
draw_between(struct weft_rand *r, uint64_t least, uint64_t most)
{
	return least + weft_rand_below(r, most - least + 1);
}

/* As likely in each power of two. */
static uint64_t
draw_log(struct weft_rand *r, uint64_t least, uint64_t most)
{
	uint64_t top = least;

	while (top < most && weft_rand_below(r, 3) != 0)
		top *= 2;
	top = top > most ? most : top;
	return draw_between(r, top / 2 < least ? least : top / 2, top);
}

/* The text in the making. */
struct draw_text {
	FILE *nodes, *links;
	unsigned int n; /* nodes so far: a PID for each, behind those of managers */
};

static void
draw_node(struct draw_text *d, char letter, unsigned int i, const char *kind, unsigned int blocks)
{
	fprintf(d->nodes, "  - {name: %c%u, kind: %s, pid: %u", letter, i, kind, 16 + d->n++);
	if (blocks != 0)
		fprintf(d->nodes, ", memory: %uK", blocks * (MANAGER_BLOCK / 1024));
	fputs("}\n", d->nodes);
}

static void
draw_link(struct draw_text *d, char a, unsigned int i, char b, unsigned int j)
{
	fprintf(d->links, "  - {a: %c%u, b: %c%u, driver: ring}\n", a, i, b, j);
}

/* Switches in a tree of their own, more links between them, and ends at any of them. */
static void
draw_small(struct manager *m, struct draw_text *d)
{
	struct weft_rand *r = &m->rand;
	const unsigned int switches = (unsigned int)draw_between(r, 1, DRAW_SWITCHES);
	const unsigned int hosts = (unsigned int)draw_between(r, 1, DRAW_HOSTS);
	const unsigned int gfds = (unsigned int)draw_between(r, 1, DRAW_GFDS);
	const unsigned int more = (unsigned int)weft_rand_below(r, switches + 1);

	for (unsigned int i = 0; i < switches; i++) {
		draw_node(d, 's', i, "switch", 0);
		if (i != 0)
			draw_link(d, 's', i, 's', (unsigned int)weft_rand_below(r, i));
	}
	for (unsigned int i = 0; i < more && switches > 1; i++) {
		const unsigned int a = (unsigned int)weft_rand_below(r, switches);
		const unsigned int b = (unsigned int)weft_rand_below(r, switches - 1);

		draw_link(d, 's', a, 's', b + (b >= a));
	}
	for (unsigned int i = 0; i < hosts; i++) {
		draw_node(d, 'h', i, "host", 0);
		draw_link(d, 's', (unsigned int)weft_rand_below(r, switches), 'h', i);
	}
	for (unsigned int i = 0; i < gfds; i++) {
		draw_node(d, 'g', i, "gfd", (unsigned int)draw_between(r, 4, 24));
		draw_link(d, 's', (unsigned int)weft_rand_below(r, switches), 'g', i);
	}
}

static void
draw_large(struct draw_text *d, unsigned int nodes)
{
	const unsigned int gfds = nodes / 8 < LARGE_GFDS ? nodes / 8 : LARGE_GFDS;
	unsigned int switches = nodes / LARGE_FANOUT + 2;
	const unsigned int ends = nodes - switches;

	for (unsigned int i = 0; i < switches; i++) {
		draw_node(d, 's', i, "switch", 0);
		if (i != 0)
			draw_link(d, 's', i, 's', (i - 1) / LARGE_FANOUT);
	}
	for (unsigned int i = 0; i < ends; i++) {
		const bool is_gfd = i % (ends / gfds) == 0 && i / (ends / gfds) < gfds;

		draw_node(d, is_gfd ? 'g' : 'h', i, is_gfd ? "gfd" : "host",
			is_gfd ? MANAGER_BLOCKS : 0);
		draw_link(d, 's', i % switches, is_gfd ? 'g' : 'h', i);
	}
}

static void
draw_topology(struct manager *m)
{
	const struct sim_opt *o = m->s->opt;
	const bool is_cxl =
		o->mode >= 0 ? o->mode == WEFT_MODE_CXL : weft_rand_below(&m->rand, 2) == 0;
	char *nodes = NULL, *links = NULL;
	size_t n_len, l_len;
	struct draw_text d = { .nodes = open_memstream(&nodes, &n_len),
		.links = open_memstream(&links, &l_len) };
	struct weft_topo_error why;

	if (d.nodes == NULL || d.links == NULL)
		cli_fail("out of memory");
	m->plan.is_large = o->manager.nodes >= LARGE_NODES;
	fprintf(d.nodes, "fabric: managed\nmanagement: fm\nmode: %s\nnodes:\n",
		weft_mode_words[is_cxl && !m->plan.is_large ? WEFT_MODE_CXL : WEFT_MODE_RXL]);
	if (m->plan.is_large)
		draw_large(&d, (unsigned int)o->manager.nodes);
	else
		draw_small(m, &d);
	fclose(d.links);
	fprintf(d.nodes, "links:\n%s", links);
	fclose(d.nodes);
	if (weft_topo_parse(&m->topo, "managed", nodes, n_len, &why) != 0)
		cli_fail("seed %llu: %s", (unsigned long long)m->s->seed, why.text);
	free(nodes);
	free(links);
}

/* The network is as it should be in some seeds: then what fails is elsewhere. */
static void
draw_net(struct weft_rand *r, struct manager_plan *p)
{
	p->delay_ns = draw_log(r, 10 * US, 2 * MS);
	p->late_ns = p->timeout_ns * draw_between(r, 1, 4);
	if (weft_rand_below(r, 3) == 0)
		return;
	p->lost = weft_rand_below(r, 2) == 0 ? (unsigned int)draw_log(r, 1, 120) : 0;
	p->repeated = weft_rand_below(r, 2) == 0 ? (unsigned int)draw_log(r, 1, 200) : 0;
	p->late = weft_rand_below(r, 2) == 0 ? (unsigned int)draw_log(r, 1, 60) : 0;
}

static void
draw_plan(struct manager *m)
{
	struct weft_rand *r = &m->rand;
	struct manager_plan *p = &m->plan;

	p->poll_ns = draw_log(r, 10 * MS, 100 * MS);
	p->timeout_ns = draw_log(r, 20 * MS, 500 * MS);
	p->retry_ns = draw_log(r, 50 * MS, 500 * MS);
	p->drain_ns = draw_log(r, 20 * MS, 100 * MS);
	draw_net(r, p);
	p->hop_ns = draw_log(r, 1 * US, 500 * US);
	p->gap_ns = draw_log(r, 1 * MS, 16 * MS);
	p->turn_ns = weft_rand_below(r, 2) == 0 ? draw_log(r, 10 * US, 1 * MS) : 0;
	p->phase_ns = draw_log(r, 500 * MS, 6 * SEC);
	p->fault_gap_ns = weft_rand_below(r, 5) == 0 ? 0 : draw_log(r, 50 * MS, 1 * SEC);
	p->fault_ns = draw_log(r, 10 * MS, 2 * SEC);
	p->wish_gap_ns = draw_log(r, 20 * MS, 400 * MS);
	p->has_peer = weft_rand_below(r, 3) == 0;
	if (p->is_large) {
		p->turn_ns = 500 * US;
		p->phase_ns = 2 * SEC;
		p->gap_ns = 500 * MS;
		p->poll_ns = 100 * MS;
		p->timeout_ns = 500 * MS;
		p->fault_gap_ns = 200 * MS;
	}
	if (m->s->opt->calm) {
		p->fault_gap_ns = 0;
		p->lost = p->repeated = p->late = 0;
	}
}

void
manager_draw(struct manager *m)
{
	weft_rand_seed(&m->rand, m->s->seed ^ UINT64_C(0x3A4A6E0001));
	draw_topology(m);
	draw_plan(m);
}
