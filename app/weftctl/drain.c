/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Verb drain: a node comes to rest, for maintenance, or goes on. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "ctl.h"
#include "daemons.h"
#include "drain_state.h"

#define DRAIN_LOOK_MS 50
#define DRAIN_WAIT_S 30

/* What all daemons say of their nodes that drain. */
static json_t *
drain_ask_all(struct daemons *d)
{
	json_t *states = json_array();
	char err[512];

	for (unsigned int i = 0; i < d->n; i++) {
		json_t *state =
			daemons_ask(&d->one[i], daemons_request("drains"), err, sizeof(err));

		if (state != NULL)
			json_array_append_new(states, state);
	}
	return states;
}

static void
drain_ask(struct ctl *c, struct daemons *d, const char *name)
{
	json_t *request = daemons_request("drain"), *answer;
	const unsigned int i = daemons_of_node(c, d, name);
	char err[512];

	json_object_set_new(request, "node", json_string(name));
	if (c->opt.drain.is_undone)
		json_object_set_new(request, "undo", json_true());
	answer = daemons_ask(&d->one[i], request, err, sizeof(err));
	if (answer == NULL)
		ctl_fail(c, "%s", err);
	json_decref(answer);
}

/* Until it is drained, has to wait for others, or the time is over. */
static enum drain_state
drain_wait(struct ctl *c, struct daemons *d, const char *name, json_t **states, char *who,
	size_t who_len)
{
	const struct timespec nap = { .tv_nsec = DRAIN_LOOK_MS * 1000000L };
	const double wait_s = c->opt.drain.wait_is_given ? c->opt.drain.wait_s : DRAIN_WAIT_S;
	struct timespec start, now;
	enum drain_state state;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (;;) {
		*states = drain_ask_all(d);
		state = drain_state_of(*states, drain_find(*states, name), who, who_len);
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (state != DRAIN_GOES_ON || cli_is_stopped() ||
			(double)(now.tv_sec - start.tv_sec) +
					(double)(now.tv_nsec - start.tv_nsec) / 1e9 >=
				wait_s)
			return state;
		json_decref(*states);
		nanosleep(&nap, NULL);
	}
}

static void
drain_print(const struct ctl *c, const char *name, enum drain_state state, const json_t *states)
{
	const json_t *drain = json_object_get(drain_find(states, name), "drain");
	json_t *left = json_object_get(drain, "left"), *first = json_object_get(drain, "first");

	if (c->opt.is_json)
		ctl_print_json(
			c, json_pack("{s:s, s:s, s:O, s:O}", "node", name, "state",
				   drain_word(state), "left", left == NULL ? json_null() : left,
				   "first", first == NULL ? json_null() : first));
	else if (state == DRAIN_DONE)
		printf("%s: drained\n", name);
	else if (state == DRAIN_NOT)
		printf("%s: runs\n", name);
}

int
drain_run(struct ctl *c)
{
	const char *name = c->operand[0];
	char who[512] = "";
	struct daemons d;
	enum drain_state state;
	json_t *states;

	if (c->opt.drain.is_undone && c->opt.drain.wait_is_given)
		cli_usage("drain: expected --wait or --undo, got both");
	daemons_open(c, &d);
	cli_catch_stop();
	drain_ask(c, &d, name);
	state = drain_wait(c, &d, name, &states, who, sizeof(who));
	drain_print(c, name, state, states);
	if (state == DRAIN_WAITS)
		cli_warn("drain %s: expected %s to drain first, whose requests come to it or by "
			 "it; it is not at rest before: drain that too, or weftctl drain %s --undo",
			name, who, name);
	else if (state == DRAIN_GOES_ON)
		cli_warn("drain %s: expected nothing outstanding, got %" JSON_INTEGER_FORMAT
			 " of its own or of those that use it, and it goes on: wait longer, or "
			 "weftctl drain %s --undo",
			name,
			json_integer_value(json_object_get(
				json_object_get(drain_find(states, name), "drain"), "left")),
			name);
	json_decref(states);
	daemons_close(&d);
	return state == DRAIN_DONE || state == DRAIN_NOT ? EXIT_SUCCESS : c->failure;
}
