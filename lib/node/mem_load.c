/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Load of a host by CXL.mem: reads and writes lines of its own in all segments, and checks what
 * comes back.
 */

#include "node_priv.h"

#include <errno.h>
#include <stdio.h>

#include "weft_resolve.h"

struct mem_load {
	struct weft_traffic *traffic;
	/* set by the control thread; NULL again once it is taken */
	struct weft_node_change *change;
	bool is_changing; /* it waits for open requests */
};

struct weft_node_change {
	struct weft_traffic_change change;
	struct weft_traffic_target *targets;
	struct weft_traffic_unit_change *units;
};

struct weft_traffic *
load_traffic(const struct weft_node *n)
{
	const struct mem_load *s = NODE_SERVICE_OF(n, mem_load);

	return s == NULL ? NULL : s->traffic;
}

/* Who answers at an address by @p t, and how. Uses n->hop. */
static enum weft_expect
load_answer(const struct weft_node *n, const struct weft_topo *t, uint64_t hpa, uint16_t *dpid)
{
	struct weft_resolve_xlat x;
	struct weft_resolve r;

	*dpid = n->topo->pid;
	if (weft_resolve_from(t, n->cfg.index, hpa, false, &x, &r, n->hop) != 0)
		return WEFT_EXPECT_NXM;
	if (x.rule != NULL && (x.rule->rights & WEFT_TOPO_R) == 0)
		return WEFT_EXPECT_NXM;
	/*
	 * Record the target even if blocked now: rights may change. Translations resolve it later.
	 */
	if (!n->topo->translates && r.target != WEFT_RESOLVE_NONE &&
		t->node[r.target].kind == WEFT_TOPO_GFD)
		*dpid = r.dpid;
	if (x.rule != NULL && x.rule->rights == WEFT_TOPO_R && r.rule == WEFT_RESOLVE_ALLOWED)
		return WEFT_EXPECT_READ_ONLY;
	if (r.rule == WEFT_RESOLVE_ALLOWED)
		return WEFT_EXPECT_DATA;
	return r.rule == WEFT_RESOLVE_DENIED || r.rule == WEFT_RESOLVE_NO_GROUP ? WEFT_EXPECT_ONES
	                                                                        : WEFT_EXPECT_NXM;
}

/* Lines of the host's own in each segment. */
static struct source_lines
load_lines(const struct weft_node *n, const struct weft_topo *t)
{
	return (struct source_lines){
		.first = n->load->mem.first_line,
		.n = n->load->mem.lines,
		.unit = 1,
		.expect = t->map.is_default ? NULL : load_answer,
	};
}

void
weft_node_change_free(const struct weft_node *n, struct weft_node_change *c)
{
	if (c == NULL)
		return;
	node_free(n, c->targets);
	node_free(n, c->units);
	node_free(n, c);
}

