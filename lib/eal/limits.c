/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Limits of the process that DPDK would meet half-way, in words of its own: open files and address
 * space. Facts in, one line out.
 */

#include "eal_priv.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

#define LIMITS_EAL_FILES 48 /* EAL's own, telemetry's and a visitor's or two */
#define LIMITS_EAL_SPACE_MB 64 /* drivers, and stacks of threads: 50 were measured */

void
eal_limits_read(struct eal_limits *limits)
{
	struct rlimit r;
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	*limits = (struct eal_limits){
		.files = UINT64_MAX, .files_most = UINT64_MAX, .space_mb = UINT64_MAX
	};
	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		limits->files = r.rlim_cur;
		limits->files_most = r.rlim_max;
	}
	if (f != NULL && fscanf(f, "%lu", &pages) != 1)
		pages = 0;
	if (f != NULL)
		fclose(f);
	if (getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY)
		limits->space_mb = r.rlim_cur >> 20;
	limits->used_mb = (uint64_t)pages * 4096 >> 20;
}

int
eal_limits_check(const struct eal_limits *limits, unsigned int files, unsigned int memory_mb,
	uint64_t *files_wanted, char *err, size_t errlen)
{
	const uint64_t need_files = LIMITS_EAL_FILES + (uint64_t)files;
	/* What programs take beside is not in it, so it is no number for people. */
	const uint64_t least_mb = limits->used_mb + memory_mb + LIMITS_EAL_SPACE_MB;

	*files_wanted = need_files > limits->files ? need_files : 0;
	if (need_files > limits->files && need_files > limits->files_most)
		return weft_errorf(err, errlen, -EMFILE,
			"too few open files allowed: %" PRIu64 " needed, %" PRIu64
			" allowed: raise the limit (ulimit -n %" PRIu64 ")",
			need_files, limits->files_most, need_files);
	if (least_mb > limits->space_mb)
		return weft_errorf(err, errlen, -ENOMEM,
			"too little address space: it is limited to %" PRIu64
			" MB (ulimit -v): raise the limit or remove it, or use fewer or smaller "
			"packet buffers",
			limits->space_mb);
	return 0;
}

void
eal_limits_raise_files(uint64_t files)
{
	struct rlimit r;

	if (files == 0 || getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	r.rlim_cur = files;
	setrlimit(RLIMIT_NOFILE, &r);
}
