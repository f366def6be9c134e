/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Contents of a test line: see weft_line.h. */

#include "weft_line.h"

#include "weft_rand.h"

#define WORDS (WEFT_LINE_LEN / 8)

enum { AT_HPA, AT_VERSION, AT_WRITER /* in its lower half */, AT_FILL };

static inline uint64_t
line_mix(uint64_t seed)
{
	struct weft_rand r;

	weft_rand_seed(&r, seed);
	return weft_rand_u64(&r);
}

static inline uint64_t
line_turn(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

/*
 * The words of a line, in the CPU's order. Each part passes through the generator, side by side, so
 * that no two sums of parts meet by simple arithmetic.
 */
static inline void
line_words(uint64_t word[WORDS], uint64_t seed, const struct weft_line_id *id)
{
	struct weft_rand r;

	word[AT_HPA] = id->hpa;
	word[AT_VERSION] = id->version;
	word[AT_WRITER] = id->writer;
	weft_rand_seed(&r, line_mix(seed ^ id->hpa) ^ line_turn(line_mix(seed ^ id->version), 21) ^
				   line_turn(line_mix(seed ^ id->writer), 42));
	for (unsigned int i = AT_FILL; i < WORDS; i++)
		word[i] = weft_rand_u64(&r);
}

void
weft_line_fill(uint8_t *data, uint64_t seed, const struct weft_line_id *id)
{
	uint64_t word[WORDS] __attribute__((uninitialized)); /* all are written */

	line_words(word, seed, id);
	for (unsigned int i = 0; i < WORDS; i++)
		weft_put_le64(data + 8 * (size_t)i, word[i]);
}

bool
weft_line_read(const uint8_t *data, uint64_t seed, struct weft_line_id *id)
{
	uint64_t word[WORDS] __attribute__((uninitialized)); /* all are written */
	uint64_t wrong = 0;

	id->hpa = weft_get_le64(data + 8 * AT_HPA);
	id->version = weft_get_le64(data + 8 * AT_VERSION);
	id->writer = weft_get_le32(data + 8 * AT_WRITER);
	line_words(word, seed, id);
	for (unsigned int i = 0; i < WORDS; i++)
		wrong |= word[i] ^ weft_get_le64(data + 8 * (size_t)i);
	return id->version != 0 && wrong == 0;
}

bool
weft_line_is_zero(const uint8_t *data)
{
	static const uint8_t zero[WEFT_LINE_LEN];

	return memcmp(data, zero, WEFT_LINE_LEN) == 0;
}
