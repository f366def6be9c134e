/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Pieces of work on threads, each with a seed of its own, and what they start from. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "cli.h"
#include "exp.h"
#include "weft_wire.h"

#define THREADS_MAX 2

struct crew {
	const struct exp *x;
	exp_work_fn fn;
	uint64_t seed;
	unsigned int n;
	atomic_uint next;
	uint64_t (*sum)[EXP_SUMS]; /* one a piece */
};

static uint64_t
work_mix(uint64_t seed, uint64_t with)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed);
	weft_rand_seed(&r, weft_rand_u64(&r) ^ with);
	return weft_rand_u64(&r);
}

static void *
work_crew_run(void *arg)
{
	struct crew *c = arg;
	unsigned int i;

	while ((i = atomic_fetch_add(&c->next, 1)) < c->n)
		c->fn(c->x, i, work_mix(c->seed, i), c->sum[i]);
	return NULL;
}

void
exp_work(const struct exp *x, const char *topic, exp_work_fn fn, unsigned int n,
	uint64_t sum[EXP_SUMS])
{
	struct crew c = { .x = x, .fn = fn, .seed = x->seed, .n = n };
	pthread_t thread[THREADS_MAX];
	unsigned int threads = 1;

	for (const char *t = topic; *t != '\0'; t++)
		c.seed = work_mix(c.seed, (uint8_t)*t);
	c.sum = calloc(n, sizeof(c.sum[0]));
	if (c.sum == NULL)
		cli_fail("no memory for %u pieces of work", n);
	while (threads < x->threads && threads < THREADS_MAX &&
		pthread_create(&thread[threads], NULL, work_crew_run, &c) == 0)
		threads++;
	work_crew_run(&c);
	while (threads > 1)
		pthread_join(thread[--threads], NULL);
	for (unsigned int k = 0; k < EXP_SUMS; k++) {
		sum[k] = 0;
		for (unsigned int i = 0; i < n; i++)
			sum[k] += c.sum[i][k];
	}
	free(c.sum);
}

void
exp_flits(const struct exp *x, uint64_t seed, uint8_t *flits, unsigned int n)
{
	uint64_t implicit[WEFT_CODEC_MAX] = { 0 };
	uint8_t *flit[WEFT_CODEC_MAX];
	struct weft_rand r;

	weft_rand_seed(&r, work_mix(seed, 1));
	weft_rand_fill(&r, flits, (size_t)n * WEFT_WIRE_FLIT_LEN);
	for (unsigned int i = 0; i < n; i++)
		flit[i] = flits + (size_t)i * WEFT_WIRE_FLIT_LEN;
	weft_codec_protect(&x->codec, flit, n, WEFT_CRC_R0_FIRST, implicit);
}

void
exp_wire(struct weft_impair *w, uint64_t seed, const char *settings)
{
	struct weft_impair_cfg cfg;
	char err[256];

	weft_impair_defaults(&cfg);
	if (weft_impair_parse_list(&cfg, settings, err, sizeof(err)) != 0)
		cli_fail("wire %s: %s", settings, err);
	cfg.seed = work_mix(seed, 2);
	if (weft_impair_init(w, &cfg) != 0)
		cli_fail("wire %s: out of range", settings);
}
