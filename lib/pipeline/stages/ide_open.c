/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage ide_open: decrypts the flits of connections that have IDE on (encapsulation.md section 5).
 * In containment nothing leaves before the MAC of its epoch is good, so the stage holds frames
 * back, in order, and lets a frame go when each of its flits is decided. Flits of other protocols
 * are none of the stream's business and go by, until it fails. Hot: runs per burst.
 */

#include "weft_stage.h"

#define LINKS_A_POLL 16

enum {
	COUNT_EPOCHS_GOOD,
	COUNT_EPOCHS_BAD,
	COUNT_RELEASED,
	COUNT_POISON,
	COUNT_KEY_CHANGES,
	COUNT_STOPS,
	COUNT_IGNORED
};

static const struct weft_counter ide_open_counters[] = {
	[COUNT_EPOCHS_GOOD] = { "epochs_good", "epochs", "MAC epochs whose MAC was good" },
	[COUNT_EPOCHS_BAD] = { "epochs_bad", "epochs", "MAC epochs that failed their stream" },
	[COUNT_RELEASED] = { "flits_released", "flits", "protocol flits handed on" },
	[COUNT_POISON] = { "poison", "flits", "LLCTRL Poison flits in H-slots" },
	[COUNT_KEY_CHANGES] = { "key_changes", "flits", "IDE.Start flits obeyed" },
	[COUNT_STOPS] = { "stops", "flits", "IDE.Stop flits obeyed" },
	[COUNT_IGNORED] = { "ignored", "flits", "IDE.Start and IDE.Stop dropped, out of place" },
};

/* Protocol flits of a frame among @p mask. */
static unsigned int
ide_open_protocol(struct rte_mbuf *m, uint64_t mask)
{
	unsigned int n = 0;

	for (; mask != 0; mask &= mask - 1)
		n += weft_flit_is_protocol(
			weft_frame_flits(m) + (size_t)__builtin_ctzll(mask) * WEFT_FLIT_LEN);
	return n;
}

/* The @p n lowest bits of @p mask, or all. */
static uint64_t
ide_open_lowest(uint64_t mask, unsigned int n)
{
	uint64_t rest = mask;

	if (n >= (unsigned int)__builtin_popcountll(mask))
		return mask;
	for (; n > 0; n--)
		rest &= rest - 1;
	return mask ^ rest;
}

/*
 * Decide on the @p n oldest flits that wait: those of held[0], until it has none, then held[1]...
 * @return the protocol flits that are handed on
 */
static inline unsigned int
ide_open_decide(struct weft_conn_dir *c, unsigned int n, bool drop)
{
	unsigned int protocol = 0;

	for (unsigned int h = 0; n > 0; h++) {
		struct weft_frame *f = weft_frame(c->held[h]);
		const uint64_t bits = ide_open_lowest(f->mac_pending, n);

		n -= (unsigned int)__builtin_popcountll(bits);
		f->mac_pending &= ~bits;
		if (drop) {
			f->discard |= bits;
			f->in_order &= ~bits;
		} else {
			protocol += ide_open_protocol(c->held[h], bits);
		}
	}
	return protocol;
}

/* Cachemem flits, all of them protected or all behind IDE.Stop. */
static inline __attribute__((always_inline)) void
ide_open_flits(const struct weft_env *env, struct weft_conn_dir *c, uint8_t *flits, uint64_t live,
	struct weft_stage_stats *st)
{
	const uint64_t poison = c->counts->poison;
	unsigned int protocol;
	struct weft_ide_run run;

	weft_ide_open_run(c->stream, flits, live, &run);
	st->counts[COUNT_POISON] += c->counts->poison - poison;
	st->counts[COUNT_EPOCHS_GOOD] += run.epochs_good;
	st->counts[COUNT_EPOCHS_BAD] += run.failed > 0;
	protocol = ide_open_decide(c, run.release, false);
	st->counts[COUNT_RELEASED] += c->is_clear ? 0 : protocol;
	if (run.failed > 0)
		weft_stage_drop(env, st, WEFT_DROP_IDE_MAC, run.failed);
	if (run.insecure > 0)
		weft_stage_drop(env, st, WEFT_DROP_IDE_INSECURE, run.insecure);
	if (run.failed + run.insecure > 0)
		ide_open_decide(c, (unsigned int)(run.failed + run.insecure), true);
	if (c->end != NULL && weft_link_rx_opened(c->end, &run) && env->ends.ide_apart)
		weft_conns_ring(env->conns, c);
}

/* IDE.Start or IDE.Stop: one that is not obeyed is not handed on. */
static void
ide_open_turn(const struct weft_env *env, struct weft_conn_dir *c, struct rte_mbuf *m, uint64_t bit,
	struct weft_stage_stats *st)
{
	const struct weft_ide_counts before = *c->counts, *now = c->counts;

