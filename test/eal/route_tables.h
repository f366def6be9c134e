/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Routing tables for tests of pipelines: PIDs behind one port, with a segment each or without. */
#ifndef ROUTE_TABLES_H
#define ROUTE_TABLES_H

#include "eal_test.h"
#include "weft_tables.h"

/* Let @p dpid go by @p port, or nowhere (-1). */
static inline void
route_tables_port(struct weft_tables *t, uint16_t dpid, int port)
{
	const uint8_t row[1][2] = { { port < 0 ? WEFT_DRT_INVALID : WEFT_DRT_PORT,
		(uint8_t)port } };

	assert_int_equal(weft_route_set_drt(weft_tables_route_rw(t, 0), dpid, row, 1), 0);
}

/*
 * PIDs @p first to @p first + @p n - 1 by @p port. With a @p base, edge port 0 gives each of them
 * 1 << @p log2 bytes, one behind the other.
 */
static inline struct weft_tables *
route_tables_new(uint16_t first, uint16_t n, uint8_t port, uint64_t base, uint8_t log2)
{
	const struct weft_edge_cfg edge = { .pid = 1, .fast_depth_log2 = 3, .fast_idt = 1 };
	const struct weft_tables_cfg cfg = { .n_edges = base != 0, .edge = &edge, .n_routes = 1 };
	struct weft_tables *t = aligned_alloc(WEFT_CACHE_LINE, weft_tables_size(&cfg));

	assert_non_null(t);
	assert_int_equal(weft_tables_init(t, &cfg), 0);
	for (uint16_t i = 0; i < n; i++)
		route_tables_port(t, (uint16_t)(first + i), port);
	if (base == 0)
		return t;
	assert_int_equal(weft_seg_set_range(&weft_tables_edge_rw(t, 0)->fast, log2, base,
				 base + ((uint64_t)n << log2)),
		0);
	for (uint16_t i = 0; i < n; i++) {
		const struct weft_fast_entry e = { .flags = WEFT_SEG_VALID,
			.dpid = (uint16_t)(first + i) };
		struct weft_edge *edge_of = weft_tables_edge_rw(t, 0);

		assert_int_equal(weft_edge_allow(edge_of, WEFT_GMV, e.dpid, true), 0);
		assert_int_equal(weft_seg_set_entries(&edge_of->fast, i, &e, 1), 0);
	}
	return t;
}

#endif /* ROUTE_TABLES_H */
