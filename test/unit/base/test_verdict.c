/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Every verdict has a name of its own, fit for a counter, and a help text. */

#include "weft_test.h"

#include <ctype.h>

#include "weft_verdict.h"

WEFT_TEST(names_are_distinct_counter_names)
{
	for (int v = 0; v < WEFT_VERDICT_COUNT; v++) {
		const char *name = weft_verdict_name((enum weft_verdict)v);

		for (const char *c = name; *c != '\0'; c++)
			assert_true(islower((unsigned char)*c) || *c == '_');
		for (int w = 0; w < v; w++)
			assert_string_not_equal(name, weft_verdict_name((enum weft_verdict)w));
		assert_true(strlen(weft_verdict_help((enum weft_verdict)v)) > 5);
	}
}

WEFT_TEST(out_of_range_is_said_so)
{
	assert_string_equal(weft_verdict_name(WEFT_VERDICT_COUNT), "unknown");
	assert_string_equal(weft_verdict_name((enum weft_verdict) - 1), "unknown");
}
