/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The loop: the first event, what it does, the next. When the budget of the fault phase is used up
 * everything is healed and no new requests are made; then all that is open has to end, and all that
 * is under way to arrive.
 */

#include "judge.h"
#include "program.h"
#include "replay.h"
#include "update.h"

#include <stdarg.h>
#include <stdio.h>

#define LOOK_NS (1 * MS)
#define PATIENCE_NS (2 * SEC) /* without any progress after the faults: it hangs */
#define PATIENCE_STEPS 3000000 /* for each host, or so many steps */
#define STOP_STEPS 65536 /* how often to look whether the user wants no more */

const char *const loss_word[LOSS_KINDS] = {
	[LOSS_QUEUE] = "queue_full",
	[LOSS_DOWN] = "link_down",
	[LOSS_NODE] = "node_down",
	[LOSS_HEADER] = "bad_header",
	[LOSS_SPID] = "spid",
	[LOSS_ROUTE] = "no_route",
	[LOSS_FEC] = "uncorrectable_flits",
	[LOSS_SESSION] = "no_session",
};

void
violation(struct sim *s, const char *fmt, ...)
{
	va_list ap;

	if (s->total.violations++ > 0)
		return;
	s->stop = true;
	s->first.step = s->step;
	s->first.time_ns = s->now_ns;
	va_start(ap, fmt);
	vsnprintf(s->first.what, sizeof(s->first.what), fmt, ap);
	va_end(ap);
}

void
progress(struct sim *s)
{
	s->progress.at_ns = s->now_ns;
	s->progress.at_step = s->step;
}

/* Part of the run's fingerprint: two runs of a seed have the same one. */
static void
run_digest(struct sim *s, const struct event *e, uint64_t what)
{
	s->digest = (s->digest ^ e->time_ns ^ what << 8 ^ heap_event_kind(e)) *
	            UINT64_C(0x9E3779B97F4A7C15);
	s->digest ^= s->digest >> 32;
}

static void
run_end_event(struct sim_end *e, uint64_t time_ns)
{
	if (e->timer_ns != time_ns)
		return; /* another came before it */
	e->timer_ns = SIM_NEVER;
	if (e->node->resume_ns == 0)
		edge_timer(e);
}

/* A part of the fabric first, if there is one that was not healed before. */
static void
run_heal(struct sim *s)
{
	progress(s);
	if (!core_heal(s))
		fault_heal(s);
}

/* After the faults: is it over, or does it hang? */
static void
run_look(struct sim *s)
{
	char why[120];

	heap_push(&s->heap, s->now_ns + LOOK_NS, EV_LOOK, s);
	if (s->core.is_on ? core_look(s)
			  : !s->faults.is_healed && s->now_ns >= s->sc.fault.phase_ns)
		run_heal(s);
	replay_look(s);
	if (!s->faults.is_healed)
		return;
	if (s->progress.sources_done == s->progress.n_sources && s->progress.n_programs == 0 &&
		!update_is_on(s) && order_is_quiet(s, why, sizeof(why))) {
		s->stop = true;
		return;
	}
	if (s->now_ns - s->progress.at_ns < PATIENCE_NS &&
		s->step - s->progress.at_step < PATIENCE_STEPS * s->progress.n_sources)
		return;
	if (s->progress.sources_done == s->progress.n_sources && s->progress.n_programs != 0)
		violation(s, "%llu programs wait for ever",
			(unsigned long long)s->progress.n_programs);
	else if (s->progress.sources_done == s->progress.n_sources)
		violation(s, "all requests have ended, but %s", why);
	else
		violation(s, "%llu of %llu hosts wait for ever",
			(unsigned long long)(s->progress.n_sources - s->progress.sources_done),
			(unsigned long long)s->progress.n_sources);
}

