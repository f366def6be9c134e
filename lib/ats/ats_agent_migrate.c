/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Moves of pages: out of the table, invalidated, copied, the old place wiped, back into the table.
 */

#include "ats_agent_priv.h"

static const uint8_t wiped[WEFT_ATS_AGENT_LINE] = { [0 ... WEFT_ATS_AGENT_LINE - 1] =
							    WEFT_ATS_AGENT_WIPED };

static struct agent_client *
migrate_client(const struct weft_ats_agent *a, const struct agent_migration *m)
{
	return &a->client[a->cfg.map[m->map].client];
}

/* --- begin --- */

/*
 * Users have a page for so many times as long as its move took it from them, so that it is theirs
 * for most of the time however often pages are to move.
 */
#define STAY_TIMES 3
#define STAY_MAX                                                                                   \
	(1u << 26) /* 69 s; what is told apart when the units come round, after 73 minutes */

static uint32_t
agent_stay_units(uint64_t ns)
{
	return (uint32_t)((ns + (1u << AGENT_STAY_LOG2) - 1) >> AGENT_STAY_LOG2);
}

static void
agent_stay(struct weft_ats_agent *a, const struct agent_migration *v, uint64_t now_ns)
{
	const uint64_t most_ns = (uint64_t)STAY_MAX << AGENT_STAY_LOG2;
	const uint64_t ns = STAY_TIMES * (now_ns - v->begun_ns);

	a->stays[a->first_page[v->map] + v->page] =
		agent_stay_units(now_ns + (ns < most_ns ? ns : most_ns));
}

/* A page that has never moved may seem to stay, for STAY_MAX at most, once in 73 minutes. */
static bool
agent_must_stay(const struct weft_ats_agent *a, uint32_t page, uint64_t now_ns)
{
	const uint32_t left = a->stays[page] - agent_stay_units(now_ns);

	return left != 0 && left <= STAY_MAX;
}

static bool
agent_may_move(const struct weft_ats_agent *a, unsigned int map, uint32_t page)
{
	const struct weft_ats_agent_map *m = &a->cfg.map[map];

	return m->alt_pa != 0 && a->client[m->client].is_up &&
	       weft_ats_ta_allows(a->ta, a->cfg.client[m->client].id) &&
	       (*agent_page_at(a, map, page) & (AGENT_PRESENT | AGENT_MOVING)) == AGENT_PRESENT;
}

bool
agent_may_begin(const struct weft_ats_agent *a, unsigned int map, uint32_t page, uint64_t now_ns)
{
	return !agent_must_stay(a, a->first_page[map] + page, now_ns) &&
	       agent_may_move(a, map, page);
}

/* The next page whose turn it is. */
static bool
migrate_choose(struct weft_ats_agent *a, uint64_t now_ns, uint16_t *map, uint32_t *page)
{
	const uint32_t all = a->first_page[a->cfg.n_maps];
	uint16_t at = 0;

	for (uint32_t i = 0; i < all; i++) {
		const uint32_t n = a->next_page;

		a->next_page = (n + 1) % all;
		if (n == 0 || n < a->first_page[at])
			at = 0;
		while (a->first_page[at + 1] <= n)
			at++;
		if (!agent_may_begin(a, at, n - a->first_page[at], now_ns))
			continue;
		*map = at;
		*page = n - a->first_page[at];
		return true;
	}
	return false;
}

