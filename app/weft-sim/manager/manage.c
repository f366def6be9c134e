/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A fabric with a manager, from empty tables to the end: events in simulated time, faults, managers
 * that die and the next ones, and at the end, when all faults are over, a time by which all has to
 * be as desired.
 */

#include "world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/*
 * A manager waits 10 s from its start for what is not there, commands that were refused up to 5 s,
 * and what follows is read and written anew; hosts take up to 3 s each time they are told. Large
 * fabrics take as long as their messages.
 */
#define MANAGE_BOUND_NS (30 * SEC)
#define MANAGE_BOUND_NODE_NS (10 * MS)
#define MANAGE_LOOK_NS (20 * MS)
#define MANAGE_STAYS_NS (300 * MS) /* that all is well, to be believed */
#define MANAGE_STOP_EVENTS 4096

const char *const manager_count_word[MANAGER_COUNTS] = {
	[MANAGER_N_FABRICS] = "fabrics",
	[MANAGER_N_MANAGERS] = "managers",
	[MANAGER_N_REQUESTS] = "requests",
	[MANAGER_N_COMMANDS] = "commands",
	[MANAGER_N_CONVERGED] = "converged",
	[MANAGER_N_CHANGES] = "changes",
	[MANAGER_N_FAULTS] = "faults",
	[MANAGER_N_ROWS] = "rows",
	[MANAGER_N_ANSWERS] = "answers",
};

static const uint8_t manage_uuid[2][16] = { { 0x57, 1 }, { 0x57, 2 } };
static const uint16_t manage_pid[2] = { 1, 2 };

void
manager_push(struct manager *m, uint64_t in_ns, enum manager_event kind, void *object)
{
	heap_push(&m->heap, m->now_ns + in_ns, (uint8_t)kind, object);
}

/* --- the manager --- */

static void
manage_event(void *arg, const struct weft_fm_event *e)
{
	struct manager *m = arg;

	if (e->kind == WEFT_FM_EVENT_WRITE)
		m->s->total.manager[MANAGER_N_COMMANDS]++;
	if (e->kind == WEFT_FM_EVENT_CONVERGED) {
		m->s->total.manager[MANAGER_N_CONVERGED]++;
		manager_catch_up(m);
	}
	if (e->kind == WEFT_FM_EVENT_LOST && e->path < m->topo->n_nodes)
		manager_excuse(&m->node[e->path]);
}

static void
manage_birth(struct manager *m)
{
	struct weft_fm_cfg cfg = {
		.pid = manage_pid[m->seat],
		.has_peer = m->plan.has_peer,
		.peer_pid = manage_pid[1 - m->seat],
		.n_paths = m->topo->n_nodes,
		.tries = 3,
		.timeout_ns = m->plan.timeout_ns,
		.poll_ns = m->plan.poll_ns,
		.retry_ns = m->plan.retry_ns,
		.drain_ns = m->plan.drain_ns,
		.transport = { m, manager_send },
		.on_event = manage_event,
		.event_arg = m,
	};

	memcpy(cfg.uuid, manage_uuid[m->seat], sizeof(cfg.uuid));
	memcpy(cfg.peer_uuid, manage_uuid[1 - m->seat], sizeof(cfg.peer_uuid));
	m->fm = weft_fm_new(&cfg, m->now_ns);
	if (m->fm == NULL)
		cli_fail("out of memory");
	m->number++;
	m->s->total.manager[MANAGER_N_MANAGERS]++;
	m->is_dying = false;
	m->dies_after = 0;
	for (uint16_t i = 0; i < m->topo->n_nodes; i++)
		m->node[i].is_connected = m->node[i].is_up;
	weft_fm_set_intent(m->fm, &m->intent[m->intent_now], "start");
	manager_wake(m);
}

/* The next one has its seat, or the other one. */
static void
manage_death(struct manager *m)
{
	if (m->fm == NULL)
		return;
	weft_fm_free(m->fm);
	m->fm = NULL;
	m->poll_ns = SIM_NEVER;
	if (m->plan.has_peer && weft_rand_below(&m->rand, 2) == 0)
		m->seat = 1 - m->seat;
	manager_push(m, 1 + weft_rand_below(&m->rand, 200 * MS), MANAGER_BIRTH, m);
}

