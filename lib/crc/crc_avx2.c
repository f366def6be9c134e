/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The Weft Authors */

/*
 * Flit CRCs of eight flits with AVX2 alone (doc/performance.md, Flit CRC). Hot path. A product with a
 * constant is two table look-ups, one a nibble, and the constant is the same for all lanes: so a
 * register holds 16 bytes of each of two flits, and sums are Horner's rule over such rows.
 *
 * The message is wanted at the roots alpha^j, j = 1..8. With w = alpha^85, a cube root of 1, rows of
 * 85 bytes R0, R1, R2 add up to three polynomials of 85 bytes, one for each j mod 3:
 *	R0 + R1 + R2,   R0 + w^2 R1 + w R2,   R0 + w R1 + w^2 R2
 * for one product, because w^2 = w + 1. That is a third of the work that follows:
 *   1. these three, in parts of 16 bytes;
 *   2. for each root, the sum of the parts times powers of alpha^(16 j);
 *   3. the 16 bytes of the sum to one: two, then four flits share a register's half;
 *   4. from the values at the roots to the remainder, by tables.
 */

#include <immintrin.h>

#include "crc_priv.h"

#include "weft_base.h"

#define ROOTS 8
#define CLASSES 3
#define ROW 85
#define PART 16
#define PARTS 6 /* of a row, the last of 5 bytes */
#define PAIRS (CRC_GROUP / 2)

typedef __m256i reg;

/* Step 1's result for one class: the parts of its polynomial, of each pair of flits. */
struct parts {
	reg part[PARTS][PAIRS];
};

static inline reg
add(reg a, reg b)
{
	return _mm256_xor_si256(a, b);
}

static inline reg
low_nibbles(reg a)
{
	return _mm256_and_si256(a, _mm256_set1_epi8(0x0F));
}

static inline reg
high_nibbles(reg a)
{
	return low_nibbles(_mm256_srli_epi16(a, 4));
}

/* A table of 16 products for both halves. */
static inline reg
table(const uint8_t *t)
{
	return _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(const void *)t));
}

static inline reg
multiply(reg a, const uint8_t (*t)[16])
{
	return add(_mm256_shuffle_epi8(table(t[0]), low_nibbles(a)),
		_mm256_shuffle_epi8(table(t[1]), high_nibbles(a)));
}

/* 16 bytes of each of two flits. */
static inline reg
two_at(const uint8_t *const *flit, size_t off)
{
	return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(
					       (const __m128i *)(const void *)(flit[0] + off))),
		_mm_loadu_si128((const __m128i *)(const void *)(flit[1] + off)), 1);
}

/* The first @p n of each 16 bytes. */
static inline reg
first_bytes(reg a, unsigned int n)
{
	const reg number = _mm256_broadcastsi128_si256(
		_mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));

	return _mm256_and_si256(a, _mm256_cmpgt_epi8(_mm256_set1_epi8((char)n), number));
}

/* Part @p p of row @p r, zeros behind the row or the message. */
static inline __attribute__((always_inline)) reg
part_at(const uint8_t *const *flit, unsigned int r, unsigned int p)
{
	const unsigned int first = p * PART, off = r * ROW + first;
	const unsigned int row_end = r == 2 ? WEFT_CRC_COVERED - 2 * ROW : ROW;

	if (first >= row_end)
		return _mm256_setzero_si256();
	if (first + PART <= row_end)
		return two_at(flit, off);
	return first_bytes(two_at(flit, off), row_end - first);
}

/* Step 1 for pair @p k. */
static inline __attribute__((always_inline)) void
split_rows(const uint8_t *const *flit, unsigned int k, struct parts out[CLASSES])
{
#pragma GCC unroll 6
	for (unsigned int p = 0; p < PARTS; p++) {
		const reg r0 = part_at(flit, 0, p), r1 = part_at(flit, 1, p);
		const reg r2 = part_at(flit, 2, p), t = add(r1, r2);
		const reg u = add(r0, multiply(t, weft_crc_avx2.cube_root));

		out[0].part[p][k] = add(r0, t);
		out[1].part[p][k] = add(u, r1);
		out[2].part[p][k] = add(u, r2);
	}
}

/* Step 2 for @p n roots of one class and two pairs of flits, whose nibbles stay in registers. */
static inline __attribute__((always_inline)) void
sum_parts(const struct crc_avx2_root *const *t, unsigned int n, const struct parts *in,
	unsigned int pair, reg sum[][PAIRS])
{
	reg acc[3][2];

#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++) {
		acc[r][0] = in->part[PARTS - 1][pair];
		acc[r][1] = in->part[PARTS - 1][pair + 1];
	}