/* Move page v->page of map v->map. False: its client has no room for the invalidation now. */
static bool
migrate_begin(struct weft_ats_agent *a, struct agent_migration *v, uint64_t now_ns)
{
	const struct weft_ats_agent_map *m = &a->cfg.map[v->map];
	uint8_t *bits = agent_page_at(a, v->map, v->page);
	struct weft_ats_inv inv = { .pasid = -1 };
	int itag;

	v->begun_ns = now_ns;
	/* First the table, then the invalidation; there is no walker's cache to be flushed. */
	*bits |= AGENT_MOVING;
	inv.addr = m->va + ((uint64_t)v->page << m->page_log2);
	inv.log2 = m->page_log2;
	itag = weft_ats_ta_invalidate(a->ta, m->client, &inv);
	if (itag < 0) {
		*bits &= (uint8_t)~AGENT_MOVING;
		return false;
	}
	weft_ats_ta_flushed(a->ta, m->client, 1u << itag);
	v->itag = (uint8_t)itag;
	v->from = (*bits & AGENT_SECOND) != 0 ? m->alt_pa : m->pa;
	v->to = (*bits & AGENT_SECOND) != 0 ? m->pa : m->alt_pa;
	v->from += (uint64_t)v->page << m->page_log2;
	v->to += (uint64_t)v->page << m->page_log2;
	v->lines = (1u << m->page_log2) / WEFT_ATS_AGENT_LINE;
	v->next_line = v->done = 0;
	v->inv_timed_out = false;
	memset(v->op, 0, sizeof(v->op));
	v->state = AGENT_MIGRATION_ASKED;
	a->count[WEFT_ATS_AGENT_N_MOVES]++;
	return true;
}

/* --- go on --- */

/* Only a move whose every completion came, or whose client is gone and fenced, may copy. */
static void
migrate_follow(struct weft_ats_agent *a, struct agent_migration *v, uint64_t now_ns)
{
	const unsigned int client = a->cfg.map[v->map].client;
	const enum weft_ats_inv_state s = weft_ats_ta_state(a->ta, client, v->itag);

	if (v->state == AGENT_MIGRATION_ASKED && s == WEFT_ATS_INV_FAILED && !v->inv_timed_out) {
		v->inv_timed_out = true;
		a->count[WEFT_ATS_AGENT_N_HELD]++;
		agent_ask_ended(a, v, false);
		if (client < 64)
			__atomic_fetch_or(&a->isolated, UINT64_C(1) << client, __ATOMIC_RELAXED);
	}
	if (v->state == AGENT_MIGRATION_ASKED && s == WEFT_ATS_INV_DONE) {
		weft_ats_ta_release(a->ta, client, v->itag);
		v->inv_timed_out = false;
		v->until_ns = migrate_client(a, v)->fence_ns;
		v->state = AGENT_MIGRATION_FENCED;
		a->count[WEFT_ATS_AGENT_N_FENCED] += v->until_ns > now_ns;
	}
	if (v->state == AGENT_MIGRATION_FENCED && now_ns >= v->until_ns)
		v->state = AGENT_MIGRATION_COPYING;
}

/* @return whether one that was asked for has begun */
static bool
migrate_asked(struct weft_ats_agent *a, struct agent_migration *v, uint64_t now_ns)
{
	struct agent_ask *q = agent_ask_next(a, now_ns);

	if (q == NULL || v == NULL)
		return false;
	v->map = q->map;
	v->page = q->page;
	if (!migrate_begin(a, v, now_ns))
		return false;
	agent_ask_begun(a, q, now_ns);
	return true;
}

void
agent_migrate_poll(struct weft_ats_agent *a, uint64_t now_ns)
{
	struct agent_migration *unused = NULL;

	for (struct agent_migration *v = a->migration; v < a->migration + a->cfg.max_concurrent;
		v++) {
		if (v->state == AGENT_MIGRATION_FREE)
			unused = v;
		else
			migrate_follow(a, v, now_ns);
	}
	if (migrate_asked(a, unused, now_ns))
		return;
	if (a->cfg.period_ns == 0 || a->is_on_hold || now_ns < a->migration_due_ns ||
		unused == NULL)
		return;
	a->migration_due_ns = now_ns + a->cfg.period_ns;
	if (migrate_choose(a, now_ns, &unused->map, &unused->page))
		migrate_begin(a, unused, now_ns);
}

void
weft_ats_agent_hold(struct weft_ats_agent *a, bool on)
{
	a->is_on_hold = on;
}

/* --- lines --- */

static uint32_t
migrate_cookie(
	const struct weft_ats_agent *a, const struct agent_migration *v, const struct agent_op *op)
{
	return (uint32_t)(v - a->migration) * AGENT_OPS + (uint32_t)(op - v->op);
}

