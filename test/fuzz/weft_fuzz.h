/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * What every fuzz target includes. A target gets bytes, gives them to a library on a heap block of
 * exactly their size, so that AddressSanitizer sees a byte read too many, and checks more than "no
 * crash". libFuzzer runs it (-Dfuzz=true), and replay.c runs its corpus in the unit tests.
 */
#ifndef WEFT_FUZZ_H
#define WEFT_FUZZ_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft_base.h"

/** Run one input. @return 0 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/** What must hold for any input; a crash, which the fuzzer keeps, if it does not. */
#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

/** A block of @p len bytes and no more, to be freed by the caller. */
static inline void *
fuzz_alloc(size_t len)
{
	void *block = malloc(len);

	if (block == NULL && len != 0)
		abort();
	return block;
}

/** A copy of @p len bytes on a block of their own. */
static inline uint8_t *
fuzz_copy(const void *data, size_t len)
{
	uint8_t *copy = calloc(1, len); /* gcc does not see that all of it is written */

	if (copy == NULL && len != 0)
		abort();
	if (len != 0)
		memcpy(copy, data, len);
	return copy;
}

/** The same with an end to it, for what takes text. */
static inline char *
fuzz_text(const uint8_t *data, size_t len)
{
	char *text = fuzz_alloc(len + 1);

	if (len != 0)
		memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

/** An input that is read from its front; behind its end there are zeros. */
struct fuzz_in {
	const uint8_t *p;
	size_t n;
};

/** Copy the next @p len bytes. */
static inline void
fuzz_take(struct fuzz_in *in, void *out, size_t len)
{
	const size_t have = in->n < len ? in->n : len;

	memset(out, 0, len);
	if (have != 0)
		memcpy(out, in->p, have);
	in->p += have;
	in->n -= have;
}

static inline uint8_t
fuzz_u8(struct fuzz_in *in)
{
	uint8_t v;

	fuzz_take(in, &v, sizeof(v));
	return v;
}

static inline uint64_t
fuzz_u64(struct fuzz_in *in)
{
	uint8_t v[8];

	fuzz_take(in, v, sizeof(v));
	return weft_get_le64(v);
}

#endif /* WEFT_FUZZ_H */
