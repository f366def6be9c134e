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
	struct node_source source;
};

struct node_source *
load_source(const struct weft_node *n)
{
	struct mem_load *s = NODE_SERVICE_OF(n, mem_load);

	return s == NULL ? NULL : &s->source;
}

struct weft_traffic *
load_traffic(const struct weft_node *n)
{
	const struct mem_load *s = NODE_SERVICE_OF(n, mem_load);

	return s == NULL ? NULL : s->source.traffic;
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

static unsigned int
load_poll(struct weft_node *n, void *state, bool may_ask)
{
	struct mem_load *s = state;

	(void)n;
	(void)may_ask;
	source_may_begin(&s->source);
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

	if (s->source.is_changing || n->drain.holds)
		return -EAGAIN;
	rc = weft_traffic_next(s->source.traffic, n->now_ns, &rq);
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
	weft_traffic_complete(s->source.traffic, c);
	return true;
}

/* Where the lines of a host that translates are, its agent knows. */
static void
load_forget(struct weft_node *n, void *state, uint16_t dpid, enum weft_line_loss how,
	struct weft_node_memory *m)
{
	struct mem_load *s = state;

	m->forgotten += ats_translates(n) ? weft_traffic_forget(s->source.traffic, n->topo->pid,
						    WEFT_LINE_LOST_PARTLY)
	                                  : weft_traffic_forget(s->source.traffic, dpid, how);
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
	const uint64_t *c = weft_traffic_counts(((const struct mem_load *)state)->source.traffic);
	const uint64_t poisoned = load_expects_poison(n->cfg.topo) ? c[WEFT_TRAFFIC_N_POISONED] : 0;

	return c[WEFT_TRAFFIC_N_MISMATCHES] == 0 && c[WEFT_TRAFFIC_N_FAILED] == poisoned &&
	       c[WEFT_TRAFFIC_N_LOST] == 0;
}

static int
load_init(struct weft_node *n, void **state, char *err, size_t err_len)
{
	const struct weft_load_mem *tr = &n->load->mem;
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
	if (s != NULL) {
		/* Lines of the host's own in each segment. */
		s->source.lines = (struct source_lines){ .first = tr->first_line,
			.n = tr->lines,
			.unit = 1,
			.expect = n->cfg.topo->map.is_default ? NULL : load_answer };
		if (source_make(n, &cfg, &s->source, host_requester(n), &size))
			return 0;
	}
	return weft_errorf(err, err_len, -ENOMEM,
		"host %s: no room for the traffic's %zu bytes of state", n->topo->name, size);
}

static void
load_fini(struct weft_node *n, void *state)
{
	struct mem_load *s = state;

	node_free(n, s->source.traffic);
	node_free(n, s);
}

static unsigned int
load_counters(const struct weft_node *n, const void *state, struct weft_node_set *set)
{
	const struct mem_load *s = state;

	(void)n;
	*set = (struct weft_node_set){ NULL, "traffic", "traffic", weft_traffic_counters,
		weft_traffic_counts(s->source.traffic), WEFT_TRAFFIC_N_COUNTERS };
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
