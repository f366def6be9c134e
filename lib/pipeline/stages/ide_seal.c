/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Stage ide_seal: encrypts the flits of connections that have IDE on, in the order they will be
 * sent (encapsulation.md section 5). Whoever packs the flits keeps slot 0 for IDE.MAC where one is
 * due and puts an IDE.TMAC flit with an empty MAC where traffic pauses; this stage fills both in.
 * An IDE.Start flit changes the key. Hot: runs per burst.
 */

#include "weft_stage.h"

enum { COUNT_SEALED, COUNT_TMAC, COUNT_KEY_CHANGES };

static const struct weft_counter ide_seal_counters[] = {
	[COUNT_SEALED] = { "sealed", "flits", "flits encrypted" },
	[COUNT_TMAC] = { "tmac", "flits", "IDE.TMAC flits, each closing an epoch early" },
	[COUNT_KEY_CHANGES] = { "key_changes", "flits", "IDE.Start flits" },
};

static int
ide_seal_control(const uint8_t *flit)
{
	return weft_llctrl_get(flit + WEFT_FLIT_H_OFF);
}

/* Flits before the first IDE.TMAC or IDE.Start. */
static unsigned int
ide_seal_before_turn(const uint8_t *flits, unsigned int n)
{
	unsigned int i = 0;

	for (; i < n; i++) {
		const int c = ide_seal_control(flits + i * (size_t)WEFT_FLIT_LEN);

		if (c == WEFT_LLCTRL_IDE_TMAC || c == WEFT_LLCTRL_IDE_START)
			break;
	}
	return i;
}

static bool
ide_seal_start(const struct weft_env *env, struct weft_conn_dir *c, uint8_t *flit)
{
	if (weft_ide_start(c->stream, flit) != 0)
		return false;
	if (env->conns != NULL)
		weft_conns_next_key(env->conns, c);
	return true;
}

/* Whether the packer and the stream agree on what these flits are. */
static bool
ide_seal_flits(const struct weft_env *env, struct weft_conn_dir *c, uint8_t *flits, unsigned int n,
	struct weft_stage_stats *st)
{
	unsigned int run, sealed;

	while (n > 0) {
		run = ide_seal_before_turn(flits, n);
		sealed = weft_ide_seal_run(c->stream, flits, run);
		st->counts[COUNT_SEALED] += sealed + (sealed < run);
		if (sealed < run)
			return false;
		flits += run * (size_t)WEFT_FLIT_LEN;
		n -= run;
		if (n == 0)
			break;
		if (ide_seal_control(flits) == WEFT_LLCTRL_IDE_START) {
			st->counts[COUNT_KEY_CHANGES]++;
			if (!ide_seal_start(env, c, flits))
				return false;
		} else {
			st->counts[COUNT_TMAC]++;
			if (weft_ide_close(c->stream, flits) != WEFT_IDE_CLOSE_TMAC)
				return false;
		}
		flits += WEFT_FLIT_LEN;
		n--;
	}
	return true;
}

static void
ide_seal_run(const struct weft_env *env, struct weft_burst *b, struct weft_stage_stats *st)
{
	uint16_t kept = 0;

	for (uint16_t i = 0; i < b->n; i++) {
		struct rte_mbuf *m = b->pkt[i];
		struct weft_frame *f = weft_frame(m);
		bool good = true;

		if (f->conn != NULL && f->conn->end != NULL) {
			/*
			 * Sealed where they are, in the replay buffer: sent again they are the
			 * same.
			 */
			st->counts[COUNT_SEALED] += weft_link_seal(f->conn->end, *env->now_ns);
		} else if (f->conn != NULL && f->conn->ide != WEFT_IDE_OFF) {
			/* Never in the clear: without a key, or out of step, nothing is sent. */
			good = f->conn->stream != NULL;
			good = good && ide_seal_flits(env, f->conn, weft_frame_flits(m),
					       f->hdr.n_flits, st);
		}
		if (good) {
			b->pkt[kept++] = m;
			continue;
		}
		weft_stage_drop(
			env, st, f->conn->stream == NULL ? WEFT_DROP_NO_KEY : WEFT_DROP_IDE_MAC, 1);
		weft_burst_drop(b, m);
	}
	b->n = kept;
}

static const struct weft_stage ide_seal = {
	.name = "ide_seal",
	.help = "encrypt, fill in MACs",
	.order = WEFT_STAGE_IDE_SEAL,
	.ends = WEFT_ENDS_NODE,
	.needs = WEFT_NEEDS_LIVE_TIME,
	.run = ide_seal_run,
	.counters = ide_seal_counters,
	.n_counters = WEFT_ARRAY_SIZE(ide_seal_counters),
};

WEFT_STAGE(ide_seal)
