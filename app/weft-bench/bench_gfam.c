/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A GFD's decisions alone: 64 requests of random hosts to random lines that are theirs, four ways
 * interleaved, so that GDT, MGT and SAT are all asked.
 */

#include "bench.h"

#include <stdlib.h>

#include "cli.h"
#include "weft_gfam.h"
#include "weft_rand.h"

#define REQUESTS 64
#define ROUNDS 64
#define BLOCK (UINT64_C(64) << 20)
#define BLOCKS 1024
#define GROUPS 64
#define GRAN 2 /* 1 KiB */
#define INTLV 2 /* four ways */

/* How many hosts, with how many decoders each. */
enum { GFAM_SMALL, GFAM_FULL, GFAM_KINDS };

static const struct {
	uint16_t hosts;
	uint8_t decoders;
} shape[GFAM_KINDS] = { [GFAM_SMALL] = { 64, 4 }, [GFAM_FULL] = { 4095, 8 } };

struct gfam {
	struct weft_gfam *tables;
	struct weft_gfam_decision d[REQUESTS];
	uint16_t spid[ROUNDS][REQUESTS];
	uint64_t hpa[ROUNDS][REQUESTS];
	uint64_t dpa[ROUNDS][REQUESTS];
	bool write[ROUNDS][REQUESTS];
	unsigned int at;
	bool is_wrong; /* since the set-up */
};

static uint64_t
gfam_run(void *ctx)
{
	struct gfam *g = ctx;

	weft_gfam_decide_run(
		g->tables, g->spid[g->at], g->hpa[g->at], g->write[g->at], g->d, REQUESTS);
	g->at = (g->at + 1) % ROUNDS;
	return REQUESTS;
}

/* The last run's answers. */
static bool
gfam_is_right(void *ctx)
{
	const struct gfam *g = ctx;
	const uint64_t *dpa = g->dpa[(g->at + ROUNDS - 1) % ROUNDS];

	for (unsigned int i = 0; i < REQUESTS; i++)
		if (g->d[i].result != WEFT_GFAM_ALLOWED || g->d[i].dpa != dpa[i])
			return false;
	return !g->is_wrong;
}

static void
gfam_free(void *ctx)
{
	struct gfam *g = ctx;

	free(g->tables);
	free(g);
}

static struct weft_gfam_decoder
gfam_decoder(unsigned int host, unsigned int k)
{
	return (struct weft_gfam_decoder){
		.valid = true,
		.hpa_base = (k + 1) * (UINT64_C(1) << 40),
		.dpa_base = (host + k * 100) % BLOCKS * BLOCK,
		.dpa_len = BLOCK,
		.intlv = INTLV,
		.gran = GRAN,
		.way = (uint8_t)((host + k) % 4),
	};
}

static struct weft_gfam *
gfam_tables(unsigned int kind)
{
	const struct weft_gfam_cfg cfg = { .rows = shape[kind].hosts,
		.groups = GROUPS,
		.dmps = 1,
		.blocks = BLOCKS,
		.media = { { BLOCK, 0 } } };
	struct weft_gfam *t = weft_gfam_init(bench_alloc(weft_gfam_size(&cfg)), &cfg);
	int rc = weft_gfam_set_dmp(t, 0, 0, BLOCKS * BLOCK, BLOCK);

	for (unsigned int b = 0; b < BLOCKS; b++)
		rc |= weft_gfam_set_blocks(t, b * BLOCK, BLOCK, (uint8_t)(b % GROUPS));
	for (uint16_t h = 0; h < shape[kind].hosts; h++) {
		for (unsigned int k = 0; k < shape[kind].decoders; k++) {
			const struct weft_gfam_decoder d = gfam_decoder(h, k);

			rc |= weft_gfam_set_gdt(t, h, h, k, &d, 1);
		}
		rc |= weft_gfam_set_sat(t, h, UINT64_MAX);
	}
	return rc == 0 ? t : NULL;
}

static void
gfam_requests(struct gfam *g, unsigned int kind)
{
	struct weft_rand r;

	weft_rand_seed(&r, 1);
	for (unsigned int i = 0; i < ROUNDS * REQUESTS; i++) {
		const unsigned int host = (unsigned int)weft_rand_below(&r, shape[kind].hosts);
		const unsigned int k = (unsigned int)weft_rand_below(&r, shape[kind].decoders);
		const struct weft_gfam_decoder d = gfam_decoder(host, k);
		const uint64_t granule = weft_rand_below(&r, BLOCK >> (8 + GRAN));
		const uint64_t within = weft_rand_below(&r, 16) * 64;
		uint64_t *hpa = &g->hpa[i / REQUESTS][i % REQUESTS];

		*hpa = d.hpa_base + ((granule << INTLV | d.way) << (8 + GRAN)) + within;
		g->dpa[i / REQUESTS][i % REQUESTS] = d.dpa_base + (granule << (8 + GRAN)) + within;
		g->spid[i / REQUESTS][i % REQUESTS] = (uint16_t)host;
		g->write[i / REQUESTS][i % REQUESTS] = weft_rand_below(&r, 2) != 0;
	}
}

static void *
gfam_setup(const struct bench *b, const struct bench_params *p)
{
	struct gfam *g = bench_alloc(sizeof(*g));

	(void)p;
	g->tables = gfam_tables(b->kind);
	if (g->tables == NULL) {
		cli_warn("%s: tables refused", b->name);
		free(g);
		return NULL;
	}
	gfam_requests(g, b->kind);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		gfam_run(g);
		g->is_wrong |= !gfam_is_right(g);
	}
	return g;
}

static const struct bench_ops gfam = { gfam_setup, NULL, gfam_run, gfam_is_right, gfam_free };

const struct bench bench_gfam[] = {
	{ "gfam", "64 decisions of a GFD, 64 hosts with 4 decoders each", BENCH_PLAIN,
		1 << BENCH_RTC, GFAM_SMALL, &gfam },
	{ "gfam-full", "the same with 4095 hosts and 8 decoders each", BENCH_PLAIN, 1 << BENCH_RTC,
		GFAM_FULL, &gfam },
};

const unsigned int bench_n_gfam = sizeof(bench_gfam) / sizeof(bench_gfam[0]);
