/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What measures is what cuts. */

#include "weft_test.h"

#include "weft_carve.h"

/* Parts of every length to a few lines, in turn. */
static void
carve_all(struct weft_carver *c, uint8_t **part)
{
	for (size_t len = 0; len <= 3 * WEFT_CACHE_LINE; len++)
		part[len] = weft_carve(c, len);
}

WEFT_TEST(parts_have_lines_of_their_own)
{
	static uint8_t block[4096 * WEFT_CACHE_LINE] __attribute__((aligned(WEFT_CACHE_LINE)));
	uint8_t *part[3 * WEFT_CACHE_LINE + 2];
	struct weft_carver measured = { 0 }, cut = { .block = block };

	carve_all(&measured, part);
	for (size_t len = 0; len <= 3 * WEFT_CACHE_LINE; len++)
		assert_null(part[len]);
	carve_all(&cut, part);
	assert_int_equal(measured.len, cut.len);
	assert_true(cut.len <= sizeof(block));
	part[3 * WEFT_CACHE_LINE + 1] = block + cut.len;
	for (size_t len = 0; len <= 3 * WEFT_CACHE_LINE; len++) {
		const size_t room = (size_t)(part[len + 1] - part[len]);

		assert_int_equal((uintptr_t)part[len] % WEFT_CACHE_LINE, 0);
		assert_in_range(room, len, len + WEFT_CACHE_LINE - 1);
	}
}
