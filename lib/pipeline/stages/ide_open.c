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

/* Decide on the @p n oldest flits that wait: those of held[0], until it has none, then held[1]... */
static void
ide_open_decide(struct weft_conn *c, unsigned int n, bool drop, struct weft_stage_stats *st)
{
	for (unsigned int h = 0; n > 0; h++) {
		struct weft_frame *f = weft_frame(c->held[h]);
		const uint64_t bits = ide_open_lowest(f->undecided, n);

		n -= (unsigned int)__builtin_popcountll(bits);
		f->undecided &= ~bits;
		if (drop)
			f->dropped |= bits;
		else
			st->counts[COUNT_RELEASED] += ide_open_protocol(c->held[h], bits);
	}
}

static void
ide_open_flits(struct weft_conn *c, uint8_t *flits, uint64_t live, struct weft_stage_stats *st)
{
	struct weft_ide_run run;

	for (uint64_t left = live; left != 0; left &= left - 1)
		if (weft_llctrl_get(flits + (size_t)__builtin_ctzll(left) * WEFT_FLIT_LEN +
				    WEFT_FLIT_H_OFF) == WEFT_LLCTRL_POISON)
			st->counts[COUNT_POISON]++;
	weft_ide_open_run(c->stream, flits, live, &run);
	st->counts[COUNT_EPOCHS_GOOD] += run.epochs_good;
	st->counts[COUNT_EPOCHS_BAD] += run.failed > 0;
	st->drops[WEFT_DROP_IDE_MAC] += run.failed;
	st->drops[WEFT_DROP_IDE_INSECURE] += run.insecure;
	ide_open_decide(c, run.release, false, st);
	ide_open_decide(c, (unsigned int)(run.failed + run.insecure), true, st);
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
	f->undecided = live;
	ide_open_flits(c, weft_frame_flits(m), live, st);
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
