/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CRCs of data blocks over one block of 4 KiB that stays in the cache, counted as flits. A run
 * is several passes: one alone is over so soon that reading the clock would count.
 */

#include "bench.h"

#include <stdlib.h>

#include "weft_data_crc.h"
#include "weft_flit.h"

#define BLOCK 4096
#define PASSES 16
#define BLOCK_FLITS (BLOCK / WEFT_FLIT_LEN)

enum { T10DIF, CRC32, CRC32C, CRC64, KINDS };

struct data {
	uint8_t block[BLOCK];
	const struct bench *b;
	weft_crc64_fn crc64;
	uint64_t want;
	uint64_t bad; /* passes that gave another answer */
};

/* One by one through the bits: T10-DIF has the first at the top, the others at the bottom. */
static uint64_t
data_by_definition(unsigned int kind, const uint8_t *p, size_t len)
{
	static const uint64_t reversed[KINDS] = {
		[CRC32] = 0xEDB88320, [CRC32C] = 0x82F63B78, [CRC64] = UINT64_C(0x9A6C9329AC4BC9B5)
	};
	const uint64_t ones = kind == T10DIF ? 0 : kind == CRC64 ? UINT64_MAX : UINT32_MAX;
	uint64_t r = ones;

	for (size_t i = 0; i < len; i++) {
		r ^= kind == T10DIF ? (uint64_t)p[i] << 8 : p[i];
		for (unsigned int bit = 0; bit < 8; bit++) {
			if (kind == T10DIF)
				r = (r << 1 ^ ((r & 0x8000) != 0 ? 0x8BB7 : 0)) & 0xFFFF;
			else
				r = r >> 1 ^ ((r & 1) != 0 ? reversed[kind] : 0);
		}
	}
	return r ^ ones;
}

static uint64_t
data_pass(const struct data *d)
{
	switch (d->b->kind) {
	case T10DIF: return weft_crc16_t10dif(0, d->block, BLOCK);
	case CRC32: return weft_crc32(0, d->block, BLOCK);
	case CRC32C: return weft_crc32c(0, d->block, BLOCK);
	default: return d->crc64(0, d->block, BLOCK);
	}
}

static uint64_t
data_run(void *ctx)
{
	struct data *d = ctx;

	for (unsigned int i = 0; i < PASSES; i++)
		d->bad += data_pass(d) != d->want;
	return PASSES * BLOCK_FLITS;
}

static bool
data_is_right(void *ctx)
{
	const struct data *d = ctx;

	return d->bad == 0 && data_by_definition(d->b->kind, d->block, BLOCK) == d->want;
}

/* What is checked must also be noticed. */
static bool
data_finds_damage(struct data *d)
{
	bool found;

	d->block[BLOCK - 1] ^= 1;
	found = data_pass(d) != d->want;
	d->block[BLOCK - 1] ^= 1;
	return found;
}

static void *
data_setup(const struct bench *b, const struct bench_params *p)
{
	struct data *d = bench_alloc(sizeof(*d));

	d->b = b;
	d->crc64 = p->crc64->fn;
	bench_fill(d->block, BLOCK_FLITS);
	d->want = data_by_definition(b->kind, d->block, BLOCK);
	d->bad += !data_finds_damage(d);
	data_run(d);
	return d;
}

static const struct bench_ops data = { data_setup, NULL, data_run, data_is_right, free };

const struct bench bench_data[] = {
	{ "t10dif", "CRC-16/T10-DIF of a block of 4 KiB, 16 flits", BENCH_ISAL, 1 << BENCH_RTC,
		T10DIF, &data },
	{ "crc32", "CRC-32 of the same", BENCH_ISAL, 1 << BENCH_RTC, CRC32, &data },
	{ "crc32c", "CRC-32C of the same", BENCH_ISAL, 1 << BENCH_RTC, CRC32C, &data },
	{ "crc64-xp10", "CRC64_XP10 of the same", BENCH_CRC64, 1 << BENCH_RTC, CRC64, &data },
};

const unsigned int bench_n_data = sizeof(bench_data) / sizeof(bench_data[0]);
