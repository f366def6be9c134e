/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Sequential streams among misses. A stream is kept where the address that would continue it is
 * hashed to, so a miss looks at one line, however many are followed.
 */

#include "weft_atc_prefetcher.h"

#include "atc_priv.h"

#define WAYS 4
#define STREAMS_MAX 65536
#define CHANCES 8

struct stream {
	uint64_t next; /* address after the last question */
	uint16_t ctx;
	uint8_t n; /* pages last asked for; 0: not in use */
	uint8_t chances; /* times it may be passed over; none before it went on once */
};

struct stream_set {
	struct stream way[WAYS];
};

static_assert(sizeof(struct stream_set) == WEFT_CACHE_LINE, "a line a set");

struct weft_atc_prefetcher {
	_Alignas(WEFT_CACHE_LINE) uint32_t sets; /* power of two */
	uint8_t most;
	uint8_t hand; /* way to give up next, of whichever set */
	struct stream_set set[];
};

size_t
weft_atc_prefetcher_size(unsigned int streams)
{
	if (streams < WAYS || streams > STREAMS_MAX || (streams & (streams - 1)) != 0)
		return 0;
	return sizeof(struct weft_atc_prefetcher) + streams / WAYS * sizeof(struct stream_set);
}

struct weft_atc_prefetcher *
weft_atc_prefetcher_init(void *mem, unsigned int streams, unsigned int most)
{
	const size_t size = weft_atc_prefetcher_size(streams);
	struct weft_atc_prefetcher *s = mem;

	if (size == 0 || most == 0 || most > WEFT_ATC_PREFETCH_MAX ||
		(uintptr_t)mem % WEFT_CACHE_LINE != 0)
		return NULL;
	memset(mem, 0, size);
	s->sets = streams / WAYS;
	s->most = (uint8_t)most;
	return s;
}

static struct stream_set *
prefetcher_set_of(struct weft_atc_prefetcher *s, uint16_t ctx, uint64_t next)
{
	return &s->set[atc_hash(atc_key(WEFT_ATC_4K, ctx, next), s->sets)];
}

static struct stream *
prefetcher_find(struct stream_set *set, uint16_t ctx, uint64_t next)
{
	for (unsigned int w = 0; w < WAYS; w++) {
		struct stream *t = &set->way[w];

		if (t->n != 0 && t->ctx == ctx && t->next == next)
			return t;
	}
	return NULL;
}

/* A free way, or one that never went on: random misses must not push streams out. */
static struct stream *
prefetcher_make_room(struct weft_atc_prefetcher *s, struct stream_set *set)
{
	for (unsigned int w = 0; w < WAYS; w++)
		if (set->way[w].n == 0)
			return &set->way[w];
	for (;;) {
		struct stream *t = &set->way[s->hand++ % WAYS];

		if (t->chances == 0)
			return t;
		t->chances--;
	}
}

unsigned int
weft_atc_prefetcher_miss(
	struct weft_atc_prefetcher *s, uint16_t ctx, uint64_t va, unsigned int log2)
{
	const uint64_t page = va & ~weft_mask64(log2);
	struct stream *t = prefetcher_find(prefetcher_set_of(s, ctx, page), ctx, page);
	struct stream now = { .ctx = ctx, .n = 1 };

	if (t != NULL) {
		now.n = 2 * t->n < s->most ? (uint8_t)(2 * t->n) : s->most;
		now.chances = CHANCES;
		t->n = 0;
	}
	now.next = page + ((uint64_t)now.n << log2);
	*prefetcher_make_room(s, prefetcher_set_of(s, ctx, now.next)) = now;
	return now.n;
}
