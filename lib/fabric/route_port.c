/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Hot: the choice of a port (fabric.md section 1.10). */

#include "weft_route.h"

/* Ports of a group that can take a message, as a mask of indices in the row. */
static unsigned int
route_candidates(const struct weft_rgt_entry *e, const struct weft_route_ports *ports,
	unsigned int from, unsigned int to)
{
	unsigned int mask = 0;

	for (unsigned int i = from; i <= to; i++) {
		const unsigned int p = e->port[i];

		mask |= (unsigned int)(ports->ready[p / 64] >> p % 64 & 1) << i;
	}
	return mask;
}

/* Indices of a row from one to another. */
static unsigned int
route_indices(unsigned int from, unsigned int to)
{
	return ((2u << to) - 1) & ~((1u << from) - 1);
}

static int
route_any_of(const struct weft_rgt_entry *e, unsigned int mask, uint64_t rnd)
{
	const unsigned int count = (unsigned int)__builtin_popcount(mask);

	for (unsigned int skip = (unsigned int)((rnd >> 32) * count >> 32); skip != 0; skip--)
		mask &= mask - 1;
	return e->port[__builtin_ctz(mask)];
}

static int
route_least_loaded(const struct weft_rgt_entry *e, unsigned int mask, const uint32_t *load)
{
	unsigned int best = (unsigned int)__builtin_ctz(mask);

	for (mask &= mask - 1; mask != 0; mask &= mask - 1) {
		const unsigned int i = (unsigned int)__builtin_ctz(mask);

		if (load[e->port[i]] < load[e->port[best]])
			best = i;
	}
	return e->port[best];
}

/* The group first: it does not fall over to the other one, except in mix 7. */
static int
route_spread(const struct weft_rgt_entry *e, const struct weft_route_ports *ports, uint64_t rnd)
{
	const unsigned int last = e->counts & 7;
	const unsigned int last_primary = e->counts >> 3;
	const unsigned int mix = e->mode >> 3;
	const bool has_secondary = last_primary < last;
	bool primary = !has_secondary || (rnd & 7) < 7 - mix;
	unsigned int mask;

	if (mix == WEFT_RGT_MIX_PRIMARY_FIRST)
		primary = !has_secondary || route_candidates(e, ports, 0, last_primary) != 0;
	mask = primary ? route_candidates(e, ports, 0, last_primary)
	               : route_candidates(e, ports, last_primary + 1, last);
	if (mask == 0)
		return WEFT_ROUTE_STALL;
	return (e->mode & 7) == WEFT_RGT_RANDOM ? route_any_of(e, mask, rnd)
	                                        : route_least_loaded(e, mask, ports->load);
}

int
weft_route_port(const struct weft_route *r, const struct weft_route_ports *ports, uint16_t dpid,
	enum weft_route_class c, uint64_t rnd)
{
	const uint8_t *row;

	if (dpid >= WEFT_PID_RESERVED)
		return dpid == WEFT_PID_RESERVED ? WEFT_ROUTE_LOCAL : WEFT_ROUTE_NONE;
	row = r->drt.entry[dpid];
	if (row[0] != WEFT_DRT_RGT || !r->spread || !weft_route_classes[c].may_spread)
		return r->first[dpid];
	return route_spread(&r->rgt[row[1]], ports, rnd);
}

/* Keys that differ in a bit share nothing of where they go (the end of splitmix64). */
static uint64_t
route_hash(uint64_t key)
{
	key = (key ^ key >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	key = (key ^ key >> 27) * UINT64_C(0x94D049BB133111EB);
	return key ^ key >> 31;
}

int
weft_route_port_of_key(
	const struct weft_route *r, uint16_t dpid, enum weft_route_class c, uint64_t key)
{
	const struct weft_rgt_entry *e = weft_route_group(r, dpid);
	const uint64_t rnd = route_hash(key);
	unsigned int last, last_primary, mix;
	bool primary;

	if (dpid >= WEFT_PID_RESERVED)
		return dpid == WEFT_PID_RESERVED ? WEFT_ROUTE_LOCAL : WEFT_ROUTE_NONE;
	if (e == NULL || !weft_route_spreads(r, c))
		return r->first[dpid];
	last = e->counts & 7;
	last_primary = e->counts >> 3;
	mix = e->mode >> 3;
	primary = last_primary == last || mix == WEFT_RGT_MIX_PRIMARY_FIRST || (rnd & 7) < 7 - mix;
	return route_any_of(e,
		primary ? route_indices(0, last_primary) : route_indices(last_primary + 1, last),
		rnd);
}

void
weft_route_run(const struct weft_route *r, const uint16_t *dpid, int16_t *port, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		const int16_t first = r->first[dpid[i] & (WEFT_PIDS - 1)];

		port[i] = (int16_t)(dpid[i] < WEFT_PIDS ? first : WEFT_ROUTE_NONE);
	}
}
