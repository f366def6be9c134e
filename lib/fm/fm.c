/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The manager as a whole (weft_fm.h): its life, its turn, its events and its plans. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "fm_priv.h"

#define FM_PLAN_ROUNDS 1000000

static const struct weft_fm_intent fm_no_intent;

static const char *const fm_event_words[] = {
	[WEFT_FM_EVENT_FOUND] = "found",
	[WEFT_FM_EVENT_LOST] = "lost",
	[WEFT_FM_EVENT_FOREIGN] = "foreign",
	[WEFT_FM_EVENT_DUPLICATE] = "duplicate",
	[WEFT_FM_EVENT_QUARANTINE] = "quarantine",
	[WEFT_FM_EVENT_REFUSED] = "refused",
	[WEFT_FM_EVENT_LINK] = "link",
	[WEFT_FM_EVENT_ROUTES] = "routes",
	[WEFT_FM_EVENT_DRAIN] = "drain",
	[WEFT_FM_EVENT_PIDS] = "pids",
	[WEFT_FM_EVENT_WRITE] = "write",
	[WEFT_FM_EVENT_ACCESS] = "access",
	[WEFT_FM_EVENT_CONVERGED] = "converged",
};

static const char *const fm_state_words[] = {
	[WEFT_FM_READING] = "reading",
	[WEFT_FM_READY] = "ready",
	[WEFT_FM_ABSENT] = "absent",
	[WEFT_FM_FOREIGN] = "foreign",
	[WEFT_FM_DUPLICATE] = "duplicate",
	[WEFT_FM_QUARANTINED] = "quarantined",
	[WEFT_FM_NO_PIDS] = "no-pids",
};

const char *
weft_fm_event_word(unsigned int kind)
{
	return kind < WEFT_ARRAY_SIZE(fm_event_words) ? fm_event_words[kind] : "unknown";
}

const char *
weft_fm_state_word(unsigned int state)
{
	return state < WEFT_ARRAY_SIZE(fm_state_words) ? fm_state_words[state] : "unknown";
}

