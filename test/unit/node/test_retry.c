/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What a topology says of retry overrules what a node begins with, and stays valid. */

#include "weft_test.h"

#include "weft_node.h"

/* Case @n: what a topology says of retry, and what was there before. */
static void
make_case(unsigned int n, struct weft_topo_retry *r, struct weft_llr_cfg *c)
{
	static const uint16_t windows[] = { 0, 8, 100, 511 }, acks[] = { 0, 1, 255 };
	static const uint16_t buffers[] = { 0, 1, 511 };
	const struct weft_llr_cfg base = { .window = 64,
		.rx_flits = 63,
		.ack_every = 8,
		.nak_repeat = 8,
		.timeout_min_ns = 1000,
		.timeout_first_ns = 100000,
		.timeout_max_ns = 1000000,
		.replays_max = 8,
		.selective = true };

	*c = base;
	*r = (struct weft_topo_retry){ .window = windows[n % 4] };
	r->ack_every = acks[(n /= 4) % 3];
	r->rx_buffer = buffers[(n /= 3) % 3];
	r->selective = (int8_t)((int)((n /= 3) % 3) - 1);
	switch ((n /= 3) % 3) { /* cxl, rxl that reads numbers, rxl that goes back */
	case 0:
		c->mode = WEFT_MODE_CXL;
		c->isn = WEFT_ISN_NONE;
		break;
	case 1:
		c->mode = WEFT_MODE_RXL;
		c->gap_decoding = true;
		break;
	default:
		c->mode = WEFT_MODE_RXL;
		c->selective = false;
		c->rx_flits = 0;
		break;
	}
	if ((n / 3) % 2 != 0) { /* it goes back by itself */
		c->selective = false;
		c->rx_flits = 0;
	}
}

/* Every combination of what a topology may say, over every kind of end: what is valid stays so. */
WEFT_TEST(what_a_topology_says_of_retry_is_always_valid)
{
	unsigned int cases = 0;

	for (unsigned int i = 0; i < 4 * 3 * 3 * 3 * 3 * 2; i++) {
		struct weft_topo_retry r;
		struct weft_llr_cfg c, b;

		make_case(i, &r, &c);
		b = c;
		if (weft_llr_size(&b) == 0)
			fail_msg("case %u: what was before is not valid", i);
		weft_node_retry(&c, &r);
		if (weft_llr_size(&c) == 0)
			fail_msg("case %u: window %u, rx %u, selective %d", i, c.window, c.rx_flits,
				c.selective);
		assert_int_equal(c.window, r.window != 0 ? r.window : b.window);
		assert_int_equal(c.ack_every, r.ack_every != 0 ? r.ack_every : b.ack_every);
		if (r.selective == 0 || (b.mode == WEFT_MODE_RXL && !b.gap_decoding))
			assert_false(c.selective);
		else
			assert_int_equal(c.selective, r.selective < 0 ? b.selective : true);
		if (!c.selective)
			assert_int_equal(c.rx_flits, 0);
		else if (r.rx_buffer != 0)
			assert_int_equal(c.rx_flits, r.rx_buffer);
		else /* all that can come behind a gap */
			assert_int_equal(c.rx_flits, c.window - 1);
		cases++;
	}
	assert_int_equal(cases, 648);
}