	ide_open_flits(env, c, weft_frame_flits(m), bit, st);
	c->is_clear = weft_ide_is_stopped(c->stream);
	st->counts[COUNT_STOPS] += now->stops - before.stops;
	if (now->starts > before.starts) {
		st->counts[COUNT_KEY_CHANGES]++;
		if (c->end == NULL)
			weft_conns_next_key(env->conns, c);
	}
	if (now->starts_ignored > before.starts_ignored ||
		now->stops_ignored > before.stops_ignored) {
		st->counts[COUNT_IGNORED]++;
		weft_frame(m)->discard |= bit;
	}
}

static inline bool
ide_open_is_turn(const uint8_t *flit)
{
	const int control = weft_llctrl_get(flit + WEFT_FLIT_H_OFF);

	return control == WEFT_LLCTRL_IDE_START || control == WEFT_LLCTRL_IDE_STOP;
}

/* Whether there may be flits that the stream must not get in one run with others. */
static inline bool
ide_open_may_be_odd(const uint8_t *flits, unsigned int n)
{
	unsigned int type = 0, turn = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint8_t *flit = flits + i * (size_t)WEFT_FLIT_LEN;

		type |= flit[0] ^ WEFT_FLIT_CACHEMEM << 6;
		if (weft_slot_fmt(flit + WEFT_FLIT_H_OFF) == WEFT_SLOT_FMT_LLCTRL)
			turn |= ide_open_is_turn(flit);
	}
	return type >> 6 != 0 || turn != 0;
}

/* Such flits: other protocols', and IDE.Start and IDE.Stop. */
static __attribute__((noinline)) void
ide_open_find_odd(const uint8_t *flits, uint64_t live, uint64_t *other, uint64_t *turn)
{
	for (; live != 0; live &= live - 1) {
		const uint8_t *flit = flits + (size_t)__builtin_ctzll(live) * WEFT_FLIT_LEN;

		if (flit[0] >> 6 != WEFT_FLIT_CACHEMEM)
			*other |= live & -live;
		else if (ide_open_is_turn(flit))
			*turn |= live & -live;
	}
}

/* Runs of ordinary flits, and the odd ones between them. */
static __attribute__((noinline)) void
ide_open_pieces(const struct weft_env *env, struct weft_conn_dir *c, struct rte_mbuf *m,
	uint64_t live, uint64_t other, uint64_t turn, struct weft_stage_stats *st)
{
	for (uint64_t odd = other | turn; odd != 0; odd &= odd - 1) {
		const uint64_t bit = odd & -odd;
		const uint64_t before = live & (bit - 1);

		if (before != 0)
			ide_open_flits(env, c, weft_frame_flits(m), before, st);
		live &= ~(before | bit);
		if (bit & turn) {
			ide_open_turn(env, c, m, bit, st);
		} else if (weft_ide_is_insecure(c->stream)) {
			weft_frame(m)->discard |= bit;
			weft_stage_drop(env, st, WEFT_DROP_IDE_INSECURE, 1);
		}
	}
	if (live != 0)
		ide_open_flits(env, c, weft_frame_flits(m), live, st);
}

/* Move the frames whose flits are all decided, oldest first, to the burst. */
static uint16_t
ide_open_let_go(struct weft_conn_dir *c, struct rte_mbuf **out)
{
	uint8_t gone = 0;

	while (gone < c->n_held && weft_frame(c->held[gone])->mac_pending == 0) {
		out[gone] = c->held[gone];
		gone++;
	}
	c->n_held = (uint8_t)(c->n_held - gone);
	memmove(c->held, c->held + gone, c->n_held * sizeof(c->held[0]));
	return gone;
}

/* Keep a frame behind those that wait. */
static void
ide_open_queue(struct weft_conn_dir *c, struct rte_mbuf *m)
{
	struct weft_frame *f = weft_frame(m);

	c->held[c->n_held++] = m;
	if (c->hole_behind)
		f->seq_gap |= f->mac_pending & -f->mac_pending;
	c->hole_behind = false;
}

/* A frame without a flit that waits passes those that do, but the gap in it stays where it is. */
static void
ide_open_overtake(struct weft_conn_dir *c, struct weft_frame *f)
{
	if (c->n_held == 0 || f->seq_gap == 0)
		return;
	c->hole_behind = true;
	f->seq_gap = 0;
}

/* Out of line: another session, or none. What the one before held was never proven good. */
static __attribute__((noinline)) void
ide_open_session(struct weft_conn_dir *c, struct weft_ide_stream *stream, struct weft_burst *b)
{
	for (unsigned int h = 0; h < c->n_held; h++)
		weft_burst_drop(b, c->held[h]);
	c->n_held = 0;
	c->hole_behind = false;
	c->is_clear = false;
	c->stream = stream;
	c->counts = stream == NULL ? NULL : weft_ide_counts(stream);
}

