/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Contents of a test line, 64 bytes: address, version and writer, then five words drawn from a
 * generator seeded with all of them. Bytes of another line or version do not fit the rest.
 */
#ifndef WEFT_LINE_PRIV_H
#define WEFT_LINE_PRIV_H

#include <stdbool.h>
#include <stdint.h>

#define LINE_LEN 64

struct line_id {
	uint64_t hpa;
	uint64_t version; /* 1 and up */
	uint32_t writer;
};

/** Write the 64 bytes of a line. */
void weft_line_fill(uint8_t *data, uint64_t seed, const struct line_id *id);

/** Whether all 64 bytes are those of one line of @p seed; then @p id says which. */
bool weft_line_read(const uint8_t *data, uint64_t seed, struct line_id *id);

/** Whether the line is as fresh memory is. */
bool weft_line_is_zero(const uint8_t *data);

#endif /* WEFT_LINE_PRIV_H */