void
fm_event(struct weft_fm *fm, enum weft_fm_event_kind kind, const struct fm_component *c,
	uint16_t opcode, const char *fmt, ...)
{
	struct weft_fm_event e = { .kind = (uint8_t)kind,
		.path = c == NULL ? WEFT_FM_NO_PATH : c->path,
		.opcode = opcode,
		.why = fm->why };
	va_list args;

	if (fm->cfg.on_event == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(e.text, sizeof(e.text), fmt, args);
	va_end(args);
	fm->cfg.on_event(fm->cfg.event_arg, &e);
}

/* Room that grows with nothing: nodes and links of the largest fabric. */
static bool
fm_alloc(struct weft_fm *fm)
{
	fm->component = calloc(fm->cfg.n_paths + 1u, sizeof(*fm->component));
	fm->room_hosts = 16;
	fm->host = calloc(fm->room_hosts, sizeof(*fm->host));
	fm->want_of = calloc(fm->cfg.n_paths + 1u, sizeof(*fm->want_of));
	fm->place = calloc(fm->cfg.n_paths + 1u, WEFT_FM_PORTS * sizeof(*fm->place));
	fm->node = calloc(WEFT_TOPO_NODES, sizeof(*fm->node));
	fm->link = calloc(WEFT_TOPO_LINKS, sizeof(*fm->link));
	fm->found = calloc(WEFT_TOPO_NODES, sizeof(*fm->found));
	fm->node_of_pid = calloc(WEFT_PIDS, sizeof(*fm->node_of_pid));
	return fm->component != NULL && fm->host != NULL && fm->want_of != NULL &&
	       fm->place != NULL && fm->node != NULL && fm->link != NULL && fm->found != NULL &&
	       fm->node_of_pid != NULL;
}

struct weft_fm *
weft_fm_new(const struct weft_fm_cfg *cfg, uint64_t now_ns)
{
	struct weft_fm *fm = calloc(1, sizeof(*fm));

	if (fm == NULL)
		return NULL;
	fm->cfg = *cfg;
	fm->intent = &fm_no_intent;
	fm->now_ns = fm->began_ns = now_ns;
	/* Another manager may have removed rows a moment ago. */
	fm->drained_ns = now_ns + cfg->drain_ns;
	snprintf(fm->why, sizeof(fm->why), "start");
	if (!fm_alloc(fm)) {
		weft_fm_free(fm);
		return NULL;
	}
	for (uint32_t i = 0; i < cfg->n_paths; i++) {
		fm->component[i].path = i;
		fm->component[i].pid = fm->component[i].want_pid = WEFT_FM_NO_PID;
		fm->component[i].look_ns = now_ns;
	}
	fm->is_graph_old = true;
	fm_look_again(fm);
	return fm;
}

void
weft_fm_free(struct weft_fm *fm)
{
	if (fm == NULL)
		return;
	weft_fm_routes_free(&fm->routes);
	for (uint32_t i = 0; fm->component != NULL && i < fm->cfg.n_paths; i++)
		fm_component_free(&fm->component[i]);
	free(fm->component);
	free(fm->host);
	free(fm->want_of);
	free(fm->place);
	free(fm->node);
	free(fm->link);
	free(fm->found);
	free(fm->node_of_pid);
	free(fm);
}

void
weft_fm_set_intent(struct weft_fm *fm, const struct weft_fm_intent *intent, const char *why)
{
	fm->intent = intent;
	snprintf(fm->why, sizeof(fm->why), "%s", why);
	/* Those that are named go first; others keep theirs if they can. */
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		fm->component[i].want_pid = WEFT_FM_NO_PID;
	fm_index_intent(fm);
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		if (fm->component[i].has_id)
			fm->component[i].want_pid = fm_choose_pid(fm, &fm->component[i]);
	fm->is_graph_old = true;
	fm_look_again(fm);
}

void
weft_fm_reset_path(struct weft_fm *fm, uint32_t path, uint64_t now_ns)
{
	struct fm_component *c;

	fm->now_ns = now_ns;
	if (path >= fm->cfg.n_paths)
		return;
	c = &fm->component[path];
	if (c->req.is_out && c->req.is_write) {
		fm->n_writes_out -= c->req.is_barrier;
		if (c->host != NULL)
			c->host->is_unsure = true;
	}
	fm_restart(fm, c, now_ns);
	c->n_nonsense = 0;
	if (c->state == WEFT_FM_QUARANTINED)
		c->state = WEFT_FM_ABSENT;
}

/*
 * A look goes over all that was found: not before something changed that the last one did not find
 * so, or it may write where it could not.
 */
static bool
fm_must_look(const struct weft_fm *fm)
{
	return fm->look.is_due || fm->is_graph_old ||
	       (!fm->is_converged && (fm->look.has_news || fm->now_ns >= fm->look.at_ns));
}

/* When time alone lets a look send what the last one could not. */
static void
fm_set_look(struct weft_fm *fm)
{
	const uint64_t first_ns = fm->began_ns + FM_FIRST_NS;

	fm->look.at_ns = first_ns > fm->now_ns ? first_ns : UINT64_MAX;
	if (fm->drained_ns > fm->now_ns && fm->drained_ns < fm->look.at_ns)
		fm->look.at_ns = fm->drained_ns;
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const uint64_t hold_ns = fm->component[i].hold_ns;

		if (hold_ns > fm->now_ns && hold_ns < fm->look.at_ns)
			fm->look.at_ns = hold_ns;
	}
}

