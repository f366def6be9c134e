/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What every unit test includes: cmocka with the headers it wants first and the two that most tests
 * want, tests that need no list, and the seed of a property test. WEFT_TEST_SEED=N replays a run;
 * otherwise each run draws a new seed and prints it.
 */
#ifndef WEFT_TEST_H
#define WEFT_TEST_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "weft_base.h"
#include "weft_rand.h"

/**
 * Begins a test: its body follows. A program runs its tests in the order in which they are written,
 * and needs a main() only if it has to prepare more than WEFT_TEST_EACH() and WEFT_TEST_AROUND()
 * do.
 */
#define WEFT_TEST(name)                                                                            \
	static void name(void **state);                                                            \
	static void __attribute__((constructor)) name##_is_a_test(void)                            \
	{                                                                                          \
		weft_test_add(#name, name);                                                        \
	}                                                                                          \
	static void name(void **state __attribute__((unused)))

/** What is called before and after each test of the program, NULL for nothing. */
#define WEFT_TEST_EACH(setup, teardown)                                                            \
	static void __attribute__((constructor)) weft_test_each_of_file(void)                      \
	{                                                                                          \
		weft_test_each(setup, teardown);                                                   \
	}

/** What is called before the first test of the program and after its last, NULL for nothing. */
#define WEFT_TEST_AROUND(setup, teardown)                                                          \
	static void __attribute__((constructor)) weft_test_around_file(void)                       \
	{                                                                                          \
		weft_test_around(setup, teardown);                                                 \
	}

void weft_test_add(const char *name, CMUnitTestFunction run);
void weft_test_each(CMFixtureFunction setup, CMFixtureFunction teardown);
void weft_test_around(CMFixtureFunction setup, CMFixtureFunction teardown);

/** Run all tests of the program; what main() returns. */
int weft_test_run(void);

/** Seed @p r for the property test @p what and print the seed. */
static inline void
weft_test_seed(struct weft_rand *r, const char *what)
{
	const char *given = getenv("WEFT_TEST_SEED");
	struct timespec now;
	uint64_t seed;

	clock_gettime(CLOCK_REALTIME, &now);
	seed = given != NULL ? strtoull(given, NULL, 0)
	                     : (uint64_t)now.tv_sec * 1000003u + (uint64_t)now.tv_nsec;
	printf("%s: WEFT_TEST_SEED=%llu\n", what, (unsigned long long)seed);
	weft_rand_seed(r, seed);
}

/** Whether the tests ran in another build before this: searches and statistics are its affair. */
static inline bool
weft_test_is_again(void)
{
	return getenv("WEFT_TEST_AGAIN") != NULL;
}

/**
 * Cases of a property test of which @p n are wanted: all in the first build that runs the tests, a
 * twentieth in each after it, which draws seeds of its own.
 */
static inline unsigned int
weft_test_cases(unsigned int n)
{
	return weft_test_is_again() ? (n + 19) / 20 : n;
}

/** Step of a search: each case in the first build of a run of tests, one of @p n in those after. */
static inline unsigned int
weft_test_step(unsigned int n)
{
	return weft_test_is_again() ? n : 1;
}

/** Bytes of a hex string; returns how many were written. */
static inline size_t
weft_test_unhex(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;
	unsigned int byte;

	while (n < room && sscanf(hex + 2 * n, "%2x", &byte) == 1)
		out[n++] = (uint8_t)byte;
	return n;
}

#endif /* WEFT_TEST_H */
