/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A buffer between two unmapped pages, right against the second: a kernel that reads or writes past
 * it dies at once.
 */
#ifndef WEFT_GUARD_H
#define WEFT_GUARD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "weft_test.h"

struct weft_guard {
	uint8_t *map;
	size_t mapped; /* bytes, the guard pages included */
	uint8_t *end; /* first byte of the second guard page */
};

/** Map room for @p room bytes, in whole pages, between guard pages. Fails the test if it cannot. */
static inline void
weft_guard_open(struct weft_guard *g, size_t room)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t open = (room + page - 1) / page * page;

	g->mapped = open + 2 * page;
	g->map = mmap(NULL, g->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(g->map != MAP_FAILED);
	g->end = g->map + page + open;
	assert_int_equal(mprotect(g->map, page, PROT_NONE), 0);
	assert_int_equal(mprotect(g->end, page, PROT_NONE), 0);
}

/** The last @p len bytes before the second guard page. */
static inline uint8_t *
weft_guard_last(const struct weft_guard *g, size_t len)
{
	return g->end - len;
}

static inline void
weft_guard_close(struct weft_guard *g)
{
	assert_int_equal(munmap(g->map, g->mapped), 0);
}

#endif /* WEFT_GUARD_H */
