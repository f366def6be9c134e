/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of rights: a GFD serves what the file whose tables it has lets it serve, and nothing
 * else reaches its memory. It reads the topology itself, as none of the code that it judges does.
 */

#include "update.h"

#include <string.h>

#define GRANULE_LOG2 8 /* the least that takes turns */
#define OUTSIDE UINT64_MAX

uint64_t
rights_place(const struct weft_topo *t, uint16_t gfd, uint64_t hpa)
{
	for (unsigned int i = 0; i < t->map.n_segments; i++) {
		const struct weft_topo_segment *s = &t->map.segment[i];
		const uint64_t granule = UINT64_C(1) << (GRANULE_LOG2 + s->gran);
		const uint64_t ways = UINT64_C(1) << s->ways_log2;
		const uint64_t off = hpa - s->base;
		const struct weft_topo_target *to =
			&t->map.target[s->first_target + off / granule % ways];

		if (hpa >= s->base && off < s->size)
			return to->node != gfd
			               ? OUTSIDE
			               : to->dpa + off / granule / ways * granule + off % granule;
	}
	return OUTSIDE;
}

bool
rights_may(const struct weft_topo *t, const struct sim_node *from, uint16_t gfd, uint64_t dpa)
{
	for (unsigned int i = 0; i < t->access.n_ranges; i++) {
		const struct weft_topo_range *r = &t->access.range[i];

		if (r->gfd == gfd && dpa >= r->base && dpa - r->base < r->size)
			return (t->node[from->index].access >> r->group & 1) != 0;
	}
	return false;
}

void
rights_executes(struct sim_end *e, const struct weft_msg *m)
{
	const struct sim_node *gfd = e->node;
	const struct sim_node *from = m->spid < WEFT_PIDS ? gfd->sim->by_pid[m->spid] : NULL;
	const bool is_write = m->kind == WEFT_MSG_M2S_RWD;
	struct sim_update *u = gfd->sim->faults.update;
	struct rights_case *c;
	uint64_t dpa;

	if (u == NULL || gfd->access == NULL || from == NULL)
		return;
	c = &u->rights;
	c->line = NULL;
	dpa = rights_place(u->node[gfd->index].by, gfd->index, m->addr);
	if (dpa == OUTSIDE)
		return;
	c->may = rights_may(u->node[gfd->index].by, from, gfd->index, dpa);
	/* A write of some bytes that is served is its source's to judge. */
	if (c->may && is_write && m->op != WEFT_M2S_RWD_MEMWR)
		return;
	c->line = gfd->gfd.memory + dpa - dpa % WEFT_MSG_DATA_LEN;
	memcpy(c->want, is_write && c->may ? m->data : c->line, sizeof(c->want));
	if (!is_write && !c->may)
		memset(c->want, 0xFF, sizeof(c->want));
}

void
rights_answered(struct sim_end *e, const struct weft_msg *answer)
{
	struct sim_update *u = e->node->sim->faults.update;
	struct rights_case *c;

	if (u == NULL || u->rights.line == NULL)
		return;
	c = &u->rights;
	if (memcmp(answer->kind == WEFT_MSG_S2M_DRS ? answer->data : c->line, c->want,
		    sizeof(c->want)) != 0)
		violation(e->node->sim, "gfd %u %s node %u, which may%s", e->node->pid,
			c->may ? "refuses" : "serves", answer->dpid, c->may ? "" : " not");
	c->line = NULL;
}
