/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * The CRC of one flit with AVX2 alone, by the tables of crc_avx2.c. Hot path. The lanes of that
 * kernel are flits; one that comes alone, as where a program waits for each answer, is spread over
 * the lanes by itself:
 *   1. rows of 85 bytes to a polynomial for each j mod 3, as there;
 *   2. for each root, the sum of parts of 16 bytes times powers of alpha^(16 j);
 *   3. these 16 bytes halved four times, of two roots at a time;
 *   4. from the values at the roots to the remainder, by tables.
 */

#include "crc_nibbles_priv.h"

#define CLASSES 3
#define ROW 85
#define PART 16
#define REGS 3 /* of a row: parts 0 and 1, 2 and 3, 4 and what is left */

/* A class: the nibbles of its parts 0 to 4, and what is left, which no product is taken of. */
struct class_parts {
	reg low[REGS], high[REGS];
	reg left;
};

/* Part 4, and the five bytes of a row that are left, where a part's last eight are. */
static inline reg
crc_row_end(const uint8_t *row)
{
	const reg keep = _mm256_set_epi64x(0xFFFFFFFFFF, 0, -1, -1);

	return _mm256_and_si256(reg256_two_at(row, row + PART / 2, 4 * PART), keep);
}

static inline void
crc_load_rows(const uint8_t *flit, reg row[CLASSES][REGS])
{
	const uint8_t *end = flit + 2 * ROW + 4 * PART;

	static_assert(WEFT_CRC_COVERED == 2 * ROW + 4 * PART + 8, "what the last row holds");
#pragma GCC unroll 3
	for (unsigned int r = 0; r < CLASSES; r++) {
		const uint8_t *at = flit + r * ROW;

		row[r][0] = _mm256_loadu_si256((const reg *)(const void *)at);
		row[r][1] = _mm256_loadu_si256((const reg *)(const void *)(at + 2 * PART));
	}
	row[0][2] = crc_row_end(flit);
	row[1][2] = crc_row_end(flit + ROW);
	row[2][2] = _mm256_zextsi128_si256(_mm_loadl_epi64((const __m128i *)(const void *)end));
}

static inline void
crc_split_nibbles(struct class_parts *c, unsigned int i, reg a)
{
	c->low[i] = reg256_low_nibbles(a);
	c->high[i] = reg256_high_nibbles(a);
	c->left = a;
}

/* Step 1. */
static inline void
crc_split(const uint8_t *flit, struct class_parts c[CLASSES])
{
	reg row[CLASSES][REGS];

	crc_load_rows(flit, row);
#pragma GCC unroll 3
	for (unsigned int i = 0; i < REGS; i++) {
		const reg t = crc_add(row[1][i], row[2][i]);
		const reg u = crc_add(row[0][i], reg256_multiply(t, weft_crc_avx2.cube_root));

		crc_split_nibbles(&c[0], i, crc_add(row[0][i], t));
		crc_split_nibbles(&c[1], i, crc_add(u, row[1][i]));
		crc_split_nibbles(&c[2], i, crc_add(u, row[2][i]));
	}
}

/* Parts 2i and 2i + 1, each by its own power: the tables count in 8 bytes. */
static inline reg
crc_multiply_parts(const struct crc_avx2_root *t, const struct class_parts *c, unsigned int i)
{
	const uint8_t(*a)[16] = t->part[4 * i + 1], (*b)[16] = t->part[4 * i + 3];

	return crc_add(_mm256_shuffle_epi8(reg256_two_at(a[0], b[0], 0), c->low[i]),
		_mm256_shuffle_epi8(reg256_two_at(a[1], b[1], 0), c->high[i]));
}

/* Step 2 for a root, even parts in the lower half. */
static inline reg
crc_sum_parts(const struct crc_avx2_root *t, const struct class_parts *c)
{
	const __m128i *last = (const __m128i *)(const void *)t->part[9];
	const __m128i low = _mm_shuffle_epi8(last[0], _mm256_castsi256_si128(c->low[2]));
	const __m128i high = _mm_shuffle_epi8(last[1], _mm256_castsi256_si128(c->high[2]));
	const reg part4 = _mm256_zextsi128_si256(_mm_xor_si128(low, high));
	const reg left = _mm256_blend_epi32(_mm256_setzero_si256(), c->left, 0xF0);

	return crc_add(crc_add(crc_multiply_parts(t, c, 0), crc_multiply_parts(t, c, 1)),
		crc_add(part4, left));
}

/* Each half by the product of its own root. */
static inline reg
crc_multiply_roots(reg a, const uint8_t (*t)[16], const uint8_t (*u)[16])
{
	return crc_add(_mm256_shuffle_epi8(reg256_two_at(t[0], u[0], 0), reg256_low_nibbles(a)),
		_mm256_shuffle_epi8(reg256_two_at(t[1], u[1], 0), reg256_high_nibbles(a)));
}

/* Step 3 for roots number @p i and @p j, whose tables are @p pair: each in byte 0 of its half. */
static inline reg
crc_values(const struct crc_avx2_pair *pair, unsigned int i, unsigned int j, reg a, reg b)
{
	const struct crc_avx2_root *t = &weft_crc_avx2.root[i], *u = &weft_crc_avx2.root[j];
	reg v = crc_add(
		_mm256_permute2x128_si256(a, b, 0x20), _mm256_permute2x128_si256(a, b, 0x31));

	v = crc_add(crc_multiply_roots(v, t->part[9], u->part[9]), _mm256_srli_si256(v, 8));
	v = crc_add(crc_multiply_roots(v, t->four, u->four), _mm256_srli_epi64(v, 32));
	v = crc_add(crc_multiply_halves(v, pair->two), _mm256_srli_epi64(v, 16));
	return crc_add(crc_multiply_halves(v, pair->one), _mm256_srli_epi64(v, 8));
}

static inline uint64_t
crc_remainder(unsigned int i, unsigned int j, reg values)
{
	return weft_crc_avx2_remainder[i][_mm256_extract_epi8(values, 0)] ^
	       weft_crc_avx2_remainder[j][_mm256_extract_epi8(values, 16)];
}

/* Roots number @p i and @p j of the classes @p c and @p d, which are pair @p p of the tables. */
static inline uint64_t
crc_at_two_roots(unsigned int p, unsigned int i, unsigned int j, const struct class_parts *c,
	const struct class_parts *d)
{
	const reg a = crc_sum_parts(&weft_crc_avx2.root[i], c);
	const reg b = crc_sum_parts(&weft_crc_avx2.root[j], d);

	return crc_remainder(i, j, crc_values(&weft_crc_avx2.pair[p], i, j, a, b));
}

uint64_t
weft_crc_one_avx2(const uint8_t *flit)
{
	struct class_parts c[CLASSES];

	crc_split(flit, c);
	/* Root number i is alpha^(i+1), of class (i+1) mod 3. */
	return crc_at_two_roots(0, 0, 3, &c[1], &c[1]) ^ crc_at_two_roots(1, 1, 4, &c[2], &c[2]) ^
	       crc_at_two_roots(2, 2, 5, &c[0], &c[0]) ^ crc_at_two_roots(3, 6, 7, &c[1], &c[2]);
}
