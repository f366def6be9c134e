/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which memory DPDK gets. Hugepages when enough are free, taken in memory (--in-memory) so that a
 * killed process leaks none; otherwise ordinary pages, which for memif and rings are as fast.
 */

#include "eal_priv.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define HUGE_DIR "/sys/kernel/mm/hugepages"

static uint64_t
memory_file_u64(const char *path)
{
	uint64_t v = 0;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%" SCNu64, &v) != 1)
		v = 0;
	fclose(f);
	return v;
}

static uint64_t
memory_huge_free_mb(void)
{
	const struct dirent *e;
	uint64_t kb = 0;
	DIR *dir = opendir(HUGE_DIR);

	if (dir == NULL)
		return 0;
	while ((e = readdir(dir)) != NULL) {
		char path[sizeof(HUGE_DIR) + sizeof(e->d_name) + 32];
		uint64_t page_kb, is_free, reserved;

		if (sscanf(e->d_name, "hugepages-%" SCNu64 "kB", &page_kb) != 1)
			continue;
		snprintf(path, sizeof(path), HUGE_DIR "/%s/free_hugepages", e->d_name);
		is_free = memory_file_u64(path);
		/* Pages promised to another process still count as free until touched. */
		snprintf(path, sizeof(path), HUGE_DIR "/%s/resv_hugepages", e->d_name);
		reserved = memory_file_u64(path);
		if (is_free > reserved)
			kb += (is_free - reserved) * page_kb;
	}
	closedir(dir);
	return kb / 1024;
}

static uint64_t
memory_avail_mb(void)
{
	char line[128];
	uint64_t kb = 0;
	FILE *f = fopen("/proc/meminfo", "re");

	if (f == NULL)
		return 0;
	while (fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1)
			break;
	fclose(f);
	return kb / 1024;
}

void
eal_mem_read(struct eal_mem_facts *facts)
{
	facts->huge_free_mb = memory_huge_free_mb();
	facts->avail_mb = memory_avail_mb();
}

int
eal_mem_choose(const struct eal_mem_facts *facts, unsigned int need_mb, enum eal_mem *mem,
	char *line, size_t len)
{
	if (facts->huge_free_mb >= need_mb) {
		*mem = EAL_MEM_HUGE;
		snprintf(line, len,
			"memory: using %u MB of %" PRIu64 " MB free hugepages (--in-memory)",
			need_mb, facts->huge_free_mb);
		return 0;
	}
	if (facts->avail_mb < need_mb) {
		snprintf(line, len,
			"too little memory: %u MB needed, %" PRIu64 " MB available (%" PRIu64
			" MB in free hugepages); use fewer or smaller packet buffers, or free "
			"memory",
			need_mb, facts->avail_mb, facts->huge_free_mb);
		return -ENOMEM;
	}
	*mem = EAL_MEM_PLAIN;
	if (facts->huge_free_mb == 0)
		snprintf(line, len,
			"memory: no free hugepages, using %u MB of ordinary pages (--no-huge)",
			need_mb);
	else
		snprintf(line, len,
			"memory: only %" PRIu64
			" MB of hugepages free, using %u MB of ordinary pages (--no-huge)",
			facts->huge_free_mb, need_mb);
	return 0;
}
