/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Somebody on links of rxl mode who records what goes by, flits and link control, and plays it
 * back: what went by last, or what is anywhere on his tape, of former sessions too, one frame
 * behind the other at the link's rate. He has no keys and changes nothing. An old flit is one whose
 * number does not stand for it, or not any more. Without keys it may be believed (doc/llr.md): what
 * comes of that is excused, in that session and for the lines that it reached, and the end has to
 * find out as soon as the true flit of that number comes.
 */

#include "replay.h"

#include <string.h>

#include "weft_crc.h"
#include "weft_flit.h"
#include "weft_isn.h"

#define TAPES 4
#define TAPE_FLITS 8192u /* of the largest frames, */
#define TAPE_LEAST 256 /* but as many frames as this, */
#define TAPE_MOST 2048 /* and no more than that */
#define AIM 64 /* numbers that are next */
#define NODES_MOST 40 /* no fabric that seeds draw has more */
#define SENT (WEFT_ISN_NUMBERS / 2) /* flits of which it is known what their number stands for */
#define RECOVER_NS (1 * SEC) /* behind the last frame played back, all goes on by then */
#define DOUBT_NS (300 * MS) /* two sessions of an end do not end for doubt within less */
#define ACT_NS (5 * MS) /* an end that knows acts within this */

struct sim_tape {
	uint32_t link_dir;
	uint64_t n; /* frames recorded */
	uint32_t room;
	struct sim_frame **frame; /* ring */
};

struct sim_replay {
	/* As sender. */
	uint32_t session;
	uint64_t newest; /* position of the newest flit sent; its number is that, modulo numbers */
	uint64_t sent[SENT]; /* by position: hash of the flit */
	/* As receiver: the session in which ... last, 0: none */
	uint32_t saw; /* an old flit came, and was seen not to be the true one */
	uint32_t misled; /* an Ack was played back, and believed, or fits nothing */
	uint32_t fooled; /* an old flit was taken */
	uint64_t doubted; /* sessions that it gave up for doubt, since it was started */
	/* By the clock of the ends, which stands still with the node. */
	uint64_t doubted_ns; /* the last of them */
	uint64_t known_ns; /* it has met two contents of a number in the session that was fooled */
	/* Of the last old flit that was handed on at once. */
	int number; /* -1: none that the true one is awaited of */
	uint64_t hash;
	uint64_t delivered; /* flits before it */
	uint64_t conflicts; /* that the retry layer had counted when an old flit was taken */
};

const char *const replay_word[REPLAY_COUNTS] = {
	[REPLAY_FRAMES] = "frames",
	[REPLAY_OLD] = "old",
	[REPLAY_TAKEN] = "taken",
	[REPLAY_DOUBTED] = "doubted",
	[REPLAY_RESTARTS] = "restarts",
};

/* --- what a number stands for --- */

/* All that stays when a flit is sent again. */
static uint64_t
replay_hash_flit(const uint8_t *flit)
{
	uint64_t h = flit[0] >> 6;

	for (unsigned int i = 0; i < WEFT_FLIT_CRD_OFF; i += sizeof(uint64_t)) {
		h = (h ^ weft_get_le64(flit + WEFT_FLIT_H_OFF + i)) * UINT64_C(0x9E3779B97F4A7C15);
		h ^= h >> 29;
	}
	return h | 1;
}

static bool
replay_is_nop(const uint8_t *flit)
{
	return flit[0] >> 6 == WEFT_FLIT_IDLE_NOP;
}

void
replay_sent(struct sim_end *e, const struct sim_frame *f, const struct weft_llr_tx_info *out)
{
	struct sim_replay *r = e->replay;

	if (r->session != f->hdr.session) {
		memset(r->sent, 0, sizeof(r->sent));
		r->session = f->hdr.session;
		r->newest = WEFT_ISN_NUMBERS + out->first;
	}
	for (unsigned int i = 0; i < out->n; i++) {
		const uint8_t *flit = f->data + WEFT_WIRE_FRAME_LEN(i);
		const uint64_t ahead = (out->first + i - r->newest) % WEFT_ISN_NUMBERS;

		if (replay_is_nop(flit) || (out->invert_crc & WEFT_BIT64(i)) != 0)
			continue;
		if (ahead < SENT)
			r->newest += ahead;
		r->sent[(out->first + i) % SENT] = replay_hash_flit(flit);
	}
}

