/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What holds of each table of kernels, whatever they compute: how a row of it is found. */
#ifndef WEFT_KERNEL_TABLE_H
#define WEFT_KERNEL_TABLE_H

#include "weft_cpu.h"
#include "weft_test.h"

struct weft_kernel_table {
	const void *rows; /* structs that begin with a struct weft_kernel */
	size_t row_size;
	unsigned int n_rows;
	/* The library's, by its row's head. NULL: none. */
	const struct weft_kernel *(*find)(const char *name, uint32_t features);
};

static inline const struct weft_kernel *
weft_kernel_table_row(const struct weft_kernel_table *t, unsigned int i)
{
	return (const struct weft_kernel *)(const void *)((const char *)t->rows + i * t->row_size);
}

/** A test of @p row is skipped where it cannot run. */
static inline void
weft_kernel_need(const struct weft_kernel *row)
{
	if (weft_kernel_usable(row, weft_cpu_detect()))
		return;
	print_message("  skipped: this CPU lacks what %s needs\n", row->name);
	skip();
}

static inline void
table_ends_with_a_scalar_row(void **state)
{
	const struct weft_kernel_table *t = *state;
	const struct weft_kernel *last = weft_kernel_table_row(t, t->n_rows - 1);

	assert_string_equal(last->name, "scalar");
	assert_int_equal(last->needs, 0);
}

static inline void
each_row_is_found_by_name(void **state)
{
	const struct weft_kernel_table *t = *state;

	for (unsigned int i = 0; i < t->n_rows; i++) {
		const struct weft_kernel *row = weft_kernel_table_row(t, i);

		if (weft_kernel_usable(row, weft_cpu_detect()))
			assert_ptr_equal(t->find(row->name, weft_cpu_detect()), row);
		if (row->needs != 0)
			assert_null(t->find(row->name, 0));
	}
}

static inline void
unknown_name_finds_nothing(void **state)
{
	const struct weft_kernel_table *t = *state;

	assert_null(t->find("", UINT32_MAX));
	assert_null(t->find("scalarx", UINT32_MAX));
	assert_null(t->find("Scalar", UINT32_MAX));
}

static inline void
no_name_finds_the_best_allowed(void **state)
{
	const struct weft_kernel_table *t = *state;
	const uint32_t features = weft_cpu_detect();
	unsigned int best = 0;

	while (!weft_kernel_usable(weft_kernel_table_row(t, best), features))
		best++;
	assert_ptr_equal(t->find(NULL, features), weft_kernel_table_row(t, best));
	assert_string_equal(t->find(NULL, 0)->name, "scalar");
}

/** The tests of a table @p t, which has to be writable for cmocka, in a list of tests. */
#define WEFT_KERNEL_TABLE_TESTS(t)                                                                 \
	cmocka_unit_test_prestate(table_ends_with_a_scalar_row, t),                                \
		cmocka_unit_test_prestate(each_row_is_found_by_name, t),                           \
		cmocka_unit_test_prestate(unknown_name_finds_nothing, t),                          \
		cmocka_unit_test_prestate(no_name_finds_the_best_allowed, t)

#endif /* WEFT_KERNEL_TABLE_H */
