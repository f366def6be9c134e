/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * IDE alone: 64 flits of a stream that goes on from run to run, so that its first flit brings the
 * MAC of the run before. And what to hold it against: the library's direct call on contiguous
 * messages, as many bytes as an epoch has, each counted as an epoch's flits.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_flit.h"
#include "weft_ide_direct.h"
#include "weft_ide_pace.h"

#define FLITS BENCH_FLITS

/* Of a benchmark's kind. */
enum { OPEN = 1 << 0, SKID = 1 << 1, NO_PCRC = 1 << 2 };

struct ide {
	uint8_t plain[FLITS][WEFT_FLIT_LEN];
	uint8_t first[WEFT_FLIT_LEN]; /* in the place of flit 0 before any MAC is due */
	uint8_t work[FLITS][WEFT_FLIT_LEN];
	const struct bench_params *p;
	enum weft_ide_mode mode;
	bool pcrc;
	bool is_open;
	void *mem[2];
	struct weft_ide_stream *tx, *rx;
	uint64_t runs; /* sealed so far, the one before the first that is timed included */
	uint64_t released; /* in the last run */
	uint64_t wrong;
};

static const uint8_t key[WEFT_IDE_KEY_LEN] = { 1, 2, 3, 4, 5, 6, 7, 8 };

/* As many flits in a run of the library as in a frame. */
static unsigned int
ide_run_len(const struct ide *c, unsigned int from)
{
	const unsigned int run = c->p->frame_flits;

	return FLITS - from < run ? FLITS - from : run;
}

static void
ide_seal_all(struct ide *c)
{
	for (unsigned int i = 0; i < FLITS; i += c->p->frame_flits)
		c->wrong += weft_ide_seal_run(c->tx, c->work[i], ide_run_len(c, i)) !=
		            ide_run_len(c, i);
	c->runs++;
}

static void
ide_open_all(struct ide *c)
{
	c->released = 0;
	for (unsigned int i = 0; i < FLITS; i += c->p->frame_flits) {
		struct weft_ide_run r;

		weft_ide_open_run(c->rx, c->work[i], weft_mask64(ide_run_len(c, i)), &r);
		c->released += r.release;
		c->wrong += (unsigned int)(r.failed + r.insecure);
	}
}