static void
manage_poll_at(struct manager *m, uint64_t at_ns)
{
	if (at_ns >= m->poll_ns)
		return;
	m->poll_ns = at_ns;
	heap_push(&m->heap, at_ns, MANAGER_POLL, m);
}

void
manager_wake(struct manager *m)
{
	manage_poll_at(m, m->now_ns + m->plan.turn_ns);
}

static void
manage_poll(struct manager *m, uint64_t time_ns)
{
	uint64_t next_ns;

	if (m->fm == NULL || m->is_dying || m->poll_ns != time_ns)
		return; /* another came before it */
	m->poll_ns = SIM_NEVER;
	next_ns = weft_fm_poll(m->fm, m->now_ns);
	if (weft_fm_is_converged(m->fm))
		manager_drop_claims(m);
	manage_poll_at(m, next_ns > m->now_ns ? next_ns : m->now_ns + 1);
}

/* --- faults --- */

static uint64_t
manage_length_ns(struct manager *m)
{
	return (uint64_t)pow((double)m->plan.fault_ns, weft_rand_unit(&m->rand));
}

static void
manage_cut_link(struct manager *m, uint64_t for_ns)
{
	const uint16_t link = (uint16_t)weft_rand_below(&m->rand, m->topo->n_links);

	m->flaps[link]++;
	m->link_up_ns[link] = m->now_ns + for_ns;
}

static void
manage_crash(struct manager *m, uint64_t for_ns)
{
	struct manager_node *n = &m->node[weft_rand_below(&m->rand, m->topo->n_nodes)];

	if (!n->is_up)
		return;
	manager_end_node(n);
	n->up_ns = m->now_ns + for_ns;
	manager_push(m, for_ns, MANAGER_BACK, n);
}

/* Its socket is there again, and the manager finds that out. */
static void
manage_back(struct manager *m, struct manager_node *n)
{
	if (n->is_up || m->now_ns < n->up_ns)
		return;
	manager_begin_node(n);
	manager_push(m, weft_rand_below(&m->rand, 100 * MS), MANAGER_RESET, n);
}

static void
manage_reset(struct manager *m, struct manager_node *n)
{
	if (m->fm == NULL || m->is_dying || !n->is_up)
		return;
	n->is_connected = true;
	weft_fm_reset_path(m->fm, n->index, m->now_ns);
	manager_wake(m);
}

static void
manage_strike(struct manager *m)
{
	const uint64_t for_ns = manage_length_ns(m);
	const uint64_t what = weft_rand_below(&m->rand, 8);

	if (m->is_calm)
		return;
	m->s->total.manager[MANAGER_N_FAULTS]++;
	if (what < 3)
		manage_cut_link(m, for_ns);
	else if (what < 5)
		manage_crash(m, for_ns);
	else if (what == 5)
		m->node[weft_rand_below(&m->rand, m->topo->n_nodes)].cut_ns = m->now_ns + for_ns;
	else if (what == 6)
		manage_death(m);
	else if (m->fm != NULL)
		m->dies_after = 1 + weft_rand_below(&m->rand, 40);
	manager_push(m, 1 + weft_rand_below(&m->rand, 2 * m->plan.fault_gap_ns), MANAGER_STRIKE, m);
}

static void
manage_calm(struct manager *m)
{
	m->is_calm = true;
	m->dies_after = 0;
	for (uint16_t i = 0; i < m->topo->n_links; i++)
		if (m->link_up_ns[i] > m->now_ns)
			m->link_up_ns[i] = m->now_ns;
	for (uint16_t i = 0; i < m->topo->n_nodes; i++) {
		m->node[i].cut_ns = 0;
		m->node[i].up_ns = m->now_ns;
		manage_back(m, &m->node[i]);
	}
}

/* --- the end --- */

