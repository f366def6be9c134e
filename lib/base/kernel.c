/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Which row of a kernel table runs. Rows are tried best first; one whose self-test fails is passed
 * over and remembered, for the program's log.
 */

#include "weft_cpu.h"

#define FAILURES_MAX 16

static struct weft_kernel_failure failures[FAILURES_MAX];
static unsigned int n_failures;

static const struct weft_kernel *
kernel_row_at(const struct weft_kernel_family *f, unsigned int i)
{
	return (const struct weft_kernel *)(const void *)((const char *)f->rows + i * f->row_size);
}

static void
kernel_remember(const struct weft_kernel_family *f, const struct weft_kernel *row)
{
	const unsigned int i = __atomic_load_n(&n_failures, __ATOMIC_RELAXED);

	for (unsigned int k = 0; k < i; k++)
		if (strcmp(failures[k].family, f->name) == 0 &&
			strcmp(failures[k].kernel, row->name) == 0)
			return;
	if (i == FAILURES_MAX)
		return;
	failures[i] = (struct weft_kernel_failure){ f->name, row->name };
	__atomic_store_n(&n_failures, i + 1, __ATOMIC_RELEASE);
}

const struct weft_kernel *
weft_kernel_choose(const struct weft_kernel_family *f, const char *name, uint32_t features)
{
	for (unsigned int i = 0; i < f->n_rows; i++) {
		const struct weft_kernel *row = kernel_row_at(f, i);

		if (name != NULL && strcmp(name, row->name) != 0)
			continue;
		if (!weft_kernel_usable(row, features))
			continue;
		if (f->passes(row))
			return row;
		kernel_remember(f, row);
	}
	return NULL;
}

const struct weft_kernel_failure *
weft_kernel_failure(unsigned int i)
{
	return i < __atomic_load_n(&n_failures, __ATOMIC_ACQUIRE) ? &failures[i] : NULL;
}
