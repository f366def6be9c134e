/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The stage route where one connection of eight misses in each burst: its frames wait, the others
 * pass, and the answer comes with the next poll. All of it is timed.
 */

#include "bench_pipe.h"

#define PAGE_LOG2 12

static int
wait_ask(void *arg, uint16_t ctx, uint64_t va, unsigned int want)
{
	struct pipe *c = arg;
	const uint64_t page = va & ~weft_mask64(PAGE_LOG2);

	(void)want;
	c->asked = true;
	c->answer = (struct weft_answer){ .ctx = ctx,
		.page = { page, page, PAGE_LOG2, WEFT_ATC_R | WEFT_ATC_W } };
	return 0;
}

static bool
wait_answer(void *arg, struct weft_answer *a)
{
	struct pipe *c = arg;
	const bool asked = c->asked;

	*a = c->answer;
	c->asked = false;
	return asked;
}

bool
wait_setup(struct pipe *c, uint64_t first_va)
{
	const struct weft_route_wait_cfg cfg = {
		.ask = wait_ask,
		.answer = wait_answer,
		.arg = c,
		.slots = 1,
		.places = WEFT_BURST_MAX,
		.share = WEFT_BURST_MAX,
		.contexts = PIPE_WAIT_CONNS,
		.socket = SOCKET_ID_ANY,
	};
	const struct weft_conn_cfg conn = { .isn = WEFT_ISN_PSEUDO, .first = WEFT_ISN_FIRST };

	c->answer.page.va = first_va;
	c->one_of[0] = c->conn;
	for (unsigned int i = 1; i < PIPE_WAIT_CONNS; i++) {
		struct weft_conn_key key = c->conn->key;

		key.session += i;
		c->one_of[i] = weft_conns_add(c->conns, &key, &conn);
		if (c->one_of[i] == NULL)
			return false;
	}
	c->env.wait = weft_route_wait_create(&cfg);
	return c->env.wait != NULL;
}

/* The page of the first request is forgotten, for the connection of the first frame. */
void
wait_prepare(struct pipe *c)
{
	weft_atc_invalidate(c->env.atc, c->conn->index, c->answer.page.va, PAGE_LOG2);
}

void
wait_run(struct pipe *c)
{
	while (c->sunk < c->expect)
		weft_pipe_poll(c->pipe, 0);
}
