/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Which row is taken: by features, by name, and when a self-test fails. */

#include "weft_test.h"

#include "weft_cpu.h"

struct row {
	struct weft_kernel k;
	bool works;
	int tested;
};

static struct row rows[] = {
	{ { "best", WEFT_CPU_AVX512 | WEFT_CPU_GFNI }, true, 0 },
	{ { "broken", WEFT_CPU_AVX2 }, false, 0 },
	{ { "good", WEFT_CPU_AVX2 }, true, 0 },
	{ { "scalar", 0 }, true, 0 },
};

static bool
passes(const struct weft_kernel *k)
{
	struct row *r = (struct row *)(uintptr_t)k;

	r->tested++;
	return r->works;
}

static const struct weft_kernel_family family = { "pretence", rows, sizeof(rows[0]),
	WEFT_ARRAY_SIZE(rows), passes };

WEFT_TEST(first_usable_row_is_taken)
{
	assert_ptr_equal(weft_kernel_choose(&family, NULL, UINT32_MAX), &rows[0]);
	assert_ptr_equal(weft_kernel_choose(&family, NULL, 0), &rows[3]);
	assert_null(weft_kernel_failure(0));
}

WEFT_TEST(row_that_fails_its_test_makes_way_and_is_remembered_once)
{
	for (int i = 0; i < 2; i++)
		assert_ptr_equal(weft_kernel_choose(&family, NULL, WEFT_CPU_AVX2), &rows[2]);
	assert_int_equal(rows[1].tested, 2);
	assert_non_null(weft_kernel_failure(0));
	assert_string_equal(weft_kernel_failure(0)->family, "pretence");
	assert_string_equal(weft_kernel_failure(0)->kernel, "broken");
	assert_null(weft_kernel_failure(1));
}

WEFT_TEST(name_asks_for_that_row_or_none)
{
	assert_ptr_equal(weft_kernel_choose(&family, "good", UINT32_MAX), &rows[2]);
	assert_null(weft_kernel_choose(&family, "good", WEFT_CPU_AVX512));
	assert_null(weft_kernel_choose(&family, "broken", UINT32_MAX));
	assert_null(weft_kernel_choose(&family, "Best", UINT32_MAX));
	assert_null(weft_kernel_choose(&family, "", UINT32_MAX));
}
