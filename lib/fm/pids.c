/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Who is to have which PID: what the intent says, else the one that a node has if nobody else is to
 * have it, else the lowest of its kind (fabric.md section 2.1).
 */

#include <errno.h>
#include <stdlib.h>

#include "fm_priv.h"

/* By enum weft_topo_kind; where a range is full, what edge DSPs and FPort sets do not use. */
static const struct {
	uint16_t first, last;
} pid_ranges[] = {
	[WEFT_TOPO_HOST] = { 0x100, 0x1ff },
	[WEFT_TOPO_SWITCH] = { 0x010, 0x0ff },
	[WEFT_TOPO_GFD] = { 0x200, 0x5ff },
};
static const uint16_t pid_last = 0xffe;

static struct fm_place *
pids_place(const struct weft_fm *fm, uint32_t path, uint8_t port)
{
	return &fm->place[(size_t)path * WEFT_FM_PORTS + port];
}

void
fm_index_intent(struct weft_fm *fm)
{
	const uint32_t n_paths = fm->cfg.n_paths;

	fm->n_hosts = 0;
	memset(fm->want_of, 0, n_paths * sizeof(*fm->want_of));
	memset(fm->place, 0, (size_t)n_paths * WEFT_FM_PORTS * sizeof(*fm->place));
	/* Of two in one place it is the first. */
	for (uint16_t i = fm->intent->n_nodes; i > 0; i--) {
		const struct weft_fm_node *n = &fm->intent->node[i - 1];

		if (n->path < n_paths)
			fm->want_of[n->path] = i;
		if (n->has_agent && n->agent_path < n_paths)
			fm->want_of[n->agent_path] = i;
		if (n->kind == WEFT_TOPO_HOST && n->at_path < n_paths)
			pids_place(fm, n->at_path, n->at_port)->want = i;
	}
}

const struct weft_fm_node *
fm_intent_of(const struct weft_fm *fm, uint32_t path)
{
	return fm->want_of[path] == 0 ? NULL : &fm->intent->node[fm->want_of[path] - 1];
}

const struct weft_fm_node *
fm_intent_of_host(const struct weft_fm *fm, uint32_t path, uint8_t port)
{
	const struct fm_place *at = pids_place(fm, path, port);

	return at->want == 0 ? NULL : &fm->intent->node[at->want - 1];
}

/* PIDs that somebody is to have. */
static void
pids_taken(const struct weft_fm *fm, bool taken[WEFT_PIDS])
{
	memset(taken, 0, WEFT_PIDS * sizeof(*taken));
	taken[0] = taken[WEFT_FM_NO_PID] = true;
	taken[fm->cfg.pid] = true;
	if (fm->cfg.has_peer)
		taken[fm->cfg.peer_pid & WEFT_FM_NO_PID] = true;
	for (unsigned int i = 0; i < fm->intent->n_nodes; i++)
		taken[fm->intent->node[i].pid & WEFT_FM_NO_PID] = true;
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		taken[fm->component[i].want_pid & WEFT_FM_NO_PID] = true;
	for (unsigned int i = 0; i < fm->n_hosts; i++)
		taken[fm->host[i].want_pid & WEFT_FM_NO_PID] = true;
}

static uint16_t
pids_choose(const struct weft_fm *fm, unsigned int kind, uint16_t now)
{
	bool taken[WEFT_PIDS];

	pids_taken(fm, taken);
	if (now < WEFT_FM_NO_PID && !taken[now])
		return now;
	for (uint16_t p = pid_ranges[kind].first; p <= pid_ranges[kind].last; p++)
		if (!taken[p])
			return p;
	for (uint16_t p = pid_last; p > pid_ranges[WEFT_TOPO_GFD].last; p--)
		if (!taken[p])
			return p;
	return WEFT_FM_NO_PID;
}

uint16_t
fm_known_pid(const struct weft_fm *fm, const struct fm_component *c)
{
	const struct weft_fm_node *n = fm_intent_of(fm, c->path);

	return n != NULL && n->pid != WEFT_FM_NO_PID ? n->pid : c->want_pid;
}

uint16_t
fm_choose_pid(const struct weft_fm *fm, const struct fm_component *c)
{
	const uint16_t pid = fm_known_pid(fm, c);

	return pid != WEFT_FM_NO_PID ? pid : pids_choose(fm, c->kind, c->pid);
}

/* PID that a port has now. */
static uint16_t
pids_of_port(const struct fm_component *c, uint8_t port)
{
	for (unsigned int k = 0; k < c->sw->n_targets; k++)
		if (c->sw->target[k].type != FM_TARGET_FPORT && c->sw->target[k].port == port)
			return c->sw->target[k].pid;
	return WEFT_FM_NO_PID;
}

int
fm_host_at(struct weft_fm *fm, uint32_t path, uint8_t port)
{
	const struct weft_fm_node *n = fm_intent_of_host(fm, path, port);
	struct fm_place *at = pids_place(fm, path, port);
	const unsigned int i = at->host != 0 ? at->host - 1u : fm->n_hosts;

	if (i == fm->room_hosts) {
		const uint16_t room = (uint16_t)(fm->room_hosts == 0 ? 16 : 2 * fm->room_hosts);
		struct fm_host *more = realloc(fm->host, room * sizeof(*more));

		if (more == NULL)
			return -ENOMEM;
		fm->host = more;
		fm->room_hosts = room;
	}
	if (i == fm->n_hosts) {
		fm->host[i] = (struct fm_host){ path, port, WEFT_FM_NO_PID };
		at->host = ++fm->n_hosts;
	}
	if (n != NULL && n->pid != WEFT_FM_NO_PID)
		fm->host[i].want_pid = n->pid;
	else if (fm->host[i].want_pid == WEFT_FM_NO_PID)
		fm->host[i].want_pid =
			pids_choose(fm, WEFT_TOPO_HOST, pids_of_port(&fm->component[path], port));
	return (int)i;
}

