/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The judge of connections: the n-th message that comes in a session is the n-th that was sent in
 * it, of each class; a session ends for a reason; windows, credits and buffers keep their bounds;
 * and when all is over no credit is missing. It looks at both ends at once, which nobody else can.
 */

#include "ide.h"
#include "judge.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>

#define ROUNDED_NS 100 /* more than a clock that jumps now and then rounds off */

/* The kinds that hosts and GFDs send, and the account each is booked to. */
static const uint8_t kinds[] = { WEFT_MSG_M2S_REQ, WEFT_MSG_M2S_RWD, WEFT_MSG_S2M_NDR,
	WEFT_MSG_S2M_DRS };

static const struct {
	uint8_t set, class;
	uint8_t order; /* which of them it is */
} account[WEFT_MSG_KINDS] = {
	[WEFT_MSG_M2S_REQ] = { WEFT_CREDIT_MEM_DN, WEFT_CREDIT_REQ, 0 },
	[WEFT_MSG_M2S_RWD] = { WEFT_CREDIT_MEM_DN, WEFT_CREDIT_DATA, 1 },
	[WEFT_MSG_S2M_NDR] = { WEFT_CREDIT_MEM_UP, WEFT_CREDIT_RSP, 2 },
	[WEFT_MSG_S2M_DRS] = { WEFT_CREDIT_MEM_UP, WEFT_CREDIT_DATA, 3 },
};

static_assert(sizeof(kinds) == ORDER_KINDS, "each kind has its place");

static uint64_t
order_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0xBF58476D1CE4E5B9);
	return h ^ h >> 31;
}

static uint64_t
order_hash_message(const struct weft_msg *m, bool late)
{
	uint64_t h = order_mix(m->kind, m->op | (late || m->poison != 0 ? UINT64_C(1) << 32 : 0));

	h = order_mix(h, (uint64_t)m->tag << 32 | (uint64_t)m->dpid << 16 | m->spid);
	h = order_mix(h, m->addr);
	if (weft_msg_has_data(m))
		for (unsigned int i = 0; i < WEFT_MSG_DATA_LEN; i += sizeof(uint64_t))
			h = order_mix(h, weft_get_le64(m->data + i));
	return h;
}

static struct order_life *
order_find_life(struct sim_end *e, uint32_t session)
{
	for (unsigned int i = 0; i < ORDER_LIVES; i++)
		if (e->order.life[i].session == session)
			return &e->order.life[i];
	return NULL;
}

/* Where the n-th message of a class is remembered: no more than that can be under way. */
static uint64_t *
order_place(const struct sim_end *e, const struct order_life *life, unsigned int class, uint64_t n)
{
	const uint64_t room = e->node->sim->sc.rules.credits;

	return &life->hash[class * room + n % room];
}

/*
 * Who has a session with a memory, its host or the switch next to it, has to be told which one it
 * is, before anything goes out.
 */
void
order_memory(struct sim_end *e)
{
	struct sim *s = e->node->sim;
	const uint64_t told = weft_link_session(e->end)->peer.memory;
	const struct order_life *life = order_find_life(e->peer, e->session);

	if (e->peer->node->kind != WEFT_TOPO_GFD || e->session == 0)
		return;
	if (life == NULL && e->node->kind == WEFT_TOPO_SWITCH)
		return; /* it may be the one that begins first */
	if (life == NULL)
		violation(s, "end %u>%u begins a session that the other end has not begun",
			e->node->pid, e->peer_pid);
	else if (told != life->memory)
		violation(s, "node %u is told of memory %llx of gfd %u, not of %llx", e->node->pid,
			(unsigned long long)told, e->peer_pid, (unsigned long long)life->memory);
	else
		oracle_met(e, told);
}

void
order_begin(struct sim_end *e)
{
	struct order *o = &e->order;
	struct order_life *life = &o->life[o->n_lives % ORDER_LIVES];

	misfit_begins(e);
	if (order_find_life(e, e->session) != NULL)
		violation(e->node->sim, "end %u>%u begins session %x again", e->node->pid,
			e->peer_pid, e->session);
	o->n_lives++;
	life->session = e->session;
	memset(life->sent, 0, sizeof(life->sent));
	life->dropped = life->told = 0;
	life->memory = e->node->node.generation;
	memset(o->came, 0, sizeof(o->came));
	o->session = e->session;
}

