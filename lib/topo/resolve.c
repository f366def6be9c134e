/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * An address, step by step: FAST and IDT at the edge, access vector, routes, decoder of the GFD,
 * group, rights (fabric.md section 1.12). resolve_edge_decode() and resolve_gfd_decode() hold all
 * the arithmetic of interleaving, beside that of lib/fabric, on purpose: hosts of weftd hold their
 * tables against what is said here, so it must not ask them.
 */

#include <errno.h>

#include "topo_priv.h"
#include "weft_resolve.h"

static const struct {
	const char *word;
	const char *text;
	const char *read;
	const char *write;
	const char *uio;
} rules[WEFT_RESOLVE_RULES] = {
	[WEFT_RESOLVE_ALLOWED] = { "allowed",
		"the group, window or device is open to the requester", "MemData", "Cmp",
		"completion" },
	[WEFT_RESOLVE_GIM] = { "gim", "the host offers no memory", "-", "-", "UR" },
	[WEFT_RESOLVE_NO_DECODE] = { "no-decode", "no segment holds the address", "MemData-NXM",
		"Cmp, not written", "UR" },
	[WEFT_RESOLVE_GIM_UIO_ONLY] = { "gim-uio-only",
		"memory of another host or device can be reached by UIO only", "MemData-NXM",
		"Cmp, not written", "-" },
	[WEFT_RESOLVE_GIM_SELF] = { "gim-self", "the memory is the requester's own", "MemData-NXM",
		"Cmp, not written", "UR" },
	[WEFT_RESOLVE_VECTOR] = { "access-vector",
		"no group of the gfd is open to the requester: its edge port stops it",
		"MemData-NXM", "Cmp, not written", "UR" },
	[WEFT_RESOLVE_NO_ROUTE] = { "no-route", "the row of a routing table is invalid",
		"none, dropped", "none, dropped", "none, dropped" },
	[WEFT_RESOLVE_NO_HIT] = { "no-hit", "behind the gfd's part of the segment", "MemData-NXM",
		"Cmp, not written", "UR" },
	[WEFT_RESOLVE_NO_GROUP] = { "no-group", "the memory is in no group", "MemData, all ones",
		"Cmp, not written", "CA" },
	[WEFT_RESOLVE_DENIED] = { "sat-denied", "the group is closed to the requester",
		"MemData, all ones", "Cmp, not written", "CA" },
	[WEFT_RESOLVE_VTV] = { "vtv",
		"the target is not in the VTV of the requester's port, which stops it", "-", "-",
		"UR" },
	[WEFT_RESOLVE_LAV] = { "lav",
		"the target is not in the LAV of the requester's port, which stops it", "-", "-",
		"UR" },
	[WEFT_RESOLVE_EGRESS] = { "egress-prefix", "the target's port adds no prefix", "-", "-",
		"UR" },
	[WEFT_RESOLVE_NO_WINDOW] = { "no-window", "the memory is in no window", "-", "-", "CA" },
	[WEFT_RESOLVE_WINDOW] = { "window-denied", "the window is closed to the requester", "-",
		"-", "CA" },
	[WEFT_RESOLVE_ANSWER] = { "answer-vtv",
		"done, but the requester is not in the VTV of the target's port, which drops the "
		"answer",
		"-", "-", "none, dropped" },
	[WEFT_RESOLVE_NO_TRANSLATION] = { "no-translation",
		"the translation agent of the host has none for the address", "MemData-NXM",
		"Cmp, not written", "-" },
};

bool
weft_resolve_is_allowed(enum weft_resolve_rule rule)
{
	return rule == WEFT_RESOLVE_ALLOWED || rule == WEFT_RESOLVE_ANSWER;
}

const char *
weft_resolve_word(enum weft_resolve_rule rule)
{
	return rule < WEFT_RESOLVE_RULES ? rules[rule].word : "unknown";
}

const char *
weft_resolve_text(enum weft_resolve_rule rule)
{
	return rule < WEFT_RESOLVE_RULES ? rules[rule].text : "unknown";
}

const char *
weft_resolve_answer(enum weft_resolve_rule rule, bool uio, bool write)
{
	if (rule >= WEFT_RESOLVE_RULES)
		return "unknown";
	if (uio)
		return rules[rule].uio;
	return write ? rules[rule].write : rules[rule].read;
}

static void
resolve_begin(const struct weft_topo *t, unsigned int from, struct weft_resolve *r)
{
	*r = (struct weft_resolve){
		.segment = WEFT_RESOLVE_NONE,
		.way = WEFT_RESOLVE_NONE,
		.spid = t->node[from].pid,
		.dpid = WEFT_RESOLVE_NONE,
		.target = WEFT_RESOLVE_NONE,
		.decoder = WEFT_RESOLVE_NONE,
		.group = WEFT_RESOLVE_NONE,
		.window = WEFT_RESOLVE_NONE,
	};
}

