/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* The tests of a program, which add themselves before main() begins. */
#include "weft_test.h"

static struct CMUnitTest tests[128];
static size_t n_tests;
static CMFixtureFunction each_setup, each_teardown, around_setup, around_teardown;

void
weft_test_add(const char *name, CMUnitTestFunction run)
{
	if (n_tests == WEFT_ARRAY_SIZE(tests))
		abort();
	tests[n_tests++] = (struct CMUnitTest){ .name = name, .test_func = run };
}

void
weft_test_each(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	each_setup = setup;
	each_teardown = teardown;
}

void
weft_test_around(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	around_setup = setup;
	around_teardown = teardown;
}

int
weft_test_run(void)
{
	for (size_t i = 0; i < n_tests; i++) {
		tests[i].setup_func = each_setup;
		tests[i].teardown_func = each_teardown;
	}
	/* What is behind cmocka_run_group_tests(), for a number that the compiler does not know. */
	return _cmocka_run_group_tests("tests", tests, n_tests, around_setup, around_teardown);
}
