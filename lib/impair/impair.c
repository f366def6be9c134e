/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * When injectors strike, and what becomes of frames. The distance between events of probability p
 * is geometric, so it is drawn once an event and not a number a flit.
 */

#include "weft_impair.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "impair_priv.h"

#include "weft_wire.h"

static_assert((int)IMPAIR_INJECTORS == (int)WEFT_IMPAIR_INJECTORS, "one event each");

/* Far enough to be never, near enough to add to any position. */
#define FARTHEST 0x1p60

const struct weft_counter weft_impair_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_impair_counters.def"
#undef WEFT_COUNTER
};

void
weft_impair_schedule(struct weft_impair_event *e, uint64_t from)
{
	double distance;

	if (e->p <= 0) {
		e->at = IMPAIR_NEVER;
		return;
	}
	/* At p = 1 the divisor is minus infinity, and the distance 0. */
	distance = floor(log1p(-weft_rand_unit(&e->rand)) / log1p(-e->p));
	e->at = from + (uint64_t)fmin(distance, FARTHEST);
}

void
weft_impair_next_flit(struct weft_impair *w)
{
	w->flit_event = IMPAIR_NEVER;
	for (unsigned int i = 0; i < IMPAIR_FLIT_INJECTORS; i++) {
		uint64_t at = w->event[i].at;

		if (i == IMPAIR_BER && at != IMPAIR_NEVER)
			at /= WEFT_WIRE_FLIT_LEN * 8;
		if (at < w->flit_event)
			w->flit_event = at;
	}
}

static void
impair_next_frame(struct weft_impair *w)
{
	w->frame_event = IMPAIR_NEVER;
	for (unsigned int i = IMPAIR_FLIT_INJECTORS; i < IMPAIR_INJECTORS; i++)
		if (w->event[i].at < w->frame_event)
			w->frame_event = w->event[i].at;
}

/* Number of the next thing that injector i decides on. */
static uint64_t
impair_position(const struct weft_impair *w, unsigned int i)
{
	if (i >= IMPAIR_FLIT_INJECTORS)
		return w->frame;
	return i == IMPAIR_BER ? w->flit * WEFT_WIRE_FLIT_LEN * 8 : w->flit;
}

static void
impair_apply(struct weft_impair *w, const struct weft_impair_cfg *cfg, bool start_over)
{
	const double p[IMPAIR_INJECTORS] = {
		[IMPAIR_BER] = cfg->ber,
		[IMPAIR_BITS] = cfg->bits_p,
		[IMPAIR_BURST] = cfg->burst_p,
		[IMPAIR_CHANNEL] = cfg->channel,
		[IMPAIR_UNCORRECTABLE] = cfg->uncorrectable,
		[IMPAIR_DROP] = cfg->drop,
		[IMPAIR_DUP] = cfg->dup,
		[IMPAIR_REORDER] = cfg->reorder,
		[IMPAIR_DELAY] = cfg->delay_p,
		[IMPAIR_REPLAY] = cfg->replay,
	};
	struct weft_rand seeds;

	weft_rand_seed(&seeds, cfg->seed);
	for (unsigned int i = 0; i < IMPAIR_INJECTORS; i++) {
		struct weft_impair_event *e = &w->event[i];
		/* Drawn, not counted up: generators at near seeds would run after each other. */
		const uint64_t seed = weft_rand_u64(&seeds);

		if (start_over)
			weft_rand_seed(&e->rand, seed);
		else if (!(e->p < p[i]) && !(e->p > p[i]))
			continue;
		e->p = p[i];
		weft_impair_schedule(e, impair_position(w, i));
	}
	/* A caller keeps frames from then on. */
	if (w->cfg.replay <= 0)
		w->sent = 0;
	w->cfg = *cfg;
	weft_impair_next_flit(w);
	impair_next_frame(w);
}

int
weft_impair_init(struct weft_impair *w, const struct weft_impair_cfg *cfg)
{
	if (weft_impair_check(cfg, NULL, 0) != 0)
		return -EINVAL;
	*w = (struct weft_impair){ 0 };
	impair_apply(w, cfg, true);
	return 0;
}

int
weft_impair_set(struct weft_impair *w, const struct weft_impair_cfg *cfg)
{
	if (weft_impair_check(cfg, NULL, 0) != 0)
		return -EINVAL;
	impair_apply(w, cfg, cfg->seed != w->cfg.seed);
	return 0;
}

/* True if injector i strikes the frame at hand; its next event is drawn then. */
static bool
impair_strikes(struct weft_impair *w, enum impair_injector i)
{
	struct weft_impair_event *e = &w->event[i];

	if (e->at != w->frame)
		return false;
	weft_impair_schedule(e, w->frame + 1);
	return true;
}

static void
impair_delay(struct weft_impair *w, struct weft_impair_fate *fate)
{
	for (unsigned int i = 0; i < 2; i++)
		fate->delay_ns[i] += w->cfg.delay_ns + weft_rand_below(&w->event[IMPAIR_DELAY].rand,
							       w->cfg.jitter_ns + 1);
}

static unsigned int
impair_replay(struct weft_impair *w)
{
	const uint64_t kept = w->sent < w->cfg.history ? w->sent : w->cfg.history;

	if (kept == 0)
		return 0;
	w->count[WEFT_IMPAIR_N_REPLAYED]++;
	return 1 + (unsigned int)weft_rand_below(&w->event[IMPAIR_REPLAY].rand, kept);
}

static void
impair_decide(struct weft_impair *w, struct weft_impair_fate *fate)
{
	const bool drop = impair_strikes(w, IMPAIR_DROP), dup = impair_strikes(w, IMPAIR_DUP),
		   reorder = impair_strikes(w, IMPAIR_REORDER),
		   delay = impair_strikes(w, IMPAIR_DELAY);

	if (delay)
		impair_delay(w, fate);
	if (reorder) {
		fate->delay_ns[0] += w->cfg.reorder_ns;
		fate->delay_ns[1] += w->cfg.reorder_ns;
	}
	if (drop) {
		*fate = (struct weft_impair_fate){ .drop = true };
		w->count[WEFT_IMPAIR_N_DROPPED]++;
	} else {
		fate->copies += dup;
		w->count[WEFT_IMPAIR_N_DUPLICATED] += dup;
		w->count[WEFT_IMPAIR_N_REORDERED] += reorder;
		w->count[WEFT_IMPAIR_N_DELAYED] += delay;
	}
	if (impair_strikes(w, IMPAIR_REPLAY))
		fate->replay_back = impair_replay(w);
}

void
weft_impair_frame(struct weft_impair *w, struct weft_impair_fate *fate)
{
	*fate = (struct weft_impair_fate){ .copies = 1 };
	w->count[WEFT_IMPAIR_N_FRAMES]++;
	if (w->frame == w->frame_event) {
		impair_decide(w, fate);
		w->frame++;
		impair_next_frame(w);
	} else {
		w->frame++;
	}
	w->sent += !fate->drop;
}