/* PID that a port is to have; WEFT_FM_NO_PID: none that the manager would know of. */
static uint16_t
pids_wanted_at(const struct weft_fm *fm, const struct fm_component *c, uint8_t port)
{
	uint16_t host;

	/* The port above a GFD has the PID that is sent to there. */
	if (c->sw->port[port].has_partner) {
		const int far = fm_find_id(fm, c->sw->port[port].far_id, c->path);

		return far >= 0 && fm->component[far].kind == WEFT_TOPO_GFD
		               ? fm->component[far].want_pid
		               : WEFT_FM_NO_PID;
	}
	host = pids_place(fm, c->path, port)->host;
	return c->sw->port[port].is_host && host != 0 ? fm->host[host - 1].want_pid
	                                              : WEFT_FM_NO_PID;
}

void
fm_find_unsettled(struct weft_fm *fm, bool unsettled[WEFT_PIDS])
{
	memset(unsettled, 0, WEFT_PIDS * sizeof(*unsettled));
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];

		if (c->has_id && c->pid != c->want_pid)
			unsettled[c->pid & WEFT_FM_NO_PID] = true;
		for (unsigned int k = 0; c->sw != NULL && k < c->sw->n_targets; k++)
			if (c->sw->target[k].pid != pids_wanted_at(fm, c, c->sw->target[k].port))
				unsettled[c->sw->target[k].pid] = true;
	}
}

unsigned int
fm_number_components(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];
		struct weft_cci_claim_ownership_req req = {
			.op = FM_CLAIM_CHANGE_PID, .fm_pid = fm->cfg.pid, .new_pid = c->want_pid
		};

		if (!fm_is_usable(c) || c->pid == c->want_pid || !fm_can_write(fm, c))
			continue;
		memcpy(req.fm_uuid, fm->cfg.uuid, sizeof(req.fm_uuid));
		fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_CLAIM_OWNERSHIP,
			"PID 0x%03x becomes 0x%03x", c->pid, c->want_pid);
		fm_send(fm, c, WEFT_CCI_CLAIM_OWNERSHIP,
			weft_cci_put_claim_ownership_req(fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req),
			true);
		n++;
	}
	return n;
}

/* Whether a target holds what some node is to have, or what its own port is not to have. */
static bool
pids_is_wrong(const struct weft_fm *fm, const struct fm_component *c, const struct fm_target *t,
	const bool taken[WEFT_PIDS])
{
	const uint16_t want = pids_wanted_at(fm, c, t->port);

	if (t->pid == WEFT_FM_NO_PID || t->pid == want)
		return false;
	return want != WEFT_FM_NO_PID || taken[t->pid];
}

static void
pids_configure(struct weft_fm *fm, struct fm_component *c, enum fm_assign op,
	const struct fm_target *t, uint16_t pid)
{
	const struct weft_cci_pid_assign e = { .pid = pid, .target = t->id, .inst = t->inst };
	uint8_t list[8];
	const struct weft_cci_configure_pid_assignment_req req = {
		.op = (uint8_t)op, .n = 1, .entry = list
	};

	weft_cci_put_pid_assign(list, 0, &e);
	fm_event(fm, WEFT_FM_EVENT_WRITE, c, WEFT_CCI_CONFIGURE_PID_ASSIGNMENT,
		"port %u %s PID 0x%03x", t->port, op == FM_ASSIGN ? "gets" : "loses", pid);
	fm_send(fm, c, WEFT_CCI_CONFIGURE_PID_ASSIGNMENT,
		weft_cci_put_configure_pid_assignment_req(
			fm_payload(c), WEFT_CCI_MAX_PAYLOAD, &req),
		true);
}

unsigned int
fm_clear_pids(struct weft_fm *fm)
{
	bool taken[WEFT_PIDS];
	unsigned int n = 0;

	pids_taken(fm, taken);
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];

		for (unsigned int k = 0; fm_is_usable(c) && c->sw != NULL && k < c->sw->n_targets;
			k++) {
			const struct fm_target t = c->sw->target[k];

			if (!pids_is_wrong(fm, c, &t, taken))
				continue;
			if (fm_can_write(fm, c)) {
				pids_configure(fm, c, FM_ASSIGN_CLEAR, &t, t.pid);
				n++;
			}
			break;
		}
	}
	return n;
}

unsigned int
fm_assign_pids(struct weft_fm *fm)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		struct fm_component *c = &fm->component[i];

		for (unsigned int k = 0; fm_is_usable(c) && c->sw != NULL && k < c->sw->n_targets;
			k++) {
			const struct fm_target t = c->sw->target[k];
			const uint16_t want = pids_wanted_at(fm, c, t.port);

			if (t.type == FM_TARGET_FPORT || t.inst != 0 || t.pid == want ||
				want == WEFT_FM_NO_PID)
				continue;
			if (fm_can_write(fm, c)) {
				pids_configure(fm, c, FM_ASSIGN, &t, want);
				n++;
			}
			break;
		}
	}
	return n;
}
