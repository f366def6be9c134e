/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A kernel is believed only after runs of flits gave what single flits give, which do not use it:
 * both modes, with and without PCRC, sealed and opened.
 */

#include "ide_priv.h"

#include <stdlib.h>

#define FLITS 35 /* a full epoch of 32, the flit with its MAC, and two more: an odd number */

struct trial {
	uint8_t single[FLITS][WEFT_FLIT_LEN], run[FLITS][WEFT_FLIT_LEN];
};

static void
selftest_fill(struct trial *t, unsigned int epoch_flits)
{
	static const uint8_t mac[WEFT_IDE_MAC_LEN];
	uint32_t x = 1;

	for (unsigned int i = 0; i < FLITS; i++) {
		for (unsigned int k = 0; k < WEFT_FLIT_LEN; k++) {
			x = x * 1664525u + 1013904223u;
			t->single[i][k] = (uint8_t)(x >> 24);
		}
		t->single[i][0] = WEFT_FLIT_CACHEMEM << 6;
		t->single[i][WEFT_FLIT_H_OFF] &= 0xF0;
		t->single[i][WEFT_FLIT_CRD_OFF] &= 0xFE; /* not Empty */
		if (i > 0 && i % epoch_flits == 0)
			weft_llctrl_put(t->single[i], WEFT_LLCTRL_IDE_MAC, mac);
	}
	memcpy(t->run, t->single, sizeof(t->run));
}

static bool
selftest_trial_passes(
	struct trial *t, void *mem[2], struct weft_ide_lib *lib, enum weft_ide_mode mode, bool pcrc)
{
	const uint8_t key[WEFT_IDE_KEY_LEN] = { 1, 2, 3 };
	struct weft_ide_stream *one = weft_ide_stream_init(mem[0], lib, mode, key, 1, pcrc);
	struct weft_ide_stream *many = weft_ide_stream_init(mem[1], lib, mode, key, 1, pcrc);
	struct weft_ide_event e;
	struct weft_ide_run r;

	selftest_fill(t, weft_ide_epoch_flits(mode));
	for (unsigned int i = 0; i < FLITS; i++)
		if (weft_ide_seal(one, t->single[i]) != 0)
			return false;
	if (weft_ide_seal_run(many, t->run[0], FLITS) != FLITS ||
		memcmp(t->run, t->single, sizeof(t->run)) != 0)
		return false;
	one = weft_ide_stream_init(mem[0], lib, mode, key, 1, pcrc);
	many = weft_ide_stream_init(mem[1], lib, mode, key, 1, pcrc);
	for (unsigned int i = 0; i < FLITS; i++)
		weft_ide_open(one, t->single[i], &e);
	weft_ide_open_run(many, t->run[0], weft_mask64(FLITS), &r);
	return r.failed == 0 && r.epochs_good == (FLITS - 1) / weft_ide_epoch_flits(mode) &&
	       memcmp(t->run, t->single, sizeof(t->run)) == 0;
}

bool
ide_pass_agrees(struct weft_ide_lib *lib)
{
	const size_t size = weft_ide_stream_size();
	struct trial *t = malloc(sizeof(*t));
	void *mem[2] = { aligned_alloc(WEFT_CACHE_LINE, size),
		aligned_alloc(WEFT_CACHE_LINE, size) };
	bool agrees = t != NULL && mem[0] != NULL && mem[1] != NULL;

	for (unsigned int i = 0; agrees && i < 4; i++)
		agrees = selftest_trial_passes(
			t, mem, lib, i % 2 == 0 ? WEFT_IDE_CONTAINMENT : WEFT_IDE_SKID, i / 2 == 0);
	free(t);
	free(mem[0]);
	free(mem[1]);
	return agrees;
}