uint64_t
weft_fm_poll(struct weft_fm *fm, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	fm->now_ns = now_ns;
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++)
		fm_component_poll(fm, &fm->component[i]);
	if (fm_must_look(fm)) {
		const bool was = fm->is_converged;

		fm->look.n++;
		fm->look.is_due = fm->look.has_news = false;
		fm->is_converged = !fm_reconcile(fm);
		fm_set_look(fm);
		if (fm->is_converged && !was) {
			fm_event(fm, WEFT_FM_EVENT_CONVERGED, NULL, 0, "%u nodes, %u links",
				fm->n_nodes, fm->n_links);
			snprintf(fm->why, sizeof(fm->why), "fabric changed");
		}
	}
	for (uint32_t i = 0; i < fm->cfg.n_paths; i++) {
		const struct fm_component *c = &fm->component[i];
		uint64_t at = fm_component_next_ns(c);

		if (!fm->is_converged && c->hold_ns > now_ns && c->hold_ns < at)
			at = c->hold_ns;
		next = at < next ? at : next;
	}
	if (fm->drained_ns > now_ns && fm->drained_ns < next)
		next = fm->drained_ns;
	return next < now_ns ? now_ns : next;
}

bool
weft_fm_is_converged(const struct weft_fm *fm)
{
	return fm->is_converged && !fm->is_graph_old && !fm->look.is_due;
}

uint64_t
weft_fm_n_looks(const struct weft_fm *fm)
{
	return fm->look.n;
}

/* Found state of another manager, to try what it would do. */
static bool
fm_copy_component(struct fm_component *c)
{
	struct fm_switch *sw = c->sw;
	struct fm_gfd *gfd = c->gfd;
	struct fm_told *host = c->host;

	c->req.is_out = c->is_poll = false;
	c->sw = NULL;
	c->gfd = NULL;
	c->host = NULL;
	if (host != NULL) {
		c->host = malloc(sizeof(*host));
		if (c->host == NULL)
			return false;
		*c->host = *host;
	}
	if (sw != NULL) {
		c->sw = calloc(1, sizeof(*sw));
		if (c->sw == NULL)
			return false;
		*c->sw = *sw;
		c->sw->drt = calloc(sw->n_drts + 1u, sizeof(*sw->drt));
		c->sw->target = calloc(sw->n_targets + 1u, sizeof(*sw->target));
		c->sw->rgt = calloc(sw->n_drts + 1u, sizeof(*sw->rgt));
		if (c->sw->drt == NULL || c->sw->target == NULL || c->sw->rgt == NULL)
			return false;
		if (sw->rgt != NULL)
			memcpy(c->sw->rgt, sw->rgt, sw->n_drts * sizeof(*sw->rgt));
		if (sw->drt != NULL)
			memcpy(c->sw->drt, sw->drt, sw->n_drts * sizeof(*sw->drt));
		if (sw->target != NULL)
			memcpy(c->sw->target, sw->target, sw->n_targets * sizeof(*sw->target));
	}
	if (gfd != NULL) {
		c->gfd = calloc(1, sizeof(*gfd));
		if (c->gfd == NULL)
			return false;
		*c->gfd = *gfd;
		c->gfd->extent = NULL;
		c->gfd->n_extents = c->gfd->room = 0;
		c->gfd->sat = calloc(WEFT_PIDS, sizeof(*gfd->sat));
		if (c->gfd->sat == NULL)
			return false;
		memcpy(c->gfd->sat, gfd->sat, WEFT_PIDS * sizeof(*gfd->sat));
		for (uint32_t i = 0; i < gfd->n_extents; i++)
			if (fm_add_extent(c->gfd, &gfd->extent[i]) != 0)
				return false;
	}
	return true;
}

