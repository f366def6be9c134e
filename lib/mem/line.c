/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* Contents of a test line: see weft_line.h. */

#include "weft_line.h"

#include "weft_rand.h"

#define OFF_HPA 0
#define OFF_VERSION 8
#define OFF_WRITER 16
#define OFF_FILL 24 /* 20..23 are zero */

/*
 * Each part passes through the generator, so that no two sums of parts meet by simple arithmetic.
 */
static uint64_t
line_fill_seed(uint64_t seed, const struct weft_line_id *id)
{
	const uint64_t part[] = { id->hpa, id->version, id->writer };
	struct weft_rand r;

	for (unsigned int i = 0; i < WEFT_ARRAY_SIZE(part); i++) {
		weft_rand_seed(&r, seed ^ part[i]);
		seed = weft_rand_u64(&r);
	}
	return seed;
}

void
weft_line_fill(uint8_t *data, uint64_t seed, const struct weft_line_id *id)
{
	struct weft_rand r;

	weft_put_le64(data + OFF_HPA, id->hpa);
	weft_put_le64(data + OFF_VERSION, id->version);
	weft_put_le64(data + OFF_WRITER, id->writer);
	weft_rand_seed(&r, line_fill_seed(seed, id));
	for (unsigned int i = OFF_FILL; i < WEFT_LINE_LEN; i += 8)
		weft_put_le64(data + i, weft_rand_u64(&r));
}

bool
weft_line_read(const uint8_t *data, uint64_t seed, struct weft_line_id *id)
{
	uint8_t want[WEFT_LINE_LEN];

	id->hpa = weft_get_le64(data + OFF_HPA);
	id->version = weft_get_le64(data + OFF_VERSION);
	id->writer = weft_get_le32(data + OFF_WRITER);
	weft_line_fill(want, seed, id);
	return id->version != 0 && memcmp(want, data, WEFT_LINE_LEN) == 0;
}

bool
weft_line_is_zero(const uint8_t *data)
{
	static const uint8_t zero[WEFT_LINE_LEN];

	return memcmp(data, zero, WEFT_LINE_LEN) == 0;
}
