/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Clocks of nodes. Each shows its own time, runs a little too fast or too slow, and may jump
 * forward; it never runs backwards, as no monotonic clock does.
 */

#include "sim.h"

uint64_t
clock_local(const struct sim_clock *c, uint64_t now_ns)
{
	const uint64_t passed = now_ns - c->at_ns;

	return c->local_ns + passed + (uint64_t)((int64_t)passed * c->rate >> CLOCK_RATE_LOG2);
}

/* The first simulated time at which it shows @local_ns or more. */
uint64_t
clock_sim(const struct sim_clock *c, uint64_t local_ns)
{
	uint64_t now;

	if (local_ns <= c->local_ns)
		return c->at_ns;
	if (local_ns - c->local_ns > UINT64_C(1) << 42) /* over an hour is never */
		return SIM_NEVER;
	if (c->rate == 0)
		return c->at_ns + (local_ns - c->local_ns);
	now = c->at_ns + ((local_ns - c->local_ns) << CLOCK_RATE_LOG2) /
	                         (uint64_t)((INT64_C(1) << CLOCK_RATE_LOG2) + c->rate);
	while (clock_local(c, now) < local_ns)
		now++;
	return now;
}

void
clock_set(struct sim_clock *c, uint64_t now_ns, uint64_t jump_ns, int32_t rate)
{
	c->local_ns = clock_local(c, now_ns) + jump_ns;
	c->at_ns = now_ns;
	c->rate = rate;
}