static void
ide_prepare(void *ctx)
{
	struct ide *c = ctx;

	memcpy(c->work, c->plain, sizeof(c->work));
	if (c->is_open)
		ide_seal_all(c);
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

/*
 * The last run as the plain way seals it, flit by flit: counters of the run before it come first.
 */
static bool
ide_sealed_is_right(const struct ide *c)
{
	const uint64_t epochs = FLITS / weft_ide_epoch_flits(c->mode);
	uint8_t(*want)[WEFT_FLIT_LEN] = bench_alloc(sizeof(c->work));
	void *mem = bench_alloc(weft_ide_stream_size());
	struct weft_ide_stream *s = weft_ide_stream_init(
		mem, c->p->ide, c->mode, key, 1 + (c->runs - 2) * epochs, c->pcrc);
	bool good = true;

	for (unsigned int run = 0; run < 2; run++) {
		memcpy(want, c->plain, sizeof(c->plain));
		if (run == 0)
			memcpy(want, c->first, sizeof(c->first));
		for (unsigned int i = 0; i < FLITS; i++)
			good &= weft_ide_seal(s, want[i]) == 0;
	}
	good &= memcmp(c->work, want, sizeof(c->work)) == 0;
	weft_ide_stream_wipe(s);
	free(mem);
	free(want);
	return good;
}

/*
 * Slots 1 to 14 are the plain ones again, and all flits were let go; containment's came a run late.
 */
static bool
ide_opened_is_right(const struct ide *c)
{
	for (unsigned int i = 0; i < FLITS; i++)
		if (memcmp(c->work[i] + WEFT_FLIT_SLOT_LEN, c->plain[i] + WEFT_FLIT_SLOT_LEN,
			    WEFT_FLIT_CRD_OFF - WEFT_FLIT_SLOT_LEN) != 0)
			return false;
	return c->released == FLITS;
}

static bool
ide_is_right(void *ctx)
{
	const struct ide *c = ctx;

	return c->wrong == 0 && (c->is_open ? ide_opened_is_right(c) : ide_sealed_is_right(c));
}

static void
ide_free(void *ctx)
{
	struct ide *c = ctx;

	weft_ide_stream_wipe(c->tx);
	weft_ide_stream_wipe(c->rx);
	free(c->mem[0]);
	free(c->mem[1]);
	free(c);
}

static void
ide_fill(struct ide *c)
{
	static const uint8_t no_mac[WEFT_LLCTRL_PAYLOAD_LEN];
	struct weft_ide_pace pace;

	bench_fill(c->plain[0], FLITS);
	memcpy(c->first, c->plain[0], sizeof(c->first));
	weft_ide_pace_init(&pace, c->mode);
	pace.mac_due = true;
	for (unsigned int i = 0; i < FLITS; i++) {
		if (pace.mac_due)
			weft_llctrl_put(c->plain[i], WEFT_LLCTRL_IDE_MAC, no_mac);
		weft_ide_pace_flit(&pace);
	}
}

static void *
ide_setup(const struct bench *b, const struct bench_params *p)
{
	struct ide *c = bench_alloc(sizeof(*c));

	c->p = p;
	c->mode = (b->kind & SKID) != 0 ? WEFT_IDE_SKID : WEFT_IDE_CONTAINMENT;
	c->pcrc = (b->kind & NO_PCRC) == 0;
	for (unsigned int i = 0; i < 2; i++)
		c->mem[i] = bench_alloc(weft_ide_stream_size());
	c->tx = weft_ide_stream_init(c->mem[0], p->ide, c->mode, key, 1, c->pcrc);
	c->rx = weft_ide_stream_init(c->mem[1], p->ide, c->mode, key, 1, c->pcrc);
	ide_fill(c);
	/* A run for the first MAC to come from; then one that is looked at on both sides. */
	memcpy(c->work, c->plain, sizeof(c->work));
	memcpy(c->work[0], c->first, sizeof(c->first));
	ide_seal_all(c);
	ide_open_all(c);
	ide_prepare(c);
	ide_seal_all(c);
	c->wrong += !ide_is_right(c);
	ide_open_all(c);
	c->is_open = true;
	c->wrong += !ide_is_right(c);
	c->is_open = (b->kind & OPEN) != 0;
	ide_prepare(c);
	ide_run(c);
	return c;
}

/* --- the direct call --- */

struct direct {
	uint8_t plain[BENCH_FLITS * WEFT_FLIT_LEN];
	uint8_t sealed[BENCH_FLITS * WEFT_FLIT_LEN];
	uint8_t work[BENCH_FLITS * WEFT_FLIT_LEN];
	uint8_t iv[BENCH_FLITS][16];
	uint8_t tag[BENCH_FLITS][16], right_tag[BENCH_FLITS][16];
	uint8_t aad[128];
	struct weft_ide_direct *d;
	struct weft_ide_messages m;
	size_t bytes;
	bool is_open;
	bool is_wrong; /* since the set-up */
};

static void
ide_direct_prepare(void *ctx)
{
	struct direct *c = ctx;

	memcpy(c->work, c->is_open ? c->sealed : c->plain, c->bytes);
	memset(c->tag, 0, sizeof(c->tag));
}

static uint64_t
ide_direct_run(void *ctx)
{
	struct direct *c = ctx;

	if (c->is_open)
		weft_ide_direct_open(c->d, &c->m);
	else
		weft_ide_direct_seal(c->d, &c->m);
	return BENCH_FLITS;
}

static bool
ide_direct_is_right(void *ctx)
{
	const struct direct *c = ctx;

	return !c->is_wrong && memcmp(c->work, c->is_open ? c->plain : c->sealed, c->bytes) == 0 &&
	       memcmp(c->tag, c->right_tag, c->m.n * sizeof(c->tag[0])) == 0;
}

static void
ide_direct_free(void *ctx)
{
	struct direct *c = ctx;

	free(c->d);
	free(c);
}

static void *
ide_direct_setup(const struct bench *b, const struct bench_params *p)
{
	const unsigned int epoch = (b->kind & SKID) != 0 ? 32 : 2;
	struct direct *c = bench_alloc(sizeof(*c));

	c->d = bench_alloc(weft_ide_direct_size());
	weft_ide_direct_init(c->d, p->ide, key);
	bench_fill(c->plain, BENCH_FLITS);
	c->m = (struct weft_ide_messages){ .text = c->work,
		.n = BENCH_FLITS / epoch,
		.len = epoch == 2 ? 464 : 7616,
		.aad = c->aad,
		.aad_len = epoch * 4,
		.iv = c->iv,
		.tag = c->tag };
	weft_ide_direct_ivs(&c->m);
	c->bytes = c->m.n * c->m.len;
	/* Both ways once: decryption must give the plain text again and the same tags. */
	ide_direct_prepare(c);
	ide_direct_run(c);
	memcpy(c->sealed, c->work, c->bytes);
	memcpy(c->right_tag, c->tag, sizeof(c->right_tag));
	c->is_open = true;
	ide_direct_prepare(c);
	ide_direct_run(c);
	c->is_wrong = memcmp(c->sealed, c->plain, c->bytes) == 0 || !ide_direct_is_right(c);
	c->is_open = (b->kind & OPEN) != 0;
	ide_direct_prepare(c);
	ide_direct_run(c);
	return c;
}

static const struct bench_ops ide = { ide_setup, ide_prepare, ide_run, ide_is_right, ide_free };
static const struct bench_ops direct = { ide_direct_setup, ide_direct_prepare, ide_direct_run,
	ide_direct_is_right, ide_direct_free };

const struct bench bench_ide[] = {
	{ "ide-seal-containment", "encrypt 64 flits, MAC epochs of 2", BENCH_IDE, 1 << BENCH_RTC, 0,
		&ide },
	{ "ide-open-containment", "decrypt and check 64 flits, MAC epochs of 2", BENCH_IDE,
		1 << BENCH_RTC, OPEN, &ide },
	{ "ide-seal-skid", "encrypt 64 flits, MAC epochs of 32", BENCH_IDE, 1 << BENCH_RTC, SKID,
		&ide },
	{ "ide-open-skid", "decrypt and check 64 flits, MAC epochs of 32", BENCH_IDE,
		1 << BENCH_RTC, SKID | OPEN, &ide },
	{ "ide-seal-containment-nopcrc", "the same without PCRC", BENCH_IDE, 1 << BENCH_RTC,
		NO_PCRC, &ide },
	{ "ide-open-containment-nopcrc", "the same without PCRC", BENCH_IDE, 1 << BENCH_RTC,
		NO_PCRC | OPEN, &ide },
	{ "ide-seal-skid-nopcrc", "the same without PCRC", BENCH_IDE, 1 << BENCH_RTC,
		NO_PCRC | SKID, &ide },
	{ "ide-open-skid-nopcrc", "the same without PCRC", BENCH_IDE, 1 << BENCH_RTC,
		NO_PCRC | SKID | OPEN, &ide },
	{ "gcm-direct-464", "encrypt contiguous messages of 464 B, each as 2 flits", BENCH_GCM,
		1 << BENCH_RTC, 0, &direct },
	{ "gcm-direct-464-open", "decrypt contiguous messages of 464 B, each as 2 flits", BENCH_GCM,
		1 << BENCH_RTC, OPEN, &direct },
	{ "gcm-direct-7616", "encrypt contiguous messages of 7616 B, each as 32 flits", BENCH_GCM,
		1 << BENCH_RTC, SKID, &direct },
	{ "gcm-direct-7616-open", "decrypt contiguous messages of 7616 B, each as 32 flits",
		BENCH_GCM, 1 << BENCH_RTC, SKID | OPEN, &direct },
};

const unsigned int bench_n_ide = sizeof(bench_ide) / sizeof(bench_ide[0]);
