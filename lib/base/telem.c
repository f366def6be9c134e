/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Look-up and sums over counter rows. Control side only. */

#include "weft_telem.h"

#include <errno.h>

int
weft_counter_find(const struct weft_counter *rows, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, name) == 0)
			return (int)i;
	return -ENOENT;
}

void
weft_counters_add(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}
