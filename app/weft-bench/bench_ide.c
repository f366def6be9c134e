/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* IDE alone: 64 flits sealed or opened, whole epochs and one flit that brings the last MAC. */

#include "bench.h"

#include <stdio.h>
#include <stdlib.h>

#include "weft_flit.h"
#include "weft_ide_pace.h"

#define FLITS (BENCH_FLITS + 1)

enum { SEAL_CONTAINMENT, OPEN_CONTAINMENT, SEAL_SKID, OPEN_SKID };

struct ide {
	uint8_t plain[FLITS][WEFT_FLIT_LEN];
	uint8_t sealed[FLITS][WEFT_FLIT_LEN];
	uint8_t work[FLITS][WEFT_FLIT_LEN];
	const struct bench_params *p;
	enum weft_ide_mode mode;
	bool is_open;
	void *mem;
	struct weft_ide_stream *stream;
	uint64_t released;
	uint64_t wrong;
};

static const uint8_t key[WEFT_IDE_KEY_LEN] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* A new stream: the counter must be the one that the flits were sealed with. */
static void
ide_prepare(void *ctx)
{
	struct ide *c = ctx;

	c->stream = weft_ide_stream_init(c->mem, c->p->ide, c->mode, key, 1, true);
	memcpy(c->work, c->is_open ? c->sealed : c->plain, sizeof(c->work));
	c->released = 0;
}

static void
ide_seal_all(struct ide *c)
{
	for (unsigned int i = 0; i < FLITS; i++)
		c->wrong += weft_ide_seal(c->stream, c->work[i]) != 0;
}

static void
ide_open_all(struct ide *c)
{
	for (unsigned int i = 0; i < FLITS; i++) {
		struct weft_ide_event e;

		weft_ide_open(c->stream, c->work[i], &e);
		c->released += e.release;
		c->wrong += e.verdict != WEFT_OK;
	}
}

static uint64_t
ide_run(void *ctx)
{
	struct ide *c = ctx;

	if (c->is_open)
		ide_open_all(c);
	else
		ide_seal_all(c);
	return FLITS;
}

/* Opened flits are the plain ones again but for the MACs; sealed ones differ from the plain. */
static bool
ide_is_right(const struct ide *c)
{
	unsigned int differ = 0;

	for (unsigned int i = 0; i < FLITS; i++) {
		bool same =
			memcmp(c->work[i] + WEFT_FLIT_SLOT_LEN, c->plain[i] + WEFT_FLIT_SLOT_LEN,
				WEFT_FLIT_CRD_OFF - WEFT_FLIT_SLOT_LEN) == 0;

		differ += !same;
	}
	if (!c->is_open)
		return c->wrong == 0 && differ == FLITS &&
		       memcmp(c->work, c->sealed, sizeof(c->work)) == 0;
	/* Containment keeps the last flit back: its own epoch is open. */
	return c->wrong == 0 && differ == 0 &&
	       c->released == FLITS - (c->mode == WEFT_IDE_CONTAINMENT);
}

static bool
ide_teardown(void *ctx)
{
	struct ide *c = ctx;
	bool good = ide_is_right(c);

	weft_ide_stream_wipe(c->stream);
	free(c->mem);
	free(c);
	return good;
}

static void *
ide_setup(const struct bench *b, const struct bench_params *p, char *err, size_t err_len)
{
	static const uint8_t no_mac[WEFT_LLCTRL_PAYLOAD_LEN];
	struct ide *c = bench_alloc(sizeof(*c));
	struct weft_ide_pace pace;

	c->p = p;
	c->mem = bench_alloc(weft_ide_stream_size());
	c->mode =
		b->kind == SEAL_SKID || b->kind == OPEN_SKID ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT;
	bench_fill(c->plain[0], FLITS);
	weft_ide_pace_init(&pace, c->mode);
	for (unsigned int i = 0; i < FLITS; i++) {
		if (pace.mac_due)
			weft_llctrl_put(c->plain[i], WEFT_LLCTRL_IDE_MAC, no_mac);
		weft_ide_pace_flit(&pace);
	}
	/* Both ways once, so that each is checked by the other. */
	ide_prepare(c);
	ide_seal_all(c);
	memcpy(c->sealed, c->work, sizeof(c->sealed));
	c->is_open = true;
	ide_prepare(c);
	ide_open_all(c);
	if (ide_is_right(c)) {
		c->is_open = b->kind == OPEN_CONTAINMENT || b->kind == OPEN_SKID;
		return c;
	}
	snprintf(err, err_len, "%s: wrong answer", b->name);
	free(c->mem);
	free(c);
	return NULL;
}

#define IDE(name, help, kind)                                                                      \
	{                                                                                          \
		name, help, BENCH_IDE, 1 << BENCH_RTC, kind, ide_setup, ide_prepare, ide_run,      \
			ide_teardown                                                               \
	}

const struct bench bench_ide[] = {
	IDE("ide-seal-containment", "encrypt 65 flits, MAC epochs of 2", SEAL_CONTAINMENT),
	IDE("ide-open-containment", "decrypt and check 65 flits, MAC epochs of 2",
		OPEN_CONTAINMENT),
	IDE("ide-seal-skid", "encrypt 65 flits, MAC epochs of 32", SEAL_SKID),
	IDE("ide-open-skid", "decrypt and check 65 flits, MAC epochs of 32", OPEN_SKID),
};

const unsigned int bench_n_ide = sizeof(bench_ide) / sizeof(bench_ide[0]);