/* The number that an intact flit was sent with, or -1. */
static int
replay_number(const struct sim *s, uint64_t syndrome)
{
	if (s->sc.llr.isn == WEFT_ISN_PSEUDO)
		return weft_isn_decode(syndrome);
	for (unsigned int i = 0; i < WEFT_ISN_NUMBERS; i++)
		if (weft_isn_xor_number(i) == syndrome)
			return (int)i;
	return -1;
}

/* True if the number stands for this flit, in the sender's session. */
static bool
replay_is_true(const struct sim_replay *from, int number, uint64_t hash)
{
	const uint64_t behind = (from->newest - (uint64_t)number) % WEFT_ISN_NUMBERS;

	return behind < SENT && from->sent[(unsigned int)number % SENT] == hash;
}

/* Flits of a frame that are intact and old. */
static uint64_t
replay_old_flits(const struct sim_end *e, const struct sim_frame *f, const uint64_t *syndrome)
{
	const struct sim_replay *from = e->peer->replay;
	uint64_t old = 0;

	for (unsigned int i = 0; i < f->hdr.n_flits; i++) {
		const uint8_t *flit = f->data + WEFT_WIRE_FRAME_LEN(i);
		const int number =
			replay_is_nop(flit) ? -1 : replay_number(e->node->sim, syndrome[i]);

		if (number >= 0 && (from->session != f->hdr.session ||
					   !replay_is_true(from, number, replay_hash_flit(flit))))
			old |= WEFT_BIT64(i);
	}
	return old;
}

/* --- the tapes --- */

void
replay_draw(struct scenario *sc, uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed ^ UINT64_C(0x7A9E)); /* of its own, as for IDE */
	if (weft_rand_below(&r, 2) == 0 && sc->mode == WEFT_MODE_RXL)
		sc->fault.weight[FAULT_REPLAY] = 1 + (uint32_t)weft_rand_below(&r, 3);
}

void
replay_make(struct sim *s)
{
	const uint32_t n = s->topo->n_ports < TAPES ? s->topo->n_ports : TAPES;
	const uint32_t fits = TAPE_FLITS / s->sc.max_flits;
	const uint32_t room = fits < TAPE_LEAST ? TAPE_LEAST : fits > TAPE_MOST ? TAPE_MOST : fits;
	struct weft_rand r;

	if (s->sc.fault.weight[FAULT_REPLAY] == 0 || s->sc.fault.gap_ns == 0 ||
		s->topo->n_nodes > NODES_MOST)
		return;
	weft_rand_seed(&r, s->seed ^ UINT64_C(0x7A9E5));
	s->tapes.tape = arena_alloc(&s->memory.arena, n * sizeof(*s->tapes.tape));
	while (s->tapes.n < n) {
		const uint32_t link_dir = (uint32_t)weft_rand_below(&r, s->topo->n_ports);
		struct sim_tape *t = &s->tapes.tape[s->tapes.n];

		if (s->link_dir[link_dir].tape != 0)
			continue;
		t->link_dir = link_dir;
		t->room = room;
		t->frame = arena_alloc(&s->memory.arena, room * sizeof(struct sim_frame *));
		s->link_dir[link_dir].tape = (uint8_t)++s->tapes.n;
	}
}

void
replay_end_make(struct sim_end *e)
{
	if (e->node->sim->tapes.n != 0)
		e->replay = arena_alloc(&e->node->sim->memory.arena, sizeof(*e->replay));
}

void
replay_end_start(struct sim_end *e)
{
	if (e->replay == NULL)
		return;
	e->replay->doubted = 0;
	e->replay->doubted_ns = 0;
}

void
replay_record(struct sim *s, uint32_t link_dir, const struct sim_frame *f)
{
	struct sim_tape *t = &s->tapes.tape[s->link_dir[link_dir].tape - 1];
	struct sim_frame **place = &t->frame[t->n++ % t->room];

	if (*place != NULL)
		frame_free(s, *place);
	*place = frame_copy(s, f);
}

