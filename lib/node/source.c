/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Sources of traffic: which lines of the fabric's memory are whose. */

#include "node_priv.h"

#include "weft_resolve.h"

/* None of the lines from @p hpa on may be reached. */
static bool
source_lines_are_closed(const struct weft_node *n, const struct weft_topo *t,
	const struct source_lines *l, uint64_t hpa)
{
	uint16_t dpid;

	for (uint64_t i = 0; i < l->n; i += l->unit)
		if (l->expect(n, t, hpa + i * WEFT_MSG_DATA_LEN, &dpid) == WEFT_EXPECT_DATA)
			return false;
	return true;
}

/*
 * The node's own lines of a segment. Where it may reach nothing it asks for the first ones, which
 * are another's: were one of its writes done, their owner would see it.
 */
struct weft_traffic_target
source_target(const struct weft_node *n, const struct weft_topo *t,
	const struct weft_topo_segment *s, const struct source_lines *l)
{
	const uint64_t own = l->first * WEFT_MSG_DATA_LEN;
	struct weft_traffic_target target = {
		.hpa_base = s->base,
		.len_bytes = s->size,
		.dpid = t->node[t->map.target[s->first_target].node].pid,
	};

	if (l->expect == NULL || !source_lines_are_closed(n, t, l, s->base + own) ||
		!source_lines_are_closed(n, t, l, s->base)) {
		target.hpa_base += own;
		target.len_bytes = s->size > own ? s->size - own : 0;
	}
	return target;
}

uint32_t
source_tags(uint32_t outstanding)
{
	uint32_t tags = 1;

	while (tags < outstanding)
		tags *= 2;
	return tags;
}

/*
 * The translations of a host that goes by them; where a line is in the fabric changes all the time.
 */
static uint32_t
source_translated_targets(struct weft_node *n, struct weft_traffic_target *target)
{
	const struct weft_topo *t = n->cfg.topo;
	uint32_t used = 0;

	for (unsigned int i = 0; i < t->translations.n; i++)
		if (t->translations.entry[i].host == n->cfg.index)
			target[used++] = (struct weft_traffic_target){
				.hpa_base = t->translations.entry[i].va,
				.len_bytes = t->translations.entry[i].size,
				.dpid = n->topo->pid,
			};
	return used;
}

struct source_place {
	const struct weft_node *n;
	const struct source_lines *lines;
};

static enum weft_expect
source_expect(void *arg, uint64_t hpa, uint16_t *dpid)
{
	const struct source_place *p = arg;

	return p->lines->expect(p->n, p->n->cfg.topo, hpa, dpid);
}

struct weft_traffic *
source_make(struct weft_node *n, struct weft_traffic_cfg *cfg, const struct source_lines *l,
	struct weft_requester *r, size_t *size)
{
	const struct weft_topo *t = n->cfg.topo;
	const size_t most = (size_t)t->map.n_segments + t->translations.n;
	struct weft_traffic_target *target = node_alloc(n, most * sizeof(*target));
	struct source_place place = { n, l };
	struct weft_traffic *source = NULL;
	void *mem = NULL;

	*size = 0;
	if (n->hop == NULL)
		n->hop = node_alloc(n, t->n_nodes * sizeof(*n->hop));
	if (target != NULL && n->hop != NULL) {
		if (n->topo->translates)
			cfg->n_targets = source_translated_targets(n, target);
		for (uint16_t s = 0; !n->topo->translates && s < t->map.n_segments; s++)
			if (node_loads(n, t->map.target[t->map.segment[s].first_target].node))
				target[cfg->n_targets++] =
					source_target(n, t, &t->map.segment[s], l);
		cfg->targets = target;
		cfg->lines = (uint32_t)l->n;
		cfg->unit_lines = l->unit;
		cfg->expect = l->expect == NULL ? NULL : source_expect;
		cfg->expect_arg = &place;
		cfg->run = n->cfg.run;
		cfg->write_quarantine_ns = n->cfg.rules->late_write_ns;
		*size = weft_traffic_size(cfg);
	}
	if (*size != 0)
		mem = node_alloc(n, *size);
	if (mem != NULL)
		source = weft_traffic_init(mem, cfg, r);
	node_free(n, target);
	return source;
}