void
order_sent(struct sim_end *e, const struct weft_msg *m, bool late)
{
	struct order_life *life = order_find_life(e, e->session);
	const uint8_t class = account[m->kind].order;

	if (e->session == 0 || life == NULL) {
		violation(e->node->sim, "end %u>%u sends without a session", e->node->pid,
			e->peer_pid);
		return;
	}
	if (e->peer->session == e->session && !replay_excuses(e) &&
		life->sent[class] - e->peer->order.came[class] >= e->node->sim->sc.rules.credits)
		violation(e->node->sim, "end %u>%u sends more than the other end has room for",
			e->node->pid, e->peer_pid);
	*order_place(e, life, class, life->sent[class]++) = order_hash_message(m, late);
}

void
order_came(struct sim_end *e, const struct weft_msg *m)
{
	struct sim *s = e->node->sim;
	const struct order_life *life = order_find_life(e->peer, e->order.session);
	const uint8_t class = account[m->kind].order;
	uint64_t n;

	/* What waits at a switch goes on, though its session is over, until the next one. */
	if (life == NULL || (e->session == 0 && e->node->kind != WEFT_TOPO_SWITCH)) {
		violation(s, "a message comes to end %u>%u in a session that is none", e->node->pid,
			e->peer_pid);
		return;
	}
	s->total.messages[m->kind]++;
	s->total.poison_came += m->poison != 0;
	equal_came(e, m);
	n = e->order.came[class]++;
	if (replay_excuses(e))
		return;
	if (n >= life->sent[class])
		violation(s, "a %s comes to end %u>%u that was not sent",
			weft_msg_kind_name((enum weft_msg_kind)m->kind), e->node->pid, e->peer_pid);
	else if (*order_place(e, life, class, n) != order_hash_message(m, false))
		violation(s, "%s %llu at end %u>%u is not the one that was sent",
			weft_msg_kind_name((enum weft_msg_kind)m->kind), (unsigned long long)n,
			e->node->pid, e->peer_pid);
}

/*
 * A node counts no more of a jump than of a pause, and a session what it counts of time in which it
 * did not run: half of rx_timeout_ns.
 */
void
order_clock_jumps(struct sim_node *n, uint64_t jump_ns)
{
	const uint64_t half_ns = n->sim->sc.session.rx_timeout_ns / 2;
	const uint64_t most_ns = half_ns < WEFT_NODE_PAUSE_NS ? half_ns : WEFT_NODE_PAUSE_NS;

	for (uint32_t i = 0; i < n->n_ends; i++) {
		struct sim_end *e = &n->end[i];

		if (e->jump_heard_ns != e->heard_ns)
			e->jumped_ns = 0;
		e->jump_heard_ns = e->heard_ns;
		e->jumped_ns += jump_ns < most_ns ? jump_ns : most_ns;
	}
}

/* For how long the end has heard nothing, at most, by its own clock. */
static uint64_t
order_silence(const struct sim_end *e)
{
	const uint64_t passed_ns = e->node->sim->now_ns - e->heard_ns;
	const int64_t fast_ns = (int64_t)passed_ns * e->node->clock.rate >> CLOCK_RATE_LOG2;

	return passed_ns + (uint64_t)fast_ns + ROUNDED_NS +
	       (e->jump_heard_ns == e->heard_ns ? e->jumped_ns : 0);
}

/*
 * A session ends when the other end has left it, was not heard for the time agreed, or IDE failed.
 */
void
order_end(struct sim_end *e)
{
	struct sim *s = e->node->sim;
	const uint64_t silent_ns = s->now_ns - e->heard_ns;
	const bool was_doubted = replay_was_doubted(e);

	if (e->ide != NULL && e->ide->failed == e->session)
		return;
	if (was_doubted || e->peer->session != e->session ||
		order_silence(e) >= s->sc.session.session_timeout_ns)
		return;
	violation(s, "end %u>%u ends session %x for no reason, heard %llu ns ago", e->node->pid,
		e->peer_pid, e->session, (unsigned long long)silent_ns);
}

