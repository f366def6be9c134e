/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage ide_open: decrypts the flits of connections that have IDE on (encapsulation.md section 5).
 * In containment nothing leaves before the MAC of its epoch is good, so the stage holds frames back,
 * in order, and lets a frame go when each of its flits is decided. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_EPOCHS_GOOD, COUNT_EPOCHS_BAD, COUNT_RELEASED, COUNT_POISON };

static const struct weft_counter ide_open_counters[] = {
	[COUNT_EPOCHS_GOOD] = { "epochs_good", "epochs", "MAC epochs whose MAC was good" },
	[COUNT_EPOCHS_BAD] = { "epochs_bad", "epochs", "MAC epochs that failed their stream" },
	[COUNT_RELEASED] = { "flits_released", "flits", "protocol flits handed on" },
	[COUNT_POISON] = { "poison", "flits", "LLCTRL Poison flits" },
};

static const char *
ide_open_check(const struct weft_env *env)
{
	return env->conns == NULL ? "connections" : NULL;
}

/* The oldest flit that waits: its frame is held[0] until that has none, then held[1], ... */
static const uint8_t *
ide_open_decide(struct weft_conn *c, bool drop)
{
	unsigned int h = 0;
	struct weft_frame *f;
	uint64_t bit;

	while (weft_frame(c->held[h])->undecided == 0)
		h++;
	f = weft_frame(c->held[h]);
	bit = f->undecided & -f->undecided;
	f->undecided &= ~bit;
	if (drop)
		f->dropped |= bit;
	return weft_frame_flits(c->held[h]) + (size_t)__builtin_ctzll(bit) * WEFT_FLIT_LEN;
}

static void
ide_open_flit(struct weft_conn *c, uint8_t *flit, struct weft_stage_stats *st)
{
	struct weft_ide_event e;

	if (weft_llctrl_get(flit + WEFT_FLIT_H_OFF) == WEFT_LLCTRL_POISON)
		st->counts[COUNT_POISON]++;
	weft_ide_open(c->stream, flit, &e);
	st->counts[COUNT_EPOCHS_GOOD] += e.epoch_good;
	st->counts[COUNT_EPOCHS_BAD] += e.verdict == WEFT_DROP_IDE_MAC;
	for (unsigned int i = 0; i < e.release; i++)
		if (weft_flit_is_protocol(ide_open_decide(c, false)))
			st->counts[COUNT_RELEASED]++;
	for (unsigned int i = 0; i < e.dropped; i++)
		ide_open_decide(c, true);
	if (e.verdict != WEFT_OK)
		st->drops[e.verdict] += e.dropped;
}

/* Move the frames whose flits are all decided, oldest first, to the burst. */
static uint16_t
ide_open_let_go(struct weft_conn *c, struct rte_mbuf **out)
{
	uint8_t gone = 0;

	while (gone < c->n_held && weft_frame(c->held[gone])->undecided == 0) {
		out[gone] = c->held[gone];
		gone++;
	}
	c->n_held = (uint8_t)(c->n_held - gone);
	memmove(c->held, c->held + gone, c->n_held * sizeof(c->held[0]));
	return gone;
}

static uint16_t
ide_open_frame(struct rte_mbuf *m, struct rte_mbuf **out, struct weft_stage_stats *st)
{
	struct weft_frame *f = weft_frame(m);
	struct weft_conn *c = f->conn;
	uint64_t live = weft_frame_live(f);

	if (c == NULL || c->ide == WEFT_IDE_OFF || live == 0) {
		out[0] = m; /* nothing in it waits for anything */
		return 1;
	}
	if (c->stream == NULL) {
		f->dropped |= live;
		st->drops[WEFT_DROP_NO_KEY] += (unsigned int)__builtin_popcountll(live);
		out[0] = m;
		return 1;
	}
	c->held[c->n_held++] = m;
	f->undecided = 0;
	for (; live != 0; live &= live - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(live);

		f->undecided |= WEFT_BIT64(i);
		ide_open_flit(c, weft_frame_flits(m) + i * (size_t)WEFT_FLIT_LEN, st);
	}
	return ide_open_let_go(c, out);
}

static void
ide_open_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	struct rte_mbuf *in[WEFT_BURST_MAX];
	uint16_t n = b->n, out = 0;

	(void)env;
	assert(n <= WEFT_BURST_MAX);
	memcpy(in, b->pkt, n * sizeof(in[0]));
	for (uint16_t i = 0; i < n; i++)
		out = (uint16_t)(out + ide_open_frame(in[i], b->pkt + out, st));
	b->n = out;
}

/* Flits still undecided when traffic ends were never proven good: they are not handed on. */
static void
ide_open_drain(const struct weft_env *env, struct weft_burst *b)
{
	unsigned int pos = 0;
	struct weft_conn *c;

	while ((c = weft_conns_next(env->conns, &pos)) != NULL) {
		if (b->n + c->n_held > WEFT_BURST_MAX)
			return;
		for (unsigned int h = 0; h < c->n_held; h++) {
			struct weft_frame *f = weft_frame(c->held[h]);

			f->dropped |= f->undecided;
			f->undecided = 0;
		}
		b->n = (uint16_t)(b->n + ide_open_let_go(c, b->pkt + b->n));
	}
}

static const struct weft_stage ide_open = {
	.name = "ide_open",
	.help = "decrypt, hold back until the MAC is good",
	.check = ide_open_check,
	.run = ide_open_run,
	.drain = ide_open_drain,
	.counters = ide_open_counters,
	.n_counters = WEFT_ARRAY_SIZE(ide_open_counters),
};

WEFT_STAGE(ide_open)