/* Segment, way and DPID of an address, as an edge port finds them. */
static bool
resolve_edge_decode(const struct weft_topo *t, uint64_t hpa, struct weft_resolve *r)
{
	const uint64_t base = weft_topo_fast_base(t);
	const struct weft_topo_segment *s;

	if (hpa < base || (hpa - base) >> t->map.segment_log2 >= t->map.n_segments)
		return false;
	r->segment = (uint16_t)((hpa - base) >> t->map.segment_log2);
	s = &t->map.segment[r->segment];
	r->way = (uint16_t)(hpa >> (8 + s->gran) & ((1u << s->ways_log2) - 1));
	r->target = t->map.target[s->first_target + r->way].node;
	r->dpid = t->node[r->target].pid;
	return true;
}

/* Decoder and address in the GFD: the bits of the way are cut out. */
static bool
resolve_gfd_decode(const struct weft_topo *t, uint64_t hpa, struct weft_resolve *r)
{
	const struct weft_topo_segment *s = &t->map.segment[r->segment];
	const struct weft_topo_target *target = &t->map.target[s->first_target + r->way];
	const unsigned int g = 8u + s->gran;
	const uint64_t off = hpa - s->base;
	const uint64_t cut = off >> (g + s->ways_log2) << g | (off & ((UINT64_C(1) << g) - 1));

	if (cut >= s->size >> s->ways_log2)
		return false;
	r->decoder = target->decoder;
	r->dpa = target->dpa + cut;
	return true;
}

/* Where a manager gives out memory, GFDs alone decide who has it. */
static bool
resolve_edge_allows(const struct weft_topo *t, unsigned int from, unsigned int gfd)
{
	if (t->access.management == WEFT_TOPO_MANAGED_BY_FM)
		return true;
	for (unsigned int i = 0; i < t->access.n_ranges; i++)
		if (t->access.range[i].gfd == gfd &&
			(t->node[from].access >> t->access.range[i].group & 1) != 0)
			return true;
	return false;
}

static bool
resolve_find_group(const struct weft_topo *t, struct weft_resolve *r)
{
	for (unsigned int i = 0; i < t->access.n_ranges; i++) {
		if (t->access.range[i].gfd != r->target || r->dpa < t->access.range[i].base ||
			r->dpa - t->access.range[i].base >= t->access.range[i].size)
			continue;
		r->group = t->access.range[i].group;
		return true;
	}
	return false;
}

static bool
resolve_walk(const struct weft_topo *t, unsigned int from, struct weft_resolve *r,
	struct weft_resolve_hop *hop)
{
	int16_t in = -1;

	for (unsigned int at = from;;) {
		const int out = at == r->target ? -1 : topo_next_port(t, at, r->target);
		const struct weft_topo_port *port;

		hop[r->n_hops++] = (struct weft_resolve_hop){ (uint16_t)at, in, (int16_t)out };
		if (out < 0 || r->n_hops == t->n_nodes)
			return at == r->target;
		port = &t->port[t->node[at].first_port + out];
		at = t->port[port->peer].node;
		in = (int16_t)(port->peer - t->node[at].first_port);
	}
}

/* A host's windows decide. */
static enum weft_resolve_rule
resolve_host_decide(
	const struct weft_topo *t, unsigned int from, uint64_t hpa, struct weft_resolve *r)
{
	const struct weft_topo_node *host = &t->node[r->target];

	if (host->gim == 0)
		return WEFT_RESOLVE_GIM;
	if (!resolve_gfd_decode(t, hpa, r))
		return WEFT_RESOLVE_NO_HIT;
	for (unsigned int i = 0; i < host->n_windows; i++) {
		const struct weft_topo_window *w = &t->access.window[host->first_window + i];

		if (r->dpa < w->base || r->dpa - w->base >= w->size)
			continue;
		r->window = (uint16_t)i;
		for (unsigned int k = 0; k < w->nodes.n; k++)
			if (t->list[w->nodes.first + k] == from)
				return WEFT_RESOLVE_ALLOWED;
		return WEFT_RESOLVE_WINDOW;
	}
	return WEFT_RESOLVE_NO_WINDOW;
}

/*
 * The port of a host hands the requester's PID over; it asks its VTV only when the answer comes, so
 * what the host did stays done (fabric.md section 2.4).
 */
