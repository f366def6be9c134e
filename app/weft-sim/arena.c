/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory of one run: taken in large blocks, given back all at once. Large pages are asked for, as a
 * fabric of thousands of nodes touches memory all over, and the walks of page tables were most of
 * what a hop cost there.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cli.h"
#include "sim.h"

#define BLOCK ((size_t)4 << 20)
#define HUGE_PAGE ((size_t)2 << 20)
#define SMALL ((size_t)256 << 10) /* the first block: most runs need no more */

struct arena_block {
	struct arena_block *next;
	uint8_t data[] __attribute__((aligned(WEFT_CACHE_LINE)));
};

static void
arena_grow(struct arena *a, size_t len)
{
	const size_t want = a->blocks == NULL ? SMALL : BLOCK;
	size_t all = len + sizeof(struct arena_block);
	struct arena_block *b;

	all = all < want ? want : (all + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
	b = aligned_alloc(all < HUGE_PAGE ? WEFT_CACHE_LINE : HUGE_PAGE, all);
	if (b == NULL)
		cli_fail("out of memory");
	if (all >= HUGE_PAGE)
		madvise(b, all, MADV_HUGEPAGE); /* without it all works, slower */
	b->next = a->blocks;
	a->blocks = b;
	a->at = b->data;
	a->left = all - sizeof(struct arena_block);
}

void *
arena_alloc(struct arena *a, size_t len)
{
	uint8_t *p;

	len = (len + WEFT_CACHE_LINE - 1) & ~(size_t)(WEFT_CACHE_LINE - 1);
	if (len > a->left)
		arena_grow(a, len);
	p = a->at;
	a->at += len;
	a->left -= len;
	return memset(p, 0, len);
}

void
arena_free(struct arena *a)
{
	while (a->blocks != NULL) {
		struct arena_block *b = a->blocks;

		a->blocks = b->next;
		free(b);
	}
}