static const struct sim_end *
replay_end_for(const struct sim *s, const struct sim_frame *f)
{
	const struct sim_node *to = f->hdr.dpid < WEFT_PIDS ? s->by_pid[f->hdr.dpid] : NULL;

	return to == NULL || to->slot == NULL ? NULL : node_end_of(to, f->hdr.spid);
}

/*
 * Flits of a live session need either keys, or numbers that tell: without both nobody can find out,
 * ever.
 */
static bool
replay_may_play(const struct sim *s, const struct sim_frame *f)
{
	const struct sim_end *e = replay_end_for(s, f);

	if (f->hdr.kind == WEFT_WIRE_CONTROL || s->sc.llr.gap_decoding ||
		s->sc.session.params.ide_mode != WEFT_IDE_OFF)
		return true;
	return e != NULL && f->hdr.session != e->session && f->hdr.session != e->peer->session;
}

/* True if it begins with a number that its receiver will soon take for another flit. */
static bool
replay_is_next(const struct sim *s, const struct sim_frame *f)
{
	const struct sim_end *e = replay_end_for(s, f);
	uint64_t syndrome;
	int number;

	if (e == NULL || f->hdr.kind == WEFT_WIRE_CONTROL || f->hdr.session != e->session ||
		replay_is_nop(f->data + WEFT_WIRE_FLITS_OFF))
		return false;
	syndrome = weft_codec_syndrome(&s->opt->codec, f->data + WEFT_WIRE_FLITS_OFF,
		(enum weft_crc_order)s->sc.crc_order);
	number = replay_number(s, syndrome ^ e->address_in);
	return number >= 0 &&
	       ((uint64_t)number - e->peer->replay->newest - 1) % WEFT_ISN_NUMBERS < AIM;
}

/* What went by last, what anywhere on the tape, or from the first flit on whose number is next. */
static uint64_t
replay_draw_begin(const struct sim *s, const struct sim_tape *t, uint64_t where, uint64_t flits)
{
	const uint64_t have = t->n < t->room ? t->n : t->room;
	uint64_t at = t->n - have;

	switch (where % 3) {
	case 0: return t->n - (flits < have ? flits : have);
	case 1: return t->n - 1 - where / 3 % have;
	default:
		while (at < t->n && !replay_is_next(s, t->frame[at % t->room]))
			at++;
		return at;
	}
}

void
replay_play(struct sim *s, uint64_t where, uint64_t flits)
{
	const struct sim_tape *t = s->tapes.n == 0 ? NULL : &s->tapes.tape[where % s->tapes.n];
	uint64_t at_ns = s->now_ns + s->sc.latency_ns, played = 0;

	if (t == NULL || t->n == 0)
		return;
	for (uint64_t at = replay_draw_begin(s, t, where / TAPES, flits);
		at < t->n && played < flits; at++) {
		const struct sim_frame *f = t->frame[at % t->room];
		const unsigned int n = f->hdr.n_flits == 0 ? 1 : f->hdr.n_flits;
		struct sim_frame *copy;

		if (!replay_may_play(s, f))
			continue;
		copy = frame_copy(s, f);
		copy->is_again = copy->is_replayed = true;
		copy->link_dir = t->link_dir;
		copy->flap = s->link_dir[t->link_dir].flaps;
		played += n;
		at_ns += n * (uint64_t)s->sc.flit_ns;
		heap_push(&s->heap, at_ns, EV_ARRIVE, copy);
		s->total.replay[REPLAY_FRAMES]++;
	}
	s->faults.replayed_ns = at_ns > s->faults.replayed_ns ? at_ns : s->faults.replayed_ns;
}

/* --- what an end makes of it --- */

static uint64_t
replay_llr_count(const struct sim_end *e, enum weft_llr_counter c)
{
	return weft_llr_count(weft_link_llr(e->end), c);
}

static bool
replay_is_of_session(const struct sim_end *e, uint32_t id)
{
	const struct weft_session *s = weft_link_session(e->end);

	return id != 0 && (id == s->id || id == s->attempt.pending_sid);
}

bool
replay_watches(const struct sim_end *e, const struct sim_frame *f)
{
	return e->replay != NULL && (f->is_replayed || e->replay->fooled != 0);
}