static bool
migrate_offer(const struct weft_ats_agent *a, struct agent_migration *v, struct agent_op *op,
	uint64_t now_ns, struct weft_ats_agent_op *out)
{
	if (op->step == AGENT_IDLE && v->next_line < v->lines) {
		op->step = AGENT_READ;
		op->line = v->next_line++;
	}
	if (op->step == AGENT_IDLE || op->is_begun || now_ns < op->not_before_ns)
		return false;
	out->cookie = migrate_cookie(a, v, op);
	out->hpa = (op->step == AGENT_WRITE ? v->to : v->from) +
	           (uint64_t)op->line * WEFT_ATS_AGENT_LINE;
	out->is_poison = op->step == AGENT_WRITE && op->is_poison;
	out->data = op->step == AGENT_READ ? NULL : op->step == AGENT_WIPE ? wiped : op->data;
	return true;
}

bool
weft_ats_agent_op(struct weft_ats_agent *a, uint64_t now_ns, struct weft_ats_agent_op *out)
{
	for (unsigned int i = 0; i < a->cfg.max_concurrent; i++) {
		struct agent_migration *v =
			&a->migration[(a->next_migration + i) % a->cfg.max_concurrent];

		if (v->state != AGENT_MIGRATION_COPYING)
			continue;
		for (unsigned int k = 0; k < AGENT_OPS; k++) {
			if (!migrate_offer(a, v, &v->op[k], now_ns, out))
				continue;
			a->next_migration =
				(uint8_t)((v - a->migration + 1) % a->cfg.max_concurrent);
			return true;
		}
	}
	return false;
}

static struct agent_op *
migrate_op_of(struct weft_ats_agent *a, uint32_t cookie, struct agent_migration **v)
{
	assert(cookie / AGENT_OPS < WEFT_ATS_AGENT_MIGRATIONS);
	*v = &a->migration[cookie / AGENT_OPS];
	return &(*v)->op[cookie % AGENT_OPS];
}

void
weft_ats_agent_op_begun(struct weft_ats_agent *a, uint32_t cookie)
{
	struct agent_migration *v;

	migrate_op_of(a, cookie, &v)->is_begun = true;
}

static void
migrate_end(struct weft_ats_agent *a, struct agent_migration *v, uint64_t now_ns)
{
	uint8_t *bits = agent_page_at(a, v->map, v->page);

	*bits = (uint8_t)((*bits ^ AGENT_SECOND) & ~AGENT_MOVING);
	v->state = AGENT_MIGRATION_FREE;
	agent_stay(a, v, now_ns);
	a->count[WEFT_ATS_AGENT_N_MOVED]++;
	agent_ask_ended(a, v, true);
	agent_walks_again(a);
}

void
weft_ats_agent_op_done(struct weft_ats_agent *a, uint32_t cookie, enum weft_ats_agent_op_end how,
	const uint8_t *data, uint64_t now_ns)
{
	struct agent_migration *v;
	struct agent_op *op = migrate_op_of(a, cookie, &v);

	op->is_begun = false;
	if (how == WEFT_ATS_AGENT_OP_LOST) {
		/* A write that comes late must not come after those of the page's owner. */
		op->not_before_ns = now_ns + a->cfg.fence_ns;
		a->count[WEFT_ATS_AGENT_N_COPY_AGAIN]++;
		return;
	}
	if (op->step == AGENT_READ) {
		memcpy(op->data, data, sizeof(op->data));
		op->is_poison = how == WEFT_ATS_AGENT_OP_POISON;
	}
	op->step = op->step == AGENT_WIPE ? AGENT_IDLE : (uint8_t)(op->step + 1);
	if (op->step == AGENT_IDLE && ++v->done == v->lines)
		migrate_end(a, v, now_ns);
}

unsigned int
weft_ats_agent_moving(const struct weft_ats_agent *a)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->cfg.max_concurrent; i++)
		n += a->migration[i].state != AGENT_MIGRATION_FREE;
	return n;
}

unsigned int
weft_ats_agent_stuck(const struct weft_ats_agent *a)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < a->cfg.max_concurrent; i++)
		n += a->migration[i].state == AGENT_MIGRATION_ASKED &&
		     a->migration[i].inv_timed_out;
	return n;
}
