/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Hot: decisions of an edge port (fabric.md sections 1.12 and 2.4). The run of CXL.mem requests
 * asks FAST for all at once and takes the long way only for what FAST did not answer.
 */

#include "weft_edge.h"

static void
decide(struct weft_edge_decision *d, enum weft_edge_decoder by, uint16_t dpid, bool pif)
{
	d->dpid = dpid;
	d->pif = pif;
	d->decoder = (uint8_t)by;
	d->reason = WEFT_EDGE_OK;
}

static void
edge_refuse(struct weft_edge_decision *d, enum weft_edge_decoder by, enum weft_edge_reason why)
{
	d->decoder = (uint8_t)by;
	d->reason = (uint8_t)why;
}

/* True if the PID of a prefix may be used here, given that prefix traffic is on. */
static bool
edge_prefix_is_good(const struct weft_edge *e, uint8_t vp, int prefix)
{
	return (e->vp & vp) != 0 && prefix < WEFT_PIDS &&
	       weft_pid_set_has(&e->vector[WEFT_VTV], (uint16_t)prefix);
}

/* @return whether the decoder has a valid entry for the address: then it decides */
static bool
edge_by_segment(const struct weft_seg *s, enum weft_edge_kind kind, uint64_t hpa,
	struct weft_edge_decision *d)
{
	const bool is_fast = s->cfg.kind == WEFT_SEG_FAST;
	const enum weft_edge_decoder by = is_fast ? WEFT_EDGE_BY_FAST : WEFT_EDGE_BY_LDST;
	const struct weft_seg_target *t = weft_seg_target_of(s, hpa);
	uint16_t slot;

	if (t == NULL || t->need_uio == 0)
		return false;
	slot = weft_seg_idt_slot(s, t, hpa);
	if (kind == WEFT_EDGE_MEM && t->need_mem != t->need_uio)
		edge_refuse(d, by, WEFT_EDGE_GIM_UIO_ONLY);
	else if ((slot & t->need_uio) == 0)
		edge_refuse(d, by, WEFT_EDGE_NOT_ALLOWED);
	else
		decide(d, by, slot & WEFT_IDT_SLOT_PID, is_fast && kind == WEFT_EDGE_UIO);
	if (!is_fast)
		d->segment = (s->entry[t - s->target].flags & WEFT_SEG_SEGMENT) != 0;
	return true;
}

static bool
edge_by_hdm(const struct weft_edge *e, uint64_t hpa, struct weft_edge_decision *d)
{
	for (unsigned int i = 0; i < e->n_hdm; i++)
		if (hpa - e->hdm[i].base < e->hdm[i].len) {
			decide(d, WEFT_EDGE_BY_HDM, e->hdm[i].pid, false);
			return true;
		}
	return false;
}

void
weft_edge_request(const struct weft_edge *e, enum weft_edge_kind kind, uint64_t hpa, int prefix,
	struct weft_edge_decision *d)
{
	*d = (struct weft_edge_decision){ .dpid = WEFT_PID_RESERVED, .spid = e->cfg.pid };
	if (prefix >= 0 && kind != WEFT_EDGE_MEM) {
		if (kind == WEFT_EDGE_UIO && edge_prefix_is_good(e, WEFT_VP_INGRESS, prefix))
			decide(d, WEFT_EDGE_BY_PREFIX, (uint16_t)prefix, true);
		else
			edge_refuse(d, WEFT_EDGE_BY_PREFIX, WEFT_EDGE_BAD_PREFIX);
		return;
	}
	/* Plain .io is routed by the rules of PCIe alone. */
	if (kind != WEFT_EDGE_IO &&
		(edge_by_segment(&e->fast, kind, hpa, d) ||
			edge_by_segment(&e->ldst, kind, hpa, d) || edge_by_hdm(e, hpa, d)))
		return;
	if (kind != WEFT_EDGE_MEM && e->pcie_pid != WEFT_PID_RESERVED)
		decide(d, WEFT_EDGE_BY_PCIE, e->pcie_pid, false);
	else
		edge_refuse(d, WEFT_EDGE_BY_NONE, WEFT_EDGE_NO_DECODE);
}

static const struct weft_reroute *
edge_reroute_row(const struct weft_edge *e, uint16_t bdf, int segment)
{
	for (unsigned int i = 0; i < e->cfg.rerouter_rows; i++) {
		const struct weft_reroute *r = &e->reroute[i];

		if (r->pid != WEFT_PID_RESERVED && (r->bus << 8 | r->devfn) == bdf &&
			(!r->segment_valid || r->segment == segment))
			return r;
	}
	return NULL;
}

void
weft_edge_completion(const struct weft_edge *e, uint16_t bdf, int segment, bool local, int prefix,
	struct weft_edge_decision *d)
{
	const struct weft_reroute *r;

	*d = (struct weft_edge_decision){ .dpid = WEFT_PID_RESERVED, .spid = e->cfg.pid };
	if (prefix >= 0) {
		/* It answers a request that went out with a prefix. */
		if (edge_prefix_is_good(e, WEFT_VP_EGRESS, prefix))
			decide(d, WEFT_EDGE_BY_PREFIX, (uint16_t)prefix, true);
		else
			edge_refuse(d, WEFT_EDGE_BY_PREFIX, WEFT_EDGE_UNEXPECTED);
		return;
	}
	r = edge_reroute_row(e, bdf, segment);
	if (r != NULL && !weft_pid_set_has(&e->vector[WEFT_LAV], r->pid))
		edge_refuse(d, WEFT_EDGE_BY_REROUTER, WEFT_EDGE_NOT_ALLOWED);
	else if (r != NULL)
		decide(d, WEFT_EDGE_BY_REROUTER, r->pid, false);
	else if (local)
		decide(d, WEFT_EDGE_BY_UPSTREAM, WEFT_PID_RESERVED, false);
	else
		edge_refuse(d, WEFT_EDGE_BY_NONE, WEFT_EDGE_UNEXPECTED);
}

enum weft_edge_egress
weft_edge_egress(const struct weft_edge *e, enum weft_edge_kind kind, bool pif)
{
	if (!e->link_up)
		return WEFT_EGRESS_DROP;
	if (e->cfg.pbr_link || kind != WEFT_EDGE_UIO || !pif)
		return WEFT_EGRESS_PASS;
	return (e->vp & WEFT_VP_EGRESS) != 0 ? WEFT_EGRESS_PREFIX : WEFT_EGRESS_UR;
}

/* Out of line: FAST did not answer all of them. */
static __attribute__((noinline)) unsigned int
edge_mem_run_rest(const struct weft_edge *e, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct weft_edge_decision d;

		if (dpid[i] >= 0)
			continue;
		weft_edge_request(e, WEFT_EDGE_MEM, hpa[i], WEFT_EDGE_ABSENT, &d);
		if (d.reason != WEFT_EDGE_OK)
			continue;
		dpid[i] = (int16_t)d.dpid;
		found++;
	}
	return found;
}

unsigned int
weft_edge_mem_run(const struct weft_edge *e, const uint64_t *hpa, int16_t *dpid, unsigned int n)
{
	const unsigned int found = weft_seg_run(&e->fast, hpa, dpid, n);

	return found == n ? n : found + edge_mem_run_rest(e, hpa, dpid, n);
}