#pragma GCC unroll 5
	for (unsigned int p = 0; p < PARTS - 1; p++) {
		const reg a = in->part[p][pair], b = in->part[p][pair + 1];
		const reg a_low = low_nibbles(a), a_high = high_nibbles(a);
		const reg b_low = low_nibbles(b), b_high = high_nibbles(b);

#pragma GCC unroll 3
		for (unsigned int r = 0; r < n; r++) {
			const reg low = table(t[r]->part[p][0]), high = table(t[r]->part[p][1]);

			acc[r][0] = add(acc[r][0], add(_mm256_shuffle_epi8(low, a_low),
							   _mm256_shuffle_epi8(high, a_high)));
			acc[r][1] = add(acc[r][1], add(_mm256_shuffle_epi8(low, b_low),
							   _mm256_shuffle_epi8(high, b_high)));
		}
	}
#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++) {
		sum[r][pair] = acc[r][0];
		sum[r][pair + 1] = acc[r][1];
	}
}

/*
 * Step 3: 16 bytes to 8, of four flits in a register; to 4, of all eight; to 2; to 1. Byte 0 of each
 * 32-bit element is the value of flits 0 2 4 6 1 3 5 7.
 */
static inline __attribute__((always_inline)) reg
value_at_root(const struct crc_avx2_root *t, const reg *sum)
{
	const reg a = add(multiply(_mm256_unpacklo_epi64(sum[0], sum[1]), t->half[0]),
		_mm256_unpackhi_epi64(sum[0], sum[1]));
	const reg b = add(multiply(_mm256_unpacklo_epi64(sum[2], sum[3]), t->half[0]),
		_mm256_unpackhi_epi64(sum[2], sum[3]));
	const reg lo = _mm256_castps_si256(
		_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
	const reg hi = _mm256_castps_si256(
		_mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xDD));
	const reg c = add(multiply(lo, t->half[1]), hi);
	const reg d = add(multiply(c, t->half[2]), _mm256_srli_epi32(c, 16));

	return _mm256_and_si256(
		add(multiply(d, t->half[3]), _mm256_srli_epi32(d, 8)), _mm256_set1_epi32(0xFF));
}

/* Step 4. @p value holds the values at four roots, from @p root on. */
static inline uint64_t
remainder_of(uint32_t value, unsigned int root)
{
	return weft_crc_avx2_remainder[root][value & 0xFF] ^
	       weft_crc_avx2_remainder[root + 1][value >> 8 & 0xFF] ^
	       weft_crc_avx2_remainder[root + 2][value >> 16 & 0xFF] ^
	       weft_crc_avx2_remainder[root + 3][value >> 24];
}

/* The roots of a class, from root @p first of the eight on, every third. */
static inline __attribute__((always_inline)) void
values_of_class(const struct parts *in, unsigned int first, unsigned int n, reg value[ROOTS])
{
	const struct crc_avx2_root *t[3];
	reg sum[3][PAIRS];

#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++)
		t[r] = &weft_crc_avx2.root[first + CLASSES * r];
	sum_parts(t, n, in, 0, sum);
	sum_parts(t, n, in, 2, sum);
#pragma GCC unroll 3
	for (unsigned int r = 0; r < n; r++)
		value[first + CLASSES * r] = value_at_root(t[r], sum[r]);
}

/* The values at four roots in the bytes of one word a flit. */
static inline reg
gather(const reg *value)
{
	return add(add(value[0], _mm256_slli_epi32(value[1], 8)),
		add(_mm256_slli_epi32(value[2], 16), _mm256_slli_epi32(value[3], 24)));
}

void
weft_crc_group_avx2(const uint8_t *const *flit, unsigned int n, uint64_t *crc)
{
	static const uint8_t place[CRC_GROUP] = { 0, 4, 1, 5, 2, 6, 3, 7 };
	uint32_t word[2][CRC_GROUP];
	struct parts parts[CLASSES];
	reg value[ROOTS];

	/* Lanes without a flit repeat the first: no branch, and no other memory is read. */
	for (unsigned int k = 0; k < PAIRS; k++) {
		const uint8_t *const two[] = { flit[2 * k < n ? 2 * k : 0],
			flit[2 * k + 1 < n ? 2 * k + 1 : 0] };

		split_rows(two, k, parts);
	}
	/* Root number i is alpha^(i+1), of class (i+1) mod 3. */
	values_of_class(&parts[1], 0, 3, value);
	values_of_class(&parts[2], 1, 3, value);
	values_of_class(&parts[0], 2, 2, value);
	_mm256_storeu_si256((reg *)(void *)word[0], gather(value));
	_mm256_storeu_si256((reg *)(void *)word[1], gather(value + ROOTS / 2));
	for (unsigned int k = 0; k < n; k++)
		crc[k] = remainder_of(word[0][place[k]], 0) ^
		         remainder_of(word[1][place[k]], ROOTS / 2);
}