/* Which session there is. Of one that cannot be opened the node's lcore is told. */
static inline const struct weft_link_rx_ide *
ide_open_look(const struct weft_env *env, struct weft_conn_dir *c, struct weft_burst *b)
{
	const struct weft_link_rx_ide *now = weft_link_rx_ide(c->end);

	if (now->number != c->n_streams) {
		c->n_streams = now->number;
		ide_open_session(c, now->stream, b);
		if (env->ends.ide_apart)
			weft_conns_ring(env->conns, c);
	}
	return now;
}

/* Whether the frame, of a live connection, belongs to the session that there is. */
static inline bool
ide_open_is_live(const struct weft_env *env, struct weft_frame *f, struct weft_burst *b)
{
	const struct weft_link_rx_ide *now = ide_open_look(env, f->conn, b);

	return now->stream != NULL && f->hdr.session == now->session;
}

static uint16_t
ide_open_frame(const struct weft_env *env, struct weft_burst *b, struct rte_mbuf *m,
	struct rte_mbuf **out, struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);
	struct weft_conn_dir *c = f->conn;
	uint64_t live = weft_frame_live(f);
	uint64_t other = 0, turn = 0;
	bool waits;

	if (c == NULL || c->ide == WEFT_IDE_OFF) {
		out[0] = m;
		return 1;
	}
	if (c->end != NULL && !ide_open_is_live(env, f, b)) {
		weft_stage_drop(
			env, st, WEFT_DROP_SESSION, (unsigned int)__builtin_popcountll(live));
		weft_burst_drop(b, m);
		return 0;
	}
	if (c->stream == NULL) {
		f->discard |= live;
		weft_stage_drop(
			env, st, WEFT_DROP_NO_KEY, (unsigned int)__builtin_popcountll(live));
		out[0] = m;
		return 1;
	}
	if (ide_open_may_be_odd(weft_frame_flits(m), f->hdr.n_flits))
		ide_open_find_odd(weft_frame_flits(m), live, &other, &turn);
	f->mac_pending = live & ~other;
	waits = f->mac_pending != 0;
	if (waits)
		ide_open_queue(c, m);
	else
		ide_open_overtake(c, f);
	if ((other | turn) != 0)
		ide_open_pieces(env, c, m, live, other, turn, st);
	else if (live != 0)
		ide_open_flits(env, c, weft_frame_flits(m), live, st);
	if (waits)
		return ide_open_let_go(c, out);
	out[0] = m;
	return 1;
}

/*
 * Connections in turn, where their sessions are another lcore's: one that is over leaves keys here,
 * and frames.
 */
static void
ide_open_pass(const struct weft_env *env, struct weft_burst *b, unsigned int most)
{
	struct weft_conn_dir *c;

	while (most-- != 0 && (c = weft_conns_turn(env->conns, WEFT_TURN_IDE_OPEN, b->way)) != NULL)
		if (c->end != NULL && c->ide != WEFT_IDE_OFF)
			ide_open_look(env, c, b);
}

static void
ide_open_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	struct rte_mbuf *in[WEFT_BURST_MAX];
	uint16_t n = b->n, out = 0;

	assert(n <= WEFT_BURST_MAX);
	memcpy(in, b->pkt, n * sizeof(in[0]));
	for (uint16_t i = 0; i < n; i++)
		out = (uint16_t)(out + ide_open_frame(env, b, in[i], b->pkt + out, st));
	b->n = out;
	if (env->ends.ide_apart && b->n_drop == 0) /* there is room for all that one holds */
		ide_open_pass(env, b, 1);
}

/* Nothing came in. */
static void
ide_open_poll(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	(void)st;
	if (env->ends.ide_apart)
		ide_open_pass(env, b, LINKS_A_POLL);
}

/* Flits whose MAC is pending when traffic ends were never proven good: they are discarded. */
static void
ide_open_drain(const struct weft_env *env, struct weft_burst *b)
{
	unsigned int pos = 0;
	struct weft_conn_dir *c;

	while ((c = weft_conns_next(env->conns, &pos)) != NULL) {
		if (b->n + c->n_held > WEFT_BURST_MAX)
			return;
		for (unsigned int h = 0; h < c->n_held; h++) {
			struct weft_frame *f = weft_frame(c->held[h]);

			f->discard |= f->mac_pending;
			f->mac_pending = 0;
		}
		b->n = (uint16_t)(b->n + ide_open_let_go(c, b->pkt + b->n));
	}
}

static const struct weft_stage ide_open = {
	.name = "ide_open",
	.help = "decrypt, hold back until the MAC is good",
	.order = WEFT_STAGE_IDE_OPEN,
	.ends = WEFT_ENDS_IDE_RX,
	.has_ways = true,
	.needs = WEFT_NEEDS_CONNS,
	.run = ide_open_run,
	.poll = ide_open_poll,
	.drain = ide_open_drain,
	.counters = ide_open_counters,
	.n_counters = WEFT_ARRAY_SIZE(ide_open_counters),
};

WEFT_STAGE(ide_open)
