/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Calls that fail when a test wants it: a full disk, no memory, a limit of the kernel. A program
 * linked with --wrap=NAME (its row of meson.build) says here what a failure of NAME returns:
 *
 * WEFT_FAIL(int, mlock, (const void *at, size_t len), (at, len), -1)
 *
 * and runs what it tests with each call of NAME failing in turn. Of one thread at a time: calls of
 * others count too.
 */
#ifndef WEFT_FAIL_H
#define WEFT_FAIL_H

#include "weft_test.h"

#include <stdatomic.h>

static struct {
	const char *name; /* NULL: nothing fails */
	int error;
	atomic_uint left; /* calls up to the one that fails */
	atomic_bool hit; /* it was made */
} weft_fail;

/** From now on the @p nth call of @p name fails with @p error, and no other. */
static inline void
weft_fail_set(const char *name, int error, unsigned int nth)
{
	weft_fail.name = name;
	weft_fail.error = error;
	atomic_store(&weft_fail.left, nth);
	atomic_store(&weft_fail.hit, false);
}

/** Whether it has failed; nothing fails any more. */
static inline bool
weft_fail_end(void)
{
	weft_fail.name = NULL;
	return atomic_load(&weft_fail.hit);
}

static inline bool
weft_fail_now(const char *name)
{
	if (weft_fail.name == NULL || strcmp(weft_fail.name, name) != 0 ||
		atomic_load(&weft_fail.left) == 0 || atomic_fetch_sub(&weft_fail.left, 1) != 1)
		return false;
	atomic_store(&weft_fail.hit, true);
	errno = weft_fail.error;
	return true;
}

/**
 * Call @p run, which is to set what fails by weft_fail_set() with the number it is given and to
 * return weft_fail_end(), for the first call, the second, and so on until there is none. Ends the
 * test if there is not one: then it is not @p name that the code calls.
 */
static inline void
weft_fail_each(
	const char *name, int error, bool (*run)(const char *name, int error, unsigned int nth))
{
	unsigned int nth = 1;

	while (run(name, error, nth))
		nth++;
	if (nth == 1)
		fail_msg("%s is not called", name);
}

#define WEFT_FAIL(type, name, params, args, failed)                                                \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		return weft_fail_now(#name) ? (failed) : __real_##name args;                       \
	}

#endif /* WEFT_FAIL_H */
