/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Contents of a test line, 64 bytes: address, version and writer, then five words drawn from a
 * generator seeded with all of them. Bytes of another line or version do not fit the rest. Pure
 * functions, any thread.
 */
#ifndef WEFT_LINE_H
#define WEFT_LINE_H

#include "weft_base.h"

WEFT_BEGIN_DECLS

#define WEFT_LINE_LEN 64

/** What a line tells. */
struct weft_line_id {
	uint64_t hpa; /**< where it belongs */
	uint64_t version; /**< 1 and up */
	uint32_t writer;
};

/** Write the 64 bytes of a line. */
void weft_line_fill(uint8_t *data, uint64_t seed, const struct weft_line_id *id);

/** Whether all 64 bytes are those of one line of @p seed; then @p id says which. */
bool weft_line_read(const uint8_t *data, uint64_t seed, struct weft_line_id *id);

/** Whether the line is as fresh memory is. */
bool weft_line_is_zero(const uint8_t *data);

WEFT_END_DECLS

#endif /* WEFT_LINE_H */
