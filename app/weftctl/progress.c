/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* How far long work is. */

#include "progress.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "reach.h"

#define SECOND_NS UINT64_C(1000000000)
#define MUCH (UINT64_C(64) << 20)
#define MIB 1048576.0

static struct {
	const char *verb, *region;
	uint64_t total, begun_ns, next_ns;
	bool is_on, is_shown;
} progress;

void
progress_begin(const char *verb, const char *region, uint64_t total)
{
	progress.is_on = isatty(STDERR_FILENO) == 1;
	progress.verb = verb;
	progress.region = region;
	progress.total = total;
	progress.begun_ns = reach_now_ns();
	progress.next_ns = progress.begun_ns + (total > MUCH ? 0 : SECOND_NS);
}

void
progress_at(uint64_t done)
{
	const uint64_t now = progress.is_on ? reach_now_ns() : 0;
	const double seconds = (double)(now - progress.begun_ns) / 1e9;

	if (!progress.is_on || now < progress.next_ns)
		return;
	progress.next_ns = now + SECOND_NS / 5;
	progress.is_shown = true;
	fprintf(stderr, "\r%s %s: ", progress.verb, progress.region);
	if (progress.total != 0)
		fprintf(stderr, "%3.0f %%, %.0f of ", (double)done * 100 / (double)progress.total,
			(double)done / MIB);
	fprintf(stderr, "%.0f MiB, %.1f MiB/s\033[K",
		(double)(progress.total != 0 ? progress.total : done) / MIB,
		seconds > 0 ? (double)done / MIB / seconds : 0);
}

void
progress_clear(void)
{
	if (progress.is_shown)
		fputs("\r\033[K", stderr);
	progress.is_shown = false;
	progress.is_on = false;
}
