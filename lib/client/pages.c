/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Pages in a row, by a map of bits: the first that fit. Low ones are taken first, so that few are
 * warm in the cache; what is given back joins its neighbours by itself. Hot: runs per operation.
 */

#include "client_priv.h"

#include <stdlib.h>

#define PAGES_WORD 64

int
client_pages_init(struct client_pages *p, uint32_t n)
{
	const uint32_t words = n / PAGES_WORD + 1;

	p->used = calloc(words, sizeof(*p->used));
	if (p->used == NULL)
		return -ENOMEM;
	p->n = n;
	p->used[words - 1] = ~weft_mask64(n % PAGES_WORD);
	return 0;
}

/* The first page from @at on that is used, or is not; n if there is none. */
static uint32_t
pages_next(const struct client_pages *p, uint32_t at, bool is_used)
{
	const uint64_t flip = is_used ? 0 : UINT64_MAX;
	uint64_t word;

	for (; at < p->n; at = (at / PAGES_WORD + 1) * PAGES_WORD) {
		word = (p->used[at / PAGES_WORD] ^ flip) & ~weft_mask64(at % PAGES_WORD);
		if (word != 0) {
			at = at / PAGES_WORD * PAGES_WORD + (uint32_t)__builtin_ctzll(word);
			break;
		}
	}
	return at < p->n ? at : p->n;
}

static void
pages_flip(struct client_pages *p, uint32_t at, uint32_t end)
{
	uint32_t bit, n;

	for (; at < end; at += n) {
		bit = at % PAGES_WORD;
		n = end - at < PAGES_WORD - bit ? end - at : PAGES_WORD - bit;
		p->used[at / PAGES_WORD] ^= weft_mask64(n) << bit;
	}
}

int
client_pages_take(struct client_pages *p, uint32_t n)
{
	uint32_t at = pages_next(p, p->hint * PAGES_WORD, false), end;

	p->hint = at / PAGES_WORD;
	while (p->n - at >= n) {
		end = pages_next(p, at, true);
		if (end - at >= n) {
			pages_flip(p, at, at + n);
			return (int)at;
		}
		at = pages_next(p, end, false);
	}
	return -EAGAIN;
}

void
client_pages_give(struct client_pages *p, uint32_t first, uint32_t n)
{
	pages_flip(p, first, first + n);
	if (first / PAGES_WORD < p->hint)
		p->hint = first / PAGES_WORD;
}
