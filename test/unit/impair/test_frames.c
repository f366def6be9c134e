/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The fate of frames: rates, times, history. */

#include "weft_test.h"

#include "weft_impair.h"

static void
clean_wire_passes_everything(void **state)
{
	struct weft_impair_cfg cfg;
	struct weft_impair_fate fate;
	struct weft_impair w;

	(void)state;
	weft_impair_defaults(&cfg);
	assert_int_equal(weft_impair_init(&w, &cfg), 0);
	for (int i = 0; i < 1000; i++) {
		weft_impair_frame(&w, &fate);
		assert_false(fate.drop);
		assert_int_equal(fate.copies, 1);
		assert_int_equal(fate.delay_ns[0], 0);
		assert_int_equal(fate.replay_back, 0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_wire_passes_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
