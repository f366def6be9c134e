/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Sources of traffic: which lines of the fabric's memory are whose. */

#include "node_priv.h"

#include <errno.h>

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
 * The node's own lines of a segment. A node without a right to any of them sends to the first
 * lines, which belong to another node: that owner would notice a write wrongly carried out.
 */
static struct weft_traffic_target
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

uint64_t
node_timeout_ns(const struct weft_node *n, bool loads, uint32_t load_ms)
{
	if (!loads && n->cfg.rules->timeout_ns != 0)
		return n->cfg.rules->timeout_ns;
	return (loads ? load_ms : WEFT_LOAD_TIMEOUT_MS) * UINT64_C(1000000);
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

/* Segments whose memory the node's load is for, in their order. */
static uint32_t
source_segments(const struct weft_node *n, const struct weft_topo *t, uint16_t *segment)
{
	uint32_t used = 0;

	for (uint16_t s = 0; s < t->map.n_segments; s++)
		if (node_loads(n, t->map.target[t->map.segment[s].first_target].node))
			segment[used++] = s;
	return used;
}

static void
source_targets(struct weft_node *n, struct weft_traffic_cfg *cfg, const struct source_lines *l,
	struct weft_traffic_target *target, uint16_t *segment)
{
	const struct weft_topo *t = n->cfg.topo;

	cfg->targets = target;
	if (n->topo->translates) {
		cfg->n_targets = source_translated_targets(n, target);
		return;
	}
	cfg->n_targets = source_segments(n, t, segment);
	for (uint32_t i = 0; i < cfg->n_targets; i++)
		target[i] = source_target(n, t, &t->map.segment[segment[i]], l);
}

bool
source_make(struct weft_node *n, struct weft_traffic_cfg *cfg, struct node_source *s,
	struct weft_requester *r, size_t *size)
{
	const struct weft_topo *t = n->cfg.topo;
	const struct source_lines *l = &s->lines;
	const size_t most = (size_t)t->map.n_segments + t->translations.n;
	struct weft_traffic_target *target = node_alloc(n, most * sizeof(*target));
	uint16_t *segment = node_alloc(n, (t->map.n_segments + 1u) * sizeof(*segment));
	struct source_place place = { n, l };
	void *mem = NULL;

	*size = 0;
	if (n->hop == NULL)
		n->hop = node_alloc(n, t->n_nodes * sizeof(*n->hop));
	if (target != NULL && segment != NULL && n->hop != NULL) {
		source_targets(n, cfg, l, target, segment);
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
	s->traffic = mem == NULL ? NULL : weft_traffic_init(mem, cfg, r);
	s->may_begin = t->access.management == WEFT_TOPO_MANAGED_BY_FILE;
	s->is_changing = !s->may_begin;
	node_free(n, segment);
	node_free(n, target);
	return s->traffic != NULL;
}

/* --- changes of rights --- */

struct source_change {
	struct weft_traffic_change change;
	struct weft_traffic_target *targets; /* these two: NULL: nothing changes */
	struct weft_traffic_unit_change *units;
};

struct weft_node_change {
	struct source_change mem, uio;
};

static void
source_change_free(const struct weft_node *n, struct source_change *c)
{
	node_free(n, c->targets);
	node_free(n, c->units);
	*c = (struct source_change){ .targets = NULL };
}

void
weft_node_change_free(const struct weft_node *n, struct weft_node_change *c)
{
	if (c == NULL)
		return;
	source_change_free(n, &c->mem);
	source_change_free(n, &c->uio);
	node_free(n, c);
}

/* Segments in which it has lines: those that came while the fabric runs stand behind them. */
static uint32_t
source_targets_now(const struct node_source *s)
{
	return (uint32_t)(weft_traffic_units(s->traffic) / (s->lines.n / s->lines.unit));
}

/* A node that had no right to a segment goes to lines of its own there with its first. */
static bool
source_change_targets(const struct weft_node *n, const struct weft_topo *t,
	const struct node_source *s, const uint16_t *segment, struct source_change *c)
{
	const struct weft_traffic_target *now = weft_traffic_targets(s->traffic);
	const uint32_t targets = source_targets_now(s);
	bool is_moved = false;

	for (uint32_t i = 0; i < targets; i++) {
		const struct weft_topo_segment *of = &t->map.segment[segment[i]];

		c->targets[i] = now[i];
		if (now[i].hpa_base == of->base)
			c->targets[i] = source_target(n, t, of, &s->lines);
		is_moved |= c->targets[i].hpa_base != now[i].hpa_base;
	}
	return is_moved;
}

static bool
source_change_units(struct weft_node *n, const struct node_source *s, const struct weft_topo *now,
	const struct weft_topo *next, bool (*is_stopped)(void), struct source_change *c)
{
	const uint64_t total = weft_traffic_units(s->traffic);
	const uint64_t of_target = s->lines.n / s->lines.unit;
	bool is_changed = false;

	for (uint64_t i = 0; i < total && !is_stopped(); i++) {
		const uint64_t line = i % of_target * s->lines.unit;
		const uint64_t hpa = c->targets[i / of_target].hpa_base + line * WEFT_MSG_DATA_LEN;
		struct weft_traffic_unit_change *u = &c->units[i];

		u->before = (uint8_t)s->lines.expect(n, now, hpa, &u->dpid);
		u->after = (uint8_t)s->lines.expect(n, next, hpa, &u->dpid);
		/* What a manager gives was wiped when it was taken, if it ever was. */
		u->is_wiped = next->access.management == WEFT_TOPO_MANAGED_BY_FM &&
		              u->before != WEFT_EXPECT_DATA && u->after == WEFT_EXPECT_DATA;
		is_changed |= u->before != u->after;
	}
	return is_changed;
}

static int
source_prepare(struct weft_node *n, const struct node_source *s, const struct weft_topo *now,
	const struct weft_topo *next, bool (*is_stopped)(void), struct source_change *c)
{
	uint16_t *segment;
	bool is_changed;

	if (s == NULL)
		return 0;
	segment = node_alloc(n, (next->map.n_segments + 1u) * sizeof(*segment));
	c->targets = node_alloc(n, (next->map.n_segments + 1u) * sizeof(*c->targets));
	c->units = node_alloc(n, weft_traffic_units(s->traffic) * sizeof(*c->units));
	if (segment == NULL || c->targets == NULL || c->units == NULL) {
		node_free(n, segment);
		return -ENOMEM;
	}
	c->change = (struct weft_traffic_change){ c->targets, c->units };
	source_segments(n, next, segment);
	is_changed = source_change_targets(n, next, s, segment, c);
	is_changed |= source_change_units(n, s, now, next, is_stopped, c);
	node_free(n, segment);
	if (!is_changed)
		source_change_free(n, c);
	return 0;
}

int
weft_node_prepare(struct weft_node *n, const struct weft_topo *now, const struct weft_topo *next,
	bool (*is_stopped)(void), struct weft_node_change **out)
{
	struct weft_node_change *c;
	int rc;

	*out = NULL;
	if (n->cfg.topo->map.is_default || (load_source(n) == NULL && uio_source(n) == NULL))
		return 0;
	c = node_alloc(n, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	rc = source_prepare(n, load_source(n), now, next, is_stopped, &c->mem);
	if (rc == 0)
		rc = source_prepare(n, uio_source(n), now, next, is_stopped, &c->uio);
	if (rc == 0 && (c->mem.units != NULL || c->uio.units != NULL)) {
		*out = c;
		return 0;
	}
	weft_node_change_free(n, c);
	return rc;
}

static void
source_change_hand(struct node_source *s, const struct source_change *c)
{
	const bool is_changed = c != NULL && c->units != NULL;

	if (s != NULL)
		__atomic_store_n(&s->change, is_changed ? &c->change : NULL, __ATOMIC_RELEASE);
}

void
weft_node_change(struct weft_node *n, struct weft_node_change *c)
{
	source_change_hand(load_source(n), c == NULL ? NULL : &c->mem);
	source_change_hand(uio_source(n), c == NULL ? NULL : &c->uio);
}

static bool
source_is_changing(const struct node_source *s)
{
	return s != NULL && __atomic_load_n(&s->change, __ATOMIC_ACQUIRE) != NULL;
}

bool
weft_node_is_changing(const struct weft_node *n)
{
	return source_is_changing(load_source(n)) || source_is_changing(uio_source(n));
}

void
weft_node_begin_load(struct weft_node *n)
{
	struct node_source *const of[] = { load_source(n), uio_source(n) };

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(of); i++)
		if (of[i] != NULL)
			__atomic_store_n(&of[i]->may_begin, true, __ATOMIC_RELEASE);
}

bool
source_may_begin(struct node_source *s)
{
	const struct weft_traffic_change *c = __atomic_load_n(&s->change, __ATOMIC_ACQUIRE);

	const bool waits = c != NULL && weft_traffic_change(s->traffic, c) != 0;

	if (c != NULL && !waits)
		__atomic_store_n(&s->change, NULL, __ATOMIC_RELEASE);
	s->is_changing = waits || !__atomic_load_n(&s->may_begin, __ATOMIC_ACQUIRE);
	return !s->is_changing;
}