struct replay_mark
replay_mark(struct sim_end *e, struct sim_frame *f, const uint64_t *syndrome)
{
	struct sim_replay *r = e->replay;
	struct replay_mark m = { .is_live = replay_is_of_session(e, f->hdr.session),
		.acks = replay_llr_count(e, WEFT_LLR_N_ACKS) +
		        replay_llr_count(e, WEFT_LLR_N_OUT_OF_WINDOW),
		.conflicts = replay_llr_count(e, WEFT_LLR_N_CONFLICTS),
		.fooled = r->fooled };

	if (!f->is_replayed || !m.is_live)
		return m;
	m.old = replay_old_flits(e, f, syndrome);
	/* What the call hands on may be of one of them: it is known only behind it. */
	if (m.old != 0)
		r->fooled = f->hdr.session;
	for (uint64_t left = m.old; e->ide != NULL && left != 0; left &= left - 1) {
		const unsigned int i = (unsigned int)__builtin_ctzll(left);

		/* The MAC of its epoch is to tell, while the other end sends any. */
		if (e->peer->replay->session == f->hdr.session &&
			weft_flit_is_protocol(f->data + WEFT_WIRE_FRAME_LEN(i)))
			f->forged |= WEFT_BIT64(i);
	}
	return m;
}

static void
replay_took(struct sim_end *e, const struct sim_frame *f, const uint64_t *syndrome, uint64_t taken)
{
	struct sim_replay *r = e->replay;
	const unsigned int i = 63u - (unsigned int)__builtin_clzll(taken);

	r->number = replay_number(e->node->sim, syndrome[i]);
	r->hash = replay_hash_flit(f->data + WEFT_WIRE_FRAME_LEN(i));
	r->delivered = replay_llr_count(e, WEFT_LLR_N_DELIVERED);
}

/* The true flit of a number that an old one was taken for has to show that there are two. */
static void
replay_judge_true(struct sim_end *e, const struct sim_frame *f, const uint64_t *syndrome,
	const struct replay_mark *m)
{
	struct sim_replay *r = e->replay;

	for (unsigned int i = 0; i < f->hdr.n_flits && r->number >= 0; i++) {
		const uint8_t *flit = f->data + WEFT_WIRE_FRAME_LEN(i);

		if (replay_is_nop(flit) || replay_number(e->node->sim, syndrome[i]) != r->number ||
			replay_hash_flit(flit) == r->hash)
			continue;
		r->number = -1;
		if (replay_llr_count(e, WEFT_LLR_N_CONFLICTS) == m->conflicts)
			violation(e->node->sim,
				"end %u>%u has a number with two contents, and does not see it",
				e->node->pid, e->peer_pid);
	}
}

/*
 * In a flit that is out of turn one that fits nothing is not counted, and is still a sign
 * (RETRY-27).
 */
static bool
replay_plays_back_ack(const struct sim_frame *f)
{
	for (unsigned int i = 0; i < f->hdr.n_flits; i++)
		if (weft_flit_hdr_get(f->data + WEFT_WIRE_FRAME_LEN(i)).replay_cmd !=
			WEFT_REPLAY_EXPLICIT)
			return true;
	return false;
}

void
replay_came(struct sim_end *e, const struct sim_frame *f, const uint64_t *syndrome,
	const struct weft_llr_rx_result *in, const struct replay_mark *m)
{
	const uint64_t taken = m->old & (in->deliver | in->held);
	struct sim *s = e->node->sim;
	struct sim_replay *r = e->replay;

	if (!m->is_live)
		return;
	if (e->ide == NULL && r->fooled == f->hdr.session && !f->is_replayed &&
		replay_llr_count(e, WEFT_LLR_N_DELIVERED) - r->delivered <
			SENT - WEFT_WIRE_FLITS_MAX)
		replay_judge_true(e, f, syndrome, m);
	if (replay_is_known(e) && r->known_ns == 0)
		r->known_ns = e->node->node.ends_ns;
	if (!f->is_replayed)
		return;
	if (m->old != 0 && replay_llr_count(e, WEFT_LLR_N_CONFLICTS) != m->conflicts)
		r->saw = f->hdr.session;
	if (replay_llr_count(e, WEFT_LLR_N_ACKS) + replay_llr_count(e, WEFT_LLR_N_OUT_OF_WINDOW) !=
			m->acks ||
		replay_plays_back_ack(f))
		r->misled = f->hdr.session;
	s->total.replay[REPLAY_OLD] += (uint64_t)__builtin_popcountll(m->old);
	if (taken == 0) {
		r->fooled = m->fooled;
		return;
	}
	s->total.replay[REPLAY_TAKEN] += (uint64_t)__builtin_popcountll(taken);
	if (m->fooled != f->hdr.session) {
		r->conflicts = m->conflicts;
		r->known_ns = 0;
	}
	r->number = -1;
	if ((taken & in->deliver) != 0)
		replay_took(e, f, syndrome, taken & in->deliver);
}

