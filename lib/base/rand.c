/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What is not drawn so often: see weft_rand.h. */

#include "weft_rand.h"

double
weft_rand_unit(struct weft_rand *r)
{
	return (double)(weft_rand_u64(r) >> 11) * 0x1p-53;
}

void
weft_rand_fill(struct weft_rand *r, void *buf, size_t len)
{
	uint8_t *p = buf;
	uint8_t word[8];

	for (; len >= 8; p += 8, len -= 8)
		weft_put_le64(p, weft_rand_u64(r));
	weft_put_le64(word, weft_rand_u64(r));
	memcpy(p, word, len);
}