int
weft_fm_plan(const struct weft_fm *fm, const struct weft_fm_intent *intent,
	void (*on_event)(void *arg, const struct weft_fm_event *e), void *arg)
{
	struct weft_fm_cfg cfg = fm->cfg;
	struct weft_fm *plan;
	int rc = 0;

	if (fm->n_writes_out != 0)
		return -EAGAIN;
	for (uint32_t i = 0; i < cfg.n_paths; i++)
		if (fm->component[i].state == WEFT_FM_READING || fm_is_taking(&fm->component[i]))
			return -EAGAIN;
	cfg.on_event = on_event;
	cfg.event_arg = arg;
	plan = weft_fm_new(&cfg, fm->now_ns);
	if (plan == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < cfg.n_paths; i++) {
		plan->component[i] = fm->component[i];
		if (!fm_copy_component(&plan->component[i]))
			rc = -ENOMEM;
		plan->component[i].hold_ns = 0;
	}
	plan->is_plan = true;
	plan->began_ns = fm->began_ns;
	weft_fm_set_intent(plan, intent, "plan");
	for (unsigned int k = 0; rc == 0 && k < FM_PLAN_ROUNDS && fm_reconcile(plan); k++)
		rc = plan->n_held != 0 && plan->n_waiting == 0 ? -EAGAIN : 0;
	weft_fm_free(plan);
	return rc;
}

int
weft_fm_component(const struct weft_fm *fm, uint32_t path, struct weft_fm_component *out)
{
	const struct fm_component *c;

	if (path >= fm->cfg.n_paths)
		return -EINVAL;
	c = &fm->component[path];
	*out = (struct weft_fm_component){
		.state = c->state,
		.kind = c->kind,
		.has_id = c->has_id,
		.pid = c->pid,
		.owner_pid = c->has_id ? c->owner.prim_fm_pid : WEFT_FM_NO_PID,
		.n_ports = c->sw == NULL ? 0 : c->sw->n_ports,
		.n_tables = c->sw == NULL ? 0 : (uint16_t)c->sw->n_drts,
		.n_extents = c->gfd == NULL ? 0 : c->gfd->n_extents,
		.n_writes = c->n_writes,
	};
	memcpy(out->id, c->id, sizeof(out->id));
	return 0;
}

int
weft_fm_port(const struct weft_fm *fm, uint32_t path, uint8_t port, struct weft_fm_port *out)
{
	const struct fm_component *c;
	const struct fm_port *p;
	int far;

	if (path >= fm->cfg.n_paths || fm->component[path].sw == NULL)
		return -EINVAL;
	c = &fm->component[path];
	p = &c->sw->port[port];
	far = p->has_partner ? fm_find_id(fm, p->far_id, path) : -1;
	*out = (struct weft_fm_port){
		.is_there = p->is_there,
		.is_up = p->is_up,
		.is_linked = p->link != FM_NO_LINK,
		.is_host = p->is_host,
		.far_path = far < 0 ? WEFT_FM_NO_PATH : (uint32_t)far,
		.far_port = p->far_port,
		.pid = WEFT_FM_NO_PID,
	};
	for (unsigned int k = 0; k < c->sw->n_targets; k++)
		if (c->sw->target[k].type != FM_TARGET_FPORT && c->sw->target[k].port == port)
			out->pid = c->sw->target[k].pid;
	return 0;
}

int
weft_fm_route(const struct weft_fm *fm, uint32_t path, uint16_t dpid)
{
	const struct fm_switch *sw;

	if (path >= fm->cfg.n_paths || fm->component[path].sw == NULL ||
		fm->component[path].sw->n_drts == 0)
		return -1;
	sw = fm->component[path].sw;
	if (dpid < WEFT_PIDS && sw->drt[0].entry[dpid][0] == WEFT_DRT_RGT)
		return sw->rgt[0][sw->drt[0].entry[dpid][1]].port[0];
	return weft_drt_port(&sw->drt[0], dpid);
}

uint32_t
weft_fm_rights(const struct weft_fm *fm, uint32_t path, uint16_t pid)
{
	if (path >= fm->cfg.n_paths || fm->component[path].gfd == NULL || pid >= WEFT_PIDS)
		return 0;
	return fm->component[path].gfd->sat[pid];
}

int
weft_fm_extent(const struct weft_fm *fm, uint32_t path, uint32_t i, struct weft_fm_extent *e)
{
	if (path >= fm->cfg.n_paths || fm->component[path].gfd == NULL ||
		i >= fm->component[path].gfd->n_extents)
		return -EINVAL;
	*e = fm->component[path].gfd->extent[i];
	return 0;
}
