/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * A counter is one row {name, unit, help}, owned by the library that counts: a line of a list that
 * makes its enum too, such as weft_llr_counters.def. Telemetry, tables and documentation are
 * generated from the rows; the values are a plain uint64_t array beside them.
 */
#ifndef WEFT_TELEM_H
#define WEFT_TELEM_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

/** Description of one counter. Rows are constant for the life of the program. */
struct weft_counter {
	const char *name; /**< LIB_WHAT_UNIT without the library's part, such as "gaps" */
	const char *unit; /**< "flits", "frames", "bytes", "epochs", "cycles", ... */
	const char *help; /**< one line for people */
};

/**
 * Index of the row called @p name.
 *
 * @return 0..n-1, or -ENOENT
 */
int weft_counter_find(const struct weft_counter *rows, size_t n, const char *name);

/** Add @p n values of @p from to those of @p to. One writer of @p to at a time. */
void weft_counters_add(uint64_t *to, const uint64_t *from, size_t n);

WEFT_END_DECLS

#endif /* WEFT_TELEM_H */
