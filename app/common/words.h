/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What words of command lines and of telemetry say: read whole or not at all, without signs, blanks
 * and octal numbers. Pure: who reads them says what was expected. */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Number, decimal or 0x hex. @return whether it is one, of @p least..@p most */
bool words_number(const char *text, uint64_t least, uint64_t most, uint64_t *v);

/** Number with a fraction, such as 0.5 or 1e-6. @return whether it is one, of @p least..@p most */
bool words_real(const char *text, double least, double most, double *v);

/** Bytes: "4096", "64K", "100M", "2G". @return whether it is that, of @p least..2^44 */
bool words_size(const char *text, uint64_t least, uint64_t *v);

/** Bytes or an offset: "4096", "0x1000", "64K", "0x10M", "2G", "1T". @return whether it is that */
bool words_bytes(const char *text, uint64_t *v);

/**
 * The first of the words that @p mark parts, such as NODE of NODE,PEER.
 *
 * @param text  may be NULL
 * @param len   receives its length; 0: there is none
 * @return what is behind the first mark, or NULL
 */
const char *words_first(const char *text, char mark, size_t *len);

/** Lines of a GFD's memory: "g0,0x1000" or "g0,0x1000,16". */
struct words_lines {
	const char *name; /* in the text */
	size_t len;
	uint64_t offset;
	uint64_t n; /* 1, if it is not said */
};

/** @param text  may be NULL. @return whether it is of that form */
bool words_lines(const char *text, struct words_lines *l);

#endif /* WORDS_H */
