/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* DRT: rows at both ends, rows that must not route, and random tables against a plain map. */

#include "weft_test.h"

#include "weft_pbr.h"

static struct weft_drt drt;

static int
clear(void **state)
{
	(void)state;
	memset(&drt, 0, sizeof(drt));
	return 0;
}

WEFT_TEST_EACH(clear, NULL)

WEFT_TEST(zeroed_table_routes_nothing)
{
	for (unsigned int d = 0; d < WEFT_PIDS; d++)
		assert_int_equal(weft_drt_port(&drt, (uint16_t)d), -1);
}

WEFT_TEST(ends_of_the_ranges_are_taken)
{
	assert_int_equal(weft_drt_set(&drt, 0, 255), 0);
	assert_int_equal(weft_drt_set(&drt, 0xFFE, 0), 0);
	assert_int_equal(weft_drt_port(&drt, 0), 255);
	assert_int_equal(weft_drt_port(&drt, 0xFFE), 0);
	assert_int_equal(weft_drt_set(&drt, 0, -1), 0);
	assert_int_equal(weft_drt_port(&drt, 0), -1);
}

WEFT_TEST(values_out_of_range_change_nothing)
{
	static const struct weft_drt zero;

	assert_int_equal(weft_drt_set(&drt, WEFT_PID_RESERVED, 1), -EINVAL);
	assert_int_equal(weft_drt_set(&drt, 0x1000, 1), -EINVAL);
	assert_int_equal(weft_drt_set(&drt, UINT16_MAX, 1), -EINVAL);
	assert_int_equal(weft_drt_set(&drt, 1, 256), -EINVAL);
	assert_int_equal(weft_drt_set(&drt, 1, -2), -EINVAL);
	assert_memory_equal(&drt, &zero, sizeof(drt));
}

WEFT_TEST(dpid_above_12_bits_never_wraps_onto_a_row)
{
	assert_int_equal(weft_drt_set(&drt, 5, 7), 0);
	assert_int_equal(weft_drt_port(&drt, 0x1005), -1);
	assert_int_equal(weft_drt_port(&drt, UINT16_MAX), -1);
}

/* Rows are wire bytes: a manager may have written any of these. */
WEFT_TEST(only_rows_of_type_port_route)
{
	for (unsigned int type = 0; type < 256; type++) {
		drt.entry[9][0] = (uint8_t)type;
		drt.entry[9][1] = 42;
		assert_int_equal(weft_drt_port(&drt, 9), (type & 3) == WEFT_DRT_PORT ? 42 : -1);
	}
}

WEFT_TEST(row_has_its_wire_layout)
{
	/* fabric.md part (c): DPID 07Eh to port 7Dh. */
	assert_int_equal(weft_drt_set(&drt, 0x07E, 0x7D), 0);
	assert_int_equal(drt.entry[0x07E][0], 0x01);
	assert_int_equal(drt.entry[0x07E][1], 0x7D);
}

WEFT_TEST(random_table_equals_a_map)
{
	int map[WEFT_PIDS];
	struct weft_rand r;

	weft_test_seed(&r, "drt");
	for (unsigned int d = 0; d < WEFT_PIDS; d++)
		map[d] = -1;
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int d = (unsigned int)weft_rand_below(&r, WEFT_PID_RESERVED);

		map[d] = (int)weft_rand_below(&r, 257) - 1;
		assert_int_equal(weft_drt_set(&drt, (uint16_t)d, map[d]), 0);
	}
	for (uint16_t i = 0; i < WEFT_PIDS; i++)
		assert_int_equal(weft_drt_port(&drt, i), map[i]);
}
