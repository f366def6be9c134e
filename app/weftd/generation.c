/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which life of a process or of a memory something is of. Data in memory tells the run of the host
 * that wrote it, so a host that is started again knows its former lines.
 */

#include "daemon.h"

#include <errno.h>
#include <sys/random.h>

int
generation_run(struct daemon *d)
{
	uint32_t random;

	/* Before any port: here it may wait until the machine has random bits. */
	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	d->run = 1 + random % WEFT_LINE_RUN_MAX;
	return 0;
}