static void
manage_look(struct manager *m)
{
	const uint64_t bound_ns =
		m->plan.phase_ns + MANAGE_BOUND_NS + m->topo->n_nodes * MANAGE_BOUND_NODE_NS;
	bool is_right = false;

	manager_push(m, MANAGE_LOOK_NS, MANAGER_LOOK, m);
	if (!m->is_calm && m->now_ns >= m->plan.phase_ns)
		manage_calm(m);
	if (!m->is_calm)
		return;
	snprintf(m->why, sizeof(m->why), "the manager has not converged");
	is_right = m->fm != NULL && weft_fm_is_converged(m->fm) && manager_is_right(m);
	if (!is_right)
		m->good_ns = 0;
	else if (m->good_ns == 0)
		m->good_ns = m->now_ns;
	else if (m->now_ns - m->good_ns >= MANAGE_STAYS_NS)
		m->s->stop = true;
	if (m->now_ns > bound_ns && !m->s->stop)
		violation(m->s, "managed: not as desired %llu ms after all faults: %s",
			(unsigned long long)((m->now_ns - m->plan.phase_ns) / MS), m->why);
}

static void
manage_dispatch(struct manager *m, const struct event *e)
{
	struct manager_node *n = e->object;

	switch ((enum manager_event)heap_event_kind(e)) {
	case MANAGER_REQUEST: manager_message(m, MANAGER_REQUEST, e->object); break;
	case MANAGER_ANSWER: manager_message(m, MANAGER_ANSWER, e->object); break;
	case MANAGER_POLL: manage_poll(m, e->time_ns); break;
	case MANAGER_ACCESS: manager_access(m, e->object); break;
	case MANAGER_LOAD: manager_begin_access(n); break;
	case MANAGER_STRIKE: manage_strike(m); break;
	case MANAGER_WISH:
		if (m->is_calm)
			break;
		manager_wish(m);
		manager_push(
			m, 1 + weft_rand_below(&m->rand, 2 * m->plan.wish_gap_ns), MANAGER_WISH, m);
		break;
	case MANAGER_BACK: manage_back(m, n); break;
	case MANAGER_RESET: manage_reset(m, n); break;
	case MANAGER_TAKEN: manager_take(n); break;
	case MANAGER_DEATH: manage_death(m); break;
	case MANAGER_BIRTH: manage_birth(m); break;
	default: manage_look(m); break;
	}
}

static void
manage_begin(struct manager *m)
{
	m->poll_ns = SIM_NEVER;
	manager_make_nodes(m);
	manager_make_intent(m);
	manage_birth(m);
	for (unsigned int h = 0; h < m->topo->n_hosts; h++)
		manager_push(m, weft_rand_below(&m->rand, m->plan.gap_ns), MANAGER_LOAD,
			&m->node[m->topo->host[h]]);
	if (m->plan.fault_gap_ns != 0)
		manager_push(
			m, weft_rand_below(&m->rand, 2 * m->plan.fault_gap_ns), MANAGER_STRIKE, m);
	manager_push(m, weft_rand_below(&m->rand, m->plan.wish_gap_ns), MANAGER_WISH, m);
	manager_push(m, MANAGE_LOOK_NS, MANAGER_LOOK, m);
}

/* Messages and accesses that are under way. */
static void
manage_end(struct manager *m)
{
	struct event e;

	while (heap_pop(&m->heap, &e))
		if (heap_event_kind(&e) == MANAGER_REQUEST ||
			heap_event_kind(&e) == MANAGER_ANSWER ||
			heap_event_kind(&e) == MANAGER_ACCESS)
			free(e.object);
	weft_fm_free(m->fm);
	manager_free_nodes(m);
	free(m->claim);
	weft_topo_free(m->topo);
	arena_free(&m->arena);
	heap_free(&m->heap);
}

void
manager_run(struct sim *s)
{
	static struct manager m;
	struct event e;

	memset(&m, 0, sizeof(m));
	m.s = s;
	s->stop = false;
	manager_draw(&m);
	manage_begin(&m);
	while (!s->stop && heap_pop(&m.heap, &e)) {
		s->now_ns = m.now_ns = e.time_ns;
		s->step++;
		s->digest = (s->digest ^ e.time_ns ^ heap_event_kind(&e)) *
		            UINT64_C(0x9E3779B97F4A7C15);
		manage_dispatch(&m, &e);
		if (s->step == s->opt->stop_at ||
			(s->step % MANAGE_STOP_EVENTS == 0 && *s->opt->stopped))
			break;
	}
	s->total.manager[MANAGER_N_FABRICS]++;
	if (s->total.violations != 0)
		snprintf(s->sc.fabric, sizeof(s->sc.fabric), "managed");
	manage_end(&m);
}
