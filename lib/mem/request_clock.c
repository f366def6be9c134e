/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Clocks that stand still: see weft_request_clock.h. Hot: stood() runs for each request. */

#include "weft_request_clock.h"

#define UNIT_LOG2 16 /* a tag has 32 bits for it: 78 hours, of one request */

static struct weft_request_clock_peer *
clock_peer(struct weft_request_clock *c, uint16_t dpid)
{
	return &c->peer[dpid % WEFT_REQUEST_CLOCK_PEERS];
}

void
weft_request_clock_forgive(struct weft_request_clock *c, uint64_t ns)
{
	c->forgiven_ns += ns;
}

void
weft_request_clock_stall(
	struct weft_request_clock *c, uint16_t dpid, bool is_stalled, uint64_t now_ns)
{
	struct weft_request_clock_peer *p = clock_peer(c, dpid);

	if (is_stalled == p->is_stalled)
		return;
	if (is_stalled)
		p->since_ns = now_ns;
	else
		p->stood_ns += now_ns - p->since_ns;
	p->is_stalled = is_stalled;
}

uint32_t
weft_request_clock_stood(const struct weft_request_clock *c, uint16_t dpid, uint64_t now_ns)
{
	const struct weft_request_clock_peer *p;
	uint64_t stood_ns;

	if (c == NULL)
		return 0;
	p = &c->peer[dpid % WEFT_REQUEST_CLOCK_PEERS];
	stood_ns = c->forgiven_ns + p->stood_ns;
	if (p->is_stalled && now_ns > p->since_ns)
		stood_ns += now_ns - p->since_ns;
	return (uint32_t)(stood_ns >> UNIT_LOG2);
}

uint64_t
weft_request_clock_age(const struct weft_request_clock *c, uint16_t dpid, uint64_t since_ns,
	uint32_t stood, uint64_t now_ns)
{
	const uint32_t units = weft_request_clock_stood(c, dpid, now_ns) - stood;
	const uint64_t passed_ns = now_ns - since_ns, off_ns = (uint64_t)units << UNIT_LOG2;

	/* A pause while the way stands still is taken off twice. */
	return off_ns < passed_ns ? passed_ns - off_ns : 0;
}
