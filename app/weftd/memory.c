/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory that nodes have. That of a GFD is of huge pages where there are any, and on the NUMA node
 * of the lcore that serves it; a crossing is reported.
 */

#include "gfd.h"

#include <numa.h>
#include <stdio.h>
#include <sys/mman.h>

#include <rte_lcore.h>

#define HUGE_PAGE (UINT64_C(2) << 20)

static void *
memory_huge(size_t len, bool *huge)
{
	void *mem = MAP_FAILED;

	*huge = false;
	if (len % HUGE_PAGE == 0)
		mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (mem != MAP_FAILED) {
		*huge = true;
		return mem;
	}
	return mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* Put the memory on the node that serves it, unless the topology says where; report a crossing. */
static void
memory_place(const struct node *n, void *mem, size_t len, bool huge)
{
	int serves = (int)rte_lcore_to_socket_id(n->lcore), want = n->topo->numa;

	if (want < 0)
		want = serves;
	if (numa_available() >= 0 && want <= numa_max_node())
		numa_tonode_memory(mem, len, want);
	if (n->daemon->cfg.no_text)
		return;
	printf("node %s: %zu bytes of %s pages on NUMA node %d%s\n", n->topo->name, len,
		huge ? "huge" : "ordinary", want,
		want == serves ? "" : ", served from another node: every access crosses");
}

void *
memory_map(void *node, size_t len)
{
	const struct node *n = node;
	const bool is_gfd = n->topo->kind == WEFT_TOPO_GFD;
	bool huge = false;
	void *mem = is_gfd ? memory_huge(len, &huge)
	                   : mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				     -1, 0);

	if (mem == MAP_FAILED)
		return NULL;
	if (is_gfd)
		memory_place(n, mem, len, huge);
	return mem;
}

void
memory_unmap(void *node, void *mem, size_t len)
{
	(void)node;
	if (mem != NULL)
		munmap(mem, len);
}