static struct weft_node_change *
load_alloc_change(const struct weft_node *n, size_t targets, size_t units)
{
	struct weft_node_change *c = node_alloc(n, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->targets = node_alloc(n, targets * sizeof(*c->targets));
	c->units = node_alloc(n, units * sizeof(*c->units));
	c->change = (struct weft_traffic_change){ c->targets, c->units };
	if (c->targets != NULL && c->units != NULL)
		return c;
	weft_node_change_free(n, c);
	return NULL;
}

/* A host that had no right to a segment goes to lines of its own there with its first. */
static bool
load_change_targets(
	const struct weft_node *n, const struct weft_topo *t, struct weft_node_change *c)
{
	const struct weft_traffic_target *now = weft_traffic_targets(load_traffic(n));
	const struct source_lines lines = load_lines(n, t);
	bool is_moved = false;

	for (unsigned int s = 0; s < n->cfg.topo->map.n_segments; s++) {
		c->targets[s] = now[s];
		if (now[s].hpa_base == t->map.segment[s].base)
			c->targets[s] = source_target(n, t, &t->map.segment[s], &lines);
		is_moved |= c->targets[s].hpa_base != now[s].hpa_base;
	}
	return is_moved;
}

int
weft_node_prepare(struct weft_node *n, const struct weft_topo *now, const struct weft_topo *t,
	bool (*is_stopped)(void), struct weft_node_change **out)
{
	const struct weft_traffic *traffic = load_traffic(n);
	const uint64_t lines = n->load->mem.lines;
	uint64_t total;
	struct weft_node_change *c;
	bool is_changed;

	*out = NULL;
	if (traffic == NULL || n->cfg.topo->map.is_default)
		return 0;
	total = weft_traffic_units(traffic);
	c = load_alloc_change(n, n->cfg.topo->map.n_segments, total);
	if (c == NULL)
		return -ENOMEM;
	is_changed = load_change_targets(n, t, c);
	for (uint64_t i = 0; i < total && !is_stopped(); i++) {
		const uint64_t hpa = c->targets[i / lines].hpa_base + i % lines * WEFT_MSG_DATA_LEN;
		struct weft_traffic_unit_change *l = &c->units[i];

		l->before = (uint8_t)load_answer(n, now, hpa, &l->dpid);
		l->after = (uint8_t)load_answer(n, t, hpa, &l->dpid);
		is_changed |= l->before != l->after;
	}
	if (is_changed)
		*out = c;
	else
		weft_node_change_free(n, c);
	return 0;
}

void
weft_node_change(struct weft_node *n, struct weft_node_change *c)
{
	struct mem_load *s = NODE_SERVICE_OF(n, mem_load);

	if (s != NULL)
		__atomic_store_n(&s->change, c, __ATOMIC_RELEASE);
}

bool
weft_node_is_changing(const struct weft_node *n)
{
	const struct mem_load *s = NODE_SERVICE_OF(n, mem_load);

	return s != NULL && __atomic_load_n(&s->change, __ATOMIC_ACQUIRE) != NULL;
}

/*
 * A change of rights: requests that are open end first, then it is known which answers are right.
 */
static unsigned int
load_poll(struct weft_node *n, void *state, bool may_ask)
{
	struct mem_load *s = state;
	const struct weft_node_change *c = __atomic_load_n(&s->change, __ATOMIC_ACQUIRE);

	(void)n;
	(void)may_ask;
	s->is_changing = c != NULL && weft_traffic_change(s->traffic, &c->change) != 0;
	if (c != NULL && !s->is_changing)
		__atomic_store_n(&s->change, NULL, __ATOMIC_RELEASE);
	return 0;
}

static uint32_t
load_tags(const struct weft_node *n)
{
	return n->load->has_mem ? n->load->mem.outstanding : 0;
}

static int
load_next(struct weft_node *n, void *state, struct weft_msg *m)
{
	struct mem_load *s = state;
	struct weft_request rq;
	int rc;

	if (s->is_changing)
		return -EAGAIN;
	rc = weft_traffic_next(s->traffic, n->now_ns, &rq);
	if (rc != 0)
		return rc;
	weft_mem_request(host_requester(n), &rq, m);
	if (n->cfg.watch != NULL)
		n->cfg.watch->begun(n->cfg.world_arg, n, &rq);
	return 0;
}

static bool
load_complete(struct weft_node *n, void *state, const struct weft_completion *c)
{
	struct mem_load *s = state;

	if (n->cfg.watch != NULL)
		n->cfg.watch->ended(n->cfg.world_arg, n, c);
	weft_traffic_complete(s->traffic, c);
	return true;
}

/* Where the lines of a host that translates are, its agent knows. */
static void
load_forget(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
	struct weft_node_memory *m)
{
	struct mem_load *s = state;

	m->forgotten += ats_translates(n) ? weft_traffic_forget(
						    s->traffic, n->topo->pid, WEFT_LINE_LOST_PARTLY)
	                                  : weft_traffic_forget(s->traffic, dpid, how);
}

/* Poison is what a fabric whose GFDs have late poison promises; anywhere else it is a fault. */
static bool
load_expects_poison(const struct weft_topo *t)
{
	for (uint16_t i = 0; i < t->n_gfds; i++)
		if (t->node[t->gfd[i]].late_poison > 0)
			return true;
	return false;
}

static bool
load_is_good(const struct weft_node *n, const void *state)
{
	const uint64_t *c = weft_traffic_counts(((const struct mem_load *)state)->traffic);
	const uint64_t poisoned = load_expects_poison(n->cfg.topo) ? c[WEFT_TRAFFIC_N_POISONED] : 0;

	return c[WEFT_TRAFFIC_N_MISMATCHES] == 0 && c[WEFT_TRAFFIC_N_FAILED] == poisoned &&
	       c[WEFT_TRAFFIC_N_LOST] == 0;
}

static int
load_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	const struct weft_load_mem *tr = &n->load->mem;
	const struct source_lines lines = load_lines(n, n->cfg.topo);
	struct weft_traffic_cfg cfg = {
		.seed = tr->seed,
		.requests = tr->requests == 0 ? UINT64_MAX : tr->requests,
		.outstanding = tr->outstanding,
		.rate = tr->rate,
		.writer = n->topo->order,
		.request_lines = 1,
		.write_percent = tr->write_percent,
	};
	struct mem_load *s;
	size_t size = sizeof(*s);

	if (!n->load->has_mem)
		return 0;
	*state = s = node_alloc(n, sizeof(*s));
	if (s != NULL)
		s->traffic = source_make(n, &cfg, &lines, host_requester(n), &size);
	if (s != NULL && s->traffic != NULL)
		return 0;
	return weft_errorf(err, err_len, -ENOMEM,
		"host %s: no room for the traffic's %zu bytes of state", n->topo->name, size);
}

static void
load_fini(struct weft_node *n, void *state)
{
	struct mem_load *s = state;

	node_free(n, s->traffic);
	node_free(n, s);
}

static unsigned int
load_counters(const struct weft_node *n, const void *state, struct weft_node_set *set)
{
	const struct mem_load *s = state;

	(void)n;
	*set = (struct weft_node_set){ NULL, "traffic", "traffic", weft_traffic_counters,
		weft_traffic_counts(s->traffic), WEFT_TRAFFIC_N_COUNTERS };
	return 1;
}

const struct weft_node_service node_mem_load = {
	.name = "mem",
	.init = load_init,
	.fini = load_fini,
	.tags = load_tags,
	.next = load_next,
	.complete = load_complete,
	.forget = load_forget,
	.poll = load_poll,
	.is_good = load_is_good,
	.counters = load_counters,
};
