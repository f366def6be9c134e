/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Detection of duplicates (doc/session.md). Why never both of two give way: one that is asking is
 * refused by an answer only, and whoever answered it runs, or has the smaller instance; the latter
 * can be refused only by somebody else, since the first does not take part.
 */

#include "weft_duplicate.h"

#include <errno.h>

#include "weft_base.h"

#define ASK_TIMES 4 /* frames may be lost */
#define NS_PER_MS 1000000
#define PACES 8 /* a question comes sooner by up to this part of again_ns */

const struct weft_counter weft_duplicate_counters[] = {
#define WEFT_COUNTER(id, name, unit, help) { name, unit, help },
#include "weft_duplicate_counters.def"
#undef WEFT_COUNTER
};

void
weft_duplicate_defaults(struct weft_duplicate_cfg *c)
{
	*c = (struct weft_duplicate_cfg){
		.ask_ns = 55 * NS_PER_MS,
		.again_ns = UINT64_C(10000) * NS_PER_MS,
		.pause_ns = 20 * NS_PER_MS,
	};
}

int
weft_duplicate_init(struct weft_duplicate *d, const struct weft_duplicate_cfg *cfg, uint64_t now_ns)
{
	if (cfg->instance == 0 || cfg->ask_ns == 0 || cfg->again_ns == 0 || cfg->pause_ns == 0)
		return -EINVAL;
	memset(d, 0, sizeof(*d));
	d->cfg = *cfg;
	d->left = ASK_TIMES;
	d->due_ns = now_ns;
	return 0;
}

/* From another process of this node, as it says (SESS-33). Own frames may come back by a hub. */
static bool
duplicate_is_meant(const struct weft_duplicate *d, const struct weft_control *c)
{
	return c->type == WEFT_CONTROL_ANNOUNCE && c->instance != d->cfg.instance &&
	       memcmp(c->fabric, d->cfg.fabric, sizeof(c->fabric)) == 0 &&
	       memcmp(c->name, d->cfg.node, sizeof(c->name)) == 0;
}

/* One in pause_ns: anybody can send any number of them (SESS-36). */
static bool
duplicate_has_time(struct weft_duplicate *d, uint64_t *after_ns, uint64_t now_ns)
{
	if (now_ns < *after_ns) {
		d->count[WEFT_DUPLICATE_N_EXCESS]++;
		return false;
	}
	*after_ns = now_ns + d->cfg.pause_ns;
	return true;
}

/* SESS-35 */
static void
duplicate_asked(struct weft_duplicate *d, const struct weft_control *c, uint64_t now_ns)
{
	const bool may_answer =
		d->state == WEFT_DUPLICATE_RUNS ||
		(d->state == WEFT_DUPLICATE_ASKING && d->cfg.instance < c->instance);

	if (may_answer && duplicate_has_time(d, &d->answer_after_ns, now_ns))
		d->answer_to = c->instance;
}

/* SESS-37 */
static bool
duplicate_is_proven(struct weft_duplicate *d, const struct weft_control *c)
{
	struct weft_control bare = *c;
	uint8_t want[WEFT_PROOF_LEN];

	if (d->cfg.proof == NULL)
		return true;
	memset(bare.proof, 0, sizeof(bare.proof));
	if (d->cfg.proof(d->cfg.arg, &bare, want) &&
		weft_control_is_equal(want, c->proof, WEFT_PROOF_LEN))
		return true;
	d->count[WEFT_DUPLICATE_N_FORGED]++;
	return false;
}

/* SESS-34 */
static bool
duplicate_answered(struct weft_duplicate *d, const struct weft_control *c, uint64_t now_ns)
{
	const bool is_known = d->state == WEFT_DUPLICATE_RUNS && d->other == c->instance &&
	                      now_ns - d->found_ns < d->cfg.again_ns / 2;

	if (d->state == WEFT_DUPLICATE_REFUSED ||
		!duplicate_has_time(d, &d->check_after_ns, now_ns) || !duplicate_is_proven(d, c) ||
		is_known)
		return false;
	d->count[WEFT_DUPLICATE_N_FOUND]++;
	d->other = c->instance;
	d->other_runs_ms = c->runs_ms;
	d->found_ns = now_ns;
	/* One that does not take part and is not the smaller only says that it was refused. */
	if (d->state == WEFT_DUPLICATE_ASKING &&
		(c->runs_ms != 0 || c->instance < d->cfg.instance)) {
		d->state = WEFT_DUPLICATE_REFUSED;
		d->left = ASK_TIMES;
		d->due_ns = now_ns;
		d->answer_to = 0;
	}
	return true;
}

