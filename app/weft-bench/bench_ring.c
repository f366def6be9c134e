/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a ring between two lcores costs: bursts of pointers in, bursts out, nothing else. */

#include <sched.h>
#include <stdlib.h>

#include <rte_launch.h>
#include <rte_pause.h>
#include <rte_ring.h>

#include "bench_pipe.h"
#include "cli.h"

#define BURSTS 64
#define RING_FRAMES 1024

struct ring_hop {
	const struct bench_params *p;
	struct rte_ring *ring;
	void *token[WEFT_BURST_MAX];
	uint64_t sent;
	bool stop;
	_Alignas(WEFT_CACHE_LINE) uint64_t got; /* the other lcore's */
	uint64_t sum;
};

static void
ring_idle(const struct ring_hop *c)
{
	if (c->p->share_cpu)
		sched_yield();
	else
		rte_pause();
}

static int
ring_worker(void *arg)
{
	struct ring_hop *c = arg;
	void *token[WEFT_BURST_MAX];

	for (;;) {
		unsigned int n = rte_ring_sc_dequeue_burst(c->ring, token, WEFT_BURST_MAX, NULL);

		for (unsigned int i = 0; i < n; i++)
			c->sum += (uintptr_t)token[i];
		if (n != 0)
			__atomic_store_n(&c->got, c->got + n, __ATOMIC_RELEASE);
		else if (__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE))
			return 0;
		else
			ring_idle(c);
	}
}

static uint64_t
ring_run(void *ctx)
{
	struct ring_hop *c = ctx;

	for (unsigned int i = 0; i < BURSTS; i++)
		while (rte_ring_sp_enqueue_bulk(c->ring, c->token, WEFT_BURST_MAX, NULL) == 0)
			ring_idle(c);
	c->sent += BURSTS * WEFT_BURST_MAX;
	while (__atomic_load_n(&c->got, __ATOMIC_ACQUIRE) < c->sent)
		ring_idle(c);
	return (uint64_t)BURSTS * WEFT_BURST_MAX * c->p->frame_flits;
}

/* Each burst holds the numbers 1 to 32. */
static bool
ring_is_right(void *ctx)
{
	struct ring_hop *c = ctx;

	__atomic_store_n(&c->stop, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(c->p->worker);
	return c->got == c->sent &&
	       c->sum == c->sent / WEFT_BURST_MAX * (WEFT_BURST_MAX * (WEFT_BURST_MAX + 1) / 2);
}

static void
ring_free(void *ctx)
{
	struct ring_hop *c = ctx;

	rte_ring_free(c->ring);
	free(c);
}

static void *
ring_setup(const struct bench *b, const struct bench_params *p)
{
	struct ring_hop *c = bench_alloc(sizeof(*c));

	c->p = p;
	for (uintptr_t i = 0; i < WEFT_BURST_MAX; i++)
		c->token[i] = (void *)(i + 1);
	c->ring = rte_ring_create(
		"bench_hop", RING_FRAMES, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (c->ring == NULL || rte_eal_remote_launch(ring_worker, c, p->worker) != 0) {
		cli_warn("%s: no ring or no second lcore", b->name);
		rte_ring_free(c->ring);
		free(c);
		return NULL;
	}
	ring_run(c);
	return c;
}

const struct bench_ops ring_ops = { ring_setup, NULL, ring_run, ring_is_right, ring_free };