static enum weft_resolve_rule
resolve_gim_decide(
	const struct weft_topo *t, unsigned int from, uint64_t hpa, struct weft_resolve *r)
{
	const struct weft_topo_node *host = &t->node[r->target];
	enum weft_resolve_rule rule;

	if (!host->egress_prefix)
		return host->gim == 0 ? WEFT_RESOLVE_GIM : WEFT_RESOLVE_EGRESS;
	r->is_unanswered = !weft_topo_in_vtv(t, r->target, from);
	rule = resolve_host_decide(t, from, hpa, r);
	return rule == WEFT_RESOLVE_ALLOWED && r->is_unanswered ? WEFT_RESOLVE_ANSWER : rule;
}

/* What the requester's port says; WEFT_RESOLVE_ALLOWED: it goes on. */
static enum weft_resolve_rule
resolve_edge_decide(
	const struct weft_topo *t, unsigned int from, bool uio, const struct weft_resolve *r)
{
	const bool is_gim = t->map.segment[r->segment].is_gim;

	if (t->node[r->target].kind == WEFT_TOPO_DEVICE) {
		/* Only the port above a device has an LDST. */
		if (t->node[from].kind != WEFT_TOPO_DEVICE)
			return WEFT_RESOLVE_NO_DECODE;
		if (!uio)
			return WEFT_RESOLVE_GIM_UIO_ONLY;
		return weft_topo_in_lav(t, from, r->target) ? WEFT_RESOLVE_ALLOWED
		                                            : WEFT_RESOLVE_LAV;
	}
	if (is_gim && !uio)
		return WEFT_RESOLVE_GIM_UIO_ONLY;
	if (is_gim && r->target == from)
		return WEFT_RESOLVE_GIM_SELF;
	if (is_gim)
		return weft_topo_in_vtv(t, from, r->target) ? WEFT_RESOLVE_ALLOWED
		                                            : WEFT_RESOLVE_VTV;
	return resolve_edge_allows(t, from, r->target) ? WEFT_RESOLVE_ALLOWED : WEFT_RESOLVE_VECTOR;
}

static enum weft_resolve_rule
resolve_decide(const struct weft_topo *t, unsigned int from, uint64_t hpa, bool uio,
	struct weft_resolve *r, struct weft_resolve_hop *hop)
{
	enum weft_resolve_rule rule;

	if (!resolve_edge_decode(t, hpa, r))
		return WEFT_RESOLVE_NO_DECODE;
	rule = resolve_edge_decide(t, from, uio, r);
	if (rule == WEFT_RESOLVE_NO_DECODE)
		resolve_begin(t, from, r); /* the segment is in no table of this port */
	if (rule != WEFT_RESOLVE_ALLOWED)
		return rule;
	if (!resolve_walk(t, from, r, hop))
		return WEFT_RESOLVE_NO_ROUTE;
	if (t->map.segment[r->segment].is_gim)
		return resolve_gim_decide(t, from, hpa, r);
	if (!resolve_gfd_decode(t, hpa, r))
		return WEFT_RESOLVE_NO_HIT;
	if (t->node[r->target].kind == WEFT_TOPO_DEVICE)
		return WEFT_RESOLVE_ALLOWED;
	if (!resolve_find_group(t, r))
		return WEFT_RESOLVE_NO_GROUP;
	return (t->node[from].access >> r->group & 1) != 0 ? WEFT_RESOLVE_ALLOWED
	                                                   : WEFT_RESOLVE_DENIED;
}

int
weft_resolve(const struct weft_topo *t, unsigned int from, uint64_t hpa, bool uio,
	struct weft_resolve *r, struct weft_resolve_hop *hop)
{
	if (from >= t->n_nodes ||
		(t->node[from].kind != WEFT_TOPO_HOST && t->node[from].kind != WEFT_TOPO_DEVICE))
		return -EINVAL;
	resolve_begin(t, from, r);
	r->rule = (uint8_t)resolve_decide(t, from, hpa, uio, r, hop);
	return 0;
}

int
weft_resolve_from(const struct weft_topo *t, unsigned int from, uint64_t addr, bool uio,
	struct weft_resolve_xlat *x, struct weft_resolve *r, struct weft_resolve_hop *hop)
{
	*x = (struct weft_resolve_xlat){ .va = addr, .pa = addr, .agent = WEFT_RESOLVE_NONE };
	if (from >= t->n_nodes || !t->node[from].translates)
		return weft_resolve(t, from, addr, uio, r, hop);
	x->agent = t->node[from].ats.agent;
	x->rule = weft_topo_translate(t, from, addr, &x->pa);
	if (x->rule != NULL)
		return weft_resolve(t, from, x->pa, uio, r, hop);
	resolve_begin(t, from, r);
	r->rule = WEFT_RESOLVE_NO_TRANSLATION;
	return 0;
}
