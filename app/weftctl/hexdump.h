/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Bytes for people, in the form of hexdump -C: sixteen a line, a star for lines that repeat the one
 * before, and the offset of the end in the last.
 */
#ifndef HEXDUMP_H
#define HEXDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HEXDUMP_LINE 16

struct hexdump {
	FILE *out;
	uint64_t at; /* of the line that is being filled */
	uint8_t line[HEXDUMP_LINE], before[HEXDUMP_LINE];
	size_t n; /* in `line` */
	bool has_before;
	bool is_starred; /* lines that repeat the one before are said already */
};

/** Begin; offsets begin with @p at. */
void hexdump_begin(struct hexdump *h, FILE *out, uint64_t at);

/** More bytes. */
void hexdump_push(struct hexdump *h, const uint8_t *p, size_t n);

/** The last line. Of no bytes there is none. */
void hexdump_end(struct hexdump *h);

#endif /* HEXDUMP_H */
