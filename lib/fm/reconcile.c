/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * From found to desired state, a command for each component at a time: the first phase that has
 * something to send sends it, and everything is looked at anew when all answers are there. But for
 * those of hosts, which end what they have begun first: only memory waits for them.
 */

#include "fm_priv.h"

#define RECONCILE_ROWS FM_FITS(6, 2, 508) /* of a DRT, in one command */
#define RECONCILE_GROUPS FM_FITS(6, 12, 84) /* of an RGT */

bool
fm_can_write(struct weft_fm *fm, struct fm_component *c)
{
	if (c->state != WEFT_FM_READY || fm->now_ns < c->hold_ns) {
		fm->n_held++;
		return false;
	}
	/* A look is under way: its answer comes at once. */
	if (c->req.is_out || c->is_poll) {
		fm->n_waiting++;
		c->is_awaited = true;
		return false;
	}
	return true;
}

/* The next run of rows of one switch. */
static unsigned int
reconcile_tables(struct weft_fm *fm, unsigned int node, enum weft_fm_phase phase)
{
	struct fm_component *c = &fm->component[fm->node[node].path];
	uint8_t row[RECONCILE_ROWS][2];

	for (unsigned int k = 0; k < fm->found[node].n; k++) {
		struct weft_cci_set_drt_req req = { .drt = (uint8_t)k, .entry = row[0] };
		uint16_t first = 0;

		req.n = (uint16_t)weft_fm_routes_next(
			&fm->routes, fm->found, phase, node, k, &first, RECONCILE_ROWS, row);
		if (req.n == 0)
			continue;
		if (!fm_can_write(fm, c))
			return 0;
		req.start = first;
		fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_SET_DRT,
			"DRT %u, rows 0x%03x to 0x%03x", k, first, first + req.n - 1u);
		fm_send(fm, c, WEFT_CCI_SET_DRT,
			weft_cci_put_set_drt_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
		return 1;
	}
	return 0;
}

/* The next run of groups of one switch. */
static unsigned int
reconcile_groups(struct weft_fm *fm, unsigned int node)
{
	struct fm_component *c = &fm->component[fm->node[node].path];

	for (unsigned int k = 0; k < fm->found[node].n; k++) {
		const struct weft_rgt_entry *row;
		struct weft_cci_set_rgt_req req = { .rgt = c->sw->rgt_of[k] };
		unsigned int first = 0;

		req.n = (uint16_t)weft_fm_routes_next_groups(
			&fm->routes, fm->found, node, k, &first, RECONCILE_GROUPS, &row);
		if (req.n == 0)
			continue;
		if (!fm_can_write(fm, c))
			return 0;
		req.start = (uint16_t)first;
		req.entry = row->port;
		fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_SET_RGT, "RGT %u, rows %u to %u",
			req.rgt, first, first + req.n - 1u);
		fm_send(fm, c, WEFT_CCI_SET_RGT,
			weft_cci_put_set_rgt_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req), true);
		return 1;
	}
	return 0;
}

/* Messages of removed rows are gone before others take their place. */
static bool
reconcile_is_draining(struct weft_fm *fm, enum weft_fm_phase phase)
{
	if (phase == WEFT_FM_PHASE_DRAIN) {
		fm->is_draining = true;
		return false;
	}
	/* From when the last removal is known of: a switch may have been long about it. */
	if (fm->is_draining)
		fm->drained_ns = fm->now_ns + fm->cfg.drain_ns;
	fm->is_draining = false;
	if (!fm->is_plan && fm->now_ns < fm->drained_ns && phase != WEFT_FM_PHASE_DONE) {
		fm->n_waiting++;
		return true;
	}
	fm->routes.must_drain = false;
	return false;
}

static unsigned int
reconcile_routes(struct weft_fm *fm)
{
	enum weft_fm_phase phase;
	unsigned int n = 0;

	if (!fm->has_routes)
		return 0;
	phase = weft_fm_routes_phase(&fm->routes, fm->found);
	if (reconcile_is_draining(fm, phase) || phase == WEFT_FM_PHASE_DONE)
		return 0;
	for (unsigned int i = 0; i < fm->n_nodes; i++)
		if (fm->found[i].n != 0)
			n += phase == WEFT_FM_PHASE_GROUPS ? reconcile_groups(fm, i)
			                                   : reconcile_tables(fm, i, phase);
	return n;
}

static unsigned int (*const reconcile_phases[])(struct weft_fm *fm) = {
	fm_tell_less,
	fm_close_rights,
	fm_number_components,
	fm_clear_pids,
	fm_assign_pids,
	reconcile_routes,
	fm_wait_for_hosts,
	fm_release_extents,
	fm_announce,
	fm_add_extents,
	fm_open_rights,
	fm_tell_more,
};

/* A component that has not yet been there is waited for: it may be a part of every route. */
static bool
reconcile_is_discovering(const struct weft_fm *fm)
{
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		if (fm->component[i].state == WEFT_FM_READING && !fm->component[i].was_ready)
			return true;
	return false;
}

bool
fm_reconcile(struct weft_fm *fm)
{
	if (fm->n_writes_out != 0 || reconcile_is_discovering(fm))
		return true;
	if (fm->is_graph_old)
		fm_build_graph(fm);
	fm->n_held = 0;
	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(reconcile_phases); i++) {
		unsigned int n;

		fm->n_waiting = 0;
		n = reconcile_phases[i](fm);
		if (n != 0 || fm->n_waiting != 0)
			return true;
	}
	return fm->n_held != 0 || fm->is_graph_old;
}
