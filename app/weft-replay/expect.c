/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/* What comes back, against a trace. Pure but for the memory that expect_init() takes. */

#include "expect.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_jhash.h>

#include "weft_wire.h"

#define ETHERNET_MIN 60u
#define CHAIN_MAX 1024u /* frames of one hash that are looked at: more are all alike */
#define TYPE_OFF 12u

/* Byte @p i of a frame that is filled up. */
static uint8_t
expect_byte(const uint8_t *bytes, uint32_t len, uint32_t i)
{
	return i < len ? bytes[i] : 0;
}

static uint32_t
expect_len(uint32_t len)
{
	return len < ETHERNET_MIN ? ETHERNET_MIN : len;
}

static uint32_t
expect_hash(const uint8_t *bytes, uint32_t len)
{
	uint8_t filled[ETHERNET_MIN] = { 0 };

	if (len >= ETHERNET_MIN)
		return rte_jhash(bytes, len, 0);
	memcpy(filled, bytes, len);
	return rte_jhash(filled, sizeof(filled), 0);
}

static unsigned int
expect_type(const uint8_t *bytes)
{
	return (unsigned int)bytes[TYPE_OFF] << 8 | bytes[TYPE_OFF + 1];
}

/* The frame that is to come as number @p at of all loops. */
static const struct frame *
expect_at(const struct expect *e, uint64_t at)
{
	return &e->file->frame[e->index[at % e->n]];
}

/* First byte in which a frame differs from one of the file; -1: in none. */
static int
expect_differs(const struct expect *e, const struct frame *f, const uint8_t *bytes, uint32_t len)
{
	const uint8_t *want = frames_bytes(e->file, f);
	const uint32_t longest = expect_len(len > f->len ? len : f->len);

	if (len == f->len && memcmp(bytes, want, len) == 0)
		return -1;
	for (uint32_t i = 0; i < longest; i++)
		if (expect_byte(bytes, len, i) != expect_byte(want, f->len, i))
			return (int)i;
	return expect_len(len) == expect_len(f->len) ? -1 : (int)longest;
}

static bool
expect_has_come(const struct expect *e, uint64_t at)
{
	return (e->has_come[at / 8] & 1u << at % 8) != 0;
}

static bool
expect_is_at(const struct expect *e, uint64_t at, const uint8_t *bytes, uint32_t len)
{
	return at < e->total && !expect_has_come(e, at) &&
	       expect_differs(e, expect_at(e, at), bytes, len) < 0;
}

/*
 * Where a frame stands among those that are still to come: the nearest to `next`, or UINT64_MAX.
 * Loops are alike: further away than half of one it would be that of another loop.
 */
static uint64_t
expect_find(const struct expect *e, const uint8_t *bytes, uint32_t len)
{
	const uint64_t far = e->total == e->n ? e->total : e->n / 2, n = e->n;
	const uint64_t loop = e->next - e->turn;
	uint64_t best = UINT64_MAX, best_far = UINT64_MAX;
	uint32_t i = e->bucket[expect_hash(bytes, len) & e->mask];

	for (unsigned int looks = 0; i != 0 && looks < CHAIN_MAX; looks++, i = e->chain[i - 1]) {
		for (uint64_t at = loop + i - 1 - (loop != 0 ? n : 0); at < loop + 2 * n; at += n) {
			const uint64_t away = at < e->next ? e->next - at : at - e->next;

			if (away > far || away >= best_far || !expect_is_at(e, at, bytes, len))
				continue;
			best = at;
			best_far = away;
		}
	}
	return best;
}

/* "frame 7", or "frame 7 of loop 2": as the file numbers them. */
static void
expect_name(const struct expect *e, uint64_t at, char *text, size_t len)
{
	if (e->total == e->n)
		snprintf(text, len, "frame %" PRIu32, expect_at(e, at)->packet);
	else
		snprintf(text, len, "frame %" PRIu32 " of loop %" PRIu64, expect_at(e, at)->packet,
			at / e->n + 1);
}

