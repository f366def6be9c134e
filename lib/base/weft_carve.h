/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Memory of an object whose parts have lengths that are known only when it is made: one block, cut
 * by one function that runs twice. Without a block it measures, with one it cuts, so the two agree.
 */
#ifndef WEFT_CARVE_H
#define WEFT_CARVE_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

struct weft_carver {
	uint8_t *block; /**< of the caller, on a cache line; NULL: only measure */
	size_t len; /**< bytes carved so far, whole cache lines */
};

/** The next @p len bytes, on a cache line of their own; NULL without a block. */
static inline void *
weft_carve(struct weft_carver *c, size_t len)
{
	void *part = c->block == NULL ? NULL : c->block + c->len;

	c->len += weft_line_up(len);
	return part;
}

WEFT_END_DECLS

#endif /* WEFT_CARVE_H */