/* --- what is excused --- */

bool
replay_fooled(const struct sim_end *e)
{
	const uint32_t id = e->session;

	return e->replay != NULL && id != 0 &&
	       (e->replay->fooled == id || e->peer->replay->fooled == id);
}

bool
replay_excuses(const struct sim_end *e)
{
	/* In containment nothing is handed on before its MAC has told. */
	return replay_fooled(e) && e->node->sim->sc.session.params.ide_mode != WEFT_IDE_CONTAINMENT;
}

bool
replay_was_doubted(struct sim_end *e)
{
	const uint64_t doubted = weft_link_count(e->end, WEFT_LINK_N_DOUBTED);
	const unsigned int why = weft_llr_doubt(weft_link_llr(e->end));
	struct sim_replay *r = e->replay;

	if (r == NULL || doubted == r->doubted)
		return false;
	r->doubted = doubted;
	r->doubted_ns = e->node->node.ends_ns;
	e->node->sim->total.replay[REPLAY_DOUBTED]++;
	/* With keys numbers with two contents are no reason: the MACs tell. */
	return replay_fooled(e) || ((why & WEFT_LLR_DOUBT_ACKS) != 0 && r->misled == e->session) ||
	       ((why & WEFT_LLR_DOUBT_CONFLICT) != 0 && e->ide == NULL && r->saw == e->session);
}

bool
replay_is_known(const struct sim_end *e)
{
	const struct sim_replay *r = e->replay;

	return r != NULL && e->ide == NULL && e->session != 0 && r->fooled == e->session &&
	       replay_llr_count(e, WEFT_LLR_N_CONFLICTS) != r->conflicts;
}

/* --- and what is not: after a second all goes on --- */

static void
replay_look_at_target(struct sim_node *n, const struct sim_target *t)
{
	struct sim *s = n->sim;
	uint64_t since_ns =
		t->progress_ns > s->faults.replayed_ns ? t->progress_ns : s->faults.replayed_ns;

	since_ns = since_ns > s->faults.healed_ns ? since_ns : s->faults.healed_ns;
	if (t->open == 0 || n->resume_ns != 0 || s->now_ns < since_ns + RECOVER_NS)
		return;
	/* With keys the MAC of the next epoch tells, in skid too, and one comes (RETRY-30). */
	if (t->end->ide != NULL || !replay_excuses(t->end)) {
		violation(s, "host %u waits for gfd %u, a second after frames were played back",
			n->pid, t->dpid);
		return;
	}
	/* The true flit was lost, so nobody can know. The user of the host starts it again. */
	s->total.replay[REPLAY_RESTARTS]++;
	node_crash(n, s->now_ns + 1);
}

/* Who knows that he was fooled gives the session up. */
static void
replay_look_at_end(const struct sim_end *e)
{
	const uint64_t now_ns = e->node->node.ends_ns;
	const struct sim_replay *r = e->replay;

	if (replay_is_known(e) && e->node->resume_ns == 0 && now_ns > r->known_ns + ACT_NS &&
		(r->doubted_ns == 0 || now_ns > r->doubted_ns + DOUBT_NS))
		violation(e->node->sim, "end %u>%u has met a number with two contents, and goes on",
			e->node->pid, e->peer_pid);
}

void
replay_look(struct sim *s)
{
	if (s->tapes.n == 0)
		return;
	for (uint32_t i = 0; i < s->n_ends; i++)
		replay_look_at_end(&s->end[i]);
	for (uint16_t h = 0; h < s->topo->n_hosts && s->faults.is_healed; h++) {
		struct sim_node *n = &s->node[s->topo->host[h]];

		for (uint32_t i = 0; i < n->host.n_targets; i++)
			replay_look_at_target(n, &n->host.target[i]);
	}
}