bool
weft_duplicate_take(struct weft_duplicate *d, const struct weft_control *c, uint64_t now_ns)
{
	if (!duplicate_is_meant(d, c))
		return false;
	if (c->heard == d->cfg.instance)
		return duplicate_answered(d, c, now_ns);
	if (c->heard == 0)
		duplicate_asked(d, c, now_ns);
	return false;
}

/* False: no proof can be made, and without one it would not be believed. */
static bool
duplicate_write(struct weft_duplicate *d, uint64_t heard, uint64_t now_ns, struct weft_control *c)
{
	const uint64_t runs_ms = (now_ns - d->began_ns) / NS_PER_MS;

	*c = (struct weft_control){
		.type = WEFT_CONTROL_ANNOUNCE, .instance = d->cfg.instance, .heard = heard
	};
	memcpy(c->fabric, d->cfg.fabric, sizeof(c->fabric));
	memcpy(c->name, d->cfg.node, sizeof(c->name));
	if (d->state == WEFT_DUPLICATE_RUNS)
		c->runs_ms = runs_ms == 0           ? 1
		             : runs_ms > UINT32_MAX ? UINT32_MAX
		                                    : (uint32_t)runs_ms;
	if (heard == 0) {
		d->count[WEFT_DUPLICATE_N_QUESTIONS]++;
		d->asked_ns = now_ns;
		return true;
	}
	d->count[WEFT_DUPLICATE_N_ANSWERS]++;
	return d->cfg.proof == NULL || d->cfg.proof(d->cfg.arg, c, c->proof);
}

/*
 * When one that runs asks next. Each at a pace of its own: of three that asked in step, one would
 * go unanswered every time (SESS-36).
 */
static uint64_t
duplicate_next_question(const struct weft_duplicate *d, uint64_t now_ns)
{
	return now_ns + d->cfg.again_ns - d->cfg.instance % (d->cfg.again_ns / PACES + 1);
}

uint64_t
weft_duplicate_deadline(const struct weft_duplicate *d)
{
	return d->state != WEFT_DUPLICATE_RUNS && d->left == 0 ? UINT64_MAX : d->due_ns;
}

bool
weft_duplicate_next(struct weft_duplicate *d, uint64_t now_ns, struct weft_control *c)
{
	const uint64_t asker = d->answer_to;

	d->answer_to = 0;
	if (asker != 0 && duplicate_write(d, asker, now_ns, c))
		return true;
	if (now_ns < weft_duplicate_deadline(d))
		return false;
	switch (d->state) {
	case WEFT_DUPLICATE_ASKING:
		d->left--;
		d->due_ns = now_ns + d->cfg.ask_ns;
		return duplicate_write(d, 0, now_ns, c);
	case WEFT_DUPLICATE_RUNS:
		d->due_ns = duplicate_next_question(d, now_ns);
		return duplicate_write(d, 0, now_ns, c);
	default:
		d->left--;
		d->due_ns = now_ns + d->cfg.pause_ns;
		return duplicate_write(d, d->other, now_ns, c);
	}
}

bool
weft_duplicate_is_settled(const struct weft_duplicate *d, uint64_t now_ns)
{
	return d->state == WEFT_DUPLICATE_RUNS ||
	       (d->left == 0 && (d->state == WEFT_DUPLICATE_REFUSED || now_ns >= d->due_ns));
}

void
weft_duplicate_begin(struct weft_duplicate *d, uint64_t now_ns)
{
	assert(d->state != WEFT_DUPLICATE_REFUSED);
	d->state = WEFT_DUPLICATE_RUNS;
	d->began_ns = now_ns;
	d->due_ns = duplicate_next_question(d, now_ns);
}

void
weft_duplicate_ask(struct weft_duplicate *d)
{
	if (d->state == WEFT_DUPLICATE_RUNS && d->due_ns > d->asked_ns + d->cfg.pause_ns)
		d->due_ns = d->asked_ns + d->cfg.pause_ns;
}
