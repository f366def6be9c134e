/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Large pages under ordinary ones. Without hugepages EAL's memory is a file in memory (memfd),
 * which the kernel as most systems set it never gives large pages. Private memory gets them where
 * /sys/kernel/mm/transparent_hugepage/enabled is "madvise", as Debian has it, or "always": a pool
 * of buffers is there after tens of page faults instead of thousands.
 */

#include "eal_priv.h"

#include <rte_memory.h>

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES_ASKED 512 /* at a time */

/* What of @from is in memory goes to @to; the rest reads as zeros in both. */
static bool
pages_copy(uint8_t *to, uint8_t *from, size_t len, size_t page)
{
	unsigned char is_there[PAGES_ASKED];

	for (size_t at = 0; at < len; at += PAGES_ASKED * page) {
		const size_t part = RTE_MIN(len - at, PAGES_ASKED * page);

		if (mincore(from + at, part, is_there) != 0)
			return false;
		for (size_t i = 0; i < part / page; i++)
			if ((is_there[i] & 1) != 0)
				memcpy(to + at + i * page, from + at + i * page, page);
	}
	return true;
}

static int
pages_enlarge_list(const struct rte_memseg_list *msl, void *arg)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *room;

	(void)arg;
	if (msl->external || msl->page_sz != page)
		return 0;
	room = mmap(NULL, msl->len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return 0;
	if (!pages_copy(room, msl->base_va, msl->len, page) ||
		mremap(room, msl->len, msl->len, MREMAP_MAYMOVE | MREMAP_FIXED, msl->base_va) ==
			MAP_FAILED) {
		munmap(room, msl->len);
		return 0;
	}
	/* Not before: what was copied would take a large page whole. Refused, all works, slower. */
	madvise(msl->base_va, msl->len, MADV_HUGEPAGE);
	return 0;
}

void
eal_pages_enlarge(void)
{
	rte_memseg_list_walk(pages_enlarge_list, NULL);
}