static void
order_bounds_of_class(struct sim_end *e, unsigned int set, unsigned int class)
{
	const struct weft_credits *f = weft_link_credits(e->end);
	const struct weft_credits *g = weft_link_credits(e->peer->end);

	if (f->outstanding[set][class] + f->pending[set][class] > f->room[set][class])
		violation(e->node->sim, "end %u>%u grants more than it has room for", e->node->pid,
			e->peer_pid);
	if (e->session == e->peer->session && f->may_send[set][class] > g->outstanding[set][class])
		violation(e->node->sim, "end %u>%u has more credit than was granted", e->node->pid,
			e->peer_pid);
}

void
order_bounds(struct sim_end *e)
{
	struct weft_llr *l = weft_link_llr(e->end);
	const struct scenario *sc = &e->node->sim->sc;

	if (weft_llr_unacked(l) > sc->llr.window)
		violation(e->node->sim, "end %u>%u has %u flits out, with a window of %u",
			e->node->pid, e->peer_pid, weft_llr_unacked(l), sc->llr.window);
	if (weft_llr_held_count(l) > sc->llr.rx_flits)
		violation(e->node->sim, "end %u>%u holds %u flits, with room for %u", e->node->pid,
			e->peer_pid, weft_llr_held_count(l), sc->llr.rx_flits);
	if (e->session == 0 || replay_excuses(e))
		return;
	for (unsigned int i = 0; i < sizeof(kinds); i++)
		order_bounds_of_class(e, account[kinds[i]].set, account[kinds[i]].class);
}

void
order_dropped(struct sim_end *e, uint32_t session, unsigned int flits)
{
	struct order_life *life = order_find_life(e, session);

	if (life != NULL)
		life->dropped += flits;
}

/* A wire may bring a report twice, and the end counts it twice: that much is said of each alone. */
void
order_told(struct sim_end *e, uint64_t flits, bool again)
{
	struct order_life *life = e->session == 0 ? NULL : order_find_life(e, e->session);
	const uint64_t before = life == NULL || again ? 0 : life->told;

	if (life == NULL || before + flits > life->dropped)
		violation(e->node->sim, "end %u>%u is told of %llu flits lost, but it was %u",
			e->node->pid, e->peer_pid, (unsigned long long)(before + flits),
			life == NULL ? 0 : life->dropped);
	if (again || life == NULL)
		return;
	life->told += (uint32_t)flits;
	e->node->sim->total.losses_heard += flits;
}

static bool
order_end_is_quiet(struct sim_end *e, char *why, size_t len)
{
	const struct weft_credits *f = weft_link_credits(e->end);
	const struct weft_credits *g = weft_link_credits(e->peer->end);
	const char *what = NULL;

	if (e->session == 0 || e->session != e->peer->session)
		what = "the ends are in different sessions";
	else if (weft_llr_unacked(weft_link_llr(e->end)) != 0)
		what = "flits are not acknowledged";
	else if (weft_llr_held_count(weft_link_llr(e->end)) != 0)
		what = "flits are held";
	else if (monitor_waits(e))
		what = "a forged flit is taken for a good one";
	else if (replay_is_known(e))
		what = "somebody else's flits are known, and it goes on";
	for (unsigned int i = 0; i < sizeof(kinds) && what == NULL; i++) {
		const unsigned int set = account[kinds[i]].set, class = account[kinds[i]].class;

		if (weft_link_peek(e->end, (enum weft_msg_kind)kinds[i]) != NULL)
			what = "messages wait";
		else if (!replay_excuses(e) &&
			 (f->may_send[set][class] + g->pending[set][class] != g->room[set][class] ||
				 f->may_send[set][class] != g->outstanding[set][class]))
			what = "credits are missing";
	}
	if (what != NULL)
		snprintf(why, len, "end %u>%u: %s", e->node->pid, e->peer_pid, what);
	return what == NULL;
}

bool
order_is_quiet(struct sim *s, char *why, size_t len)
{
	for (uint32_t i = 0; i < s->n_ends; i++)
		if (!order_end_is_quiet(&s->end[i], why, len))
			return false;
	return true;
}