static void
run_dispatch(struct sim *s, const struct event *e)
{
	struct sim_frame *f;

	switch ((enum sim_event)heap_event_kind(e)) {
	case EV_ARRIVE:
		f = e->object;
		run_digest(s, e, (uint64_t)f->link_dir << 16 | f->len);
		node_arrive(s, f);
		break;
	case EV_END:
		run_digest(s, e, (uint64_t)((struct sim_end *)e->object - s->end));
		run_end_event(e->object, e->time_ns);
		break;
	case EV_POLL: node_poll(e->object); break;
	case EV_SERVE: node_serve(e->object); break;
	case EV_RESUME: node_resume(e->object); break;
	case EV_FAULT:
		run_digest(s, e, s->faults.n);
		fault_strike(s);
		break;
	case EV_PART: node_look_parting(e->object); break;
	case EV_PROGRAM: program_step(e->object); break;
	case EV_MEND: misfit_mend(e->object); break;
	case EV_UPDATE:
		run_digest(s, e, 0);
		update_go_on(s);
		break;
	default: run_look(s); break;
	}
}

static inline void
run_fetch(const void *p, unsigned int lines)
{
	for (unsigned int i = 0; i < lines; i++)
		__builtin_prefetch((const uint8_t *)p + (size_t)i * WEFT_CACHE_LINE);
}

/* Stages of fetching: how many events ahead. What one stage needs an earlier one has fetched. */
enum { AHEAD_END = 1, AHEAD_WAY = 3, AHEAD_NODE = 5, AHEAD_DATA = 7, AHEAD_OBJECT = 10, AHEAD_N };

static void
run_fetch_frame(const struct sim *s, const struct event *const *e)
{
	const struct sim_frame *f;

	if (heap_event_kind(e[AHEAD_DATA]) == EV_ARRIVE) {
		f = e[AHEAD_DATA]->object;
		run_fetch(&s->link_dir[f->link_dir], 1);
		run_fetch(f->data + WEFT_WIRE_FLITS_OFF, 4);
	}
	if (heap_event_kind(e[AHEAD_NODE]) == EV_ARRIVE) {
		f = e[AHEAD_NODE]->object;
		run_fetch(&s->node[s->link_dir[f->link_dir].to], 2);
	}
	if (heap_event_kind(e[AHEAD_WAY]) == EV_ARRIVE) {
		f = e[AHEAD_WAY]->object;
		node_fetch_way(&s->node[s->link_dir[f->link_dir].to], f);
	}
	if (heap_event_kind(e[AHEAD_END]) == EV_ARRIVE) {
		f = e[AHEAD_END]->object;
		node_fetch_end(&s->node[s->link_dir[f->link_dir].to], f);
	}
}

static void
run_fetch_end(const struct event *const *e)
{
	if (heap_event_kind(e[AHEAD_NODE]) == EV_END) {
		const struct sim_end *end = e[AHEAD_NODE]->object;

		run_fetch(end->node, 6);
		edge_fetch(end);
	}
	if (heap_event_kind(e[AHEAD_END]) == EV_END)
		edge_fetch_peer(e[AHEAD_END]->object);
}

static void
run_fetch_ahead(const struct sim *s)
{
	const struct event *e[AHEAD_N];

	if (heap_ahead(&s->heap, e, AHEAD_N) < AHEAD_N)
		return; /* so little is in the cache anyway */
	run_fetch(e[AHEAD_OBJECT]->object, 2);
	run_fetch_frame(s, e);
	run_fetch_end(e);
}

static void
run_start(struct sim *s)
{
	s->digest = s->seed;
	for (uint16_t i = 0; i < s->topo->n_nodes; i++)
		node_turn(&s->node[i]);
	fault_plan(s);
	heap_push(&s->heap, LOOK_NS, EV_LOOK, s);
}

void
sim_run(struct sim *s)
{
	struct event e;

	run_start(s);
	while (!s->stop && heap_pop(&s->heap, &e)) {
		s->now_ns = e.time_ns;
		s->step++;
		run_fetch_ahead(s);
		run_dispatch(s, &e);
		if (s->step == s->opt->stop_at || (s->step % STOP_STEPS == 0 && *s->opt->stopped))
			break;
		if (!s->faults.is_healed && !s->core.is_on &&
			(s->total.hops >= s->faults.hops ||
				(s->progress.sources_done == s->progress.n_sources &&
					s->progress.n_programs == 0)))
			run_heal(s);
	}
	forge_uio_look(s);
	if (s->stop)
		equal_look(s);
	if (s->stop && s->total.violations == 0 &&
		s->total.requests != s->total.completed + s->total.lost)
		violation(s, "%llu requests, %llu completed, %llu lost",
			(unsigned long long)s->total.requests,
			(unsigned long long)s->total.completed, (unsigned long long)s->total.lost);
}