/* Remember the first difference: @p found is where a frame stands in the file, or UINT64_MAX. */
static void
expect_note(struct expect *e, const uint8_t *bytes, uint32_t len, uint64_t found)
{
	char want[64] = "", got[64];
	const struct frame *f;
	int at;

	if (e->first[0] != '\0')
		return;
	if (found != UINT64_MAX)
		expect_name(e, found, got, sizeof(got));
	if (e->next >= e->total) {
		snprintf(e->first, sizeof(e->first),
			"expected no more frames, got %s%s%" PRIu32 " bytes",
			found != UINT64_MAX ? got : "one", found != UINT64_MAX ? ", " : " of ",
			len);
		return;
	}
	expect_name(e, e->next, want, sizeof(want));
	f = expect_at(e, e->next);
	at = expect_differs(e, f, bytes, len);
	if (found != UINT64_MAX)
		snprintf(e->first, sizeof(e->first), "expected %s, got %s", want, got);
	else if (len != f->len)
		snprintf(e->first, sizeof(e->first),
			"%s: expected %u bytes, got %" PRIu32 ", byte %d is the first that differs",
			want, f->len, len, at);
	else
		snprintf(e->first, sizeof(e->first), "%s: byte %d: expected %02x, got %02x", want,
			at, expect_byte(frames_bytes(e->file, f), f->len, (uint32_t)at),
			expect_byte(bytes, len, (uint32_t)at));
}

/* Hot: each frame that comes. The search, its division and its line are for those that differ. */
void
expect_frame(struct expect *e, const uint8_t *bytes, uint32_t len)
{
	const unsigned int type = expect_type(bytes);
	uint64_t at = e->next;
	bool is_next;

	if ((e->types[type / 8] & 1u << type % 8) == 0) {
		e->foreign++;
		return;
	}
	is_next = at < e->total && !expect_has_come(e, at) &&
	          expect_differs(e, &e->file->frame[e->index[e->turn]], bytes, len) < 0;
	if (!is_next) {
		at = expect_find(e, bytes, len);
		expect_note(e, bytes, len, at);
	}
	if (at == UINT64_MAX) {
		e->unexpected++;
		return;
	}
	e->has_come[at / 8] |= (uint8_t)(1u << at % 8);
	if (at < e->next) {
		e->reordered++;
		return;
	}
	e->equal++;
	e->next = at + 1;
	if (is_next)
		e->turn = e->turn + 1 == e->n ? 0 : e->turn + 1;
	else
		e->turn = (uint32_t)(e->next % e->n);
}

uint64_t
expect_missing(const struct expect *e)
{
	return e->total - e->equal - e->reordered;
}

bool
expect_end(struct expect *e)
{
	uint64_t at = 0;
	char want[64];

	if (expect_missing(e) != 0 && e->first[0] == '\0') {
		while (expect_has_come(e, at))
			at++;
		expect_name(e, at, want, sizeof(want));
		snprintf(e->first, sizeof(e->first), "expected %s, got nothing", want);
	}
	return e->first[0] == '\0';
}

static void
expect_index(struct expect *e, bool (*is_mine)(const struct frame *one, const void *arg),
	const void *arg)
{
	e->types[WEFT_ETHERTYPE / 8] |= 1u << WEFT_ETHERTYPE % 8;
	for (size_t i = 0; i < e->file->n; i++) {
		const struct frame *f = &e->file->frame[i];
		const unsigned int type = expect_type(frames_bytes(e->file, f));

		e->types[type / 8] |= (uint8_t)(1u << type % 8);
		if (is_mine(f, arg))
			e->index[e->n++] = (uint32_t)i;
	}
}

/* From the last on, so that a chain is in the order of the file. */
static void
expect_chains(struct expect *e)
{
	for (uint32_t i = e->n; i > 0; i--) {
		const struct frame *f = &e->file->frame[e->index[i - 1]];
		uint32_t *bucket =
			&e->bucket[expect_hash(frames_bytes(e->file, f), f->len) & e->mask];

		e->chain[i - 1] = *bucket;
		*bucket = i;
	}
}

int
expect_init(struct expect *e, const struct frames *file,
	bool (*is_mine)(const struct frame *one, const void *arg), const void *arg, uint64_t loops)
{
	memset(e, 0, sizeof(*e));
	e->file = file;
	e->index = calloc(file->n + 1, sizeof(*e->index));
	e->chain = calloc(file->n + 1, sizeof(*e->chain));
	if (e->index == NULL || e->chain == NULL)
		return -ENOMEM;
	expect_index(e, is_mine, arg);
	e->total = e->n * loops;
	e->mask = rte_align32pow2(e->n + 1) - 1;
	e->bucket = calloc((size_t)e->mask + 1, sizeof(*e->bucket));
	e->has_come = calloc(e->total / 8 + 1, 1);
	if (e->bucket == NULL || e->has_come == NULL)
		return -ENOMEM;
	expect_chains(e);
	return 0;
}

void
expect_free(struct expect *e)
{
	free(e->index);
	free(e->chain);
	free(e->bucket);
	free(e->has_come);
}
